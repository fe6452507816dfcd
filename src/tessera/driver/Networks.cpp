// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Networks.h.
#include "tessera/driver/Networks.h"

#include "tessera/transforms/nn/graph/Rewrites.h"
#include "tessera/transforms/nn/lower/Lower.h"

using namespace tessera;

LogicalResult tessera::simplifyNetworks(ModuleOp module) {
  return nn::forEachNetwork(module, [](dfg::NodeOp node) { return nn::simplifyNetwork(node, nullptr); });
}

LogicalResult tessera::prepareNetworks(ModuleOp module, const InstallOptions &options) {
  nn::PartitionOptions partition;
  partition.fuse = options.fusion;
  return nn::forEachNetwork(module,
                            [&](dfg::NodeOp node) { return nn::partitionNetwork(node, partition); });
}

LogicalResult tessera::lowerNetworks(dfg::GraphOp graph) {
  return nn::forEachNetwork(graph, [](dfg::NodeOp node) { return nn::lowerToLinalg(node); });
}
