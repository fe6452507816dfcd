// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index arithmetic. C++ computes subscripts in `int`; signed overflow has no meaning there, so the same in
// `index` gives the same element, and what reads affine accesses can see through it.
#include "tessera/frontends/heterocpp/Graph.h"

using namespace tessera;
using namespace tessera::heterocpp;

namespace {
class Widener {
public:
  explicit Widener(OpBuilder &b) : b(b) {}

  /// `v` as an index, widened operation by operation; null where that could change it.
  Value widen(Value v, bool isUnsigned) {
    Operation *op = v.getDefiningOp();
    if (!op)
      return Value();
    // Only counters come from indices, and they fit their type.
    if (auto cast = dyn_cast<arith::IndexCastOp>(op); cast && cast.getIn().getType().isIndex())
      return cast.getIn();
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      const APInt &value = cast<IntegerAttr>(constant.getValue()).getValue();
      return make<arith::ConstantIndexOp>(op,
                                          isUnsigned ? int64_t(value.getZExtValue()) : value.getSExtValue());
    }
    // 64 bits wrap around as an index does; fewer must not overflow.
    bool wide = v.getType().isInteger(64);
    auto binary = [&](auto typed) -> Value {
      using Op = decltype(typed);
      bool safe = wide || (!isUnsigned &&
                           bitEnumContainsAll(typed.getOverflowFlags(), arith::IntegerOverflowFlags::nsw));
      if (!safe)
        return Value();
      Value l = widenOrCast(typed.getLhs(), isUnsigned), r = widenOrCast(typed.getRhs(), isUnsigned);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfter(op);
      return Op::create(b, op->getLoc(), l, r);
    };
    if (auto add = dyn_cast<arith::AddIOp>(op))
      return binary(add);
    if (auto sub = dyn_cast<arith::SubIOp>(op))
      return binary(sub);
    if (auto mul = dyn_cast<arith::MulIOp>(op))
      return binary(mul);
    // These cannot overflow; sign and width of both sides agree.
    auto exact = [&](auto typed) -> Value {
      using Op = decltype(typed);
      Value l = widenOrCast(typed.getLhs(), isUnsigned), r = widenOrCast(typed.getRhs(), isUnsigned);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfter(op);
      return Op::create(b, op->getLoc(), l, r);
    };
    if (auto div = dyn_cast<arith::DivSIOp>(op); div && (!isUnsigned || wide))
      return exact(div);
    if (auto rem = dyn_cast<arith::RemSIOp>(op); rem && (!isUnsigned || wide))
      return exact(rem);
    if (auto div = dyn_cast<arith::DivUIOp>(op); div && (isUnsigned || wide))
      return exact(div);
    if (auto rem = dyn_cast<arith::RemUIOp>(op); rem && (isUnsigned || wide))
      return exact(rem);
    // Bit by bit the same, whether the bits above are copies of the sign or zero.
    if (auto both = dyn_cast<arith::AndIOp>(op))
      return exact(both);
    if (auto either = dyn_cast<arith::OrIOp>(op))
      return exact(either);
    if (auto shift = dyn_cast<arith::ShRSIOp>(op);
        shift && !isUnsigned && getConstantIntValue(shift.getRhs()).value_or(-1) >= 0)
      return exact(shift);
    if (auto choice = dyn_cast<arith::SelectOp>(op)) {
      Value l = widenOrCast(choice.getTrueValue(), isUnsigned),
            r = widenOrCast(choice.getFalseValue(), isUnsigned);
      return make<arith::SelectOp>(op, choice.getCondition(), l, r);
    }
    if (auto extend = dyn_cast<arith::ExtSIOp>(op))
      return widenOrCast(extend.getIn(), false);
    if (auto extend = dyn_cast<arith::ExtUIOp>(op); extend && extend.getIn().getType() != b.getI1Type())
      return widen(extend.getIn(), true);
    return Value();
  }

  /// The same, with a conversion where it could not be widened.
  Value widenOrCast(Value v, bool isUnsigned);

private:
  template <typename Op, typename... Args> Value make(Operation *after, Args... args) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(after);
    return Op::create(b, after->getLoc(), args...);
  }
  OpBuilder &b;
  struct Less {
    bool operator()(const std::pair<Value, bool> &l, const std::pair<Value, bool> &r) const {
      return std::make_pair(l.first.getAsOpaquePointer(), l.second) <
             std::make_pair(r.first.getAsOpaquePointer(), r.second);
    }
  };
  std::map<std::pair<Value, bool>, Value, Less> known;
};
} // namespace

Value Widener::widenOrCast(Value v, bool isUnsigned) {
  auto it = known.find({v, isUnsigned});
  if (it != known.end())
    return it->second;
  Value result = widen(v, isUnsigned);
  if (!result) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(v);
    result = isUnsigned ? arith::IndexCastUIOp::create(b, v.getLoc(), b.getIndexType(), v).getResult()
                        : arith::IndexCastOp::create(b, v.getLoc(), b.getIndexType(), v).getResult();
  }
  known[{v, isUnsigned}] = result;
  return result;
}

namespace {
/// A value and a constant that is added to it.
struct Shifted {
  Value base; ///< null: zero
  int64_t offset = 0;
};
} // namespace

static Shifted getShifted(Value v) {
  Shifted shifted{v, 0};
  while (shifted.base) {
    Operation *op = shifted.base.getDefiningOp();
    if (std::optional<int64_t> constant = getConstantIntValue(shifted.base)) {
      shifted.offset += *constant;
      shifted.base = Value();
    } else if (auto add = dyn_cast_or_null<arith::AddIOp>(op); add && getConstantIntValue(add.getRhs())) {
      shifted.offset += *getConstantIntValue(add.getRhs());
      shifted.base = add.getLhs();
    } else if (auto sub = dyn_cast_or_null<arith::SubIOp>(op); sub && getConstantIntValue(sub.getRhs())) {
      shifted.offset -= *getConstantIntValue(sub.getRhs());
      shifted.base = sub.getLhs();
    } else {
      break;
    }
  }
  return shifted;
}

// `i > 0 ? i - 1 : 0` is the larger of i - 1 and 0; schedules know how to take such clamps out of loops.
static void useClamp(arith::SelectOp choice, Widener &widener) {
  using P = arith::CmpIPredicate;
  auto cmp = choice.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!cmp || (!cmp.getLhs().getType().isIndex() && !cmp.getLhs().getType().isInteger(32)))
    return;
  auto asIndex = [&](Value v) { return v.getType().isIndex() ? v : widener.widenOrCast(v, false); };
  Value sides[2] = {asIndex(cmp.getLhs()), asIndex(cmp.getRhs())};
  for (bool swapped : {false, true})
    for (bool inverted : {false, true}) {
      P p = cmp.getPredicate();
      if (swapped)
        p = p == P::slt ? P::sgt : p == P::sle ? P::sge : p == P::sgt ? P::slt : p == P::sge ? P::sle : P::eq;
      if (inverted)
        p = arith::invertPredicate(p);
      if (p != P::slt && p != P::sle && p != P::sgt && p != P::sge)
        return;
      // x compared with a limit; where that holds, x + d, otherwise the limit + f.
      Shifted x = getShifted(sides[swapped]), limit = getShifted(sides[!swapped]),
              moved = getShifted(inverted ? choice.getFalseValue() : choice.getTrueValue()),
              fixed = getShifted(inverted ? choice.getTrueValue() : choice.getFalseValue());
      if (x.base != moved.base || limit.base != fixed.base)
        continue;
      int64_t d = moved.offset - x.offset, f = fixed.offset - limit.offset;
      // At the limit both agree, or would be one apart on the right side.
      bool larger = p == P::sgt || p == P::sge;
      int64_t least = p == P::sgt || p == P::sle ? d : d - 1;
      if (f < least || f > least + 1)
        continue;
      OpBuilder b(choice);
      Value l = choice.getTrueValue(), r = choice.getFalseValue();
      Value clamped = larger ? arith::MaxSIOp::create(b, choice.getLoc(), l, r).getResult()
                             : arith::MinSIOp::create(b, choice.getLoc(), l, r).getResult();
      choice.replaceAllUsesWith(clamped);
      return;
    }
}

void heterocpp::widenIndices(Operation *leaf) {
  OpBuilder b(leaf->getContext());
  Widener widener(b);
  SmallVector<Operation *> casts;
  leaf->walk([&](Operation *op) {
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && op->getResult(0).getType().isIndex())
      casts.push_back(op);
  });
  for (Operation *op : casts)
    if (Value wide = widener.widen(op->getOperand(0), isa<arith::IndexCastUIOp>(op)))
      op->getResult(0).replaceAllUsesWith(wide);
  SmallVector<arith::SelectOp> choices;
  leaf->walk([&](arith::SelectOp choice) {
    if (choice.getType().isIndex())
      choices.push_back(choice);
  });
  for (arith::SelectOp choice : choices)
    useClamp(choice, widener);
}
