// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine-independent simplification: the families of rewrites to a fixed point, then what is the same or
// unused goes.
#include "tessera/transforms/nn/graph/Passes.h"
#include "tessera/transforms/nn/graph/Patterns.h"

#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/xxhash.h"

using namespace tessera;
using namespace tessera::nn;

// Constants with the same type and bytes → one constant. Resources have names, so the context does not see
// that they are equal.
static void shareConstants(dfg::NodeOp node, RewriterBase &rewriter) {
  DenseMap<uint64_t, SmallVector<arith::ConstantOp, 1>> known;
  SmallVector<arith::ConstantOp> constants(node.getBodyBlock()->getOps<arith::ConstantOp>());
  for (arith::ConstantOp op : constants) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
    if (!resource)
      continue;
    Bytes bytes(resource);
    if (!bytes)
      continue;
    uint64_t hash = llvm::xxh3_64bits(
        ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(bytes.data().data()), bytes.data().size()));
    auto &same = known[hash];
    auto it = llvm::find_if(same, [&](arith::ConstantOp other) {
      return other.getType() == op.getType() &&
             Bytes(cast<ElementsAttr>(other.getValue())).data() == bytes.data();
    });
    if (it == same.end()) {
      same.push_back(op);
      continue;
    }
    // The first one may stand behind users of this one.
    if (op->isBeforeInBlock(*it))
      (*it)->moveBefore(op);
    rewriter.replaceOp(op, *it);
  }
}

LogicalResult nn::simplifyNetwork(dfg::NodeOp node, const Evaluator &evaluate) {
  readQuantised(node);
  RewritePatternSet patterns(node.getContext());
  populateAlgebra(patterns);
  populateMovement(patterns);
  populateFoldNorm(patterns);
  populateFoldPad(patterns);
  populateFoldConstants(patterns, evaluate);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // Not converging is no error: the network is right at every step.
  (void)applyPatternsGreedily(node.getBody(), std::move(patterns), config);
  simplifyExtents(node);
  IRRewriter rewriter(node.getContext());
  shareConstants(node, rewriter);
  DominanceInfo dominance(node);
  eliminateCommonSubExpressions(rewriter, dominance, node);
  return success();
}

namespace tessera::nn {
#define GEN_PASS_DEF_NNSIMPLIFYPASS
#include "tessera/transforms/nn/graph/Passes.h.inc"
} // namespace tessera::nn

namespace {
struct NnSimplifyPass : nn::impl::NnSimplifyPassBase<NnSimplifyPass> {
  void runOnOperation() override {
    if (failed(
            forEachNetwork(getOperation(), [](dfg::NodeOp node) { return simplifyNetwork(node, nullptr); })))
      signalPassFailure();
  }
};
} // namespace
