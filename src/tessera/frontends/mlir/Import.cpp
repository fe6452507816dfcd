// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs written by hand, or by another tool, as MLIR text or bytecode.
#include "tessera/frontends/Frontend.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

using namespace tessera;

namespace {

/// Deeper nesting than this is refused: the parser recurses, and deep enough input would overflow its stack.
constexpr int maxNesting = 1000;

class MlirFrontend : public Frontend {
public:
  std::string name() const override { return "mlir"; }
  std::vector<std::string> extensions() const override { return {".mlir", ".mlirbc"}; }

  OwningOpRef<ModuleOp> import(std::shared_ptr<llvm::SourceMgr> sources, const FrontendOptions &,
                               MLIRContext *context) const override {
    const llvm::MemoryBuffer *buffer = sources->getMemoryBuffer(sources->getMainFileID());
    if (failed(checkNesting(*buffer, context)))
      return nullptr;
    return parseSourceFile<ModuleOp>(sources, ParserConfig(context));
  }

private:
  static LogicalResult checkNesting(const llvm::MemoryBuffer &buffer, MLIRContext *context) {
    StringRef text = buffer.getBuffer();
    if (text.starts_with("ML\xefR"))
      return success();
    int depth = 0, line = 1;
    for (char c : text) {
      if (c == '\n')
        ++line;
      else if (c == '(' || c == '[' || c == '{' || c == '<')
        ++depth;
      else if (c == ')' || c == ']' || c == '}' || c == '>')
        depth = std::max(0, depth - 1);
      if (depth > maxNesting)
        return emitError(FileLineColLoc::get(context, buffer.getBufferIdentifier(), line, 1),
                         "brackets are nested more than ")
               << maxNesting << " deep; split the program into graphs that call each other";
    }
    return success();
  }
};

} // namespace

namespace tessera {
std::unique_ptr<Frontend> createFrontend_mlir() { return std::make_unique<MlirFrontend>(); }
} // namespace tessera
