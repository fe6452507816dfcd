// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Marked loop nests: which loops they are, and the node with a grid that they become.
#include "tessera/frontends/heterocpp/GraphBuilder.h"

using namespace tessera;
using namespace tessera::heterocpp;

namespace {
/// One loop of a marked nest.
struct Dimension {
  const clang::ForStmt *loop;
  const clang::VarDecl *var = nullptr;
  const clang::Expr *first = nullptr, *bound = nullptr, *step = nullptr;
  bool inclusive = false, down = false;
};
} // namespace

static const clang::VarDecl *getVar(const clang::Expr *expr) {
  const auto *ref = expr ? dyn_cast<clang::DeclRefExpr>(expr->IgnoreParenImpCasts()) : nullptr;
  return ref ? dyn_cast<clang::VarDecl>(ref->getDecl()) : nullptr;
}

// for (T i = first; i < bound; i += step) of a marked nest; says what is wrong with others.
static bool readDimension(const clang::ForStmt *loop, Dimension &dim, Diag &diag) {
  dim.loop = loop;
  auto refuse = [&](clang::SourceLocation at, const Twine &text) {
    diag.emitError(loop->getForLoc(),
                   "a parallel loop needs the form 'for (int i = first; i < bound; i += step)'");
    diag.note(at.isValid() ? at : loop->getForLoc(), text);
    return false;
  };
  if (const auto *decls = dyn_cast_or_null<clang::DeclStmt>(loop->getInit())) {
    dim.var = decls->isSingleDecl() ? dyn_cast<clang::VarDecl>(decls->getSingleDecl()) : nullptr;
    dim.first = dim.var ? dim.var->getInit() : nullptr;
  } else if (const auto *assign = dyn_cast_or_null<clang::BinaryOperator>(loop->getInit());
             assign && assign->getOpcode() == clang::BO_Assign) {
    dim.var = getVar(assign->getLHS());
    dim.first = assign->getRHS();
  }
  if (!dim.var || !dim.first || !dim.var->getType()->isIntegerType() || !isScalar(dim.var->getType()))
    return refuse(loop->getInit() ? loop->getInit()->getBeginLoc() : loop->getForLoc(),
                  "its first part must declare or set one integer, the counter");
  const clang::Expr *inc = loop->getInc() ? loop->getInc()->IgnoreParens() : nullptr;
  if (const auto *unary = dyn_cast_or_null<clang::UnaryOperator>(inc);
      unary && unary->isIncrementDecrementOp() && getVar(unary->getSubExpr()) == dim.var)
    dim.down = unary->isDecrementOp();
  else if (const auto *add = dyn_cast_or_null<clang::BinaryOperator>(inc);
           add && getVar(add->getLHS()) == dim.var &&
           (add->getOpcode() == clang::BO_AddAssign || add->getOpcode() == clang::BO_SubAssign)) {
    dim.step = add->getRHS();
    dim.down = add->getOpcode() == clang::BO_SubAssign;
  } else
    return refuse(inc ? inc->getBeginLoc() : loop->getForLoc(),
                  "its last part must be 'i++', 'i--', 'i += step' or 'i -= step' of its counter '" +
                      dim.var->getNameAsString() + "'");
  const auto *test =
      loop->getCond() ? dyn_cast<clang::BinaryOperator>(loop->getCond()->IgnoreParenImpCasts()) : nullptr;
  bool left = test && getVar(test->getLHS()) == dim.var;
  bool right = test && !left && getVar(test->getRHS()) == dim.var;
  clang::BinaryOperatorKind kind = test ? test->getOpcode() : clang::BO_EQ;
  if (right && test->isComparisonOp())
    kind = clang::BinaryOperator::reverseComparisonOp(kind);
  bool good =
      dim.down ? kind == clang::BO_GT || kind == clang::BO_GE : kind == clang::BO_LT || kind == clang::BO_LE;
  good |= kind == clang::BO_NE && !dim.step;
  if ((!left && !right) || !good)
    return refuse(loop->getCond() ? loop->getCond()->getBeginLoc() : loop->getForLoc(),
                  "its condition must compare its counter '" + dim.var->getNameAsString() + "' with a bound");
  dim.bound = left ? test->getRHS() : test->getLHS();
  dim.inclusive = kind == clang::BO_LE || kind == clang::BO_GE;
  return true;
}

// The one loop that a body consists of, apart from declarations that nothing needs.
static const clang::ForStmt *getOnlyLoop(const clang::Stmt *body) {
  if (const auto *loop = dyn_cast<clang::ForStmt>(body))
    return loop;
  const clang::ForStmt *only = nullptr;
  if (const auto *compound = dyn_cast<clang::CompoundStmt>(body))
    for (const clang::Stmt *child : compound->body()) {
      if (isa<clang::NullStmt>(child))
        continue;
      MarkerKind kind;
      if (findMarker(child, kind) && kind == MarkerKind::NonZeroLoop)
        continue;
      if (only || !isa<clang::ForStmt>(child))
        return nullptr;
      only = cast<clang::ForStmt>(child);
    }
  return only;
}

void GraphBuilder::emitLoop(const clang::ForStmt *outer, const Lists *task) {
  const clang::CallExpr *marker = findLoopMarker(outer);
  std::optional<Lists> own = readLists(marker, MarkerKind::ParallelLoop, ast, diag);
  if (!own) {
    level.failed = true;
    return;
  }
  enter(*own);
  SmallVector<Dimension> dims;
  const clang::ForStmt *loop = outer;
  for (unsigned d = 0; d < own->loops; ++d) {
    if (!loop) {
      diag.emitError(marker->getArg(0)->getBeginLoc(),
                     "expected " + Twine(own->loops) + " perfectly nested loops, but got " + Twine(d));
      diag.note(outer->getForLoc(), "the outermost is here; nothing may stand between the loops");
      level.failed = true;
      return;
    }
    Dimension dim;
    if (!readDimension(loop, dim, diag)) {
      diag.note(marker->getBeginLoc(), "it is marked parallel here");
      level.failed = true;
      return;
    }
    dims.push_back(dim);
    if (d + 1 < own->loops)
      loop = getOnlyLoop(loop->getBody());
  }
  const clang::Stmt *loopBody = dims.back().loop->getBody();
  SmallVector<const clang::Stmt *> stmts;
  if (const auto *compound = dyn_cast<clang::CompoundStmt>(loopBody))
    stmts.append(compound->body_begin(), compound->body_end());
  else
    stmts.push_back(loopBody);
  bool direct = llvm::any_of(stmts, [&](const clang::Stmt *stmt) {
    MarkerKind kind;
    return findMarker(stmt, kind) == marker;
  });
  if (!direct) {
    diag.emitError(marker->getBeginLoc(), "'__hetero_parallel_loop' does not stand in the innermost of the " +
                                              Twine(own->loops) + " loops that it marks");
    diag.note(dims.back().loop->getForLoc(), "by its first argument, that is this loop");
    level.failed = true;
    return;
  }
  for (const clang::Stmt *stmt : stmts)
    checkStays(stmt, "parallel loop", marker);
  targets.clear();
  for (const clang::Stmt *stmt : stmts)
    findHints(stmt, [&](const clang::Stmt *hint) { readHint(hint); });

  Location loc = level.getLoc(getUserLoc(outer->getForLoc()));
  auto holder = func::FuncOp::create(loc, "leaf", b.getFunctionType({}, {}));
  Block *entry = holder.addEntryBlock();
  OpBuilder inner = OpBuilder::atBlockBegin(entry);
  LeafTranslator leaf(inner, level, *own, entry);
  leaf.rank = dims.size();
  Type index = b.getIndexType();
  SmallVector<Value> grid, firsts, steps;
  for (Dimension &dim : dims) {
    entry->addArgument(index, loc);
    Value first = level.emitIndex(dim.first), bound = level.emitIndex(dim.bound);
    Value step = dim.step ? level.emitIndex(dim.step) : level.constantIndex(1);
    Value span = dim.down ? arith::SubIOp::create(b, loc, first, bound).getResult()
                          : arith::SubIOp::create(b, loc, bound, first).getResult();
    if (dim.inclusive)
      span = arith::AddIOp::create(b, loc, span, level.constantIndex(1));
    if (dim.step)
      span = arith::CeilDivSIOp::create(b, loc, span, step);
    // A loop whose bound lies below its first value does not run.
    span = arith::MaxSIOp::create(b, loc, span, level.constantIndex(0));
    grid.push_back(span);
    firsts.push_back(first);
    steps.push_back(step);
  }
  leaf.open();
  for (auto [d, dim] : llvm::enumerate(dims)) {
    auto take = [&](Value v) -> Value {
      if (std::optional<int64_t> known = getConstantIntValue(v))
        return arith::ConstantIndexOp::create(inner, loc, *known);
      if (auto constant = v.getDefiningOp<arith::ConstantOp>())
        return inner.clone(*constant)->getResult(0);
      return leaf.captureValue(v);
    };
    Value id = entry->getArgument(d);
    if (!isConstantIntValue(steps[d], 1))
      id = arith::MulIOp::create(inner, loc, id, take(steps[d]));
    if (dim.down)
      id = arith::SubIOp::create(inner, loc, take(firsts[d]), id);
    else if (!isConstantIntValue(firsts[d], 0))
      id = arith::AddIOp::create(inner, loc, id, take(firsts[d]));
    leaf.bindId(dim.var, id, valueType(dim.var->getType(), b.getContext(), ast));
  }
  findChangedOutside(leaf, stmts);
  for (const clang::Stmt *stmt : stmts)
    leaf.captureAll(stmt);
  leaf.emitStmts(stmts);
  leaf.finishAccumulators(getUserLoc(marker->getBeginLoc()));
  std::string name = !own->name.empty() ? own->name : task && !task->name.empty() ? task->name : "loop";
  finishLeaf(leaf, entry, *own, name, grid, loc, /*isPart=*/false);
  holder.erase();
}
