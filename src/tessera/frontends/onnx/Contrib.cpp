// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of com.microsoft: what ONNX Runtime's optimiser fuses, and a few that never became standard.
#include "tessera/frontends/onnx/Contrib.h"
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Products.h"

#include "llvm/ADT/StringSwitch.h"

using namespace tessera;
using namespace tessera::onnximport;
using llvm::APFloat;
using nn::ActivationKind;
using nn::BinaryKind;
using nn::ReduceKind;
using nn::UnaryKind;

bool onnximport::honours(NodeContext &c, ArrayRef<StringRef> attributes, unsigned inputs) {
  for (const ::tessera::onnx::Attribute &a : c.node.attributes)
    if (!llvm::is_contained(attributes, StringRef(a.name)))
      return c.fail("attribute '" + ::tessera::onnx::printable(a.name) + "' is not supported"), false;
  for (unsigned i = inputs; i < c.numInputs(); ++i)
    if (c.has(i))
      return c.fail("input " + Twine(i) + " is not supported"), false;
  return !c.bad;
}

Value onnximport::fusedActivation(NodeContext &c, Value y, StringRef name, ArrayRef<double> parameters) {
  auto parameter = [&](unsigned i, double otherwise) {
    return i < parameters.size() ? parameters[i] : otherwise;
  };
  using Function = std::optional<UnaryKind>;
  Function plain = llvm::StringSwitch<Function>(name)
                       .Case("Relu", UnaryKind::relu)
                       .Case("Tanh", UnaryKind::tanh)
                       .Case("Sigmoid", UnaryKind::sigmoid)
                       .Case("Softplus", UnaryKind::softplus)
                       .Case("Softsign", UnaryKind::softsign)
                       .Case("Gelu", UnaryKind::gelu)
                       .Default(std::nullopt);
  if (name.empty())
    return y;
  if (plain)
    return c.unary(*plain, y);
  if (name == "LeakyRelu")
    return c.activation(ActivationKind::leaky_relu, y, parameter(0, 0.01f));
  if (name == "Elu")
    return c.activation(ActivationKind::elu, y, parameter(0, 1));
  if (name == "ThresholdedRelu")
    return c.activation(ActivationKind::thresholded_relu, y, parameter(0, 1));
  if (name == "HardSigmoid")
    return c.activation(ActivationKind::hard_sigmoid, y, parameter(0, 0.2f), parameter(1, 0.5));
  if (name == "Clip" && parameter(0, -INFINITY) <= parameter(1, INFINITY))
    return c.activation(ActivationKind::clip, y, parameter(0, -INFINITY), parameter(1, INFINITY));
  return c.fail("activation '" + ::tessera::onnx::printable(name.str()) + "' is not supported"), Value();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static void fusedMatMul(NodeContext &c) {
  if (!honours(c, {"alpha", "transA", "transB", "transBatchA", "transBatchB"}, 2))
    return;
  DataType type = c.type(0);
  // With transBatch the first dimension stands before the last one: (M, batches…, K).
  auto operand = [&](unsigned i, const char *inner, const char *batch) {
    Value x = c.v(i);
    int64_t rank = c.rank(x);
    if (rank > 2 && c.attrInt(batch, 0)) {
      Ints permutation = range(1, rank - 1);
      permutation.append({0, rank - 1});
      x = c.transpose(x, permutation);
    }
    return rank > 1 && c.attrInt(inner, 0) ? c.swapInner(x) : x;
  };
  Value y = product(c, operand(0, "transA", "transBatchA"), operand(1, "transB", "transBatchB"));
  if (double alpha = c.attrFloat("alpha", 1); alpha != 1)
    y = c.mul(y, c.scalar(alpha, type));
  c.set(0, y, type);
}

static void fusedGemm(NodeContext &c) {
  if (!honours(c,
               {"alpha", "beta", "transA", "transB", "activation", "activation_alpha", "activation_beta",
                "activation_gamma"},
               3))
    return;
  SmallVector<double> parameters;
  for (const char *name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (c.hasAttr(name))
      parameters.push_back(c.attrFloat(name, 0));
  std::string activation = c.attrString("activation", "");
  c.set(0, fusedActivation(c, gemm(c), activation, parameters), c.type(0));
}

static void fusedConv(NodeContext &c) {
  if (!honours(c,
               {"auto_pad", "kernel_shape", "dilations", "strides", "pads", "group", "activation",
                "activation_params"},
               4))
    return;
  Value y = convolve(c, c.v(0), c.v(1), c.optional(2));
  if (c.has(3))
    y = c.add(y, c.v(3));
  std::string activation = c.attrString("activation", "");
  c.set(0, fusedActivation(c, y, activation, c.attrFloats("activation_params")), c.type(0));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

template <UnaryKind kind> static void biasedActivation(NodeContext &c) {
  if (!honours(c, {}, 2))
    return;
  Value x = c.v(0);
  if (c.has(1))
    x = c.add(x, c.v(1));
  c.set(0, c.unary(kind, x), c.type(0));
}
static void quickGelu(NodeContext &c) {
  if (honours(c, {"alpha"}, 1))
    c.set(0, c.activation(ActivationKind::swish, c.v(0), c.attrFloat("alpha", 1.702f)), c.type(0));
}
static void biasAdd(NodeContext &c) {
  if (honours(c, {}, 3))
    c.set(0, c.add(c.add(c.v(0), c.v(1)), c.v(2)), c.type(0));
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

template <bool rms> static void skipLayerNorm(NodeContext &c) {
  constexpr unsigned biasInput = rms ? 3 : 4;
  if (!honours(c, {"epsilon"}, biasInput + 1))
    return;
  DataType type = c.type(0);
  Value x = c.v(0), skip = c.v(1);
  if (c.rank(x) != 2 && c.rank(x) != 3)
    return void(c.fail("expected an operand of two or three dimensions, but got " + Twine(c.rank(x))));
  Value sum = c.add(x, skip);
  if (c.has(biasInput))
    sum = c.add(sum, c.v(biasInput));
  if (!sum || c.bad)
    return;
  Operation *op =
      c.make<nn::LayerNormOp>(sum, c.v(2), rms ? Value() : c.optional(3), uint64_t(c.rank(sum) - 1),
                              APFloat(c.attrFloat("epsilon", 1e-12f)), rms);
  if (!op)
    return;
  c.set(0, op->getResult(0), type);
  DataType stash = c.elem(op->getResult(1)).isF64() ? DataType::F64 : DataType::F32;
  for (unsigned i : {1u, 2u})
    if (c.wants(i))
      c.set(i, c.castTo(op->getResult(i), stash, DataType::F32), DataType::F32);
  if (c.wants(3))
    c.set(3, sum, type);
}

// The second output is the reciprocal of the deviation: there is no mean.
static void simplifiedLayerNorm(NodeContext &c) {
  if (!honours(c, {"axis", "epsilon", "stash_type"}, 2))
    return;
  Value x = c.v(0), scale = c.v(1);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", -1), c.rank(x));
  if (!axis || c.bad)
    return;
  if (c.attrInt("stash_type", 1) != 1)
    return void(c.fail("expected stash_type to be 1, but got " + Twine(c.attrInt("stash_type", 1))));
  DataType type = c.type(0), result = c.type(1);
  x = c.castTo(x, type, result);
  Operation *op = c.make<nn::LayerNormOp>(x, scale, Value(), uint64_t(*axis),
                                          APFloat(c.attrFloat("epsilon", 1e-5f)), true);
  if (!op)
    return;
  c.set(0, op->getResult(0), result);
  DataType stash = c.elem(op->getResult(2)).isF64() ? DataType::F64 : DataType::F32;
  if (c.wants(1))
    c.set(1, c.castTo(op->getResult(2), stash, DataType::F32), DataType::F32);
}

// Words, positions and kinds of sentences as one vector each, normalised.
static void embedLayerNorm(NodeContext &c) {
  if (!honours(c, {"epsilon", "mask_index_type"}, 9))
    return;
  Value ids = c.v(0), words = c.v(2), positions = c.v(3);
  DataType type = c.type(2);
  if (c.rank(ids) != 2)
    return void(c.fail("expected ids of two dimensions, but got " + Twine(c.rank(ids))));
  Value sum = c.gather(words, ids, 0);
  if (c.has(8)) {
    sum = c.add(sum, c.gather(positions, c.v(8), 0));
  } else {
    Value places = c.iota(c.ext(ids, 1), DataType::I64);
    sum = c.add(sum, c.gather(positions, places, 0));
  }
  if (c.has(1) != c.has(4))
    return void(c.fail("expected segment_ids and segment_embedding both, or neither"));
  if (c.has(1))
    sum = c.add(sum, c.gather(c.v(4), c.v(1), 0));
  if (!sum || c.bad)
    return;
  Operation *op = c.make<nn::LayerNormOp>(sum, c.v(5), c.v(6), uint64_t(2),
                                          APFloat(c.attrFloat("epsilon", 1e-12f)), false);
  if (!op)
    return;
  c.set(0, op->getResult(0), type);
  if (c.wants(1)) {
    // How many ones each row of the mask has.
    Value count = c.has(7) ? c.reduce(ReduceKind::sum, c.castTo(c.v(7), c.type(7), DataType::I32), {1}, false)
                           : c.full({c.ext(ids, 0)}, 0, DataType::I32);
    c.set(1, count, DataType::I32);
  }
  if (c.wants(2))
    c.set(2, sum, type);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static void expandDims(NodeContext &c) {
  if (!honours(c, {}, 2))
    return;
  Value x = c.v(0);
  std::optional<int64_t> given = c.oneInt(1, "axis");
  std::optional<int64_t> axis = given ? c.axis(*given, c.rank(x) + 1) : std::nullopt;
  if (axis)
    c.set(0, c.unsqueeze(x, {*axis}), c.type(0));
}

static void distances(NodeContext &c) {
  if (!honours(c, {"metric"}, 2))
    return;
  Value a = c.v(0), b = c.v(1);
  std::string metric = c.attrString("metric", "sqeuclidean");
  if (metric != "euclidean" && metric != "sqeuclidean")
    return void(c.fail("metric '" + ::tessera::onnx::printable(metric) + "' is not supported"));
  if (c.rank(a) != 2 || c.rank(b) != 2)
    return void(c.fail("expected matrices, but got " + Twine(c.rank(a)) + " and " + Twine(c.rank(b)) +
                       " dimensions"));
  Value apart = c.sub(c.unsqueeze(a, {1}), c.unsqueeze(b, {0}));
  Value y = c.reduce(ReduceKind::sum_square, apart, {2}, false);
  c.set(0, metric == "euclidean" ? c.unary(UnaryKind::sqrt, y) : y, c.type(0));
}

ArrayRef<OperatorEntry> onnximport::contribOperators() {
  static const OperatorEntry entries[] = {
      {"FusedMatMul", 1, lastOpset, fusedMatMul, microsoft},
      {"TransposeMatMul", 1, lastOpset, fusedMatMul, microsoft},
      {"FusedGemm", 1, lastOpset, fusedGemm, microsoft},
      {"FusedConv", 1, lastOpset, fusedConv, microsoft},
      {"Gelu", 1, lastOpset, biasedActivation<UnaryKind::gelu>, microsoft},
      {"BiasGelu", 1, lastOpset, biasedActivation<UnaryKind::gelu>, microsoft},
      {"FastGelu", 1, lastOpset, biasedActivation<UnaryKind::gelu_tanh>, microsoft},
      {"QuickGelu", 1, lastOpset, quickGelu, microsoft},
      {"BiasAdd", 1, lastOpset, biasAdd, microsoft},
      {"SkipLayerNormalization", 1, lastOpset, skipLayerNorm<false>, microsoft},
      {"SkipSimplifiedLayerNormalization", 1, lastOpset, skipLayerNorm<true>, microsoft},
      {"SimplifiedLayerNormalization", 1, lastOpset, simplifiedLayerNorm, microsoft},
      // ONNX Runtime keeps this one in the standard domain.
      {"SimplifiedLayerNormalization", 1, lastOpset, simplifiedLayerNorm},
      {"EmbedLayerNormalization", 1, lastOpset, embedLayerNorm, microsoft},
      {"ExpandDims", 1, lastOpset, expandDims, microsoft},
      {"CDist", 1, lastOpset, distances, microsoft},
  };
  return entries;
}
