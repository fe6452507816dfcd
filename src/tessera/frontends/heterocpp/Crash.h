// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names the place in the user's file when the compiler crashes, for example because an expression is nested
// too deeply for the stack.
#pragma once

#include "clang/Frontend/CompilerInstance.h"

namespace tessera::heterocpp {

/// While it lives, a signal that ends the process is preceded by a message at the place that is being read or
/// translated.
class CrashPlace {
public:
  explicit CrashPlace(clang::CompilerInstance &ci);
  ~CrashPlace();
};

/// What is being translated; an invalid place: what is being read.
void setCrashPlace(clang::SourceLocation at);

} // namespace tessera::heterocpp
