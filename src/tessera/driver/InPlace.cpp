// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See InPlace.h. Who reads the operand is looked at here; what the node does with it, its target knows.
#include "tessera/driver/InPlace.h"

#include "tessera/ir/nn/Nn.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;

static bool isView(Operation *op) { return isa<nn::ReshapeOp, tensor::CastOp>(op); }

// Calls `visit` for each use of a value's memory; false as soon as that says so.
static bool forEachUse(Value v, function_ref<bool(Operation *)> visit) {
  SmallVector<Value> work = {v};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isView(user))
        work.push_back(user->getResult(0));
      else if (!isa<tensor::DimOp>(user) && !visit(user))
        return false;
    }
  return true;
}

// Some node has made the memory, and `node` is the last one that reads it, once.
static bool diesAt(Value v, dfg::NodeOp node) {
  while (v.getDefiningOp() && isView(v.getDefiningOp()))
    v = v.getDefiningOp()->getOperand(0);
  unsigned reads = 0;
  return v.getDefiningOp<dfg::NodeOp>() && forEachUse(v, [&](Operation *user) {
           if (user == node)
             return ++reads == 1;
           return isa<dfg::NodeOp>(user) && user->isBeforeInBlock(node);
         });
}

std::optional<unsigned> tessera::findTakenOver(dfg::NodeOp node, const TargetList &targets) {
  if (node.getRank() || node.isInternal() || node.getNumYields() != 1 || node->getNumResults() != 1)
    return std::nullopt;
  SmallVector<const TargetChoice *> makers = targets.makersOf(node);
  // Versions for other devices have copies of their own.
  auto isMade = [&](dfg::VersionAttr version) {
    return version.getTarget() == makers.front()->name && !version.getForm();
  };
  if (!llvm::all_of(node.getVersionsAttr().getAsRange<dfg::VersionAttr>(), isMade))
    return std::nullopt;
  // What leaves the graph goes to the caller's memory.
  Value result = node.getResult(0);
  if (!forEachUse(result, llvm::IsaPred<dfg::NodeOp>))
    return std::nullopt;
  for (auto [i, v] : llvm::enumerate(node.getInputs()))
    if (isa<RankedTensorType>(v.getType()) && v.getType() == result.getType() &&
        node.getPort(i).getMode() == dfg::PortMode::Whole && diesAt(v, node) &&
        makers.front()->target->mayTakeOver(node, i))
      return i;
  return std::nullopt;
}
