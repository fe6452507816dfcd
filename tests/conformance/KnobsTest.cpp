// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each knob of each kind of operation on the CPU, against what the oracle says that it means. One graph for
// each knob; those of one operation are installed together.
#include "CpuBackend.h"

#include "tessera/transforms/nn/knobs/Knobs.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::conformance;
using oracle::Array;

namespace {

/// An operation on %a, whose type is `input`; `weights` become a constant %w of numbers that look random,
/// `bias` %b.
struct Case {
  std::string name, input, weights, bias, text, result;
};

} // namespace

static std::string typeOf(const std::string &shape) { return "tensor<" + shape + "xf32>"; }

// Numbers between -1 and 1 that repeat in no pattern that a knob has.
static float numberAt(size_t i) {
  auto bits = static_cast<uint32_t>((i + 1) * 2654435761u);
  return static_cast<float>((bits >> 12) & 0xfff) / 2048 - 1;
}

static std::string constant(const std::string &name, const std::string &shape) {
  size_t count = 1;
  for (StringRef rest = shape; !rest.empty();) {
    size_t extent = 0;
    rest.split('x').first.getAsInteger(10, extent);
    count *= extent;
    rest = rest.split('x').second;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "    %" << name << " = arith.constant dense<\"0x";
  for (size_t i = 0; i < count; ++i) {
    float value = numberAt(i) * 0.25f;
    unsigned char bytes[sizeof(float)];
    std::memcpy(bytes, &value, sizeof(float));
    os << llvm::toHex(bytes);
  }
  os << "\"> : " << typeOf(shape) << "\n";
  return text;
}

static std::string graphOf(const Case &c, const std::string &name, const std::string &knob) {
  std::string text = c.text;
  auto replace = [&](StringRef from, const std::string &to) {
    for (size_t at; (at = text.find(from.str())) != std::string::npos;)
      text.replace(at, from.size(), to);
  };
  // Names stay as they are when no other has them; PROMISE's noise depends on them.
  replace("{knob}",
          "nn.name = \"" + name + "\", nn.range = array<f32: -0.9, 0.8>, nn.knob = \"" + knob + "\"");
  replace("{a}", typeOf(c.input));
  replace("{w}", typeOf(c.weights));
  replace("{b}", typeOf(c.bias));
  replace("{r}", typeOf(c.result));
  std::string in = typeOf(c.input), out = typeOf(c.result);
  return "dfg.graph @" + name + "(%x: " + in + ") -> (y: " + out +
         ") {\n  %y = dfg.node @net (%a = %x : " + in + ") -> " + out + " {\n" +
         (c.weights.empty() ? "" : constant("w", c.weights)) + (c.bias.empty() ? "" : constant("b", c.bias)) +
         "    " + text + "\n    dfg.yield %r : " + out + "\n  }\n  dfg.return %y : " + out + "\n}\n";
}

static const std::vector<Case> &cases() {
  static const std::string relu = "\n    %r = nn.unary relu %1 : {r} -> {r}";
  static const std::vector<Case> all = {
      {"conv3x3", "2x16x6x7", "16x16x3x3", "16",
       "%1 = nn.conv %a, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = "
       "array<i64: 1, 1>, "
       "{knob}} : ({a}, {w}, {b}) -> {r}" +
           relu,
       "2x16x6x7"},
      {"strided", "2x5x9x6", "16x5x3x3", "16",
       "%1 = nn.conv %a, %w, %b {strides = array<i64: 2, 1>, pads = array<i64: 0, 1, 1, 1>, dilations = "
       "array<i64: 1, 1>, "
       "{knob}} : ({a}, {w}, {b}) -> {r}" +
           relu,
       "2x16x4x6"},
      {"pointwise", "2x16x4x5", "16x16x1x1", "16",
       "%1 = nn.conv %a, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = "
       "array<i64: 1, 1>, "
       "{knob}} : ({a}, {w}, {b}) -> {r}" +
           relu,
       "2x16x4x5"},
      {"depthwise", "2x16x5x6", "16x1x3x3", "16",
       "%1 = nn.conv %a, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = "
       "array<i64: 1, 1>, groups = 16 : i64, "
       "{knob}} : ({a}, {w}, {b}) -> {r}" +
           relu,
       "2x16x5x6"},
      {"product", "3x40", "40x24", "", "%r = nn.matmul %a, %w {{knob}} : {a}, {w} -> {r}", "3x24"},
      {"transposed", "3x40", "24x40", "", "%r = nn.matmul %a, %w {transpose_b, {knob}} : {a}, {w} -> {r}",
       "3x24"},
      {"mean", "2x12x7x8", "", "", "%r = nn.reduce mean %a {axes = array<i64: 2, 3>, {knob}} : {a} -> {r}",
       "2x12"},
      {"sum", "2x12x7", "", "", "%r = nn.reduce sum %a {axes = array<i64: 1>, keep, {knob}} : {a} -> {r}",
       "2x1x7"},
      {"maximum", "2x9", "", "", "%r = nn.reduce max %a {axes = array<i64: 1>, {knob}} : {a} -> {r}", "2"},
      {"max_pool", "2x8x9x8", "8x8x3x3", "",
       "%1 = nn.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = "
       "array<i64: 1, 1>} : ({a}, {w}) -> {a}\n"
       "    %r = nn.pool max %1 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, "
       "1, 0, 1>, dilations = array<i64: 1, 1>, "
       "{knob}} : {a} -> {r}",
       "2x8x4x4"},
      {"mean_pool", "2x3x8x8", "", "",
       "%r = nn.pool mean %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, "
       "0, 0>, dilations = array<i64: 1, 1>, "
       "{knob}} : {a} -> {r}",
       "2x3x4x4"},
      // The activation that waits is read by a layer, too.
      {"residual", "2x16x6x7", "16x16x3x3", "",
       "%1 = nn.unary relu %a : {a} -> {a}\n"
       "    %2 = nn.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = "
       "array<i64: 1, 1>} : ({a}, {w}) -> {a}\n"
       "    %3 = nn.binary add %2, %1 {{knob}} : {a}, {a} -> {a}\n"
       "    %r = nn.unary relu %3 : {a} -> {r}",
       "2x16x6x7"},
      // Two layers meet; the first one's result waits.
      {"joined", "2x16x6x7", "16x16x1x1", "16",
       "%1 = nn.conv %a, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = "
       "array<i64: 1, 1>} : ({a}, {w}, {b}) -> {a}\n"
       "    %2 = nn.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = "
       "array<i64: 1, 1>} : ({a}, {w}) -> {a}\n"
       "    %r = nn.binary add %2, %1 {{knob}} : {a}, {a} -> {r}",
       "2x16x6x7"},
  };
  return all;
}

class Knobs : public testing::TestWithParam<size_t> {};

static Array inputFor(dfg::GraphOp graph) {
  Array array;
  auto type = cast<RankedTensorType>(graph.getArgumentTypes()[0]);
  array.elementType = type.getElementType();
  size_t count = 1;
  for (int64_t extent : type.getShape()) {
    array.shape.push_back(extent);
    count *= array.shape.back();
  }
  array.bytes.resize(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    float value = numberAt(i * 7 + 3);
    std::memcpy(array.bytes.data() + i * sizeof(float), &value, sizeof(float));
  }
  return array;
}

// The oracle's answer and that of the installed program, element by element.
static void expectAsOracle(const std::string &installed, dfg::GraphOp graph, const BackendOptions &options,
                           double bound) {
  std::vector<Array> inputs = {inputFor(graph)};
  auto expected = oracle::runGraph(graph, inputs);
  ASSERT_TRUE(succeeded(expected));
  auto actual = runProgram(installed, graph, inputs, options);
  ASSERT_TRUE(succeeded(actual));
  for (size_t r = 0; r < expected->size(); ++r) {
    const size_t bytes = (*expected)[r].bytes.size();
    ASSERT_EQ(bytes, (*actual)[r].bytes.size());
    const auto *x = reinterpret_cast<const float *>((*expected)[r].bytes.data()),
               *y = reinterpret_cast<const float *>((*actual)[r].bytes.data());
    for (size_t e = 0; e < bytes / sizeof(float); ++e)
      ASSERT_NEAR(x[e], y[e], bound * (1 + std::fabs(x[e]))) << "result " << r << ", element " << e;
  }
}

// All of them with TESSERA_FULL; otherwise one of each kind on a convolution and a product, and what differs
// by operation on the others.
static bool isTried(const Case &c, const Knob &knob) {
  using Structure = Knob::Structure;
  if (std::getenv("TESSERA_FULL") || c.weights.empty())
    return true;
  const bool isF32 = knob.precision == Knob::Precision::F32;
  if (c.name == "max_pool" || knob.structure == Structure::None)
    return true;
  const bool isFirst = c.name == "conv3x3" || c.name == "product";
  switch (knob.structure) {
  case Structure::Promise:
    return isFirst && knob.value == 3;
  case Structure::PruneBlocks:
    return isFirst && isF32 && knob.share == 0.5;
  case Structure::PerforateRows:
    return knob.rate == 2 && knob.offset == 1 &&
           (isF32 || (isFirst && knob.precision != Knob::Precision::F16));
  case Structure::PerforateCols:
    return isFirst && isF32 && knob.rate == 3 && knob.offset == 0;
  case Structure::PerforateBoth:
    return isFirst && knob.rate == 2 && knob.offset == 0 &&
           (isF32 || knob.precision == Knob::Precision::Int8);
  case Structure::SampleFilter:
    return isFirst && isF32 && knob.offset == 1 && knob.rate < 4;
  default:
    return isFirst && isF32;
  }
}

TEST_P(Knobs, MeanWhatTheOracleSays) {
  const Case &c = cases()[GetParam()];
  Session session;
  ParserConfig config(&session.context());
  auto plain = parseSourceString<ModuleOp>(graphOf(c, "plain", "f32"), config, "knobs");
  ASSERT_TRUE(plain);
  SmallVector<Knob> knobs;
  for (nn::TunableOp op : nn::tunableOps(*plain))
    if (nn::nameOf(op) == "plain")
      llvm::copy_if(nn::listKnobs(op), std::back_inserter(knobs),
                    [&](const Knob &knob) { return isTried(c, knob); });
  ASSERT_GE(knobs.size(), 2u);
  std::string text;
  for (auto [i, knob] : llvm::enumerate(knobs))
    text += graphOf(c, "g" + std::to_string(i), knob.str());
  auto module = parseSourceString<ModuleOp>(text, config, "knobs");
  ASSERT_TRUE(module);
  OwningOpRef<ModuleOp> original = module->clone();
  BackendOptions options;
  FailureOr<std::string> installed = installModule(session, *module, options);
  ASSERT_TRUE(succeeded(installed));
  for (auto [i, knob] : llvm::enumerate(knobs)) {
    SCOPED_TRACE(c.name + " " + knob.str());
    auto graph = original->lookupSymbol<dfg::GraphOp>("g" + std::to_string(i));
    // A number between two of a narrow type may go either way when sums differ in their last bit.
    bool isNarrow = knob.precision != Knob::Precision::F32 &&
                    (knob.structure == Knob::Structure::LowRank || c.name == "joined");
    double bound = isNarrow ? 1e-2 : knob.structure == Knob::Structure::Promise ? 1e-4 : 2e-5;
    expectAsOracle(*installed, graph, options, bound);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, Knobs, testing::Range<size_t>(0, cases().size()),
                         [](const auto &info) { return cases()[info.param].name; });

// A chain of nodes that read rows above and below, each with a knob of its own: what one leaves out is filled
// in where the next one reads it.
static std::string chainOf(const std::string &name, ArrayRef<StringRef> knobs) {
  const std::string type = "tensor<11x6xf32>";
  std::string text = "dfg.graph @" + name + "(%x0: " + type + ") -> (y: " + type + R"() {
  %h = arith.constant 11 : index
  %w = arith.constant 6 : index
)";
  for (auto [i, knob] : llvm::enumerate(knobs)) {
    const std::string number = std::to_string(i), next = std::to_string(i + 1);
    text += "  %x" + next + " = dfg.node @n" + next + " grid(%i = %h, %j = %w) (%a = %x" + number + " : " +
            type + ") -> " + type + " attributes {dfg.knob = \"" + knob.str() + R"("} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %last = arith.constant 10 : index
    %weight = arith.constant 0.375 : f32
    %i0 = arith.subi %i, %one : index
    %above = arith.maxsi %i0, %zero : index
    %i1 = arith.addi %i, %one : index
    %below = arith.minsi %i1, %last : index
    %p = tensor.extract %a[%above, %j] : tensor<11x6xf32>
    %q = tensor.extract %a[%i, %j] : tensor<11x6xf32>
    %r = tensor.extract %a[%below, %j] : tensor<11x6xf32>
    %d = arith.subf %q, %p : f32
    %e = arith.mulf %d, %weight : f32
    %f = arith.addf %e, %r : f32
    dfg.yield %f : f32
  }
)";
  }
  return text + "  dfg.return %x" + std::to_string(knobs.size()) + " : " + type + "\n}\n";
}

TEST(NodeKnobs, MeanWhatTheOracleSaysInChains) {
  const std::vector<std::vector<StringRef>> chains = {
      {"perforate-rows:1/2@0", "perforate-rows:1/2@0"},
      {"perforate-rows:3/4@0", "perforate-rows:2/3@0", "perforate-rows:7/8@0"},
      {"f16+perforate-rows:1/3@1", "perforate-rows:1/4@2", "f32"},
      {"perforate-rows:1/2@1", "f32", "perforate-rows:5/6@0"},
      {"bf16", "perforate-rows:1/2@1", "perforate-rows:1/3@2"},
      {"cubic-rows:1/2@0", "cubic-rows:3/4@2"},
      {"f16+cubic-rows:2/3@1", "perforate-rows:5/8@1", "perforate-rows:7/8@0"},
      {"cubic-rows:1/4@3", "f32", "cubic-rows:7/8@4"},
      {"f16-math", "f16-math+perforate-rows:1/2@0"},
      {"f32", "f16-math", "f32"},
      {"f16+perforate-rows:2/3@1", "f16-math+perforate-rows:5/6@0", "f16-math+cubic-rows:3/4@2"},
      {"f16-math+cubic-rows:1/2@0", "bf16", "f16-math+perforate-rows:7/8@0", "perforate-rows:1/3@1"}};
  std::string text;
  for (auto [i, knobs] : llvm::enumerate(chains))
    text += chainOf("g" + std::to_string(i), knobs);
  Session session;
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&session.context()), "chains");
  ASSERT_TRUE(module);
  OwningOpRef<ModuleOp> original = module->clone();
  BackendOptions options;
  FailureOr<std::string> installed = installModule(session, *module, options);
  ASSERT_TRUE(succeeded(installed));
  for (size_t i = 0; i < chains.size(); ++i) {
    SCOPED_TRACE(llvm::join(chains[i], ", "));
    expectAsOracle(*installed, original->lookupSymbol<dfg::GraphOp>("g" + std::to_string(i)), options, 1e-6);
  }
}

// Sums over one dimension, sums and extremes over all of them, and one position alone.
TEST(NodeKnobs, SampledReductionsAreTheOracles) {
  std::string text;
  const std::vector<std::pair<StringRef, StringRef>> knobs = {
      {"sample:1/2@0", "11x6"}, {"sample:1/3@2", "11x6"}, {"sample:1/4@1", "7x5"}, {"sample:1/2@0", "1x4"}};
  for (auto [i, item] : llvm::enumerate(knobs)) {
    auto [knob, shape] = item;
    auto [rows, columns] = shape.split('x');
    const std::string type = "tensor<" + shape.str() + "xf32>", sums = "tensor<" + rows.str() + "xf32>",
                      attribute = "attributes {dfg.knob = \"" + knob.str() + "\"}";
    text += "dfg.graph @g" + std::to_string(i) + "(%x: " + type + ") -> (s: " + sums +
            ", t: f32, m: f32) {\n" + "  %h = arith.constant " + rows.str() +
            " : index\n  %w = arith.constant " + columns.str() +
            " : index\n  %s = dfg.node @rows grid(%i = %h, %j = %w) (each %e = %x : " + type + ") -> " +
            sums + " reduce<addf> over [1] " + attribute + " {\n    dfg.yield %e : f32\n  }\n" +
            "  %t, %m = dfg.node @all grid(%i = %h, %j = %w) (each %e = %x : " + type +
            ") -> (f32 reduce<addf>, f32 reduce<maximumf>) " + attribute +
            " {\n    dfg.yield %e, %e : f32, f32\n  }\n  dfg.return %s, %t, %m : " + sums + ", f32, f32\n}\n";
  }
  Session session;
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&session.context()), "sums");
  ASSERT_TRUE(module);
  OwningOpRef<ModuleOp> original = module->clone();
  BackendOptions options;
  FailureOr<std::string> installed = installModule(session, *module, options);
  ASSERT_TRUE(succeeded(installed));
  for (size_t i = 0; i < knobs.size(); ++i) {
    SCOPED_TRACE(knobs[i].first.str());
    expectAsOracle(*installed, original->lookupSymbol<dfg::GraphOp>("g" + std::to_string(i)), options, 1e-5);
  }
}
