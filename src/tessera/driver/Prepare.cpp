// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Prepare.h.
#include "tessera/driver/Prepare.h"

#include "tessera/base/Progress.h"
#include "tessera/transforms/nn/graph/Rewrites.h"

using namespace tessera;

dfg::GraphOp tessera::formOf(dfg::NodeOp node, dfg::VersionAttr version) {
  return version.getForm() ? SymbolTable::lookupNearestSymbolFrom<dfg::GraphOp>(node, version.getForm())
                           : dfg::GraphOp();
}

LogicalResult tessera::forEachForm(dfg::GraphOp graph,
                                   function_ref<LogicalResult(dfg::NodeOp, dfg::GraphOp)> f) {
  for (auto node : llvm::to_vector(graph.getBodyBlock()->getOps<dfg::NodeOp>())) {
    DenseSet<Operation *> done;
    if (ArrayAttr versions = node.getVersionsAttr())
      for (auto version : versions.getAsRange<dfg::VersionAttr>())
        if (dfg::GraphOp form = formOf(node, version); form && done.insert(form).second)
          if (failed(f(node, form)))
            return failure();
  }
  return success();
}

// A private graph with the node's inputs and results, around a copy of the node for these versions.
static dfg::GraphOp makeForm(dfg::NodeOp node, StringRef target, ArrayRef<Attribute> versions) {
  auto graph = node->getParentOfType<dfg::GraphOp>();
  OpBuilder b(graph->getContext());
  b.setInsertionPointAfter(graph);
  std::string name = (graph.getSymName() + "." + node.getName() + "." + target).str();
  auto names = [&](StringRef what, size_t count) {
    SmallVector<std::string> all;
    for (size_t i = 0; i < count; ++i)
      all.push_back((what + Twine(i)).str());
    return b.getStrArrayAttr(SmallVector<StringRef>(all.begin(), all.end()));
  };
  auto type = b.getFunctionType(node.getInputs().getTypes(), node.getResultTypes());
  auto form = dfg::GraphOp::create(b, node.getLoc(), name, type, names("in", type.getNumInputs()),
                                   names("out", type.getNumResults()), b.getStringAttr("private"));
  Block *body = b.createBlock(&form.getBody(), {}, type.getInputs(),
                              SmallVector<Location>(type.getNumInputs(), node.getLoc()));
  IRMapping map;
  map.map(node.getInputs(), body->getArguments());
  auto copy = cast<dfg::NodeOp>(b.clone(*node, map));
  // An operand that the node takes twice is two arguments.
  copy.getInputsMutable().assign(body->getArguments());
  copy.setVersionsAttr(b.getArrayAttr(versions));
  dfg::ReturnOp::create(b, node.getLoc(), copy.getResults());
  SymbolTable(graph->getParentOp()).insert(form);
  return form;
}

static LogicalResult prepareRegion(dfg::NodeOp node, const TargetList &targets, const RegionOptions &how) {
  notePlace("node", node.getName());
  SmallVector<const TargetChoice *> makers = targets.makersOf(node);
  if (makers.size() == 1)
    return makers.front()->target->prepare(node, how, makers.front()->options);
  SmallVector<Attribute> versions(node.getVersionsAttr().getValue());
  for (const TargetChoice *maker : makers) {
    auto isOwn = [&](Attribute version) {
      return &targets.makerOf(cast<dfg::VersionAttr>(version).getTarget()) == maker;
    };
    SmallVector<Attribute> own(llvm::make_filter_range(versions, isOwn));
    dfg::GraphOp form = makeForm(node, maker->name, own);
    if (failed(nn::forEachNetwork(
            form, [&](dfg::NodeOp copy) { return maker->target->prepare(copy, how, maker->options); })))
      return failure();
    for (Attribute &version : versions)
      if (auto v = cast<dfg::VersionAttr>(version); isOwn(v) && !v.getForm())
        version = dfg::VersionAttr::get(v.getContext(), v.getTarget(), FlatSymbolRefAttr::get(form),
                                        v.getScript(), v.getKnobs());
  }
  node.setVersionsAttr(ArrayAttr::get(node.getContext(), versions));
  return success();
}

LogicalResult tessera::prepareGraph(dfg::GraphOp graph, const TargetList &targets, const RegionOptions &how) {
  return nn::forEachNetwork(graph, [&](dfg::NodeOp node) { return prepareRegion(node, targets, how); });
}
