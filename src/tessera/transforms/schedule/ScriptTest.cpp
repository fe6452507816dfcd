// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running a script in process: payload and script as two modules, and what is said when the script is wrong.
#include "tessera/transforms/schedule/Script.h"

#include "tessera/ir/dfg/Dfg.h"
#include "tessera/transforms/graph/DefaultGraphScript.h"
#include "tessera/transforms/schedule/Extension.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tessera;

namespace {

class ScriptTest : public testing::Test {
protected:
  ScriptTest() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](Diagnostic &diag) { messages += diag.str() + "\n"; });
    program = parseSourceString<ModuleOp>(R"(
      dfg.graph @g(%x: tensor<8xf32>) -> (s: f32) {
        %c8 = arith.constant 8 : index
        %0 = dfg.node @a grid(%i = %c8) (each %e = %x : tensor<8xf32>) -> tensor<8xf32> {
          %v = arith.negf %e : f32
          dfg.yield %v : f32
        }
        %1 = dfg.node @b grid(%i = %c8) (each %e = %0 : tensor<8xf32>) -> f32 reduce<addf> {
          dfg.yield %e : f32
        }
        dfg.return %1 : f32
      })",
                                          &context);
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry
        .insert<dfg::DfgDialect, arith::ArithDialect, tensor::TensorDialect, transform::TransformDialect>();
    schedule::registerScheduleExtension(registry);
    return registry;
  }

  unsigned countNodes() {
    unsigned count = 0;
    program->walk([&](dfg::NodeOp) { ++count; });
    return count;
  }

  MLIRContext context;
  std::string messages;
  OwningOpRef<ModuleOp> program;
};

TEST_F(ScriptTest, DefaultScriptFuses) {
  std::string text = graph::writeGraphScript(*program);
  OwningOpRef<ModuleOp> script = schedule::parseScript(&context, text, "default");
  ASSERT_TRUE(script) << messages << text;
  ASSERT_TRUE(succeeded(schedule::applyScript(*program, *script, "graph", {.expensiveChecks = true})))
      << messages;
  EXPECT_EQ(countNodes(), 1u);
}

TEST_F(ScriptTest, NothingToDoIsNoScript) {
  OwningOpRef<ModuleOp> empty = ModuleOp::create(UnknownLoc::get(&context));
  std::string text = graph::writeGraphScript(*empty);
  EXPECT_EQ(text.find("match"), std::string::npos);
  OwningOpRef<ModuleOp> script = schedule::parseScript(&context, text, "default");
  EXPECT_TRUE(succeeded(schedule::applyScript(*empty, *script, "graph")));
}

TEST_F(ScriptTest, MissingSequenceNamesTheOthers) {
  OwningOpRef<ModuleOp> script =
      schedule::parseScript(&context, graph::writeGraphScript(*program), "default");
  EXPECT_TRUE(failed(schedule::applyScript(*program, *script, "other")));
  EXPECT_NE(messages.find("expected a sequence 'other' in the script, but got 'graph'"), std::string::npos)
      << messages;
}

TEST_F(ScriptTest, SequenceWithoutBody) {
  OwningOpRef<ModuleOp> script = schedule::parseScript(&context, R"(
    module attributes {transform.with_named_sequence} {
      transform.named_sequence private @graph(!transform.any_op {transform.readonly})
    })",
                                                       "script");
  ASSERT_TRUE(script) << messages;
  EXPECT_TRUE(failed(schedule::applyScript(*program, *script, "graph")));
  EXPECT_NE(messages.find("expected sequence 'graph' to have a body"), std::string::npos) << messages;
}

TEST_F(ScriptTest, InvalidResultIsAnErrorOfTheScript) {
  // Renaming a node to the name of the other one is something that only verification notices.
  OwningOpRef<ModuleOp> script = schedule::parseScript(&context, R"(
    module attributes {transform.with_named_sequence} {
      transform.named_sequence @graph(%program: !transform.any_op) {
        %a = transform.tessera.match_node "a" in %program : (!transform.any_op) -> !transform.any_op
        %name = transform.param.constant "b" -> !transform.any_param
        transform.annotate %a "name" = %name : !transform.any_op, !transform.any_param
        transform.yield
      }
    })",
                                                       "script");
  ASSERT_TRUE(script) << messages;
  EXPECT_TRUE(failed(schedule::applyScript(*program, *script, "graph")));
  EXPECT_NE(messages.find("sequence 'graph' left a program that is not valid"), std::string::npos)
      << messages;
}

TEST_F(ScriptTest, TextThatIsNoScript) {
  EXPECT_FALSE(schedule::parseScript(&context, "module {", "broken"));
  EXPECT_FALSE(messages.empty());
}

} // namespace
