// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of variables: what an iteration does to one that all iterations share, on its way through
// branches and loops.
#include "tessera/frontends/heterocpp/Reductions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace tessera;
using namespace tessera::heterocpp;
using dfg::ReductionAttr;
using dfg::ReductionKind;

namespace {
/// The way of an accumulator through one iteration: combinations of one kind, in branches and loops.
class Chain {
public:
  ReductionAttr kind;
  Logic logic = Logic::None; ///< of a number

  /// Whether `v` is `start` combined with other things, by one kind, and nothing else looks at it on the way.
  bool isReduction(Value v, Value start) {
    return follow(v, start) && llvm::all_of(values, [&](Value on) {
             return llvm::all_of(on.getUses(), [&](OpOperand &use) { return taken.contains(&use); });
           });
  }

  /// Computes both sides of '||' and '&&' on the way, and combines what they give.
  void rewrite(Value &last) {
    for (auto [v, step, other, isNegated] : steps) {
      // Of a number: extend(join(test(number), other)).
      bool isNumber = logic != Logic::None;
      Operation *made = v.getDefiningOp(), *join = isNumber ? made->getOperand(0).getDefiningOp() : made;
      Operation *test = isNumber ? step->getOwner() : nullptr;
      IRRewriter b(made);
      runBothSides(join, b);
      Value one = other->get();
      if (isNegated)
        one = arith::XOrIOp::create(b, v.getLoc(), one,
                                    arith::ConstantOp::create(b, v.getLoc(), b.getBoolAttr(true)));
      if (isNumber)
        one = buildFinding(b, v.getLoc(), logic, one, v.getType());
      Value combined = dfg::buildCombine(b, v.getLoc(), *kind.getKind(), step->get(), one);
      v.replaceAllUsesWith(combined);
      if (last == v)
        last = combined;
      made->erase();
      if (isNumber) {
        join->erase();
        test->erase();
      }
    }
  }

private:
  // first || x, whose condition is the accumulator itself.
  bool followLogical(Value v, Value start) {
    auto extend = v.getDefiningOp<arith::ExtUIOp>();
    std::optional<Logical> logical = matchLogical(extend ? extend.getIn() : v);
    if (!logical || (extend && !extend.getIn().hasOneUse()))
      return false;
    Logic wanted = extend ? logical->logic : Logic::None;
    ReductionAttr found = getNamed(
        !extend && logical->logic == Logic::And ? ReductionKind::AndI : ReductionKind::OrI, v.getContext());
    if (kind && (kind != found || logic != wanted))
      return false;
    for (auto [tested, rest] :
         {std::pair(logical->left, logical->right), std::pair(logical->right, logical->left)}) {
      bool isNegated = logical->isNegated && rest == logical->left;
      if (logical->isNegated != isNegated)
        continue;
      OpOperand *step = tested;
      if (extend) {
        Operation *test = tested->get().getDefiningOp();
        if (!test || !test->getNumOperands() || test->getOperand(0).getType() != v.getType() ||
            !isTestOf(tested->get(), test->getOperand(0)))
          continue;
        step = &test->getOpOperand(0);
      }
      Chain before = *this;
      kind = found;
      logic = wanted;
      if (follow(step->get(), start)) {
        taken.insert(step);
        steps.push_back({v, step, rest, isNegated});
        return true;
      }
      *this = before;
    }
    return false;
  }

  bool follow(Value v, Value start) {
    values.push_back(v);
    if (v == start)
      return true;
    Operation *op = v.getDefiningOp();
    if (!op)
      return false;
    if (followLogical(v, start))
      return true;
    unsigned at = cast<OpResult>(v).getResultNumber();
    auto through = [&](Operation *terminator, Value from) {
      taken.insert(&terminator->getOpOperand(at));
      return follow(terminator->getOperand(at), from);
    };
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (branch.getElseRegion().empty())
        return false;
      OpOperand &yes = branch.thenYield()->getOpOperand(at), &no = branch.elseYield()->getOpOperand(at);
      if (isMinimum(branch.getCondition(), yes, no, start))
        return true;
      return through(branch.thenYield(), start) && through(branch.elseYield(), start);
    }
    // A choice by something else: a combination, or none.
    if (auto choice = dyn_cast<arith::SelectOp>(op)) {
      OpOperand &yes = choice.getTrueValueMutable(), &no = choice.getFalseValueMutable();
      if (isMinimum(choice.getCondition(), yes, no, start))
        return true;
      taken.insert(&yes);
      taken.insert(&no);
      return follow(yes.get(), start) && follow(no.get(), start);
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      taken.insert(&loop.getInitArgsMutable()[at]);
      return follow(loop.getInitArgs()[at], start) &&
             through(loop.getBody()->getTerminator(), loop.getRegionIterArg(at));
    }
    for (OpOperand &operand : op->getOpOperands()) {
      ReductionAttr found;
      Value other;
      // What is taken away is added with another sign.
      if (isa<arith::SubFOp, arith::SubIOp>(op) && operand.getOperandNumber() == 0)
        found =
            getNamed(isa<arith::SubFOp>(op) ? ReductionKind::AddF : ReductionKind::AddI, op->getContext());
      else
        found = getCombination(op, operand.get(), other);
      if (!found || (kind && kind != found) || logic != Logic::None)
        continue;
      Chain before = *this;
      kind = found;
      if (follow(operand.get(), start)) {
        taken.insert(&operand);
        return true;
      }
      *this = before;
    }
    return false;
  }

  // condition ? yes : no as a minimum or maximum of the accumulator and something else.
  bool isMinimum(Value condition, OpOperand &yes, OpOperand &no, Value start) {
    Operation *test = condition.getDefiningOp();
    if (!test)
      return false;
    for (OpOperand &compared : test->getOpOperands()) {
      Value other;
      ReductionAttr found = getChosen(condition, yes.get(), no.get(), compared.get(), other);
      if (!found || (kind && kind != found))
        continue;
      Chain before = *this;
      kind = found;
      if (follow(compared.get(), start)) {
        taken.insert(&compared);
        taken.insert(yes.get() == compared.get() ? &yes : &no);
        return true;
      }
      *this = before;
    }
    return false;
  }

  /// One combination of truths: its result, the accumulator in it, and the other side.
  struct Step {
    Value v;
    OpOperand *step, *other;
    bool isNegated; ///< the other side
  };
  SmallVector<Step> steps;
  DenseSet<OpOperand *> taken;
  SmallVector<Value> values;
};
} // namespace

ScalarReduction heterocpp::findScalarReduction(Value &last, Value first) {
  Chain chain;
  if (!chain.isReduction(last, first))
    return {};
  chain.rewrite(last);
  return {chain.kind, chain.logic};
}
