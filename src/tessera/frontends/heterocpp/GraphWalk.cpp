// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The statements of a graph, one after the other: what is a task, a loop, a function that describes a part.
#include "tessera/frontends/heterocpp/GraphBuilder.h"

using namespace tessera;
using namespace tessera::heterocpp;

/// A part of a graph is looked for in functions that call each other this deeply.
static constexpr unsigned maxCalls = 16;

// The statements up to the marker that closes what `begin` opened; `i` ends there.
static ArrayRef<const clang::Stmt *> collect(ArrayRef<const clang::Stmt *> stmts, size_t &i, MarkerKind begin,
                                             MarkerKind end, bool &closed) {
  size_t first = i + 1, depth = 1;
  closed = false;
  for (++i; i < stmts.size(); ++i) {
    MarkerKind kind;
    if (!findMarker(stmts[i], kind))
      continue;
    depth += kind == begin;
    depth -= kind == end;
    if (depth == 0) {
      closed = true;
      break;
    }
  }
  return stmts.slice(first, i - first);
}

// A loop that is marked parallel, not merely one around such a loop: the marker stands in it or in loops that
// it holds and nothing else.
const clang::CallExpr *heterocpp::findLoopMarker(const clang::ForStmt *loop) {
  return findMarkerInside(loop->getBody(), MarkerKind::ParallelLoop);
}

static bool holdsMarker(const clang::Stmt *stmt) {
  if (!stmt)
    return false;
  MarkerKind kind;
  return findMarker(stmt, kind) || llvm::any_of(stmt->children(), holdsMarker);
}

static const clang::CallExpr *getCall(const clang::Stmt *stmt) {
  const auto *expr = dyn_cast_or_null<clang::Expr>(stmt);
  if (const auto *cleanups = dyn_cast_or_null<clang::ExprWithCleanups>(expr))
    expr = cleanups->getSubExpr();
  return expr ? dyn_cast<clang::CallExpr>(expr->IgnoreParenCasts()) : nullptr;
}

static const clang::FunctionDecl *getMarkedCallee(const clang::Stmt *stmt, unsigned depth = 0);

static bool callsGraph(const clang::Stmt *stmt, unsigned depth) {
  if (!stmt || isa<clang::LambdaExpr>(stmt))
    return false;
  return (getCall(stmt) && getMarkedCallee(stmt, depth + 1)) ||
         llvm::any_of(stmt->children(), [&](const clang::Stmt *child) { return callsGraph(child, depth); });
}

// A function with markers, or one that calls such functions.
static bool describesGraph(const clang::Stmt *body, unsigned depth) {
  for (MarkerKind kind :
       {MarkerKind::SectionBegin, MarkerKind::TaskBegin, MarkerKind::ParallelLoop, MarkerKind::Launch})
    if (findMarkerInside(body, kind))
      return true;
  return callsGraph(body, depth);
}

// The function or lambda that a statement calls to describe a part of the graph.
static const clang::FunctionDecl *getMarkedCallee(const clang::Stmt *stmt, unsigned depth) {
  const clang::CallExpr *call = getCall(stmt);
  const clang::FunctionDecl *callee = call ? call->getDirectCallee() : nullptr, *definition = nullptr;
  const auto *method = dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  if (!callee || (method && !method->isStatic() && !method->getParent()->isLambda()) ||
      !callee->getBody(definition) || depth > maxCalls || !describesGraph(definition->getBody(), depth))
    return nullptr;
  return definition;
}

// The calls of a statement that describe parts of the graph, in the order in which they run. What may not run
// at all, such as one side of '?:', is left to a node.
static void addParts(const clang::Stmt *stmt, SmallVectorImpl<const clang::CallExpr *> &parts) {
  if (!stmt || isa<clang::LambdaExpr>(stmt))
    return;
  if (const auto *choice = dyn_cast<clang::AbstractConditionalOperator>(stmt))
    return addParts(choice->getCond(), parts);
  if (const auto *logical = dyn_cast<clang::BinaryOperator>(stmt); logical && logical->isLogicalOp())
    return addParts(logical->getLHS(), parts);
  for (const clang::Stmt *child : stmt->children())
    addParts(child, parts);
  if (const auto *call = dyn_cast<clang::CallExpr>(stmt))
    if (const clang::FunctionDecl *callee = call->getDirectCallee();
        callee && !callee->isInStdNamespace() && getMarkedCallee(call))
      parts.push_back(call);
}

static SmallVector<const clang::CallExpr *> getParts(const clang::Stmt *stmt) {
  SmallVector<const clang::CallExpr *> parts;
  if (isa<clang::DeclStmt, clang::Expr>(stmt))
    addParts(stmt, parts);
  return parts;
}

// Whether statements are a child graph: sections and marked loops, and nothing that computes.
static bool isChildGraph(ArrayRef<const clang::Stmt *> stmts) {
  bool any = false;
  for (const clang::Stmt *stmt : stmts) {
    MarkerKind kind;
    if (findMarker(stmt, kind)) {
      any |= kind == MarkerKind::SectionBegin || kind == MarkerKind::TaskBegin;
      continue;
    }
    if (const auto *compound = dyn_cast<clang::CompoundStmt>(stmt)) {
      SmallVector<const clang::Stmt *> inner(compound->body_begin(), compound->body_end());
      any |= isChildGraph(inner);
    }
    if (const auto *loop = dyn_cast<clang::ForStmt>(stmt))
      any |= findLoopMarker(loop) != nullptr;
    any |= !getParts(stmt).empty();
  }
  return any;
}

static bool touchesMemory(const clang::Stmt *stmt, ArrayRef<const clang::CallExpr *> parts = {}) {
  if (!stmt || llvm::is_contained(parts, stmt))
    return false;
  if (isa<clang::ArraySubscriptExpr, clang::CallExpr, clang::AtomicExpr>(stmt))
    return true;
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(stmt);
      unary && unary->getOpcode() == clang::UO_Deref)
    return true;
  if (const auto *member = dyn_cast<clang::MemberExpr>(stmt); member && member->isArrow())
    return true;
  return llvm::any_of(stmt->children(),
                      [&](const clang::Stmt *child) { return touchesMemory(child, parts); });
}

// Whether a statement of a task that holds loops has to run in a node, not between the nodes.
static bool computes(const clang::Stmt *stmt) {
  if (holdsMarker(stmt) || !getParts(stmt).empty() || isa<clang::ReturnStmt, clang::NullStmt>(stmt))
    return false;
  return !isa<clang::DeclStmt, clang::Expr>(stmt) || touchesMemory(stmt);
}

void GraphBuilder::walk(ArrayRef<const clang::Stmt *> stmts, const Lists *task) {
  for (size_t i = 0; i < stmts.size(); ++i) {
    const clang::Stmt *stmt = stmts[i];
    MarkerKind kind;
    if (const clang::CallExpr *call = findMarker(stmt, kind)) {
      switch (kind) {
      case MarkerKind::TaskBegin: {
        std::optional<Lists> own = readLists(call, kind, ast, diag);
        bool closed;
        ArrayRef<const clang::Stmt *> inner = collect(stmts, i, kind, MarkerKind::TaskEnd, closed);
        if (!closed) {
          diag.emitError(call->getBeginLoc(),
                         "expected '__hetero_task_end' in the same block, but got its end");
          diag.note(call->getRParenLoc(), "a task begins and ends between the same braces");
          level.failed = true;
        }
        if (!own) {
          level.failed = true;
          break;
        }
        enter(*own);
        if (isChildGraph(inner)) {
          sections.push_back(std::nullopt);
          walk(inner, &*own);
          sections.pop_back();
        } else
          emitTask(*own, inner, /*isPart=*/false);
        break;
      }
      case MarkerKind::SectionBegin:
        sections.emplace_back(std::in_place);
        break;
      case MarkerKind::SectionEnd:
        if (!sections.empty() && sections.back()) {
          checkSection(*sections.back());
          sections.pop_back();
        }
        break;
      case MarkerKind::NonZeroLoop:
      case MarkerKind::Nothing:
      case MarkerKind::Priv:
      case MarkerKind::Hint:
        break;
      case MarkerKind::ParallelLoop:
        diag.emitError(call->getBeginLoc(),
                       "expected '__hetero_parallel_loop' inside a loop, but got it outside");
        diag.note(call->getBeginLoc(),
                  "it is the first statement in the body of the innermost loop that it marks");
        level.failed = true;
        break;
      case MarkerKind::TaskEnd:
        diag.emitError(call->getBeginLoc(),
                       "'__hetero_task_end' without a task that begins in the same block");
        diag.note(call->getBeginLoc(), "a task begins and ends between the same braces");
        level.failed = true;
        break;
      case MarkerKind::Wait:
        // A launch of a function that is called in a graph is a part of the graph.
        if (MarkerKind inner; const clang::CallExpr *launched = findMarker(call->getArg(0), inner))
          if (inner == MarkerKind::Launch) {
            walkLaunch(launched, task);
            break;
          }
        [[fallthrough]];
      default:
        diag.emitError(call->getBeginLoc(),
                       "'" + call->getDirectCallee()->getName() + "' cannot stand inside a graph");
        diag.note(call->getBeginLoc(), "call it on the host, before or after the launch");
        level.failed = true;
        break;
      }
      continue;
    }
    if (SmallVector<const clang::CallExpr *> parts = getParts(stmt); !parts.empty()) {
      walkParts(stmt, parts, task, [&] {
        if (parts.back() == getCall(stmt))
          return;
        if (touchesMemory(stmt, parts) || storesMemory(stmt))
          emitTask(task ? *task : Lists(), stmt, /*isPart=*/true);
        else
          level.emitStmt(stmt);
      });
      continue;
    }
    if (!task && isa<clang::DeclStmt, clang::Expr>(stmt) && callsGraph(stmt, 0)) {
      diag.emitError(stmt->getBeginLoc(), "a part of a graph stands under a condition");
      diag.note(stmt->getBeginLoc(),
                "put the statement into a task: there it runs one index after the other");
      level.failed = true;
      continue;
    }
    if (task && computes(stmt)) {
      // What a task computes beside its loops is a node of its own, up to the next loop.
      size_t first = i;
      while (i + 1 < stmts.size() && computes(stmts[i + 1]))
        ++i;
      emitTask(*task, stmts.slice(first, i + 1 - first), /*isPart=*/true);
      continue;
    }
    if (const auto *compound = dyn_cast<clang::CompoundStmt>(stmt)) {
      SmallVector<const clang::Stmt *> inner(compound->body_begin(), compound->body_end());
      walk(inner, task);
    } else if (const auto *loop = dyn_cast<clang::ForStmt>(stmt)) {
      if (findLoopMarker(loop)) {
        emitLoop(loop, task);
      } else {
        diag.emitError(loop->getForLoc(), "a loop between tasks is neither parallel nor part of a task");
        diag.note(loop->getForLoc(),
                  "mark it with '__hetero_parallel_loop', put it into a task, or launch the "
                  "graph in a loop of the host");
        level.failed = true;
      }
    } else if (const auto *decls = dyn_cast<clang::DeclStmt>(stmt)) {
      if (!declareStates(decls))
        level.emitStmt(stmt);
    } else if (isa<clang::NullStmt>(stmt)) {
      continue;
    } else if (const auto *expr = dyn_cast<clang::Expr>(stmt)) {
      if (!isa<clang::CallExpr>(expr->IgnoreParenCasts())) {
        level.emitStmt(stmt);
        continue;
      }
      diag.emitError(expr->getBeginLoc(), "a call between tasks is not part of the graph");
      diag.note(expr->getBeginLoc(), "put it into a task, or call it on the host");
      level.failed = true;
    } else if (const auto *back = dyn_cast<clang::ReturnStmt>(stmt)) {
      if (i + 1 < stmts.size()) {
        diag.emitError(back->getBeginLoc(), "a graph cannot be left in the middle");
        diag.note(back->getBeginLoc(), "decide on the host whether to launch it");
        level.failed = true;
      }
    } else {
      diag.emitError(stmt->getBeginLoc(),
                     "expected tasks, parallel loops and declarations in a graph, but got "
                     "another statement");
      diag.note(stmt->getBeginLoc(), "put it into a task: '__hetero_task_begin(…)' before it, "
                                     "'__hetero_task_end(…)' after");
      level.failed = true;
    }
  }
}

// Whether an assignment changes what the graph has in memory, not a variable of its own.
bool GraphBuilder::storesMemory(const clang::Stmt *stmt) {
  const auto *expr = dyn_cast<clang::Expr>(stmt);
  if (const auto *cleanups = dyn_cast_or_null<clang::ExprWithCleanups>(expr))
    expr = cleanups->getSubExpr();
  const auto *assign = expr ? dyn_cast<clang::BinaryOperator>(expr->IgnoreParens()) : nullptr;
  const auto *to = assign && assign->isAssignmentOp()
                       ? dyn_cast<clang::DeclRefExpr>(assign->getLHS()->IgnoreParens())
                       : nullptr;
  if (!to || !level.knows(to->getDecl()))
    return false;
  Storage *storage = level.find(to->getDecl(), to->getBeginLoc());
  while (storage && storage->kind == Storage::Reference && storage->target.storage)
    storage = storage->target.storage;
  return storage && (storage->kind == Storage::Memory || storage->target.object);
}

// 'float mean = tessera::reduce(…) / n': first the parts of the graph, then what is done with their values.
void GraphBuilder::walkParts(const clang::Stmt *stmt, ArrayRef<const clang::CallExpr *> parts,
                             const Lists *task, function_ref<void()> use) {
  for (const clang::CallExpr *part : parts) {
    if (Value v = walkCall(part, getMarkedCallee(part), task)) {
      level.results[part] = v;
    } else if (part != getCall(stmt)) {
      if (!level.failed)
        level.unsupported(
            part->getBeginLoc(),
            "the value of '" + part->getDirectCallee()->getNameAsString() +
                "', which is a part of the graph and does not end with a number,",
            "let the last statement of the function return a number, or let it write to a buffer");
      return;
    }
  }
  use();
  for (const clang::CallExpr *part : parts)
    level.results.erase(part);
}

// The value that the call returns, if any.
Value GraphBuilder::walkCall(const clang::CallExpr *call, const clang::FunctionDecl *callee,
                             const Lists *task) {
  if (!entered.insert(callee).second) {
    level.unsupported(call->getBeginLoc(), "a recursive call of '" + callee->getNameAsString() + "'",
                      "launch the graph in a loop of the host");
    return Value();
  }
  level.bindParameters(callee, call);
  clang::SourceLocation before = calledAt;
  calledAt = getUserLoc(call->getBeginLoc());
  walkBody(callee, task);
  calledAt = before;
  const auto *body = dyn_cast<clang::CompoundStmt>(callee->getBody());
  const auto *last = body && !body->body_empty() ? dyn_cast<clang::ReturnStmt>(body->body_back()) : nullptr;
  Value result;
  if (last && isScalar(callee->getReturnType()))
    walkParts(last, getParts(last->getRetValue()), task,
              [&] { result = level.emitScalar(last->getRetValue()); });
  return result;
}

clang::SourceLocation GraphBuilder::getUserLoc(clang::SourceLocation at) const {
  return calledAt.isValid() && isOwnHeader(at, ast) ? calledAt : at;
}

void GraphBuilder::walkBody(const clang::FunctionDecl *function, const Lists *task) {
  SmallVector<const clang::Stmt *> stmts;
  if (const auto *compound = dyn_cast<clang::CompoundStmt>(function->getBody()))
    stmts.append(compound->body_begin(), compound->body_end());
  all.append(stmts.begin(), stmts.end());
  walk(stmts, task);
  entered.erase(function);
}

void GraphBuilder::walkLaunch(const clang::CallExpr *call, const Lists *task) {
  std::optional<Lists> own = readLists(call, MarkerKind::Launch, ast, diag);
  const clang::FunctionDecl *root = own ? getRoot(*own, diag) : nullptr;
  if (!root || !checkArguments(*own, root, b.getContext(), ast, diag) || !entered.insert(root).second) {
    level.failed = true;
    return;
  }
  level.bindParameters(root, own->getArguments(), call->getBeginLoc());
  walkBody(root, task);
}
