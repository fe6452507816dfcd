// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention as com.microsoft spells it: projections, masks and caches are part of the operator.
#include "tessera/frontends/onnx/Contrib.h"
#include "tessera/frontends/onnx/Heads.h"
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Products.h"

using namespace tessera;
using namespace tessera::onnximport;
using llvm::APFloat;
using nn::BinaryKind;
using nn::ReduceKind;

namespace {
/// Operands as nn.attention takes them, (B, heads, length, size), with the keys before them in front.
struct Attended {
  Value q, k, v;
  Value bias;
  Value past; ///< keys before those of the node; null when there are none
};
} // namespace

// An extent as a tensor without dimensions.
static Value extentTensor(NodeContext &c, Ext e) {
  Known known;
  known.type = DataType::I64;
  known.elements.push_back({e.isStatic() ? e.size : 0, 0, e.value});
  return c.materialise(known);
}

static Value sumOf(NodeContext &c, Value a, Value b) { return !a ? b : !b ? a : c.add(a, b); }

static double scaleOf(NodeContext &c, Value q) {
  if (double scale = c.attrFloat("scale", 0))
    return scale;
  if (!c.needStatic(q, 3, "the scale"))
    return 1;
  return 1 / std::sqrt(double(std::max<int64_t>(c.dim(q, 3), 1)));
}

// What a mask adds to the scores, so that it broadcasts against (B, heads, S, T).
static Value maskBias(NodeContext &c, unsigned input, const Attended &a, DataType type) {
  if (!c.has(input))
    return {};
  Value mask = c.castTo(c.v(input), c.type(input), DataType::I64);
  Value zero = c.scalar(0, type), filter = c.scalar(c.attrFloat("mask_filter_value", -10000.0f), type);
  Ext batch = c.ext(a.q, 0);
  switch (c.rank(mask)) {
  case 1: {
    // How many keys of each row there are; or where they end, and then where they begin.
    Value columns = c.iota(c.ext(a.k, 2), DataType::I64);
    bool both = batch.isStatic() && c.dim(mask, 0) == 2 * batch.size && batch.size > 0;
    if (batch.isStatic() && !ShapedType::isDynamic(c.dim(mask, 0)) && !both && c.dim(mask, 0) != batch.size)
      return c.fail("a mask of cumulated lengths is not supported; give a mask of two dimensions"), Value();
    Exts column = {batch, Ext(1), Ext(1), Ext(1)};
    auto bound = [&](int64_t from) {
      return c.reshape(both ? c.slice(mask, 0, from, batch.size) : mask, column);
    };
    Value outside = c.binary(BinaryKind::ge, columns, bound(0));
    if (both)
      outside = c.binary(BinaryKind::or_, outside, c.binary(BinaryKind::lt, columns, bound(batch.size)));
    return c.select(outside, filter, zero);
  }
  case 2:
    mask = c.unsqueeze(mask, {1, 2});
    break;
  case 3:
    mask = c.unsqueeze(mask, {1});
    break;
  default:
    return c.fail("a mask of " + Twine(c.rank(mask)) + " dimensions is not supported; expected 1, 2 or 3"),
           Value();
  }
  return c.select(c.binary(BinaryKind::gt, mask, c.scalar(0, DataType::I64)), zero, filter);
}

// Queries look at no key behind them.
static Value causalBias(NodeContext &c, const Attended &a, DataType type) {
  Value rows = c.unsqueeze(c.iota(c.ext(a.q, 2), DataType::I64), {1}),
        columns = c.iota(c.ext(a.k, 2), DataType::I64);
  if (a.past)
    rows = c.add(rows, extentTensor(c, c.ext(a.past, 2)));
  return c.select(c.binary(BinaryKind::lt, rows, columns), c.scalar(-INFINITY, type), c.scalar(0, type));
}

static void attend(NodeContext &c, const Attended &a, DataType type) {
  if (!a.q || !a.k || !a.v || c.bad)
    return c.set(0, Value(), type);
  Value y = c.one<nn::AttentionOp>(a.q, a.k, a.v, a.bias, APFloat(scaleOf(c, a.q)),
                                   APFloat(c.attrFloat("softcap", 0)));
  c.set(0, y ? fromHeads(c, y) : y, type);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

// From the projected operand (B, S, Q + K + V) on.
static void projectedAttention(NodeContext &c, Value all, unsigned mask, unsigned past, unsigned bias) {
  DataType type = DataType::F32;
  if (!all || c.bad)
    return c.set(0, Value(), type);
  type = bias ? c.type(0) : DataType::F32;
  int64_t heads = c.attrInt("num_heads", 0);
  if (!c.needStatic(all, 2, "the size of a head"))
    return;
  Ints sizes = c.attrInts("qkv_hidden_sizes");
  int64_t hidden = c.dim(all, 2);
  if (sizes.empty())
    sizes.assign(3, hidden / 3);
  if (sizes.size() != 3 || sizes[0] < 1 || sizes[0] != sizes[1] || sizes[2] < 1 || sizes[0] > hidden ||
      sizes[0] + sizes[1] + sizes[2] != hidden)
    return void(c.fail("the sizes of query, key and value do not make up the " + Twine(hidden) +
                       " columns of the weights"));
  Attended a{toHeads(c, c.slice(all, 2, 0, sizes[0]), heads),
             toHeads(c, c.slice(all, 2, sizes[0], sizes[1]), heads),
             toHeads(c, c.slice(all, 2, sizes[0] + sizes[1], sizes[2]), heads),
             {},
             {}};
  if (c.has(past)) {
    Value before = c.v(past);
    if (c.rank(before) == 5 && !c.needStatic(before, 0, "that there are two parts"))
      return;
    if (c.rank(before) != 5 || c.dim(before, 0) != 2)
      return void(c.fail("expected 'past' to have two parts of four dimensions"));
    a.past = c.squeeze(c.slice(before, 0, 0, 1), {0});
    a.k = c.concat({a.past, a.k}, 2);
    a.v = c.concat({c.squeeze(c.slice(before, 0, 1, 1), {0}), a.v}, 2);
  }
  if (!a.q || !a.k || !a.v || c.bad)
    return c.set(0, Value(), type);
  if (c.wants(1))
    c.set(1, c.concat({c.unsqueeze(a.k, {0}), c.unsqueeze(a.v, {0})}, 0), type);
  a.bias = maskBias(c, mask, a, type);
  if (c.attrInt("unidirectional", 0))
    a.bias = sumOf(c, a.bias, causalBias(c, a, type));
  if (bias && c.has(bias))
    a.bias = sumOf(c, a.bias, c.v(bias));
  attend(c, a, type);
}

static void attention(NodeContext &c) {
  if (!honours(c, {"num_heads", "unidirectional", "qkv_hidden_sizes", "scale", "mask_filter_value"}, 6))
    return;
  Value x = c.v(0);
  if (c.rank(x) != 3 || c.rank(c.v(1)) != 2)
    return void(c.fail("expected an operand of three dimensions and a matrix of weights"));
  Value all = c.matmul(x, c.v(1));
  projectedAttention(c, c.has(2) ? c.add(all, c.v(2)) : all, 3, 4, 5);
}

static void qAttention(NodeContext &c) {
  if (!honours(c, {"num_heads", "unidirectional", "scale", "mask_filter_value"}, 9))
    return;
  Value x = centred(c, 0, 6, -2), w = centred(c, 1, 7, -1);
  if (c.rank(x) != 3 || c.rank(w) != 2)
    return void(c.fail("expected an operand of three dimensions and a matrix of weights"));
  auto scale = [&](unsigned i) {
    Value s = c.v(i);
    return c.rank(s) == 1 && c.dim(s, 0) == 1 ? c.reshape(s, {}) : s;
  };
  Value all = c.castTo(c.matmul(x, w), DataType::I32, DataType::F32);
  all = c.mul(all, c.mul(scale(3), scale(4)));
  projectedAttention(c, c.add(all, c.v(2)), 5, 8, 0);
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

static void multiHeadAttention(NodeContext &c) {
  if (!honours(c, {"num_heads", "mask_filter_value", "scale", "unidirectional"}, 8))
    return;
  if (c.wants(3))
    return void(c.fail("output 3 (the scores) is not supported"));
  DataType type = c.type(0);
  int64_t heads = c.attrInt("num_heads", 0);
  Attended a{c.v(0), c.optional(1), c.optional(2), {}, {}};
  // Part `i` of what is packed as (B, L, heads, parts, size).
  auto part = [&](Value packed, int64_t i) {
    return c.transpose(c.squeeze(c.slice(packed, 3, i, 1), {3}), {0, 2, 1, 3});
  };
  bool unpacked = false;
  if (c.rank(a.q) == 5 && !a.k && !a.v && c.dim(a.q, 3) == 3) {
    Value packed = a.q;
    a = {part(packed, 0), part(packed, 1), part(packed, 2), {}, {}};
  } else if (c.rank(a.q) == 3 && a.k && !a.v && c.rank(a.k) == 5 && c.dim(a.k, 3) == 2) {
    Value packed = a.k;
    a = {toHeads(c, a.q, heads), part(packed, 0), part(packed, 1), {}, {}};
  } else if (c.rank(a.q) == 3 && a.k && a.v && c.rank(a.k) == c.rank(a.v) &&
             (c.rank(a.k) == 3 || c.rank(a.k) == 4)) {
    unpacked = c.rank(a.k) == 3;
    if (!unpacked && c.has(3))
      return void(c.fail("a bias beside keys of four dimensions is not supported"));
  } else {
    return void(
        c.fail("expected query, key and value of three dimensions, keys of four, or a packed tensor"));
  }
  if (c.has(3)) {
    // One vector for query, key and value.
    if (!unpacked)
      return void(c.fail("a bias of packed operands is not supported"));
    Value bias = c.v(3);
    int64_t from = 0;
    for (Value *x : {&a.q, &a.k, &a.v}) {
      int64_t size = c.dim(*x, 2);
      if (!c.needStatic(*x, 2, "its part of the bias"))
        return;
      *x = c.add(*x, c.slice(bias, 0, from, size));
      from += size;
    }
  }
  if (c.rank(a.q) == 3)
    a.q = toHeads(c, a.q, heads);
  if (unpacked) {
    a.k = toHeads(c, a.k, heads);
    a.v = toHeads(c, a.v, heads);
  }
  if (c.has(6) != c.has(7))
    return void(c.fail("expected past_key and past_value both, or neither"));
  if (c.has(6)) {
    a.past = c.v(6);
    a.k = c.concat({a.past, a.k}, 2);
    a.v = c.concat({c.v(7), a.v}, 2);
  }
  if (!a.q || !a.k || !a.v || c.bad)
    return c.set(0, Value(), type);
  if (c.wants(1))
    c.set(1, a.k, type);
  if (c.wants(2))
    c.set(2, a.v, type);
  a.bias = maskBias(c, 4, a, type);
  if (c.attrInt("unidirectional", 0))
    a.bias = sumOf(c, a.bias, causalBias(c, a, type));
  if (c.has(5))
    a.bias = sumOf(c, a.bias, c.v(5));
  attend(c, a, type);
}

//===----------------------------------------------------------------------===//
// GroupQueryAttention
//===----------------------------------------------------------------------===//

// The rows of a table of angles for each position of each item: (B, S, 1, half).
static Value anglesAt(NodeContext &c, unsigned table, Value positions) {
  Value rows = c.gather(c.v(table), positions, 0);
  return rows ? c.unsqueeze(rows, {2}) : rows;
}

// (B, S, heads * size) as (B, heads, S, size), turned where the node asks for it.
static Value groupHeads(NodeContext &c, Value x, int64_t heads, Value positions) {
  if (!c.attrInt("do_rotary", 0))
    return toHeads(c, x, heads);
  if (!c.needStatic(x, 2, "the size of a head"))
    return {};
  int64_t hidden = c.dim(x, 2);
  Value split = c.reshape(x, {c.ext(x, 0), c.ext(x, 1), Ext(heads), Ext(hidden / heads)});
  Value cosine = anglesAt(c, 7, positions), sine = anglesAt(c, 8, positions);
  if (c.bad || !cosine || !c.needStatic(cosine, 3, "the number of rotated elements"))
    return {};
  if (2 * c.dim(cosine, 3) > hidden / heads)
    return c.fail("its table has more angles than a head has pairs"), Value();
  return c.transpose(rotate(c, split, cosine, sine, c.attrInt("rotary_interleaved", 0)), {0, 2, 1, 3});
}

// The keys (or values) of `total` positions: those of the node from `start` on (one for each item), what was
// there before them, and zeros.
static Value cacheWith(NodeContext &c, Value past, Value fresh, Value start, Ext total) {
  Ext before = past ? c.ext(past, 2) : Ext(0), added = c.ext(fresh, 2), batch = c.ext(fresh, 0);
  if (before.is(0) && c.same(total, added))
    return fresh;
  Value both = past && !before.is(0) ? c.concat({past, fresh}, 2) : fresh;
  DataType type = DataType::I64;
  Value columns = c.iota(total, type);                              // (T)
  Value offset = c.sub(columns, c.reshape(start, {batch, Ext(1)})); // (B, T)
  Value zero = c.scalar(0, type), length = extentTensor(c, added), old = extentTensor(c, before);
  Value isNew = c.binary(BinaryKind::and_, c.binary(BinaryKind::ge, offset, zero),
                         c.binary(BinaryKind::lt, offset, length));
  Value isOld = c.binary(BinaryKind::and_, c.binary(BinaryKind::lt, columns, old),
                         c.binary(BinaryKind::lt, offset, zero));
  Value from = c.select(isNew, c.add(old, offset), c.select(isOld, columns, zero));
  // (B, T) rows out of (B, L, heads, size).
  Value rows = c.transpose(both, {0, 2, 1, 3});
  if (!from || !rows || c.bad)
    return {};
  Value taken = c.one<nn::GatherNdOp>(rows, c.unsqueeze(from, {2}), uint64_t(1));
  Value kept = c.unsqueeze(c.binary(BinaryKind::or_, isNew, isOld), {2, 3});
  Value nothing = taken ? c.scalar(0, c.elem(taken)) : Value();
  return c.transpose(c.select(kept, taken, nothing), {0, 2, 1, 3});
}

// A key of zeros with a score of its own for each head.
static void addSink(NodeContext &c, Attended &a, Value sink, DataType type) {
  Ext batch = c.ext(a.q, 0), heads = c.ext(a.q, 1), rows = c.ext(a.q, 2), keys = c.ext(a.k, 2);
  a.bias = c.broadcast(a.bias, {batch, heads, rows, keys});
  Value score = c.rank(sink) ? c.reshape(sink, {Ext(1), heads, Ext(1), Ext(1)}) : sink;
  a.bias = c.concat({a.bias, c.broadcast(score, {batch, heads, rows, Ext(1)})}, 3);
  Value zero = c.scalar(0, type);
  a.k = c.pad(a.k, {0, 0, 0, 0}, {0, 0, 1, 0}, zero);
  a.v = c.pad(a.v, {0, 0, 0, 0}, {0, 0, 1, 0}, zero);
}

static void groupQueryAttention(NodeContext &c) {
  if (!honours(c,
               {"num_heads", "kv_num_heads", "scale", "softcap", "local_window_size", "do_rotary",
                "rotary_interleaved", "smooth_softmax", "qk_output", "k_quant_type", "v_quant_type",
                "kv_cache_bit_width"},
               12))
    return;
  if (c.wants(3) || c.attrInt("qk_output", 0))
    return void(c.fail("output 3 (the scores) is not supported"));
  if (c.attrString("k_quant_type", "NONE") != "NONE" || c.attrString("v_quant_type", "NONE") != "NONE" ||
      c.attrInt("kv_cache_bit_width", 0))
    return void(c.fail("quantised keys and values are not supported"));
  DataType type = c.type(0);
  int64_t heads = c.attrInt("num_heads", 0), groups = c.attrInt("kv_num_heads", 0);
  Value q = c.v(0), k = c.optional(1), v = c.optional(2);
  if (c.rank(q) != 3 || heads < 1 || groups < 1 || heads % groups)
    return void(c.fail("expected a query of three dimensions and 'num_heads' to be a multiple of "
                       "'kv_num_heads'"));
  if (!c.needStatic(q, 2, "the size of a head"))
    return;
  if (!k && !v) {
    int64_t size = c.dim(q, 2) / (heads + 2 * groups);
    if (size * (heads + 2 * groups) != c.dim(q, 2))
      return void(c.fail("the numbers of heads do not divide the last dimension"));
    k = c.slice(q, 2, heads * size, groups * size);
    v = c.slice(q, 2, (heads + groups) * size, groups * size);
    q = c.slice(q, 2, 0, heads * size);
  }
  KnownPtr length = c.known(6, "total_sequence_length");
  if (!length || !k || !v || c.bad)
    return c.fail("expected key and value both, or neither"), void();
  if (length->count() != 1)
    return void(c.fail("expected one total_sequence_length, but got " + Twine(length->count())));
  Ext batch = c.ext(q, 0), rows = c.ext(q, 1);
  Ext total = length->elements[0].dynamic ? Ext(length->elements[0].dynamic) : Ext(length->elements[0].i);
  Value pastKey = c.optional(3), pastValue = c.optional(4);
  if (bool(pastKey) != bool(pastValue))
    return void(c.fail("expected past_key and past_value both, or neither"));
  if (pastKey)
    total = c.max(total, c.ext(pastKey, 2));
  // The first position of each item: its length, which counts the node's own rows, less these. A first prompt
  // may be shorter than its row.
  DataType i64 = DataType::I64;
  Value lengths = c.add(c.castTo(c.v(5), c.type(5), i64), c.scalar(1, i64));
  Value start = c.binary(BinaryKind::max, c.sub(lengths, extentTensor(c, rows)), c.scalar(0, i64));
  start = c.reshape(start, {batch});
  Value at = c.add(c.reshape(start, {batch, Ext(1)}), c.iota(rows, i64)); // (B, S)
  Value positions = c.has(9) ? c.castTo(c.v(9), c.type(9), i64) : at;
  Attended a{
      groupHeads(c, q, heads, positions), groupHeads(c, k, groups, positions), toHeads(c, v, groups), {}, {}};
  if (!a.q || !a.k || !a.v || c.bad)
    return c.set(0, Value(), type);
  a.k = cacheWith(c, pastKey, a.k, start, total);
  a.v = cacheWith(c, pastValue, a.v, start, total);
  if (c.wants(1))
    c.set(1, a.k, type);
  if (c.wants(2))
    c.set(2, a.v, type);
  Value columns = c.iota(total, i64);
  Value row = c.unsqueeze(at, {1, 3}); // (B, 1, S, 1)
  Value hidden = c.binary(BinaryKind::gt, columns, row);
  if (int64_t window = c.attrInt("local_window_size", -1); window > 0)
    hidden = c.binary(BinaryKind::or_, hidden,
                      c.binary(BinaryKind::le, columns, c.sub(row, c.scalar(double(window), i64))));
  a.bias = c.select(hidden, c.scalar(-INFINITY, type), c.scalar(0, type));
  if (c.has(10))
    a.bias = c.add(a.bias, c.v(10));
  if (c.has(11))
    addSink(c, a, c.castTo(c.v(11), c.type(11), type), type);
  else if (c.attrInt("smooth_softmax", 0) > 0)
    addSink(c, a, c.scalar(0, type), type);
  attend(c, a, type);
}

//===----------------------------------------------------------------------===//
// RotaryEmbedding
//===----------------------------------------------------------------------===//

static void rotaryEmbedding(NodeContext &c) {
  if (!honours(c, {"interleaved", "is_packed_batching", "num_heads", "rotary_embedding_dim", "scale"}, 4))
    return;
  if (c.attrInt("is_packed_batching", 0) || c.attrFloat("scale", 1) != 1)
    return void(c.fail("packed batches and scales other than 1 are not supported"));
  Value x = c.v(0), positions = c.castTo(c.v(1), c.type(1), DataType::I64);
  int64_t rank = c.rank(x), heads = c.attrInt("num_heads", 0);
  if (rank != 3 && rank != 4)
    return void(c.fail("expected an operand of three or four dimensions"));
  Exts original = c.exts(x);
  int64_t half = c.dim(c.v(2), 1), rotated = c.attrInt("rotary_embedding_dim", 0);
  if (ShapedType::isDynamic(half) || half < 1 || (rotated && rotated != 2 * half))
    return void(c.fail("expected a table with a column for each pair of rotated elements"));
  if (rank == 3) {
    int64_t size = c.dim(x, 2);
    if (!c.needStatic(x, 2, "the size of a head"))
      return;
    if (!heads)
      heads = rotated ? 0 : size / (2 * half);
    if (heads < 1 || size % heads || size / heads < 2 * half)
      return void(c.fail("'num_heads' does not divide the last dimension"));
    x = c.reshape(x, {original[0], original[1], Ext(heads), Ext(size / heads)});
  } else {
    x = c.transpose(x, {0, 2, 1, 3});
    if (!c.needStatic(x, 3, "the size of a head"))
      return;
    if (c.dim(x, 3) < 2 * half)
      return void(c.fail("its table has more angles than a head has pairs"));
  }
  // One offset for all, or a position each.
  if (c.rank(positions) == 1)
    positions = c.broadcast(c.add(c.reshape(positions, {Ext(1), Ext(1)}), c.iota(c.ext(x, 1), DataType::I64)),
                            {c.ext(x, 0), c.ext(x, 1)});
  Value cosine = anglesAt(c, 2, positions), sine = anglesAt(c, 3, positions);
  if (!cosine || !sine || c.bad)
    return c.set(0, Value(), c.type(0));
  Value y = rotate(c, x, cosine, sine, c.attrInt("interleaved", 0));
  c.set(0, rank == 3 ? c.reshape(y, original) : c.transpose(y, {0, 2, 1, 3}), c.type(0));
}

ArrayRef<OperatorEntry> onnximport::contribAttentionOperators() {
  static const OperatorEntry entries[] = {
      {"Attention", 1, lastOpset, attention, microsoft},
      {"QAttention", 1, lastOpset, qAttention, microsoft},
      {"MultiHeadAttention", 1, lastOpset, multiHeadAttention, microsoft},
      {"GroupQueryAttention", 1, lastOpset, groupQueryAttention, microsoft},
      {"RotaryEmbedding", 1, lastOpset, rotaryEmbedding, microsoft},
  };
  return entries;
}
