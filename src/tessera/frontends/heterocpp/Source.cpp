// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Source.h.
#include "tessera/frontends/heterocpp/Source.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "clang/AST/Attr.h"

using namespace tessera;
using namespace tessera::heterocpp;

SourceUnit::SourceUnit(MLIRContext *mlir, const TargetNames &targets, clang::DiagnosticsEngine &engine)
    : module(ModuleOp::create(UnknownLoc::get(mlir))), mlir(mlir), targets(targets), diag(engine) {
  mlir->loadDialect<dfg::DfgDialect, affine::AffineDialect, arith::ArithDialect, scf::SCFDialect,
                    memref::MemRefDialect, tensor::TensorDialect, math::MathDialect, func::FuncDialect>();
}

bool SourceUnit::HandleTopLevelDecl(clang::DeclGroupRef group) {
  for (clang::Decl *decl : group)
    finder.add(decl);
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

// The header marks its namespace: where it was preprocessed before, no name of a file tells.
bool heterocpp::isOwnHeader(clang::SourceLocation at, const clang::ASTContext &ast) {
  const clang::SourceManager &sources = ast.getSourceManager();
  at = sources.getExpansionLoc(at);
  auto holds = [&](const clang::NamespaceDecl *part) {
    const auto *mark = part->getAttr<clang::AnnotateAttr>();
    return mark && mark->getAnnotation() == "tessera.own" &&
           sources.getFileID(at) == sources.getFileID(part->getBeginLoc()) &&
           sources.getFileOffset(at) >= sources.getFileOffset(part->getBeginLoc()) &&
           sources.getFileOffset(at) <= sources.getFileOffset(part->getRBraceLoc());
  };
  for (const clang::NamedDecl *found : ast.getTranslationUnitDecl()->lookup(&ast.Idents.get("tessera")))
    if (const auto *space = dyn_cast<clang::NamespaceDecl>(found))
      if (llvm::any_of(space->redecls(), holds))
        return true;
  return false;
}

void SourceUnit::HandleTranslationUnit(clang::ASTContext &context) {
  ast = &context;
  if (context.getDiagnostics().hasErrorOccurred())
    return;
  // What came without a word: from precompiled headers and modules, and what templates of classes have made.
  for (clang::Decl *decl : context.getTranslationUnitDecl()->decls())
    finder.add(decl);
  finder.finish(diag);
  for (const MarkerFinder::Region &region : finder.regions)
    addRegion(region);
  findLaunches();
  if (diag.errors || launches.empty())
    return;
  finishGraphs();
  describeLaunches();
}

void SourceUnit::findLaunches() {
  // What stands in a lambda that is a graph, a task or a loop is launched by nobody else.
  std::set<const clang::DeclContext *> graphs;
  for (const MarkerFinder::Found &each : finder.found)
    if (each.host && isOwnHeader(each.call->getBeginLoc(), *ast))
      if (const clang::CXXRecordDecl *lambda = getLambda(each.host))
        graphs.insert(lambda->getLambdaCallOperator());
  auto isPart = [&](const clang::FunctionDecl *host) {
    const clang::DeclContext *context = host ? getLambda(host) : nullptr;
    while (context && !graphs.count(context->getParent()))
      context = context->getParent();
    return context != nullptr;
  };
  for (const MarkerFinder::Found &each : finder.found)
    if (each.kind == MarkerKind::Push)
      addPush(each);
    else if (each.isInside || isPart(each.host))
      addPart(each);
    else
      addLaunch(each);
  // A mistake in what nothing launches yet is one as well.
  for (const clang::FunctionDecl *function : finder.hosts)
    checkMarkers(function->getBody(), *ast, diag);
}

void SourceUnit::finishGraphs() {
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
void SourceUnit::addPush(const MarkerFinder::Found &found) {
  const clang::CallExpr *call = found.call;
  std::optional<Lists> lists = readLists(call, MarkerKind::Push, *ast, diag);
  if (!lists)
    return;
  const std::vector<Word> given = getWords(call, lists->inputs);
  host.pushes.push_back({finder.getNumber(call), given, false});
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

// The function that an expression names; null when it is another expression.
static const clang::FunctionDecl *getNamed(const clang::Expr *expr) {
  expr = expr->IgnoreParenCasts();
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(expr);
      unary && unary->getOpcode() == clang::UO_AddrOf)
    expr = unary->getSubExpr()->IgnoreParenCasts();
  const auto *ref = dyn_cast<clang::DeclRefExpr>(expr);
  return ref ? dyn_cast<clang::FunctionDecl>(ref->getDecl()) : nullptr;
}

// Whether the root of a launch is an instance of a template that Clang did not make: no code holds the
// launch, as in a member's initialiser that no constructor uses.
static bool isUnmade(const clang::Expr *root) {
  const clang::FunctionDecl *named = getNamed(root);
  const clang::FunctionDecl *pattern = named ? named->getTemplateInstantiationPattern() : nullptr;
  return pattern && pattern->hasBody() && !named->hasBody();
}

const clang::FunctionDecl *heterocpp::getRoot(const Lists &lists, Diag &diag) {
  const clang::FunctionDecl *root = getNamed(lists.root);
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

// A launch of what is a part of another graph. Where the host calls the function around it, the launched
// function runs there as well.
void SourceUnit::addPart(const MarkerFinder::Found &found) {
  HostWords part{finder.getNumber(found.call), {}, false};
  if (found.kind == MarkerKind::LaunchBegin || found.kind == MarkerKind::LaunchEnd)
    part.isRegion = true;
  else if (std::optional<Lists> lists = readLists(found.call, found.kind, *ast, diag))
    part.words = getWords(found.call, lists->inputs);
  host.parts.push_back(std::move(part));
}

void SourceUnit::addLaunch(const MarkerFinder::Found &found) {
  const clang::CallExpr *call = found.call;
  std::optional<Lists> lists = readLists(call, found.kind, *ast, diag);
  if (!lists)
    return;
  if (isUnmade(lists->root))
    return;
  const clang::FunctionDecl *definition = getRoot(*lists, diag);
  if (!definition || !checkArguments(*lists, definition, mlir, *ast, diag))
    return;
  Launch launch;
  launch.host = found.host;
  launch.call = call;
  launch.isStream = found.kind == MarkerKind::LaunchStream;
  if (launch.isStream && !describeItems(launch, *lists, *ast, diag))
    return;
  // One graph for all launches that say the same about their memory.
  std::string said = launch.isStream ? "stream" : "launch";
  for (const Listed &listed : lists->inputs) {
    clang::QualType element = listed.expr->IgnoreParenImpCasts()->getType()->getPointeeType();
    bool one = !element.isNull() && element->isRecordType() && isOne(listed, element, found.host, *ast);
    said += (one ? " one " : " any ") + std::to_string(listed.argument);
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
        return input.member && input.member->part != HostPlace::Whole;
      })) {
    diag.emitError(call->getBeginLoc(), "a stream cannot gather what an array of structures points to");
    diag.note(definition->getLocation(), "pass the memory itself to the graph, with its size");
    return;
  }
  known[key] = launches.size();
  launches.push_back(std::move(launch));
}

void SourceUnit::addRegion(const MarkerFinder::Region &region) {
  const clang::CallExpr *call = region.begin;
  std::optional<Lists> lists = readLists(call, MarkerKind::LaunchBegin, *ast, diag);
  if (!lists)
    return;
  for (const clang::Stmt *stmt : region.stmts)
    if (findJumps(stmt).any()) {
      diag.emitError(stmt->getBeginLoc(), "a launch cannot be left by 'return', 'break' or 'continue'");
      diag.note(call->getBeginLoc(), "the launch begins here; decide before it, or after its end");
      return;
    }
  Launch launch;
  launch.host = region.host;
  launch.call = call;
  launch.end = region.end;
  launch.graph = uniqueName(lists->name.empty() ? region.host->getNameAsString() + ".launch" : lists->name);
  if (buildGraph(launch, nullptr, *lists, region.stmts, targets, *module, *ast, diag))
    launches.push_back(std::move(launch));
}

// The variables of a function that keep handles, by launch, and those that somebody asks for.
void SourceUnit::Handles::find(const clang::Stmt *stmt) {
  MarkerKind kind;
  if (!stmt || (isa<clang::Expr>(stmt) && findMarker(stmt, kind) && kind == MarkerKind::LaunchEnd))
    return;
  if (const auto *decls = dyn_cast<clang::DeclStmt>(stmt); decls && decls->isSingleDecl())
    if (const auto *var = dyn_cast<clang::VarDecl>(decls->getSingleDecl()))
      if (const clang::CallExpr *call = findMarker(stmt, kind))
        keeper[call] = var;
  if (const auto *ref = dyn_cast<clang::DeclRefExpr>(stmt))
    asked.insert(ref->getDecl());
  for (const clang::Stmt *child : stmt->children())
    find(child);
}

// A launch that nobody waits for has ended when it returns: the memory that it writes may be gone afterwards.
bool SourceUnit::isForgotten(const Launch &launch) {
  if (!launch.host)
    return false;
  auto [own, isNew] = handles.try_emplace(launch.host);
  if (isNew)
    own->second.find(launch.host->getBody());
  const clang::VarDecl *handle = own->second.keeper[launch.call];
  return handle && handle->hasLocalStorage() && !own->second.asked.count(handle);
}

// A scalar as the launch passes it and as the graph takes it.
static void describeNumber(const GraphInput &input, const Launch &launch, const clang::ASTContext &ast,
                           MLIRContext *mlir, HostInput &made) {
  Type type = memoryType(input.type, mlir, ast);
  made.bits = type.getIntOrFloatBitWidth();
  made.isFloat = isa<FloatType>(type);
  made.isBfloat = type.isBF16();
  made.isBool = input.type->isBooleanType();
  made.isSigned = input.type->isSignedIntegerOrEnumerationType();
  clang::QualType source = input.member ? input.type : launch.call->getArg(input.argument)->getType();
  made.isFromSigned = source->isSignedIntegerOrEnumerationType();
}

static HostInput describe(const GraphInput &input, const Launch &launch, const clang::ASTContext &ast,
                          MLIRContext *mlir) {
  HostInput made;
  made.name = input.name;
  made.argument = input.argument;
  made.sizeArgument = input.sizeArgument;
  made.unitBytes = input.unitBytes;
  made.member = input.member;
  made.written = input.written;
  for (const GraphInput::Extent &extent : input.inner)
    made.inner.push_back(
        {extent.factor,
         extent.number ? std::make_shared<HostInput>(describe(*extent.number, launch, ast, mlir)) : nullptr});
  if (!input.sizeArgument)
    describeNumber(input, launch, ast, mlir, made);
  return made;
}

void SourceUnit::describeLaunches() {
  for (const Launch &launch : launches) {
    HostLaunch made;
    made.number = finder.getNumber(launch.call);
    if (launch.end)
      made.end = finder.getNumber(launch.end);
    made.graph = launch.graph;
    made.isForgotten = isForgotten(launch);
    made.isStream = launch.isStream;
    made.output = launch.output;
    made.words = launch.words;
    for (const GraphInput &output : launch.outputs) {
      made.outputs.push_back(describe(output, launch, *ast, mlir));
      made.outputs.back().written = true;
    }
    for (const GraphInput &input : launch.inputs)
      made.inputs.push_back(describe(input, launch, *ast, mlir));
    host.launches.push_back(std::move(made));
  }
}
