// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of what writes to places that other elements name. Updates may meet at one place, so they run
// in order; only sums of columns are turned around into loops over the result.
#include "tessera/transforms/nn/lower/Elements.h"

using namespace tessera;
using namespace tessera::nn;

// Loops over `extents` in order that rewrite a tensor: `body` gets the indices and the tensor, returns the
// next one.
static Value inOrder(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> extents, Value init,
                     function_ref<Value(OpBuilder &, Location, ValueRange, Value)> body) {
  Value zero = indexOf(b, loc, 0), one = indexOf(b, loc, 1);
  SmallVector<Value> lows(extents.size(), zero), ends, steps(extents.size(), one);
  for (OpFoldResult extent : extents)
    ends.push_back(asValue(b, loc, extent));
  if (extents.empty())
    return body(b, loc, {}, init);
  scf::LoopNest nest = scf::buildLoopNest(b, loc, lows, ends, steps, init,
                                          [&](OpBuilder &b, Location at, ValueRange ids, ValueRange state) {
                                            return scf::ValueVector{body(b, at, ids, state[0])};
                                          });
  return nest.results[0];
}

// The element that a place holds after an update.
static Value updated(OpBuilder &b, Location loc, ScatterKind kind, Value whole, ValueRange place,
                     Value update, bool isUnsigned) {
  BinaryKind combine = kind == ScatterKind::add   ? BinaryKind::add
                       : kind == ScatterKind::mul ? BinaryKind::mul
                       : kind == ScatterKind::max ? BinaryKind::max
                                                  : BinaryKind::min;
  if (kind != ScatterKind::set)
    update = emitBinary(b, loc, combine, tensor::ExtractOp::create(b, loc, whole, place), update, isUnsigned);
  return tensor::InsertOp::create(b, loc, update, whole, place);
}

namespace {

struct LowerScatterElements : OpRewritePattern<ScatterElementsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterElementsOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    int64_t rank = typeOf(op.getX()).getRank(), axis = op.getAxis() < 0 ? op.getAxis() + rank : op.getAxis();
    Value extent = asValue(rewriter, loc, tensor::getMixedSize(rewriter, loc, op.getX(), axis));
    Value y = inOrder(rewriter, loc, extentsOf(rewriter, loc, op.getIndices()), op.getX(),
                      [&](OpBuilder &b, Location at, ValueRange ids, Value whole) {
                        SmallVector<Value> place(ids);
                        Value element = tensor::ExtractOp::create(b, at, op.getIndices(), ids);
                        place[axis] =
                            emitIndex(b, at, element, extent, "axis " + Twine(axis) + " of scatter_elements");
                        Value update = tensor::ExtractOp::create(b, at, op.getUpdates(), ids);
                        return updated(b, at, op.getKind(), whole, place, update, op.getIsUnsigned());
                      });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, op.getY().getType()));
    return success();
  }
};

// updates[tuple…, rest…] go to y[indices[tuple…, :], rest…]
struct LowerScatterNd : OpRewritePattern<ScatterNdOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterNdOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType indexType = typeOf(op.getIndices());
    unsigned tuples = indexType.getRank() - 1;
    int64_t width = indexType.getDimSize(tuples);
    SmallVector<Value> limits;
    for (int64_t i = 0; i < width; ++i)
      limits.push_back(asValue(rewriter, loc, tensor::getMixedSize(rewriter, loc, op.getX(), i)));
    Value y = inOrder(rewriter, loc, extentsOf(rewriter, loc, op.getUpdates()), op.getX(),
                      [&](OpBuilder &b, Location at, ValueRange ids, Value whole) {
                        SmallVector<Value> place, tuple(ids.begin(), ids.begin() + tuples);
                        tuple.push_back(Value());
                        for (int64_t i = 0; i < width; ++i) {
                          tuple.back() = indexOf(b, at, i);
                          Value element = tensor::ExtractOp::create(b, at, op.getIndices(), tuple);
                          place.push_back(
                              emitIndex(b, at, element, limits[i], "axis " + Twine(i) + " of scatter_nd"));
                        }
                        place.append(ids.begin() + tuples, ids.end());
                        Value update = tensor::ExtractOp::create(b, at, op.getUpdates(), ids);
                        return updated(b, at, op.getKind(), whole, place, update, op.getIsUnsigned());
                      });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, op.getY().getType()));
    return success();
  }
};

// columns_to_image → for each element of the image the sum over the taps that reach it
struct LowerColumnsToImage : OpRewritePattern<ColumnsToImageOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ColumnsToImageOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    unsigned spatial = op.getKernel().size();
    int64_t taps = 1;
    for (int64_t k : op.getKernel())
      taps *= k;
    SmallVector<OpFoldResult> extents;
    for (int64_t extent : type.getShape())
      extents.push_back(rewriter.getIndexAttr(extent));
    AffineExpr n = rewriter.getAffineDimExpr(0);
    if (type.isDynamicDim(0))
      extents[0] = tensor::getMixedSize(rewriter, loc, op.getX(), 0);
    if (type.isDynamicDim(1))
      extents[1] =
          applyExpr(rewriter, loc, n.floorDiv(taps), {tensor::getMixedSize(rewriter, loc, op.getX(), 1)});
    Type element = type.getElementType();
    Type computed = element.isF16() || element.isBF16() ? Type(rewriter.getF32Type()) : element;
    Value y = generate(rewriter, loc, extents, element, [&](OpBuilder &b, Location at, ValueRange ids) {
      Value zero = indexOf(b, at, 0), one = indexOf(b, at, 1);
      SmallVector<Value> lows(spatial, zero), ends, steps(spatial, one);
      for (int64_t k : op.getKernel())
        ends.push_back(indexOf(b, at, k));
      scf::LoopNest nest =
          scf::buildLoopNest(b, at, lows, ends, steps, integerOf(b, at, computed, 0),
                             [&](OpBuilder &b, Location at, ValueRange tap, ValueRange sum) {
                               return scf::ValueVector{addTap(op, b, at, ids, tap, sum[0], taps)};
                             });
      return emitCast(b, at, nest.results[0], element);
    });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }

  static Value addTap(ColumnsToImageOp op, OpBuilder &b, Location loc, ValueRange ids, ValueRange tap,
                      Value sum, int64_t taps) {
    ArrayRef<int64_t> shape = typeOf(op.getY()).getShape().drop_front(2);
    unsigned spatial = tap.size();
    auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, loc, x, y); };
    auto mul = [&](Value x, int64_t y) -> Value {
      return arith::MulIOp::create(b, loc, x, indexOf(b, loc, y));
    };
    auto both = [&](Value x, Value y) -> Value { return arith::AndIOp::create(b, loc, x, y); };
    Value inside = integerOf(b, loc, b.getI1Type(), 1), place = indexOf(b, loc, 0), number = place;
    for (unsigned d = 0; d < spatial; ++d) {
      int64_t stride = op.getStrides()[d], low = op.getPads()[d], high = op.getPads()[spatial + d];
      int64_t span = op.getDilations()[d] * (op.getKernel()[d] - 1) + 1;
      int64_t places = (shape[d] + low + high - span) / stride + 1;
      // at = place * stride + tap * dilation - low
      Value from = add(ids[2 + d], indexOf(b, loc, low));
      from = arith::SubIOp::create(b, loc, from, mul(tap[d], op.getDilations()[d]));
      Value by = indexOf(b, loc, stride);
      Value whole = arith::RemSIOp::create(b, loc, from, by), q = arith::DivSIOp::create(b, loc, from, by);
      auto is = [&](arith::CmpIPredicate p, Value x, int64_t y) -> Value {
        return arith::CmpIOp::create(b, loc, p, x, indexOf(b, loc, y));
      };
      inside = both(inside, is(arith::CmpIPredicate::eq, whole, 0));
      inside = both(inside, is(arith::CmpIPredicate::sge, from, 0));
      inside = both(inside, is(arith::CmpIPredicate::slt, q, places));
      place = add(mul(place, places), q);
      number = add(mul(number, op.getKernel()[d]), tap[d]);
    }
    Value row = add(mul(ids[1], taps), number);
    auto branch = scf::IfOp::create(
        b, loc, inside,
        [&](OpBuilder &b, Location at) {
          Value v = tensor::ExtractOp::create(b, at, op.getX(), ValueRange{ids[0], row, place});
          v = emitBinary(b, at, BinaryKind::add, sum, emitCast(b, at, v, sum.getType()));
          scf::YieldOp::create(b, at, v);
        },
        [&](OpBuilder &b, Location at) { scf::YieldOp::create(b, at, sum); });
    return branch.getResult(0);
  }
};

} // namespace

void nn::populateScatter(RewritePatternSet &patterns) {
  patterns.add<LowerScatterElements, LowerScatterNd, LowerColumnsToImage>(patterns.getContext());
}
