// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The marker functions in Clang's AST: which call is one, and what its lists of objects say.
#pragma once

#include "tessera/frontends/heterocpp/Diag.h"
#include "tessera/frontends/heterocpp/Word.h"

#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::heterocpp {

enum class MarkerKind {
  Launch,
  LaunchStream,
  Push,
  Pop,
  Close,
  LaunchBegin,
  LaunchEnd,
  Wait,
  SectionBegin,
  SectionEnd,
  TaskBegin,
  TaskEnd,
  ParallelLoop,
  Hint,
  Priv,
  NonZeroLoop,
  Malloc,
  Free,
  Copy,
  Request,
  Barrier,
  Scratch,
  Nothing ///< start and end of HPVM's runtime
};

/// The kind of a marker by its name, in any of its spellings.
std::optional<MarkerKind> getMarkerKind(llvm::StringRef name);
/// Whether calls of such a marker are found again one by one in the host module, and the name that the
/// marker has in the call with this number.
bool isNumbered(MarkerKind kind);
std::string getNumberedName(unsigned number);
/// The number in such a name; none in others.
std::optional<unsigned> getNumber(llvm::StringRef name);
/// The marker that an expression or a statement is a call of; null when it is none. Looks through what C++
/// wraps around a call, and into `void *x = marker()` and `x = marker()`.
const clang::CallExpr *findMarker(const clang::Stmt *stmt, MarkerKind &kind);
/// A statement under `stmt` that is a marker of this kind.
const clang::CallExpr *findMarkerInside(const clang::Stmt *stmt, MarkerKind kind);

/// The text of a constant string: a name, or the targets of a hint.
std::optional<std::string> getText(const clang::Expr *expr, const clang::ASTContext &context);

/// One object of a list.
struct Listed {
  const clang::Expr *expr = nullptr;
  const clang::ValueDecl *decl = nullptr;    ///< what it names; null for other expressions
  const clang::MemberExpr *member = nullptr; ///< listed as variable.member
  bool address = false;                      ///< listed as &variable
  const clang::Expr *size = nullptr;         ///< null for scalars
  unsigned argument = 0;                     ///< position of `expr` in the call
};

/// What a marker with lists says.
struct Lists {
  const clang::CallExpr *call = nullptr;
  unsigned loops = 0;                ///< of a parallel loop
  const clang::Expr *root = nullptr; ///< of a launch
  llvm::SmallVector<Listed> inputs, outputs;
  std::string name;

  const Listed *find(const clang::ValueDecl *decl) const;
  /// The inputs one by one: addresses are followed by their sizes.
  llvm::SmallVector<const clang::Expr *> getArguments() const;
  /// Whether an input stands among the outputs as well; what is const is no output.
  bool isOutput(const Listed &input, const clang::ASTContext &context) const;
};

/// The arguments of a list one by one: addresses are followed by their sizes.
std::vector<Word> getWords(const clang::CallExpr *call, llvm::ArrayRef<Listed> list);

/// Reads the lists of a marker. Emits a diagnostic and returns none when they do not add up.
std::optional<Lists> readLists(const clang::CallExpr *call, MarkerKind kind, const clang::ASTContext &context,
                               Diag &diag);

/// Reports mistakes in the lists of markers wherever they stand, launched or not. What the graphs' builder
/// has said is not said again.
void checkMarkers(const clang::Stmt *stmt, const clang::ASTContext &context, Diag &diag);

} // namespace tessera::heterocpp
