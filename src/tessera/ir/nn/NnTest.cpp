// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes, windows, equations, building operations from what a user gives, and counts of arithmetic.
#include "tessera/ir/nn/Nn.h"

#include "mlir/IR/BuiltinOps.h"
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::nn;

namespace {

constexpr int64_t any = ShapedType::kDynamic;

TEST(Shapes, Broadcast) {
  using Shape = SmallVector<int64_t>;
  EXPECT_EQ(*broadcastShapes({2, 1}, {3}), Shape({2, 3}));
  EXPECT_EQ(*broadcastShapes({any}, {3}), Shape({3}));
  EXPECT_EQ(*broadcastShapes({any}, {1}), Shape({any}));
  EXPECT_EQ(*broadcastShapes({any}, {any}), Shape({any}));
  EXPECT_EQ(*broadcastShapes({0}, {1}), Shape({0}));
  EXPECT_EQ(*broadcastShapes({}, {}), Shape({}));
  EXPECT_TRUE(failed(broadcastShapes({2}, {3})));
}

TEST(Shapes, Axes) {
  EXPECT_EQ(normaliseAxis(-1, 3), 2);
  EXPECT_EQ(normaliseAxis(2, 3), 2);
  EXPECT_EQ(normaliseAxis(3, 3), std::nullopt);
  EXPECT_EQ(normaliseAxis(-4, 3), std::nullopt);
}

TEST(Shapes, Windows) {
  EXPECT_EQ((Window{3, 2, 1, 1}.places(7)), 4);
  EXPECT_EQ((Window{3, 1, 0, 0, 2}.places(7)), 3);
  EXPECT_EQ((Window{9}.places(7)), 0);
  EXPECT_EQ((Window{3}.places(any)), any);
  // Rounded up, unless the last window would start in the high pad.
  EXPECT_EQ((Window{2, 2, 0, 0, 1, true}.places(5)), 3);
  EXPECT_EQ((Window{1, 2, 0, 1, 1, true}.places(2)), 1);
  EXPECT_EQ((Window{3, 2, 0, 0, 1, true}.places(2)), 1);
  EXPECT_EQ((Window{4, 2, 0, 0, 1, true}.places(2)), 0);
}

TEST(Shapes, Equations) {
  FailureOr<Einsum> einsum = parseEinsum("ij,jk->ik");
  ASSERT_TRUE(succeeded(einsum));
  EXPECT_EQ(einsum->operands, SmallVector<StringRef>({"ij", "jk"}));
  EXPECT_EQ(einsum->result, "ik");
  EXPECT_EQ(parseEinsum("i->")->result, "");
  EXPECT_TRUE(failed(parseEinsum("ij,jk")));
  EXPECT_TRUE(failed(parseEinsum("i...->i")));
}

class Build : public testing::Test {
protected:
  Build() : builder(&context) {
    context.loadDialect<NnDialect, arith::ArithDialect, tensor::TensorDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diag) {
      message = diag.str();
      return success();
    });
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  Value tensor(ArrayRef<int64_t> shape) {
    return tensor::EmptyOp::create(builder, loc(), shape, builder.getF32Type());
  }
  Location loc() { return builder.getUnknownLoc(); }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  std::string message;
};

TEST_F(Build, InfersOrSaysWhyNot) {
  auto product = tryCreate<MatmulOp>(builder, loc(), tensor({2, 3}), tensor({3, 4}), false, false);
  ASSERT_TRUE(product);
  EXPECT_EQ(product.getY().getType(), RankedTensorType::get({2, 4}, builder.getF32Type()));
  EXPECT_FALSE(tryCreate<MatmulOp>(builder, loc(), tensor({2, 3}), tensor({2, 4}), false, false));
  EXPECT_EQ(message, "'nn.matmul' op expected the same number of columns and rows, but got 3 and 2");
  auto best = tryCreate<TopKOp>(builder, loc(), tensor({2, 3}), 2, 1, false, false);
  ASSERT_TRUE(best);
  EXPECT_EQ(best.getIndices().getType(), RankedTensorType::get({2, 2}, builder.getI64Type()));
}

TEST_F(Build, CountsArithmetic) {
  auto product = MatmulOp::create(builder, loc(), tensor({5, 2, 3}), tensor({3, 4}));
  EXPECT_EQ(product.getFlops(), 2 * 5 * 2 * 3 * 4);
  auto conv = ConvOp::create(builder, loc(), tensor({1, 4, 8, 8}), tensor({6, 2, 3, 3}), Value(),
                             ArrayRef<int64_t>({1, 1}), ArrayRef<int64_t>({1, 1, 1, 1}),
                             ArrayRef<int64_t>({1, 1}), 2);
  EXPECT_EQ(conv.getFlops(), 2 * 6 * 8 * 8 * 2 * 3 * 3);
  EXPECT_EQ(conv.getOpClass(), OpClass::Complex);
  auto sum = BinaryOp::create(builder, loc(), BinaryKind::add, tensor({2, 3}), tensor({3}));
  EXPECT_EQ(sum.getFlops(), 6);
  EXPECT_EQ(cast<NnOp>(sum.getOperation()).getOpClass(), OpClass::Elementwise);
  auto reduced = ReduceOp::create(builder, loc(), ReduceKind::sum, tensor({2, 3}), ArrayRef<int64_t>({1}));
  EXPECT_EQ(reduced.getFlops(), 6);
}

} // namespace
