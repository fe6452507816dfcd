// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See MarkerFinder.h.
#include "tessera/frontends/heterocpp/MarkerFinder.h"

#include "clang/AST/Attr.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace tessera::heterocpp;
using namespace clang;

// Most files have no markers, and most declarations come before theirs.
bool MarkerFinder::mayHoldMarkers() {
  // Names in precompiled headers and modules are read when somebody asks for them.
  areDeclared |= ast->getExternalSource() != nullptr;
  for (llvm::StringRef family : {"__hetero_", "__hpvm_"})
    for (llvm::StringRef more : {"", "_"})
      for (llvm::StringRef name : {"launch", "launch_begin", "launch_end", "launch_stream", "push"})
        areDeclared = areDeclared || ast->Idents.find((family + more + name).str()) != ast->Idents.end();
  return areDeclared;
}

void MarkerFinder::add(Decl *decl) {
  if (areDeclared || mayHoldMarkers())
    TraverseDecl(decl);
}

void MarkerFinder::traverseInstances(RedeclarableTemplateDecl *decl) {
  if (auto *functions = dyn_cast<FunctionTemplateDecl>(decl))
    for (FunctionDecl *made : functions->specializations())
      for (FunctionDecl *each : made->redecls())
        TraverseDecl(each);
  if (auto *classes = dyn_cast<ClassTemplateDecl>(decl))
    for (ClassTemplateSpecializationDecl *made : classes->specializations())
      TraverseDecl(made);
  if (auto *variables = dyn_cast<VarTemplateDecl>(decl))
    for (VarTemplateSpecializationDecl *made : variables->specializations())
      TraverseDecl(made);
}

bool MarkerFinder::TraverseDecl(Decl *decl) {
  if (!decl)
    return true;
  // Of templates, what is made of them. A class may name its own template as a friend.
  if (auto *redeclared = dyn_cast<RedeclarableTemplateDecl>(decl)) {
    if (!entered.insert(redeclared->getCanonicalDecl()).second)
      return true;
    traverseInstances(redeclared);
    entered.erase(redeclared->getCanonicalDecl());
    return true;
  }
  if (decl->isTemplated())
    return true;
  auto *function = dyn_cast<FunctionDecl>(decl);
  if (!function)
    return RecursiveASTVisitor::TraverseDecl(decl);
  for (ParmVarDecl *parameter : function->parameters())
    TraverseDecl(parameter);
  if (!function->doesThisDeclarationHaveABody() || !visited.insert(function).second)
    return true;
  llvm::SaveAndRestore inFunction(host, static_cast<const FunctionDecl *>(function));
  return RecursiveASTVisitor::TraverseDecl(decl);
}

// A statement without its labels.
static const Stmt *strip(const Stmt *stmt) {
  while (true) {
    if (const auto *label = dyn_cast<LabelStmt>(stmt))
      stmt = label->getSubStmt();
    else if (const auto *attributed = dyn_cast<AttributedStmt>(stmt))
      stmt = attributed->getSubStmt();
    else if (const auto *choice = dyn_cast<SwitchCase>(stmt))
      stmt = choice->getSubStmt();
    else
      return stmt;
  }
}

// Pairs the begins and ends of one block. What is between belongs to the launch.
bool MarkerFinder::TraverseCompoundStmt(CompoundStmt *block) {
  llvm::SmallVector<Stmt *> stmts(block->body());
  auto isMarker = [&](size_t i, MarkerKind wanted) -> const CallExpr * {
    MarkerKind kind;
    const CallExpr *call = findMarker(strip(stmts[i]), kind);
    return call && kind == wanted ? call : nullptr;
  };
  for (size_t i = 0; i < stmts.size(); ++i) {
    const CallExpr *begin = isInside ? nullptr : isMarker(i, MarkerKind::LaunchBegin);
    TraverseStmt(stmts[i]);
    if (!begin)
      continue;
    paired.insert(begin);
    Region region{begin, nullptr, {}, host};
    size_t last = i + 1;
    while (last < stmts.size() && !region.end)
      region.end = isMarker(last++, MarkerKind::LaunchEnd);
    if (!region.end) {
      problems.push_back(
          {begin->getBeginLoc(), "expected '__hetero_launch_end' in the same block, but got its end",
           block->getRBracLoc(), "the block ends here; a launch begins and ends between the same braces"});
      continue;
    }
    paired.insert(region.end);
    llvm::SaveAndRestore inside(isInside, true);
    for (++i; i + 1 < last; ++i) {
      region.stmts.push_back(stmts[i]);
      TraverseStmt(stmts[i]);
    }
    TraverseStmt(stmts[i]);
    regions.push_back(std::move(region));
  }
  return true;
}

bool MarkerFinder::VisitVarDecl(VarDecl *var) {
  for (QualType type = var->getType(); const VariableArrayType *array = ast->getAsVariableArrayType(type);
       type = array->getElementType())
    TraverseStmt(array->getSizeExpr());
  return true;
}

static FunctionDecl *getMarker(Expr *callee, MarkerKind &kind) {
  auto *ref = dyn_cast<DeclRefExpr>(callee->IgnoreParenImpCasts());
  auto *function = ref ? dyn_cast<FunctionDecl>(ref->getDecl()) : nullptr;
  if (!function || isa<CXXMethodDecl>(function) || !function->getIdentifier())
    return nullptr;
  std::optional<MarkerKind> found = getMarkerKind(function->getName());
  if (!found)
    return nullptr;
  kind = *found;
  return function;
}

bool MarkerFinder::VisitCallExpr(CallExpr *call) {
  MarkerKind kind;
  FunctionDecl *callee = getMarker(call->getCallee(), kind);
  if (!callee)
    return true;
  callees.insert(call->getCallee()->IgnoreParenImpCasts());
  if (host)
    hosts.insert(host);
  if (!isNumbered(kind) || numbers.count(call))
    return true;
  number(call, callee);
  callees.insert(call->getCallee()->IgnoreParenImpCasts());
  bool isEdge = kind == MarkerKind::LaunchBegin || kind == MarkerKind::LaunchEnd;
  if (isEdge && !isInside)
    edges.push_back(call);
  else
    found.push_back({call, kind, host, isInside});
  return true;
}

// Instances of a template may share a call, and its name with others: the new one is for this call alone.
void MarkerFinder::number(CallExpr *call, FunctionDecl *callee) {
  unsigned number = places.size();
  numbers[call] = number;
  places.push_back(call->getExprLoc());
  FunctionDecl *made =
      FunctionDecl::Create(*ast, ast->getTranslationUnitDecl(), callee->getBeginLoc(), callee->getLocation(),
                           callee->getDeclName(), callee->getType(), callee->getTypeSourceInfo(), SC_Extern);
  llvm::SmallVector<ParmVarDecl *> parameters;
  for (ParmVarDecl *parameter : callee->parameters())
    parameters.push_back(ParmVarDecl::Create(*ast, made, parameter->getBeginLoc(), parameter->getLocation(),
                                             parameter->getIdentifier(), parameter->getType(), nullptr,
                                             SC_None, nullptr));
  made->setParams(parameters);
  made->setImplicit();
  made->addAttr(AsmLabelAttr::CreateImplicit(*ast, getNumberedName(number)));
  auto *ref = DeclRefExpr::Create(*ast, NestedNameSpecifierLoc(), SourceLocation(), made, false,
                                  call->getCallee()->getExprLoc(), made->getType(), VK_LValue);
  call->setCallee(ImplicitCastExpr::Create(*ast, ast->getPointerType(made->getType()),
                                           CK_FunctionToPointerDecay, ref, nullptr, VK_PRValue,
                                           FPOptionsOverride()));
}

// The compiler must see who is launched, and with what.
bool MarkerFinder::VisitDeclRefExpr(DeclRefExpr *ref) {
  MarkerKind kind;
  FunctionDecl *marker = getMarker(ref, kind);
  if (marker && isNumbered(kind) && callees.insert(ref).second)
    problems.push_back({ref->getBeginLoc(),
                        "expected a call of '" + marker->getNameAsString() + "', but got its address",
                        ref->getEndLoc(), "call it where it is named: the compiler reads its arguments"});
  return true;
}

void MarkerFinder::finish(Diag &diag) {
  // Instances of a template stand where the template does, and come in the order in which they were made.
  auto isBefore = [&](const CallExpr *a, const CallExpr *b) {
    SourceLocation first = a->getBeginLoc(), second = b->getBeginLoc();
    return first == second ? getNumber(a) < getNumber(b)
                           : ast->getSourceManager().isBeforeInTranslationUnit(first, second);
  };
  llvm::sort(found, [&](const Found &a, const Found &b) { return isBefore(a.call, b.call); });
  llvm::sort(regions, [&](const Region &a, const Region &b) { return isBefore(a.begin, b.begin); });
  for (const Problem &problem : problems) {
    diag.emitError(problem.at, problem.text);
    diag.note(problem.noteAt, problem.note);
  }
  for (const CallExpr *call : edges) {
    if (paired.count(call))
      continue;
    bool isEnd = *getMarkerKind(call->getDirectCallee()->getName()) == MarkerKind::LaunchEnd;
    diag.emitError(call->getBeginLoc(),
                   isEnd ? "'__hetero_launch_end' without a launch that begins in the same block"
                         : "expected '__hetero_launch_begin' as a statement of a block or the value of a "
                           "variable, but got it inside of another expression or statement");
    diag.note(call->getBeginLoc(), "a launch begins and ends between the same braces");
  }
}
