// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What text cannot reach: attributes and nodes built by programs, and the answers of the dialect's helpers.
#include "tessera/ir/dfg/Dfg.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace tessera;
using namespace tessera::dfg;

namespace {
class DfgTest : public testing::Test {
protected:
  DfgTest() : b(&context), loc(b.getUnknownLoc()) {
    context.loadDialect<DfgDialect, arith::ArithDialect>();
    context.getDiagEngine().registerHandler(
        [this](Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
  }

  double identity(ReductionKind kind, Type type) {
    return cast<FloatAttr>(dfg::getIdentity(kind, type)).getValueAsDouble();
  }
  APInt integerIdentity(ReductionKind kind, Type type) {
    return cast<IntegerAttr>(dfg::getIdentity(kind, type)).getValue();
  }

  MLIRContext context;
  OpBuilder b;
  Location loc;
  std::string messages;
};
} // namespace

TEST_F(DfgTest, ReductionIsNamedOrCombiner) {
  auto symbol = FlatSymbolRefAttr::get(&context, "sum");
  auto emit = [&] { return emitError(loc); };
  function_ref<InFlightDiagnostic()> error = emit;
  std::optional<ReductionKind> none, sum = ReductionKind::AddF;
  EXPECT_FALSE(ReductionAttr::getChecked(error, &context, none, FlatSymbolRefAttr()));
  EXPECT_NE(messages.find("expected a reduction to be named or a combiner, but got neither (dfg-r8)"),
            std::string::npos);
  EXPECT_FALSE(ReductionAttr::getChecked(error, &context, sum, symbol));
  EXPECT_NE(messages.find("but got both (dfg-r8)"), std::string::npos);
  EXPECT_TRUE(ReductionAttr::getChecked(error, &context, none, symbol));
}

TEST_F(DfgTest, Identities) {
  Type f32 = b.getF32Type(), i8 = b.getIntegerType(8), index = b.getIndexType();
  EXPECT_TRUE(std::signbit(identity(ReductionKind::AddF, f32)));
  EXPECT_EQ(identity(ReductionKind::AddF, f32), 0.0);
  EXPECT_EQ(identity(ReductionKind::MulF, f32), 1.0);
  EXPECT_EQ(identity(ReductionKind::MaximumF, f32), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(identity(ReductionKind::MinNumF, f32)));
  EXPECT_EQ(integerIdentity(ReductionKind::MaxSI, i8).getSExtValue(), -128);
  EXPECT_EQ(integerIdentity(ReductionKind::MinUI, i8).getZExtValue(), 255u);
  EXPECT_EQ(integerIdentity(ReductionKind::AndI, index).getSExtValue(), -1);
  EXPECT_FALSE(dfg::getIdentity(ReductionKind::AddI, f32));
}

TEST_F(DfgTest, BuiltNodeVerifies) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  Type type = RankedTensorType::get({ShapedType::kDynamic, 4}, b.getF32Type());
  auto function = b.getFunctionType({type, b.getIndexType()}, {type});
  auto graph = GraphOp::create(b, loc, "g", function, b.getStrArrayAttr({"x", "n"}), b.getStrArrayAttr({"y"}),
                               StringAttr());
  Block *body = b.createBlock(&graph.getBody(), {}, {type, b.getIndexType()}, {loc, loc});
  auto each = PortAttr::get(&context, PortMode::Each, ReductionAttr());
  auto gather = ResultAttr::get(&context, ResultMode::Gather, ReductionAttr(), {});
  auto node = NodeOp::create(b, loc, "n", ValueRange{body->getArgument(1)}, ValueRange{body->getArgument(0)},
                             ArrayRef<PortAttr>{each}, TypeRange{type}, ArrayRef<ResultAttr>{gather});
  ReturnOp::create(b, loc, node.getResults());
  Type row = RankedTensorType::get({4}, b.getF32Type());
  EXPECT_EQ(node.getInputArgs()[0].getType(), row);
  EXPECT_EQ(node.getYieldedType(0), row);
  EXPECT_FALSE(node.isInternal());
  EXPECT_FALSE(node.getYieldOp());

  b.setInsertionPointToEnd(node.getBodyBlock());
  YieldOp::create(b, loc, ValueRange{node.getInputArgs()[0]});
  EXPECT_TRUE(succeeded(mlir::verify(*module))) << messages;

  // An operation that reports itself must not trip over its own faults.
  node.getBodyBlock()->addArgument(b.getF32Type(), loc);
  EXPECT_TRUE(failed(mlir::verify(*module)));
  EXPECT_NE(messages.find("(dfg-n6)"), std::string::npos);
}
