// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the compiler is in the user's file, for the day it dies there: nesting without end is told by its
// place.
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
