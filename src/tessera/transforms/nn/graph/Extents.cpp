// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Extents of what operations compute, as extents of what they take: an extent must not keep a value alive, nor make
// anyone wait for it.
#include "tessera/transforms/nn/graph/Patterns.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace tessera;
using namespace tessera::nn;

// The operand and its dimension that extent `d` of the result certainly equals.
static std::optional<std::pair<Value, int64_t>> sameExtent(Operation *op, int64_t d) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto nnOp = dyn_cast<NnOp>(op); nnOp && nnOp.getOpClass() == OpClass::Elementwise) {
    for (Value v : op->getOperands()) {
      auto from = dyn_cast<RankedTensorType>(v.getType());
      if (!from)
        continue;
      int64_t own = d - (type.getRank() - from.getRank());
      // A dynamic extent is broadcast only against 1: then all others are static.
      if (own < 0 || !from.isDynamicDim(own))
        continue;
      bool others = llvm::any_of(op->getOperands(), [&](Value w) {
        auto other = dyn_cast<RankedTensorType>(w.getType());
        int64_t at = other ? d - (type.getRank() - other.getRank()) : -1;
        return w != v && at >= 0 && other.isDynamicDim(at);
      });
      if (!others)
        return std::pair(v, own);
    }
    return std::nullopt;
  }
  // The batch of windows and of what normalises.
  if (isa<PackOp, UnpackOp, HaloOp, CropOp, PackedConvOp, PackedWinogradOp, PackedDepthwiseOp, PackedMatmulOp,
          PackedPoolOp, PackedMeanOp>(op) &&
      d == 0)
    return std::pair(op->getOperand(0), d);
  if (isa<ConvOp, ConvTransposeOp, PoolOp, SoftmaxOp, LayerNormOp, GroupNormOp, LrnOp>(op) &&
      (d == 0 || isa<SoftmaxOp, LayerNormOp, GroupNormOp, LrnOp>(op)))
    return std::pair(op->getOperand(0), d);
  if (auto matmul = dyn_cast<MatmulOp>(op); matmul && type.getRank() == 2) {
    if (d == 0)
      return std::pair(matmul.getA(), int64_t(matmul.getTransposeA()));
    return std::pair(matmul.getB(), int64_t(!matmul.getTransposeB()));
  }
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return std::pair(transpose.getX(), transpose.getPermutation()[d]);
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    int64_t at = d;
    if (!reduce.getKeep())
      for (int64_t axis = 0; axis <= at; ++axis)
        at += llvm::is_contained(reduce.getAxes(), axis);
    return std::pair(reduce.getX(), at);
  }
  if (auto pad = dyn_cast<PadOp>(op); pad && !pad.getLows()[d] && !pad.getHighs()[d])
    return std::pair(pad.getX(), d);
  if (auto slice = dyn_cast<SliceOp>(op))
    return std::pair(slice.getX(), d);
  if (auto concat = dyn_cast<ConcatOp>(op); concat && int64_t(concat.getAxis()) != d)
    return std::pair(concat.getInputs()[0], d);
  return std::nullopt;
}

namespace {

struct ExtentOfResult : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::DimOp op, PatternRewriter &rewriter) const override {
    std::optional<int64_t> d = op.getConstantIndex();
    Operation *def = op.getSource().getDefiningOp();
    if (!d || !def || cast<OpResult>(op.getSource()).getResultNumber() != 0)
      return failure();
    auto nthDynamic = [&](ValueRange extents) {
      unsigned index = 0;
      for (int64_t i = 0; i < *d; ++i)
        index += cast<RankedTensorType>(op.getSource().getType()).isDynamicDim(i);
      rewriter.replaceOp(op, extents[index]);
      return success();
    };
    if (auto type = cast<RankedTensorType>(op.getSource().getType()); !type.isDynamicDim(*d))
      return failure();
    if (auto reshape = dyn_cast<ReshapeOp>(def))
      return nthDynamic(reshape.getExtents());
    if (auto broadcast = dyn_cast<BroadcastOp>(def))
      return nthDynamic(broadcast.getExtents());
    if (auto iota = dyn_cast<IotaOp>(def))
      return nthDynamic(iota.getExtents());
    if (auto empty = dyn_cast<tensor::EmptyOp>(def))
      return nthDynamic(empty.getDynamicSizes());
    // A result has the extents of the operand that it is written over.
    if (auto dps = dyn_cast<DestinationStyleOpInterface>(def)) {
      Value init = dps.getTiedOpOperand(cast<OpResult>(op.getSource()))->get();
      rewriter.replaceOpWithNewOp<tensor::DimOp>(op, init, *d);
      return success();
    }
    auto same = sameExtent(def, *d);
    if (!same)
      return failure();
    rewriter.replaceOpWithNewOp<tensor::DimOp>(op, same->first, same->second);
    return success();
  }
};

} // namespace

void nn::populateExtents(RewritePatternSet &patterns) { patterns.add<ExtentOfResult>(patterns.getContext()); }

void nn::simplifyExtents(dfg::NodeOp node) {
  RewritePatternSet patterns(node.getContext());
  populateExtents(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  (void)applyPatternsGreedily(node.getBody(), std::move(patterns), config);
}
