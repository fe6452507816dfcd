// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Truth values that iterations combine. `r = r || x` stops at the first truth; iterations that share r do
// not, so both sides are computed and combined by one operation. A truth in an `int` may be any number but
// zero before the loop and is 0 or 1 after its first update: what iterations find is gathered apart, in two
// bits that say whether there was an update and whether it decides, and joined with the variable at the end.
#include "tessera/frontends/heterocpp/Graph.h"
#include "tessera/frontends/heterocpp/Reductions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace tessera;
using namespace tessera::heterocpp;

std::optional<Logical> heterocpp::matchLogical(Value truth) {
  Operation *op = truth.getDefiningOp();
  if (!op || !truth.getType().isInteger(1))
    return std::nullopt;
  if (isa<arith::OrIOp, arith::AndIOp>(op))
    return Logical{isa<arith::OrIOp>(op) ? Logic::Or : Logic::And, &op->getOpOperand(0),
                   &op->getOpOperand(1)};
  OpOperand *condition, *yes, *no;
  if (auto choice = dyn_cast<arith::SelectOp>(op)) {
    condition = &choice.getConditionMutable();
    yes = &choice.getTrueValueMutable();
    no = &choice.getFalseValueMutable();
  } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch->getNumResults() == 1) {
    condition = &branch.getConditionMutable();
    yes = &branch.thenYield()->getOpOperand(0);
    no = &branch.elseYield()->getOpOperand(0);
    // Both sides would run.
    bool writes = false;
    branch->walk([&](Operation *inner) {
      writes |=
          !isa<memref::LoadOp, scf::IfOp, scf::ForOp, scf::WhileOp>(inner) && !isMemoryEffectFree(inner);
    });
    if (writes)
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  auto isTrue = [](OpOperand *side) {
    return isConstantIntValue(side->get(), -1) || isConstantIntValue(side->get(), 1);
  };
  auto isFalse = [](OpOperand *side) { return isConstantIntValue(side->get(), 0); };
  if (isTrue(yes))
    return Logical{Logic::Or, condition, no};
  if (isFalse(no))
    return Logical{Logic::And, condition, yes};
  if (isFalse(yes))
    return Logical{Logic::And, condition, no, /*isNegated=*/true};
  if (isTrue(no))
    return Logical{Logic::Or, condition, yes, /*isNegated=*/true};
  return std::nullopt;
}

void heterocpp::runBothSides(Operation *op, RewriterBase &rewriter) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
      for (Operation &inner : llvm::make_early_inc_range(region->front().without_terminator()))
        rewriter.moveOpBefore(&inner, branch);
}

static Value compare(OpBuilder &b, Location loc, arith::CmpIPredicate predicate, Value v) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(v.getType()));
  return arith::CmpIOp::create(b, loc, predicate, v, zero);
}
static Value constant(OpBuilder &b, Location loc, Type type, int64_t v) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, v));
}

Value heterocpp::buildFinding(OpBuilder &b, Location loc, Logic logic, Value truth, Type type) {
  if (logic == Logic::And)
    truth = arith::XOrIOp::create(b, loc, truth, constant(b, loc, b.getI1Type(), 1));
  return arith::OrIOp::create(b, loc, arith::ExtUIOp::create(b, loc, type, truth), constant(b, loc, type, 2));
}

Value heterocpp::buildJoined(OpBuilder &b, Location loc, Logic logic, Value old, Value found) {
  using P = arith::CmpIPredicate;
  Type type = old.getType();
  Value was = compare(b, loc, P::ne, old);
  Value decides = compare(b, loc, P::ne, arith::AndIOp::create(b, loc, found, constant(b, loc, type, 1)));
  Value no = constant(b, loc, b.getI1Type(), 0), yes = constant(b, loc, b.getI1Type(), 1);
  Value truth = logic == Logic::Or ? arith::SelectOp::create(b, loc, decides, yes, was)
                                   : arith::SelectOp::create(b, loc, decides, no, was);
  return arith::SelectOp::create(b, loc, compare(b, loc, P::ne, found),
                                 arith::ExtUIOp::create(b, loc, type, truth), old);
}

namespace {
/// extend(op(trunc(load), b)) → op(load, extend(b)): a truth value in memory is 0 or 1, and only such a one
/// is read by taking its last bit.
struct CombineTruth : OpRewritePattern<arith::ExtUIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtUIOp extend, PatternRewriter &rewriter) const override {
    Operation *op = extend.getIn().getDefiningOp();
    if (!op || !extend.getIn().getType().isInteger(1) || !isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
      return failure();
    auto getLoaded = [&](Value v) -> Value {
      auto bit = v.getDefiningOp<arith::TruncIOp>();
      return bit && bit.getIn().getType() == extend.getType() && bit.getIn().getDefiningOp<memref::LoadOp>()
                 ? bit.getIn()
                 : Value();
    };
    SmallVector<Value> operands;
    for (Value v : op->getOperands())
      operands.push_back(getLoaded(v));
    if (!operands[0] && !operands[1])
      return failure();
    for (unsigned i = 0; i < 2; ++i)
      if (!operands[i])
        operands[i] = arith::ExtUIOp::create(rewriter, extend.getLoc(), extend.getType(), op->getOperand(i));
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(operands);
    state.addTypes(extend.getType());
    rewriter.replaceOp(extend, rewriter.create(state));
    return success();
  }
};

/// *r = *r || x  →  *r = *r | x, where all iterations of a node share *r: each of them may find it unset.
struct CombineShared : OpRewritePattern<memref::StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(memref::StoreOp store, PatternRewriter &rewriter) const override {
    auto extend = store.getValue().getDefiningOp<arith::ExtUIOp>();
    auto node = store->getParentOfType<dfg::NodeOp>();
    Operation *op = extend ? extend.getIn().getDefiningOp() : nullptr;
    if (!isa_and_present<scf::IfOp, arith::SelectOp>(op) || !node || !node.getRank() ||
        !llvm::all_of(store.getIndices(), [](Value v) { return getConstantIntValue(v).has_value(); }))
      return failure();
    // What is stored, as it was loaded: the last bit of a bool, or whether a number is not zero.
    auto isOld = [&](Value v) {
      Operation *test = v.getDefiningOp();
      auto cmp = dyn_cast_if_present<arith::CmpIOp>(test);
      bool tests =
          isa_and_present<arith::TruncIOp>(test) ||
          (cmp && cmp.getPredicate() == arith::CmpIPredicate::ne && isConstantIntValue(cmp.getRhs(), 0));
      auto load = tests ? test->getOperand(0).getDefiningOp<memref::LoadOp>() : memref::LoadOp();
      return load && load.getMemRef() == store.getMemRef() &&
             llvm::equal(load.getIndices(), store.getIndices());
    };
    std::optional<Logical> logical = matchLogical(extend.getIn());
    if (!logical || logical->isNegated || isOld(logical->left->get()) == isOld(logical->right->get()))
      return failure();
    Value left = logical->left->get(), right = logical->right->get();
    runBothSides(op, rewriter);
    rewriter.setInsertionPoint(op);
    Value joined = logical->logic == Logic::Or
                       ? arith::OrIOp::create(rewriter, op->getLoc(), left, right).getResult()
                       : arith::AndIOp::create(rewriter, op->getLoc(), left, right).getResult();
    rewriter.replaceOp(op, joined);
    return success();
  }
};
} // namespace

void heterocpp::addTruthPatterns(RewritePatternSet &patterns) {
  patterns.add<CombineTruth, CombineShared>(patterns.getContext());
}
