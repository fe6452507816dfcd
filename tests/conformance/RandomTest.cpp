// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs: the oracle finds no error in them, text and bytecode keep them, and upstream's
// simplifications keep their meaning.
#include "RandomGraph.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::conformance;

namespace {

class RandomGraphs : public testing::Test {
protected:
  RandomGraphs() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registry.insert<dfg::DfgDialect>();
    context.appendDialectRegistry(registry);
    context.getDiagEngine().registerHandler([this](Diagnostic &diag) {
      messages += diag.str() + "\n";
      return success();
    });
  }
  // TESSERA_RANDOM_COUNT sets how many programs the full tests run.
  static uint64_t count(uint64_t usual) {
    const char *text = std::getenv("TESSERA_RANDOM_COUNT");
    return text ? std::strtoull(text, nullptr, 10) : usual;
  }
  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }

  MLIRContext context;
  std::string messages;
};

TEST_F(RandomGraphs, SameSeedSameProgram) {
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(makeRandomProgram(context, seed).text, makeRandomProgram(context, seed).text);
}

TEST_F(RandomGraphs, KeepTheirMeaning) {
  for (uint64_t seed = 1; seed <= count(300); ++seed) {
    messages.clear();
    RandomProgram program = makeRandomProgram(context, seed);
    OwningOpRef<ModuleOp> module = parse(program.text);
    ASSERT_TRUE(module) << "seed " << seed << ": " << messages << program.text;
    auto graph = module->lookupSymbol<dfg::GraphOp>("main");
    auto expected = runOracle(*module, program.inputs);
    ASSERT_TRUE(succeeded(expected)) << "seed " << seed << ": " << messages << program.text;
    EXPECT_FALSE(compareOutputs(graph, *expected, *expected));

    std::string text, bytecode;
    llvm::raw_string_ostream textStream(text), bytecodeStream(bytecode);
    module->print(textStream);
    ASSERT_TRUE(succeeded(writeBytecodeToFile(*module, bytecodeStream)));
    for (const std::string &form : {text, bytecode}) {
      OwningOpRef<ModuleOp> again = parse(form);
      ASSERT_TRUE(again) << "seed " << seed << ": " << messages;
      auto outputs = runOracle(*again, program.inputs);
      ASSERT_TRUE(succeeded(outputs)) << "seed " << seed << ": " << messages;
      std::optional<std::string> difference = compareOutputs(graph, *expected, *outputs);
      EXPECT_FALSE(difference) << "seed " << seed << " after a round trip: " << *difference;
    }

    PassManager passes(&context);
    passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    OwningOpRef<ModuleOp> simpler = parse(text);
    ASSERT_TRUE(succeeded(passes.run(*simpler))) << "seed " << seed << ": " << messages;
    auto outputs = runOracle(*simpler, program.inputs);
    ASSERT_TRUE(succeeded(outputs)) << "seed " << seed << " simplified: " << messages << program.text;
    std::optional<std::string> difference = compareOutputs(graph, *expected, *outputs);
    EXPECT_FALSE(difference) << "seed " << seed << " simplified: " << *difference << "\n" << program.text;
  }
}

TEST_F(RandomGraphs, ComparisonSeesDifferences) {
  RandomOptions options;
  RandomProgram program = makeRandomProgram(context, 5, options);
  OwningOpRef<ModuleOp> module = parse(program.text);
  ASSERT_TRUE(module) << messages;
  auto graph = module->lookupSymbol<dfg::GraphOp>("main");
  auto expected = runOracle(*module, program.inputs);
  ASSERT_TRUE(succeeded(expected));
  auto changed = *expected;
  ASSERT_FALSE(changed[0].bytes.empty());
  changed[0].bytes[0] ^= 1;
  EXPECT_TRUE(compareOutputs(graph, *expected, changed));
  changed.pop_back();
  EXPECT_TRUE(compareOutputs(graph, *expected, changed));
}

} // namespace
