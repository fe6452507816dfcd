// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements. What a jump may skip stands in a branch that asks its flag.
#include "tessera/frontends/heterocpp/Crash.h"
#include "tessera/frontends/heterocpp/Markers.h"
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/IR/Matchers.h"
#include "clang/AST/StmtOpenMP.h"

using namespace tessera;
using namespace tessera::heterocpp;

Location Translator::getLoc(clang::SourceLocation at) {
  at = getUserLoc(at);
  setCrashPlace(at);
  const clang::SourceManager &sources = ast.getSourceManager();
  clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(at));
  if (place.isInvalid())
    return UnknownLoc::get(b.getContext());
  return FileLineColLoc::get(b.getContext(), place.getFilename(), place.getLine(), place.getColumn());
}

clang::SourceLocation Translator::getUserLoc(clang::SourceLocation at) const {
  for (const Frame &frame : llvm::reverse(frames))
    if (frame.calledAt.isValid() && ast.getSourceManager().isInSystemHeader(at))
      at = frame.calledAt;
  return at;
}

void Translator::unsupported(clang::SourceLocation at, const Twine &what, const Twine &remedy) {
  failed = true;
  at = getUserLoc(at);
  diag.emitError(at, what + " is not supported in a task or parallel loop");
  diag.note(at, remedy);
}

void Translator::emitStmts(ArrayRef<const clang::Stmt *> stmts) {
  for (size_t i = 0; i < stmts.size(); ++i) {
    emitStmt(stmts[i]);
    Value flag = emitJumped(stmts[i]);
    if (!flag)
      continue;
    APInt known;
    if (matchPattern(flag, m_ConstantInt(&known))) {
      if (!known.isZero())
        return;
      continue;
    }
    ArrayRef<const clang::Stmt *> rest = stmts.drop_front(i + 1);
    if (!rest.empty())
      emitUnless(flag, [&] { emitStmts(rest); });
    return;
  }
}

static bool isEmpty(const clang::CXXDestructorDecl *destructor) {
  const auto *body = dyn_cast_or_null<clang::CompoundStmt>(destructor->getBody());
  return body && body->body_empty();
}

void Translator::emitDecl(const clang::Decl *decl) {
  const auto *var = dyn_cast<clang::VarDecl>(decl);
  if (!var)
    return;
  if (var->isStaticLocal() && !var->getType().isConstQualified() && !var->isConstexpr()) {
    unsupported(var->getLocation(), "a static variable", "list the memory as an object of the task");
    return;
  }
  if (var->isConstexpr() && !var->getType()->isReferenceType() && isScalar(var->getType()))
    return; // its value stands where it is used
  if (const auto *record = var->getType()->getAsCXXRecordDecl())
    if (const clang::CXXDestructorDecl *destructor = record->getDestructor();
        destructor && !record->hasTrivialDestructor() && !isEmpty(destructor)) {
      unsupported(var->getLocation(),
                  "an object of the class '" + record->getNameAsString() + "' with a destructor",
                  "call a function at the end of the block");
      diag.note(destructor->getLocation(), "the destructor is here");
    }
  Storage *storage = declare(var);
  if (var->getInit())
    initialize(placeOf(storage), var->getInit());
  // What get<I>() returns for a binding has a name of its own.
  if (const auto *pack = dyn_cast<clang::DecompositionDecl>(decl))
    for (const clang::BindingDecl *binding : pack->bindings())
      if (const clang::VarDecl *holding = binding->getHoldingVar())
        emitDecl(holding);
}

void Translator::emitStmt(const clang::Stmt *stmt) {
  if (!stmt)
    return;
  Location before = current;
  current = getLoc(stmt->getBeginLoc());
  if (const auto *compound = dyn_cast<clang::CompoundStmt>(stmt)) {
    SmallVector<const clang::Stmt *> body(compound->body_begin(), compound->body_end());
    emitStmts(body);
  } else if (const auto *decls = dyn_cast<clang::DeclStmt>(stmt)) {
    MarkerKind kind;
    if (!findMarker(stmt, kind) || kind == MarkerKind::Scratch || kind == MarkerKind::Malloc)
      for (const clang::Decl *decl : decls->decls())
        emitDecl(decl);
  } else if (const auto *expr = dyn_cast<clang::Expr>(stmt)) {
    emit(expr);
  } else if (const auto *branch = dyn_cast<clang::IfStmt>(stmt)) {
    if (branch->isConsteval()) {
      // Graphs are computed when the program runs.
      emitStmt(branch->isNegatedConsteval() ? branch->getThen() : branch->getElse());
    } else {
      emitStmt(branch->getInit());
      if (const clang::VarDecl *var = branch->getConditionVariable())
        initialize(placeOf(declare(var)), var->getInit());
      auto side = [&](const clang::Stmt *body) {
        return [this, body]() {
          emitStmt(body);
          return Value();
        };
      };
      if (std::optional<const clang::Stmt *> taken =
              branch->isConstexpr() ? branch->getNondiscardedCase(ast) : std::nullopt)
        emitStmt(*taken);
      else
        emitIf(emitCondition(branch->getCond()), side(branch->getThen()), side(branch->getElse()));
    }
  } else if (const auto *loop = dyn_cast<clang::ForStmt>(stmt)) {
    emitFor(loop);
  } else if (const auto *loop = dyn_cast<clang::WhileStmt>(stmt)) {
    emitLoop(loop->getCond(), loop->getConditionVariable(), nullptr, loop->getBody(), false);
  } else if (const auto *loop = dyn_cast<clang::DoStmt>(stmt)) {
    emitLoop(loop->getCond(), nullptr, nullptr, loop->getBody(), true);
  } else if (const auto *loop = dyn_cast<clang::CXXForRangeStmt>(stmt)) {
    emitRangeFor(loop);
  } else if (const auto *vectors = dyn_cast<clang::OMPSimdDirective>(stmt)) {
    // One iteration after the other is what it allows, too; only variables of its own would differ.
    if (!vectors->hasClausesOfKind<clang::OMPPrivateClause>())
      emitStmt(vectors->getRawStmt());
    else
      unsupported(stmt->getBeginLoc(), "'private' of '#pragma omp simd'", "declare the variable in the loop");
  } else if (const auto *choice = dyn_cast<clang::SwitchStmt>(stmt)) {
    emitSwitch(choice);
  } else if (const auto *back = dyn_cast<clang::ReturnStmt>(stmt)) {
    emitReturn(back);
  } else if (isa<clang::BreakStmt>(stmt)) {
    if (!loops.empty() && loops.back().broken)
      setFlag(*loops.back().broken);
  } else if (isa<clang::ContinueStmt>(stmt)) {
    if (std::optional<unsigned> flag = getContinued())
      setFlag(*flag);
  } else if (const auto *attributed = dyn_cast<clang::AttributedStmt>(stmt)) {
    emitStmt(attributed->getSubStmt());
  } else if (const auto *label = dyn_cast<clang::SwitchCase>(stmt)) {
    emitStmt(label->getSubStmt()); // the switch has reported it
  } else if (const auto *label = dyn_cast<clang::LabelStmt>(stmt)) {
    emitStmt(label->getSubStmt());
  } else if (isa<clang::GotoStmt, clang::IndirectGotoStmt>(stmt)) {
    unsupported(stmt->getBeginLoc(), "'goto'", "use a loop with 'break' or 'continue', or a flag");
  } else if (isa<clang::CXXTryStmt>(stmt)) {
    unsupported(stmt->getBeginLoc(), "'try'", "report a mistake through an output of the task");
  } else if (isa<clang::AsmStmt>(stmt)) {
    unsupported(stmt->getBeginLoc(), "inline assembly", "write it in C++");
  } else if (!isa<clang::NullStmt>(stmt)) {
    unsupported(stmt->getBeginLoc(), Twine("a statement of the kind '") + stmt->getStmtClassName() + "'",
                "write it with loops, branches and assignments");
  }
  current = before;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Translator::emitFor(const clang::ForStmt *loop) {
  if (loop->getConditionVariable() || findJumps(loop->getBody()).returns ||
      findJumps(loop->getBody()).breaks || !emitCanonical(loop)) {
    emitStmt(loop->getInit());
    emitLoop(loop->getCond(), loop->getConditionVariable(), loop->getInc(), loop->getBody(), false);
  }
}

namespace {
/// for (T i = first; i < bound; i += step), in any of its spellings.
struct Canonical {
  const clang::VarDecl *var = nullptr;
  const clang::Expr *first = nullptr, *bound = nullptr, *step = nullptr; ///< step null: 1
  bool declares = true, down = false, inclusive = false;
};
} // namespace

static const clang::VarDecl *getVar(const clang::Expr *expr) {
  const auto *ref = expr ? dyn_cast<clang::DeclRefExpr>(expr->IgnoreParenImpCasts()) : nullptr;
  return ref ? dyn_cast<clang::VarDecl>(ref->getDecl()) : nullptr;
}

static bool matchInit(const clang::Stmt *init, Canonical &loop) {
  if (const auto *decls = dyn_cast_or_null<clang::DeclStmt>(init)) {
    loop.var = decls->isSingleDecl() ? dyn_cast<clang::VarDecl>(decls->getSingleDecl()) : nullptr;
    loop.first = loop.var ? loop.var->getInit() : nullptr;
  } else if (const auto *assign = dyn_cast_or_null<clang::BinaryOperator>(init);
             assign && assign->getOpcode() == clang::BO_Assign) {
    loop.var = getVar(assign->getLHS());
    loop.first = assign->getRHS();
    loop.declares = false;
  }
  return loop.var && loop.first && isScalar(loop.var->getType()) && loop.var->getType()->isIntegerType() &&
         !loop.var->getType()->isBooleanType();
}

static bool matchStep(const clang::Expr *inc, Canonical &loop) {
  if (!inc)
    return false;
  inc = inc->IgnoreParens();
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(inc)) {
    loop.down = unary->isDecrementOp();
    return unary->isIncrementDecrementOp() && getVar(unary->getSubExpr()) == loop.var;
  }
  const auto *assign = dyn_cast<clang::BinaryOperator>(inc);
  if (!assign || getVar(assign->getLHS()) != loop.var)
    return false;
  if (assign->getOpcode() == clang::BO_AddAssign || assign->getOpcode() == clang::BO_SubAssign) {
    loop.down = assign->getOpcode() == clang::BO_SubAssign;
    loop.step = assign->getRHS();
    return true;
  }
  const auto *sum = dyn_cast<clang::BinaryOperator>(assign->getRHS()->IgnoreParenImpCasts());
  if (assign->getOpcode() != clang::BO_Assign || !sum || !sum->isAdditiveOp())
    return false;
  loop.down = sum->getOpcode() == clang::BO_Sub;
  bool left = getVar(sum->getLHS()) == loop.var;
  loop.step = left ? sum->getRHS() : sum->getLHS();
  return left || (!loop.down && getVar(sum->getRHS()) == loop.var);
}

static bool matchBound(const clang::Expr *condition, Canonical &loop) {
  const auto *test = condition ? dyn_cast<clang::BinaryOperator>(condition->IgnoreParenImpCasts()) : nullptr;
  if (!test || !test->isComparisonOp())
    return false;
  clang::BinaryOperatorKind kind = test->getOpcode();
  bool left = getVar(test->getLHS()) == loop.var;
  if (!left && getVar(test->getRHS()) != loop.var)
    return false;
  loop.bound = left ? test->getRHS() : test->getLHS();
  if (!left)
    kind = clang::BinaryOperator::reverseComparisonOp(kind);
  loop.inclusive = kind == clang::BO_LE || kind == clang::BO_GE;
  if (kind == clang::BO_NE)
    return !loop.step;
  return loop.down ? kind == clang::BO_GT || kind == clang::BO_GE
                   : kind == clang::BO_LT || kind == clang::BO_LE;
}

static bool usesAny(const clang::Stmt *stmt, const std::set<const clang::ValueDecl *> &decls) {
  if (!stmt)
    return false;
  if (const auto *ref = dyn_cast<clang::DeclRefExpr>(stmt); ref && decls.count(ref->getDecl()))
    return true;
  if (isa<clang::CallExpr>(stmt) || isa<clang::CXXThisExpr>(stmt))
    return !isa<clang::CXXThisExpr>(stmt) || !decls.empty();
  return llvm::any_of(stmt->children(), [&](const clang::Stmt *child) { return usesAny(child, decls); });
}

// What variables lead to: themselves, and what they refer or point to, be it a variable or memory.
void Translator::addTargets(Storage *storage, std::set<const void *> &all) {
  if (!storage || !all.insert(storage).second)
    return;
  for (Object *object : {storage->object, storage->target.object})
    if (object && !isConstant(object))
      all.insert(object);
  addTargets(storage->target.storage, all);
  for (auto &part : storage->parts)
    addTargets(part.get(), all);
}

// Whether an expression may see what a change of the variables does, under whatever name.
bool Translator::mayDependOn(const clang::Stmt *stmt, const std::set<const clang::ValueDecl *> &changed) {
  if (!stmt)
    return false;
  auto find = [&](const clang::ValueDecl *decl) -> Storage * {
    for (Frame &frame : llvm::reverse(frames))
      if (auto it = frame.vars.find(decl); it != frame.vars.end())
        return it->second;
    return nullptr;
  };
  std::set<const void *> written, read;
  for (const clang::ValueDecl *decl : changed)
    addTargets(find(decl), written);
  auto collect = [&](auto &self, const clang::Stmt *part) -> void {
    if (!part)
      return;
    if (const auto *ref = dyn_cast<clang::DeclRefExpr>(part))
      addTargets(find(ref->getDecl()), read);
    for (const clang::Stmt *child : part->children())
      self(self, child);
  };
  collect(collect, stmt);
  return llvm::any_of(read, [&](const void *target) { return written.count(target) != 0; });
}

// A loop whose number of rounds is known when it starts.
bool Translator::emitCanonical(const clang::ForStmt *stmt) {
  Canonical loop;
  if (!matchInit(stmt->getInit(), loop) || !matchStep(stmt->getInc(), loop) ||
      !matchBound(stmt->getCond(), loop))
    return false;
  std::set<const clang::ValueDecl *> changed;
  findChanged(stmt->getBody(), changed);
  if (changed.count(loop.var))
    return false;
  changed.insert(loop.var);
  if (usesAny(loop.bound, changed) || usesAny(loop.step, changed) || mayDependOn(loop.bound, changed) ||
      mayDependOn(loop.step, changed))
    return false;
  clang::QualType type = loop.var->getType();
  // The comparison may be in a wider type than the counter; the counter's own values are what counts.
  if (!isSigned(type) && ast.getTypeSize(type) < ast.getTypeSize(loop.bound->getType()) && loop.down)
    return false;
  // A signed counter that is compared as an unsigned one must not begin below zero.
  if (clang::Expr::EvalResult known;
      isSigned(type) && !isSigned(loop.bound->getType()) &&
      ast.getTypeSize(type) <= ast.getTypeSize(loop.bound->getType()) &&
      !(loop.first->EvaluateAsInt(known, ast) && !known.Val.getInt().isNegative()))
    return false;
  Storage *counter = loop.declares ? declare(loop.var) : lookup(loop.var, stmt->getBeginLoc());
  if (!counter || counter->kind != Storage::Scalar)
    return false;
  Value first = toIndex(emitScalar(loop.first), type);
  Value bound = toIndex(emitScalar(loop.bound), loop.bound->getType());
  Value step = loop.step ? toIndex(emitScalar(loop.step), loop.step->getType()) : constantIndex(1);
  Value one = constantIndex(1), lower = first, upper = bound;
  if (loop.down) {
    // Rounds of a loop that counts down.
    Value span = arith::SubIOp::create(b, current, first, bound);
    if (loop.inclusive)
      span = arith::AddIOp::create(b, current, span, one);
    lower = constantIndex(0);
    upper = span;
  } else if (loop.inclusive) {
    upper = arith::AddIOp::create(b, current, bound, one);
  }
  loops.push_back({});
  Jumps jumps = findJumps(stmt->getBody());
  Type counterType = valueType(type, b.getContext(), ast);
  emitCounted(lower, upper, step, [&](Value i) {
    Value value = loop.down ? arith::SubIOp::create(b, current, first, i).getResult() : i;
    slots[counter->slot] = arith::IndexCastOp::create(b, current, counterType, value);
    Value own = slots[counter->slot];
    if (jumps.continues)
      loops.back().continued = newSlot(constant(b.getI1Type(), 0));
    emitStmt(stmt->getBody());
    slots[counter->slot] = own;
    loops.back().continued.reset();
  });
  loops.pop_back();
  if (!loop.declares) {
    // Afterwards the counter is the first value that the condition refused.
    Value rounds =
        arith::CeilDivSIOp::create(b, current, arith::SubIOp::create(b, current, upper, lower), step);
    rounds = arith::MaxSIOp::create(b, current, rounds, constantIndex(0));
    Value moved = arith::MulIOp::create(b, current, rounds, step);
    Value last = loop.down ? arith::SubIOp::create(b, current, first, moved).getResult()
                           : arith::AddIOp::create(b, current, first, moved).getResult();
    slots[counter->slot] = arith::IndexCastOp::create(b, current, counterType, last);
  }
  return true;
}

void Translator::emitLoop(const clang::Expr *condition, const clang::VarDecl *conditionVar,
                          const clang::Stmt *increment, const clang::Stmt *body, bool atLeastOnce) {
  Jumps jumps = findJumps(body);
  Type flag = b.getI1Type();
  loops.push_back({});
  if (jumps.breaks)
    loops.back().broken = newSlot(constant(flag, 0));
  if (jumps.continues)
    loops.back().continued = newSlot(constant(flag, 0));
  // The body sees what the condition declares.
  if (conditionVar)
    declare(conditionVar);
  std::optional<unsigned> first;
  if (atLeastOnce)
    first = newSlot(constant(flag, 1));
  unsigned self = loops.size() - 1;
  auto stopped = [&]() -> Value {
    Value stop;
    for (std::optional<unsigned> slot :
         {loops[self].broken, jumps.returns ? frames.back().returned : std::nullopt})
      if (slot)
        stop = stop ? arith::OrIOp::create(b, current, stop, slots[*slot]).getResult() : slots[*slot];
    return stop;
  };
  auto test = [&]() -> Value {
    auto own = [&]() -> Value {
      if (conditionVar)
        initialize(placeOf(lookup(conditionVar, conditionVar->getLocation())), conditionVar->getInit());
      return condition ? emitCondition(condition) : constant(flag, 1);
    };
    auto unlessFirst = [&]() -> Value {
      if (!first)
        return own();
      return emitIf(slots[*first], [&] { return constant(flag, 1); }, own);
    };
    Value stop = stopped();
    return stop ? emitIf(stop, [&] { return constant(flag, 0); }, unlessFirst) : unlessFirst();
  };
  emitWhile(test, [&] {
    if (first)
      slots[*first] = constant(flag, 0);
    if (loops[self].continued)
      slots[*loops[self].continued] = constant(flag, 0);
    emitStmt(body);
    if (increment)
      emitUnless(stopped(), [&] { emitStmt(increment); });
  });
  loops.pop_back();
}

void Translator::emitRangeFor(const clang::CXXForRangeStmt *loop) {
  emitStmt(loop->getInit());
  emitStmt(loop->getRangeStmt());
  emitStmt(loop->getBeginStmt());
  emitStmt(loop->getEndStmt());
  // The body declares the loop's variable anew in each round.
  Jumps jumps = findJumps(loop->getBody());
  Type flag = b.getI1Type();
  loops.push_back({});
  if (jumps.breaks)
    loops.back().broken = newSlot(constant(flag, 0));
  if (jumps.continues)
    loops.back().continued = newSlot(constant(flag, 0));
  unsigned self = loops.size() - 1;
  auto stopped = [&]() -> Value {
    Value stop;
    for (std::optional<unsigned> slot :
         {loops[self].broken, jumps.returns ? frames.back().returned : std::nullopt})
      if (slot)
        stop = stop ? arith::OrIOp::create(b, current, stop, slots[*slot]).getResult() : slots[*slot];
    return stop;
  };
  emitWhile(
      [&]() -> Value {
        auto own = [&] { return emitCondition(loop->getCond()); };
        Value stop = stopped();
        return stop ? emitIf(stop, [&] { return constant(flag, 0); }, own) : own();
      },
      [&] {
        if (loops[self].continued)
          slots[*loops[self].continued] = constant(flag, 0);
        emitStmt(loop->getLoopVarStmt());
        emitStmt(loop->getBody());
        emitStmt(loop->getInc());
      });
  loops.pop_back();
}

//===----------------------------------------------------------------------===//
// switch, return
//===----------------------------------------------------------------------===//

// Statements run from the label that matches to the next 'break': a flag says whether a label has matched.
void Translator::emitSwitch(const clang::SwitchStmt *stmt) {
  emitStmt(stmt->getInit());
  if (const clang::VarDecl *var = stmt->getConditionVariable())
    initialize(placeOf(declare(var)), var->getInit());
  Value value = emitScalar(stmt->getCond());
  Type flag = b.getI1Type();
  Value any = constant(flag, 0);
  auto matches = [&](const clang::CaseStmt *label) -> Value {
    auto number = [&](const clang::Expr *e) {
      return arith::ConstantOp::create(
          b, current, b.getIntegerAttr(value.getType(), e->EvaluateKnownConstInt(ast).getExtValue()));
    };
    if (!label->getRHS())
      return arith::CmpIOp::create(b, current, arith::CmpIPredicate::eq, value, number(label->getLHS()));
    clang::QualType type = stmt->getCond()->getType();
    return arith::AndIOp::create(b, current, compare(clang::BO_GE, value, number(label->getLHS()), type),
                                 compare(clang::BO_LE, value, number(label->getRHS()), type));
  };
  unsigned labels = 0;
  for (const clang::SwitchCase *label = stmt->getSwitchCaseList(); label;
       label = label->getNextSwitchCase()) {
    ++labels;
    if (const auto *one = dyn_cast<clang::CaseStmt>(label))
      any = arith::OrIOp::create(b, current, any, matches(one));
  }
  unsigned matched = newSlot(constant(flag, 0));
  loops.push_back({});
  loops.back().isSwitch = true;
  unsigned broken = newSlot(constant(flag, 0));
  loops.back().broken = broken;
  const auto *body = dyn_cast<clang::CompoundStmt>(stmt->getBody());
  SmallVector<const clang::Stmt *> stmts;
  if (body)
    stmts.append(body->body_begin(), body->body_end());
  else
    stmts.push_back(stmt->getBody());
  for (const clang::Stmt *child : stmts) {
    while (const auto *label = dyn_cast<clang::SwitchCase>(child)) {
      --labels;
      const auto *one = dyn_cast<clang::CaseStmt>(label);
      Value here = one ? matches(one) : arith::XOrIOp::create(b, current, any, constant(flag, 1)).getResult();
      slots[matched] = arith::OrIOp::create(b, current, slots[matched], here);
      child = label->getSubStmt();
    }
    // A declaration is for all labels, its initial value for those before it.
    const auto *decls = dyn_cast<clang::DeclStmt>(child);
    SmallVector<const clang::VarDecl *> initialized;
    if (decls)
      for (const clang::Decl *decl : decls->decls()) {
        const auto *var = dyn_cast<clang::VarDecl>(decl);
        if (var && var->getInit() && !var->isStaticLocal() && !var->getType()->isReferenceType()) {
          declare(var);
          initialized.push_back(var);
        } else {
          emitDecl(decl);
        }
      }
    Value skip = arith::OrIOp::create(b, current, slots[broken],
                                      arith::XOrIOp::create(b, current, slots[matched], constant(flag, 1)));
    for (std::optional<unsigned> slot : {frames.back().returned})
      if (slot)
        skip = arith::OrIOp::create(b, current, skip, slots[*slot]);
    for (size_t i = 0; i + 1 < loops.size(); ++i)
      if (loops[i].continued)
        skip = arith::OrIOp::create(b, current, skip, slots[*loops[i].continued]);
    emitUnless(skip, [&] {
      if (!decls)
        emitStmt(child);
      for (const clang::VarDecl *var : initialized)
        initialize(placeOf(lookup(var, var->getLocation())), var->getInit());
    });
  }
  loops.pop_back();
  if (labels)
    unsupported(stmt->getBeginLoc(), "a label of a switch inside of another statement",
                "put the labels directly into the switch");
}

void Translator::emitReturn(const clang::ReturnStmt *stmt) {
  Frame &frame = frames.back();
  if (const clang::Expr *value = stmt->getRetValue()) {
    if (frame.function && frame.function->getReturnType()->isReferenceType() && !frame.result) {
      Place place = resolve(emitPlace(value));
      if (frame.hasReference && (frame.reference.storage != place.storage || place.object))
        unsupported(stmt->getBeginLoc(), "a function that returns a reference to one of several objects",
                    "return the value");
      frame.reference = place;
      frame.hasReference = true;
    } else if (frame.result) {
      initialize(placeOf(frame.result), value);
    } else {
      emit(value);
    }
  }
  if (frame.returned)
    setFlag(*frame.returned);
}
