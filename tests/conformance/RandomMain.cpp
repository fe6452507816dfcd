// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tessera-random: writes random programs or runs the oracle on them, to find and to keep failing cases.
#include "RandomGraph.h"

#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace tessera;
using namespace tessera::conformance;

int main(int argc, char **argv) {
  llvm::cl::opt<uint64_t> seed("seed", llvm::cl::desc("first seed"), llvm::cl::init(1));
  llvm::cl::opt<uint64_t> count("count", llvm::cl::desc("number of programs"), llvm::cl::init(1));
  llvm::cl::opt<unsigned> maxNodes("max-nodes", llvm::cl::desc("nodes of a program at most"),
                                   llvm::cl::init(12));
  llvm::cl::opt<std::string> emit(
      "emit", llvm::cl::desc("write the program with the first seed here and stop; '-' for the terminal"));
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "random dataflow programs\n\n  tessera-random --seed 7 --emit -\n");
  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<dfg::DfgDialect>();
  MLIRContext context(registry);
  RandomOptions options;
  options.maxNodes = maxNodes;
  if (!emit.empty()) {
    std::string message;
    auto file = openOutputFile(emit, &message);
    if (!file) {
      llvm::errs() << message << "\n";
      return 1;
    }
    file->os() << makeRandomProgram(context, seed, options).text;
    file->keep();
    return 0;
  }
  uint64_t failures = 0;
  for (uint64_t s = seed; s < seed + count; ++s) {
    RandomProgram program = makeRandomProgram(context, s, options);
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(program.text, "seed-" + std::to_string(s)),
                               llvm::SMLoc());
    SourceMgrDiagnosticHandler handler(sources, &context);
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
    if (!module || failed(runOracle(*module, program.inputs))) {
      llvm::errs() << "seed " << s << " failed\n";
      ++failures;
    }
  }
  llvm::outs() << count << " programs, " << failures << " failures\n";
  return failures != 0;
}
