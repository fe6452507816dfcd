// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See InPlace.h. Leaves are looked at as they are scheduled: layers on blocks and elementwise linalg.
#include "tessera/driver/InPlace.h"

#include "tessera/targets/cpu/packed/Packed.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;

static bool isElementwise(linalg::GenericOp op) {
  return op.getNumResults() == 1 && op.getNumParallelLoops() == op.getNumLoops() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
}

// Products of narrow elements may run by tiles, of which the last computes places of the one before again.
static bool isNarrow(Operation &op) {
  return isa<cpu::PackedConvOp, cpu::PackedMatmulOp>(op) &&
         getElementTypeOrSelf(op.getOperand(0)) != getElementTypeOrSelf(op.getResult(0));
}

// The leaf has nothing that goes over its result twice, as sums over rows do.
static bool isOnePass(dfg::NodeOp node) {
  return llvm::all_of(node.getBodyBlock()->without_terminator(), [](Operation &op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return isElementwise(generic);
    return (nn::isPacked(&op) && !isNarrow(op)) || isa<tensor::EmptyOp, tensor::DimOp, tensor::CastOp>(op) ||
           isa<arith::ArithDialect>(op.getDialect());
  });
}

// The one use of a value's elements; null when there are several.
static OpOperand *onlyUse(Value v) {
  OpOperand *only = nullptr;
  for (OpOperand &use : v.getUses()) {
    if (isa<tensor::DimOp>(use.getOwner()))
      continue;
    if (only)
      return nullptr;
    only = &use;
  }
  return only;
}

// Each element of `v` is used once, for the element at the same place of `result`. Borders that are taken off
// must come back.
static bool keepsPlaces(Value v, Value result) {
  std::array<int64_t, 4> missing{};
  while (v != result) {
    OpOperand *use = onlyUse(v);
    if (!use)
      return false;
    Operation *user = use->getOwner();
    if (auto generic = dyn_cast<linalg::GenericOp>(user)) {
      if (!generic.isDpsInput(use) || !generic.getMatchingIndexingMap(use).isIdentity())
        return false;
    } else if (auto crop = dyn_cast<cpu::CropOp>(user)) {
      for (auto [m, pad] : llvm::zip(missing, crop.getPads()))
        m += pad;
    } else if (auto halo = dyn_cast<cpu::HaloOp>(user)) {
      for (auto [m, pad] : llvm::zip(missing, halo.getPads()))
        m -= pad;
    } else if (!isa<tensor::CastOp>(user)) {
      return false;
    }
    v = user->getResult(0);
  }
  return missing == std::array<int64_t, 4>{};
}

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

std::optional<unsigned> tessera::findTakenOver(dfg::NodeOp node) {
  auto isHost = [](dfg::VersionAttr version) { return version.getTarget() == "cpu"; };
  if (node.getRank() || node.isInternal() || node.getNumYields() != 1 || node->getNumResults() != 1 ||
      !llvm::all_of(node.getVersionsAttr().getAsRange<dfg::VersionAttr>(), isHost) || !isOnePass(node))
    return std::nullopt;
  // What leaves the graph goes to the caller's memory.
  Value result = node.getResult(0);
  if (!forEachUse(result, llvm::IsaPred<dfg::NodeOp>))
    return std::nullopt;
  Value yielded = node.getYieldOp().getValues()[0];
  for (auto [i, v] : llvm::enumerate(node.getInputs()))
    if (isa<RankedTensorType>(v.getType()) && v.getType() == result.getType() &&
        node.getPort(i).getMode() == dfg::PortMode::Whole && diesAt(v, node) &&
        keepsPlaces(node.getInputArgs()[i], yielded))
      return i;
  return std::nullopt;
}
