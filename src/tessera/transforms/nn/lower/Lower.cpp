// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Lower.h.
#include "tessera/transforms/nn/lower/Lower.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace tessera;
using namespace tessera::nn;

// A chain of elementwise operations → one linalg.generic. A producer with several users stays: its work would
// be repeated in each.
static LogicalResult fuse(dfg::NodeOp node) {
  RewritePatternSet patterns(node.getContext());
  linalg::populateElementwiseOpsFusionPatterns(patterns, [](OpOperand *operand) {
    Operation *producer = operand->get().getDefiningOp();
    return producer && producer->hasOneUse();
  });
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  tensor::populateReassociativeReshapeFoldingPatterns(patterns);
  return applyPatternsGreedily(node, std::move(patterns));
}

LogicalResult nn::lowerToLinalg(dfg::NodeOp node) {
  MLIRContext *ctx = node.getContext();
  RewritePatternSet patterns(ctx);
  populateElementwise(patterns);
  populateCast(patterns);
  populateReduce(patterns);
  populateOrder(patterns);
  populateShape(patterns);
  populateIndex(patterns);
  populateScatter(patterns);
  populateContract(patterns);
  populateWindow(patterns);
  populateNorm(patterns);
  populateSequence(patterns);
  if (failed(applyPatternsGreedily(node, std::move(patterns))))
    return failure();
  WalkResult left = node.walk([](Operation *op) {
    if (!isa<NnDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("has no lowering to loops");
    return WalkResult::interrupt();
  });
  if (left.wasInterrupted())
    return failure();
  return fuse(node);
}
