// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of windowed reductions and of what looks at neighbouring channels.
#include "tessera/transforms/nn/lower/Loops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace tessera;
using namespace tessera::nn;

// How many places the window has along a spatial dimension.
template <typename Op> static OpFoldResult countPlaces(OpBuilder &b, Op op, unsigned i) {
  Location loc = op.getLoc();
  int64_t known = typeOf(op.getY()).getDimSize(2 + i);
  if (!ShapedType::isDynamic(known))
    return b.getIndexAttr(known);
  unsigned spatial = op.getKernel().size();
  int64_t low = op.getPads()[i], high = op.getPads()[spatial + i], stride = op.getStrides()[i],
          span = op.getDilations()[i] * (op.getKernel()[i] - 1) + 1;
  OpFoldResult in = tensor::getMixedSize(b, loc, op.getX(), 2 + i);
  if (!op.getCeil())
    return windowExtent(b, loc, in, low + high, op.getKernel()[i], stride, op.getDilations()[i]);
  // Rounded up, but no window starts after the end of input and low pad.
  AffineExpr d0 = b.getAffineDimExpr(0);
  AffineMap map = AffineMap::get(
      1, 0, {(d0 + (low + high - span)).ceilDiv(stride) + 1, (d0 + low).ceilDiv(stride)}, b.getContext());
  return affine::makeComposedFoldedAffineMin(b, loc, map, {in});
}

namespace {
/// The loops of a pool: n c o… k… o, with the innermost place innermost.
struct PoolLoops {
  explicit PoolLoops(unsigned spatial) {
    unsigned next = 2;
    for (unsigned i = 0; i + 1 < spatial; ++i)
      o.push_back(next++);
    for (unsigned i = 0; i < spatial; ++i)
      k.push_back(next++);
    o.push_back(next++);
    count = next;
  }
  SmallVector<unsigned> o, k;
  unsigned count;
};
} // namespace

// What stands in the border of a pool: it changes no result.
static Value neutralOf(OpBuilder &b, Location loc, ReduceKind kind, Type element, bool isUnsigned) {
  bool max = kind == ReduceKind::max, min = kind == ReduceKind::min;
  if (auto integer = dyn_cast<IntegerType>(element); integer && (max || min)) {
    unsigned width = integer.getWidth();
    APInt v = max ? (isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width))
                  : (isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(element, v));
  }
  double infinity = std::numeric_limits<double>::infinity();
  double v = max || kind == ReduceKind::log_sum_exp ? -infinity
             : min                                  ? infinity
             : kind == ReduceKind::prod             ? 1
                                                    : 0;
  return constantOf(b, loc, element, v);
}

// The number of taps along one dimension that fall on [first, limit), for the place `at`.
static Term countTaps(Term at, int64_t kernel, int64_t stride, int64_t dilation, int64_t low, Term first,
                      Term limit) {
  Term start = at * double(stride) - double(low);
  Term begin = (first - start).ceilDiv(dilation).max(0),
       end = (limit - start).ceilDiv(dilation).min(double(kernel));
  return (end - begin).max(0);
}

static SmallVector<Value> lowerPool(OpBuilder &b, PoolOp op) {
  Location loc = op.getLoc();
  Value x = op.getX();
  ReduceKind kind = op.getKind();
  Type element = typeOf(x).getElementType(), sum = accumulatorOf(element);
  unsigned spatial = op.getKernel().size();
  bool extreme = kind == ReduceKind::max || kind == ReduceKind::min;
  if (extreme)
    sum = element;
  SmallVector<int64_t> lows(2, 0), highs(2, 0);
  SmallVector<OpFoldResult> in = extentsOf(b, loc, x), extents = {in[0], in[1]}, taps;
  for (unsigned i = 0; i < spatial; ++i) {
    lows.push_back(op.getPads()[i]);
    // A window that was rounded up hangs over.
    highs.push_back(op.getPads()[spatial + i] + (op.getCeil() ? op.getStrides()[i] - 1 : 0));
    extents.push_back(countPlaces(b, op, i));
    taps.push_back(b.getIndexAttr(op.getKernel()[i]));
  }
  Value padded = withBorder(b, loc, x, lows, highs, neutralOf(b, loc, kind, element, op.getIsUnsigned()));
  PoolLoops loops(spatial);
  LoopNest nest(b, loc, loops.count);
  SmallVector<AffineExpr> at = nest.dims({0, 1}), tapAt, out = nest.dims({0, 1});
  for (unsigned i = 0; i < spatial; ++i) {
    nest.reduce(loops.k[i]);
    at.push_back(nest.dim(loops.o[i]) * op.getStrides()[i] + nest.dim(loops.k[i]) * op.getDilations()[i]);
    tapAt.push_back(nest.dim(loops.k[i]));
    out.push_back(nest.dim(loops.o[i]));
  }
  nest.read(padded, at);
  nest.shape(taps, tapAt);
  Value init = kind == ReduceKind::log_sum_exp ? constantOf(b, loc, sum, 0)
                                               : neutralOf(b, loc, kind, sum, op.getIsUnsigned());
  nest.write(filledWith(b, loc, extents, init), out);
  int64_t p = op.getP();
  Value y = nest.build([&](OpBuilder &b, Location loc, ValueRange args) -> SmallVector<Value> {
    Value v = isa<FloatType>(sum) ? floatTo(b, loc, args[0], sum) : args[0];
    Term total(b, loc, args[2]), e(b, loc, v);
    switch (kind) {
    case ReduceKind::max:
    case ReduceKind::min:
      return {emitBinary(b, loc, kind == ReduceKind::max ? BinaryKind::max : BinaryKind::min, args[2], v,
                         op.getIsUnsigned())};
    case ReduceKind::prod:
      return {total * e};
    case ReduceKind::l1:
      return {total + e.apply(UnaryKind::abs)};
    case ReduceKind::sum_square:
      return {total + e * e};
    case ReduceKind::l2:
      if (p == 1)
        return {total + e.apply(UnaryKind::abs)};
      if (p == 2)
        return {total + e * e};
      return {total + emitBinary(b, loc, BinaryKind::pow, e.apply(UnaryKind::abs), e.number(p))};
    case ReduceKind::log_sum_exp:
      return {total + e.apply(UnaryKind::exp)};
    default:
      return {total + e};
    }
  })[0];
  bool finished = extreme || kind == ReduceKind::sum || kind == ReduceKind::prod || kind == ReduceKind::l1 ||
                  kind == ReduceKind::sum_square;
  if (finished)
    return {tensorTo(b, loc, y, element)};
  AffineMap identity = b.getMultiDimIdentityMap(extents.size());
  SmallVector<Value> limits;
  for (unsigned i = 0; i < spatial; ++i)
    limits.push_back(asValue(b, loc, in[2 + i]));
  return {mapElements(b, loc, extents, element, y, identity,
                      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                        Term e(b, loc, args[0]);
                        if (kind == ReduceKind::mean) {
                          Term count(b, loc, indexOf(b, loc, 1));
                          for (unsigned i = 0; i < spatial; ++i) {
                            Term place(b, loc, linalg::IndexOp::create(b, loc, 2 + i)),
                                first = place.number(0), limit = place.with(limits[i]);
                            int64_t low = op.getPads()[i], high = op.getPads()[spatial + i];
                            if (op.getCountPad()) {
                              first = first - double(low);
                              limit = limit + double(high);
                            }
                            bool whole = !op.getCeil() && (op.getCountPad() || (!low && !high));
                            count = count * (whole ? place.number(op.getKernel()[i])
                                                   : countTaps(place, op.getKernel()[i], op.getStrides()[i],
                                                               op.getDilations()[i], low, first, limit));
                          }
                          e = e / count.toFloat(sum);
                        } else if (kind == ReduceKind::l2) {
                          if (p == 2)
                            e = e.apply(UnaryKind::sqrt);
                          else if (p != 1)
                            e = e.with(emitBinary(b, loc, BinaryKind::pow, e, e.number(1.0 / double(p))));
                        } else {
                          e = e.apply(UnaryKind::log);
                        }
                        return floatTo(b, loc, e, element);
                      })};
}

static SmallVector<Value> lowerMaxPoolIndices(OpBuilder &b, MaxPoolIndicesOp op) {
  Location loc = op.getLoc();
  Value x = op.getX();
  Type element = typeOf(x).getElementType(), i64 = b.getI64Type();
  unsigned spatial = op.getKernel().size();
  SmallVector<OpFoldResult> in = extentsOf(b, loc, x), extents = {in[0], in[1]}, taps;
  LoopNest nest(b, loc, 2 + 2 * spatial);
  SmallVector<AffineExpr> out = nest.dims({0, 1}), tapAt;
  for (unsigned i = 0; i < spatial; ++i) {
    nest.reduce(2 + spatial + i);
    extents.push_back(countPlaces(b, op, i));
    out.push_back(nest.dim(2 + i));
    taps.push_back(b.getIndexAttr(op.getKernel()[i]));
    tapAt.push_back(nest.dim(2 + spatial + i));
  }
  SmallVector<Value> limits;
  for (OpFoldResult extent : in)
    limits.push_back(asValue(b, loc, extent));
  nest.shape(taps, tapAt);
  nest.write(filledWith(b, loc, extents, neutralOf(b, loc, ReduceKind::max, element, op.getIsUnsigned())),
             out);
  nest.write(filledWith(b, loc, extents, integerOf(b, loc, i64, -1)), out);
  return nest.build([&](OpBuilder &b, Location loc, ValueRange args) -> SmallVector<Value> {
    auto id = [&](unsigned d) { return Term(b, loc, linalg::IndexOp::create(b, loc, d)); };
    SmallVector<Value> at = {id(0), id(1)};
    Term inside(b, loc, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
    for (unsigned i = 0; i < spatial; ++i) {
      Term place = id(2 + i) * double(op.getStrides()[i]) +
                   id(2 + spatial + i) * double(op.getDilations()[i]) - double(op.getPads()[i]);
      Term zero = place.number(0), limit = place.with(limits[2 + i]);
      inside = inside && zero.lessEqual(place) && place.less(limit);
      at.push_back(place.clamp(zero, (limit - 1.0).max(zero)));
    }
    // The order of the spatial dimensions, the outermost first.
    SmallVector<unsigned> order = {0, 1};
    for (unsigned i = 0; i < spatial; ++i)
      order.push_back(2 + (op.getColumnMajor() ? spatial - 1 - i : i));
    Term flat(b, loc, at[0]);
    for (unsigned d : ArrayRef(order).drop_front())
      flat = flat * limits[d] + at[d];
    Term index(b, loc, arith::IndexCastOp::create(b, loc, i64, flat)), best(b, loc, args[1]),
        where(b, loc, args[2]);
    Term v(b, loc, tensor::ExtractOp::create(b, loc, x, at));
    Term larger = op.getIsUnsigned() && !v.isFloat()
                      ? v.with(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, best, v))
                      : best.less(v);
    Term taken = inside && (larger || where.less(0));
    return {taken.select(v, best), taken.select(index, where)};
  });
}

// Elements are put one after the other: two may have one index, and the last one stays.
static SmallVector<Value> lowerMaxUnpool(OpBuilder &b, MaxUnpoolOp op) {
  Location loc = op.getLoc();
  Value x = op.getX(), indices = op.getIndices();
  RankedTensorType type = typeOf(op.getY());
  SmallVector<OpFoldResult> extents;
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    extents.push_back(ShapedType::isDynamic(extent) ? tensor::getMixedSize(b, loc, x, d)
                                                    : b.getIndexAttr(extent));
  Value zeros = filledWith(b, loc, extents, constantOf(b, loc, type.getElementType(), 0));
  // The indices count in a tensor of this shape.
  ArrayRef<int64_t> from = op.getFrom();
  SmallVector<Value> lower, upper, steps, limits;
  for (OpFoldResult extent : extentsOf(b, loc, x)) {
    lower.push_back(indexOf(b, loc, 0));
    upper.push_back(asValue(b, loc, extent));
    steps.push_back(indexOf(b, loc, 1));
  }
  for (OpFoldResult extent : extents)
    limits.push_back(asValue(b, loc, extent));
  Value places = indexOf(b, loc, 1);
  for (auto [extent, limit] : llvm::zip(from, limits)) {
    Value own = ShapedType::isDynamic(extent) ? limit : indexOf(b, loc, extent);
    places = arith::MulIOp::create(b, loc, places, own);
  }
  auto loops = scf::buildLoopNest(
      b, loc, lower, upper, steps, zeros,
      [&](OpBuilder &b, Location loc, ValueRange ids, ValueRange carried) -> SmallVector<Value> {
        Value v = tensor::ExtractOp::create(b, loc, x, ids);
        Value raw = tensor::ExtractOp::create(b, loc, indices, ids);
        Term rest(b, loc, emitOffset(b, loc, raw, places, "the result of max_unpool"));
        SmallVector<Value> at(from.size());
        for (unsigned d = from.size(); d-- > 0;) {
          Term place = d && !ShapedType::isDynamic(from[d]) ? rest.modulo(from[d]) : rest;
          if (d)
            rest = rest.with(arith::DivUIOp::create(b, loc, rest, indexOf(b, loc, from[d])));
          Term last = (place.with(limits[d]) - 1.0).max(0);
          at[d] = place.min(last);
        }
        return {tensor::InsertOp::create(b, loc, v, carried[0], at)};
      });
  return {loops.results[0]};
}

static SmallVector<Value> lowerLrn(OpBuilder &b, LrnOp op) {
  Location loc = op.getLoc();
  Value x = op.getX();
  Type element = typeOf(x).getElementType(), sum = accumulatorOf(element);
  unsigned rank = typeOf(x).getRank();
  int64_t size = op.getSize();
  SmallVector<OpFoldResult> extents = extentsOf(b, loc, x);
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  Value squares = mapElements(b, loc, extents, sum, x, identity,
                              [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                Term e(b, loc, floatTo(b, loc, args[0], sum));
                                return e * e;
                              });
  SmallVector<int64_t> lows(rank, 0), highs(rank, 0);
  lows[1] = (size - 1) / 2;
  highs[1] = size - 1 - lows[1];
  Value padded = withBorder(b, loc, squares, lows, highs, constantOf(b, loc, sum, 0));
  // n c k spatial…
  LoopNest nest(b, loc, rank + 1);
  nest.reduce(2);
  SmallVector<AffineExpr> at = {nest.dim(0), nest.dim(1) + nest.dim(2)}, out = nest.dims({0, 1});
  for (unsigned d = 2; d < rank; ++d) {
    at.push_back(nest.dim(d + 1));
    out.push_back(nest.dim(d + 1));
  }
  nest.read(padded, at);
  nest.shape({b.getIndexAttr(size)}, {nest.dim(2)});
  nest.write(filledWith(b, loc, extents, constantOf(b, loc, sum, 0)), out);
  Value sums = nest.build([&](OpBuilder &b, Location loc, ValueRange args) {
    return SmallVector<Value>{Term(b, loc, args[2]) + args[0]};
  })[0];
  double alpha = op.getAlpha().convertToDouble(), beta = op.getBeta().convertToDouble(),
         bias = op.getBias().convertToDouble();
  return {mapElements(b, loc, extents, element, {x, sums}, {identity, identity},
                      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                        Term total(b, loc, args[1]), e(b, loc, floatTo(b, loc, args[0], sum));
                        Term base = total * (alpha / double(size)) + bias;
                        Term power = base.with(emitBinary(b, loc, BinaryKind::pow, base, base.number(beta)));
                        return floatTo(b, loc, e / power, element);
                      })};
}

void nn::populateWindow(RewritePatternSet &patterns) {
  addBuilder<PoolOp>(patterns, lowerPool);
  addBuilder<MaxPoolIndicesOp>(patterns, lowerMaxPoolIndices);
  addBuilder<MaxUnpoolOp>(patterns, lowerMaxUnpool);
  addBuilder<LrnOp>(patterns, lowerLrn);
  populateSample(patterns);
}
