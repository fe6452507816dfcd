// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function substitution: a node becomes one of the graphs that its author gave as versions of it. Asked for
// by a knob: `dfg.knob` on the node.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/NodeParts.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

// What a node does with memory its version must do, too: leave what it only reads, and hand on what it may
// write.
static LogicalResult checkMemory(NodeOp node, GraphOp version, Refusal &no) {
  Operation *end = version.getBodyBlock()->getTerminator();
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    if (!node.getPort(i).isMemory())
      continue;
    Value arg = version.getBodyBlock()->getArgument(i);
    if (!node.getPort(i).isWritable()) {
      if (llvm::any_of(arg.getUses(), consumes) || llvm::is_contained(end->getOperands(), arg))
        return no(version,
                  "the version '" + version.getSymName() + "' takes away the memory of input " + Twine(i) +
                      ", which '" + node.getName() + "' only reads",
                  "pass it on through 'in' ports");
      continue;
    }
    Value last = end->getOperand(node.getPortResult(i).getResultNumber());
    if (memoryRoot(last) != arg)
      return no(version,
                "the version '" + version.getSymName() + "' of '" + node.getName() +
                    "' returns other memory than that of input " + Twine(i),
                "return what the last writer of the input yields");
  }
  return success();
}

LogicalResult graph::substituteVersion(RewriterBase &rewriter, NodeOp node, int64_t number, Refusal &no) {
  FlatSymbolRefAttr name = versionOf(node, number);
  auto version = SymbolTable::lookupNearestSymbolFrom<GraphOp>(node, name);
  if (failed(checkMemory(node, version, no)))
    return failure();
  rewriter.setInsertionPoint(node);
  auto call =
      CallOp::create(rewriter, node.getLoc(), node->getResultTypes(), name.getValue(), node.getInputs());
  rewriter.replaceOp(node, call.getOutputs());
  return failure(failed(flattenCall(rewriter, call, no)));
}
