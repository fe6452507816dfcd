// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One source file while Clang has its AST: finds the launches and builds their graphs.
#pragma once

#include "tessera/frontends/heterocpp/Graph.h"
#include "tessera/frontends/heterocpp/Host.h"
#include "tessera/frontends/heterocpp/MarkerFinder.h"

#include "clang/AST/ASTConsumer.h"

namespace tessera::heterocpp {

class SourceUnit : public clang::ASTConsumer {
public:
  /// `targets` are the names that hints may have; where none is built: any.
  SourceUnit(MLIRContext *mlir, const TargetNames &targets, clang::DiagnosticsEngine &engine);

  // Before Clang's code generator, which gets the same calls next.
  void Initialize(clang::ASTContext &context) override { finder.setContext(context); }
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override;
  void HandleInlineFunctionDefinition(clang::FunctionDecl *function) override { finder.add(function); }
  void HandleCXXStaticMemberVarInstantiation(clang::VarDecl *var) override { finder.add(var); }
  void HandleInterestingDecl(clang::DeclGroupRef group) override { HandleTopLevelDecl(group); }
  void HandleTranslationUnit(clang::ASTContext &ast) override;

  OwningOpRef<ModuleOp> module; ///< the graphs
  std::vector<Launch> launches;
  HostCalls host; ///< the launches and pushes as the host module knows them
  /// Where the call of a marker with this number stands; may be asked when the AST is gone.
  clang::SourceLocation getPlace(unsigned number) const { return finder.places[number]; }

private:
  void findLaunches();
  void finishGraphs();
  void addLaunch(const MarkerFinder::Found &found);
  void addPush(const MarkerFinder::Found &found);
  void addRegion(const MarkerFinder::Region &region);
  void addPart(const MarkerFinder::Found &found);
  void describeLaunches();
  std::string uniqueName(std::string name);
  bool isForgotten(const Launch &launch);

  struct Handles {
    void find(const clang::Stmt *stmt);
    std::map<const clang::CallExpr *, const clang::VarDecl *> keeper;
    std::set<const clang::ValueDecl *> asked;
  };
  std::map<const clang::FunctionDecl *, Handles> handles;

  MLIRContext *mlir;
  const TargetNames &targets;
  Diag diag;
  const clang::ASTContext *ast = nullptr;
  MarkerFinder finder;
  /// Launched before, as a stream or not: the launch.
  std::map<std::pair<const clang::FunctionDecl *, std::string>, size_t> known;
  std::set<std::string> names;
};

} // namespace tessera::heterocpp
