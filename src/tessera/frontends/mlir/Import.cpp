// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs written by hand, or by another tool, as MLIR text or bytecode.
#include "tessera/frontends/Frontend.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace tessera;

namespace {

/// Deeper nesting than this is refused: the parser recurses, and deep enough input would overflow its stack.
constexpr int maxNesting = 1000;
/// So are longer numbers: the time to read one grows with the square of its length.
constexpr size_t maxDigits = 1000;

class MlirFrontend : public Frontend {
public:
  std::string name() const override { return "mlir"; }
  std::vector<std::string> extensions() const override { return {".mlir", ".mlirbc"}; }

  OwningOpRef<ModuleOp> import(std::shared_ptr<llvm::SourceMgr> sources, const FrontendOptions &,
                               MLIRContext *context) const override {
    const llvm::MemoryBuffer *buffer = sources->getMemoryBuffer(sources->getMainFileID());
    if (failed(checkText(*buffer, context)))
      return nullptr;
    return parseSourceFile<ModuleOp>(sources, ParserConfig(context));
  }

private:
  // What the parser would choke on. Brackets are counted as it sees them: not those in strings and comments,
  // and not the '>' of an arrow.
  static LogicalResult checkText(const llvm::MemoryBuffer &buffer, MLIRContext *context) {
    StringRef text = buffer.getBuffer();
    if (text.starts_with("ML\xefR"))
      return success();
    int depth = 0;
    unsigned line = 1;
    size_t lineStart = 0, digits = 0;
    auto refuse = [&](size_t at) {
      return emitError(FileLineColLoc::get(context, buffer.getBufferIdentifier(), line, at - lineStart + 1));
    };
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      digits = llvm::isHexDigit(c) || c == 'x' ? digits + 1 : 0;
      if (digits > maxDigits)
        return refuse(i + 1 - digits) << "a number has more than " << maxDigits << " digits";
      if (c == '\n') {
        ++line;
        lineStart = i + 1;
      } else if (c == '"') {
        // An unfinished string ends with its line; the parser will say so.
        for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
          i += text[i] == '\\';
        if (i < text.size() && text[i] == '\n')
          --i;
      } else if (c == '/' && text.substr(i).starts_with("//")) {
        i = std::min(text.find('\n', i), text.size()) - 1;
      } else if (c == '-' && text.substr(i).starts_with("->")) {
        ++i;
      } else if (StringRef("([{<").contains(c)) {
        if (++depth > maxNesting)
          return refuse(i) << "brackets are nested more than " << maxNesting
                           << " deep; split the program into graphs that call each other";
      } else if (StringRef(")]}>").contains(c)) {
        depth = std::max(0, depth - 1);
      }
    }
    return success();
  }
};

} // namespace

namespace tessera {
std::unique_ptr<Frontend> createFrontend_mlir() { return std::make_unique<MlirFrontend>(); }
} // namespace tessera
