// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches and loops over slots. A region is emitted once, with all slots at hand; what it has not changed is
// taken out afterwards, so that only real loop-carried values are left.
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace tessera;
using namespace tessera::heterocpp;

/// Both sides of a branch run and one result is selected when they have at most so many operations.
static constexpr unsigned maxSelected = 16;

static Block *openBlock(Region &region) {
  if (region.empty())
    region.emplaceBlock();
  Block *block = &region.front();
  if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
    block->back().erase();
  return block;
}

static bool isCheapToSpeculate(Block &block, unsigned &count) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (op.getNumRegions() || !isMemoryEffectFree(&op) || !isSpeculatable(&op) ||
        op.getName().getDialectNamespace() == "math" || ++count > maxSelected)
      return false;
  }
  return true;
}

Value Translator::emitIf(Value condition, function_ref<Value()> yes, function_ref<Value()> no) {
  // A condition that is known leaves one side.
  if (APInt known; matchPattern(condition, m_ConstantInt(&known)))
    return known.isZero() ? no() : yes();
  Location at = current;
  std::vector<Value> before = slots;
  auto branch =
      scf::IfOp::create(b, at, TypeRange{}, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  Value results[2];
  std::vector<Value> after[2];
  Region *regions[2] = {&branch.getThenRegion(), &branch.getElseRegion()};
  for (unsigned side : {0, 1}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(openBlock(*regions[side]));
    slots = before;
    results[side] = side == 0 ? yes() : no();
    slots.resize(before.size());
    after[side] = slots;
  }
  slots = before;
  SmallVector<unsigned> changed;
  SmallVector<Value> yields[2];
  SmallVector<Type> types;
  for (unsigned i = 0; i < before.size(); ++i)
    if (after[0][i] != after[1][i]) {
      changed.push_back(i);
      yields[0].push_back(after[0][i]);
      yields[1].push_back(after[1][i]);
      types.push_back(after[0][i].getType());
    }
  if (results[0]) {
    yields[0].push_back(results[0]);
    yields[1].push_back(results[1]);
    types.push_back(results[0].getType());
  }
  auto joined = [&](ValueRange values) -> Value {
    for (auto [k, slot] : llvm::enumerate(changed))
      slots[slot] = values[k];
    return results[0] ? values.back() : Value();
  };
  unsigned count = 0;
  if (isCheapToSpeculate(regions[0]->front(), count) && isCheapToSpeculate(regions[1]->front(), count)) {
    for (Region *region : regions)
      branch->getBlock()->getOperations().splice(branch->getIterator(), region->front().getOperations());
    branch.erase();
    SmallVector<Value> selected;
    for (auto [l, r] : llvm::zip(yields[0], yields[1]))
      selected.push_back(l == r ? l : arith::SelectOp::create(b, at, condition, l, r).getResult());
    return joined(selected);
  }
  auto made = scf::IfOp::create(b, at, types, condition, /*addThenBlock=*/false, /*addElseBlock=*/false);
  made.getThenRegion().takeBody(*regions[0]);
  if (!types.empty() || !regions[1]->front().empty())
    made.getElseRegion().takeBody(*regions[1]);
  branch.erase();
  OpBuilder::InsertionGuard guard(b);
  for (unsigned side : {0, 1}) {
    Region &region = side == 0 ? made.getThenRegion() : made.getElseRegion();
    if (region.empty())
      continue;
    b.setInsertionPointToEnd(&region.front());
    scf::YieldOp::create(b, at, yields[side]);
  }
  return joined(made.getResults());
}

void Translator::emitUnless(Value flag, function_ref<void()> rest) {
  if (!flag) {
    rest();
    return;
  }
  emitIf(
      flag, []() { return Value(); },
      [&] {
        rest();
        return Value();
      });
}

void Translator::setFlag(unsigned slot) { slots[slot] = constant(b.getI1Type(), 1); }

// scf.for with all slots → scf.for with those that the body changes
void Translator::emitCounted(Value lower, Value upper, Value step, function_ref<void(Value)> body) {
  Location at = current;
  std::vector<Value> before = slots;
  unsigned count = before.size();
  auto loop = scf::ForOp::create(b, at, lower, upper, step, ValueRange(before));
  Block *block = openBlock(loop.getRegion());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    slots.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    body(loop.getInductionVar());
    slots.resize(count);
  }
  std::vector<Value> after = slots;
  SmallVector<unsigned> kept;
  SmallVector<Value> inits, yields;
  for (unsigned i = 0; i < count; ++i)
    if (after[i] != loop.getRegionIterArg(i)) {
      kept.push_back(i);
      inits.push_back(before[i]);
      yields.push_back(after[i]);
    }
  auto made = scf::ForOp::create(b, at, lower, upper, step, inits);
  Block *to = openBlock(made.getRegion());
  // Yields may be arguments themselves, so they are replaced with everything else.
  b.setInsertionPointToEnd(block);
  auto yield = scf::YieldOp::create(b, at, yields);
  loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());
  for (unsigned i = 0, k = 0; i < count; ++i) {
    bool keep = k < kept.size() && kept[k] == i;
    loop.getRegionIterArg(i).replaceAllUsesWith(keep ? Value(made.getRegionIterArg(k)) : before[i]);
    k += keep;
  }
  to->getOperations().splice(to->end(), block->getOperations());
  (void)yield;
  slots = before;
  for (auto [k, i] : llvm::enumerate(kept))
    slots[i] = made.getResult(k);
  loop.erase();
  b.setInsertionPointAfter(made);
}

// The same for scf.while, whose condition may change slots, too.
void Translator::emitWhile(function_ref<Value()> condition, function_ref<void()> body) {
  Location at = current;
  std::vector<Value> before = slots;
  unsigned count = before.size();
  SmallVector<Type> types;
  for (Value v : before)
    types.push_back(v.getType());
  SmallVector<Location> locs(count, at);
  auto loop = scf::WhileOp::create(b, at, types, ValueRange(before));
  Block *first = b.createBlock(&loop.getBefore(), {}, types, locs);
  Value test;
  slots.assign(first->getArguments().begin(), first->getArguments().end());
  test = condition();
  slots.resize(count);
  std::vector<Value> passed = slots;
  Block *second = b.createBlock(&loop.getAfter(), {}, types, locs);
  slots.assign(second->getArguments().begin(), second->getArguments().end());
  body();
  slots.resize(count);
  std::vector<Value> after = slots;

  SmallVector<unsigned> kept;
  SmallVector<Value> inits, conditions, yields;
  SmallVector<Type> keptTypes;
  for (unsigned i = 0; i < count; ++i)
    if (passed[i] != first->getArgument(i) || after[i] != second->getArgument(i)) {
      kept.push_back(i);
      inits.push_back(before[i]);
      conditions.push_back(passed[i]);
      yields.push_back(after[i]);
      keptTypes.push_back(types[i]);
    }
  SmallVector<Location> keptLocs(kept.size(), at);
  b.setInsertionPointToEnd(first);
  scf::ConditionOp::create(b, at, test, conditions);
  b.setInsertionPointToEnd(second);
  scf::YieldOp::create(b, at, yields);
  b.setInsertionPoint(loop);
  auto made = scf::WhileOp::create(b, at, keptTypes, inits);
  auto move = [&](Block *from, Region &to) {
    Block *block = b.createBlock(&to, {}, keptTypes, keptLocs);
    for (unsigned i = 0, k = 0; i < count; ++i) {
      bool keep = k < kept.size() && kept[k] == i;
      from->getArgument(i).replaceAllUsesWith(keep ? Value(block->getArgument(k)) : before[i]);
      k += keep;
    }
    block->getOperations().splice(block->end(), from->getOperations());
  };
  move(first, made.getBefore());
  move(second, made.getAfter());
  slots = before;
  for (auto [k, i] : llvm::enumerate(kept))
    slots[i] = made.getResult(k);
  loop.erase();
  b.setInsertionPointAfter(made);
}

Value Translator::emitJumped(const clang::Stmt *stmt) {
  Jumps jumps = findJumps(stmt);
  Value flag;
  auto join = [&](std::optional<unsigned> slot) {
    if (!slot)
      return;
    flag = flag ? arith::OrIOp::create(b, current, flag, slots[*slot]).getResult() : slots[*slot];
  };
  if (jumps.returns)
    join(frames.back().returned);
  if (jumps.breaks && !loops.empty())
    join(loops.back().broken);
  if (jumps.continues)
    join(getContinued());
  return flag;
}

std::optional<unsigned> Translator::getContinued() const {
  for (const Loop &loop : llvm::reverse(loops))
    if (!loop.isSwitch)
      return loop.continued;
  return frames.back().returned;
}

//===----------------------------------------------------------------------===//
// What statements do, by their text
//===----------------------------------------------------------------------===//

static void addJumps(const clang::Stmt *stmt, bool inLoop, bool inSwitch, Jumps &jumps) {
  if (!stmt || isa<clang::LambdaExpr>(stmt))
    return;
  if (isa<clang::ReturnStmt>(stmt))
    jumps.returns = true;
  if (isa<clang::BreakStmt>(stmt) && !inLoop && !inSwitch)
    jumps.breaks = true;
  if (isa<clang::ContinueStmt>(stmt) && !inLoop)
    jumps.continues = true;
  inLoop |= isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(stmt);
  inSwitch |= isa<clang::SwitchStmt>(stmt);
  for (const clang::Stmt *child : stmt->children())
    addJumps(child, inLoop, inSwitch, jumps);
}

Jumps heterocpp::findJumps(const clang::Stmt *stmt) {
  Jumps jumps;
  addJumps(stmt, false, false, jumps);
  return jumps;
}

void heterocpp::findChanged(const clang::Stmt *stmt, std::set<const clang::ValueDecl *> &changed) {
  if (!stmt)
    return;
  // A name that is not read where it stands may be changed there.
  if (const auto *cast = dyn_cast<clang::ImplicitCastExpr>(stmt);
      cast && (cast->getCastKind() == clang::CK_LValueToRValue ||
               cast->getCastKind() == clang::CK_ArrayToPointerDecay)) {
    const clang::Expr *inner = cast->getSubExpr()->IgnoreParens();
    while (const auto *member = dyn_cast<clang::MemberExpr>(inner)) {
      if (member->isArrow())
        break;
      inner = member->getBase()->IgnoreParens();
    }
    if (isa<clang::DeclRefExpr>(inner) && cast->getCastKind() == clang::CK_LValueToRValue)
      return;
  }
  if (const auto *ref = dyn_cast<clang::DeclRefExpr>(stmt))
    changed.insert(ref->getDecl());
  // The memory behind a name changes where it is assigned through a subscript or a dereference.
  auto mark = [&](const clang::Expr *target) {
    target = target->IgnoreParenCasts();
    while (true) {
      if (const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(target))
        target = subscript->getBase()->IgnoreParenCasts();
      else if (const auto *member = dyn_cast<clang::MemberExpr>(target))
        target = member->getBase()->IgnoreParenCasts();
      else if (const auto *unary = dyn_cast<clang::UnaryOperator>(target))
        target = unary->getSubExpr()->IgnoreParenCasts();
      else if (const auto *sum = dyn_cast<clang::BinaryOperator>(target))
        target = sum->getLHS()->IgnoreParenCasts();
      else
        break;
    }
    if (const auto *ref = dyn_cast<clang::DeclRefExpr>(target))
      changed.insert(ref->getDecl());
  };
  if (const auto *binary = dyn_cast<clang::BinaryOperator>(stmt); binary && binary->isAssignmentOp())
    mark(binary->getLHS());
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(stmt); unary && unary->isIncrementDecrementOp())
    mark(unary->getSubExpr());
  if (const auto *call = dyn_cast<clang::CallExpr>(stmt))
    for (const clang::Expr *arg : call->arguments())
      if (arg->getType()->isPointerType() || arg->isLValue())
        mark(arg);
  for (const clang::Stmt *child : stmt->children())
    findChanged(child, changed);
}
