// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Crash.h. The handler runs in the process that has just failed, so it allocates as little as it can.
#include "tessera/frontends/heterocpp/Crash.h"

#include "clang/Lex/Preprocessor.h"
#include "llvm/Support/Signals.h"

#include <cstdio>
#include <unistd.h>

using namespace tessera;
using namespace tessera::heterocpp;

namespace {
clang::CompilerInstance *instance = nullptr;
clang::SourceLocation translated;
} // namespace

static void sayPlace(void *) {
  clang::CompilerInstance *ci = std::exchange(instance, nullptr);
  if (!ci || !ci->hasSourceManager())
    return;
  const clang::SourceManager &sources = ci->getSourceManager();
  clang::SourceLocation at = translated;
  if (at.isInvalid() && ci->hasPreprocessor())
    if (auto *lexer = static_cast<clang::Lexer *>(ci->getPreprocessor().getCurrentFileLexer()))
      at = lexer->getSourceLocation();
  char text[1024];
  int length = 0;
  constexpr const char *what =
      "error: the compiler stopped here; what stands here may be nested too deeply, or has met a bug";
  if (clang::PresumedLoc place = sources.getPresumedLoc(sources.getExpansionLoc(at)); place.isValid())
    length = std::snprintf(text, sizeof text, "%s:%u:%u: %s\n", place.getFilename(), place.getLine(),
                           place.getColumn(), what);
  else if (const auto &inputs = ci->getFrontendOpts().Inputs; !inputs.empty() && inputs[0].isFile())
    length = std::snprintf(text, sizeof text, "%s: %s\n", inputs[0].getFile().str().c_str(), what);
  if (length > 0)
    (void)!write(STDERR_FILENO, text, std::min<size_t>(static_cast<size_t>(length), sizeof text - 1));
}

CrashPlace::CrashPlace(clang::CompilerInstance &ci) {
  static bool added = false;
  if (!added)
    llvm::sys::AddSignalHandler(sayPlace, nullptr);
  added = true;
  instance = &ci;
  translated = {};
}
CrashPlace::~CrashPlace() { instance = nullptr; }

void heterocpp::setCrashPlace(clang::SourceLocation at) { translated = at; }
