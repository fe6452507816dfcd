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
      operands.push_back(v);
      maps.push_back(broadcastMap(ctx, typeOf(v), rank));
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
  int64_t channels = typeOf(x).getDimSize(1), groups = op.getGroups(), inGroup = channels / groups;
  // n g c spatial…
  SmallVector<OpFoldResult> extents = extentsOf(b, loc, x), split = extents;
  split[1] = b.getIndexAttr(inGroup);
  split.insert(split.begin() + 1, b.getIndexAttr(groups));
  SmallVector<SmallVector<int64_t, 2>> dims = {{0}, {1, 2}};
  for (unsigned d = 2; d < rank; ++d)
    dims.push_back({d + 1});
  Value grouped = expand(b, loc, x, dims, split);
  llvm::SmallBitVector reduced(rank + 1);
  reduced.set(2, rank + 1);
  Rows rows(b, loc, grouped, reduced);
  Value mean = averageOf(b, loc, grouped, rows, real, false, {});
  Value inverse = inverseOf(b, loc, averageOf(b, loc, grouped, rows, real, true, mean),
                            op.getEpsilon().convertToDouble());
  // One number for each item and channel, such that the pass over all elements only looks them up.
  SmallVector<OpFoldResult> perChannel = {extents[0], extents[1]};
  Value means = generate(b, loc, perChannel, real, [&](OpBuilder &b, Location loc, ValueRange ids) -> Value {
    return tensor::ExtractOp::create(b, loc, mean,
                                     ValueRange{ids[0], Term(b, loc, ids[1]).floorDiv(inGroup)});
  });
  Value scales = generate(b, loc, perChannel, real, [&](OpBuilder &b, Location loc, ValueRange ids) -> Value {
    Value scale = tensor::ExtractOp::create(b, loc, op.getScale(), ids[1]);
    Value factor = tensor::ExtractOp::create(b, loc, inverse,
                                             ValueRange{ids[0], Term(b, loc, ids[1]).floorDiv(inGroup)});
    return Term(b, loc, factor) * floatTo(b, loc, scale, real);
  });
  AffineMap all = b.getMultiDimIdentityMap(rank);
  AffineMap items = AffineMap::get(rank, 0, {getAffineDimExpr(0, ctx), getAffineDimExpr(1, ctx)}, ctx);
  AffineMap channel = AffineMap::get(rank, 0, getAffineDimExpr(1, ctx));
  return {mapElements(b, loc, extents, element, {x, means, scales, op.getBias()},
                      {all, items, items, channel},
                      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                        Term e(b, loc, floatTo(b, loc, args[0], real));
                        e = (e - args[1]) * args[2] + floatTo(b, loc, args[3], real);
                        return floatTo(b, loc, e, element);
                      })};
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
