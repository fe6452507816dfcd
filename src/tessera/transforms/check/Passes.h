// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks as passes. Each reports through diagnostics and leaves the program as it was.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/transforms/check/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/transforms/check/Passes.h.inc"

/// Makes the checks known to the command line.
void registerCheckPasses();

} // namespace tessera
