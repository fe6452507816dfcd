// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages at the user's source lines, by Clang's own engine: line, caret and notes look as the compiler's
// do.
#pragma once

#include "clang/Basic/Diagnostic.h"
#include "llvm/ADT/Twine.h"
#include <set>

namespace tessera::heterocpp {

class Diag {
public:
  explicit Diag(clang::DiagnosticsEngine &engine) : engine(engine) {}

  void emitError(clang::SourceLocation loc, const llvm::Twine &text) {
    ++errors;
    report(clang::DiagnosticsEngine::Error, loc, text);
  }
  void emitWarning(clang::SourceLocation loc, const llvm::Twine &text) {
    report(clang::DiagnosticsEngine::Warning, loc, text);
  }
  /// The second place of the message before, or its remedy.
  void note(clang::SourceLocation loc, const llvm::Twine &text) {
    report(clang::DiagnosticsEngine::Note, loc, text);
  }
  unsigned errors = 0;

private:
  void report(clang::DiagnosticsEngine::Level level, clang::SourceLocation loc, const llvm::Twine &text) {
    // The same message for two graphs or two instances of a template is reported once.
    if (level != clang::DiagnosticsEngine::Note)
      isKnown = !said.insert({loc.getRawEncoding(), text.str()}).second;
    if (isKnown)
      return;
    engine.Report(loc, engine.getDiagnosticIDs()->getCustomDiagID(
                           static_cast<clang::DiagnosticIDs::Level>(level), "%0"))
        << text.str();
  }
  clang::DiagnosticsEngine &engine;
  std::set<std::pair<clang::SourceLocation::UIntTy, std::string>> said;
  bool isKnown = false; ///< the last message; its notes are, too
};

} // namespace tessera::heterocpp
