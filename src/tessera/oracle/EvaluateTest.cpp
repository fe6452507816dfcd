// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single operations on constants.
#include "tessera/ir/nn/Nn.h"
#include "tessera/oracle/Oracle.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace tessera;

namespace {

class Evaluate : public testing::Test {
protected:
  Evaluate() {
    context.loadDialect<nn::NnDialect, arith::ArithDialect, func::FuncDialect, tensor::TensorDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diag) {
      messages += diag.str() + "\n";
      return success();
    });
  }

  // The first operation of a function whose arguments are the operands.
  Operation *parse(StringRef arguments, StringRef operation) {
    std::string text = ("func.func @f(" + arguments + ") {\n %r = " + operation + "\n return\n}").str();
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module) << messages;
    return &module->lookupSymbol<func::FuncOp>("f").getBody().front().front();
  }

  Attribute constant(StringRef text) { return parseAttribute(text, &context); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string messages;
};

TEST_F(Evaluate, TensorsComeBackAsDenseElements) {
  Operation *op = parse("%a: tensor<2xf32>, %b: tensor<f32>",
                        "nn.binary add %a, %b : tensor<2xf32>, tensor<f32> -> tensor<2xf32>");
  auto results = oracle::evaluate(
      op, {constant("dense<[1.0, 2.0]> : tensor<2xf32>"), constant("dense<0.5> : tensor<f32>")});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(Attribute((*results)[0]), constant("dense<[1.5, 2.5]> : tensor<2xf32>"));
}

TEST_F(Evaluate, FlagsAndScalars) {
  Operation *op = parse("%a: tensor<2xi32>, %b: tensor<i32>",
                        "nn.binary lt %a, %b : tensor<2xi32>, tensor<i32> -> tensor<2xi1>");
  auto results =
      oracle::evaluate(op, {constant("dense<[1, 5]> : tensor<2xi32>"), constant("dense<3> : tensor<i32>")});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(Attribute((*results)[0]), constant("dense<[true, false]> : tensor<2xi1>"));
  op = parse("%a: i32", "arith.addi %a, %a : i32");
  results = oracle::evaluate(op, {constant("4 : i32"), constant("4 : i32")});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(Attribute((*results)[0]), constant("8 : i32"));
}

TEST_F(Evaluate, NothingIsKnownOfAnUnknownOperand) {
  Operation *op =
      parse("%a: tensor<?xi32>, %n: index", "nn.reshape %a extents %n : tensor<?xi32> -> tensor<?x1xi32>");
  EXPECT_TRUE(failed(oracle::evaluate(op, {constant("dense<[1, 2]> : tensor<2xi32>"), Attribute()})));
}

TEST_F(Evaluate, FailsWithoutAWord) {
  Operation *op = parse("%a: tensor<i32>", "nn.binary div %a, %a : tensor<i32>, tensor<i32> -> tensor<i32>");
  Attribute zero = constant("dense<0> : tensor<i32>");
  EXPECT_TRUE(failed(oracle::evaluate(op, {zero, zero})));
  EXPECT_TRUE(failed(oracle::evaluate(op, {zero, Attribute()})));
  EXPECT_EQ(messages, "");
}

TEST_F(Evaluate, MovesAMillionElements) {
  Operation *op = parse("%a: tensor<1024x1024xf32>", "nn.transpose %a {permutation = array<i64: 1, 0>} : "
                                                     "tensor<1024x1024xf32> -> tensor<1024x1024xf32>");
  std::vector<float> values(1 << 20);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  auto type = RankedTensorType::get({1024, 1024}, Float32Type::get(&context));
  auto results = oracle::evaluate(op, {DenseElementsAttr::get(type, ArrayRef(values))});
  ASSERT_TRUE(succeeded(results));
  auto moved = cast<DenseElementsAttr>((*results)[0]).getValues<float>();
  EXPECT_EQ(moved[1], 1024.0f);
  EXPECT_EQ(moved[1024], 1.0f);
}

} // namespace
