// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of normalisations and softmax: a few passes over rows, each of them parallel over what is not
// normalised.
#include "tessera/transforms/nn/lower/Loops.h"

using namespace tessera;
using namespace tessera::nn;

// Combines the elements of `x` over the dimensions that `reduced` names, each passed through `element` first.
// The others remain, in their order.
static Value reduceOver(OpBuilder &b, Location loc, ValueRange operands, ArrayRef<SmallVector<unsigned>> at,
                        ArrayRef<OpFoldResult> extents, const llvm::SmallBitVector &reduced, Value init,
                        function_ref<Value(OpBuilder &b, Location loc, ValueRange args)> body) {
  LoopNest nest(b, loc, extents.size());
  SmallVector<OpFoldResult> kept;
  SmallVector<AffineExpr> out;
  for (unsigned d = 0; d < extents.size(); ++d) {
    if (reduced[d]) {
      nest.reduce(d);
      continue;
    }
    kept.push_back(extents[d]);
    out.push_back(nest.dim(d));
  }
  for (auto [operand, dims] : llvm::zip_equal(operands, at))
    nest.read(operand, nest.dims(dims));
  nest.write(filledWith(b, loc, kept, init), out);
  return nest.build(
      [&](OpBuilder &b, Location loc, ValueRange args) { return SmallVector<Value>{body(b, loc, args)}; })[0];
}

namespace {
/// The shape of one normalisation: which dimensions are averaged, and what has one number for each that is
/// not.
struct Rows {
  Rows(OpBuilder &b, Location loc, Value x, llvm::SmallBitVector reduced)
      : extents(extentsOf(b, loc, x)), reduced(std::move(reduced)) {
    for (unsigned d = 0; d < extents.size(); ++d) {
      all.push_back(d);
      if (!this->reduced[d])
        kept.push_back(d);
    }
    // How many numbers are averaged.
    count = indexOf(b, loc, 1);
    for (unsigned d = 0; d < extents.size(); ++d)
      if (this->reduced[d])
        count = Term(b, loc, count) * asValue(b, loc, extents[d]);
  }
  AffineMap mapOf(MLIRContext *ctx, ArrayRef<unsigned> dims) const {
    SmallVector<AffineExpr> exprs;
    for (unsigned d : dims)
      exprs.push_back(getAffineDimExpr(d, ctx));
    return AffineMap::get(extents.size(), 0, exprs, ctx);
  }
  SmallVector<OpFoldResult> extents;
  llvm::SmallBitVector reduced;
  SmallVector<unsigned> all, kept;
  Value count;
};
} // namespace

// The mean of x over the rows, or (with `mean`) of the square of its distance from the mean. Of type `real`.
static Value averageOf(OpBuilder &b, Location loc, Value x, const Rows &rows, Type real, bool squares,
                       Value mean) {
  SmallVector<Value> operands = {x};
  SmallVector<SmallVector<unsigned>> at = {rows.all};
  if (mean) {
    operands.push_back(mean);
    at.push_back(rows.kept);
  }
  Value sum = reduceOver(b, loc, operands, at, rows.extents, rows.reduced, constantOf(b, loc, real, 0),
                         [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                           Term e(b, loc, floatTo(b, loc, args[0], real));
                           if (mean)
                             e = e - args[1];
                           return Term(b, loc, args.back()) + (squares ? e * e : e);
                         });
  SmallVector<OpFoldResult> kept;
  for (unsigned d : rows.kept)
    kept.push_back(rows.extents[d]);
  AffineMap identity = b.getMultiDimIdentityMap(kept.size());
  return mapElements(b, loc, kept, real, sum, identity,
                     [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                       return Term(b, loc, args[0]) / Term(b, loc, rows.count).toFloat(real);
                     });
}

// 1 / sqrt(variance + epsilon)
static Value inverseOf(OpBuilder &b, Location loc, Value variance, double epsilon) {
  Type real = typeOf(variance).getElementType();
  AffineMap identity = b.getMultiDimIdentityMap(typeOf(variance).getRank());
  return mapElements(b, loc, extentsOf(b, loc, variance), real, variance, identity,
                     [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                       Term root = (Term(b, loc, args[0]) + epsilon).apply(UnaryKind::sqrt);
                       return root.number(1) / root;
                     });
}

// A tensor over the dimensions that were kept, with extent 1 for the others.
static Value withOnes(OpBuilder &b, Location loc, Value v, const Rows &rows, Type element) {
  SmallVector<OpFoldResult> extents = rows.extents;
  for (unsigned d = 0; d < extents.size(); ++d)
    if (rows.reduced[d])
      extents[d] = b.getIndexAttr(1);
  return mapElements(
      b, loc, extents, element, v, rows.mapOf(b.getContext(), rows.kept),
      [&](OpBuilder &b, Location loc, ValueRange args) { return floatTo(b, loc, args[0], element); });
}

static SmallVector<Value> lowerLayerNorm(OpBuilder &b, LayerNormOp op) {
  Location loc = op.getLoc();
  Value x = op.getX();
  Type element = typeOf(x).getElementType(), real = accumulatorOf(element);
  unsigned rank = typeOf(x).getRank();
  int64_t axis = op.getAxis() < 0 ? op.getAxis() + rank : op.getAxis();
  llvm::SmallBitVector reduced(rank);
  reduced.set(axis, rank);
  Rows rows(b, loc, x, reduced);
  Value mean = op.getRms() ? Value() : averageOf(b, loc, x, rows, real, false, {});
  Value variance = averageOf(b, loc, x, rows, real, true, mean);
  Value inverse = inverseOf(b, loc, variance, op.getEpsilon().convertToDouble());
  SmallVector<Value> operands = {x, inverse};
  MLIRContext *ctx = b.getContext();
  AffineMap keptMap = rows.mapOf(ctx, rows.kept);
  SmallVector<AffineMap> maps = {rows.mapOf(ctx, rows.all), keptMap};
  if (mean) {
    operands.push_back(mean);
    maps.push_back(keptMap);
  }
  for (Value v : {op.getScale(), op.getBias()})
    if (v) {
      v = repeatedTo(b, loc, v, x);
      operands.push_back(v);
      maps.push_back(broadcastMap(ctx, typeOf(v), rows.extents));
    }
  Value y = mapElements(b, loc, rows.extents, element, operands, maps,
                        [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                          unsigned next = 2;
                          Term e(b, loc, floatTo(b, loc, args[0], real));
                          if (mean)
                            e = e - args[next++];
                          e = e * args[1];
                          if (op.getScale())
                            e = e * floatTo(b, loc, args[next++], real);
                          if (op.getBias())
                            e = e + floatTo(b, loc, args[next++], real);
                          return floatTo(b, loc, e, element);
                        });
  Type meanType = typeOf(op.getMean()).getElementType(),
       inverseType = typeOf(op.getInverse()).getElementType();
  if (!mean) {
    SmallVector<OpFoldResult> kept;
    for (unsigned d : rows.kept)
      kept.push_back(rows.extents[d]);
    mean = filledWith(b, loc, kept, constantOf(b, loc, real, 0));
  }
  return {y, withOnes(b, loc, mean, rows, meanType), withOnes(b, loc, inverse, rows, inverseType)};
}

static SmallVector<Value> lowerGroupNorm(OpBuilder &b, GroupNormOp op) {
  Location loc = op.getLoc();
  Value x = op.getX();
  MLIRContext *ctx = b.getContext();
  Type element = typeOf(x).getElementType(), real = accumulatorOf(element);
  unsigned rank = typeOf(x).getRank();
  int64_t channels = typeOf(x).getDimSize(1), groups = op.getGroups();
  if (ShapedType::isDynamic(channels))
    channels = typeOf(op.getScale()).getDimSize(0);
  if (ShapedType::isDynamic(channels))
    channels = staticExtent(op.getBias(), 0);
  x = withExtent(b, loc, x, 1, channels);
  OpFoldResult g = b.getIndexAttr(groups), c = b.getIndexAttr(channels / groups);
  // x as n g c p, a plane in one row, and for its means as n g (c p): short rows would leave lanes empty.
  SmallVector<OpFoldResult> whole = extentsOf(b, loc, x), planar = whole;
  SmallVector<SmallVector<int64_t, 2>> planes = {{0}, {1}, {}}, split = {{0}, {1, 2}};
  for (unsigned d = 2; d < rank; ++d)
    planes[2].push_back(d);
  if (rank > 3) {
    x = collapse(b, loc, x, planes);
    planar = extentsOf(b, loc, x);
  }
  SmallVector<OpFoldResult> extents = {planar[0], g, c};
  if (rank > 2) {
    split.push_back({3});
    extents.push_back(planar[2]);
  }
  Value grouped = expand(b, loc, x, split, extents);
  llvm::SmallBitVector reduced(3);
  reduced.set(2);
  Value wholeGroups = rank > 2 ? collapse(b, loc, grouped, {{0}, {1}, {2, 3}}) : grouped;
  Rows rows(b, loc, wholeGroups, reduced);
  Value mean = averageOf(b, loc, wholeGroups, rows, real, false, {});
  Value inverse = inverseOf(b, loc, averageOf(b, loc, wholeGroups, rows, real, true, mean),
                            op.getEpsilon().convertToDouble());
  auto perChannel = [&](Value v) {
    return expand(b, loc, withExtent(b, loc, v, 0, channels), {{0, 1}}, {g, c});
  };
  auto along = [&](ArrayRef<unsigned> dims) {
    SmallVector<AffineExpr> exprs;
    for (unsigned d : dims)
      exprs.push_back(getAffineDimExpr(d, ctx));
    return AffineMap::get(extents.size(), 0, exprs, ctx);
  };
  Value y = mapElements(
      b, loc, extents, element, {grouped, mean, inverse, perChannel(op.getScale()), perChannel(op.getBias())},
      {b.getMultiDimIdentityMap(extents.size()), along({0, 1}), along({0, 1}), along({1, 2}), along({1, 2})},
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        Term e(b, loc, floatTo(b, loc, args[0], real));
        e = (e - args[1]) * (Term(b, loc, args[2]) * floatTo(b, loc, args[3], real)) +
            floatTo(b, loc, args[4], real);
        return floatTo(b, loc, e, element);
      });
  y = collapse(b, loc, y, split);
  return {rank > 3 ? expand(b, loc, y, planes, whole) : y};
}

// Exponents of the distance from the largest, so that nothing overflows.
static SmallVector<Value> lowerSoftmax(OpBuilder &b, SoftmaxOp op) {
  Location loc = op.getLoc();
  Value x = op.getX();
  MLIRContext *ctx = b.getContext();
  Type element = typeOf(x).getElementType(), real = accumulatorOf(element);
  unsigned rank = typeOf(x).getRank();
  int64_t axis = op.getAxis() < 0 ? op.getAxis() + rank : op.getAxis();
  llvm::SmallBitVector reduced(rank);
  reduced.set(axis);
  Rows rows(b, loc, x, reduced);
  AffineMap all = rows.mapOf(ctx, rows.all), kept = rows.mapOf(ctx, rows.kept);
  Value lowest = constantOf(b, loc, real, -std::numeric_limits<double>::infinity());
  Value largest = reduceOver(b, loc, x, {rows.all}, rows.extents, reduced, lowest,
                             [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                               return Term(b, loc, args[1]).max(floatTo(b, loc, args[0], real));
                             });
  Value shifted = mapElements(b, loc, rows.extents, real, {x, largest}, {all, kept},
                              [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                Term e = Term(b, loc, floatTo(b, loc, args[0], real)) - args[1];
                                return op.getLog() ? e : e.apply(UnaryKind::exp);
                              });
  Value sum = reduceOver(b, loc, shifted, {rows.all}, rows.extents, reduced, constantOf(b, loc, real, 0),
                         [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                           Term e(b, loc, args[0]);
                           return Term(b, loc, args[1]) + (op.getLog() ? e.apply(UnaryKind::exp) : e);
                         });
  if (op.getLog())
    sum = mapElements(b, loc, extentsOf(b, loc, sum), real, sum, b.getMultiDimIdentityMap(rank - 1),
                      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                        return Term(b, loc, args[0]).apply(UnaryKind::log);
                      });
  return {mapElements(b, loc, rows.extents, element, {shifted, sum}, {all, kept},
                      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                        Term e(b, loc, args[0]);
                        return floatTo(b, loc, op.getLog() ? e - args[1] : e / args[1], element);
                      })};
}

void nn::populateNorm(RewritePatternSet &patterns) {
  addBuilder<LayerNormOp>(patterns, lowerLayerNorm);
  addBuilder<GroupNormOp>(patterns, lowerGroupNorm);
  addBuilder<SoftmaxOp>(patterns, lowerSoftmax);
}
