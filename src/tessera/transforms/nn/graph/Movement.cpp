// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement that moves nothing, movement of what was just moved, and movement that the next operation can do
// itself.
#include "tessera/transforms/nn/graph/Patterns.h"

using namespace tessera;
using namespace tessera::nn;

static bool isIdentity(ArrayRef<int64_t> permutation) {
  for (auto [i, p] : llvm::enumerate(permutation))
    if (p != int64_t(i))
      return false;
  return true;
}

namespace {

/// reshape(reshape(x)) → reshape(x); reshape to the static shape that x has → x
struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    // With one dynamic extent the static ones leave no choice for it.
    if (op.getX().getType() == type && type.getNumDynamicDims() <= 1) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getXMutable().assign(inner.getX()); });
    return success();
  }
};

/// transpose(transpose(x, p), q) → transpose(x, p of q); a transpose that changes nothing → x; one that moves
/// only extents of 1 → reshape
struct MergeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> outer = op.getPermutation();
    if (isIdentity(outer)) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    if (auto inner = op.getX().getDefiningOp<TransposeOp>()) {
      SmallVector<int64_t> both;
      for (int64_t p : outer)
        both.push_back(inner.getPermutation()[p]);
      rewriter.replaceOpWithNewOp<TransposeOp>(op, inner.getX(), both);
      return success();
    }
    auto type = cast<RankedTensorType>(op.getX().getType());
    SmallVector<int64_t> moved;
    for (int64_t p : outer)
      if (type.getDimSize(p) != 1)
        moved.push_back(p);
    if (!type.hasStaticShape() || !llvm::is_sorted(moved))
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getX(), ValueRange{});
    return success();
  }
};

/// broadcast, tile, slice, pad, concat, resize that give what they take → x
struct MoveNothing : RewritePattern {
  explicit MoveNothing(MLIRContext *ctx) : RewritePattern(MatchAnyOpTypeTag(), 1, ctx) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto allAre = [](ArrayRef<int64_t> values, int64_t v) {
      return llvm::all_of(values, [&](int64_t each) { return each == v; });
    };
    bool nothing = false;
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      nothing = cast<RankedTensorType>(broadcast.getType()).hasStaticShape();
    else if (auto tile = dyn_cast<TileOp>(op))
      nothing = allAre(tile.getRepeats(), 1);
    else if (auto slice = dyn_cast<SliceOp>(op))
      // A dynamic extent is that of x by definition.
      nothing = allAre(slice.getStarts(), 0) && allAre(slice.getSteps(), 1);
    else if (auto pad = dyn_cast<PadOp>(op))
      nothing = allAre(pad.getLows(), 0) && allAre(pad.getHighs(), 0);
    else if (auto concat = dyn_cast<ConcatOp>(op))
      nothing = concat.getInputs().size() == 1;
    if (!nothing || op->getOperand(0).getType() != op->getResult(0).getType())
      return failure();
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// concat(…, concat(a, b), …) → concat(…, a, b, …) along the same axis
struct MergeConcats : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> inputs;
    for (Value v : op.getInputs()) {
      auto inner = v.getDefiningOp<ConcatOp>();
      if (inner && inner.getAxis() == op.getAxis() && hasOneUser(v))
        llvm::append_range(inputs, inner.getInputs());
      else
        inputs.push_back(v);
    }
    if (inputs.size() == op.getInputs().size())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(inputs); });
    return success();
  }
};

/// matmul(transpose(a), b) → matmul(a, b) {transpose_a}, when the two innermost dimensions are exchanged
struct TransposeInMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    bool changed = false;
    for (unsigned i : {0u, 1u}) {
      auto transpose = op->getOperand(i).getDefiningOp<TransposeOp>();
      // A constant is transposed once and for all instead.
      if (!transpose || elementsOf(transpose.getX()))
        continue;
      SmallVector<int64_t> exchanged(
          llvm::to_vector(llvm::seq<int64_t>(0, transpose.getPermutation().size())));
      if (exchanged.size() < 2)
        continue;
      std::swap(exchanged[exchanged.size() - 1], exchanged[exchanged.size() - 2]);
      if (transpose.getPermutation() != ArrayRef<int64_t>(exchanged))
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(i, transpose.getX());
        if (i == 0)
          op.setTransposeA(!op.getTransposeA());
        else
          op.setTransposeB(!op.getTransposeB());
      });
      changed = true;
    }
    return success(changed);
  }
};

/// reshape(reduce(x) {keep}) that only drops the kept extents → reduce(x)
struct DropKept : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto reduce = op.getX().getDefiningOp<ReduceOp>();
    if (!reduce || !reduce.getKeep() || !hasOneUser(op.getX()))
      return failure();
    auto from = cast<RankedTensorType>(reduce.getX().getType());
    SmallVector<int64_t> left;
    for (int64_t d = 0; d < from.getRank(); ++d)
      if (!llvm::is_contained(reduce.getAxes(), d))
        left.push_back(from.getDimSize(d));
    if (cast<RankedTensorType>(op.getType()).getShape() != ArrayRef<int64_t>(left) ||
        llvm::count(left, ShapedType::kDynamic) > 1)
      return failure();
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), reduce.getKind(), reduce.getX(), reduce.getAxes(),
                                          false, reduce.getIsUnsigned());
    return success();
  }
};

/// pool mean over whole planes without pads → reduce mean {keep}
struct PlaneMean : OpRewritePattern<PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getX().getType());
    if ((op.getKind() != ReduceKind::mean && op.getKind() != ReduceKind::max) ||
        llvm::any_of(op.getPads(), [](int64_t p) { return p != 0; }) ||
        llvm::any_of(op.getDilations(), [](int64_t d) { return d != 1; }) ||
        type.getShape().drop_front(2) != op.getKernel())
      return failure();
    SmallVector<int64_t> axes(llvm::to_vector(llvm::seq<int64_t>(2, type.getRank())));
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(), op.getX(), axes, true, false);
    return success();
  }
};

} // namespace

void nn::populateMovement(RewritePatternSet &patterns) {
  patterns
      .add<MergeReshapes, MergeTransposes, MoveNothing, MergeConcats, TransposeInMatmul, DropKept, PlaneMean>(
          patterns.getContext());
}
