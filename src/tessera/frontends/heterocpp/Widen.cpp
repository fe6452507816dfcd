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

private:
  template <typename Op, typename... Args> Value make(Operation *after, Args... args) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(after);
    return Op::create(b, after->getLoc(), args...);
  }
  Value widenOrCast(Value v, bool isUnsigned) {
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
}
