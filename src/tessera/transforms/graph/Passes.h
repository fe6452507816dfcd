// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph transformations as passes; see Passes.td for what each does, and Rewrites.h for the functions.
#pragma once

#include "mlir/Pass/Pass.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera::graph {

#define GEN_PASS_DECL
#include "tessera/transforms/graph/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/transforms/graph/Passes.h.inc"

} // namespace tessera::graph
