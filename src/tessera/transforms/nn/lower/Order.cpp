// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of what goes along an axis in order: prefixes, and the k best.
#include "tessera/transforms/nn/lower/Elements.h"

using namespace tessera;
using namespace tessera::nn;

// x read backwards along an axis.
static Value reversed(OpBuilder &b, Location loc, Value x, int64_t axis) {
  SmallVector<OpFoldResult> extents = extentsOf(b, loc, x);
  Value extent = asValue(b, loc, extents[axis]);
  return generate(b, loc, extents, typeOf(x).getElementType(),
                  [&](OpBuilder &b, Location at, ValueRange ids) -> Value {
                    SmallVector<Value> place(ids);
                    Value last = arith::SubIOp::create(b, at, extent, indexOf(b, at, 1));
                    place[axis] = arith::SubIOp::create(b, at, last, ids[axis]);
                    return tensor::ExtractOp::create(b, at, x, place);
                  });
}

namespace {

// cumulative → a linalg.generic whose axis is a reduction, so that it runs in order, with two results: all
// prefixes, and the value so far
struct LowerCumulative : OpRewritePattern<CumulativeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CumulativeOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    unsigned rank = type.getRank();
    int64_t axis = op.getAxis() < 0 ? op.getAxis() + rank : op.getAxis();
    Type element = type.getElementType();
    Type computed = element.isF16() || element.isBF16() ? Type(rewriter.getF32Type()) : element;
    BinaryKind kind = op.getKind() == ReduceKind::prod  ? BinaryKind::mul
                      : op.getKind() == ReduceKind::max ? BinaryKind::max
                      : op.getKind() == ReduceKind::min ? BinaryKind::min
                                                        : BinaryKind::add;
    Value neutral = kind == BinaryKind::max   ? leastOf(rewriter, loc, computed)
                    : kind == BinaryKind::min ? greatestOf(rewriter, loc, computed)
                                              : integerOf(rewriter, loc, computed, kind == BinaryKind::mul);
    Value x = op.getReverse() ? reversed(rewriter, loc, op.getX(), axis) : op.getX();
    SmallVector<OpFoldResult> extents = extentsOf(rewriter, loc, x), others = extents;
    others.erase(others.begin() + axis);
    Value y = emptyOf(rewriter, loc, extents, element), start = filledWith(rewriter, loc, others, neutral);
    SmallVector<AffineExpr> kept;
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    iterators[axis] = utils::IteratorType::reduction;
    for (unsigned d = 0; d < rank; ++d)
      if (d != axis)
        kept.push_back(rewriter.getAffineDimExpr(d));
    AffineMap all = rewriter.getMultiDimIdentityMap(rank),
              outer = AffineMap::get(rank, 0, kept, rewriter.getContext());
    auto generic = linalg::GenericOp::create(
        rewriter, loc, TypeRange{y.getType(), start.getType()}, ValueRange{x}, ValueRange{y, start},
        ArrayRef<AffineMap>{all, all, outer}, iterators, [&](OpBuilder &b, Location at, ValueRange args) {
          Value before = args[2], next = emitBinary(b, at, kind, before, emitCast(b, at, args[0], computed));
          Value out = emitCast(b, at, op.getExclusive() ? before : next, element);
          linalg::YieldOp::create(b, at, ValueRange{out, next});
        });
    Value result = generic.getResult(0);
    if (op.getReverse())
      result = reversed(rewriter, loc, result, axis);
    rewriter.replaceOp(op, castTo(rewriter, loc, result, type));
    return success();
  }
};

/// Inserts elements into a list of the k best, in order.
struct BestList {
  OpBuilder &b;
  Location loc;
  int64_t k;
  bool smallest, isUnsigned;

  // Whether an element goes before entry `at`; an entry without a place is empty.
  Value goesBefore(OpBuilder &b, Value element, Value entry, Value place) const {
    Value empty =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, place, integerOf(b, loc, b.getI64Type(), 0));
    Value better = emitPrecedes(b, loc, element, entry, smallest, isUnsigned);
    return arith::OrIOp::create(b, loc, empty, better);
  }

  // The lists after `element`, which stands at `place`, has pushed worse ones back by one.
  SmallVector<Value> insert(OpBuilder &b, Value element, Value place, Value values, Value places) const {
    Value zero = indexOf(b, loc, 0), one = indexOf(b, loc, 1), last = indexOf(b, loc, k - 1);
    Value worst = tensor::ExtractOp::create(b, loc, values, last),
          worstPlace = tensor::ExtractOp::create(b, loc, places, last);
    Value wanted = goesBefore(b, element, worst, worstPlace);
    Value end = arith::SelectOp::create(b, loc, wanted, indexOf(b, loc, k), zero);
    auto loop = scf::ForOp::create(
        b, loc, zero, end, one,
        ValueRange{values, places, element, place, integerOf(b, loc, b.getI1Type(), 0)},
        [&](OpBuilder &b, Location at, Value i, ValueRange state) {
          Value entry = tensor::ExtractOp::create(b, at, state[0], i);
          Value entryPlace = tensor::ExtractOp::create(b, at, state[1], i);
          // Behind the place that was found everything moves on, ties too.
          Value swap = arith::OrIOp::create(b, at, state[4], goesBefore(b, state[2], entry, entryPlace));
          auto pick = [&](Value x, Value y) -> Value { return arith::SelectOp::create(b, at, swap, x, y); };
          Value newValues = tensor::InsertOp::create(b, at, pick(state[2], entry), state[0], i);
          Value newPlaces = tensor::InsertOp::create(b, at, pick(state[3], entryPlace), state[1], i);
          scf::YieldOp::create(
              b, at,
              ValueRange{newValues, newPlaces, pick(entry, state[2]), pick(entryPlace, state[3]), swap});
        });
    return {loop.getResult(0), loop.getResult(1)};
  }
};

// topk → for each row along the axis (in parallel) a list of k entries that every element is offered to
struct LowerTopK : OpRewritePattern<TopKOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TopKOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType from = typeOf(op.getX());
    unsigned rank = from.getRank();
    int64_t axis = op.getAxis() < 0 ? op.getAxis() + rank : op.getAxis(), k = op.getK();
    Type element = from.getElementType(), i64 = rewriter.getI64Type();
    SmallVector<OpFoldResult> extents = extentsOf(rewriter, loc, op.getX());
    Value extent = asValue(rewriter, loc, extents[axis]);
    extents[axis] = rewriter.getIndexAttr(k);
    Value values = emptyOf(rewriter, loc, extents, element), places = emptyOf(rewriter, loc, extents, i64);
    if (k > 0) {
      SmallVector<OpFoldResult> lows(rank, rewriter.getIndexAttr(0)), steps(rank, rewriter.getIndexAttr(1)),
          ends = extents;
      ends[axis] = rewriter.getIndexAttr(1);
      auto forall = scf::ForallOp::create(
          rewriter, loc, lows, ends, steps, ValueRange{values, places}, std::nullopt,
          [&](OpBuilder &b, Location at, ValueRange args) { rows(op, b, at, args, axis, extent); });
      values = forall.getResult(0);
      places = forall.getResult(1);
    }
    rewriter.replaceOp(op, ValueRange{castTo(rewriter, loc, values, op.getValues().getType()),
                                      castTo(rewriter, loc, places, op.getIndices().getType())});
    return success();
  }

  static void rows(TopKOp op, OpBuilder &b, Location loc, ValueRange args, int64_t axis, Value extent) {
    unsigned rank = typeOf(op.getX()).getRank();
    int64_t k = op.getK();
    Type element = typeOf(op.getX()).getElementType(), i64 = b.getI64Type();
    OpFoldResult size = b.getIndexAttr(k);
    Value values = filledWith(b, loc, size, integerOf(b, loc, element, 0));
    Value places = filledWith(b, loc, size, integerOf(b, loc, i64, -1));
    SmallVector<Value> ids(args.take_front(rank));
    BestList list{b, loc, k, op.getSmallest(), op.getIsUnsigned()};
    auto loop =
        scf::ForOp::create(b, loc, indexOf(b, loc, 0), extent, indexOf(b, loc, 1), ValueRange{values, places},
                           [&](OpBuilder &b, Location at, Value i, ValueRange state) {
                             SmallVector<Value> at_ = ids;
                             at_[axis] = i;
                             Value e = tensor::ExtractOp::create(b, at, op.getX(), at_);
                             Value place = arith::IndexCastOp::create(b, at, i64, i);
                             scf::YieldOp::create(b, at, list.insert(b, e, place, state[0], state[1]));
                           });
    SmallVector<OpFoldResult> offsets(ids.begin(), ids.end()), sizes(rank, b.getIndexAttr(1)),
        strides(rank, b.getIndexAttr(1));
    offsets[axis] = b.getIndexAttr(0);
    sizes[axis] = size;
    auto done = scf::InParallelOp::create(b, loc);
    b.setInsertionPointToStart(done.getBody());
    for (unsigned r = 0; r < 2; ++r)
      tensor::ParallelInsertSliceOp::create(b, loc, loop.getResult(r), args[rank + r], offsets, sizes,
                                            strides);
  }
};

} // namespace

void nn::populateOrder(RewritePatternSet &patterns) {
  patterns.add<LowerCumulative, LowerTopK>(patterns.getContext());
}
