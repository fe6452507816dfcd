// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The oracle's interface: arrays in and out, streams, the errors of inputs that do not fit, and the edge
// pipeline against the same computation in plain C++.
#include "tessera/ir/nn/Nn.h"
#include "tessera/oracle/Oracle.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::oracle;

namespace {

class Api : public testing::Test {
protected:
  Api() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registry.insert<dfg::DfgDialect, nn::NnDialect>();
    context.appendDialectRegistry(registry);
    context.getDiagEngine().registerHandler([this](Diagnostic &diag) {
      messages += diag.str() + "\n";
      return success();
    });
  }

  dfg::GraphOp parse(StringRef text, StringRef name) {
    module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module) << messages;
    return module->lookupSymbol<dfg::GraphOp>(name);
  }

  template <typename T> Array array(Type type, std::vector<int64_t> shape, const std::vector<T> &values) {
    Array result{type, std::move(shape), std::vector<char>(values.size() * sizeof(T))};
    std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
    return result;
  }

  template <typename T> std::vector<T> values(const Array &array) {
    std::vector<T> result(array.bytes.size() / sizeof(T));
    std::memcpy(result.data(), array.bytes.data(), array.bytes.size());
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string messages;
};

TEST_F(Api, MemrefsAreCopiedInAndOut) {
  dfg::GraphOp graph = parse(R"(
    dfg.graph @g(%m: memref<?xi16>) -> memref<?xi16> {
      %c0 = arith.constant 0 : index
      %n = memref.dim %m, %c0 : memref<?xi16>
      %r = dfg.node @n grid(%i = %n) (inout %t = %m : memref<?xi16>) {
        %v = memref.load %t[%i] : memref<?xi16>
        %s = arith.addi %v, %v : i16
        memref.store %s, %t[%i] : memref<?xi16>
      }
      dfg.return %r : memref<?xi16>
    })",
                             "g");
  Array input = array<int16_t>(IntegerType::get(&context, 16), {3}, {1, -2, 20000});
  auto outputs = runGraph(graph, {input});
  ASSERT_TRUE(succeeded(outputs)) << messages;
  EXPECT_EQ(values<int16_t>((*outputs)[0]), (std::vector<int16_t>{2, -4, -25536}));
  EXPECT_EQ(values<int16_t>(input), (std::vector<int16_t>{1, -2, 20000}));
}

TEST_F(Api, InputsThatDoNotFit) {
  dfg::GraphOp graph = parse(
      "dfg.graph @g(%image: tensor<?x2xf32>) -> tensor<?x2xf32> { dfg.return %image : tensor<?x2xf32> }",
      "g");
  Type f32 = Float32Type::get(&context);
  EXPECT_TRUE(failed(runGraph(graph, {})));
  EXPECT_NE(messages.find("expected 1 inputs, but got 0"), std::string::npos) << messages;
  EXPECT_TRUE(failed(runGraph(graph, {array<double>(Float64Type::get(&context), {1, 2}, {1, 2})})));
  EXPECT_NE(messages.find("'image' expected elements of type 'f32', but got 'f64'"), std::string::npos)
      << messages;
  EXPECT_TRUE(failed(runGraph(graph, {array<float>(f32, {2, 1}, {1, 2})})));
  EXPECT_NE(messages.find("'image' expected extents of 'tensor<?x2xf32>', but got [2, 1]"), std::string::npos)
      << messages;
  EXPECT_TRUE(failed(runGraph(graph, {array<float>(f32, {1, 2}, {1})})));
  EXPECT_NE(messages.find("'image' expected 8 bytes, but got 4"), std::string::npos) << messages;
  auto outputs = runGraph(graph, {array<float>(f32, {0, 2}, {})});
  ASSERT_TRUE(succeeded(outputs));
  EXPECT_EQ((*outputs)[0].shape, (std::vector<int64_t>{0, 2}));
}

TEST_F(Api, StreamKeepsItsState) {
  dfg::GraphOp graph = parse(R"(
    dfg.graph @difference(%frame: tensor<2xf32>) -> tensor<2xf32> {
      %black = arith.constant dense<0.0> : tensor<2xf32>
      %c2 = arith.constant 2 : index
      %last = dfg.state init(%black : tensor<2xf32>) : tensor<2xf32>
      %d = dfg.node @d grid(%i = %c2) (each %a = %frame : tensor<2xf32>, each %b = %last : tensor<2xf32>) -> tensor<2xf32> {
        %s = arith.subf %a, %b : f32
        dfg.yield %s : f32
      }
      dfg.update %last, %frame : tensor<2xf32>
      dfg.return %d : tensor<2xf32>
    })",
                             "difference");
  Type f32 = Float32Type::get(&context);
  Stream stream(graph);
  ASSERT_TRUE(succeeded(stream.push({array<float>(f32, {2}, {1, 2})})));
  ASSERT_TRUE(succeeded(stream.push({array<float>(f32, {2}, {5, 1})})));
  EXPECT_EQ(values<float>((*stream.pop())[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(values<float>((*stream.pop())[0]), (std::vector<float>{4, -1}));
  EXPECT_TRUE(failed(stream.pop()));
  EXPECT_NE(messages.find("pops from a stream with no activation in flight"), std::string::npos);
}

TEST_F(Api, StreamReusesResults) {
  dfg::GraphOp graph = parse(R"(
    dfg.graph @twice(%frame: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
      %c2 = arith.constant 2 : index
      %d = dfg.node @d grid(%i = %c2) (each %a = %frame : tensor<2xi32>) -> tensor<2xi32> attributes {dfg.knob = "reuse:2/4@1"} {
        %s = arith.addi %a, %a : i32
        dfg.yield %s : i32
      }
      dfg.return %d, %frame : tensor<2xi32>, tensor<2xi32>
    })",
                             "twice");
  Type i32 = IntegerType::get(&context, 32);
  Stream stream(graph);
  std::vector<int32_t> first;
  for (int32_t frame = 0; frame < 8; ++frame) {
    ASSERT_TRUE(succeeded(stream.push({array<int32_t>(i32, {2}, {frame, -frame})}))) << messages;
    first.push_back(values<int32_t>((*stream.pop())[0])[0]);
  }
  // Activations 1 and 2 of every four take what the one before them made.
  EXPECT_EQ(first, (std::vector<int32_t>{0, 0, 0, 6, 8, 8, 8, 14}));
}

TEST_F(Api, EdgePipeline) {
  module = parseSourceFile<ModuleOp>(TESSERA_EDGE_EXAMPLE, ParserConfig(&context));
  ASSERT_TRUE(module) << messages;
  auto graph = module->lookupSymbol<dfg::GraphOp>("edges");
  constexpr int h = 96, w = 128;
  std::vector<float> image(h * w);
  for (int i = 0; i < h * w; ++i)
    image[i] = static_cast<float>((i * 7919 + (i / w) * 104729) % 256) / 255.0f;
  float theta = 0.4f;
  auto start = std::chrono::steady_clock::now();
  Type f32 = Float32Type::get(&context);
  auto outputs = runGraph(graph, {array(f32, {h, w}, image), array<float>(f32, {}, {theta})});
  ASSERT_TRUE(succeeded(outputs)) << messages;
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds", std::to_string(time.count()));

  auto clamped = [](const std::vector<float> &x, int i, int j) {
    return x[std::clamp(i, 0, h - 1) * w + std::clamp(j, 0, w - 1)];
  };
  const float g[] = {0.07015933f, 0.13107488f, 0.19071282f, 0.21610594f,
                     0.19071282f, 0.13107488f, 0.07015933f};
  std::vector<float> smooth(h * w), laplacian(h * w), gradient(h * w);
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) {
      volatile float sum = 0;
      for (int a = 0; a < 7; ++a) {
        volatile float row = 0;
        for (int b = 0; b < 7; ++b) {
          volatile float p = clamped(image, i + a - 3, j + b - 3) * g[b];
          row = row + p;
        }
        volatile float p = row * g[a];
        sum = sum + p;
      }
      smooth[i * w + j] = sum;
    }
  float peak = -INFINITY;
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) {
      float mx = smooth[i * w + j], mn = mx;
      for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b) {
          mx = std::max(mx, clamped(smooth, i + a, j + b));
          mn = std::min(mn, clamped(smooth, i + a, j + b));
        }
      laplacian[i * w + j] = (mx + mn) - smooth[i * w + j] * 2.0f;
      auto s = [&](int a, int b) { return clamped(smooth, i + a, j + b); };
      // Doubling is exact, so that contraction cannot change these sums.
      float gx = (s(-1, 1) + s(1, 1) + s(0, 1) * 2.0f) - (s(-1, -1) + s(1, -1) + s(0, -1) * 2.0f);
      float gy = (s(1, -1) + s(1, 1) + s(1, 0) * 2.0f) - (s(-1, -1) + s(-1, 1) + s(-1, 0) * 2.0f);
      volatile float xx = gx * gx, yy = gy * gy;
      gradient[i * w + j] = std::sqrt(xx + yy);
      peak = std::max(peak, gradient[i * w + j]);
    }
  std::vector<int8_t> expected(h * w);
  int edges = 0;
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) {
      float m = std::min(std::min(clamped(laplacian, i - 1, j), clamped(laplacian, i + 1, j)),
                         std::min(clamped(laplacian, i, j - 1), clamped(laplacian, i, j + 1)));
      bool isEdge = m < 0 && laplacian[i * w + j] >= 0 && gradient[i * w + j] >= peak * theta;
      expected[i * w + j] = isEdge ? 127 : 0;
      edges += isEdge;
    }
  EXPECT_GT(edges, 100);
  EXPECT_EQ(values<int8_t>((*outputs)[0]), expected);
}

} // namespace
