// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Affine.h. Integers are taken as unbounded: an index computation that wraps around is an error of its
// own.
#include "tessera/transforms/check/Affine.h"

#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::check;
using presburger::IntegerPolyhedron;
using presburger::PresburgerSpace;

// Beyond so many ways the answer is "not decided", not a long wait.
static constexpr size_t maxCases = 64;
// Cases of cases multiply before anyone counts them: after so many steps no way is split any more.
static constexpr unsigned maxSteps = 2000;
// A state with more variables is not asked whether it is possible at all.
static constexpr unsigned maxPruned = 32;

class AffineReader::Step {
public:
  explicit Step(AffineReader &reader) : reader(reader) {
    if (reader.depth++ == 0)
      reader.steps = 0;
    ++reader.steps;
  }
  ~Step() { --reader.depth; }
  bool tooMany() const { return reader.steps > maxSteps; }

private:
  AffineReader &reader;
};

Linear &Linear::add(const Linear &other, int64_t factor) {
  constant += other.constant * factor;
  for (auto [variable, coefficient] : other.terms)
    if ((terms[variable] += coefficient * factor) == 0)
      terms.erase(variable);
  return *this;
}

// How a body's argument enters its node; none for an id and for arguments of other operations.
static std::pair<dfg::NodeOp, unsigned> getInput(Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  auto node = arg ? dyn_cast<dfg::NodeOp>(arg.getOwner()->getParentOp()) : dfg::NodeOp();
  if (!node || arg.getArgNumber() < node.getRank())
    return {};
  return {node, arg.getArgNumber() - node.getRank()};
}

Value AffineReader::outside(Value value) {
  auto [node, input] = getInput(value);
  return node && node.getPort(input).getMode() != dfg::PortMode::Each ? node.getInputs()[input] : value;
}

SmallVector<Case> AffineReader::free(Value value, const State &state, const Twine &why) {
  Case unknown = {Linear::of(variables.ofInstance(value)), state};
  unknown.state.blame(why);
  return {unknown};
}

SmallVector<Case> AffineReader::combine(Value lhs, Value rhs, const State &state,
                                        function_ref<void(Case &, const Linear &)> merge) {
  SmallVector<Case> result;
  for (Case &left : read(lhs, state))
    for (Case &right : read(rhs, left.state)) {
      Case both = {left.value, right.state};
      merge(both, right.value);
      result.push_back(std::move(both));
    }
  return result;
}

// max(a, b) is a where a >= b, and b where b > a.
SmallVector<Case> AffineReader::extremum(ArrayRef<Case> lhs, Value rhs, bool maximum) {
  SmallVector<Case> result;
  for (const Case &left : lhs)
    for (Case &right : read(rhs, left.state)) {
      Linear difference = maximum ? left.value.minus(right.value) : right.value.minus(left.value);
      Case a = {left.value, right.state}, b = right;
      a.state.atLeastZero(difference);
      b.state.atLeastZero(Linear(-1).minus(difference));
      result.push_back(std::move(a));
      result.push_back(std::move(b));
    }
  return result;
}

// q = floor(e / d) by d*q <= e < d*q + d; a division that rounds to zero differs where e is negative.
SmallVector<Case> AffineReader::divide(Value result, Value lhs, int64_t divisor, bool remainder,
                                       bool roundsToZero, const State &state) {
  SmallVector<Case> cases;
  for (Case &left : read(lhs, state))
    for (bool negative : {false, true}) {
      if (negative && !roundsToZero)
        continue;
      Case way = {Linear::of(variables.ofInstance(result, 1 + negative)), left.state};
      Linear rest = left.value.minus(way.value.times(divisor));
      if (roundsToZero)
        way.state.atLeastZero(negative ? Linear(-1).minus(left.value) : left.value);
      // Towards zero from below, the rest lies in (-d, 0].
      way.state.atLeastZero(negative ? rest.plus(divisor - 1) : rest);
      way.state.atLeastZero(negative ? rest.times(-1) : Linear(divisor - 1).minus(rest));
      if (remainder)
        way.value = rest;
      cases.push_back(std::move(way));
    }
  return cases;
}

// No instance is in a state whose constraints have no rational solution.
static bool isImpossible(const State &state) {
  std::map<unsigned, unsigned> columns;
  for (const Constraint &c : state.constraints)
    for (auto [variable, coefficient] : c.form.terms)
      columns.try_emplace(variable, columns.size());
  unsigned count = columns.size();
  if (count > maxPruned)
    return false;
  IntegerPolyhedron set(PresburgerSpace::getSetSpace(count));
  for (const Constraint &c : state.constraints) {
    SmallVector<int64_t> row(count + 1, 0);
    for (auto [variable, coefficient] : c.form.terms)
      row[columns[variable]] = coefficient;
    row.back() = c.form.constant;
    c.equality ? set.addEquality(row) : set.addInequality(row);
  }
  return presburger::Simplex(set).isEmpty();
}

// e / d and e % d by a value d: no linear form, but one for each quotient. The small quotients are what
// programs have that wrap around, (i + 1) % n; what is beyond them is not known.
SmallVector<Case> AffineReader::divideBy(Value result, Value lhs, Value divisor, bool remainder,
                                         bool roundsToZero, const State &state) {
  SmallVector<Case> cases;
  // Below zero, a number without a sign is another one.
  bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp>(result.getDefiningOp());
  auto add = [&](Case way) {
    if (!isImpossible(way.state))
      cases.push_back(std::move(way));
  };
  for (Case &left : read(lhs, state))
    for (Case &by : read(divisor, left.state)) {
      const Linear &e = left.value, &d = by.value;
      // d > 0 and q * d <= e < q * d + d; a division that rounds to zero mirrors this below zero.
      for (int64_t q = -2; q <= 2; ++q)
        for (bool negative : {false, true}) {
          if ((negative && (!roundsToZero || isUnsigned || q > 0)) || (!negative && roundsToZero && q < 0))
            continue;
          Case way = {Linear(q), by.state};
          Linear rest = e.minus(d.times(q));
          way.state.atLeastZero(d.plus(-1));
          way.state.atLeastZero(negative ? rest.times(-1) : rest);
          way.state.atLeastZero((negative ? rest : rest.times(-1)).plus(d).plus(-1));
          // Zero belongs to one of the two.
          if (negative)
            way.state.atLeastZero(Linear(-1).minus(e));
          if (remainder)
            way.value = rest;
          add(std::move(way));
        }
      auto beyond = [&](function_ref<void(State &)> where) {
        Case way =
            free(result, by.state, "an index divides by a value that is not a positive constant").front();
        where(way.state);
        add(std::move(way));
      };
      beyond([&](State &s) {
        s.atLeastZero(d.plus(-1));
        s.atLeastZero(e.minus(d.times(3)));
      });
      beyond([&](State &s) {
        s.atLeastZero(d.plus(-1));
        if (isUnsigned)
          s.atLeastZero(Linear(-1).minus(e));
        else
          s.atLeastZero(e.times(-1).minus(d.times(roundsToZero ? 3 : 2)).plus(roundsToZero ? 0 : -1));
      });
      beyond([&](State &s) { s.atLeastZero(d.times(-1)); });
    }
  if (cases.size() > maxCases)
    return free(result, state, "an index has too many cases");
  return cases;
}

SmallVector<Case> AffineReader::readMap(Value result, AffineExpr expr, unsigned numDims, ValueRange operands,
                                        const State &state, unsigned &part) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {{Linear(constant.getValue()), state}};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return read(operands[dim.getPosition()], state);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return read(operands[numDims + symbol.getPosition()], state);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  SmallVector<Case> cases;
  for (Case &left : readMap(result, binary.getLHS(), numDims, operands, state, part)) {
    if (expr.getKind() == AffineExprKind::Add) {
      for (Case &right : readMap(result, binary.getRHS(), numDims, operands, left.state, part))
        cases.push_back({left.value.plus(right.value), right.state});
    } else if (!factor || (expr.getKind() != AffineExprKind::Mul && factor.getValue() <= 0)) {
      return free(result, state, "an affine map divides or multiplies by a symbol");
    } else if (expr.getKind() == AffineExprKind::Mul) {
      cases.push_back({left.value.times(factor.getValue()), left.state});
    } else {
      int64_t divisor = factor.getValue();
      bool ceil = expr.getKind() == AffineExprKind::CeilDiv;
      Case way = {Linear::of(variables.ofInstance(result, 16 + part++)), left.state};
      Linear rest = left.value.plus(ceil ? divisor - 1 : 0).minus(way.value.times(divisor));
      way.state.atLeastZero(rest);
      way.state.atLeastZero(Linear(divisor - 1).minus(rest));
      if (expr.getKind() == AffineExprKind::Mod)
        way.value = rest;
      cases.push_back(std::move(way));
    }
  }
  return cases;
}

SmallVector<Case> AffineReader::readExtent(Value shaped, int64_t dim, const State &state) {
  // Through node boundaries, views that keep the shape, and memory that nodes hand on.
  for (bool moved = true; moved;) {
    moved = false;
    auto type = cast<ShapedType>(shaped.getType());
    if (type.hasRank() && !type.isDynamicDim(dim))
      return {{Linear(type.getDimSize(dim)), state}};
    auto [node, input] = getInput(shaped);
    if (node) {
      dim += node.getPort(input).getMode() == dfg::PortMode::Each ? node.getRank() : 0;
      shaped = node.getInputs()[input];
      moved = true;
    } else if (auto cast = shaped.getDefiningOp<memref::CastOp>()) {
      shaped = cast.getSource();
      moved = true;
    } else if (auto cast = shaped.getDefiningOp<tensor::CastOp>()) {
      shaped = cast.getSource();
      moved = true;
    } else if (auto maker = shaped.getDefiningOp<dfg::NodeOp>()) {
      unsigned result = mlir::cast<OpResult>(shaped).getResultNumber();
      if (auto port = maker.getPortOfResult(result)) {
        shaped = maker.getInputs()[*port];
        moved = true;
      } else if (maker.getYield(result).getMode() == dfg::ResultMode::Gather &&
                 dim < int64_t(maker.getRank())) {
        return read(maker.getGrid()[dim], state);
      }
    } else if (auto buffer = shaped.getDefiningOp<dfg::BufferOp>()) {
      return read(
          buffer.getExtents()[mlir::cast<MemRefType>(buffer.getMemory().getType()).getDynamicDimIndex(dim)],
          state);
    }
  }
  if (isa_and_present<memref::SubViewOp>(shaped.getDefiningOp()))
    return free(shaped, state, "the extent of a view is not followed");
  Case symbol = {Linear::of(variables.ofGraph(shaped, 1 + dim)), state};
  symbol.state.atLeastZero(symbol.value);
  return {symbol};
}

SmallVector<Case> AffineReader::read(Value value, const State &state) {
  Step step(*this);
  if (auto constant = getConstantIntValue(value))
    return {{Linear(*constant), state}};
  if (step.tooMany())
    return free(value, state, "an index has too many cases");
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto [node, input] = getInput(value);
    if (node && node.getPort(input).getMode() == dfg::PortMode::Whole)
      return read(node.getInputs()[input], state);
    if (node)
      return free(value, state, "an index comes from an 'each' port");
    Operation *owner = arg.getOwner()->getParentOp();
    if (isa<dfg::NodeOp>(owner))
      return {{Linear::of(variables.ofInstance(value)), state}};
    if (isa<dfg::GraphOp>(owner))
      return {{Linear::of(variables.ofGraph(value, 0)), state}};
    if (auto loop = dyn_cast<scf::ForOp>(owner); loop && loop.getInductionVar() == value)
      return {{Linear::of(variables.ofInstance(value)), state}};
    return free(value, state, "an index is carried around a loop");
  }

  Operation *op = value.getDefiningOp();
  auto plus = [](Case &c, const Linear &r) { c.value.add(r); };
  auto minus = [](Case &c, const Linear &r) { c.value.add(r, -1); };
  if (isa<arith::AddIOp>(op))
    return combine(op->getOperand(0), op->getOperand(1), state, plus);
  if (isa<arith::SubIOp>(op))
    return combine(op->getOperand(0), op->getOperand(1), state, minus);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return read(op->getOperand(0), state);
  if (isa<arith::MulIOp>(op)) {
    bool affine = true;
    SmallVector<Case> product =
        combine(op->getOperand(0), op->getOperand(1), state, [&](Case &c, const Linear &r) {
          affine &= c.value.isConstant() || r.isConstant();
          c.value = r.isConstant() ? c.value.times(r.constant) : r.times(c.value.constant);
        });
    return affine ? product : free(value, state, "an index multiplies two values that are not constant");
  }
  if (isa<arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp>(op)) {
    SmallVector<Case> cases =
        extremum(read(op->getOperand(0), state), op->getOperand(1), isa<arith::MaxSIOp, arith::MaxUIOp>(op));
    return cases.size() <= maxCases ? cases : free(value, state, "an index has too many cases");
  }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
    auto divisor = getConstantIntValue(op->getOperand(1));
    bool roundsToZero = !isa<arith::FloorDivSIOp>(op), remainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
    if (!divisor)
      return divideBy(value, op->getOperand(0), op->getOperand(1), remainder, roundsToZero, state);
    if (*divisor <= 0)
      return free(value, state, "an index divides by a value that is not a positive constant");
    return divide(value, op->getOperand(0), *divisor, isa<arith::RemSIOp, arith::RemUIOp>(op),
                  isa<arith::DivSIOp, arith::RemSIOp>(op), state);
  }
  if (auto shift = dyn_cast<arith::ShLIOp>(op))
    if (auto by = getConstantIntValue(shift.getRhs()); by && *by >= 0 && *by < 62) {
      SmallVector<Case> cases = read(shift.getLhs(), state);
      for (Case &c : cases)
        c.value = c.value.times(int64_t(1) << *by);
      return cases;
    }
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    SmallVector<Case> cases;
    for (bool truth : {true, false})
      for (State &way : assume(select.getCondition(), truth, state))
        llvm::append_range(cases, read(truth ? select.getTrueValue() : select.getFalseValue(), way));
    return cases.size() <= maxCases ? cases : free(value, state, "an index has too many cases");
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    unsigned part = 0;
    return readMap(value, apply.getAffineMap().getResult(0), apply.getAffineMap().getNumDims(),
                   apply.getMapOperands(), state, part);
  }
  if (auto extent = dyn_cast<dfg::ExtentOp>(op))
    return read(dfg::getEnclosingLeaf(op).getGrid()[extent.getDim()], state);
  if (isa<memref::DimOp, tensor::DimOp>(op))
    if (auto dim = getConstantIntValue(op->getOperand(1)))
      return readExtent(op->getOperand(0), *dim, state);

  // A value of the graph is the same for all instances, whatever it is.
  if (isa_and_present<dfg::GraphOp>(op->getParentOp())) {
    Case symbol = {Linear::of(variables.ofGraph(value, 0)), state};
    if (!isa<dfg::NodeOp, dfg::CallOp, dfg::StateOp>(op))
      symbol.state.blame("an extent or operand is computed by '" + op->getName().getStringRef() + "'");
    return {symbol};
  }
  if (isa<memref::LoadOp, tensor::ExtractOp>(op))
    return free(value, state, "an index is read from memory or a tensor");
  return free(value, state, "an index is computed by '" + op->getName().getStringRef() + "'");
}

SmallVector<State> AffineReader::assume(Value condition, bool truth, const State &state) {
  if (auto constant = getConstantIntValue(condition))
    return bool(*constant & 1) == truth ? SmallVector<State>{state} : SmallVector<State>{};
  Step step(*this);
  if (step.tooMany()) {
    State way = state;
    way.blame("there are too many ways to reach an access");
    return {way};
  }
  condition = outside(condition);
  Operation *op = condition.getDefiningOp();
  if (isa_and_present<arith::AndIOp, arith::OrIOp>(op)) {
    SmallVector<State> ways;
    // Both must hold, or one of them must fail.
    if (isa<arith::AndIOp>(op) == truth) {
      for (State &first : assume(op->getOperand(0), truth, state))
        llvm::append_range(ways, assume(op->getOperand(1), truth, first));
      return ways;
    }
    ways = assume(op->getOperand(0), truth, state);
    for (State &first : assume(op->getOperand(0), !truth, state))
      llvm::append_range(ways, assume(op->getOperand(1), truth, first));
    return ways;
  }
  if (isa_and_present<arith::XOrIOp>(op))
    if (auto flip = getConstantIntValue(op->getOperand(1)))
      return assume(op->getOperand(0), truth != bool(*flip & 1), state);
  // A flag of the graph is one variable for all instances.
  if (auto arg = dyn_cast<BlockArgument>(condition);
      arg && isa<dfg::GraphOp>(arg.getOwner()->getParentOp())) {
    State way = state;
    way.isZero(Linear::of(variables.ofGraph(condition, 0)).plus(truth ? -1 : 0));
    return {way};
  }
  auto compare = dyn_cast_if_present<arith::CmpIOp>(op);
  if (!compare) {
    State way = state;
    way.blame("a branch is taken on a condition that is not affine");
    return {way};
  }
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = truth ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
  SmallVector<State> ways;
  for (Case &c : combine(compare.getLhs(), compare.getRhs(), state,
                         [](Case &l, const Linear &r) { l.value.add(r, -1); })) {
    State way = c.state;
    switch (predicate) {
    case Predicate::eq:
      way.isZero(c.value);
      break;
    case Predicate::sge:
    case Predicate::uge:
      way.atLeastZero(c.value);
      break;
    case Predicate::sgt:
    case Predicate::ugt:
      way.atLeastZero(c.value.plus(-1));
      break;
    case Predicate::sle:
    case Predicate::ule:
      way.atLeastZero(c.value.times(-1));
      break;
    case Predicate::slt:
    case Predicate::ult:
      way.atLeastZero(Linear(-1).minus(c.value));
      break;
    case Predicate::ne:
      ways.push_back(way);
      ways.back().atLeastZero(c.value.plus(-1));
      way.atLeastZero(Linear(-1).minus(c.value));
      break;
    }
    ways.push_back(std::move(way));
  }
  return ways;
}

// From a way on which `around` is reached, the ways on which its part that holds `from` is.
SmallVector<State> AffineReader::enter(Operation *around, Operation *from, const State &state) {
  if (auto node = dyn_cast<dfg::NodeOp>(around)) {
    SmallVector<State> ways = {state};
    for (auto [id, extent] : llvm::zip(node.getIds(), node.getGrid())) {
      SmallVector<State> next;
      for (State &way : ways)
        for (Case &c : read(extent, way)) {
          unsigned variable = variables.ofInstance(id);
          c.state.atLeastZero(Linear::of(variable));
          c.state.atLeastZero(c.value.minus(Linear::of(variable)).plus(-1));
          c.state.grid.push_back({variable, c.value});
          next.push_back(std::move(c.state));
        }
      ways = std::move(next);
    }
    return ways;
  }
  if (auto branch = dyn_cast<scf::IfOp>(around))
    return assume(branch.getCondition(), branch.getThenRegion().isAncestor(from->getParentRegion()), state);
  if (auto loop = dyn_cast<scf::ForOp>(around)) {
    SmallVector<State> ways;
    auto step = getConstantIntValue(loop.getStep());
    for (Case &lower : read(loop.getLowerBound(), state))
      for (Case &upper : read(loop.getUpperBound(), lower.state)) {
        State way = upper.state;
        Linear counter = Linear::of(variables.ofInstance(loop.getInductionVar()));
        way.atLeastZero(counter.minus(lower.value));
        way.atLeastZero(upper.value.minus(counter).plus(-1));
        if (!step || *step <= 0)
          way.blame("a loop has a step that is not a positive constant");
        else if (*step > 1)
          way.isZero(counter.minus(lower.value)
                         .add(Linear::of(variables.ofInstance(loop.getInductionVar(), 1)), -*step));
        way.loops[loop] = {lower.value, upper.value, step.value_or(0)};
        ways.push_back(std::move(way));
      }
    return ways;
  }
  State way = state;
  way.blame("an access stands in '" + around->getName().getStringRef() + "', whose runs are not followed");
  return {way};
}

SmallVector<State> AffineReader::reach(Operation *op) {
  Step step(*this);
  Operation *around = op->getParentOp();
  if (isa<dfg::GraphOp>(around))
    return {State()};
  SmallVector<State> ways;
  for (State &way : reach(around))
    llvm::append_range(ways, enter(around, op, way));
  if (ways.size() <= maxCases)
    return ways;
  State all;
  all.blame("there are too many ways to reach an access");
  return {all};
}
