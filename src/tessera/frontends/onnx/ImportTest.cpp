// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of small models, right and wrong ones: each message names its node.
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/reader/ProtoWriter.h"
#include "tessera/ir/dfg/Dfg.h"

#include <deque>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::onnx::testing;
using onnximport::Imported;

namespace {

class OnnxImport : public ::testing::Test {
protected:
  Imported import(const Proto &model, onnximport::ImportOptions options = {}) {
    bytes.push_back(model.bytes);
    auto read = onnx::parseModel(std::as_bytes(std::span(bytes.back())), "test", "");
    EXPECT_TRUE(read.ok()) << read.status().message();
    if (!read.ok())
      return {};
    models.push_back(std::move(*read));
    return onnximport::importModel(models.back(), options, &context);
  }
  // The import must fail with one problem that holds all of these words.
  void expectProblem(const Proto &model, std::initializer_list<const char *> words) {
    Imported result = import(model);
    EXPECT_FALSE(result.module);
    ASSERT_FALSE(result.problems.empty());
    for (const char *word : words)
      EXPECT_NE(result.problems[0].find(word), std::string::npos) << result.problems[0];
  }
  std::string text(Imported &&imported) { return text(imported); }
  std::string text(Imported &imported) {
    std::string out;
    llvm::raw_string_ostream os(out);
    if (imported.module)
      imported.module->print(os);
    for (const std::string &problem : imported.problems)
      os << problem << "\n";
    return out;
  }
  void expectText(const Proto &model, std::initializer_list<const char *> words) {
    std::string got = text(import(model));
    for (const char *word : words)
      EXPECT_NE(got.find(word), std::string::npos) << "no '" << word << "' in\n" << got;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::deque<std::string> bytes;
  std::deque<onnx::Model> models;
};

Proto intsAttr(const char *name, std::initializer_list<int64_t> values) {
  return attributeProto(name, 7).packed(8, values);
}
Proto intAttr(const char *name, int64_t value) { return attributeProto(name, 2).add(3, value); }

Proto intTensor(const char *name, std::initializer_list<int64_t> values) {
  return tensorProto(name, 7, {int64_t(values.size())}).packed(7, values);
}

/// A value of another element type; -1 is an extent without a number.
Proto typedValue(const char *name, int type, std::initializer_list<int64_t> dims) {
  Proto shape;
  for (int64_t extent : dims)
    shape.add(1, extent < 0 ? Proto().add(2, "n") : Proto().add(1, extent));
  return Proto().add(1, name).add(2, Proto().add(1, Proto().add(1, type).add(2, shape)));
}

Proto unaryModel(const char *op, std::initializer_list<int64_t> dims) {
  return modelProto(Proto()
                        .add(11, valueProto("x", dims))
                        .add(1, nodeProto(op, "layer", {"x"}, {"y"}))
                        .add(12, typedValue("y", 1, {})));
}

} // namespace

TEST_F(OnnxImport, OneLeafHoldsTheNetwork) {
  expectText(unaryModel("Relu", {2, 3}), {"dfg.graph @model(%x: tensor<2x3xf32>) -> (y: tensor<2x3xf32>)",
                                          "dfg.node @net", "nn.unary relu"});
}

TEST_F(OnnxImport, NodesKeepTheirNames) {
  Imported imported = import(unaryModel("Relu", {2, 3}));
  ASSERT_TRUE(imported.module);
  int named = 0;
  imported.module->walk([&](nn::UnaryOp op) {
    auto name = dyn_cast<NameLoc>(op.getLoc());
    ASSERT_TRUE(name);
    EXPECT_EQ(name.getName(), "layer");
    ++named;
  });
  EXPECT_EQ(named, 1);
}

TEST_F(OnnxImport, AllUnsupportedOperatorsAtOnce) {
  Proto graph = Proto()
                    .add(11, valueProto("x", {2}))
                    .add(1, nodeProto("Frobnicate", "first", {"x"}, {"a"}))
                    .add(1, nodeProto("Relu", "between", {"a"}, {"b"}))
                    .add(1, nodeProto("Gelu", "second", {"b"}, {"c"}).add(7, "com.example"))
                    .add(12, typedValue("b", 1, {2}))
                    .add(12, typedValue("c", 1, {2}));
  Imported result = import(modelProto(graph).add(8, opsetProto(1, "com.example")));
  ASSERT_EQ(result.problems.size(), 2u) << text(result);
  EXPECT_EQ(result.problems[0],
            "node 'first' (Frobnicate of ai.onnx, opset 21): the operator is not supported");
  EXPECT_EQ(result.problems[1],
            "node 'second' (Gelu of com.example, opset 1): the operator is not supported; no function "
            "of the model defines it either");
}

TEST_F(OnnxImport, OperatorsOfLaterOpsets) {
  expectProblem(unaryModel("Swish", {2}),
                {"node 'layer' (Swish of ai.onnx, opset 21)", "supported from opset 24"});
}

TEST_F(OnnxImport, NewerOpsetsAreRefused) {
  Proto graph = Proto()
                    .add(11, valueProto("x", {2}))
                    .add(1, nodeProto("Relu", "layer", {"x"}, {"y"}))
                    .add(12, typedValue("y", 1, {2}));
  expectProblem(Proto().add(1, 10).add(8, opsetProto(1000)).add(7, graph),
                {"node 'layer'", "opset 1000 is newer than the newest that is supported, 27"});
}

TEST_F(OnnxImport, ShapesThatDoNotFit) {
  Proto graph = Proto()
                    .add(11, valueProto("x", {2, 3}))
                    .add(11, valueProto("w", {4, 5}))
                    .add(1, nodeProto("MatMul", "product", {"x", "w"}, {"y"}))
                    .add(12, typedValue("y", 1, {2, 5}));
  expectProblem(modelProto(graph), {"node 'product' (MatMul of ai.onnx, opset 21): "});
}

TEST_F(OnnxImport, TypesThatDoNotFit) {
  Proto graph = Proto()
                    .add(11, valueProto("x", {2}))
                    .add(11, typedValue("i", 7, {2}))
                    .add(1, nodeProto("Add", "sum", {"x", "i"}, {"y"}))
                    .add(12, typedValue("y", 1, {2}));
  expectProblem(modelProto(graph), {"node 'sum'", "different element types, f32 and i64"});
}

TEST_F(OnnxImport, HugeExtents) {
  Proto graph = Proto()
                    .add(11, valueProto("x", {1}))
                    .add(5, intTensor("shape", {1 << 30, 1 << 30}))
                    .add(1, nodeProto("Expand", "wide", {"x", "shape"}, {"y"}))
                    .add(12, typedValue("y", 1, {1, 1}));
  expectProblem(modelProto(graph), {"node 'wide'", "too many elements"});
}

TEST_F(OnnxImport, AttributesOfTheWrongType) {
  Proto graph =
      Proto()
          .add(11, valueProto("x", {2, 3}))
          .add(1, nodeProto("Softmax", "soft", {"x"}, {"y"}).add(5, attributeProto("axis", 1).add(2, 1.0f)))
          .add(12, typedValue("y", 1, {2, 3}));
  expectProblem(modelProto(graph), {"node 'soft'", "attribute 'axis': expected int, but got float"});
}

// Weights that are inputs of open shape: an extent without a value or a name.
static Proto openValue(std::string_view name, int rank) {
  Proto shape;
  for (int i = 0; i < rank; ++i)
    shape.add(1, Proto());
  return Proto().add(1, name).add(2, Proto().add(1, Proto().add(1, 1).add(2, shape)));
}

TEST_F(OnnxImport, OpenWeightsOfRecurrentLayers) {
  auto graph = [](bool hidden) {
    Proto node = nodeProto("GRU", "cell", {"x", "w", "r"}, {"y"});
    return modelProto(Proto()
                          .add(11, openValue("x", 3))
                          .add(11, openValue("w", 3))
                          .add(11, openValue("r", 3))
                          .add(1, hidden ? node.add(5, intAttr("hidden_size", 2)) : node)
                          .add(12, openValue("y", 4)));
  };
  expectText(graph(true), {"tensor<1x6x?xf32>, tensor<1x6x2xf32>"});
  expectProblem(graph(false),
                {"node 'cell'", "the number of units is not known; give hidden_size, or weights of "
                                "static shape"});
}

TEST_F(OnnxImport, AxesOutOfRange) {
  Proto graph = Proto()
                    .add(11, valueProto("x", {2, 3}))
                    .add(1, nodeProto("Softmax", "soft", {"x"}, {"y"}).add(5, intAttr("axis", 7)))
                    .add(12, typedValue("y", 1, {2, 3}));
  expectProblem(modelProto(graph), {"node 'soft'", "axis 7 is not one of a tensor with 2 dimensions"});
}

TEST_F(OnnxImport, MissingInputs) {
  Proto graph = Proto()
                    .add(11, valueProto("x", {2, 3}))
                    .add(1, nodeProto("MatMul", "product", {"x"}, {"y"}))
                    .add(12, typedValue("y", 1, {2, 3}));
  expectProblem(modelProto(graph), {"node 'product'", "different element types"});
}

TEST_F(OnnxImport, InputsThatDecideShapesAreBound) {
  Proto graph = Proto()
                    .add(11, valueProto("x", {6}))
                    .add(11, typedValue("shape", 7, {2}))
                    .add(1, nodeProto("Reshape", "fold", {"x", "shape"}, {"y"}))
                    .add(12, typedValue("y", 1, {-1, -1}));
  Imported result = import(modelProto(graph));
  ASSERT_EQ(result.problems.size(), 1u);
  EXPECT_NE(result.problems[0].find(
                "depends on 'shape'; give its content with --frontend-option bind=shape:FILE.npy"),
            std::string::npos)
      << result.problems[0];
  ASSERT_EQ(result.unbound, std::vector<std::string>{"shape"});
  std::string content = Proto::raw({int64_t(2), int64_t(3)});
  onnximport::ImportOptions options;
  onnx::Tensor tensor;
  tensor.type = onnx::DataType::I64;
  tensor.dims = {2};
  tensor.data = std::as_bytes(std::span(content));
  options.bound["shape"] = tensor;
  std::string got = text(import(modelProto(graph), options));
  EXPECT_NE(got.find("(%x: tensor<6xf32>) -> (y: tensor<2x3xf32>)"), std::string::npos) << got;
  tensor.type = onnx::DataType::F64;
  options.bound["shape"] = tensor;
  EXPECT_NE(text(import(modelProto(graph), options)).find("has another type or shape"), std::string::npos);
  options.bound["other"] = tensor;
  EXPECT_NE(text(import(modelProto(graph), options)).find("has no input 'other' to bind"), std::string::npos);
}

TEST_F(OnnxImport, ExtentsAreKnownByPlaceOrName) {
  Proto graph = Proto()
                    .add(11, valueProto("x", {-1, 3}))
                    .add(1, nodeProto("Relu", "r", {"x"}, {"y"}))
                    .add(12, typedValue("y", 1, {-1, 3}));
  onnximport::ImportOptions options;
  options.extents = {{"x", 0, 5}};
  std::string got = text(import(modelProto(graph), options));
  EXPECT_NE(got.find("(%x: tensor<5x3xf32>) -> (y: tensor<5x3xf32>)"), std::string::npos) << got;
  options.extents = {{"x", 1, 5}};
  got = text(import(modelProto(graph), options));
  EXPECT_NE(got.find("its extent 1 is 3 already, and cannot be 5"), std::string::npos) << got;
  options.extents = {{"batch", std::nullopt, 5}};
  got = text(import(modelProto(graph), options));
  EXPECT_NE(got.find("no input has the extent 'batch', which option 'dim' gives"), std::string::npos) << got;
}

TEST_F(OnnxImport, ShapesAreFollowedThroughDynamicExtents) {
  // Reshape(x, Concat(Shape(x)[0:1], [-1])) of n x 4 x 5 is n x 20.
  Proto graph =
      Proto()
          .add(11, typedValue("x", 1, {-1, 4, 5}))
          .add(5, intTensor("minus", {-1}))
          .add(
              1,
              nodeProto("Shape", "shape", {"x"}, {"s"}).add(5, intAttr("start", 0)).add(5, intAttr("end", 1)))
          .add(1, nodeProto("Concat", "join", {"s", "minus"}, {"t"}).add(5, intAttr("axis", 0)))
          .add(1, nodeProto("Reshape", "flat", {"x", "t"}, {"y"}))
          .add(12, typedValue("y", 1, {-1, 20}));
  expectText(modelProto(graph), {"nn.reshape", "tensor<?x20xf32>"});
}

TEST_F(OnnxImport, SlicesOfDynamicExtentsEndWithThem) {
  // x[1:3] of n x 4 has at most n - 1 rows.
  Proto graph = Proto()
                    .add(11, typedValue("x", 1, {-1, 4}))
                    .add(5, intTensor("from", {1}))
                    .add(5, intTensor("to", {3}))
                    .add(1, nodeProto("Slice", "part", {"x", "from", "to"}, {"y"}))
                    .add(12, typedValue("y", 1, {-1, 4}));
  expectText(modelProto(graph), {"arith.minsi", "tensor.extract_slice", "tensor<?x4xf32>"});
}

TEST_F(OnnxImport, WeightsOfDynamicExtents) {
  Proto graph = Proto()
                    .add(11, typedValue("x", 1, {-1, 3, 5, 5}))
                    .add(11, typedValue("w", 1, {-1, 3, 3, 3}))
                    .add(1, nodeProto("Conv", "layer", {"x", "w"}, {"y"}))
                    .add(12, typedValue("y", 1, {-1, -1, 3, 3}));
  expectProblem(modelProto(graph), {"node 'layer'", "weights of dynamic extents are not supported"});
}

TEST_F(OnnxImport, BranchesStayWhereTheConditionIsNotKnown) {
  auto branch = [](const char *op, const char *out) {
    return Proto().add(2, out).add(1, nodeProto(op, "", {"x"}, {out})).add(12, valueProto(out, {2}));
  };
  Proto graph = Proto()
                    .add(11, valueProto("x", {2}))
                    .add(11, typedValue("c", 9, {}))
                    .add(1, nodeProto("If", "choose", {"c"}, {"y"})
                                .add(5, attributeProto("then_branch", 5).add(6, branch("Relu", "a")))
                                .add(5, attributeProto("else_branch", 5).add(6, branch("Neg", "b"))))
                    .add(12, valueProto("y", {2}));
  expectText(modelProto(graph), {"scf.if", "nn.unary relu", "nn.unary neg"});
}

TEST_F(OnnxImport, SparseInitialisersAreFilledIn) {
  Proto sparse = Proto().add(1, tensorProto("w", 1, {1}).add(9, std::string_view("\0\0\xa0\x40", 4)));
  sparse.add(2, tensorProto("", 7, {1}).packed(7, {4})).add(3, 2).add(3, 3);
  Proto graph = Proto()
                    .add(11, valueProto("x", {2, 3}))
                    .add(15, sparse)
                    .add(1, nodeProto("Add", "sum", {"x", "w"}, {"y"}))
                    .add(12, valueProto("y", {2, 3}));
  expectText(modelProto(graph), {"[0.000000e+00, 5.000000e+00, 0.000000e+00]]> : tensor<2x3xf32>"});
}

TEST_F(OnnxImport, BranchesThatDoNotFit) {
  // Two branches with so many outputs, of these element types.
  auto model = [](unsigned outputs, const char *second, int type,
                  std::initializer_list<int64_t> condition = {}) {
    Proto yes = Proto().add(2, "a").add(1, nodeProto("Relu", "", {"x"}, {"a"})).add(12, valueProto("a", {2}));
    Proto no =
        Proto().add(2, "b").add(1, nodeProto(second, "", {"x"}, {"b"})).add(12, typedValue("b", type, {2}));
    for (unsigned i = 1; i < outputs; ++i)
      no.add(12, typedValue("b", type, {2}));
    return modelProto(Proto()
                          .add(11, valueProto("x", {2}))
                          .add(11, typedValue("c", 9, condition))
                          .add(1, nodeProto("If", "choose", {"c"}, {"y"})
                                      .add(5, attributeProto("then_branch", 5).add(6, yes))
                                      .add(5, attributeProto("else_branch", 5).add(6, no)))
                          .add(12, valueProto("y", {2})));
  };
  expectProblem(model(1, "Neg", 1, {3}),
                {"node 'choose' (If of ai.onnx, opset 21): cannot reshape 3 elements to 1"});
  expectProblem(model(2, "Neg", 1),
                {"node 'choose' (If of ai.onnx, opset 21): expected 1 outputs of its branches, "
                 "but the else_branch has 2"});
  expectProblem(
      model(1, "IsNaN", 9),
      {"node 'choose' (If of ai.onnx, opset 21): its branches give different element types for output 0"});
  expectProblem(
      model(1, "Flatten", 1),
      {"node 'choose' (If of ai.onnx, opset 21): cond: its branches give tensors of different ranks, "
       "and the condition (input 0) must be known when compiling, but depends on 'c'"});
  // Extents may differ.
  expectText(model(1, "ReduceMax", 1), {"tensor.cast", "-> (tensor<?xf32>)"});
}

TEST_F(OnnxImport, PartsThatDoNotFit) {
  auto model = [](std::initializer_list<int64_t> sizes, std::initializer_list<const char *> outputs) {
    return modelProto(Proto()
                          .add(11, valueProto("x", {6, 2}))
                          .add(5, intTensor("sizes", sizes))
                          .add(1, nodeProto("Split", "parts", {"x", "sizes"}, outputs))
                          .add(12, typedValue("a", 1, {})));
  };
  expectText(model({2, 4}, {"a", "b"}), {"nn.slice"});
  expectProblem(model({2, 3}, {"a", "b"}),
                {"node 'parts' (Split of ai.onnx, opset 21): the sizes add up to 5, expected 6"});
  expectProblem(model({2, 4}, {"a", "b", "c"}), {"node 'parts'", "there are 2 sizes, but 3 outputs"});
  expectProblem(model({-2, 8}, {"a", "b"}), {"node 'parts'", "but got -2"});
  expectProblem(model({INT64_MAX, INT64_MAX}, {"a", "b"}),
                {"node 'parts'", "expected sizes that are the parts of"});
  Proto counted =
      Proto()
          .add(11, valueProto("x", {6, 2}))
          .add(1, nodeProto("Split", "parts", {"x"}, {"a", "b"}).add(5, intAttr("num_outputs", 3)))
          .add(12, typedValue("a", 1, {}));
  expectProblem(modelProto(counted),
                {"node 'parts'", "expected num_outputs to be the number of its outputs, 2, but got 3"});
}

TEST_F(OnnxImport, StatesOfAnotherBatch) {
  auto model = [](int64_t batch) {
    return modelProto(Proto()
                          .add(11, valueProto("x", {5, 4, 3}))
                          .add(11, valueProto("w", {1, 8, 3}))
                          .add(11, valueProto("r", {1, 8, 2}))
                          .add(11, valueProto("h", {1, batch, 2}))
                          .add(1, nodeProto("LSTM", "layer", {"x", "w", "r", "", "", "h"}, {"y"})
                                      .add(5, intAttr("hidden_size", 2)))
                          .add(12, typedValue("y", 1, {})));
  };
  expectText(model(4), {"nn.recurrent lstm"});
  expectProblem(model(3), {"node 'layer' (LSTM of ai.onnx, opset 21): ", "initial_h"});
}

TEST_F(OnnxImport, FunctionsAreWrittenOut) {
  Proto function = Proto()
                       .add(1, "Twice")
                       .add(4, "a")
                       .add(5, "r")
                       .add(7, nodeProto("Add", "sum", {"a", "a"}, {"r"}))
                       .add(9, opsetProto(21))
                       .add(10, "local");
  Proto graph = Proto()
                    .add(11, valueProto("x", {2}))
                    .add(1, nodeProto("Twice", "call", {"x"}, {"y"}).add(7, "local"))
                    .add(12, valueProto("y", {2}));
  expectText(modelProto(graph).add(25, function), {"nn.binary add"});
}

// f1 calls f0 twice, f2 calls f1 twice, …: 2^30 nodes once they are written out.
TEST_F(OnnxImport, FunctionsThatDoubleAreCounted) {
  Proto model = modelProto(Proto()
                               .add(11, valueProto("x", {2}))
                               .add(1, nodeProto("f30", "call", {"x"}, {"y"}).add(7, "local"))
                               .add(12, valueProto("y", {2})));
  for (int i = 0; i <= 30; ++i) {
    std::string inner = i ? "f" + std::to_string(i - 1) : "Neg";
    Proto first = nodeProto(inner, "first", {"a"}, {"b"}), second = nodeProto(inner, "second", {"b"}, {"c"});
    if (i) {
      first.add(7, "local");
      second.add(7, "local");
    }
    model.add(25, Proto()
                      .add(1, "f" + std::to_string(i))
                      .add(4, "a")
                      .add(5, "c")
                      .add(7, first)
                      .add(7, second)
                      .add(9, opsetProto(21))
                      .add(9, opsetProto(1, "local"))
                      .add(10, "local"));
  }
  onnximport::ImportOptions options;
  options.maxNodes = 20000;
  Imported result = import(model.add(8, opsetProto(1, "local")), options);
  EXPECT_FALSE(result.module);
  ASSERT_FALSE(result.problems.empty());
  EXPECT_NE(result.problems[0].find("more than 20000 nodes once its functions and loops are written out"),
            std::string::npos)
      << result.problems[0];
}

// Each swish is a fork and a join: 2^30 paths lead to the batch, and each of its 60 extents is traced once.
TEST_F(OnnxImport, ExtentsAreTracedOnceHoweverManyPathsThereAre) {
  Proto graph = Proto().add(11, typedValue("x", 1, {-1, 4}));
  std::string last = "x";
  for (int i = 0; i < 30; ++i) {
    std::string gate = "s" + std::to_string(i), next = "m" + std::to_string(i);
    graph.add(1, nodeProto("Sigmoid", "", {last.c_str()}, {gate.c_str()}))
        .add(1, nodeProto("Mul", "", {last.c_str(), gate.c_str()}, {next.c_str()}));
    last = next;
  }
  graph.add(1, nodeProto("Unsqueeze", "", {last.c_str(), "axes"}, {"y"}))
      .add(5, intTensor("axes", {1}))
      .add(12, typedValue("y", 1, {}));
  bytes.push_back(modelProto(graph).bytes);
  auto read = onnx::parseModel(std::as_bytes(std::span(bytes.back())), "test", "");
  ASSERT_TRUE(read.ok()) << read.status().message();
  onnximport::loadDialects(&context);
  onnximport::ImportOptions options;
  onnximport::Importer importer(*read, options, &context);
  Imported imported = importer.run();
  ASSERT_TRUE(imported.module) << text(imported);
  EXPECT_EQ(importer.traceSteps, 61u);
}

// What is known of a number that was doubled forty times is not asked along 2^40 paths.
TEST_F(OnnxImport, ExtentsThatDouble) {
  Proto graph = Proto().add(11, typedValue("x", 1, {-1})).add(1, nodeProto("Shape", "", {"x"}, {"d0"}));
  for (int i = 0; i < 40; ++i) {
    std::string last = "d" + std::to_string(i), next = "d" + std::to_string(i + 1);
    graph.add(1, nodeProto("Add", "", {last.c_str(), last.c_str()}, {next.c_str()}));
  }
  graph.add(1, nodeProto("Div", "", {"d40", "two"}, {"y"}))
      .add(5, intTensor("two", {2}))
      .add(12, typedValue("y", 7, {}));
  EXPECT_TRUE(import(modelProto(graph)).module);
}

// Values that a long chain was computed from go one by one, not one within the other.
TEST_F(OnnxImport, LongChainsEnd) {
  Proto graph = Proto().add(11, valueProto("x", {2}));
  std::string last = "x";
  for (int i = 0; i < 60000; ++i) {
    std::string next = "v" + std::to_string(i);
    graph.add(1, nodeProto("Neg", "", {last.c_str()}, {next.c_str()}));
    last = next;
  }
  graph.add(12, valueProto(last, {2}));
  EXPECT_TRUE(import(modelProto(graph)).module);
}

// A bias is repeated for a product, never the product for it.
TEST_F(OnnxImport, BiasesOfProductsKeepTheirShape) {
  auto model = [](std::initializer_list<int64_t> bias) {
    return modelProto(Proto()
                          .add(11, typedValue("a", 1, {-1, 3}))
                          .add(11, typedValue("b", 1, {3, 4}))
                          .add(11, typedValue("c", 1, bias))
                          .add(1, nodeProto("Gemm", "layer", {"a", "b", "c"}, {"y"}))
                          .add(12, typedValue("y", 1, {})));
  };
  expectText(model({4}), {"nn.binary add", "-> (y: tensor<?x4xf32>)"});
  expectText(model({5, 4}), {"nn.broadcast", "-> (y: tensor<?x4xf32>)"});
  expectText(model({-1, 4}), {"nn.broadcast", "-> (y: tensor<?x4xf32>)"});
  expectProblem(model({3}), {"cannot broadcast"});
}

TEST_F(OnnxImport, StringsAndSequencesAreRefused) {
  Proto graph = Proto()
                    .add(11, typedValue("x", 8, {2}))
                    .add(1, nodeProto("Identity", "same", {"x"}, {"y"}))
                    .add(12, typedValue("y", 8, {2}));
  expectProblem(modelProto(graph), {"input 'x': tensors of string are not supported"});
}

TEST_F(OnnxImport, ADynamicHeightIsNotResized) {
  // Twice the rows of x [1, 1, ?, 4]; the scales are a constant.
  Proto scales = tensorProto("scales", 1, {4});
  for (float scale : {1.0f, 1.0f, 2.0f, 1.0f})
    scales.add(4, scale);
  Proto graph =
      Proto()
          .add(5, scales)
          .add(11, valueProto("x", {1, 1, -1, 4}))
          .add(1, nodeProto("Resize", "up", {"x", "", "scales"}, {"y"}).add(5, intAttr("antialias", 1)))
          .add(12, valueProto("y", {1, 1, -1, 4}));
  expectProblem(modelProto(graph),
                {"node 'up' (Resize of ai.onnx, opset 21): a dynamic height or width cannot be "
                 "resized so; export the model with fixed heights and widths"});
}

TEST_F(OnnxImport, ManyProblemsAreCounted) {
  Proto graph = Proto().add(11, valueProto("x", {2}));
  for (int i = 0; i < 60; ++i)
    graph.add(1, nodeProto("Nothing", ("n" + std::to_string(i)).c_str(), {"x"},
                           {("y" + std::to_string(i)).c_str()}));
  graph.add(12, valueProto("y0", {2}));
  Imported result = import(modelProto(graph));
  ASSERT_EQ(result.problems.size(), 51u);
  EXPECT_EQ(result.problems.back(), "… and 10 more");
}

TEST_F(OnnxImport, FractionsOfExtentsHaveFewDigits) {
  Proto delta = tensorProto("delta", 1, {}), zero = tensorProto("zero", 1, {});
  delta.add(4, 0.1f);
  zero.add(4, 0.0f);
  Proto graph = Proto()
                    .add(5, delta)
                    .add(5, zero)
                    .add(11, valueProto("x", {-1}))
                    .add(1, nodeProto("Size", "count", {"x"}, {"n"}))
                    .add(1, nodeProto("Cast", "cast", {"n"}, {"f"}).add(5, intAttr("to", 1)))
                    .add(1, nodeProto("Range", "places", {"zero", "f", "delta"}, {"y"}))
                    .add(12, valueProto("y", {-1}));
  expectProblem(modelProto(graph),
                {"node 'places'", "its operands have too many digits beside a dynamic extent"});
}
TEST_F(OnnxImport, ExtentsThatDecideRanksOrSizesAreNamed) {
  Proto gather = Proto()
                     .add(11, valueProto("x", {2, 3}))
                     .add(11, typedValue("i", 7, {4, -1}))
                     .add(1, nodeProto("GatherND", "pick", {"x", "i"}, {"y"}))
                     .add(12, typedValue("y", 1, {}));
  expectProblem(modelProto(gather), {"node 'pick'", "a dynamic extent 1 is not supported here",
                                     "the number of coordinates depends on it"});
  Proto conv =
      Proto()
          .add(11, valueProto("x", {1, 1, 4, 4}))
          .add(11, typedValue("w", 1, {1, 1, 3, -1}))
          .add(1, nodeProto("Conv", "layer", {"x", "w"}, {"y"}).add(5, intsAttr("kernel_shape", {3, 3})))
          .add(12, typedValue("y", 1, {}));
  expectProblem(modelProto(conv), {"node 'layer'", "weights of dynamic extents are not supported"});
}

TEST_F(OnnxImport, DifferencesOfExtentsMayBeNegative) {
  // The extent minus three is not known to be above -1: it is compared at launch.
  Proto graph = Proto()
                    .add(11, typedValue("x", 1, {-1}))
                    .add(5, intTensor("three", {3}))
                    .add(5, intTensor("minus", {-1}))
                    .add(1, nodeProto("Shape", "extent", {"x"}, {"s"}))
                    .add(1, nodeProto("Sub", "less", {"s", "three"}, {"d"}))
                    .add(1, nodeProto("Greater", "compare", {"d", "minus"}, {"y"}))
                    .add(12, typedValue("y", 9, {1}));
  expectText(modelProto(graph), {"arith.cmpi sgt"});
}
