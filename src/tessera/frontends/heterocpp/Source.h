// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One source file while Clang has its AST: finds the launches and builds their graphs.
#pragma once

#include "tessera/frontends/heterocpp/Graph.h"
#include "tessera/frontends/heterocpp/Host.h"

#include "clang/AST/ASTConsumer.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::heterocpp {

class SourceUnit : public clang::ASTConsumer {
public:
  /// `targets` are the names that hints may have; empty: any.
  SourceUnit(MLIRContext *mlir, ArrayRef<std::string> targets, clang::DiagnosticsEngine &engine);

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override;
  void HandleTranslationUnit(clang::ASTContext &ast) override;

  OwningOpRef<ModuleOp> module; ///< the graphs
  std::vector<Launch> launches;
  /// Launches as the host module knows them; call when `mangle` works.
  std::vector<HostLaunch>
  describeLaunches(function_ref<std::string(const clang::FunctionDecl *)> mangle) const;
  std::vector<HostPush> describePushes(function_ref<std::string(const clang::FunctionDecl *)> mangle) const;

private:
  void visit(const clang::Decl *decl);
  void visitFunction(const clang::FunctionDecl *function);
  void visitStmt(const clang::Stmt *stmt, const clang::FunctionDecl *function);
  void addLaunch(const clang::CallExpr *call, MarkerKind kind, const clang::FunctionDecl *host);
  void addPush(const clang::CallExpr *call, const clang::FunctionDecl *host);
  void addRegion(const clang::CallExpr *call, ArrayRef<const clang::Stmt *> stmts, const clang::CallExpr *end,
                 const clang::FunctionDecl *host);
  std::string uniqueName(std::string name);

  /// A launch or a push in the text, before graphs are built.
  struct Found {
    const clang::CallExpr *call;
    MarkerKind kind;
    const clang::FunctionDecl *host;
  };
  std::vector<Found> found;
  struct Push {
    const clang::CallExpr *call;
    const clang::FunctionDecl *host;
    std::vector<Word> words;
  };
  std::vector<Push> pushes;
  MLIRContext *mlir;
  ArrayRef<std::string> targets;
  Diag diag;
  const clang::ASTContext *ast = nullptr;
  std::vector<const clang::Decl *> decls;
  std::map<const clang::CallExpr *, const clang::CallExpr *> ends;
  /// Launched before, as a stream or not: the launch.
  std::map<std::pair<const clang::FunctionDecl *, std::string>, size_t> known;
  llvm::SetVector<const clang::FunctionDecl *> visited;
  std::set<std::string> names;
};

} // namespace tessera::heterocpp
