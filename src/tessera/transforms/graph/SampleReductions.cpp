// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sampled reductions: a node that adds up, or looks for an extreme, leaves out some positions of its grid;
// sums are scaled up. An approximation, asked for by a knob: `dfg.knob` on the node.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/Compact.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

NodeOp graph::sampleReduction(RewriterBase &rewriter, NodeOp node, int64_t rate, int64_t offset) {
  Location loc = node.getLoc();
  Perforation by{*sampledDim(node), rate, 1, offset};
  auto scale = [&](SmallVectorImpl<Value> &yielded, Value extent, Value computed) {
    auto toFloat = [&](Type type, Value count) -> Value {
      Value number = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), count);
      return arith::SIToFPOp::create(rewriter, loc, type, number);
    };
    for (auto [r, value] : llvm::enumerate(yielded)) {
      if (node.getYield(r).getReduction().getKind() != ReductionKind::AddF)
        continue;
      Type type = value.getType();
      Value factor = arith::DivFOp::create(rewriter, loc, toFloat(type, extent), toFloat(type, computed));
      value = arith::MulFOp::create(rewriter, loc, value, factor);
    }
  };
  NodeOp some = buildCompact(rewriter, node, by, scale);
  rewriter.replaceOp(node, some->getResults());
  return some;
}
