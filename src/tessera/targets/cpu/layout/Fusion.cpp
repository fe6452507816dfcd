// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Fusion.h. A product that reads what comes of a depthwise layer place by place joins it, if its weights
// leave room for strips in the cache, and a pool whose windows lie side by side joins a convolution. A border
// is made as a layer stores its result, behind a split into parts if there is one.
#include "tessera/targets/cpu/layout/Fusion.h"

#include "tessera/targets/cpu/layout/Passes.h"
#include "tessera/targets/cpu/packed/Packed.h"

using namespace tessera;
using namespace tessera::cpu;

// `op` multiplies what the group computes, place by place: the two run in strips.
static bool mayFollowInStrips(Operation *op, Operation *anchor, int64_t stripWeights) {
  auto conv = dyn_cast<PackedConvOp>(op);
  auto first = dyn_cast_or_null<PackedDepthwiseOp>(anchor);
  if (!conv || !first || packed::findPointwise(first) != conv)
    return false;
  auto w = cast<RankedTensorType>(conv.getW().getType()), y = cast<RankedTensorType>(first.getY().getType());
  // With fewer rows there are too few strips for threads (open ones are expected to be enough); weights that
  // are mostly zero have other ways.
  return !cpu::Notes::filled.isOn(conv) && w.getElementType().isF32() &&
         4 * w.getNumElements() <= stripWeights && (y.isDynamicDim(2) || y.getDimSize(2) >= 4);
}

// `op` is a pool that the group's convolution can do when it stores.
static bool mayPool(Operation *op, Operation *anchor, ArrayRef<Operation *> group) {
  auto pool = dyn_cast<PackedPoolOp>(op);
  return pool && isa_and_nonnull<PackedConvOp, PackedWinogradOp>(anchor) &&
         cast<RankedTensorType>(pool.getX().getType()).getElementType().isF32() &&
         llvm::none_of(group, llvm::IsaPred<PackedDepthwiseOp>) && packed::findPool(anchor) == pool;
}

bool cpu::isBatchProduct(MatmulOp op) {
  auto isF32 = [](Value v) { return cast<RankedTensorType>(v.getType()).getElementType().isF32(); };
  return isF32(op.getA()) && isF32(op.getB()) && isF32(op.getY()) && !nn::Notes::knob.isOn(op);
}

bool cpu::isAttention(SoftmaxOp op) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  if (op.getLog() || !x.getElementType().isF32() || int64_t(op.getAxis()) + 1 != x.getRank() ||
      !op.getY().hasOneUse())
    return false;
  auto reader = dyn_cast<MatmulOp>(*op.getY().getUsers().begin());
  return reader && reader->getBlock() == op->getBlock() && isBatchProduct(reader) &&
         reader.getA() == op.getY() && !reader.getTransposeA() &&
         !ShapedType::isDynamic(cast<RankedTensorType>(reader.getY().getType()).getShape().back());
}

// `op` is the softmax of what the group computes, which starts with a product, or the product of that
// softmax.
static bool mayAttend(Operation *op, Operation *anchor, ArrayRef<Operation *> group) {
  auto product = dyn_cast_or_null<MatmulOp>(anchor);
  if (!product || !isBatchProduct(product))
    return false;
  Operation *last = group.back();
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return isAttention(softmax) && softmax.getX().getDefiningOp() == last;
  auto softmax = dyn_cast<SoftmaxOp>(last);
  return softmax && isAttention(softmax) && *softmax.getY().getUsers().begin() == op;
}

FusionRules::Follow CpuFusionRules::mayFollow(Operation *op, Operation *anchor,
                                              ArrayRef<Operation *> group) const {
  if (mayFollowInStrips(op, anchor, stripWeights))
    return Follow::AsLayer;
  if (attention && mayAttend(op, anchor, group))
    return Follow::AsLayer;
  return mayPool(op, anchor, group) ? Follow::InStores : Follow::No;
}

bool CpuFusionRules::isOffset(Operation *op) const { return isa<CropOp>(op); }

unsigned CpuFusionRules::storeOrder(Operation *op) const { return isa<HaloOp>(op) ? 2 : isa<SplitOp>(op); }

namespace tessera::cpu {
#define GEN_PASS_DEF_CPUPARTITIONPASS
#include "tessera/targets/cpu/layout/Passes.h.inc"
} // namespace tessera::cpu

namespace {
struct CpuPartitionPass : cpu::impl::CpuPartitionPassBase<CpuPartitionPass> {
  using Base::Base;
  void runOnOperation() override {
    CpuFusionRules rules(stripWeights);
    PartitionOptions options{.fuse = fuse, .rules = &rules};
    if (failed(forEachNetwork(getOperation(),
                              [&](dfg::NodeOp node) { return partitionNetwork(node, options); })))
      signalPassFailure();
  }
};
} // namespace
