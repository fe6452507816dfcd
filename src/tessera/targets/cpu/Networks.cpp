// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Networks.h. Nodes are looked at as they are scheduled: layers on blocks and elementwise linalg.
#include "tessera/targets/cpu/Networks.h"

#include "tessera/targets/cpu/layout/Fusion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;

LogicalResult cpu::prepareRegion(dfg::NodeOp region, const RegionOptions &how, const Figures &figures,
                                 bool strict) {
  if (how.layout && failed(assignLayouts(region, layoutOptions(figures, strict))))
    return failure();
  CpuFusionRules rules(int64_t(figures.l2 / 2), !strict);
  return nn::partitionNetwork(region, {.fuse = how.fusion, .rules = &rules});
}

std::string cpu::layoutOf(dfg::NodeOp node) {
  std::string layout;
  node.getBody().walk([&](nn::NnOp op) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (type && type.getRank() == 5 && isPacked(op) && !isa<HaloOp, CropOp, SplitOp>(op))
      layout = "NCHW" + std::to_string(type.getDimSize(4)) + "c";
  });
  return layout;
}

static bool isElementwise(linalg::GenericOp op) {
  return op.getNumResults() == 1 && op.getNumParallelLoops() == op.getNumLoops() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
}

// Products of narrow elements may run by tiles, of which the last computes places of the one before again.
static bool isNarrow(Operation &op) {
  return isa<cpu::PackedConvOp, cpu::PackedMatmulOp>(op) &&
         getElementTypeOrSelf(op.getOperand(0)) != getElementTypeOrSelf(op.getResult(0));
}

// So do layers whose planes are open.
static bool overlaps(Operation &op) {
  return isNarrow(op) ||
         (isa<cpu::PackedConvOp, cpu::PackedDepthwiseOp>(op) && cpu::packed::hasOpenPlanes(&op));
}

// The leaf has nothing that goes over its result twice, as sums over rows do.
static bool isOnePass(dfg::NodeOp node) {
  return llvm::all_of(node.getBodyBlock()->without_terminator(), [](Operation &op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      return isElementwise(generic);
    return (nn::isPacked(&op) && !overlaps(op) && !isa<cpu::ProductOp, cpu::AttendOp>(op)) ||
           isa<tensor::EmptyOp, tensor::DimOp, tensor::CastOp>(op) ||
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

bool cpu::readsInPlace(dfg::NodeOp node, unsigned operand) {
  return isOnePass(node) && keepsPlaces(node.getInputArgs()[operand], node.getYieldOp().getValues()[0]);
}
