// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relaxed synchronisation: in a stream the readers of a node take what it computed some activations before,
// so that they wait for nothing of their own. An approximation, asked for by a knob: `dfg.knob` on the node.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/NodeParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

// %y = @f; @g(%y)  →  %late = state init(first); %y = @f; @g(%late); update %late, %y
LogicalResult graph::delayResults(RewriterBase &rewriter, NodeOp node, int64_t activations, Refusal &no) {
  if (!canDelay(node))
    return no(node,
              "the results of '" + node.getName() +
                  "' cannot be late: they leave the graph, or go to something other than a node",
              "give the knob to nodes between others");
  Location loc = node.getLoc();
  for (OpResult result : node->getResults()) {
    SmallVector<Value> stages; // the youngest first
    rewriter.setInsertionPoint(node);
    Value first = arith::ConstantOp::create(rewriter, loc, firstOf(node, result.getResultNumber()));
    for (int64_t i = 0; i < activations; ++i)
      stages.push_back(StateOp::create(rewriter, loc, result.getType(), first));
    rewriter.replaceAllUsesWith(result, stages.back());
    rewriter.setInsertionPoint(node->getBlock()->getTerminator());
    Value next = result;
    for (Value stage : stages) {
      UpdateOp::create(rewriter, loc, stage, next);
      next = stage;
    }
  }
  return success();
}
