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
  clang::SourceLocation at = getUserLoc(isPart ? stmts.front()->getBeginLoc() : task.call->getBeginLoc());
  Location loc = level.getLoc(at);
  auto holder = func::FuncOp::create(loc, "leaf", b.getFunctionType({}, {}));
  Block *entry = holder.addEntryBlock();
  OpBuilder inner = OpBuilder::atBlockBegin(entry);
  LeafTranslator leaf(inner, level, task, entry);
  findChangedOutside(leaf, stmts);
  for (const clang::Stmt *stmt : stmts)
    leaf.captureAll(stmt);
  leaf.open();
  leaf.emitStmts(stmts);
  leaf.finishAccumulators(at);
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
    if (!listed.decl || !listed.size || isPart || !level.isMemory(listed.decl))
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
    if (yielded.logic != Logic::None)
      v = buildJoined(b, loc, yielded.logic, yielded.initial, v);
    else if (yielded.kind)
      v = buildCombination(b, loc, yielded.kind, yielded.initial, v);
    level.setSlot(yielded.outer->slot, v);
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
  if (const clang::CXXRecordDecl *lambda = launch.host ? getLambda(launch.host) : nullptr)
    calledAt = lambda->getLocation();
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
  SharedNotes::align.set(graph, 1);
  if (returned.empty()) {
    diag.emitError(launch.call->getBeginLoc(),
                   "the graph '" + launch.graph + "' has no effect: it writes nothing");
    diag.note(launch.call->getBeginLoc(), "list what it computes among the outputs of its tasks and loops");
    return false;
  }
  return true;
}

bool heterocpp::buildGraph(Launch &launch, const clang::FunctionDecl *root, const Lists &lists,
                           ArrayRef<const clang::Stmt *> region, const TargetNames &targets, ModuleOp module,
                           const clang::ASTContext &ast, Diag &diag) {
  return GraphBuilder(launch, lists, targets, module, ast, diag).build(root, region);
}
