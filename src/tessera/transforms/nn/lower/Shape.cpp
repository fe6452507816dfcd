// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of what moves whole tensors: views where memory allows it, otherwise loops or copies of
// slices.
#include "tessera/transforms/nn/lower/Elements.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace tessera;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

// All elements in one dimension.
static Value flatten(OpBuilder &b, Location loc, Value x) {
  RankedTensorType type = typeOf(x);
  if (type.getRank() == 1)
    return x;
  if (type.getRank() == 0) {
    auto one = RankedTensorType::get({1}, type.getElementType());
    return tensor::ExpandShapeOp::create(b, loc, one, x, ArrayRef<ReassociationIndices>{});
  }
  ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return tensor::CollapseShapeOp::create(b, loc, x, ArrayRef<ReassociationIndices>{all});
}

Value nn::reshapeTo(OpBuilder &b, Location loc, Value x, RankedTensorType type,
                    ArrayRef<OpFoldResult> extents) {
  RankedTensorType from = typeOf(x);
  if (from == type)
    return x;
  // Neighbouring dimensions that merge or split keep the others as they are, which fusion can look through.
  if (from.hasStaticShape() && type.hasStaticShape() && from.getRank() != type.getRank()) {
    if (auto groups = getReassociationIndicesForReshape(from, type)) {
      if (from.getRank() > type.getRank())
        return tensor::CollapseShapeOp::create(b, loc, type, x, *groups);
      return tensor::ExpandShapeOp::create(b, loc, type, x, *groups);
    }
  }
  Value flat = flatten(b, loc, x);
  if (type.getRank() == 0) {
    Value one = castTo(b, loc, flat, RankedTensorType::get({1}, type.getElementType()));
    return tensor::CollapseShapeOp::create(b, loc, type, one, ArrayRef<ReassociationIndices>{});
  }
  int64_t count = 1;
  for (int64_t extent : type.getShape())
    count = mulExtents(count, extent);
  flat = castTo(b, loc, flat, RankedTensorType::get({count}, type.getElementType()));
  if (type.getRank() == 1)
    return castTo(b, loc, flat, type);
  ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return tensor::ExpandShapeOp::create(b, loc, type, flat, ArrayRef<ReassociationIndices>{all}, extents);
}

namespace {

struct LowerReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> extents = extentsOf(rewriter, typeOf(op.getY()), op.getExtents());
    rewriter.replaceOp(op, reshapeTo(rewriter, op.getLoc(), op.getX(), typeOf(op.getY()), extents));
    return success();
  }
};

struct LowerTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ArrayRef<int64_t> permutation = op.getPermutation();
    SmallVector<OpFoldResult> from = extentsOf(rewriter, loc, op.getX()), extents;
    // Dimension p[i] of x is loop i.
    SmallVector<AffineExpr> exprs(permutation.size());
    for (auto [i, p] : llvm::enumerate(permutation)) {
      extents.push_back(from[p]);
      exprs[p] = rewriter.getAffineDimExpr(i);
    }
    auto map = AffineMap::get(permutation.size(), 0, exprs, rewriter.getContext());
    Value y = mapElements(rewriter, loc, extents, typeOf(op.getY()).getElementType(), op.getX(), map,
                          [](OpBuilder &, Location, ValueRange args) { return args[0]; });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, op.getY().getType()));
    return success();
  }
};

struct LowerBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType from = typeOf(op.getX()), type = typeOf(op.getY());
    unsigned rank = type.getRank(), lead = rank - from.getRank();
    SmallVector<OpFoldResult> extents = extentsOf(rewriter, type, op.getExtents());
    // A dynamic extent of x may be 1.
    bool known = true;
    for (int64_t d = 0; d < from.getRank(); ++d)
      known &= !from.isDynamicDim(d);
    Value y;
    if (known) {
      y = mapElements(rewriter, loc, extents, type.getElementType(), op.getX(),
                      broadcastMap(rewriter.getContext(), from, extents),
                      [](OpBuilder &, Location, ValueRange args) { return args[0]; });
    } else {
      SmallVector<OpFoldResult> sizes = extentsOf(rewriter, loc, op.getX());
      y = generate(rewriter, loc, extents, type.getElementType(),
                   [&](OpBuilder &b, Location at, ValueRange ids) -> Value {
                     SmallVector<Value> place;
                     Value zero = indexOf(b, at, 0), one = indexOf(b, at, 1);
                     for (int64_t d = 0; d < from.getRank(); ++d) {
                       if (from.getDimSize(d) == 1) {
                         place.push_back(zero);
                         continue;
                       }
                       Value size = asValue(b, at, sizes[d]);
                       Value isOne = arith::CmpIOp::create(b, at, arith::CmpIPredicate::eq, size, one);
                       place.push_back(arith::SelectOp::create(b, at, isOne, zero, ids[lead + d]));
                     }
                     return tensor::ExtractOp::create(b, at, op.getX(), place);
                   });
    }
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

// tile → each repeated dimension as two, (repetition, place), then the two merged
struct LowerTile : OpRewritePattern<TileOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TileOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    SmallVector<OpFoldResult> from = extentsOf(rewriter, loc, op.getX()), extents;
    SmallVector<AffineExpr> exprs;
    SmallVector<ReassociationIndices> groups;
    // Nothing is left: not two dimensions as one, whose extent would be known or not, as one looks at it.
    if (llvm::is_contained(op.getRepeats(), 0)) {
      for (auto [extent, repeat] : llvm::zip(from, op.getRepeats()))
        extents.push_back(applyExpr(rewriter, loc, rewriter.getAffineDimExpr(0) * repeat, extent));
      rewriter.replaceOp(op,
                         castTo(rewriter, loc, emptyOf(rewriter, loc, extents, type.getElementType()), type));
      return success();
    }
    for (auto [d, repeat] : llvm::enumerate(op.getRepeats())) {
      groups.emplace_back();
      if (repeat != 1) {
        groups.back().push_back(extents.size());
        extents.push_back(rewriter.getIndexAttr(repeat));
      }
      exprs.push_back(rewriter.getAffineDimExpr(extents.size()));
      groups.back().push_back(extents.size());
      extents.push_back(from[d]);
    }
    auto map = AffineMap::get(extents.size(), 0, exprs, rewriter.getContext());
    Value y = mapElements(rewriter, loc, extents, type.getElementType(), op.getX(), map,
                          [](OpBuilder &, Location, ValueRange args) { return args[0]; });
    if (extents.size() != groups.size())
      y = tensor::CollapseShapeOp::create(rewriter, loc, y, groups);
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

Value nn::insertInto(OpBuilder &b, Location loc, Value part, Value whole, ArrayRef<OpFoldResult> offsets) {
  SmallVector<OpFoldResult> sizes = extentsOf(b, loc, part);
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, loc, part, whole, offsets, sizes, strides);
}

namespace {

struct LowerConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    int64_t axis = op.getAxis() < 0 ? op.getAxis() + type.getRank() : op.getAxis();
    // A dimension that one operand knows is known to all.
    SmallVector<OpFoldResult> extents;
    for (int64_t d = 0; d < type.getRank(); ++d)
      extents.push_back(type.isDynamicDim(d) ? tensor::getMixedSize(rewriter, loc, op.getInputs()[0], d)
                                             : OpFoldResult(rewriter.getIndexAttr(type.getDimSize(d))));
    SmallVector<OpFoldResult> starts;
    AffineExpr a, c;
    bindDims(rewriter.getContext(), a, c);
    OpFoldResult end = rewriter.getIndexAttr(0);
    for (Value v : op.getInputs()) {
      starts.push_back(end);
      end = applyExpr(rewriter, loc, a + c, {end, tensor::getMixedSize(rewriter, loc, v, axis)});
    }
    if (type.isDynamicDim(axis))
      extents[axis] = end;
    Value y = emptyOf(rewriter, loc, extents, type.getElementType());
    for (auto [v, start] : llvm::zip(op.getInputs(), starts)) {
      if (typeOf(v).getDimSize(axis) == 0)
        continue;
      SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
      offsets[axis] = start;
      y = insertInto(rewriter, loc, v, y, offsets);
    }
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

// slice → a view where all steps are positive, otherwise loops
struct LowerSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    SmallVector<OpFoldResult> from = extentsOf(rewriter, loc, op.getX()), extents, starts, steps;
    bool forward = true;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      extents.push_back(type.isDynamicDim(d) ? from[d]
                                             : OpFoldResult(rewriter.getIndexAttr(type.getDimSize(d))));
      // A start says nothing where nothing is taken.
      bool none = type.getDimSize(d) == 0;
      starts.push_back(rewriter.getIndexAttr(none ? 0 : op.getStarts()[d]));
      steps.push_back(rewriter.getIndexAttr(none || type.getDimSize(d) == 1 ? 1 : op.getSteps()[d]));
      forward &=
          type.getDimSize(d) <= 1 ? !type.isDynamicDim(d) || op.getSteps()[d] > 0 : op.getSteps()[d] > 0;
    }
    Value y;
    if (forward) {
      y = tensor::ExtractSliceOp::create(rewriter, loc, op.getX(), starts, extents, steps);
    } else {
      y = generate(rewriter, loc, extents, type.getElementType(),
                   [&](OpBuilder &b, Location at, ValueRange ids) -> Value {
                     SmallVector<Value> place;
                     for (int64_t d = 0; d < type.getRank(); ++d) {
                       Value by = indexOf(b, at, op.getSteps()[d]), start = indexOf(b, at, op.getStarts()[d]);
                       place.push_back(
                           arith::AddIOp::create(b, at, start, arith::MulIOp::create(b, at, ids[d], by)));
                     }
                     return tensor::ExtractOp::create(b, at, op.getX(), place);
                   });
    }
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Borders
//===----------------------------------------------------------------------===//

// Where element `at` (counted from the first of x, so below 0 in the border) is taken from.
Value reflectIndex(OpBuilder &b, Location loc, Value at, Value extent) {
  // The border runs back and forth; one element alone is its own mirror image.
  Value zero = indexOf(b, loc, 0), one = indexOf(b, loc, 1);
  Value last = arith::SubIOp::create(b, loc, extent, one);
  Value period = arith::MaxSIOp::create(b, loc, arith::AddIOp::create(b, loc, last, last), one);
  Value r = arith::RemSIOp::create(b, loc, at, period);
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, r, zero);
  r = arith::SelectOp::create(b, loc, negative, arith::AddIOp::create(b, loc, r, period), r);
  return arith::MinSIOp::create(b, loc, r, arith::SubIOp::create(b, loc, period, r));
}

Value wrapIndex(OpBuilder &b, Location loc, Value at, Value extent) {
  Value zero = indexOf(b, loc, 0);
  Value r = arith::RemSIOp::create(b, loc, at, extent);
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, r, zero);
  return arith::SelectOp::create(b, loc, negative, arith::AddIOp::create(b, loc, r, extent), r);
}

Value clampIndex(OpBuilder &b, Location loc, Value at, Value extent) {
  Value last = arith::SubIOp::create(b, loc, extent, indexOf(b, loc, 1));
  return arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, at, last), indexOf(b, loc, 0));
}

struct LowerPad : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    unsigned rank = type.getRank();
    SmallVector<int64_t> lows(op.getLows()), highs(op.getHighs());
    Value x = cut(rewriter, loc, op.getX(), lows, highs);
    SmallVector<OpFoldResult> from = extentsOf(rewriter, loc, x), extents, offsets;
    AffineExpr n = rewriter.getAffineDimExpr(0);
    for (unsigned d = 0; d < rank; ++d) {
      extents.push_back(applyExpr(rewriter, loc, n + (lows[d] + highs[d]), {from[d]}));
      offsets.push_back(rewriter.getIndexAttr(lows[d]));
    }
    Value y;
    if (op.getMode() == PadMode::constant) {
      Value border = integerOf(rewriter, loc, type.getElementType(), 0);
      if (Value value = op.getValue())
        border = tensor::ExtractOp::create(
            rewriter, loc, value, SmallVector<Value>(typeOf(value).getRank(), indexOf(rewriter, loc, 0)));
      y = insertInto(rewriter, loc, x, filledWith(rewriter, loc, extents, border), offsets);
    } else {
      auto place = op.getMode() == PadMode::edge      ? clampIndex
                   : op.getMode() == PadMode::reflect ? reflectIndex
                                                      : wrapIndex;
      y = generate(rewriter, loc, extents, type.getElementType(),
                   [&](OpBuilder &b, Location at, ValueRange ids) -> Value {
                     SmallVector<Value> places;
                     for (unsigned d = 0; d < rank; ++d) {
                       Value id = ids[d];
                       if (lows[d] || highs[d]) {
                         id = arith::SubIOp::create(b, at, id, indexOf(b, at, lows[d]));
                         id = place(b, at, id, asValue(b, at, from[d]));
                       }
                       places.push_back(id);
                     }
                     return tensor::ExtractOp::create(b, at, x, places);
                   });
    }
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }

  // Negative borders are cut off first.
  static Value cut(OpBuilder &b, Location loc, Value x, MutableArrayRef<int64_t> lows,
                   MutableArrayRef<int64_t> highs) {
    if (llvm::none_of(lows, [](int64_t v) { return v < 0; }) &&
        llvm::none_of(highs, [](int64_t v) { return v < 0; }))
      return x;
    SmallVector<OpFoldResult> extents = extentsOf(b, loc, x), offsets,
                              strides(extents.size(), b.getIndexAttr(1));
    AffineExpr n = b.getAffineDimExpr(0);
    for (size_t d = 0; d < extents.size(); ++d) {
      int64_t low = std::min<int64_t>(lows[d], 0), high = std::min<int64_t>(highs[d], 0);
      offsets.push_back(b.getIndexAttr(-low));
      extents[d] = applyExpr(b, loc, n + (low + high), {extents[d]});
      lows[d] -= low;
      highs[d] -= high;
    }
    return tensor::ExtractSliceOp::create(b, loc, x, offsets, extents, strides);
  }
};

} // namespace

void nn::populateShape(RewritePatternSet &patterns) {
  patterns.add<LowerReshape, LowerTranspose, LowerBroadcast, LowerTile, LowerConcat, LowerSlice, LowerPad>(
      patterns.getContext());
}
