// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rewrites of networks as passes; see Passes.td for what each does.
#pragma once

#include "mlir/Pass/Pass.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera::nn {

#define GEN_PASS_DECL
#include "tessera/transforms/nn/graph/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/transforms/nn/graph/Passes.h.inc"

} // namespace tessera::nn
