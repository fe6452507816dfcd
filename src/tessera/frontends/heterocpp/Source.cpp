// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Source.h.
#include "tessera/frontends/heterocpp/Source.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace tessera;
using namespace tessera::heterocpp;

SourceUnit::SourceUnit(MLIRContext *mlir, ArrayRef<std::string> targets, clang::DiagnosticsEngine &engine)
    : module(ModuleOp::create(UnknownLoc::get(mlir))), mlir(mlir), targets(targets), diag(engine) {
  mlir->loadDialect<dfg::DfgDialect, affine::AffineDialect, arith::ArithDialect, scf::SCFDialect,
                    memref::MemRefDialect, tensor::TensorDialect, math::MathDialect, func::FuncDialect>();
}

bool SourceUnit::HandleTopLevelDecl(clang::DeclGroupRef group) {
  decls.insert(decls.end(), group.begin(), group.end());
  return true;
}

const clang::CXXRecordDecl *heterocpp::getLambda(const clang::FunctionDecl *function) {
  const clang::TemplateArgumentList *args = function->getTemplateSpecializationArgs();
  if (const auto *record = dyn_cast<clang::ClassTemplateSpecializationDecl>(function->getDeclContext()))
    args = &record->getTemplateArgs();
  for (unsigned i = 0; args && i < args->size(); ++i)
    if (args->get(i).getKind() == clang::TemplateArgument::Type)
      if (const auto *record = args->get(i).getAsType()->getAsCXXRecordDecl(); record && record->isLambda())
        return record;
  return nullptr;
}

bool heterocpp::isOwnHeader(clang::SourceLocation at, const clang::ASTContext &ast) {
  const clang::SourceManager &sources = ast.getSourceManager();
  return sources.getFilename(sources.getExpansionLoc(at)).ends_with("tessera/hetero.hpp");
}

void SourceUnit::HandleTranslationUnit(clang::ASTContext &context) {
  ast = &context;
  if (context.getDiagnostics().hasErrorOccurred())
    return;
  const clang::SourceManager &sources = context.getSourceManager();
  for (const clang::Decl *decl : decls)
    // Markers in the headers of the system would be news; ours has the templates that launch lambdas.
    if (!sources.isInSystemHeader(decl->getLocation()) || isOwnHeader(decl->getLocation(), context))
      visit(decl);
  // What stands in a lambda that is a graph, a task or a loop is launched by nobody else.
  std::set<const clang::DeclContext *> graphs;
  for (const Found &each : found)
    if (isOwnHeader(each.call->getBeginLoc(), context))
      if (const clang::CXXRecordDecl *lambda = getLambda(each.host))
        graphs.insert(lambda->getLambdaCallOperator());
  auto isPart = [&](const clang::FunctionDecl *host) {
    const clang::DeclContext *context = getLambda(host);
    while (context && !graphs.count(context->getParent()))
      context = context->getParent();
    return context != nullptr;
  };
  for (const Found &each : found)
    if (each.kind == MarkerKind::Push)
      addPush(each.call, each.host);
    else if (!isPart(each.host))
      addLaunch(each.call, each.kind, each.host);
  // A mistake in what nothing launches yet is one as well.
  for (const clang::FunctionDecl *function : visited)
    checkMarkers(function->getBody(), context, diag);
  if (diag.errors || launches.empty())
    return;
  PassManager tidy(mlir);
  tidy.addPass(createCanonicalizerPass());
  tidy.addPass(createCSEPass());
  RewritePatternSet truth(mlir);
  addTruthPatterns(truth);
  if (failed(tidy.run(*module)) || failed(applyPatternsGreedily(*module, std::move(truth)))) {
    diag.emitError({}, "the graphs of this file break a rule");
    return;
  }
  for (auto graph : module->getOps<dfg::GraphOp>()) {
    findReductions(graph);
  }
  expandCombinations(*module);
  for (auto graph : module->getOps<dfg::GraphOp>()) {
    // Launches of one graph pass their arguments alike.
    Launch *first = nullptr;
    for (Launch &launch : launches) {
      if (launch.graph != graph.getSymName())
        continue;
      if (!first) {
        first = &launch;
        useValues(graph, launch);
      }
      launch.inputs = first->inputs;
      launch.outputs = first->outputs;
    }
  }
}

void SourceUnit::visit(const clang::Decl *decl) {
  if (const auto *function = dyn_cast<clang::FunctionDecl>(decl))
    return visitFunction(function);
  if (const auto *templated = dyn_cast<clang::FunctionTemplateDecl>(decl)) {
    for (const clang::FunctionDecl *made : templated->specializations())
      visitFunction(made);
    return;
  }
  if (const auto *templated = dyn_cast<clang::ClassTemplateDecl>(decl)) {
    for (const clang::ClassTemplateSpecializationDecl *made : templated->specializations())
      visit(made);
    return;
  }
  if (const auto *context = dyn_cast<clang::DeclContext>(decl);
      context && (isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::CXXRecordDecl>(decl))) {
    if (const auto *record = dyn_cast<clang::CXXRecordDecl>(decl); record && record->isDependentType())
      return;
    for (const clang::Decl *child : context->decls())
      visit(child);
  }
}

void SourceUnit::visitFunction(const clang::FunctionDecl *function) {
  if (function->isDependentContext() || !function->doesThisDeclarationHaveABody() ||
      !visited.insert(function))
    return;
  visitStmt(function->getBody(), function);
}

void SourceUnit::visitStmt(const clang::Stmt *stmt, const clang::FunctionDecl *function) {
  if (!stmt)
    return;
  if (const auto *lambda = dyn_cast<clang::LambdaExpr>(stmt)) {
    if (!lambda->getCallOperator()->isDependentContext())
      visitFunction(lambda->getCallOperator());
    return;
  }
  if (const auto *compound = dyn_cast<clang::CompoundStmt>(stmt)) {
    SmallVector<const clang::Stmt *> stmts(compound->body_begin(), compound->body_end());
    for (size_t i = 0; i < stmts.size(); ++i) {
      MarkerKind kind;
      const clang::CallExpr *call = findMarker(stmts[i], kind);
      if (!call || kind != MarkerKind::LaunchBegin) {
        if (call && kind == MarkerKind::LaunchEnd) {
          diag.emitError(call->getBeginLoc(),
                         "'__hetero_launch_end' without a launch that begins in the same block");
          diag.note(call->getBeginLoc(), "a launch begins and ends between the same braces");
        }
        visitStmt(stmts[i], function);
        continue;
      }
      size_t first = i + 1;
      const clang::CallExpr *end = nullptr;
      for (++i; i < stmts.size() && !end; ++i) {
        MarkerKind inner;
        const clang::CallExpr *found = findMarker(stmts[i], inner);
        if (found && inner == MarkerKind::LaunchEnd)
          end = found;
      }
      --i;
      if (!end) {
        diag.emitError(call->getBeginLoc(),
                       "expected '__hetero_launch_end' in the same block, but got its end");
        diag.note(compound->getRBracLoc(),
                  "the block ends here; a launch begins and ends between the same braces");
        return;
      }
      addRegion(call, ArrayRef<const clang::Stmt *>(stmts).slice(first, i - first), end, function);
    }
    return;
  }
  MarkerKind kind;
  if (const auto *expr = dyn_cast<clang::Expr>(stmt))
    if (const clang::CallExpr *call = findMarker(expr, kind);
        call && (call == expr || expr->IgnoreParenCasts() == call)) {
      if (kind == MarkerKind::Launch || kind == MarkerKind::LaunchStream || kind == MarkerKind::Push) {
        found.push_back({call, kind, function});
        return;
      }
    }
  for (const clang::Stmt *child : stmt->children())
    visitStmt(child, function);
}

std::string SourceUnit::uniqueName(std::string name) {
  std::string tried = name;
  for (unsigned i = 1; !names.insert(tried).second; ++i)
    tried = name + "." + std::to_string(i);
  return tried;
}

// What a push passes, and which of it a pop returns.
static bool describeItems(Launch &launch, const Lists &lists, const clang::ASTContext &ast, Diag &diag) {
  launch.words = getWords(launch.call, lists.inputs);
  for (auto [i, word] : llvm::enumerate(launch.words))
    for (const Listed &listed : lists.inputs)
      if (listed.argument == word.argument && listed.size && lists.isOutput(listed, ast)) {
        launch.output = i;
        return true;
      }
  diag.emitError(launch.call->getBeginLoc(), "a stream needs an output that is one of its inputs as well");
  diag.note(launch.call->getRParenLoc(), "list the memory that each item writes in both lists");
  return false;
}

// Where the stream is known by its variable, its inputs are compared here; otherwise when the program runs.
void SourceUnit::addPush(const clang::CallExpr *call, const clang::FunctionDecl *host) {
  std::optional<Lists> lists = readLists(call, MarkerKind::Push, *ast, diag);
  if (!lists)
    return;
  pushes.push_back({call, host, getWords(call, lists->inputs)});
  const auto *ref = dyn_cast<clang::DeclRefExpr>(call->getArg(0)->IgnoreParenCasts());
  const auto *var = ref ? dyn_cast<clang::VarDecl>(ref->getDecl()) : nullptr;
  MarkerKind kind;
  const clang::CallExpr *opened = var && var->getInit() ? findMarker(var->getInit(), kind) : nullptr;
  if (!opened)
    return;
  if (kind != MarkerKind::LaunchStream) {
    diag.emitError(call->getArg(0)->getBeginLoc(), "'" + var->getNameAsString() + "' is no stream");
    diag.note(opened->getBeginLoc(), "launch it with '__hetero_launch_stream' to push items");
    return;
  }
  for (const Launch &launch : launches) {
    if (launch.call != opened)
      continue;
    const std::vector<Word> &given = pushes.back().words;
    if (given.size() > launch.words.size()) {
      diag.emitError(call->getBeginLoc(), "a push has " + Twine(given.size()) +
                                              " values, but the stream was opened with " +
                                              Twine(launch.words.size()));
      diag.note(opened->getBeginLoc(),
                "it is opened here; push its objects in their order, or the first of them");
      return;
    }
    for (auto [mine, theirs] : llvm::zip(given, launch.words))
      if ((mine.kind == 'p') != (theirs.kind == 'p')) {
        diag.emitError(call->getArg(mine.argument)->getBeginLoc(),
                       mine.kind == 'p' ? "a pointer is pushed where the stream takes a number"
                                        : "a number is pushed where the stream takes a pointer");
        diag.note(opened->getArg(theirs.argument)->getBeginLoc(),
                  "the stream is opened with this; push its objects in their order");
        return;
      }
  }
}

const clang::FunctionDecl *heterocpp::getRoot(const Lists &lists, Diag &diag) {
  const clang::FunctionDecl *root = nullptr;
  const clang::Expr *named = lists.root->IgnoreParenCasts();
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(named);
      unary && unary->getOpcode() == clang::UO_AddrOf)
    named = unary->getSubExpr()->IgnoreParenCasts();
  if (const auto *ref = dyn_cast<clang::DeclRefExpr>(named))
    root = dyn_cast<clang::FunctionDecl>(ref->getDecl());
  if (!root) {
    diag.emitError(lists.root->getBeginLoc(),
                   "expected the name of a function to launch, but got another expression");
    diag.note(lists.root->getBeginLoc(),
              "the graph is built when the program is compiled: name the function");
    return nullptr;
  }
  const clang::FunctionDecl *definition = nullptr;
  if (!root->getBody(definition)) {
    diag.emitError(lists.root->getBeginLoc(), "the function '" + root->getNameAsString() +
                                                  "' is launched, but its body is not in this file");
    diag.note(root->getLocation(), "it is declared here; define it in this file or in a header");
    return nullptr;
  }
  return definition;
}

void SourceUnit::addLaunch(const clang::CallExpr *call, MarkerKind kind, const clang::FunctionDecl *host) {
  std::optional<Lists> lists = readLists(call, kind, *ast, diag);
  if (!lists)
    return;
  const clang::FunctionDecl *definition = getRoot(*lists, diag);
  if (!definition)
    return;
  Launch launch;
  launch.host = host;
  launch.call = call;
  launch.isStream = kind == MarkerKind::LaunchStream;
  if (launch.isStream && !describeItems(launch, *lists, *ast, diag))
    return;
  // One graph for all launches that say the same about their memory.
  std::string said = launch.isStream ? "stream" : "launch";
  for (const Listed &listed : lists->inputs) {
    clang::QualType element = listed.expr->IgnoreParenImpCasts()->getType()->getPointeeType();
    bool one = !element.isNull() && element->isRecordType() && isOne(listed, element, host, *ast);
    said += one ? " one" : " any";
    if (launch.isStream && lists->isOutput(listed, *ast))
      said += " out";
  }
  std::pair<const clang::FunctionDecl *, std::string> key(definition, said);
  if (auto it = known.find(key); it != known.end()) {
    const Launch &before = launches[it->second];
    if (before.call->getNumArgs() == call->getNumArgs()) {
      launch.graph = before.graph;
      launch.inputs = before.inputs;
      launches.push_back(launch);
      return;
    }
  }
  launch.graph = uniqueName(lists->name.empty() ? definition->getNameAsString() : lists->name);
  SmallVector<const clang::Stmt *> stmts;
  if (const auto *compound = dyn_cast<clang::CompoundStmt>(definition->getBody()))
    stmts.append(compound->body_begin(), compound->body_end());
  if (!buildGraph(launch, definition, *lists, stmts, targets, *module, *ast, diag))
    return;
  // What structures point to is gathered for one launch, and put back after it.
  if (launch.isStream && llvm::any_of(launch.inputs, [](const GraphInput &input) {
        return input.member && input.member->part != Where::Whole;
      })) {
    diag.emitError(call->getBeginLoc(), "a stream cannot gather what an array of structures points to");
    diag.note(definition->getLocation(), "pass the memory itself to the graph, with its size");
    return;
  }
  known[key] = launches.size();
  launches.push_back(std::move(launch));
}

void SourceUnit::addRegion(const clang::CallExpr *call, ArrayRef<const clang::Stmt *> stmts,
                           const clang::CallExpr *end, const clang::FunctionDecl *host) {
  std::optional<Lists> lists = readLists(call, MarkerKind::LaunchBegin, *ast, diag);
  if (!lists)
    return;
  for (const clang::Stmt *stmt : stmts)
    if (findJumps(stmt).any()) {
      diag.emitError(stmt->getBeginLoc(), "a launch cannot be left by 'return', 'break' or 'continue'");
      diag.note(call->getBeginLoc(), "the launch begins here; decide before it, or after its end");
      return;
    }
  Launch launch;
  launch.host = host;
  launch.call = call;
  launch.isRegion = true;
  launch.graph = uniqueName(lists->name.empty() ? host->getNameAsString() + ".launch" : lists->name);
  if (!buildGraph(launch, nullptr, *lists, stmts, targets, *module, *ast, diag))
    return;
  ends[call] = end;
  launches.push_back(std::move(launch));
}

// Where Clang's debug information says that a call is.
static std::pair<unsigned, unsigned> getPlace(const clang::CallExpr *call, const clang::ASTContext &ast) {
  clang::PresumedLoc loc = ast.getSourceManager().getPresumedLoc(call->getExprLoc());
  return {loc.getLine(), loc.getColumn()};
}

std::vector<HostPush>
SourceUnit::describePushes(function_ref<std::string(const clang::FunctionDecl *)> mangle) const {
  std::vector<HostPush> result;
  for (const Push &push : pushes) {
    HostPush host;
    host.function = mangle(push.host);
    std::tie(host.line, host.column) = getPlace(push.call, *ast);
    for (const Word &word : push.words)
      host.words.push_back({word.argument, word.kind});
    result.push_back(std::move(host));
  }
  return result;
}

// The variable that keeps the handle of a launch.
static const clang::VarDecl *findHandle(const clang::Stmt *stmt, const clang::CallExpr *call) {
  if (!stmt)
    return nullptr;
  MarkerKind kind;
  if (const auto *decls = dyn_cast<clang::DeclStmt>(stmt); decls && findMarker(stmt, kind) == call)
    return dyn_cast<clang::VarDecl>(decls->getSingleDecl());
  for (const clang::Stmt *child : stmt->children())
    if (const clang::VarDecl *found = findHandle(child, call))
      return found;
  return nullptr;
}

static bool asksFor(const clang::Stmt *stmt, const clang::VarDecl *handle) {
  MarkerKind kind;
  if (!stmt || (isa<clang::Expr>(stmt) && findMarker(stmt, kind) && kind == MarkerKind::LaunchEnd))
    return false;
  if (const auto *ref = dyn_cast<clang::DeclRefExpr>(stmt))
    return ref->getDecl() == handle;
  return llvm::any_of(stmt->children(), [&](const clang::Stmt *child) { return asksFor(child, handle); });
}

// A launch that nobody waits for has ended when it returns: the memory that it writes may be gone afterwards.
static bool isForgotten(const Launch &launch) {
  const clang::VarDecl *handle = findHandle(launch.host->getBody(), launch.call);
  return handle && handle->hasLocalStorage() && !asksFor(launch.host->getBody(), handle);
}

std::vector<HostLaunch>
SourceUnit::describeLaunches(function_ref<std::string(const clang::FunctionDecl *)> mangle) const {
  std::vector<HostLaunch> result;
  auto place = [&](const clang::CallExpr *call, unsigned &line, unsigned &column) {
    std::tie(line, column) = getPlace(call, *ast);
  };
  auto describeNumber = [&](const GraphInput &input, const Launch *launch, HostInput &made) {
    Type type = memoryType(input.type, mlir, *ast);
    made.bits = type.getIntOrFloatBitWidth();
    made.isFloat = isa<FloatType>(type);
    made.isBfloat = type.isBF16();
    clang::QualType source = input.member ? input.type : launch->call->getArg(input.argument)->getType();
    made.isSigned = source->isSignedIntegerOrEnumerationType();
  };
  auto describe = [&](const GraphInput::Extent &extent) {
    HostInput::Extent made{extent.factor, extent.arguments};
    if (extent.member) {
      HostInput number;
      number.argument = extent.member->argument;
      number.member = extent.member->member;
      describeNumber(*extent.member, nullptr, number);
      made.member = std::make_shared<HostInput>(number);
    }
    return made;
  };
  for (const Launch &launch : launches) {
    HostLaunch host;
    host.function = mangle(launch.host);
    host.graph = launch.graph;
    place(launch.call, host.line, host.column);
    host.isForgotten = isForgotten(launch);
    host.isStream = launch.isStream;
    host.output = launch.output;
    for (const Word &word : launch.words)
      host.words.push_back({word.argument, word.kind});
    if (auto end = ends.find(launch.call); end != ends.end())
      place(end->second, host.endLine, host.endColumn);
    for (const GraphInput &output : launch.outputs) {
      HostInput made;
      made.name = output.name;
      made.argument = output.argument;
      made.sizeArgument = output.sizeArgument;
      made.unitBytes = output.unitBytes;
      made.member = output.member;
      made.written = true;
      for (const GraphInput::Extent &extent : output.inner)
        made.inner.push_back(describe(extent));
      host.outputs.push_back(made);
    }
    for (const GraphInput &input : launch.inputs) {
      HostInput made;
      made.name = input.name;
      made.argument = input.argument;
      made.sizeArgument = input.sizeArgument;
      made.unitBytes = input.unitBytes;
      made.member = input.member;
      made.written = input.written;
      for (const GraphInput::Extent &extent : input.inner)
        made.inner.push_back(describe(extent));
      if (!input.sizeArgument)
        describeNumber(input, &launch, made);
      host.inputs.push_back(made);
    }
    result.push_back(std::move(host));
  }
  return result;
}
