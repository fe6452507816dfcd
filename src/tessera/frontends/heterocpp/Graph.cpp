// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Graph.h. Tasks, leaves and the graph around them.
#include "tessera/frontends/heterocpp/GraphBuilder.h"

using namespace tessera;
using namespace tessera::heterocpp;

std::string GraphBuilder::uniqueName(std::string name) {
  if (name.empty())
    name = "node";
  std::string tried = name;
  for (unsigned i = 1; !names.insert(tried).second; ++i)
    tried = name + "." + std::to_string(i);
  return tried;
}

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

// The function that a statement calls to describe a part of the graph: one with markers.
static const clang::FunctionDecl *getMarkedCallee(const clang::Stmt *stmt) {
  const auto *expr = dyn_cast<clang::Expr>(stmt);
  const auto *call = expr ? dyn_cast<clang::CallExpr>(expr->IgnoreParenCasts()) : nullptr;
  const clang::FunctionDecl *callee = call ? call->getDirectCallee() : nullptr, *definition = nullptr;
  if (!callee || isa<clang::CXXMethodDecl>(callee) || !callee->getBody(definition) ||
      !(findMarkerInside(definition->getBody(), MarkerKind::SectionBegin) ||
        findMarkerInside(definition->getBody(), MarkerKind::TaskBegin) ||
        findMarkerInside(definition->getBody(), MarkerKind::ParallelLoop)))
    return nullptr;
  return definition;
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
    any |= getMarkedCallee(stmt) != nullptr;
  }
  return any;
}

static bool touchesMemory(const clang::Stmt *stmt) {
  if (!stmt)
    return false;
  if (isa<clang::ArraySubscriptExpr, clang::CallExpr, clang::AtomicExpr>(stmt))
    return true;
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(stmt);
      unary && unary->getOpcode() == clang::UO_Deref)
    return true;
  if (const auto *member = dyn_cast<clang::MemberExpr>(stmt); member && member->isArrow())
    return true;
  return llvm::any_of(stmt->children(), touchesMemory);
}

// Whether a statement of a task that holds loops has to run in a node, not between the nodes.
static bool computes(const clang::Stmt *stmt) {
  if (holdsMarker(stmt) || getMarkedCallee(stmt) || isa<clang::ReturnStmt, clang::NullStmt>(stmt))
    return false;
  return !isa<clang::DeclStmt, clang::Expr>(stmt) || touchesMemory(stmt);
}

static unsigned countUses(const clang::Stmt *stmt, const clang::ValueDecl *decl) {
  if (!stmt)
    return 0;
  MarkerKind kind;
  if (isa<clang::CallExpr>(stmt) && findMarker(stmt, kind))
    return 0;
  if (const auto *ref = dyn_cast<clang::DeclRefExpr>(stmt))
    return ref->getDecl() == decl;
  unsigned count = 0;
  for (const clang::Stmt *child : stmt->children())
    count += countUses(child, decl);
  return count;
}

bool GraphBuilder::isUsedOutside(const clang::ValueDecl *decl, ArrayRef<const clang::Stmt *> stmts) const {
  // A state matters to the next item.
  if (const auto *var = dyn_cast<clang::VarDecl>(decl); var && var->isStaticLocal())
    return true;
  unsigned inside = 0, total = 0;
  for (const clang::Stmt *stmt : stmts)
    inside += countUses(stmt, decl);
  for (const clang::Stmt *stmt : all)
    total += countUses(stmt, decl);
  return total > inside;
}

void GraphBuilder::findChangedOutside(LeafTranslator &leaf, ArrayRef<const clang::Stmt *> stmts) {
  std::set<const clang::ValueDecl *> changed;
  for (const clang::Stmt *stmt : stmts)
    findChanged(stmt, changed);
  for (const clang::ValueDecl *decl : changed)
    if (level.knows(decl) && isUsedOutside(decl, stmts))
      leaf.changed.insert(decl);
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
      default:
        diag.emitError(call->getBeginLoc(),
                       "'" + call->getDirectCallee()->getName() + "' cannot stand inside a graph");
        diag.note(call->getBeginLoc(), "call it on the host, before or after the launch");
        level.failed = true;
        break;
      }
      continue;
    }
    if (const clang::FunctionDecl *callee = getMarkedCallee(stmt)) {
      walkCall(cast<clang::CallExpr>(cast<clang::Expr>(stmt)->IgnoreParenCasts()), callee, task);
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

void GraphBuilder::walkCall(const clang::CallExpr *call, const clang::FunctionDecl *callee,
                            const Lists *task) {
  if (!entered.insert(callee).second) {
    level.unsupported(call->getBeginLoc(), "a recursive call of '" + callee->getNameAsString() + "'",
                      "launch the graph in a loop of the host");
    return;
  }
  level.bindParameters(callee, call);
  SmallVector<const clang::Stmt *> stmts;
  if (const auto *compound = dyn_cast<clang::CompoundStmt>(callee->getBody()))
    stmts.append(compound->body_begin(), compound->body_end());
  all.append(stmts.begin(), stmts.end());
  walk(stmts, task);
  entered.erase(callee);
}

bool GraphBuilder::isListedAs(const Listed &listed, const clang::ValueDecl *input) {
  if (listed.decl == input)
    return true;
  if (!listed.decl || !level.knows(listed.decl))
    return false;
  Storage *storage = level.find(listed.decl, listed.expr->getBeginLoc());
  Object *object = !storage                           ? nullptr
                   : storage->kind == Storage::Memory ? storage->object
                                                      : storage->target.object;
  return object && object->decl == input;
}

// Finds a 'return', or a 'break' or 'continue' of a loop outside.
static const clang::Stmt *findExit(const clang::Stmt *stmt, bool ofTask, bool inLoop, bool inSwitch) {
  if (!stmt || isa<clang::LambdaExpr>(stmt))
    return nullptr;
  if (isa<clang::ReturnStmt>(stmt) || (isa<clang::BreakStmt>(stmt) && !inLoop && !inSwitch) ||
      (isa<clang::ContinueStmt>(stmt) && !inLoop && ofTask))
    return stmt;
  inLoop |= isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(stmt);
  inSwitch |= isa<clang::SwitchStmt>(stmt);
  for (const clang::Stmt *child : stmt->children())
    if (const clang::Stmt *found = findExit(child, ofTask, inLoop, inSwitch))
      return found;
  return nullptr;
}

void GraphBuilder::checkStays(const clang::Stmt *stmt, const char *what, const clang::CallExpr *marker) {
  bool ofTask = StringRef(what) == "task";
  const clang::Stmt *exit = findExit(stmt, ofTask, false, false);
  if (!exit)
    return;
  level.failed = true;
  diag.emitError(exit->getBeginLoc(), Twine("a jump out of a ") + what);
  diag.note(marker->getBeginLoc(), ofTask ? "the task begins here; skip its rest with 'if'"
                                          : "the iterations are independent; skip the rest of one with "
                                            "'continue', and decide about all of them before the loop");
}

void GraphBuilder::emitTask(const Lists &task, ArrayRef<const clang::Stmt *> stmts, bool isPart) {
  for (const clang::Stmt *stmt : stmts)
    checkStays(stmt, "task", task.call);
  targets.clear();
  for (const clang::Stmt *stmt : stmts)
    findHints(stmt, [&](const clang::Stmt *hint) { readHint(hint); });
  Location loc = level.getLoc(isPart ? stmts.front()->getBeginLoc() : task.call->getBeginLoc());
  auto holder = func::FuncOp::create(loc, "leaf", b.getFunctionType({}, {}));
  Block *entry = holder.addEntryBlock();
  OpBuilder inner = OpBuilder::atBlockBegin(entry);
  LeafTranslator leaf(inner, level, task, entry);
  findChangedOutside(leaf, stmts);
  for (const clang::Stmt *stmt : stmts)
    leaf.captureAll(stmt);
  leaf.open();
  leaf.emitStmts(stmts);
  leaf.finishAccumulators(task.call->getBeginLoc());
  // Numbers that a part of a task declares are there for the next one.
  if (isPart)
    for (const clang::Stmt *stmt : stmts)
      if (const auto *decls = dyn_cast<clang::DeclStmt>(stmt))
        for (const clang::Decl *decl : decls->decls())
          if (const auto *var = dyn_cast<clang::VarDecl>(decl); var && isUsedOutside(var, stmts))
            if (Storage *made = leaf.find(var); made && made->kind == Storage::Scalar)
              leaf.yielded.push_back({leaf.valueOf(made), level.declare(var), {}, Value()});
  std::string name = task.name.empty() ? "task" : task.name;
  finishLeaf(leaf, entry, task, name, {}, loc, isPart);
  holder.erase();
}

void GraphBuilder::checkOutputs(LeafTranslator &leaf, const Lists &own, bool isPart) {
  for (const LeafTranslator::Capture &capture : leaf.captures) {
    if (!capture.object || !capture.object->decl)
      continue;
    const clang::ValueDecl *decl = capture.object->decl;
    auto names = [&](const Listed &listed) { return isListedAs(listed, decl); };
    bool declared = llvm::any_of(own.outputs, names);
    if (capture.writes && !declared && llvm::any_of(own.inputs, names)) {
      diag.emitError(capture.writeAt, "'" + decl->getNameAsString() +
                                          "' is written here, but is only an input of " +
                                          own.call->getDirectCallee()->getName());
      diag.note(own.call->getBeginLoc(), "list it among the outputs as well, and count it");
      leaf.failed = true;
    }
  }
  for (const Listed &listed : own.outputs) {
    if (!listed.decl || !listed.size || isPart)
      continue;
    bool found = false;
    for (const LeafTranslator::Capture &capture : leaf.captures)
      found |= capture.object && capture.writes && isListedAs(listed, capture.object->decl);
    if (!found && !leaf.failed) {
      diag.emitWarning(listed.expr->getBeginLoc(),
                       "'" + listed.decl->getNameAsString() + "' is listed as an output, but never written");
      diag.note(own.call->getBeginLoc(), "in this task or loop; take it out of the outputs, or write it");
    }
  }
}

void GraphBuilder::finishLeaf(LeafTranslator &leaf, Block *entry, const Lists &own, std::string name,
                              ValueRange grid, Location loc, bool isPart) {
  checkOutputs(leaf, own, isPart);
  if (leaf.failed) {
    level.failed = true;
    return;
  }
  MLIRContext *context = b.getContext();
  // Numbers that nothing uses, such as the sizes of buffers, are not passed.
  for (size_t i = leaf.captures.size(); i-- > 0;) {
    BlockArgument arg = entry->getArgument(leaf.rank + i);
    bool yielded =
        llvm::any_of(leaf.yielded, [&](const LeafTranslator::Yielded &y) { return y.value == arg; });
    if (leaf.captures[i].writes || yielded || !arg.use_empty())
      continue;
    entry->eraseArgument(leaf.rank + i);
    leaf.captures.erase(leaf.captures.begin() + i);
  }
  SmallVector<Value> inputs;
  SmallVector<dfg::PortAttr> ports;
  for (LeafTranslator::Capture &capture : leaf.captures) {
    dfg::PortMode mode = !capture.object  ? dfg::PortMode::Whole
                         : capture.writes ? dfg::PortMode::InOut
                                          : dfg::PortMode::In;
    inputs.push_back(capture.object ? capture.object->memory : capture.value);
    ports.push_back(dfg::PortAttr::get(context, mode, dfg::ReductionAttr()));
  }
  SmallVector<Type> types;
  SmallVector<dfg::ResultAttr> modes;
  SmallVector<Value> values;
  for (const LeafTranslator::Yielded &yielded : leaf.yielded) {
    values.push_back(yielded.value);
    types.push_back(yielded.value.getType());
    modes.push_back(dfg::ResultAttr::get(
        context, yielded.kind ? dfg::ResultMode::Reduce : dfg::ResultMode::Gather, yielded.kind, {}));
  }
  auto node = dfg::NodeOp::create(b, loc, uniqueName(name), grid, inputs, ports, types, modes);
  addHints(node);
  Block *to = node.getBodyBlock();
  for (auto [from, arg] : llvm::zip(entry->getArguments(), to->getArguments())) {
    arg.setLoc(from.getLoc());
    for (Value &v : values)
      if (v == from)
        v = arg;
    from.replaceAllUsesWith(arg);
  }
  // The builder may have left a terminator.
  while (!to->empty())
    to->back().erase();
  to->getOperations().splice(to->end(), entry->getOperations());
  OpBuilder end = OpBuilder::atBlockEnd(to);
  dfg::YieldOp::create(end, loc, values);
  unsigned result = 0;
  for (const LeafTranslator::Yielded &yielded : leaf.yielded) {
    Value v = node.getResult(result++);
    level.setSlot(yielded.outer->slot,
                  yielded.kind ? buildCombination(b, loc, yielded.kind, yielded.initial, v) : v);
  }
  for (LeafTranslator::Capture &capture : leaf.captures)
    if (capture.writes)
      capture.object->memory = node.getResult(result++);
  widenIndices(node);
}

bool GraphBuilder::build(const clang::FunctionDecl *root, ArrayRef<const clang::Stmt *> stmts) {
  Location loc = level.getLoc(root ? root->getLocation() : launch.call->getBeginLoc());
  b.setInsertionPointToEnd(module.getBody());
  OperationState state(loc, dfg::GraphOp::getOperationName());
  state.addRegion()->emplaceBlock();
  // Inputs and outputs are known at the end.
  graph = dfg::GraphOp();
  auto holder = func::FuncOp::create(loc, "graph", b.getFunctionType({}, {}));
  body = holder.addEntryBlock();
  b.setInsertionPointToStart(body);
  if (!addInputs(root)) {
    holder.erase();
    return false;
  }
  all.assign(stmts.begin(), stmts.end());
  entered.insert(root);
  walk(stmts, nullptr);
  if (level.failed) {
    holder.erase();
    return false;
  }
  updateStates();
  makePrivate();
  // What is written goes out under the name it came in with.
  SmallVector<Value> returned;
  SmallVector<Attribute> resultNames, argNames;
  SmallVector<Type> resultTypes, argTypes;
  for (auto [object, name] : llvm::zip(memory, memoryNames))
    if (!isa<BlockArgument>(object->memory) &&
        llvm::none_of(privates, [&, o = object](const Private &own) { return own.object == o; })) {
      returned.push_back(object->memory);
      resultNames.push_back(b.getStringAttr(name));
      resultTypes.push_back(object->memory.getType());
      for (GraphInput &input : launch.inputs)
        input.written |= input.name == name;
    }
  // What nothing uses is not passed.
  for (unsigned i = body->getNumArguments(); i-- > 0;) {
    BlockArgument arg = body->getArgument(i);
    while (!arg.use_empty() &&
           llvm::all_of(arg.getUsers(), [](Operation *user) { return isOpTriviallyDead(user); }))
      for (Operation *user : llvm::make_early_inc_range(arg.getUsers()))
        user->erase();
    if (!arg.use_empty())
      continue;
    body->eraseArgument(i);
    launch.inputs.erase(launch.inputs.begin() + i);
  }
  llvm::StringSet<> seen;
  for (auto [arg, input] : llvm::zip(body->getArguments(), launch.inputs)) {
    argNames.push_back(b.getStringAttr(input.name));
    argTypes.push_back(arg.getType());
  }
  b.setInsertionPointToEnd(body);
  dfg::ReturnOp::create(b, loc, returned);
  b.setInsertionPointToEnd(module.getBody());
  graph = dfg::GraphOp::create(b, loc, launch.graph, b.getFunctionType(argTypes, resultTypes),
                               b.getArrayAttr(argNames), b.getArrayAttr(resultNames), StringAttr());
  graph.getBody().takeBody(holder.getBody());
  holder.erase();
  widenIndices(graph);
  // Memory is as the host has allocated it.
  graph->setAttr("tessera.align", b.getI64IntegerAttr(1));
  if (returned.empty()) {
    diag.emitError(launch.call->getBeginLoc(),
                   "the graph '" + launch.graph + "' has no effect: it writes nothing");
    diag.note(launch.call->getBeginLoc(), "list what it computes among the outputs of its tasks and loops");
    return false;
  }
  return true;
}

bool heterocpp::buildGraph(Launch &launch, const clang::Stmt *, const clang::FunctionDecl *root,
                           const Lists &lists, ArrayRef<const clang::Stmt *> region, ModuleOp module,
                           const clang::ASTContext &ast, Diag &diag) {
  return GraphBuilder(launch, lists, module, ast, diag).build(root, region);
}
