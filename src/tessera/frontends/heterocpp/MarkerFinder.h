// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the calls of markers that the host module must find again, and gives each a number before Clang
// generates code for it. The number is a name of the called function: whatever copies a call (constructors,
// default arguments, templates, outlined regions), moves it or says that it stands elsewhere (macros,
// preprocessed files, #line) takes the number along.
#pragma once

#include "tessera/frontends/heterocpp/Markers.h"

#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <set>
#include <vector>

namespace tessera::heterocpp {

class MarkerFinder : public clang::RecursiveASTVisitor<MarkerFinder> {
public:
  /// A launch or a push.
  struct Found {
    clang::CallExpr *call;
    MarkerKind kind;
    const clang::FunctionDecl *host; ///< null: an initialiser outside of functions
    bool isInside;                   ///< of a region that is launched
  };
  /// What stands between the begin and the end of a launch.
  struct Region {
    const clang::CallExpr *begin, *end;
    llvm::SmallVector<const clang::Stmt *> stmts;
    const clang::FunctionDecl *host;
  };

  void setContext(clang::ASTContext &context) { ast = &context; }
  /// Looks through a declaration and what it holds; what was seen before is skipped. To be called before code
  /// is generated for it.
  void add(clang::Decl *decl);
  /// To be called at the end: sorts the calls by their place in the text, and reports markers that stand
  /// where they have no effect.
  void finish(Diag &diag);

  std::vector<Found> found;
  std::vector<Region> regions;
  llvm::SetVector<const clang::FunctionDecl *> hosts; ///< functions with markers of any kind
  std::vector<clang::SourceLocation> places;          ///< by number
  unsigned getNumber(const clang::CallExpr *call) const { return numbers.at(call); }

  // What RecursiveASTVisitor asks for and calls.
  bool shouldVisitImplicitCode() const { return true; }
  bool shouldVisitTemplateInstantiations() const { return true; }
  bool TraverseDecl(clang::Decl *decl);
  bool TraverseCompoundStmt(clang::CompoundStmt *block);
  bool TraverseTypeLoc(clang::TypeLoc, bool = true) { return true; }
  bool TraverseNestedNameSpecifierLoc(clang::NestedNameSpecifierLoc) { return true; }
  bool TraverseAttr(clang::Attr *) { return true; }
  // These are not evaluated.
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr *) { return true; }
  bool TraverseCXXNoexceptExpr(clang::CXXNoexceptExpr *) { return true; }
  bool TraverseRequiresExpr(clang::RequiresExpr *) { return true; }
  bool TraverseConceptSpecializationExpr(clang::ConceptSpecializationExpr *) { return true; }
  bool VisitVarDecl(clang::VarDecl *var);
  bool VisitCallExpr(clang::CallExpr *call);
  bool VisitDeclRefExpr(clang::DeclRefExpr *ref);

private:
  bool mayHoldMarkers();
  void traverseInstances(clang::RedeclarableTemplateDecl *decl);
  void number(clang::CallExpr *call, clang::FunctionDecl *callee);

  clang::ASTContext *ast = nullptr;
  bool areDeclared = false;
  const clang::FunctionDecl *host = nullptr;
  bool isInside = false;
  std::map<const clang::CallExpr *, unsigned> numbers;
  std::set<const clang::CallExpr *> paired; ///< begins and ends that belong together
  std::set<const clang::FunctionDecl *> visited;
  std::set<const clang::Decl *> entered; ///< templates that are being looked through
  std::set<const clang::Expr *> callees;
  struct Problem {
    clang::SourceLocation at;
    std::string text;
    clang::SourceLocation noteAt;
    std::string note;
  };
  std::vector<Problem> problems;
  std::vector<const clang::CallExpr *> edges; ///< all begins and ends outside of regions
};

} // namespace tessera::heterocpp
