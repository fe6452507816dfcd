// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Passes.td.
#include "tessera/transforms/nn/lower/Passes.h"

#include "tessera/ir/fault/Fault.h"
#include "tessera/transforms/nn/lower/Lower.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tessera::nn {
#define GEN_PASS_DEF_NNLOWERPASS
#include "tessera/transforms/nn/lower/Passes.h.inc"
} // namespace tessera::nn

using namespace tessera;

namespace {

struct LowerPass : nn::impl::NnLowerPassBase<LowerPass> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](dfg::NodeOp node) {
      return node.isInternal() || succeeded(nn::lowerToLinalg(node)) ? WalkResult::advance()
                                                                     : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
