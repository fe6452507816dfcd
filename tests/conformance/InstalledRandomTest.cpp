// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs, compiled, installed and run, must give what the oracle gives: bit for bit in mode strict,
// but for float sums in free order, and the same bits with any number of threads. TESSERA_RANDOM_COUNT sets
// how many are tried, TESSERA_RANDOM_SEED the first.
#include "CpuBackend.h"
#include "RandomGraph.h"

#include "mlir/Parser/Parser.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::conformance;

static uint64_t setting(const char *name, uint64_t usual) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

TEST(InstalledPrograms, EqualTheOracle) {
  uint64_t first = setting("TESSERA_RANDOM_SEED", 1), count = setting("TESSERA_RANDOM_COUNT", 200);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Session session;
    std::string messages;
    session.context().getDiagEngine().registerHandler([&](Diagnostic &diag) {
      messages += diag.str() + "\n";
      return success();
    });
    RandomProgram program = makeRandomProgram(session.context(), seed);
    auto module = parseSourceString<ModuleOp>(program.text, ParserConfig(&session.context()));
    ASSERT_TRUE(module) << "seed " << seed << ": " << messages;
    auto expected = runOracle(*module, program.inputs);
    ASSERT_TRUE(succeeded(expected)) << "seed " << seed << ": " << messages;
    auto graph = module->lookupSymbol<dfg::GraphOp>("main");
    std::vector<oracle::Array> before;
    for (unsigned threads : {2u, 1u}) {
      BackendOptions options;
      options.threads = threads;
      auto actual = runInstalled(session, *module, "main", program.inputs, options);
      ASSERT_TRUE(succeeded(actual)) << "seed " << seed << ": " << messages;
      std::optional<std::string> difference = compareOutputs(graph, *expected, *actual);
      EXPECT_FALSE(difference) << "seed " << seed << " with " << threads << " threads: " << *difference;
      if (threads == 2)
        before = *actual;
      else
        for (size_t i = 0; i < before.size(); ++i)
          EXPECT_EQ(before[i].bytes, (*actual)[i].bytes)
              << "seed " << seed << ": output " << i << " depends on the threads";
      if (seed % 8)
        break; // one in eight is run twice
    }
  }
}
