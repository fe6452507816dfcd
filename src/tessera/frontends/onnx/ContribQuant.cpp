// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of com.microsoft on quantised tensors.
#include "tessera/frontends/onnx/Contrib.h"
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Products.h"
#include "tessera/frontends/onnx/Window.h"

using namespace tessera;
using namespace tessera::onnximport;
using nn::ActivationKind;
using nn::BinaryKind;
using nn::ReduceKind;
using nn::UnaryKind;
namespace ox = tessera::onnx;

// One element without its dimension.
static Value single(NodeContext &c, Value v) {
  return v && c.rank(v) == 1 && c.dim(v, 0) == 1 ? c.reshape(v, {}) : v;
}

Value onnximport::dequantised(NodeContext &c, unsigned x, unsigned scale, unsigned zero, int64_t axis) {
  Value v = c.v(x), s = single(c, c.castTo(c.v(scale), c.type(scale), DataType::F32));
  Value z = single(c, c.optional(zero));
  if (!v || !s || c.bad)
    return {};
  if (z && c.type(zero) != c.type(x))
    return c.fail("expected a zero point of the operand's type"), Value();
  return nn::DequantizeOp::create(c.b, c.loc, c.tt(v).clone(c.elem(DataType::F32)), v, s, z, uint64_t(axis),
                                  uint64_t(0), format(c.type(x)));
}

void onnximport::setQuantised(NodeContext &c, Value y, unsigned scale, unsigned zero) {
  Value s = single(c, c.v(scale)), z = single(c, c.optional(zero));
  DataType to = c.has(zero) ? c.type(zero) : DataType::U8;
  if (!y || !s || c.bad)
    return c.set(0, Value(), to);
  if (c.rank(s) || (z && c.rank(z)))
    return void(c.fail("expected one scale and one zero point of the result"));
  c.set(0,
        nn::QuantizeOp::create(c.b, c.loc, c.tt(y).clone(c.elem(to)), y, s, z, uint64_t(0), uint64_t(0),
                               format(to), false),
        to);
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

template <BinaryKind kind> static void qLinearBinary(NodeContext &c) {
  if (honours(c, {}, 8))
    setQuantised(c, c.binary(kind, dequantised(c, 0, 1, 2), dequantised(c, 3, 4, 5)), 6, 7);
}
static void qLinearSigmoid(NodeContext &c) {
  if (honours(c, {}, 5))
    setQuantised(c, c.unary(UnaryKind::sigmoid, dequantised(c, 0, 1, 2)), 3, 4);
}
static void qLinearLeakyRelu(NodeContext &c) {
  if (honours(c, {"alpha"}, 5))
    setQuantised(
        c, c.activation(ActivationKind::leaky_relu, dequantised(c, 0, 1, 2), c.attrFloat("alpha", 0.01f)), 3,
        4);
}
static void qLinearWhere(NodeContext &c) {
  if (honours(c, {}, 9))
    setQuantised(c, c.select(c.v(0), dequantised(c, 1, 2, 3), dequantised(c, 4, 5, 6)), 7, 8);
}

static void qLinearConcat(NodeContext &c) {
  if (!honours(c, {"axis"}, c.numInputs()))
    return;
  if (c.numInputs() < 5 || c.numInputs() % 3 != 2)
    return void(c.fail("expected a tensor, a scale and a zero point for each operand, but got " +
                       Twine(c.numInputs()) + " inputs"));
  SmallVector<Value> parts;
  for (unsigned i = 2; i < c.numInputs(); i += 3)
    parts.push_back(dequantised(c, i, i + 1, i + 2));
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 1), c.rank(parts[0]));
  if (axis && !c.bad)
    setQuantised(c, c.concat(parts, *axis), 0, 1);
}

//===----------------------------------------------------------------------===//
// Windows and reductions
//===----------------------------------------------------------------------===//

// N spatial… C → N C spatial…, and back.
static Value channelsFirst(NodeContext &c, Value x) {
  Ints permutation = {0, c.rank(x) - 1};
  permutation.append(range(1, c.rank(x) - 1));
  return c.rank(x) > 2 ? c.transpose(x, permutation) : x;
}
static Value channelsLast(NodeContext &c, Value x) {
  Ints permutation = {0};
  permutation.append(range(2, c.rank(x)));
  permutation.push_back(1);
  return c.rank(x) > 2 ? c.transpose(x, permutation) : x;
}

static void qLinearAveragePool(NodeContext &c) {
  if (!honours(c,
               {"auto_pad", "ceil_mode", "channels_last", "count_include_pad", "dilations", "kernel_shape",
                "pads", "strides"},
               5))
    return;
  bool last = c.attrInt("channels_last", 0);
  Value x = dequantised(c, 0, 1, 2);
  if (last)
    x = channelsFirst(c, x);
  std::optional<WindowAttrs> a = c.bad ? std::nullopt : windowAttrs(c, x, c.attrInts("kernel_shape"));
  if (!a)
    return;
  Value y = c.one<nn::PoolOp>(ReduceKind::mean, x, a->kernel, a->strides, a->pads, a->dilations,
                              c.attrInt("count_include_pad", 0) != 0, c.attrInt("ceil_mode", 0) != 0,
                              uint64_t(2), false);
  setQuantised(c, last ? channelsLast(c, y) : y, 3, 4);
}

static void qLinearGlobalAveragePool(NodeContext &c) {
  if (!honours(c, {"channels_last"}, 5))
    return;
  Value x = dequantised(c, 0, 1, 2);
  if (c.rank(x) < 3)
    return void(
        c.fail("expected an operand with spatial dimensions, but got " + Twine(c.rank(x)) + " dimensions"));
  bool last = c.attrInt("channels_last", 0);
  setQuantised(c, c.reduce(ReduceKind::mean, x, last ? range(1, c.rank(x) - 1) : range(2, c.rank(x)), true),
               3, 4);
}

static void qLinearReduceMean(NodeContext &c) {
  if (!honours(c, {"axes", "keepdims"}, 5))
    return;
  Value x = dequantised(c, 0, 1, 2);
  std::optional<Ints> axes = c.hasAttr("axes") ? c.axes(c.attrInts("axes"), c.rank(x)) : range(0, c.rank(x));
  if (!axes || c.bad)
    return;
  llvm::sort(*axes);
  setQuantised(c, c.reduce(ReduceKind::mean, x, *axes, c.attrInt("keepdims", 1)), 3, 4);
}

static void qLinearSoftmax(NodeContext &c) {
  if (!honours(c, {"axis", "opset"}, 5))
    return;
  Value x = dequantised(c, 0, 1, 2);
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", -1), c.rank(x));
  if (!axis)
    return;
  // Before opset 13 the dimensions from the axis on are one.
  if (c.attrInt("opset", 0) >= 13 || *axis == c.rank(x) - 1)
    return setQuantised(c, c.softmax(x, *axis), 3, 4);
  Value flat = c.collapse(c.collapse(x, *axis, c.rank(x)), 0, *axis);
  setQuantised(c, c.reshape(c.softmax(flat, 1), c.exts(x)), 3, 4);
}

static void nhwcMaxPool(NodeContext &c) {
  if (!honours(c, {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"}, 1))
    return;
  Value x = channelsFirst(c, c.v(0));
  std::optional<WindowAttrs> a = c.bad ? std::nullopt : windowAttrs(c, x, c.attrInts("kernel_shape"));
  if (!a)
    return;
  Value y = c.one<nn::PoolOp>(ReduceKind::max, x, a->kernel, a->strides, a->pads, a->dilations, false,
                              c.attrInt("ceil_mode", 0) != 0, uint64_t(2), isUnsigned(c.type(0)));
  c.set(0, channelsLast(c, y), c.type(0));
}

// The standard's, with a layout.
static void qLinearConv(NodeContext &c) {
  if (!honours(c, {"auto_pad", "channels_last", "dilations", "group", "kernel_shape", "pads", "strides"}, 9))
    return;
  bool last = c.attrInt("channels_last", 0);
  Value x = centred(c, 0, 2, last ? c.rank(c.v(0)) - 1 : 1);
  Value sums = convolve(c, last ? channelsFirst(c, x) : x, centred(c, 3, 5, 0), c.optional(8));
  Value y = requantise(c, sums, 1, 4, 6, 7, 1);
  c.set(0, last ? channelsLast(c, y) : y, c.type(7));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

// Sums of i32 times the scales of their factors: one each, or one for each column of the second.
static Value scaled(NodeContext &c, Value sums, Value a, Value b) {
  Value y = c.castTo(sums, DataType::I32, DataType::F32);
  a = single(c, a);
  b = single(c, b);
  if (!y || !a || !b || c.bad)
    return {};
  if (c.rank(a))
    return c.fail("expected one scale of the first operand"), Value();
  return c.mul(y, c.mul(a, b));
}

static void matMulIntegerToFloat(NodeContext &c) {
  if (!honours(c, {}, 7))
    return;
  Value y = scaled(c, product(c, centred(c, 0, 4, -2), centred(c, 1, 5, -1)), c.v(2), c.v(3));
  c.set(0, c.has(6) ? c.add(y, c.v(6)) : y, DataType::F32);
}

namespace {
struct Quantised {
  Value sums; ///< i32, without its zero point
  Value scale;
};
} // namespace

// As DynamicQuantizeLinear, without the zero point.
static Quantised quantisedByRange(NodeContext &c, Value x) {
  ByRange made = quantiseByRange(c, x);
  if (!made.y)
    return {};
  return {
      c.sub(c.castTo(made.y, DataType::U8, DataType::I32), c.castTo(made.point, DataType::U8, DataType::I32)),
      made.scale};
}

static void dynamicQuantizeMatMul(NodeContext &c) {
  if (!honours(c, {}, 5))
    return;
  Quantised a = quantisedByRange(c, c.v(0));
  Value y = scaled(c, product(c, a.sums, centred(c, 1, 3, -1)), a.scale, c.v(2));
  c.set(0, c.has(4) ? c.add(y, c.v(4)) : y, DataType::F32);
}

static void qGemm(NodeContext &c) {
  if (!honours(c, {"alpha", "transA", "transB"}, 9))
    return;
  bool transB = c.attrInt("transB", 0);
  Value a = centred(c, 0, 2, -2), b = centred(c, 3, 5, transB ? 0 : -1);
  if (c.rank(a) != 2 || c.rank(b) != 2)
    return void(c.fail("expected matrices, but got " + Twine(c.rank(a)) + " and " + Twine(c.rank(b)) +
                       " dimensions"));
  Value sums = c.matmul(a, b, c.attrInt("transA", 0), transB);
  if (c.has(6))
    sums = c.add(sums, c.v(6));
  Value y = scaled(c, sums, c.v(1), c.v(4));
  if (double alpha = c.attrFloat("alpha", 1); alpha != 1)
    y = c.mul(y, c.scalar(alpha, DataType::F32));
  if (!c.has(7))
    return c.set(0, y, DataType::F32);
  setQuantised(c, y, 7, 8);
}

//===----------------------------------------------------------------------===//
// Weights of a few bits
//===----------------------------------------------------------------------===//

// Numbers of `bits` bits, packed in bytes from the lowest on, `perRow` of them from each `rowBytes` bytes.
static ox::Tensor unpacked(const ox::Tensor &packed, int64_t rows, int64_t rowBytes, int64_t perRow,
                           int64_t bits) {
  auto bytes = std::make_shared<std::vector<std::byte>>(rows * perRow);
  unsigned mask = (1u << bits) - 1, inByte = 8 / bits;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < perRow; ++i) {
      unsigned byte = static_cast<unsigned>(packed.data[r * rowBytes + i / inByte]);
      (*bytes)[r * perRow + i] = static_cast<std::byte>(byte >> (i % inByte * bits) & mask);
    }
  ox::Tensor plain;
  plain.name = packed.name;
  plain.type = DataType::U8;
  plain.dims = {rows, perRow};
  plain.data = std::span<const std::byte>(*bytes);
  plain.owner = bytes;
  return plain;
}

// x times the transpose of weights N x K in blocks of `block_size` along K, each with a scale.
static void matMulNBits(NodeContext &c) {
  if (!honours(c, {"K", "N", "accuracy_level", "bits", "block_size", "weight_prepacked"}, 6))
    return;
  int64_t k = c.attrInt("K", 0), n = c.attrInt("N", 0), bits = c.attrInt("bits", 4),
          block = c.attrInt("block_size", 0);
  if (bits != 2 && bits != 4 && bits != 8)
    return void(c.fail("expected weights of 2, 4 or 8 bits, but got " + Twine(bits)));
  if (c.attrInt("weight_prepacked", 0))
    return void(c.fail("weights that were packed for another device are not supported"));
  if (k < 1 || n < 1 || k > (1 << 24) || n > (1 << 24) || block < 16 || block > (1 << 16))
    return void(c.fail("K, N or block_size are out of range"));
  if (c.has(4))
    return void(c.fail("weights that are reordered (g_idx) are not supported; quantise without act_order"));
  int64_t blocks = llvm::divideCeil(k, block), blob = block * bits / 8;
  auto constant = [&](unsigned i, int64_t count) -> const ox::Tensor * {
    const ox::Tensor *t = c.has(i) ? c.val(i)->tensor : nullptr;
    if (t && t->type == DataType::U8 && t->count() == count)
      return t;
    return c.fail("expected " + Twine(count) + " constant bytes as input " + Twine(i)), nullptr;
  };
  const ox::Tensor *packed = constant(1, n * blocks * blob);
  if (!packed)
    return;
  DataType type = c.type(0), f = DataType::F32;
  // Rows of whole blocks; what stands beyond K is cut off.
  ox::Tensor whole = unpacked(*packed, n, blocks * blob, k, bits);
  Value weights = c.importer.materialise(c.importer.fromTensor(c.importer.keep(std::move(whole))), &c);
  Value scales = c.castTo(c.v(2), c.type(2), f);
  if (!scales || !weights || c.bad)
    return;
  if (!c.allStatic(scales) || c.tt(scales).getNumElements() != n * blocks)
    return void(c.fail("expected " + Twine(n * blocks) + " scales"));
  scales = c.reshape(scales, {Ext(n), Ext(blocks)});
  Value zero, shift;
  if (c.has(3) && isFloat(c.type(3))) {
    // (w - zero) * scale with a zero that is no integer.
    shift = c.castTo(c.v(3), c.type(3), f);
    if (!c.allStatic(shift) || c.tt(shift).getNumElements() != n * blocks)
      return void(c.fail("expected " + Twine(n * blocks) + " zero points"));
    shift = c.mul(c.reshape(shift, {Ext(n), Ext(blocks)}), scales);
    // One for each element.
    shift = c.collapse(c.broadcast(c.unsqueeze(shift, {2}), {Ext(n), Ext(blocks), Ext(block)}), 1, 3);
    shift = blocks * block == k ? shift : c.slice(shift, 1, 0, k);
  } else if (c.has(3)) {
    int64_t rowBytes = llvm::divideCeil(blocks * bits, 8);
    const ox::Tensor *points = constant(3, n * rowBytes);
    if (!points)
      return;
    zero = c.importer.materialise(
        c.importer.fromTensor(c.importer.keep(unpacked(*points, n, rowBytes, blocks, bits))), &c);
  } else {
    std::vector<double> middle(n * blocks, double(1 << (bits - 1)));
    zero = c.constant(DataType::U8, {n, blocks}, middle);
  }
  if (c.bad)
    return;
  Value w = nn::DequantizeOp::create(c.b, c.loc, c.tt(weights).clone(c.elem(f)), weights, scales, zero,
                                     uint64_t(1), uint64_t(block), nn::Format::unsigned_);
  if (shift)
    w = c.sub(w, shift);
  Value x = c.v(0);
  if (c.rank(x) < 1)
    return void(c.fail("expected operands of at least one dimension"));
  bool row = c.rank(x) == 1;
  if (row)
    x = c.unsqueeze(x, {0});
  Value y = c.matmul(x, c.castTo(w, f, type), false, true);
  if (row)
    y = c.squeeze(y, {0});
  if (c.has(5))
    y = c.add(y, c.v(5));
  c.set(0, y, type);
}

ArrayRef<OperatorEntry> onnximport::contribQuantOperators() {
  static const OperatorEntry entries[] = {
      {"QLinearAdd", 1, lastOpset, qLinearBinary<BinaryKind::add>, microsoft},
      {"QLinearMul", 1, lastOpset, qLinearBinary<BinaryKind::mul>, microsoft},
      {"QLinearSigmoid", 1, lastOpset, qLinearSigmoid, microsoft},
      {"QLinearLeakyRelu", 1, lastOpset, qLinearLeakyRelu, microsoft},
      {"QLinearWhere", 1, lastOpset, qLinearWhere, microsoft},
      {"QLinearConcat", 1, lastOpset, qLinearConcat, microsoft},
      {"QLinearAveragePool", 1, lastOpset, qLinearAveragePool, microsoft},
      {"QLinearGlobalAveragePool", 1, lastOpset, qLinearGlobalAveragePool, microsoft},
      {"QLinearReduceMean", 1, lastOpset, qLinearReduceMean, microsoft},
      {"QLinearSoftmax", 1, lastOpset, qLinearSoftmax, microsoft},
      {"QLinearConv", 1, lastOpset, qLinearConv, microsoft},
      {"NhwcMaxPool", 1, lastOpset, nhwcMaxPool, microsoft},
      {"MatMulIntegerToFloat", 1, lastOpset, matMulIntegerToFloat, microsoft},
      {"DynamicQuantizeMatMul", 1, lastOpset, dynamicQuantizeMatMul, microsoft},
      {"QGemm", 1, lastOpset, qGemm, microsoft},
      {"MatMulNBits", 1, lastOpset, matMulNBits, microsoft},
  };
  return entries;
}
