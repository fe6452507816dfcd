// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of attention.
#include "tessera/transforms/nn/lower/Loops.h"

using namespace tessera;
using namespace tessera::nn;

// Scores and sums are computed for (item, shared head, head of the group, query): a group of heads reads the
// same keys and values.
static SmallVector<Value> lowerAttention(OpBuilder &b, AttentionOp op) {
  Location loc = op.getLoc();
  Value q = op.getQ(), k = op.getK(), v = op.getV(), bias = op.getBias();
  Type element = typeOf(op.getY()).getElementType(), real = accumulatorOf(typeOf(q).getElementType());
  int64_t heads = typeOf(q).getDimSize(1), shared = typeOf(k).getDimSize(1);
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(shared))
    return {};
  SmallVector<OpFoldResult> qExtents = extentsOf(b, loc, q), vExtents = extentsOf(b, loc, v);
  OpFoldResult keys = tensor::getMixedSize(b, loc, k, 2);
  SmallVector<SmallVector<int64_t, 2>> split = {{0}, {1, 2}, {3}, {4}};
  OpFoldResult g = b.getIndexAttr(shared), r = b.getIndexAttr(heads / shared);
  q = expand(b, loc, q, split, {qExtents[0], g, r, qExtents[2], qExtents[3]});
  // Keys side by side, such that lanes read one piece of memory.
  k = transposed(b, loc, k, {0, 1, 3, 2});
  SmallVector<OpFoldResult> scoreExtents = {qExtents[0], g, r, qExtents[2], keys};
  double scale = op.getScale().convertToDouble(), cap = op.getSoftCap().convertToDouble();
  auto sumOfProducts = [&](Value x, Value y, ArrayRef<OpFoldResult> extents) {
    // b g r q e k
    LoopNest nest(b, loc, 6);
    nest.reduce(4);
    nest.read(x, nest.dims({0, 1, 2, 3, 4}));
    nest.read(y, nest.dims({0, 1, 4, 5}));
    nest.write(filledWith(b, loc, extents, constantOf(b, loc, real, 0)), nest.dims({0, 1, 2, 3, 5}));
    return nest.build([&](OpBuilder &b, Location loc, ValueRange args) {
      Term x(b, loc, floatTo(b, loc, args[0], real));
      return SmallVector<Value>{Term(b, loc, args[2]) + x * floatTo(b, loc, args[1], real)};
    })[0];
  };
  Value scores = sumOfProducts(q, k, scoreExtents);
  AffineMap all = b.getMultiDimIdentityMap(5), rows = all.getMajorSubMap(4);
  SmallVector<Value> operands = {scores};
  SmallVector<AffineMap> maps = {all};
  if (bias) {
    SmallVector<OpFoldResult> wide = {qExtents[0], qExtents[1], qExtents[2], keys};
    bias = repeatedTo(b, loc, bias, emptyOf(b, loc, wide, real));
    // Broadcast against (item, head, query, key): head h is (h / r, h % r).
    RankedTensorType type = typeOf(bias);
    SmallVector<AffineExpr> at;
    AffineExpr dims[] = {b.getAffineDimExpr(0),
                         b.getAffineDimExpr(1) * (heads / shared) + b.getAffineDimExpr(2),
                         b.getAffineDimExpr(3), b.getAffineDimExpr(4)};
    for (int64_t d = 0; d < type.getRank(); ++d)
      at.push_back(type.getDimSize(d) == 1 ? b.getAffineConstantExpr(0) : dims[4 - type.getRank() + d]);
    operands.push_back(bias);
    maps.push_back(AffineMap::get(5, 0, at, b.getContext()));
  }
  scores = mapElements(b, loc, scoreExtents, real, operands, maps,
                       [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                         Term s = Term(b, loc, args[0]) * scale;
                         if (cap > 0)
                           s = (s / cap).apply(UnaryKind::tanh) * cap;
                         if (bias)
                           s = s + floatTo(b, loc, args[1], real);
                         return s;
                       });
  auto reduceRows = [&](double init, function_ref<Term(Term, Term)> combine, Value from) {
    LoopNest nest(b, loc, 5);
    nest.reduce(4);
    nest.read(from, nest.dims({0, 1, 2, 3, 4}));
    nest.write(filledWith(b, loc, ArrayRef(scoreExtents).drop_back(), constantOf(b, loc, real, init)),
               nest.dims({0, 1, 2, 3}));
    return nest.build([&](OpBuilder &b, Location loc, ValueRange args) {
      return SmallVector<Value>{combine(Term(b, loc, args[1]), Term(b, loc, args[0]))};
    })[0];
  };
  double infinity = std::numeric_limits<double>::infinity();
  Value largest = reduceRows(-infinity, [](Term a, Term x) { return a.max(x); }, scores);
  // A row of -infinity alone has no distance from its largest.
  Value weights = mapElements(b, loc, scoreExtents, real, {scores, largest}, {all, rows},
                              [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                                Term s(b, loc, args[0]), top(b, loc, args[1]);
                                Term none = top.equal(-infinity);
                                return none.select(s.number(0), (s - top).apply(UnaryKind::exp));
                              });
  Value sums = reduceRows(0, [](Term a, Term x) { return a + x; }, weights);
  SmallVector<OpFoldResult> outExtents = {qExtents[0], g, r, qExtents[2], vExtents[3]};
  Value y = sumOfProducts(weights, v, outExtents);
  y = mapElements(b, loc, outExtents, element, {y, sums}, {all, rows},
                  [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                    Term total(b, loc, args[0]), sum(b, loc, args[1]);
                    return floatTo(b, loc, sum.equal(0.0).select(total.number(0), total / sum), element);
                  });
  return {collapse(b, loc, y, split)};
}

void nn::populateSequence(RewritePatternSet &patterns) {
  addBuilder<AttentionOp>(patterns, lowerAttention);
  populateRecurrent(patterns);
}
