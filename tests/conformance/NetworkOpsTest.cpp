// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of networks × element type on the CPU, against the oracle: elementwise, conversions, reductions,
// movement, gathers and scatters; static extents, open ones, none. One table; each row is one small graph,
// and the graphs of one element type are installed together.
#include "CpuBackend.h"
#include "RandomBody.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::conformance;
using oracle::Array;

namespace {

/// One row. `inputs` and `results` are types, in which T is the element type; open extents are 5. In `text`
/// %a %b %c are the operands, %r and %s the results, and {a} {b} {c} {r} {s} their types.
struct Row {
  std::string name;
  std::vector<std::string> inputs;
  std::string text;
  std::vector<std::string> results;
  int64_t low = -9, high = 9; ///< integers among the operands
  bool fractions = true;      ///< floats among them have some
};

using Rows = std::vector<Row>;

} // namespace

static std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

static bool isFloat(const std::string &element) { return element[0] == 'f' || element[0] == 'b'; }

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static void addElementwise(Rows &rows, const std::string &element) {
  auto unary = [&](const char *kind, const char *result = "tensor<3x5xT>") {
    rows.push_back({std::string("unary_") + kind,
                    {"tensor<3x5xT>"},
                    std::string("%r = nn.unary ") + kind + " %a : {a} -> {r}",
                    {result}});
  };
  auto binary = [&](const char *kind, const char *result, const char *flags = "", int64_t low = -9) {
    rows.push_back({std::string("binary_") + kind + (*flags ? "_u" : ""),
                    {"tensor<2x3x5xT>", "tensor<3x1xT>"},
                    std::string("%r = nn.binary ") + kind + " %a, %b " + flags + " : {a}, {b} -> {r}",
                    {result},
                    low});
  };
  const char *same = "tensor<2x3x5xT>", *bits = "tensor<2x3x5xi1>";
  for (const char *kind : {"abs", "neg", "sign", "relu"})
    unary(kind);
  for (const char *kind : {"add", "sub", "mul", "min", "max", "prelu"})
    binary(kind, same);
  for (const char *kind : {"eq", "ne", "lt", "le", "gt", "ge"})
    binary(kind, bits);
  if (!isFloat(element)) {
    for (const char *kind : {"not_", "popcount"})
      unary(kind);
    for (const char *kind : {"and_", "or_", "xor_"})
      binary(kind, same);
    for (const char *kind : {"div", "mod", "fmod", "pow", "shl", "shr"})
      binary(kind, same, "", 1);
    for (const char *kind : {"div", "mod", "shl", "shr", "min", "max"})
      binary(kind, same, "{is_unsigned}", 1);
    return;
  }
  for (const char *kind :
       {"exp",   "log",     "sqrt",     "reciprocal", "floor", "ceil",      "round", "erf",   "sin",
        "cos",   "asin",    "acos",     "atan",       "sinh",  "cosh",      "tanh",  "asinh", "acosh",
        "atanh", "sigmoid", "softplus", "softsign",   "gelu",  "gelu_tanh", "mish"})
    unary(kind);
  for (const char *kind : {"isnan", "isinf", "isposinf", "isneginf"})
    unary(kind, "tensor<3x5xi1>");
  binary("div", same);
  binary("fmod", same);
  for (const char *kind : {"leaky_relu", "elu", "selu", "celu", "hard_sigmoid", "hard_swish",
                           "thresholded_relu", "shrink", "clip", "swish"})
    rows.push_back({std::string("activation_") + kind,
                    {"tensor<?x5xT>"},
                    std::string("%r = nn.activation ") + kind +
                        " %a {alpha = 0.25 : f64, beta = 0.75 : f64} : {a} -> {r}",
                    {"tensor<?x5xT>"}});
  rows.push_back({"batch_norm",
                  {"tensor<2x3x5xT>", "tensor<3xT>"},
                  "%v = nn.unary abs %b : {b} -> {b}\n%r = nn.batch_norm %a, %b, %b, %b, %v {epsilon = 0.5 : "
                  "f64} : ({a}, {b}, {b}, {b}, {b}) -> {r}",
                  {"tensor<2x3x5xT>"}});
}

// Broadcast of open extents, empty tensors, rank 0, and a chain that becomes one loop nest.
static void addShapes(Rows &rows) {
  auto add = [&](const char *name, const char *a, const char *b, const char *r) {
    rows.push_back(
        {std::string("broadcast_") + name, {a, b}, "%r = nn.binary sub %a, %b : {a}, {b} -> {r}", {r}});
  };
  add("open", "tensor<?x4xT>", "tensor<4xT>", "tensor<?x4xT>");
  add("two_open", "tensor<?x4xT>", "tensor<?x1xT>", "tensor<?x4xT>");
  add("open_by_static", "tensor<?x4xT>", "tensor<5x4xT>", "tensor<5x4xT>");
  add("empty", "tensor<0x4xT>", "tensor<4xT>", "tensor<0x4xT>");
  add("scalars", "tensor<T>", "tensor<T>", "tensor<T>");
  rows.push_back({"chain",
                  {"tensor<?x8xT>", "tensor<8xT>"},
                  "%1 = nn.binary add %a, %b : {a}, {b} -> {a}\n%2 = nn.unary relu %1 : {a} -> {a}\n%r = "
                  "nn.binary mul %2, %2 : {a}, {a} -> {r}",
                  {"tensor<?x8xT>"}});
  rows.push_back({"select",
                  {"tensor<3x1xi1>", "tensor<3x4xT>", "tensor<4xT>"},
                  "%r = nn.select %a, %b, %c : {a}, {b}, {c} -> {r}",
                  {"tensor<3x4xT>"}});
}

static void addConversions(Rows &rows, const std::string &element) {
  for (const char *to : {"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "i1"})
    if (element != to)
      rows.push_back({std::string("cast_") + to,
                      {"tensor<20xT>"},
                      "%r = nn.cast %a : {a} -> {r}",
                      {std::string("tensor<20x") + to + ">"}});
  if (element == "i8")
    for (int format = 1; format <= 11; ++format)
      rows.push_back({"decode_" + std::to_string(format),
                      {"tensor<300xT>"},
                      "%r = nn.cast %a {from = " + std::to_string(format) + " : i32} : {a} -> {r}",
                      {"tensor<300xf32>"},
                      -128,
                      127});
  if (!isFloat(element))
    return;
  for (int format = 2; format <= 11; ++format)
    for (const char *wrap : {"", ", wrap"})
      rows.push_back({"encode_" + std::to_string(format) + (*wrap ? "_wrap" : ""),
                      {"tensor<300xT>"},
                      "%r = nn.cast %a {to = " + std::to_string(format) + " : i32" + wrap + "} : {a} -> {r}",
                      {"tensor<300xi8>"}});
  // Scales that are powers of two, so that no quotient lies next to a half in one place only.
  const char *scale = "%s1 = arith.constant dense<[0.125, 0.5, 2.0]> : tensor<3xf32>\n%s2 = nn.cast %s1 : "
                      "tensor<3xf32> -> tensor<3xT>\n";
  rows.push_back(
      {"quantize",
       {"tensor<2x3x4xT>", "tensor<3xi8>"},
       std::string(scale) + "%r = nn.quantize %a, %s2, %b {axis = 1 : i64} : ({a}, tensor<3xT>, {b}) -> {r}",
       {"tensor<2x3x4xi8>"}});
  rows.push_back({"dequantize",
                  {"tensor<2x3x4xi8>", "tensor<3xi8>"},
                  std::string(scale) +
                      "%r = nn.dequantize %a, %s2, %b {axis = 1 : i64} : ({a}, tensor<3xT>, {b}) -> {r}",
                  {"tensor<2x3x4xT>"}});
  rows.push_back({"dequantize_blocks",
                  {"tensor<2x3x4xi8>", "tensor<2x2x4xT>"},
                  "%r = nn.dequantize %a, %b {axis = 1 : i64, block = 2 : i64} : ({a}, {b}) -> {r}",
                  {"tensor<2x3x4xT>"}});
}

static void addReductions(Rows &rows, const std::string &element) {
  for (const char *kind :
       {"sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square", "log_sum", "log_sum_exp"}) {
    std::string prefix = std::string("%r = nn.reduce ") + kind, name = std::string("reduce_") + kind;
    bool whole = !isFloat(element) && (StringRef(kind).starts_with("l") || StringRef(kind) == "mean");
    int64_t low = whole ? 1 : -3;
    rows.push_back({name + "_last",
                    {"tensor<4x?xT>"},
                    prefix + " %a {axes = array<i64: 1>} : {a} -> {r}",
                    {"tensor<4xT>"},
                    low,
                    3});
    rows.push_back({name + "_first",
                    {"tensor<3x4xT>"},
                    prefix + " %a {axes = array<i64: 0>, keep} : {a} -> {r}",
                    {"tensor<1x4xT>"},
                    low,
                    3});
    rows.push_back({name + "_outer",
                    {"tensor<3x?x2xT>"},
                    prefix + " %a {axes = array<i64: 0, 2>} : {a} -> {r}",
                    {"tensor<?xT>"},
                    low,
                    3});
  }
  for (const char *flags : {"", ", min", ", last", ", min, last, keep"})
    rows.push_back({std::string("arg_reduce_") + std::to_string(rows.size()),
                    {"tensor<3x7xT>"},
                    std::string("%r = nn.arg_reduce %a {axis = 1 : i64") + flags + "} : {a} -> {r}",
                    {StringRef(flags).contains("keep") ? "tensor<3x1xi64>" : "tensor<3xi64>"},
                    -2,
                    2,
                    false});
  for (const char *flags : {"", ", min, last, keep"})
    rows.push_back({"arg_reduce_open_" + std::to_string(rows.size()),
                    {"tensor<?x7xT>"},
                    std::string("%r = nn.arg_reduce %a {axis = 1 : i64") + flags + "} : {a} -> {r}",
                    {StringRef(flags).contains("keep") ? "tensor<?x1xi64>" : "tensor<?xi64>"},
                    -2,
                    2,
                    false});
  for (const char *flags : {"", ", reverse", ", exclusive", ", exclusive, reverse"})
    rows.push_back({"cumulative_" + std::to_string(rows.size()),
                    {"tensor<3x?x2xT>"},
                    std::string("%r = nn.cumulative sum %a {axis = 1 : i64") + flags + "} : {a} -> {r}",
                    {"tensor<3x?x2xT>"}});
  for (const char *flags : {"", ", smallest"})
    rows.push_back(
        {"topk_" + std::to_string(rows.size()),
         {"tensor<3x9x2xT>"},
         std::string("%r, %s = nn.topk %a {k = 4 : i64, axis = 1 : i64") + flags + "} : ({a}) -> ({r}, {s})",
         {"tensor<3x4x2xT>", "tensor<3x4x2xi64>"},
         -3,
         3,
         false});
}

static void addMovement(Rows &rows) {
  auto one = [&](const char *name, const char *a, const std::string &op, const char *r) {
    rows.push_back({name, {a}, "%r = nn." + op + " : {a} -> {r}", {r}});
  };
  auto pad = [&](const char *mode, const char *name, const char *a, const char *borders, const char *r) {
    rows.push_back({std::string("pad_") + mode + name,
                    {a},
                    std::string("%r = nn.pad ") + mode + " %a {" + borders + "} : ({a}) -> {r}",
                    {r}});
  };
  one("reshape_merge", "tensor<2x3x4xT>", "reshape %a", "tensor<6x4xT>");
  one("reshape_both", "tensor<2x3x4xT>", "reshape %a", "tensor<4x6xT>");
  one("reshape_open", "tensor<?x4xT>", "reshape %a", "tensor<2x10xT>");
  one("reshape_scalar", "tensor<1x1xT>", "reshape %a", "tensor<T>");
  one("transpose", "tensor<2x?x4xT>", "transpose %a {permutation = array<i64: 2, 0, 1>}", "tensor<4x2x?xT>");
  one("broadcast", "tensor<3x1xT>", "broadcast %a", "tensor<2x3x4xT>");
  one("tile", "tensor<2x?xT>", "tile %a {repeats = array<i64: 3, 2>}", "tensor<6x?xT>");
  one("slice_forwards", "tensor<9x6xT>", "slice %a {starts = array<i64: 1, 0>, steps = array<i64: 3, 1>}",
      "tensor<3x4xT>");
  one("slice_backwards", "tensor<9x6xT>", "slice %a {starts = array<i64: 8, 5>, steps = array<i64: -2, -1>}",
      "tensor<5x6xT>");
  one("slice_open", "tensor<?x6xT>", "slice %a {starts = array<i64: 0, 2>, steps = array<i64: 1, 1>}",
      "tensor<?x3xT>");
  one("slice_none", "tensor<9xT>", "slice %a {starts = array<i64: 9>, steps = array<i64: 1>}", "tensor<0xT>");
  one("trilu_upper", "tensor<2x4x5xT>", "trilu %a {k = 1 : i64, upper}", "tensor<2x4x5xT>");
  one("trilu_lower", "tensor<2x4x5xT>", "trilu %a {k = -1 : i64}", "tensor<2x4x5xT>");
  for (const char *mode : {"constant", "edge", "reflect", "wrap"}) {
    pad(mode, "", "tensor<4x6xT>", "lows = array<i64: 1, 2>, highs = array<i64: 3, 0>", "tensor<8x8xT>");
    pad(mode, "_cut", "tensor<4x6xT>", "lows = array<i64: -1, 2>, highs = array<i64: 1, -2>",
        "tensor<4x6xT>");
    pad(mode, "_open", "tensor<?x6xT>", "lows = array<i64: 2, 0>, highs = array<i64: 1, 1>", "tensor<?x7xT>");
  }
  rows.push_back({"concat",
                  {"tensor<2x3xT>", "tensor<2x4xT>"},
                  "%1 = nn.unary neg %a : {a} -> {a}\n%r = nn.concat %1, %b, %a {axis = 1 : i64} : ({a}, "
                  "{b}, {a}) -> {r}",
                  {"tensor<2x10xT>"}});
  rows.push_back({"concat_open",
                  {"tensor<?x3xT>", "tensor<?x3xT>"},
                  "%r = nn.concat %a, %b {axis = 0 : i64} : ({a}, {b}) -> {r}",
                  {"tensor<?x3xT>"}});
  rows.push_back({"iota",
                  {"tensor<T>", "tensor<T>"},
                  "%r = nn.iota %a, %b {axis = 1 : i64} : {a}, {b} -> {r}",
                  {"tensor<2x6xT>"},
                  -9,
                  9,
                  false});
}

static void addPlaces(Rows &rows) {
  auto add = [&](const char *name, std::vector<std::string> in, const char *op, const char *r, int64_t low,
                 int64_t high) {
    rows.push_back({name, std::move(in), std::string("%r = nn.") + op + " -> {r}", {r}, low, high});
  };
  add("gather_rows", {"tensor<5x6xT>", "tensor<2x3xi64>"}, "gather %a, %b {axis = 0 : i64} : ({a}, {b})",
      "tensor<2x3x6xT>", -5, 4);
  add("gather_columns", {"tensor<?x6xT>", "tensor<4xi32>"}, "gather %a, %b {axis = 1 : i64} : ({a}, {b})",
      "tensor<?x4xT>", -5, 5);
  add("gather_elements", {"tensor<5x6xT>", "tensor<3x6xi64>"},
      "gather_elements %a, %b {axis = 0 : i64} : ({a}, {b})", "tensor<3x6xT>", -5, 4);
  add("gather_nd", {"tensor<4x4x3xT>", "tensor<5x2xi64>"},
      "gather_nd %a, %b {batch_dims = 0 : i64} : ({a}, {b})", "tensor<5x3xT>", -4, 3);
  add("gather_nd_batch", {"tensor<2x4x3xT>", "tensor<2x1xi64>"},
      "gather_nd %a, %b {batch_dims = 1 : i64} : ({a}, {b})", "tensor<2x3xT>", -4, 3);
  add("reverse_sequence", {"tensor<4x3x2xT>", "tensor<3xi64>"},
      "reverse_sequence %a, %b {time_axis = 0 : i64, batch_axis = 1 : i64} : ({a}, {b})", "tensor<4x3x2xT>",
      1, 4);
  add("one_hot", {"tensor<2x3xi64>", "tensor<2xT>"},
      "one_hot %a, %b {depth = 4 : i64, axis = 1 : i64} : ({a}, {b})", "tensor<2x4x3xT>", -5, 5);
  for (const char *kind : {"set", "add", "mul", "max", "min"}) {
    rows.push_back({std::string("scatter_elements_") + kind,
                    {"tensor<5x6xT>", "tensor<3x4xi64>", "tensor<3x4xT>"},
                    std::string("%r = nn.scatter_elements ") + kind +
                        " %a, %b, %c {axis = 0 : i64} : ({a}, {b}, {c}) -> {r}",
                    {"tensor<5x6xT>"},
                    -5,
                    4});
    rows.push_back({std::string("scatter_nd_") + kind,
                    {"tensor<?x6xT>", "tensor<3x1xi64>", "tensor<3x6xT>"},
                    std::string("%r = nn.scatter_nd ") + kind + " %a, %b, %c : ({a}, {b}, {c}) -> {r}",
                    {"tensor<?x6xT>"},
                    -5,
                    4});
  }
  add("columns_to_image", {"tensor<2x8x9xT>"},
      "columns_to_image %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, "
      "1, 0>, dilations = array<i64: 1, 2>} : {a}",
      "tensor<2x2x5x5xT>", -9, 9);
}

//===----------------------------------------------------------------------===//
// Programs, inputs, comparison
//===----------------------------------------------------------------------===//

static std::string graphOf(const Row &row, const std::string &element) {
  std::string args, ports, results, names, returned, body = row.text;
  auto type = [&](const std::string &t) { return replaced(t, "T>", element + ">"); };
  auto join = [](std::string &list, const std::string &word) { list += (list.empty() ? "" : ", ") + word; };
  for (auto [i, t] : llvm::enumerate(row.inputs)) {
    std::string name(1, char('a' + i));
    join(args, "%in_" + name + ": " + type(t));
    join(ports, "%" + name + " = %in_" + name + " : " + type(t));
    body = replaced(body, "{" + name + "}", t);
  }
  for (auto [i, t] : llvm::enumerate(row.results)) {
    std::string name(1, char('r' + i));
    join(results, type(t));
    join(names, name + ": " + type(t));
    join(returned, "%" + name);
    body = replaced(body, "{" + name + "}", t);
  }
  return "dfg.graph @" + row.name + "(" + args + ") -> (" + names + ") {\n  " + returned +
         " = dfg.node @net (" + ports + ") -> (" + results + ") {\n" + type(body) + "\n    dfg.yield " +
         returned + " : " + results + "\n  }\n  dfg.return " + returned + " : " + results + "\n}\n";
}

static std::vector<Array> makeInputs(dfg::GraphOp graph, const Row &row) {
  Random random(11);
  std::vector<Array> inputs;
  for (Type type : graph.getArgumentTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    Array array;
    array.elementType = tensor.getElementType();
    size_t count = 1, size = oracle::elementBytes(array.elementType);
    for (int64_t extent : tensor.getShape()) {
      array.shape.push_back(ShapedType::isDynamic(extent) ? 5 : extent);
      count *= array.shape.back();
    }
    array.bytes.resize(count * size);
    for (size_t e = 0; e < count; ++e) {
      auto bits = uint64_t(random.range(row.low, row.high));
      if (auto number = dyn_cast<FloatType>(array.elementType)) {
        APFloat value(
            double(row.fractions ? random.range(-4096, 4096) / 1024.0 : random.range(row.low, row.high)));
        bool lost;
        value.convert(number.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
        bits = value.bitcastToAPInt().getZExtValue();
      } else if (array.elementType.isInteger(1)) {
        bits &= 1;
      }
      std::memcpy(&array.bytes[e * size], &bits, size);
    }
    inputs.push_back(std::move(array));
  }
  return inputs;
}

static double numberOf(const Array &array, size_t e) {
  size_t size = oracle::elementBytes(array.elementType);
  uint64_t bits = 0;
  std::memcpy(&bits, &array.bytes[e * size], size);
  APFloat value(cast<FloatType>(array.elementType).getFloatSemantics(), APInt(size * 8, bits));
  bool lost;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

// Floats may differ by a few units in the last place of the type; sums are formed in another type than the
// oracle's.
static void expectEqual(const Array &expected, const Array &actual) {
  ASSERT_EQ(expected.shape, actual.shape);
  auto number = dyn_cast<FloatType>(expected.elementType);
  if (!number) {
    EXPECT_EQ(expected.bytes, actual.bytes);
    return;
  }
  double tolerance = 16 * std::ldexp(1.0, -int(APFloat::semanticsPrecision(number.getFloatSemantics())));
  for (size_t e = 0; e < expected.bytes.size() / oracle::elementBytes(number); ++e) {
    double x = numberOf(expected, e), y = numberOf(actual, e);
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    ASSERT_NEAR(x, y, tolerance * std::max(1.0, std::fabs(x))) << "element " << e;
  }
}

class NetworkOps : public testing::TestWithParam<const char *> {};

TEST_P(NetworkOps, AgreeWithTheOracle) {
  std::string element = GetParam();
  Rows rows;
  addElementwise(rows, element);
  addShapes(rows);
  addConversions(rows, element);
  addReductions(rows, element);
  addMovement(rows);
  addPlaces(rows);
  std::string text;
  for (const Row &row : rows)
    text += graphOf(row, element);
  Session session;
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(&session.context()), "networks");
  ASSERT_TRUE(module);
  // Installation rewrites the module; the oracle sees it as it is written.
  OwningOpRef<ModuleOp> original = module->clone();
  FailureOr<std::string> installed = installModule(session, *module, {});
  ASSERT_TRUE(succeeded(installed));
  for (const Row &row : rows) {
    SCOPED_TRACE(row.name);
    auto graph = original->lookupSymbol<dfg::GraphOp>(row.name);
    std::vector<Array> inputs = makeInputs(graph, row);
    auto expected = oracle::runGraph(graph, inputs);
    ASSERT_TRUE(succeeded(expected));
    auto actual = runProgram(*installed, graph, inputs, {});
    ASSERT_TRUE(succeeded(actual));
    for (auto [x, y] : llvm::zip_equal(*expected, *actual))
      expectEqual(x, y);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NetworkOps,
                         testing::Values("f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64"),
                         [](const auto &info) { return std::string(info.param); });
