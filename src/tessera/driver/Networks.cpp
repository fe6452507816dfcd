// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Networks.h.
#include "tessera/driver/Networks.h"

#include "tessera/base/Progress.h"
#include "tessera/driver/Components.h"
#include "tessera/oracle/Oracle.h"
#include "tessera/targets/cpu/layout/Fusion.h"
#include "tessera/targets/cpu/packed/Packed.h"
#include "tessera/transforms/nn/knobs/Apply.h"
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

cpu::LayoutOptions tessera::layoutOptions(const InstallOptions &options) {
  cpu::LayoutOptions layout;
  TargetInfo info = findTarget("cpu")->info(options.target);
  layout.lanes = std::max(4u, info.vectorBytes / 4);
  if (std::optional<cpu::packed::Dot> dot = cpu::packed::parseDot(info.dotBytes)) {
    layout.bytes = cpu::packed::stepOf(*dot);
    if (*dot == cpu::packed::Dot::MaddBytes) {
      layout.bytes = cpu::packed::stepOf(cpu::packed::Dot::Madd);
      layout.smallBytes = cpu::packed::stepOf(*dot);
    }
    layout.tileBytes = cpu::packed::channelsOf(*dot);
  }
  // Without an instruction for them bf16 is fastest as f32.
  if (std::optional<cpu::packed::Dot> dot = cpu::packed::parseDot(info.dotHalves);
      dot && *dot != cpu::packed::Dot::Plain) {
    layout.halves = cpu::packed::stepOf(*dot);
    layout.tileHalves = cpu::packed::channelsOf(*dot);
  }
  layout.winograd = !options.target.strict;
  return layout;
}

LogicalResult tessera::prepareNetworks(ModuleOp module, const InstallOptions &options) {
  cpu::LayoutOptions layout = layoutOptions(options);
  // Packed layers are the CPU's.
  bool host = llvm::all_of(options.targets, [](const std::string &name) {
    return name == "cpu" || findTarget(name)->runsHostCode();
  });
  cpu::CpuFusionRules rules(int64_t(findTarget("cpu")->info(options.target).l2 / 2));
  nn::PartitionOptions partition{.fuse = options.fusion, .rules = &rules};
  return nn::forEachNetwork(module, [&](dfg::NodeOp node) {
    if (failed(nn::applyKnobs(node)))
      return failure();
    if (host && options.layout && failed(cpu::assignLayouts(node, layout)))
      return failure();
    return nn::partitionNetwork(node, partition);
  });
}

LogicalResult tessera::lowerNetworks(dfg::GraphOp graph) {
  graph.walk([](dfg::NodeOp node) {
    if (!node.getRank() && !node.isInternal())
      nn::addExtentChecks(node);
  });
  return nn::forEachNetwork(graph, [](dfg::NodeOp node) {
    notePlace("node", node.getName());
    if (failed(nn::lowerToLinalg(node)))
      return failure();
    // A packed layer takes what follows it only if that is all that reads its result.
    nn::simplifyExtents(node);
    return success();
  });
}
