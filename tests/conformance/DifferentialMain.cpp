// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tessera-differential: random programs on the oracle and on an installed program; any difference is a bug.
#include "CpuBackend.h"
#include "RandomGraph.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace tessera;
using namespace tessera::conformance;

int main(int argc, char **argv) {
  llvm::cl::opt<uint64_t> seed("seed", llvm::cl::desc("first seed"), llvm::cl::init(1));
  llvm::cl::opt<uint64_t> count("count", llvm::cl::desc("number of programs"), llvm::cl::init(1));
  llvm::cl::opt<unsigned> threads("run-threads", llvm::cl::desc("threads"), llvm::cl::init(2));
  llvm::cl::opt<std::string> device("run-device", llvm::cl::desc("cpu or null"), llvm::cl::init("cpu"));
  llvm::cl::opt<bool> verbose("v", llvm::cl::desc("print each seed"));
  llvm::cl::ParseCommandLineOptions(argc, argv, "random programs, oracle against installed\n");
  uint64_t failures = 0;
  for (uint64_t s = seed; s < seed + count; ++s) {
    if (verbose)
      llvm::errs() << "seed " << s << "\n";
    Session session;
    RandomProgram program = makeRandomProgram(session.context(), s);
    session.sources()->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(program.text, "seed-" + std::to_string(s)), llvm::SMLoc());
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program.text, ParserConfig(&session.context()), "seed-" + std::to_string(s));
    auto fail = [&](const Twine &why) {
      llvm::errs() << "seed " << s << ": " << why << "\n";
      ++failures;
    };
    if (!module) {
      fail("does not parse");
      continue;
    }
    auto expected = runOracle(*module, program.inputs);
    if (failed(expected)) {
      fail("the oracle stopped");
      continue;
    }
    BackendOptions options;
    options.threads = threads;
    options.device = device;
    auto actual = runInstalled(session, *module, "main", program.inputs, options);
    if (failed(actual)) {
      fail("was not run");
      continue;
    }
    auto graph = module->lookupSymbol<dfg::GraphOp>("main");
    if (std::optional<std::string> difference = compareOutputs(graph, *expected, *actual))
      fail(*difference);
  }
  llvm::outs() << count << " programs, " << failures << " failures\n";
  return failures != 0;
}
