// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of reductions along axes. Half types accumulate in f32; the mean of integers accumulates in
// i64.
#include "tessera/transforms/nn/lower/Elements.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace tessera;
using namespace tessera::nn;

// The type that the elements are combined in.
static Type accumulatorOf(OpBuilder &b, Type element, ReduceKind kind) {
  if (element.isF16() || element.isBF16())
    return kind == ReduceKind::max || kind == ReduceKind::min ? element : Type(b.getF32Type());
  if (isa<FloatType>(element))
    return element;
  switch (kind) {
  case ReduceKind::mean:
    return b.getI64Type();
  case ReduceKind::l2:
  case ReduceKind::log_sum:
  case ReduceKind::log_sum_exp:
    return b.getF64Type();
  default:
    return element;
  }
}

Value nn::leastOf(OpBuilder &b, Location loc, Type type, bool isUnsigned) {
  if (auto floating = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        b, loc, FloatAttr::get(type, APFloat::getInf(floating.getFloatSemantics(), /*Negative=*/true)));
  unsigned width = type.getIntOrFloatBitWidth();
  isUnsigned |= width == 1;
  return arith::ConstantOp::create(
      b, loc, IntegerAttr::get(type, isUnsigned ? APInt::getZero(width) : APInt::getSignedMinValue(width)));
}

Value nn::greatestOf(OpBuilder &b, Location loc, Type type, bool isUnsigned) {
  if (auto floating = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(b, loc,
                                     FloatAttr::get(type, APFloat::getInf(floating.getFloatSemantics())));
  unsigned width = type.getIntOrFloatBitWidth();
  isUnsigned |= width == 1;
  return arith::ConstantOp::create(
      b, loc,
      IntegerAttr::get(type, isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width)));
}

Value nn::reduceElements(OpBuilder &b, Location loc, ValueRange operands, ArrayRef<AffineMap> maps,
                         ArrayRef<bool> reduced, ArrayRef<OpFoldResult> extents, Value init,
                         function_ref<Value(OpBuilder &, Location, ValueRange, Value)> combine) {
  SmallVector<AffineExpr> kept;
  SmallVector<OpFoldResult> resultExtents;
  SmallVector<utils::IteratorType> iterators;
  for (auto [d, isReduced] : llvm::enumerate(reduced)) {
    iterators.push_back(isReduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    if (isReduced)
      continue;
    kept.push_back(b.getAffineDimExpr(d));
    resultExtents.push_back(extents[d]);
  }
  Value start = filledWith(b, loc, resultExtents, init);
  SmallVector<AffineMap> all(maps);
  all.push_back(AffineMap::get(reduced.size(), 0, kept, b.getContext()));
  return linalg::GenericOp::create(b, loc, start.getType(), operands, start, all, iterators,
                                   [&](OpBuilder &inner, Location at, ValueRange args) {
                                     Value y = combine(inner, at, args.drop_back(), args.back());
                                     linalg::YieldOp::create(inner, at, y);
                                   })
      .getResult(0);
}

namespace {

/// A reduction of x over some of its dimensions.
struct Reducer {
  OpBuilder &b;
  Location loc;
  Value x;
  SmallVector<bool> reduced;
  SmallVector<OpFoldResult> extents;
  bool isUnsigned;

  Reducer(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> axes, bool isUnsigned)
      : b(b), loc(loc), x(x), reduced(typeOf(x).getRank(), false), extents(extentsOf(b, loc, x)),
        isUnsigned(isUnsigned) {
    for (int64_t axis : axes)
      reduced[axis < 0 ? axis + typeOf(x).getRank() : axis] = true;
  }

  Value run(Value init, function_ref<Value(OpBuilder &, Location, Value, Value)> combine) {
    AffineMap map = b.getMultiDimIdentityMap(reduced.size());
    return reduceElements(b, loc, x, map, reduced, extents, init,
                          [&](OpBuilder &inner, Location at, ValueRange args, Value sum) {
                            return combine(inner, at, args[0], sum);
                          });
  }
  Value runBinary(BinaryKind kind, Value init, function_ref<Value(OpBuilder &, Location, Value)> prepare) {
    return run(init, [&](OpBuilder &inner, Location at, Value element, Value sum) {
      Value v = emitCast(inner, at, element, sum.getType(), isUnsigned);
      return emitBinary(inner, at, kind, sum, prepare ? prepare(inner, at, v) : v, isUnsigned);
    });
  }
  /// How many elements are combined into one.
  Value count() {
    OpFoldResult n = b.getIndexAttr(1);
    AffineExpr p, q;
    bindDims(b.getContext(), p, q);
    for (auto [d, isReduced] : llvm::enumerate(reduced))
      if (isReduced) {
        if (isa<Attribute>(n) && isa<Attribute>(extents[d]))
          n = applyExpr(b, loc, p * q, {n, extents[d]});
        else
          n = arith::MulIOp::create(b, loc, asValue(b, loc, n), asValue(b, loc, extents[d])).getResult();
      }
    return asValue(b, loc, n);
  }
};

struct LowerReduce : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    Type element = type.getElementType();
    ReduceKind kind = op.getKind();
    bool isUnsigned = op.getIsUnsigned();
    Reducer r(rewriter, loc, op.getX(), op.getAxes(), isUnsigned);
    Type computed = accumulatorOf(rewriter, typeOf(op.getX()).getElementType(), kind);
    Value shift; // for log_sum_exp: what was subtracted
    Value sum = reduce(r, kind, computed, shift);
    // What is left to do for each element, and back to the result's type.
    Value n = kind == ReduceKind::mean ? r.count() : Value();
    SmallVector<Value> operands = {sum};
    if (shift)
      operands.push_back(shift);
    if (computed != element || n || shift || kind == ReduceKind::l2 || kind == ReduceKind::log_sum) {
      auto reducedType = RankedTensorType::get(typeOf(sum).getShape(), element);
      sum =
          mapBroadcast(rewriter, loc, operands, reducedType, [&](OpBuilder &b, Location at, ValueRange args) {
            return emitCast(b, at, finish(b, at, kind, args, n, isUnsigned), element, isUnsigned, isUnsigned);
          });
    }
    rewriter.replaceOp(op, keep(rewriter, loc, sum, r, type));
    return success();
  }

  static Value reduce(Reducer &r, ReduceKind kind, Type computed, Value &shift) {
    OpBuilder &b = r.b;
    Location loc = r.loc;
    Value zero = integerOf(b, loc, computed, 0);
    auto square = [](OpBuilder &b, Location at, Value v) { return emitBinary(b, at, BinaryKind::mul, v, v); };
    auto magnitude = [&](OpBuilder &b, Location at, Value v) {
      return emitUnary(b, at, UnaryKind::abs, v, r.isUnsigned);
    };
    switch (kind) {
    case ReduceKind::sum:
    case ReduceKind::mean:
    case ReduceKind::log_sum:
      return r.runBinary(BinaryKind::add, zero, nullptr);
    case ReduceKind::max:
      return r.runBinary(BinaryKind::max, leastOf(b, loc, computed, r.isUnsigned), nullptr);
    case ReduceKind::min:
      return r.runBinary(BinaryKind::min, greatestOf(b, loc, computed, r.isUnsigned), nullptr);
    case ReduceKind::prod:
      return r.runBinary(BinaryKind::mul, integerOf(b, loc, computed, 1), nullptr);
    case ReduceKind::l1:
      return r.runBinary(BinaryKind::add, zero, magnitude);
    case ReduceKind::l2:
    case ReduceKind::sum_square:
      return r.runBinary(BinaryKind::add, zero, square);
    case ReduceKind::log_sum_exp:
      break;
    }
    // log(sum(exp(x))) = m + log(sum(exp(x - m))) with the largest x as m, unless that is infinite
    Value largest = r.runBinary(BinaryKind::max, leastOf(b, loc, computed), nullptr);
    shift = mapBroadcast(
        b, loc, largest, typeOf(largest), [&](OpBuilder &b, Location at, ValueRange args) -> Value {
          Value infinite = emitUnary(b, at, UnaryKind::isinf, args[0]);
          return arith::SelectOp::create(b, at, infinite, constantOf(b, at, computed, 0), args[0]);
        });
    SmallVector<AffineExpr> kept;
    for (auto [d, isReduced] : llvm::enumerate(r.reduced))
      if (!isReduced)
        kept.push_back(b.getAffineDimExpr(d));
    AffineMap identity = b.getMultiDimIdentityMap(r.reduced.size());
    AffineMap outer = AffineMap::get(r.reduced.size(), 0, kept, b.getContext());
    return reduceElements(b, loc, {r.x, shift}, {identity, outer}, r.reduced, r.extents, zero,
                          [&](OpBuilder &b, Location at, ValueRange args, Value sum) -> Value {
                            Value v = emitCast(b, at, args[0], computed, r.isUnsigned);
                            v = math::ExpOp::create(b, at, arith::SubFOp::create(b, at, v, args[1]));
                            return arith::AddFOp::create(b, at, sum, v);
                          });
  }

  static Value finish(OpBuilder &b, Location loc, ReduceKind kind, ValueRange args, Value n,
                      bool isUnsigned) {
    Value v = args[0];
    if (kind == ReduceKind::mean) {
      Value count = arith::IndexCastOp::create(b, loc, b.getI64Type(), n);
      return emitBinary(b, loc, BinaryKind::div, v, emitCast(b, loc, count, v.getType()), isUnsigned);
    }
    if (kind == ReduceKind::l2)
      return math::SqrtOp::create(b, loc, v);
    if (kind == ReduceKind::log_sum)
      return math::LogOp::create(b, loc, v);
    if (kind == ReduceKind::log_sum_exp)
      return arith::AddFOp::create(b, loc, math::LogOp::create(b, loc, v), args[1]);
    return v;
  }

  // Gives reduced dimensions back with extent 1.
  static Value keep(OpBuilder &b, Location loc, Value y, Reducer &r, RankedTensorType type) {
    return restoreUnits(b, loc, y, r.reduced, type);
  }
};

} // namespace

Value nn::restoreUnits(OpBuilder &b, Location loc, Value y, ArrayRef<bool> units, RankedTensorType type) {
  if (typeOf(y).getRank() == type.getRank())
    return castTo(b, loc, y, type);
  SmallVector<OpFoldResult> known = extentsOf(b, loc, y), extents;
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups(known.size());
  unsigned next = 0;
  for (auto [d, unit] : llvm::enumerate(units)) {
    // Units go with the dimension before them, those at the front with the first.
    if (!groups.empty())
      groups[unit ? (next ? next - 1 : 0) : next].push_back(d);
    shape.push_back(unit ? 1 : typeOf(y).getDimSize(next));
    extents.push_back(unit ? OpFoldResult(b.getIndexAttr(1)) : known[next]);
    next += !unit;
  }
  auto expanded = RankedTensorType::get(shape, type.getElementType());
  Value view = tensor::ExpandShapeOp::create(b, loc, expanded, y, groups, extents);
  return castTo(b, loc, view, type);
}

//===----------------------------------------------------------------------===//
// The place of an extreme
//===----------------------------------------------------------------------===//

Value nn::emitPrecedes(OpBuilder &b, Location loc, Value x, Value y, bool smallest, bool isUnsigned) {
  Value better = emitBinary(b, loc, smallest ? BinaryKind::lt : BinaryKind::gt, x, y, isUnsigned);
  if (!isa<FloatType>(x.getType()))
    return better;
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  Value number = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, y, y);
  return arith::OrIOp::create(b, loc, better, arith::AndIOp::create(b, loc, isNaN, number));
}

namespace {

struct LowerArgReduce : OpRewritePattern<ArgReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ArgReduceOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType from = typeOf(op.getX()), type = typeOf(op.getY());
    unsigned rank = from.getRank();
    int64_t axis = op.getAxis() < 0 ? op.getAxis() + rank : op.getAxis();
    Type element = from.getElementType(), i64 = rewriter.getI64Type();
    SmallVector<bool> reduced(rank, false);
    reduced[axis] = true;
    SmallVector<OpFoldResult> extents = extentsOf(rewriter, loc, op.getX());
    extents.erase(extents.begin() + axis);
    Value worst = op.getMin() ? greatestOf(rewriter, loc, element, op.getIsUnsigned())
                              : leastOf(rewriter, loc, element, op.getIsUnsigned());
    // Whether an element takes the place of the best so far: one that is no better stays behind it, unless
    // the last is wanted.
    auto replaces = [&](OpBuilder &b, Location at, Value element, Value best) -> Value {
      if (!op.getLast())
        return emitPrecedes(b, at, element, best, op.getMin(), op.getIsUnsigned());
      Value before = emitPrecedes(b, at, best, element, op.getMin(), op.getIsUnsigned());
      return arith::XOrIOp::create(b, at, before, integerOf(b, at, b.getI1Type(), 1));
    };
    // The best elements so far are a tensor as large as the result. Its part that a task needs must be known
    // when the task starts, so with open extents each place looks for its own extreme.
    if (llvm::any_of(extents, [](OpFoldResult extent) { return isa<Value>(extent); })) {
      Value found =
          generate(rewriter, loc, extents, i64, [&](OpBuilder &b, Location at, ValueRange ids) -> Value {
            Value zero = indexOf(b, at, 0), one = indexOf(b, at, 1);
            Value end = asValue(b, at, tensor::getMixedSize(b, at, op.getX(), axis));
            auto loop = scf::ForOp::create(b, at, zero, end, one, ValueRange{worst, integerOf(b, at, i64, 0)},
                                           [&](OpBuilder &b, Location at, Value i, ValueRange state) {
                                             SmallVector<Value> place(ids);
                                             place.insert(place.begin() + axis, i);
                                             Value e = tensor::ExtractOp::create(b, at, op.getX(), place);
                                             Value id = arith::IndexCastOp::create(b, at, i64, i);
                                             Value take = replaces(b, at, e, state[0]);
                                             Value value = arith::SelectOp::create(b, at, take, e, state[0]);
                                             Value best = arith::SelectOp::create(b, at, take, id, state[1]);
                                             scf::YieldOp::create(b, at, ValueRange{value, best});
                                           });
            return loop.getResult(1);
          });
      rewriter.replaceOp(op, restoreUnits(rewriter, loc, found, reduced, type));
      return success();
    }
    Value values = filledWith(rewriter, loc, extents, worst);
    Value places = filledWith(rewriter, loc, extents, integerOf(rewriter, loc, i64, 0));
    SmallVector<AffineExpr> kept;
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    iterators[axis] = utils::IteratorType::reduction;
    for (unsigned d = 0; d < rank; ++d)
      if (d != axis)
        kept.push_back(rewriter.getAffineDimExpr(d));
    AffineMap outer = AffineMap::get(rank, 0, kept, rewriter.getContext());
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange{values.getType(), places.getType()}, ValueRange{op.getX()},
        ValueRange{values, places}, ArrayRef<AffineMap>{rewriter.getMultiDimIdentityMap(rank), outer, outer},
        iterators, [&](OpBuilder &b, Location at, ValueRange args) {
          Value id = linalg::IndexOp::create(b, at, axis);
          id = arith::IndexCastOp::create(b, at, i64, id);
          Value take = replaces(b, at, args[0], args[1]);
          Value value = arith::SelectOp::create(b, at, take, args[0], args[1]);
          Value place = arith::SelectOp::create(b, at, take, id, args[2]);
          linalg::YieldOp::create(b, at, ValueRange{value, place});
        });
    rewriter.replaceOp(op, restoreUnits(rewriter, loc, generic.getResult(1), reduced, type));
    return success();
  }
};

} // namespace

void nn::populateReduce(RewritePatternSet &patterns) {
  patterns.add<LowerReduce, LowerArgReduce>(patterns.getContext());
}
