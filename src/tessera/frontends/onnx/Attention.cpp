// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention and what belongs to it: rotations of positions, attention without softmax.
#include "tessera/frontends/onnx/Heads.h"
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;
using llvm::APFloat;
using nn::BinaryKind;

Value onnximport::toHeads(NodeContext &c, Value x, int64_t heads) {
  int64_t hidden = c.dim(x, 2);
  if (!c.needStatic(x, 2, "the size of a head"))
    return {};
  if (heads < 1 || hidden % heads)
    return c.fail("the number of heads does not divide the last dimension"), Value();
  return c.transpose(c.reshape(x, {c.ext(x, 0), c.ext(x, 1), Ext(heads), Ext(hidden / heads)}), {0, 2, 1, 3});
}
Value onnximport::fromHeads(NodeContext &c, Value x) {
  Value y = c.transpose(x, {0, 2, 1, 3});
  return y ? c.collapse(y, 2, 4) : Value();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
struct Heads {
  Value q, k, v;
  int64_t groups = 1; ///< query heads for each head of keys
};
} // namespace

// What is added to the scores: masks as -infinity.
static Value attentionBias(NodeContext &c, const Heads &h, Value past, DataType type) {
  Value bias, never = c.scalar(-INFINITY, type), zero = c.scalar(0, type);
  if (c.has(3)) {
    Value mask = c.v(3);
    // A mask may end before the keys do; the rest takes no part.
    int64_t have = c.rank(mask) ? c.dim(mask, c.rank(mask) - 1) : 1, keys = c.dim(h.k, 2);
    bool truth = c.type(3) == DataType::Bool;
    if (c.rank(mask) && !ShapedType::isDynamic(have) && !ShapedType::isDynamic(keys) && have < keys) {
      Ints lows(c.rank(mask), 0), highs(c.rank(mask), 0);
      highs.back() = keys - have;
      mask = c.pad(mask, lows, highs, truth ? c.scalar(0, DataType::Bool) : c.scalar(-INFINITY, c.type(3)));
    }
    bias = truth ? c.select(mask, zero, never) : c.castTo(mask, c.type(3), type);
  }
  if (c.attrInt("is_causal", 0)) {
    Value rows = c.unsqueeze(c.iota(c.ext(h.q, 2), DataType::I64), {1}),
          columns = c.iota(c.ext(h.k, 2), DataType::I64);
    if (past) {
      Ext offset = c.ext(past, 2);
      Known known;
      known.type = DataType::I64;
      known.elements.push_back({offset.isStatic() ? offset.size : 0, 0, offset.value});
      rows = c.add(rows, c.materialise(known));
    }
    Value causal = c.select(c.binary(BinaryKind::lt, rows, columns), never, zero);
    bias = bias ? c.add(bias, causal) : causal;
  }
  if (c.has(6)) {
    Value lengths =
        c.reshape(c.castTo(c.v(6), c.type(6), DataType::I64), {c.ext(h.q, 0), Ext(1), Ext(1), Ext(1)});
    Value columns = c.iota(c.ext(h.k, 2), DataType::I64);
    Value padding = c.select(c.binary(BinaryKind::lt, columns, lengths), zero, never);
    bias = bias ? c.add(bias, padding) : padding;
  }
  return bias;
}

// The scores as a result of their own: written out.
static void explicitAttention(NodeContext &c, const Heads &h, Value bias, double scale, double cap,
                              bool flat) {
  DataType type = c.type(0);
  auto repeat = [&](Value x) -> Value {
    if (h.groups == 1 || !x)
      return x;
    Exts shape = c.exts(x);
    Exts wide = {shape[0], shape[1], Ext(h.groups), shape[2], shape[3]};
    return c.reshape(c.broadcast(c.unsqueeze(x, {2}), wide),
                     {shape[0], c.mul(shape[1], Ext(h.groups)), shape[2], shape[3]});
  };
  int64_t mode = c.attrInt("qk_matmul_output_mode", 0);
  Value root = c.scalar(std::sqrt(scale), type);
  Value scores = c.matmul(c.mul(h.q, root), c.mul(repeat(h.k), root), false, true), shown = scores;
  if (cap > 0) {
    Value limit = c.scalar(cap, type);
    // Mode 0 shows the scores after the cap too, as the standard's reference computes them.
    shown = scores = c.mul(c.unary(nn::UnaryKind::tanh, c.div(scores, limit)), limit);
  }
  if (bias)
    scores = c.add(scores, bias);
  if (mode == 2)
    shown = scores;
  DataType precision = type;
  if (int64_t wanted = c.attrInt("softmax_precision", 0); wanted && isFloat(static_cast<DataType>(wanted)))
    precision = static_cast<DataType>(wanted);
  Value weights = c.castTo(c.softmax(c.castTo(scores, type, precision), c.rank(scores) - 1), precision, type);
  if (mode == 3)
    shown = weights;
  Value y = c.matmul(weights, repeat(h.v));
  c.set(0, flat ? fromHeads(c, y) : y, type);
  c.set(3, shown, type);
}

static void attention(NodeContext &c) {
  DataType type = c.type(0);
  Heads h{c.v(0), c.v(1), c.v(2), 1};
  if (c.rank(h.q) != c.rank(h.k) || c.rank(h.q) != c.rank(h.v) || (c.rank(h.q) != 3 && c.rank(h.q) != 4))
    return void(c.fail("expected query, key and value of three or of four dimensions"));
  bool flat = c.rank(h.q) == 3;
  if (flat) {
    int64_t heads = c.attrInt("q_num_heads", 0), keyHeads = c.attrInt("kv_num_heads", 0);
    h.q = toHeads(c, h.q, heads);
    h.k = toHeads(c, h.k, keyHeads);
    h.v = toHeads(c, h.v, keyHeads);
  }
  Value pastKey = c.optional(4), pastValue = c.optional(5);
  if (pastKey)
    h.k = c.concat({pastKey, h.k}, 2);
  if (pastValue)
    h.v = c.concat({pastValue, h.v}, 2);
  if (!h.q || !h.k || !h.v || c.bad)
    return;
  int64_t heads = c.dim(h.q, 1), keyHeads = c.dim(h.k, 1);
  if (!c.needStatic(h.q, 1, "the number of heads") || !c.needStatic(h.k, 1, "the number of heads"))
    return;
  if (keyHeads < 1 || heads % keyHeads)
    return void(c.fail("expected the heads of keys to divide those of queries"));
  h.groups = heads / keyHeads;
  double scale = c.attrFloat("scale", 0), cap = c.attrFloat("softcap", 0);
  if (!c.hasAttr("scale")) {
    if (ShapedType::isDynamic(c.dim(h.q, 3)))
      return void(c.fail("a dynamic head size needs a scale"));
    scale = 1 / std::sqrt(double(c.dim(h.q, 3)));
  }
  Value bias = attentionBias(c, h, pastKey, type);
  if (c.wants(1))
    c.set(1, h.k, type);
  if (c.wants(2))
    c.set(2, h.v, type);
  if (c.wants(3))
    return explicitAttention(c, h, bias, scale, cap, flat);
  Value y = c.one<nn::AttentionOp>(h.q, h.k, h.v, bias, APFloat(scale), APFloat(cap));
  c.set(0, flat ? fromHeads(c, y) : y, type);
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

Value onnximport::rotate(NodeContext &c, Value x, Value cosine, Value sine, bool interleaved) {
  int64_t size = c.dim(x, 3), half = c.dim(cosine, 3), rotated = 2 * half;
  Value turning = c.slice(x, 3, 0, rotated),
        rest = rotated < size ? c.slice(x, 3, rotated, size - rotated) : Value();
  Value a = interleaved ? c.slice(turning, 3, 0, half, 2) : c.slice(turning, 3, 0, half);
  Value b = interleaved ? c.slice(turning, 3, 1, half, 2) : c.slice(turning, 3, half, half);
  Value real = c.sub(c.mul(cosine, a), c.mul(sine, b)), imaginary = c.add(c.mul(sine, a), c.mul(cosine, b));
  Value y;
  if (interleaved)
    y = c.collapse(c.concat({c.unsqueeze(real, {4}), c.unsqueeze(imaginary, {4})}, 4), 3, 5);
  else
    y = c.concat({real, imaginary}, 3);
  return rest ? c.concat({y, rest}, 3) : y;
}

static void rotaryEmbedding(NodeContext &c) {
  DataType type = c.type(0);
  Value x = c.v(0), cosines = c.v(1), sines = c.v(2);
  bool flat = c.rank(x) == 3;
  if (!flat && c.rank(x) != 4)
    return void(c.fail("expected an operand of three or four dimensions"));
  Exts original = c.exts(x);
  // (B, S, H, D) from here on.
  if (flat) {
    int64_t heads = c.attrInt("num_heads", 0), hidden = c.dim(x, 2);
    if (!c.needStatic(x, 2, "the size of a head"))
      return;
    if (heads < 1 || hidden % heads)
      return void(c.fail("'num_heads' does not divide the last dimension"));
    x = c.reshape(x, {original[0], original[1], Ext(heads), Ext(hidden / heads)});
  } else {
    x = c.transpose(x, {0, 2, 1, 3});
  }
  int64_t size = c.dim(x, 3), rotated = c.attrInt("rotary_embedding_dim", 0);
  if (rotated == 0)
    rotated = size;
  if (!c.needStatic(x, 3, "the number of rotated elements"))
    return;
  if (rotated < 2 || rotated % 2 || rotated > size)
    return void(c.fail("expected an even number of rotated elements, at most the head's"));
  int64_t half = rotated / 2;
  auto table = [&](Value v) {
    if (c.has(3))
      v = c.gather(v, c.v(3), 0);
    if (c.rank(v) != 3)
      return c.fail("expected angles for each position of each item"), Value();
    if (c.dim(v, 2) != half)
      v = c.slice(v, 2, 0, half);
    return c.unsqueeze(v, {2});
  };
  Value cosine = table(cosines), sine = table(sines);
  Value y = c.bad ? Value() : rotate(c, x, cosine, sine, c.attrInt("interleaved", 0));
  c.set(0, flat ? c.reshape(y, original) : c.transpose(y, {0, 2, 1, 3}), type);
}

//===----------------------------------------------------------------------===//
// Linear attention
//===----------------------------------------------------------------------===//

// One step for each token; the number of tokens is static and they are written out.
static void linearAttention(NodeContext &c) {
  constexpr int64_t maxTokens = 4096;
  DataType type = c.type(0), f = DataType::F32;
  int64_t heads = c.attrInt("q_num_heads", 0), keyHeads = c.attrInt("kv_num_heads", 0);
  std::string rule = c.attrString("update_rule", "gated_delta");
  bool gated = StringRef(rule).starts_with("gated"), delta = StringRef(rule).ends_with("delta");
  if (heads < 1 || keyHeads < 1 || heads % keyHeads || c.rank(c.v(0)) != 3)
    return void(c.fail("expected packed operands and 'q_num_heads' to be a multiple of 'kv_num_heads'"));
  Value q = toHeads(c, c.castTo(c.v(0), type, f), heads),
        k = toHeads(c, c.castTo(c.v(1), c.type(1), f), keyHeads),
        v = toHeads(c, c.castTo(c.v(2), c.type(2), f), keyHeads);
  if (!q || !k || !v || c.bad)
    return;
  int64_t tokens = c.dim(q, 2), keySize = c.dim(k, 3), valueSize = c.dim(v, 3), groups = heads / keyHeads;
  if (ShapedType::isDynamic(tokens) || tokens > maxTokens)
    return void(c.fail("expected a static number of tokens, at most " + Twine(maxTokens)));
  if (c.dim(k, 2) != tokens || c.dim(v, 2) != tokens)
    return void(c.fail("expected as many tokens of key and value as of query, " + Twine(tokens)));
  Ext batch = c.ext(q, 0);
  Value decay, beta;
  if (gated) {
    Value d = c.castTo(c.v(4), c.type(4), f);
    if (c.rank(d) != 3 || c.dim(d, 1) != tokens || ShapedType::isDynamic(c.dim(d, 2)) ||
        c.dim(d, 2) % keyHeads)
      return void(c.fail("the decay does not fit the tokens and heads"));
    decay = c.unary(nn::UnaryKind::exp, toHeads(c, d, keyHeads)); // (B, H, T, dk or 1)
  }
  if (delta) {
    Value d = c.castTo(c.v(5), c.type(5), f);
    if (c.rank(d) != 3 || c.dim(d, 1) != tokens || (c.dim(d, 2) != keyHeads && c.dim(d, 2) != 1))
      return void(c.fail("the update rate does not fit the tokens and heads"));
    beta = toHeads(c, d, c.dim(d, 2)); // (B, H or 1, T, 1)
  }
  double scale = c.attrFloat("scale", 0);
  if (scale == 0)
    scale = 1 / std::sqrt(double(keySize));
  DataType stateType = c.has(3) ? c.type(3) : type;
  Value state = c.has(3) ? c.castTo(c.v(3), stateType, f)
                         : c.full({batch, Ext(keyHeads), Ext(keySize), Ext(valueSize)}, 0, f);
  SmallVector<Value> outputs;
  for (int64_t t = 0; t < tokens && !c.bad; ++t) {
    auto at = [&](Value x) { return c.slice(x, 2, t, 1); };      // (B, H, 1, D)
    Value key = at(k), value = at(v), column = c.swapInner(key); // (B, H, dk, 1)
    if (gated)
      state = c.mul(state, c.swapInner(at(decay)));
    if (delta) {
      Value expected = c.matmul(key, state); // (B, H, 1, dv)
      value = c.mul(c.sub(value, expected), at(beta));
    }
    state = c.add(state, c.mul(column, value));
    Value query = at(q); // (B, heads, 1, dk)
    if (groups > 1)
      query = c.reshape(query, {batch, Ext(keyHeads), Ext(groups), Ext(keySize)});
    Value y = c.mul(c.matmul(query, state), c.scalar(scale, f));
    outputs.push_back(c.reshape(y, {batch, Ext(1), Ext(heads * valueSize)}));
  }
  if (outputs.empty())
    return void(c.fail("expected at least one token"));
  c.set(0, c.castTo(c.concat(outputs, 1), f, type), type);
  if (c.wants(1))
    c.set(1, c.castTo(state, f, stateType), stateType);
}

ArrayRef<OperatorEntry> onnximport::attentionOperators() {
  static const OperatorEntry entries[] = {
      {"Attention", 23, lastOpset, attention},
      {"RotaryEmbedding", 23, lastOpset, rotaryEmbedding},
      {"LinearAttention", 27, lastOpset, linearAttention},
  };
  return entries;
}
