// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pools over windows and over everything, and the way back.
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Window.h"

using namespace tessera;
using namespace tessera::onnximport;
using nn::ReduceKind;

static std::optional<WindowAttrs> attrs(NodeContext &c, Value x) {
  if (!c.hasAttr("kernel_shape")) {
    c.fail("attribute 'kernel_shape' is missing");
    return std::nullopt;
  }
  return x ? windowAttrs(c, x, c.attrInts("kernel_shape")) : std::nullopt;
}

static void maxPool(NodeContext &c) {
  Value x = c.v(0);
  std::optional<WindowAttrs> a = attrs(c, x);
  if (!a)
    return;
  bool ceil = c.attrInt("ceil_mode", 0), isU = isUnsigned(c.type(0));
  if (!c.wants(1))
    return c.set(0,
                 c.one<nn::PoolOp>(ReduceKind::max, x, a->kernel, a->strides, a->pads, a->dilations, false,
                                   ceil, uint64_t(2), isU),
                 c.type(0));
  Operation *op = c.make<nn::MaxPoolIndicesOp>(x, a->kernel, a->strides, a->pads, a->dilations, ceil,
                                               c.attrInt("storage_order", 0) == 1, isU);
  if (!op)
    return;
  c.set(0, op->getResult(0), c.type(0));
  c.set(1, op->getResult(1), DataType::I64);
}

static void averagePool(NodeContext &c) {
  Value x = c.v(0);
  std::optional<WindowAttrs> a = attrs(c, x);
  if (!a)
    return;
  c.set(0,
        c.one<nn::PoolOp>(ReduceKind::mean, x, a->kernel, a->strides, a->pads, a->dilations,
                          c.attrInt("count_include_pad", 0) != 0, c.attrInt("ceil_mode", 0) != 0, uint64_t(2),
                          false),
        c.type(0));
}

static void lpPool(NodeContext &c) {
  Value x = c.v(0);
  std::optional<WindowAttrs> a = attrs(c, x);
  if (!a)
    return;
  c.set(0,
        c.one<nn::PoolOp>(ReduceKind::l2, x, a->kernel, a->strides, a->pads, a->dilations, false,
                          c.attrInt("ceil_mode", 0) != 0, uint64_t(c.attrInt("p", 2)), false),
        c.type(0));
}

template <ReduceKind kind> static void global(NodeContext &c) {
  Value x = c.v(0);
  if (c.rank(x) < 3) {
    c.fail("expected an operand with spatial dimensions, but got " + Twine(c.rank(x)) + " dimensions");
    return;
  }
  c.set(0, c.reduce(kind, x, range(2, c.rank(x)), true), c.type(0));
}

static void globalLpPool(NodeContext &c) {
  Value x = c.v(0);
  double p = c.opset < 2 ? c.attrFloat("p", 2) : double(c.attrInt("p", 2));
  if (c.rank(x) < 3) {
    c.fail("expected an operand with spatial dimensions, but got " + Twine(c.rank(x)) + " dimensions");
    return;
  }
  if (p == 2)
    return c.set(0, c.reduce(ReduceKind::l2, x, range(2, c.rank(x)), true), c.type(0));
  Value power = c.binary(nn::BinaryKind::pow, c.unary(nn::UnaryKind::abs, x), c.scalar(p, c.type(0)));
  Value sum = c.reduce(ReduceKind::sum, power, range(2, c.rank(x)), true);
  c.set(0, c.binary(nn::BinaryKind::pow, sum, c.scalar(1 / p, c.type(0))), c.type(0));
}

// Indices count in the tensor that the pool was made from, whose shape `output_shape` may enlarge.
static void maxUnpool(NodeContext &c) {
  Value x = c.v(0), indices = c.v(1);
  std::optional<WindowAttrs> a = attrs(c, x);
  if (!a)
    return;
  if (!c.allStatic(x)) {
    c.fail("dynamic extents are not supported");
    return;
  }
  SmallVector<int64_t> from(c.tt(x).getShape().take_front(2));
  int64_t n = a->kernel.size();
  for (int64_t i = 0; i < n; ++i)
    from.push_back((c.dim(x, i + 2) - 1) * a->strides[i] + a->kernel[i] - a->pads[i] - a->pads[n + i]);
  Ints shape = from;
  if (c.has(2)) {
    std::optional<Ints> given = c.ints(2, "output_shape");
    if (!given)
      return;
    shape = *given;
  }
  Exts sizes(shape.begin(), shape.end());
  RankedTensorType type = c.typeFor(sizes, c.elem(x));
  if (!type || c.bad)
    return;
  c.set(0, nn::MaxUnpoolOp::create(c.b, c.loc, type, x, indices, from), c.type(0));
}

static void col2Im(NodeContext &c) {
  Value x = c.v(0);
  std::optional<Ints> image = c.ints(1, "image_shape"), block = c.ints(2, "block_shape");
  if (!image || !block || !x)
    return;
  int64_t n = image->size();
  Ints strides = c.attrInts("strides"), pads = c.attrInts("pads"), dilations = c.attrInts("dilations");
  if (strides.empty())
    strides.assign(n, 1);
  if (dilations.empty())
    dilations.assign(n, 1);
  if (pads.empty())
    pads.assign(2 * n, 0);
  int64_t taps = 1;
  for (int64_t k : *block)
    taps = std::max<int64_t>(1, c.mul(Ext(taps), Ext(k)).size);
  if (c.rank(x) != 3 || int64_t(block->size()) != n || int64_t(strides.size()) != n ||
      int64_t(dilations.size()) != n || int64_t(pads.size()) != 2 * n || ShapedType::isDynamic(c.dim(x, 1)) ||
      c.dim(x, 1) % taps) {
    c.fail("its shapes do not fit together");
    return;
  }
  Exts shape = {c.ext(x, 0), Ext(c.dim(x, 1) / taps)};
  shape.append(image->begin(), image->end());
  RankedTensorType type = c.typeFor(shape, c.elem(x));
  if (!type || c.bad)
    return;
  c.set(0, nn::ColumnsToImageOp::create(c.b, c.loc, type, x, *block, strides, pads, dilations), c.type(0));
}

ArrayRef<OperatorEntry> onnximport::poolOperators() {
  static const OperatorEntry entries[] = {
      {"MaxPool", 1, lastOpset, maxPool},
      {"AveragePool", 1, lastOpset, averagePool},
      {"LpPool", 2, lastOpset, lpPool},
      {"GlobalMaxPool", 1, lastOpset, global<ReduceKind::max>},
      {"GlobalAveragePool", 1, lastOpset, global<ReduceKind::mean>},
      {"GlobalLpPool", 1, lastOpset, globalLpPool},
      {"MaxUnpool", 9, lastOpset, maxUnpool},
      {"Col2Im", 18, lastOpset, col2Im},
  };
  return entries;
}
