// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Lower.h.
#include "tessera/transforms/nn/lower/Lower.h"

#include "tessera/base/Check.h"
#include "tessera/transforms/leaf/Rewrites.h"
#include "tessera/transforms/nn/lower/Steady.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace tessera;
using namespace tessera::nn;

// So little that doing it again costs less than reading its result from memory.
static bool isCheap(linalg::GenericOp op) {
  unsigned count = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (inner.getNumRegions() || isa<math::MathDialect>(inner.getDialect()) ||
        isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp,
            tensor::ExtractOp>(inner))
      return false;
    ++count;
  }
  return count <= 4;
}

static int64_t countOps(linalg::GenericOp op) {
  auto body = op.getBody()->without_terminator();
  return std::distance(body.begin(), body.end());
}

// Whether the producer of an operand may move into its consumer: nobody else needs it, and no element is
// computed more often than before.
static bool wantsFusion(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || !producer->hasOneUse())
    return false;
  if (consumer.getMatchingIndexingMap(operand).isPermutation())
    return true;
  return consumer.getNumParallelLoops() == consumer.getNumLoops() && isCheap(producer);
}

namespace {

// A loop nest that never runs → what its results start as
struct DropEmptyLoops : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(op.getStaticLoopRanges(), 0))
      return failure();
    rewriter.replaceOp(op, op.getOutputs());
    return success();
  }
};

} // namespace

// Fusing copies both bodies. Small ones are fused first, so that an operation of a long chain is copied
// as often as there are rounds, not once for each that comes after it.
static LogicalResult fuse(dfg::NodeOp node) {
  constexpr int64_t firstSize = 32, growth = 4;
  bool held = true;
  for (int64_t most = firstSize; held; most *= growth) {
    held = false;
    RewritePatternSet patterns(node.getContext());
    patterns.add<DropEmptyLoops>(node.getContext());
    // An extent that is asked of a loop's result would be a second use of it.
    memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
    linalg::populateElementwiseOpsFusionPatterns(patterns, [&](OpOperand *operand) {
      if (!wantsFusion(operand))
        return false;
      bool small = countOps(operand->get().getDefiningOp<linalg::GenericOp>()) +
                       countOps(cast<linalg::GenericOp>(operand->getOwner())) <=
                   most;
      held |= !small;
      return small;
    });
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    tensor::populateReassociativeReshapeFoldingPatterns(patterns);
    if (failed(applyPatternsGreedily(node, std::move(patterns))))
      return failure();
  }
  return success();
}

// Sums and products over the reduced dimensions of a loop nest may be formed in any order.
static void freeOrder(dfg::NodeOp node) {
  node.walk([](linalg::GenericOp op) {
    if (!op.getNumReductionLoops())
      return;
    for (auto [i, v] : llvm::enumerate(cast<linalg::YieldOp>(op.getBody()->getTerminator()).getValues())) {
      Operation *def = v.getDefiningOp();
      if (isa_and_nonnull<arith::AddFOp, arith::MulFOp>(def) && def->hasOneUse() &&
          llvm::is_contained(def->getOperands(), Value(op.getRegionOutputArgs()[i])))
        SharedNotes::anyOrder.set(def);
    }
  });
}

// Networks are judged by 1e-3, not by the last bit of an exponential or of the quotient beside it. Other
// quotients stay exact: the scale of a quantisation is one, and its last bit decides which integer a tie
// becomes.
static void relaxFunctions(dfg::NodeOp node) {
  SmallVector<Operation *> quotients;
  bool hasFunctions = false;
  auto relax = [](Operation *op) { SharedNotes::approximate.set(op); };
  node.walk([&](Operation *op) {
    if (isa<math::ExpOp, math::TanhOp, math::ErfOp>(op)) {
      hasFunctions = true;
      relax(op);
    } else if (isa<arith::DivFOp>(op)) {
      quotients.push_back(op);
    }
  });
  if (hasFunctions)
    llvm::for_each(quotients, relax);
}

static LogicalResult lowerOperations(dfg::NodeOp node) {
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
  populateApprox(patterns);
  // Producers first: whether two extents are equal is read off what has been lowered.
  GreedyRewriteConfig config;
  config.setUseTopDownTraversal(true);
  if (failed(applyPatternsGreedily(node, std::move(patterns), config)))
    return failure();
  // Every operation that its verifier lets pass has a lowering; packed layers are the schedule's business.
  node.walk([](Operation *op) {
    TESSERA_CHECK(!isa<NnDialect>(op->getDialect()) || isPacked(op)) << op->getName().getStringRef().str();
  });
  return fuse(node);
}

LogicalResult nn::lowerToLinalg(dfg::NodeOp node) {
  Region original;
  IRMapping mapping;
  if (assumeSteady(node))
    node.getBody().cloneInto(&original, mapping);
  if (failed(lowerOperations(node)))
    return failure();
  auto again = [&] {
    Region copy;
    IRMapping back;
    original.cloneInto(&copy, back);
    node.getBody().takeBody(copy);
  };
  if (!original.empty() && !areSteady(node)) {
    again();
    const bool mayBe = assumeEqual(node);
    if (mayBe && failed(lowerOperations(node)))
      return failure();
    if (!mayBe || !areSteady(node)) {
      again();
      forgetSteady(node);
      if (failed(lowerOperations(node)))
        return failure();
    }
  }
  freeOrder(node);
  relaxFunctions(node);
  writeOutside(node);
  forgetSteady(node);
  return success();
}
