// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which leaves are networks.
#include "tessera/transforms/nn/graph/Rewrites.h"

using namespace tessera;
using namespace tessera::nn;

bool nn::isNetwork(dfg::NodeOp node) {
  if (node.getRank() || node.isInternal())
    return false;
  return node.getBody().walk([](NnOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

LogicalResult nn::forEachNetwork(Operation *root, function_ref<LogicalResult(dfg::NodeOp)> rewrite) {
  SmallVector<dfg::NodeOp> networks;
  root->walk([&](dfg::NodeOp node) {
    if (isNetwork(node))
      networks.push_back(node);
  });
  for (dfg::NodeOp node : networks)
    if (failed(rewrite(node)))
      return failure();
  return success();
}
