// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of what computes the place an element comes from, or is taken at places that other elements
// name. All of it is loops over the result, each element independent of the others.
#include "tessera/transforms/nn/lower/Elements.h"

using namespace tessera;
using namespace tessera::nn;

// The axis, counted from the front.
static int64_t axisOf(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

// The identity map on `rank` loops for an operand that is read element by element.
static AffineMap identity(OpBuilder &b, unsigned rank) { return b.getMultiDimIdentityMap(rank); }

namespace {

struct LowerTrilu : OpRewritePattern<TriluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TriluOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    unsigned rank = type.getRank();
    Value y = mapElements(
        rewriter, loc, extentsOf(rewriter, loc, op.getX()), type.getElementType(), op.getX(),
        identity(rewriter, rank), [&](OpBuilder &b, Location at, ValueRange args) -> Value {
          Value row = linalg::IndexOp::create(b, at, rank - 2),
                column = linalg::IndexOp::create(b, at, rank - 1);
          Value diagonal = arith::AddIOp::create(b, at, row, indexOf(b, at, op.getK()));
          Value keep = arith::CmpIOp::create(
              b, at, op.getUpper() ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle, column, diagonal);
          return arith::SelectOp::create(b, at, keep, args[0], integerOf(b, at, type.getElementType(), 0));
        });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

struct LowerReverseSequence : OpRewritePattern<ReverseSequenceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReverseSequenceOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    unsigned rank = type.getRank();
    int64_t time = axisOf(op.getTimeAxis(), rank), batch = axisOf(op.getBatchAxis(), rank);
    SmallVector<OpFoldResult> extents = extentsOf(rewriter, loc, op.getX());
    auto byBatch = AffineMap::get(rank, 0, rewriter.getAffineDimExpr(batch));
    Value y = mapElements(rewriter, loc, extents, type.getElementType(), op.getLengths(), byBatch,
                          [&](OpBuilder &b, Location at, ValueRange args) -> Value {
                            SmallVector<Value> ids = loopIndices(b, at, rank);
                            Value length = emitLength(b, at, args[0], asValue(b, at, extents[time]),
                                                      "axis " + Twine(time) + " of reverse_sequence");
                            Value inside =
                                arith::CmpIOp::create(b, at, arith::CmpIPredicate::slt, ids[time], length);
                            Value last = arith::SubIOp::create(b, at, length, indexOf(b, at, 1));
                            Value mirrored = arith::SubIOp::create(b, at, last, ids[time]);
                            ids[time] = arith::SelectOp::create(b, at, inside, mirrored, ids[time]);
                            return tensor::ExtractOp::create(b, at, op.getX(), ids);
                          });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

struct LowerIota : OpRewritePattern<IotaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IotaOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    unsigned rank = type.getRank();
    Type element = type.getElementType();
    auto scalar = AffineMap::get(rank, 0, {}, rewriter.getContext());
    Value y = mapElements(
        rewriter, loc, extentsOf(rewriter, type, op.getExtents()), element, {op.getStart(), op.getStep()},
        {scalar, scalar}, [&](OpBuilder &b, Location at, ValueRange args) -> Value {
          Value id = linalg::IndexOp::create(b, at, axisOf(op.getAxis(), rank));
          Value number = arith::IndexCastOp::create(b, at, b.getI64Type(), id);
          Type computed = element.isF16() || element.isBF16() ? Type(b.getF32Type()) : element;
          auto as = [&](Value v) { return emitCast(b, at, v, computed); };
          Value y = emitBinary(b, at, BinaryKind::mul, as(number), as(args[1]));
          return emitCast(b, at, emitBinary(b, at, BinaryKind::add, as(args[0]), y), element);
        });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

struct LowerOneHot : OpRewritePattern<OneHotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(OneHotOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    unsigned rank = type.getRank();
    int64_t axis = axisOf(op.getAxis(), rank);
    SmallVector<OpFoldResult> extents = extentsOf(rewriter, loc, op.getIndices());
    extents.insert(extents.begin() + axis, rewriter.getIndexAttr(op.getDepth()));
    SmallVector<AffineExpr> exprs;
    for (unsigned d = 0; d < rank; ++d)
      if (d != axis)
        exprs.push_back(rewriter.getAffineDimExpr(d));
    auto map = AffineMap::get(rank, 0, exprs, rewriter.getContext());
    auto values = [&](int64_t i) -> Value {
      return tensor::ExtractOp::create(rewriter, loc, op.getValues(), indexOf(rewriter, loc, i));
    };
    Value off = values(0), on = values(1);
    Type indexType = typeOf(op.getIndices()).getElementType();
    Value y = mapElements(rewriter, loc, extents, type.getElementType(), op.getIndices(), map,
                          [&](OpBuilder &b, Location at, ValueRange args) -> Value {
                            Value id = linalg::IndexOp::create(b, at, axis);
                            Value wanted = isa<FloatType>(indexType)
                                               ? emitCast(b, at, args[0], b.getI64Type())
                                               : args[0];
                            wanted = arith::IndexCastOp::create(b, at, b.getIndexType(), wanted);
                            Value below = arith::SubIOp::create(b, at, id, indexOf(b, at, op.getDepth()));
                            auto equal = [&](Value v) -> Value {
                              return arith::CmpIOp::create(b, at, arith::CmpIPredicate::eq, wanted, v);
                            };
                            Value hit = arith::OrIOp::create(b, at, equal(id), equal(below));
                            return arith::SelectOp::create(b, at, hit, on, off);
                          });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

struct LowerGather : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    unsigned rank = type.getRank(), count = typeOf(op.getIndices()).getRank();
    int64_t axis = axisOf(op.getAxis(), typeOf(op.getX()).getRank());
    SmallVector<OpFoldResult> from = extentsOf(rewriter, loc, op.getX()),
                              indices = extentsOf(rewriter, loc, op.getIndices());
    SmallVector<OpFoldResult> extents(from.begin(), from.begin() + axis);
    llvm::append_range(extents, indices);
    extents.append(from.begin() + axis + 1, from.end());
    SmallVector<AffineExpr> exprs;
    for (unsigned d = 0; d < count; ++d)
      exprs.push_back(rewriter.getAffineDimExpr(axis + d));
    auto map = AffineMap::get(rank, 0, exprs, rewriter.getContext());
    Value extent = asValue(rewriter, loc, from[axis]);
    Value y = mapElements(rewriter, loc, extents, type.getElementType(), op.getIndices(), map,
                          [&](OpBuilder &b, Location at, ValueRange args) -> Value {
                            SmallVector<Value> ids = loopIndices(b, at, rank);
                            SmallVector<Value> place(ids.begin(), ids.begin() + axis);
                            place.push_back(
                                emitIndex(b, at, args[0], extent, "axis " + Twine(axis) + " of gather"));
                            place.append(ids.begin() + axis + count, ids.end());
                            return tensor::ExtractOp::create(b, at, op.getX(), place);
                          });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

struct LowerGatherElements : OpRewritePattern<GatherElementsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherElementsOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    unsigned rank = type.getRank();
    int64_t axis = axisOf(op.getAxis(), rank);
    Value extent = asValue(rewriter, loc, tensor::getMixedSize(rewriter, loc, op.getX(), axis));
    Value y = mapElements(
        rewriter, loc, extentsOf(rewriter, loc, op.getIndices()), type.getElementType(), op.getIndices(),
        identity(rewriter, rank), [&](OpBuilder &b, Location at, ValueRange args) -> Value {
          SmallVector<Value> ids = loopIndices(b, at, rank);
          ids[axis] = emitIndex(b, at, args[0], extent, "axis " + Twine(axis) + " of gather_elements");
          return tensor::ExtractOp::create(b, at, op.getX(), ids);
        });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

// y[batch…, tuple…, rest…] = x[batch…, indices[batch…, tuple…, :], rest…]
struct LowerGatherNd : OpRewritePattern<GatherNdOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherNdOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY()), indexType = typeOf(op.getIndices());
    unsigned batch = op.getBatchDims(), tuples = indexType.getRank() - 1;
    int64_t width = indexType.getDimSize(tuples);
    SmallVector<OpFoldResult> from = extentsOf(rewriter, loc, op.getX());
    SmallVector<OpFoldResult> extents = extentsOf(rewriter, loc, op.getIndices());
    extents.pop_back();
    extents.append(from.begin() + batch + width, from.end());
    SmallVector<Value> limits;
    for (int64_t i = 0; i < width; ++i)
      limits.push_back(asValue(rewriter, loc, from[batch + i]));
    Value y = generate(rewriter, loc, extents, type.getElementType(),
                       [&](OpBuilder &b, Location at, ValueRange ids) -> Value {
                         SmallVector<Value> place(ids.begin(), ids.begin() + batch);
                         for (int64_t i = 0; i < width; ++i) {
                           SmallVector<Value> tuple(ids.begin(), ids.begin() + tuples);
                           tuple.push_back(indexOf(b, at, i));
                           Value element = tensor::ExtractOp::create(b, at, op.getIndices(), tuple);
                           place.push_back(emitIndex(b, at, element, limits[i],
                                                     "axis " + Twine(batch + i) + " of gather_nd"));
                         }
                         place.append(ids.begin() + tuples, ids.end());
                         return tensor::ExtractOp::create(b, at, op.getX(), place);
                       });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }
};

} // namespace

void nn::populateIndex(RewritePatternSet &patterns) {
  patterns.add<LowerTrilu, LowerReverseSequence, LowerIota, LowerOneHot, LowerGather, LowerGatherElements,
               LowerGatherNd>(patterns.getContext());
}
