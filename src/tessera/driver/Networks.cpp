// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Networks.h.
#include "tessera/driver/Networks.h"

#include "tessera/base/Progress.h"
#include "tessera/oracle/Oracle.h"
#include "tessera/transforms/nn/graph/Rewrites.h"
#include "tessera/transforms/nn/lower/Lower.h"

using namespace tessera;

// The reference interpreter is what says what an operation means.
static SmallVector<ElementsAttr> evaluateByOracle(Operation *op, ArrayRef<ElementsAttr> operands) {
  SmallVector<Attribute> values(operands.begin(), operands.end());
  FailureOr<SmallVector<TypedAttr>> computed = oracle::evaluate(op, values);
  SmallVector<ElementsAttr> results;
  if (succeeded(computed))
    for (auto [attr, type] : llvm::zip(*computed, op->getResultTypes()))
      if (auto elements = dyn_cast<ElementsAttr>(attr); elements && attr.getType() == type)
        results.push_back(elements);
  return results;
}

LogicalResult tessera::simplifyNetworks(ModuleOp module) {
  return nn::forEachNetwork(module,
                            [](dfg::NodeOp node) { return nn::simplifyNetwork(node, evaluateByOracle); });
}

// A node that has forms is lowered for what it asks of extents, and for how much it computes.
static LogicalResult lowerNode(dfg::NodeOp node, const TargetList &targets) {
  notePlace("node", node.getName());
  const bool hasForms = llvm::any_of(node.getVersionsAttr().getAsRange<dfg::VersionAttr>(),
                                     [](dfg::VersionAttr version) { return bool(version.getForm()); });
  if (failed(hasForms ? nn::lowerToLinalg(node) : targets.makersOf(node).front()->target->lowerNetwork(node)))
    return failure();
  // A layer that its target has made takes what follows it only if that is all that reads its result.
  nn::simplifyExtents(node);
  return success();
}

LogicalResult tessera::lowerNetworks(dfg::GraphOp graph, const TargetList &targets) {
  graph.walk([](dfg::NodeOp node) {
    if (!node.getRank() && !node.isInternal())
      nn::addExtentChecks(node);
  });
  return nn::forEachNetwork(graph, [&](dfg::NodeOp node) { return lowerNode(node, targets); });
}
