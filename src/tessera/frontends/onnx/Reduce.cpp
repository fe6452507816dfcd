// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, extremes with their places, prefix sums, softmax.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;
using nn::ReduceKind;

template <ReduceKind kind> static void reduce(NodeContext &c) {
  DataType type = c.type(0);
  Value x = c.v(0);
  std::optional<Ints> given = c.attrOrInput("axes", 1);
  if (c.bad)
    return;
  bool keep = c.attrInt("keepdims", 1), noop = c.attrInt("noop_with_empty_axes", 0);
  if ((!given || given->empty()) && noop) {
    // Nothing is combined, but what happens to each element still does.
    switch (kind) {
    case ReduceKind::l1:
    case ReduceKind::l2:
      return c.set(0, c.unary(nn::UnaryKind::abs, x, isUnsigned(type)), type);
    case ReduceKind::sum_square:
      return c.set(0, c.mul(x, x), type);
    case ReduceKind::log_sum:
      return c.set(0, c.unary(nn::UnaryKind::log, x), type);
    default:
      return c.set(0, c.val(0));
    }
  }
  std::optional<Ints> axes = given && !given->empty() ? c.axes(*given, c.rank(x)) : range(0, c.rank(x));
  if (!axes)
    return;
  llvm::sort(*axes);
  // Truth values are compared as small numbers.
  bool truth = type == DataType::Bool;
  if (truth)
    x = c.castTo(x, DataType::Bool, DataType::U8);
  Value y = c.reduce(kind, x, *axes, keep, isUnsigned(type));
  if (truth)
    y = c.castTo(y, DataType::U8, DataType::Bool);
  c.set(0, y, type);
}

template <bool min> static void argReduce(NodeContext &c) {
  Value x = c.v(0);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 0), c.rank(x));
  if (!axis)
    return;
  bool keep = c.attrInt("keepdims", 1), last = c.attrInt("select_last_index", 0);
  c.set(0, c.one<nn::ArgReduceOp>(x, uint64_t(*axis), min, keep, last, isUnsigned(c.type(0))), DataType::I64);
}

template <ReduceKind kind> static void cumulative(NodeContext &c) {
  Value x = c.v(0);
  std::optional<int64_t> given = c.oneInt(1, "axis");
  std::optional<int64_t> axis = given ? c.axis(*given, c.rank(x)) : std::nullopt;
  if (!axis)
    return;
  bool exclusive = c.attrInt("exclusive", 0), reverse = c.attrInt("reverse", 0);
  c.set(0, c.one<nn::CumulativeOp>(kind, x, uint64_t(*axis), exclusive, reverse), c.type(0));
}

// A number of elements that is only known at launch: each one's place is the number of those in front of it.
static void topKOpen(NodeContext &c, Value x, int64_t axis, Ext k) {
  using nn::BinaryKind;
  bool isU = isUnsigned(c.type(0)), largest = c.attrInt("largest", 1);
  int64_t rank = c.rank(x);
  Ints there = range(0, rank);
  std::swap(there[axis], there[rank - 1]);
  x = c.transpose(x, there);
  Ext n = c.ext(x, rank - 1);
  Value mine = c.unsqueeze(x, {rank}), others = c.unsqueeze(x, {rank - 1}); // (…, n, 1) and (…, 1, n)
  Value at = c.places(n, Ext(0), 1), first = c.binary(BinaryKind::lt, at, c.unsqueeze(at, {1}));
  Value better = c.binary(largest ? BinaryKind::gt : BinaryKind::lt, others, mine, isU);
  Value equal = c.binary(BinaryKind::and_, c.binary(BinaryKind::eq, others, mine, isU), first);
  Value before = c.castTo(c.binary(BinaryKind::or_, better, equal), DataType::Bool, DataType::I64);
  Value place = c.reduce(nn::ReduceKind::sum, before, {rank}, false);
  Value index = c.broadcast(at, c.exts(x));
  Value order =
      c.one<nn::ScatterElementsOp>(nn::ScatterKind::set, index, place, index, uint64_t(rank - 1), false);
  order = c.part(order, rank - 1, Ext(0), k);
  if (!order)
    return;
  c.set(0, c.transpose(c.one<nn::GatherElementsOp>(x, order, uint64_t(rank - 1)), there), c.type(0));
  c.set(1, c.transpose(order, there), DataType::I64);
}

static void topK(NodeContext &c) {
  Value x = c.v(0);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", -1), c.rank(x));
  if (KnownPtr open = c.opset < 10 ? nullptr : c.tryKnown(1);
      axis && open && open->count() == 1 && open->elements[0].dynamic)
    return topKOpen(c, x, *axis, Ext(open->elements[0].dynamic));
  std::optional<int64_t> k = c.opset < 10 ? std::optional(c.attrInt("k", 0)) : c.oneInt(1, "k");
  if (!axis || !k)
    return;
  Operation *op = c.make<nn::TopKOp>(x, uint64_t(*k), uint64_t(*axis), c.attrInt("largest", 1) == 0,
                                     isUnsigned(c.type(0)));
  if (!op)
    return;
  c.set(0, op->getResult(0), c.type(0));
  c.set(1, op->getResult(1), DataType::I64);
}

// Before opset 13 the dimensions from the axis on were one.
template <typename Body> static void alongAxis(NodeContext &c, Body body) {
  Value x = c.v(0);
  bool old = c.opset < 13;
  int64_t given = c.attrInt("axis", old ? 1 : -1);
  if (c.rank(x) == 0)
    return c.set(0, body(c.reshape(x, {Ext(1)}), 0), c.type(0));
  if (old && given == c.rank(x))
    return c.set(0, c.reshape(body(c.unsqueeze(x, {c.rank(x)}), c.rank(x)), c.exts(x)), c.type(0));
  std::optional<int64_t> axis = c.axis(given, c.rank(x));
  if (!axis)
    return;
  if (!old || *axis == c.rank(x) - 1)
    return c.set(0, body(x, *axis), c.type(0));
  Value flat = c.collapse(c.collapse(x, *axis, c.rank(x)), 0, *axis);
  c.set(0, c.reshape(body(flat, 1), c.exts(x)), c.type(0));
}

template <bool log> static void softmax(NodeContext &c) {
  alongAxis(c, [&](Value x, int64_t axis) { return c.softmax(x, axis, log); });
}

static void hardmax(NodeContext &c) {
  alongAxis(c, [&](Value x, int64_t axis) -> Value {
    int64_t depth = c.dim(x, axis);
    if (ShapedType::isDynamic(depth))
      return c.fail("a dynamic extent along the axis is not supported"), Value();
    Value place = c.one<nn::ArgReduceOp>(x, uint64_t(axis), false, false, false, false);
    return place ? c.one<nn::OneHotOp>(place, c.constant(c.type(0), {2}, {0, 1}), uint64_t(depth),
                                       uint64_t(axis))
                 : Value();
  });
}

ArrayRef<OperatorEntry> onnximport::reduceOperators() {
  static const OperatorEntry entries[] = {
      {"ReduceSum", 1, lastOpset, reduce<ReduceKind::sum>},
      {"ReduceMean", 1, lastOpset, reduce<ReduceKind::mean>},
      {"ReduceMax", 1, lastOpset, reduce<ReduceKind::max>},
      {"ReduceMin", 1, lastOpset, reduce<ReduceKind::min>},
      {"ReduceProd", 1, lastOpset, reduce<ReduceKind::prod>},
      {"ReduceL1", 1, lastOpset, reduce<ReduceKind::l1>},
      {"ReduceL2", 1, lastOpset, reduce<ReduceKind::l2>},
      {"ReduceSumSquare", 1, lastOpset, reduce<ReduceKind::sum_square>},
      {"ReduceLogSum", 1, lastOpset, reduce<ReduceKind::log_sum>},
      {"ReduceLogSumExp", 1, lastOpset, reduce<ReduceKind::log_sum_exp>},
      {"ArgMax", 1, lastOpset, argReduce<false>},
      {"ArgMin", 1, lastOpset, argReduce<true>},
      {"CumSum", 11, lastOpset, cumulative<ReduceKind::sum>},
      {"CumProd", 26, lastOpset, cumulative<ReduceKind::prod>},
      {"TopK", 1, lastOpset, topK},
      {"Softmax", 1, lastOpset, softmax<false>},
      {"LogSoftmax", 1, lastOpset, softmax<true>},
      {"Hardmax", 1, lastOpset, hardmax},
  };
  return entries;
}
