// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running a script in process: payload and script as two modules, and what is said when the script is wrong.
#include "tessera/transforms/schedule/Script.h"

#include "tessera/ir/dfg/Dfg.h"
#include "tessera/transforms/schedule/DefaultGraphScript.h"
#include "tessera/transforms/schedule/Extension.h"
#include "tessera/transforms/schedule/GraphOps.h"
#include "tessera/transforms/schedule/ScriptBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtension.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace tessera;

namespace {

class ScriptTest : public testing::Test {
protected:
  ScriptTest() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([this](Diagnostic &diag) {
      messages += diag.str() + "\n";
      if (auto at = diag.getLocation()->findInstanceOf<FileLineColLoc>(); at && !line)
        line = at.getLine();
    });
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
    linalg::registerTransformDialectExtension(registry);
    transform::registerTuneExtension(registry);
    return registry;
  }

  unsigned countNodes() {
    unsigned count = 0;
    program->walk([&](dfg::NodeOp) { ++count; });
    return count;
  }

  MLIRContext context;
  std::string messages;
  unsigned line = 0; ///< of the first message
  OwningOpRef<ModuleOp> program;
};

TEST_F(ScriptTest, DefaultScriptFuses) {
  schedule::Script script = schedule::writeGraphScript(*program);
  OwningOpRef<ModuleOp> copy = program->clone();
  ASSERT_TRUE(succeeded(schedule::applyScript(*program, *script.module, "graph", {.expensiveChecks = true})))
      << messages;
  EXPECT_EQ(countNodes(), 1u);
  // The text says the same.
  std::string text = schedule::printScript(script, "default");
  OwningOpRef<ModuleOp> parsed = schedule::parseScript(&context, text, "default");
  ASSERT_TRUE(parsed) << messages << text;
  program = std::move(copy);
  ASSERT_TRUE(succeeded(schedule::applyScript(*program, *parsed, "graph", {.expensiveChecks = true})))
      << messages;
  EXPECT_EQ(countNodes(), 1u);
}

// Each step of the compiler would have to cope with a kernel of any size.
TEST_F(ScriptTest, KernelsDoNotGrowWithoutEnd) {
  constexpr unsigned count = 1000;
  std::string text =
      "dfg.graph @g(%v0: tensor<8xf32>) -> (s: tensor<8xf32>) {\n%c8 = arith.constant 8 : index\n";
  for (unsigned i = 0; i < count; ++i) {
    std::string from = std::to_string(i), to = std::to_string(i + 1);
    text += "%v" + to + " = dfg.node @n" + from + " grid(%i = %c8) (each %e = %v" + from +
            " : tensor<8xf32>) -> tensor<8xf32> { %r = arith.negf %e : f32 dfg.yield %r : f32 }\n";
  }
  text += "dfg.return %v" + std::to_string(count) + " : tensor<8xf32> }";
  program = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(program) << messages;
  schedule::Script script = schedule::writeGraphScript(*program);
  ASSERT_TRUE(succeeded(schedule::applyScript(*program, *script.module, "graph"))) << messages;
  EXPECT_EQ(countNodes(), 2u);
}

TEST_F(ScriptTest, NothingToDoIsNoScript) {
  OwningOpRef<ModuleOp> empty = ModuleOp::create(UnknownLoc::get(&context));
  schedule::Script script = schedule::writeGraphScript(*empty);
  EXPECT_EQ(schedule::printScript(script, "default").find("match"), std::string::npos);
  EXPECT_TRUE(succeeded(schedule::applyScript(*empty, *script.module, "graph")));
}

TEST_F(ScriptTest, MissingSequenceNamesTheOthers) {
  schedule::Script script = schedule::writeGraphScript(*program);
  EXPECT_TRUE(failed(schedule::applyScript(*program, *script.module, "other")));
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

TEST_F(ScriptTest, BuiltScriptsReadAsIfWritten) {
  schedule::ScriptBuilder builder(&context);
  builder.note("first");
  builder.note("second");
  schedule::Steps steps = builder.addSequence("graph", schedule::Phase::Graph, "program");
  auto a = steps.add<schedule::MatchNodeOp>("a", schedule::Handle<dfg::NodeOp>::type(&context),
                                            StringAttr::get(&context, "a"), steps.root().value());
  steps.add<schedule::HoistOp>("", a.getNodes().getType(), a.getNodes().getType(), a.getNodes());
  builder.comment(a, "what comes first");
  schedule::Script script = builder.finish();
  EXPECT_EQ(script.note, "first; second");
  EXPECT_EQ(schedule::printScript(script, "a file"), R"(// first; second
module attributes {tessera.version = 2 : i64, transform.with_named_sequence} {
  transform.named_sequence @graph(%program: !transform.any_op) attributes {tessera.phase = "graph"} {
    // what comes first
    %a = transform.tessera.match_node "a" in %program : (!transform.any_op) -> !transform.op<"dfg.node">
    %invariant, %leaf = transform.tessera.hoist %a : (!transform.op<"dfg.node">) -> (!transform.op<"dfg.node">, !transform.op<"dfg.node">)
    transform.yield
  }
}
)");
  // There is nothing to hoist, which is said at the step's line of the text.
  EXPECT_TRUE(failed(schedule::applyScript(*program, *script.module, "graph")));
  EXPECT_NE(messages.find("cannot hoist"), std::string::npos) << messages;
  EXPECT_EQ(line, 6u) << messages;
}

TEST_F(ScriptTest, KnobsGiveNumbers) {
  schedule::ScriptBuilder builder(&context);
  schedule::Steps steps = builder.addSequence("a", schedule::Phase::Payload, "payload");
  schedule::Param rows = steps.knob("rows", 4, {2, 4});
  auto ops = steps.match<linalg::GenericOp>("g", steps.root());
  OpFoldResult whole = OpBuilder(&context).getIndexAttr(0);
  auto task = steps.tileForall(ops, {rows, whole});
  steps.tileFor(task.op, {OpFoldResult(rows), whole});
  std::string text = schedule::printScript(builder.finish(), "a file");
  for (const char *line :
       {"%rows = transform.tune.knob<\"rows\"> = 4 : i64 from options = [", "-> !transform.param<i64>",
        "structured.tile_using_forall %g tile_sizes [%rows, 0]",
        "structured.tile_using_for %tiled_op tile_sizes [%rows, 0]"})
    EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST_F(ScriptTest, TextThatIsNoScript) {
  EXPECT_FALSE(schedule::parseScript(&context, "module {", "broken"));
  EXPECT_FALSE(messages.empty());
}

} // namespace
