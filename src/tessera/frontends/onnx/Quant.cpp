// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// To and from narrow types, with scales and zero points.
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Products.h"

using namespace tessera;
using namespace tessera::onnximport;
using nn::BinaryKind;
using nn::ReduceKind;
using nn::UnaryKind;

namespace {
struct Scaling {
  Value scale, zero;
  int64_t axis = 0, block = 0;
};
} // namespace

// One element is taken without its dimension; a vector needs its axis.
static std::optional<Scaling> scaling(NodeContext &c, Value x, DataType work) {
  Scaling s;
  s.scale = c.castTo(c.v(1), c.type(1), work);
  s.zero = c.optional(2);
  if (!x || !s.scale || c.bad)
    return std::nullopt;
  s.block = c.attrInt("block_size", 0);
  auto single = [&](Value v) { return c.rank(v) == 1 && c.dim(v, 0) == 1; };
  if (s.block == 0 && single(s.scale)) {
    s.scale = c.reshape(s.scale, {});
    if (s.zero)
      s.zero = c.reshape(s.zero, {});
  }
  if (c.rank(s.scale) == 0 && s.zero && c.rank(s.zero) == 1 && c.dim(s.zero, 0) == 1)
    s.zero = c.reshape(s.zero, {});
  if (c.rank(s.scale) > 0) {
    std::optional<int64_t> axis = c.axis(c.attrInt("axis", 1), c.rank(x));
    if (!axis)
      return std::nullopt;
    s.axis = *axis;
  }
  return s;
}

static void quantize(NodeContext &c) {
  DataType from = c.type(0);
  DataType work = from == DataType::F64 ? DataType::F64 : DataType::F32;
  DataType to = c.has(2) ? c.type(2) : DataType::U8;
  if (int64_t wanted = c.attrInt("output_dtype", 0); wanted > 0 && wanted <= ::tessera::onnx::lastDataType)
    to = static_cast<DataType>(wanted);
  Value x = c.castTo(c.v(0), from, work);
  std::optional<Scaling> s = scaling(c, x, work);
  Type element = c.elem(to);
  if (!s || c.bad)
    return;
  if (!element)
    return void(c.fail("its result type is not supported"));
  c.set(0,
        nn::QuantizeOp::create(c.b, c.loc, c.tt(x).clone(element), x, s->scale, s->zero, uint64_t(s->axis),
                               uint64_t(s->block), format(to), c.attrInt("saturate", 1) == 0),
        to);
}

static void dequantize(NodeContext &c) {
  Value x = c.v(0);
  DataType to = c.type(1);
  if (int64_t wanted = c.attrInt("output_dtype", 0); wanted > 0 && wanted <= ::tessera::onnx::lastDataType)
    to = static_cast<DataType>(wanted);
  DataType work = to == DataType::F64 ? DataType::F64 : DataType::F32;
  std::optional<Scaling> s = scaling(c, x, work);
  if (!s || c.bad)
    return;
  if (!isFloat(to))
    return void(c.fail("its result type is not supported"));
  Value y = nn::DequantizeOp::create(c.b, c.loc, c.tt(x).clone(c.elem(work)), x, s->scale, s->zero,
                                     uint64_t(s->axis), uint64_t(s->block), format(c.type(0)));
  c.set(0, c.castTo(y, work, to), to);
}

onnximport::ByRange onnximport::quantiseByRange(NodeContext &c, Value x) {
  DataType f = DataType::F32;
  Ints all = range(0, c.rank(x));
  Value zero = c.scalar(0, f);
  Value high = c.binary(BinaryKind::max, c.reduce(ReduceKind::max, x, all, false), zero);
  Value low = c.binary(BinaryKind::min, c.reduce(ReduceKind::min, x, all, false), zero);
  Value scale = c.div(c.sub(high, low), c.scalar(255, f));
  Value point = c.unary(UnaryKind::round, c.sub(zero, c.div(low, scale)));
  point = c.castTo(c.activation(nn::ActivationKind::clip, point, 0, 255), f, DataType::U8);
  if (!scale || !point || c.bad)
    return {};
  Value y = nn::QuantizeOp::create(c.b, c.loc, c.tt(x).clone(c.elem(DataType::U8)), x, scale, point,
                                   uint64_t(0), uint64_t(0), nn::Format::unsigned_, false);
  return {y, scale, point};
}

static void dynamicQuantize(NodeContext &c) {
  ByRange made = quantiseByRange(c, c.v(0));
  if (!made.y)
    return;
  c.set(0, made.y, DataType::U8);
  c.set(1, made.scale, DataType::F32);
  c.set(2, made.point, DataType::U8);
}

ArrayRef<OperatorEntry> onnximport::quantOperators() {
  static const OperatorEntry entries[] = {
      {"QuantizeLinear", 10, lastOpset, quantize},
      {"QuantizeLinear", 1, lastOpset, quantize, microsoft},
      {"DequantizeLinear", 10, lastOpset, dequantize},
      {"DequantizeLinear", 1, lastOpset, dequantize, microsoft},
      {"DynamicQuantizeLinear", 11, lastOpset, dynamicQuantize},
  };
  return entries;
}
