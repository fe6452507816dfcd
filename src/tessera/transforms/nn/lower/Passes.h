// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of networks as a pass; see Passes.td.
#pragma once

#include "mlir/Pass/Pass.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera::nn {

#define GEN_PASS_DECL
#include "tessera/transforms/nn/lower/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/transforms/nn/lower/Passes.h.inc"

} // namespace tessera::nn
