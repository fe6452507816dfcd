// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of what knobs make of layers: rows between rows, and noise.
#include "tessera/ir/Philox.h"
#include "tessera/transforms/nn/lower/Loops.h"

#include <numbers>

using namespace tessera;
using namespace tessera::nn;

// The two rows whose mean is row `i`: itself twice when it was computed.
static std::pair<Term, Term> neighbours(Term i, bool split, int64_t rate, int64_t offset, int64_t extent) {
  if (!split)
    return {i, i};
  Term isBetween = i.modulo(rate).equal(double(offset));
  Term above = i.equal(0).select(i + 1.0, i - 1.0),
       below = i.equal(double(extent - 1)).select(i - 1.0, i + 1.0);
  return {isBetween.select(above, i), isBetween.select(below, i)};
}

static SmallVector<Value> lowerInterpolate(OpBuilder &b, InterpolateOp op) {
  RankedTensorType type = typeOf(op.getY());
  if (type.getRank() == 5) // packed
    return {};
  Location loc = op.getLoc();
  int64_t rate = op.getRate(), offset = op.getOffset(), columnParts = op.getColumns() ? rate - 1 : 1;
  SmallVector<OpFoldResult> extents = extentsOf(b, loc, op.getParts()[0]);
  for (unsigned d : {2u, 3u})
    extents[d] = b.getIndexAttr(type.getDimSize(d));
  Value y = generate(
      b, loc, extents, type.getElementType(), [&](OpBuilder &b, Location loc, ValueRange ids) -> Value {
        // Among the parts: which one, and where there. An index that is another part's stays inside.
        auto read = [&](Term row, Term column) {
          std::optional<Term> value;
          for (auto [p, part] : llvm::enumerate(op.getParts())) {
            std::optional<Term> mine;
            SmallVector<Value> at(ids);
            auto place = [&](bool split, unsigned d, Term i, int64_t number) {
              at[d] = i;
              if (!split)
                return;
              Term remainder = i.modulo(rate);
              Term is = remainder.equal(double(number + (number >= offset)));
              at[d] = i.floorDiv(rate).min(double(typeOf(part).getDimSize(d) - 1));
              mine = mine ? *mine && is : is;
            };
            place(op.getRows(), 2, row, int64_t(p) / columnParts);
            place(op.getColumns(), 3, column, int64_t(p) % columnParts);
            Term v(b, loc, tensor::ExtractOp::create(b, loc, part, at));
            value = value ? mine->select(v, *value) : v;
          }
          return *value;
        };
        auto [r0, r1] = neighbours(Term(b, loc, ids[2]), op.getRows(), rate, offset, type.getDimSize(2));
        auto [c0, c1] = neighbours(Term(b, loc, ids[3]), op.getColumns(), rate, offset, type.getDimSize(3));
        auto between = [&](Term column) {
          return op.getRows() ? (read(r0, column) + read(r1, column)) * 0.5 : read(r0, column);
        };
        return op.getColumns() ? (between(c0) + between(c1)) * 0.5 : between(c0);
      });
  return {y};
}

static SmallVector<Value> lowerNoise(OpBuilder &b, NoiseOp op) {
  Location loc = op.getLoc();
  RankedTensorType type = typeOf(op.getX());
  SmallVector<OpFoldResult> extents = extentsOf(b, loc, op.getX());
  SmallVector<Value> sizes;
  for (OpFoldResult extent : extents)
    sizes.push_back(asValue(b, loc, extent));
  Type element = type.getElementType(), wide = accumulatorOf(element);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  Value y =
      mapElements(b, loc, extents, element, op.getX(), identity,
                  [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                    Value flat = indexOf(b, loc, 0);
                    for (auto [id, size] : llvm::zip(loopIndices(b, loc, type.getRank()), sizes))
                      flat = Term(b, loc, flat) * size + id;
                    Value counter = arith::IndexCastOp::create(b, loc, b.getI64Type(), flat);
                    std::array<Value, 4> words =
                        buildPhilox(b, loc, counter, static_cast<uint64_t>(op.getKey()));
                    auto uniform = [&](Value word) { return Term(b, loc, word).toFloat(wide) * 0x1p-32; };
                    Term u = (Term(b, loc, words[0]) + 1.0).toFloat(wide) * 0x1p-32;
                    Term length = (u.apply(UnaryKind::log) * -2.0).apply(UnaryKind::sqrt);
                    Term g = length * (uniform(words[1]) * (2 * std::numbers::pi)).apply(UnaryKind::cos);
                    Term x(b, loc, floatTo(b, loc, args[0], wide));
                    return floatTo(b, loc, x + x * g * op.getSigma().convertToDouble(), element);
                  });
  return {y};
}

static SmallVector<Value> lowerSplit(OpBuilder &b, SplitOp op) {
  RankedTensorType type = typeOf(op.getX());
  if (type.getRank() == 5) // packed
    return {};
  Location loc = op.getLoc();
  auto cast = [&](Value v, Type element) -> Value {
    return CastOp::create(b, loc, RankedTensorType::get(type.getShape(), element), v, Format::plain,
                          Format::plain, false, "nearest");
  };
  Type bf16 = b.getBF16Type();
  Value high = cast(op.getX(), bf16);
  Value rest = BinaryOp::create(b, loc, BinaryKind::sub, op.getX(), cast(high, type.getElementType()));
  return {ConcatOp::create(b, loc, ValueRange{high, high, cast(rest, bf16)}, 1)};
}

void nn::populateApprox(RewritePatternSet &patterns) {
  addBuilder<InterpolateOp>(patterns, lowerInterpolate);
  addBuilder<SplitOp>(patterns, lowerSplit);
  addBuilder<NoiseOp>(patterns, lowerNoise);
}
