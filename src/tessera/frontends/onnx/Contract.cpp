// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices and convolutions, also those of integers: these are widened to i32 and their zero
// points taken off before.
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Products.h"
#include "tessera/frontends/onnx/Window.h"

using namespace tessera;
using namespace tessera::onnximport;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

Value onnximport::product(NodeContext &c, Value a, Value b) {
  if (!a || !b)
    return {};
  bool row = c.rank(a) == 1, column = c.rank(b) == 1;
  if (!c.rank(a) || !c.rank(b))
    return c.fail("expected operands of at least one dimension"), Value();
  if (row)
    a = c.unsqueeze(a, {0});
  if (column)
    b = c.unsqueeze(b, {1});
  Value y = c.matmul(a, b);
  if (y && column)
    y = c.squeeze(y, {c.rank(y) - 1});
  if (y && row)
    y = c.squeeze(y, {c.rank(y) - (column ? 1 : 2)});
  return y;
}

static void matMul(NodeContext &c) {
  if (c.type(0) != c.type(1)) {
    c.fail("its operands have different element types");
    return;
  }
  c.set(0, product(c, c.v(0), c.v(1)), c.type(0));
}

// Whatever the open extents are, the sum has y's shape.
static bool mustBroadcastTo(NodeContext &c, Value bias, Value y) {
  if (c.rank(bias) > c.rank(y))
    return false;
  for (int64_t i = 0, lead = c.rank(y) - c.rank(bias); i < c.rank(bias); ++i)
    if (int64_t extent = c.dim(bias, i);
        extent != 1 && (ShapedType::isDynamic(extent) || extent != c.dim(y, lead + i)))
      return false;
  return true;
}

Value onnximport::gemm(NodeContext &c) {
  DataType type = c.type(0);
  Value a = c.v(0), b = c.v(1);
  if (c.rank(a) != 2 || c.rank(b) != 2) {
    c.fail("expected matrices, but got " + Twine(c.rank(a)) + " and " + Twine(c.rank(b)) + " dimensions");
    return {};
  }
  Value y = c.matmul(a, b, c.attrInt("transA", 0), c.attrInt("transB", 0));
  double alpha = c.attrFloat("alpha", 1), beta = c.attrFloat("beta", 1);
  if (alpha != 1)
    y = c.mul(y, c.scalar(alpha, type));
  if (c.has(2) && beta != 0) {
    Value bias = c.v(2);
    if (beta != 1)
      bias = c.mul(bias, c.scalar(beta, type));
    // It is repeated for the product, never the product for it.
    if (!mustBroadcastTo(c, bias, y))
      bias = c.broadcast(bias, c.exts(y));
    y = c.add(y, bias);
  }
  return y;
}
static void gemmOperator(NodeContext &c) { c.set(0, gemm(c), c.type(0)); }

Value onnximport::centred(NodeContext &c, unsigned operand, unsigned zero, int64_t axis) {
  Value x = c.castTo(c.v(operand), c.type(operand), DataType::I32);
  if (!c.has(zero) || !x)
    return x;
  Value z = c.castTo(c.v(zero), c.type(zero), DataType::I32);
  if (c.rank(z) == 1)
    z = c.dim(z, 0) == 1 ? c.reshape(z, {}) : c.along(z, axis < 0 ? axis + c.rank(x) : axis, c.rank(x));
  return c.sub(x, z);
}

static void matMulInteger(NodeContext &c) {
  c.set(0, product(c, centred(c, 0, 2, -2), centred(c, 1, 3, -1)), DataType::I32);
}

Value onnximport::requantise(NodeContext &c, Value sums, unsigned scaleA, unsigned scaleB, unsigned scaleY,
                             unsigned zeroY, int64_t axisB) {
  auto scale = [&](unsigned i) {
    Value s = c.castTo(c.v(i), c.type(i), DataType::F32);
    return c.rank(s) == 1 && c.dim(s, 0) == 1 ? c.reshape(s, {}) : s;
  };
  Value y = c.castTo(sums, DataType::I32, DataType::F32);
  Value a = scale(scaleA), b = scale(scaleB), out = scale(scaleY);
  if (!y || !a || !b || !out)
    return {};
  if (c.rank(b) == 1)
    b = c.along(b, axisB < 0 ? axisB + c.rank(y) : axisB, c.rank(y));
  y = c.mul(y, c.mul(a, b));
  Value zero = c.optional(zeroY);
  DataType to = c.has(zeroY) ? c.type(zeroY) : DataType::U8;
  if (!y || c.bad)
    return {};
  if (zero && c.rank(zero) == 1 && c.dim(zero, 0) == 1)
    zero = c.reshape(zero, {});
  return nn::QuantizeOp::create(c.b, c.loc, c.tt(y).clone(c.elem(to)), y, out, zero, uint64_t(0), uint64_t(0),
                                format(to), false);
}

static void qLinearMatMul(NodeContext &c) {
  Value sums = product(c, centred(c, 0, 2, -2), centred(c, 3, 5, -1));
  c.set(0, requantise(c, sums, 1, 4, 6, 7, -1), c.type(7));
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

// The equation with an explicit result and letters of its own for what an ellipsis stands for.
static void einsum(NodeContext &c) {
  std::string equation = c.attrString("equation", "");
  llvm::erase(equation, ' ');
  auto [left, right] = StringRef(equation).split("->");
  bool isExplicit = StringRef(equation).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != c.numInputs()) {
    c.fail("the equation '" + ::tessera::onnx::printable(equation) + "' has " + Twine(terms.size()) +
           " terms, but there are " + Twine(c.numInputs()) + " inputs");
    return;
  }
  std::map<char, int> uses;
  for (char letter : equation)
    if (llvm::isAlpha(letter))
      ++uses[letter];
  std::string spare;
  for (char letter = 'a'; letter <= 'z'; ++letter)
    for (char l : {letter, llvm::toUpper(letter)})
      if (!uses.count(l))
        spare += l;
  SmallVector<Value> values;
  int64_t widest = 0;
  for (auto [i, term] : llvm::enumerate(terms)) {
    Value x = c.v(i);
    values.push_back(x);
    int64_t named = llvm::count_if(term, llvm::isAlpha), covered = c.rank(x) - named;
    if (!x || covered < 0 || (covered > 0 && !term.contains("..."))) {
      c.fail("the term '" + Twine(term) + "' does not fit an input of " + Twine(c.rank(x)) + " dimensions");
      return;
    }
    widest = std::max(widest, term.contains("...") ? covered : 0);
  }
  if (widest > int64_t(spare.size())) {
    c.fail("the equation needs more letters than there are");
    return;
  }
  std::string ellipsis = spare.substr(0, widest), result;
  auto expand = [&](StringRef term, int64_t covered) {
    auto [before, after] = term.split("...");
    return term.contains("...") ? (before + ellipsis.substr(widest - covered) + after).str() : term.str();
  };
  for (auto [i, term] : llvm::enumerate(terms)) {
    int64_t covered = c.rank(values[i]) - llvm::count_if(term, llvm::isAlpha);
    result += (i ? "," : "") + expand(term, covered);
  }
  result += "->";
  if (isExplicit) {
    result += expand(right, widest);
  } else {
    result += ellipsis;
    for (auto [letter, n] : uses)
      if (n == 1)
        result += letter;
  }
  c.set(0, c.one<nn::EinsumOp>(StringRef(result), ValueRange(values)), c.type(0));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

std::optional<WindowAttrs> onnximport::windowAttrs(NodeContext &c, Value x, ArrayRef<int64_t> kernel) {
  int64_t n = c.rank(x) - 2;
  auto refuse = [&](const Twine &text) -> std::optional<WindowAttrs> {
    c.fail(text);
    return std::nullopt;
  };
  if (n < 1)
    return refuse("expected an operand with spatial dimensions, but got " + Twine(c.rank(x)) + " dimensions");
  WindowAttrs w;
  w.kernel.assign(kernel.begin(), kernel.end());
  w.strides = c.attrInts("strides");
  w.dilations = c.attrInts("dilations");
  w.pads = c.attrInts("pads");
  if (w.strides.empty())
    w.strides.assign(n, 1);
  if (w.dilations.empty())
    w.dilations.assign(n, 1);
  std::string autoPad = c.attrString("auto_pad", "NOTSET");
  if (w.pads.empty() || autoPad != "NOTSET")
    w.pads.assign(2 * n, 0);
  if (int64_t(w.kernel.size()) != n || int64_t(w.strides.size()) != n || int64_t(w.dilations.size()) != n ||
      int64_t(w.pads.size()) != 2 * n)
    return refuse("the lengths of kernel_shape, strides, dilations or pads do not fit " + Twine(n) +
                  " spatial dimensions");
  for (int64_t i = 0; i < n; ++i)
    if (w.kernel[i] < 1 || w.strides[i] < 1 || w.dilations[i] < 1 || w.kernel[i] > (1 << 24) ||
        w.strides[i] > (1 << 24) || w.dilations[i] > (1 << 24) || std::abs(w.pads[i]) > (1 << 24) ||
        std::abs(w.pads[n + i]) > (1 << 24))
      return refuse("kernel_shape, strides, dilations or pads are out of range");
  if (!StringRef(autoPad).starts_with("SAME"))
    return w;
  for (int64_t i = 0; i < n; ++i) {
    int64_t in = c.dim(x, i + 2), span = (w.kernel[i] - 1) * w.dilations[i] + 1;
    if (ShapedType::isDynamic(in) && w.strides[i] != 1)
      return refuse("auto_pad '" + autoPad + "' with a dynamic extent and a stride is not supported");
    int64_t places = ShapedType::isDynamic(in) ? 0 : (in + w.strides[i] - 1) / w.strides[i];
    int64_t total =
        ShapedType::isDynamic(in) ? span - 1 : std::max<int64_t>(0, (places - 1) * w.strides[i] + span - in);
    int64_t less = total / 2, more = total - less;
    w.pads[i] = autoPad == "SAME_LOWER" ? more : less;
    w.pads[n + i] = autoPad == "SAME_LOWER" ? less : more;
  }
  return w;
}

// The spatial extents of a weight; a kernel_shape beside it must agree.
static std::optional<Ints> kernelOf(NodeContext &c, Value x, Value w) {
  if (!x || !w)
    return std::nullopt;
  if (c.rank(w) != c.rank(x) || c.rank(x) < 3) {
    c.fail("expected weights of as many dimensions as the operand, at least three, but got " +
           Twine(c.rank(w)) + " and " + Twine(c.rank(x)));
    return std::nullopt;
  }
  Ints kernel(c.tt(w).getShape().drop_front(2));
  Ints stated = c.attrInts("kernel_shape");
  if (llvm::any_of(c.tt(w).getShape(), ShapedType::isDynamic)) {
    c.fail("weights of dynamic extents are not supported");
    return std::nullopt;
  }
  if (!stated.empty() && stated != kernel) {
    c.fail("kernel_shape differs from the weights' extents");
    return std::nullopt;
  }
  return kernel;
}

Value onnximport::convolve(NodeContext &c, Value x, Value w, Value bias) {
  std::optional<Ints> kernel = kernelOf(c, x, w);
  std::optional<WindowAttrs> a = kernel ? windowAttrs(c, x, *kernel) : std::nullopt;
  if (!a)
    return {};
  return c.one<nn::ConvOp>(x, w, bias, a->strides, a->pads, a->dilations, uint64_t(c.attrInt("group", 1)));
}

static void conv(NodeContext &c) { c.set(0, convolve(c, c.v(0), c.v(1), c.optional(2)), c.type(0)); }

static void convInteger(NodeContext &c) {
  c.set(0, convolve(c, centred(c, 0, 2, 1), centred(c, 1, 3, 0), {}), DataType::I32);
}

static void qLinearConv(NodeContext &c) {
  Value sums = convolve(c, centred(c, 0, 2, 1), centred(c, 3, 5, 0), c.optional(8));
  c.set(0, requantise(c, sums, 1, 4, 6, 7, 1), c.type(7));
}

static void convTranspose(NodeContext &c) {
  Value x = c.v(0), w = c.v(1), bias = c.optional(2);
  std::optional<Ints> kernel = kernelOf(c, x, w);
  if (!kernel)
    return;
  int64_t n = c.rank(x) - 2;
  std::string autoPad = c.attrString("auto_pad", "NOTSET");
  Ints outputShape = c.attrInts("output_shape"), more = c.attrInts("output_padding"),
       strides = c.attrInts("strides"), dilations = c.attrInts("dilations"), pads = c.attrInts("pads");
  if (more.empty())
    more.assign(n, 0);
  if (strides.empty())
    strides.assign(n, 1);
  if (dilations.empty())
    dilations.assign(n, 1);
  if (pads.empty() || autoPad != "NOTSET")
    pads.assign(2 * n, 0);
  // Some models give the whole shape.
  if (int64_t(outputShape.size()) == n + 2)
    outputShape.erase(outputShape.begin(), outputShape.begin() + 2);
  if (int64_t(more.size()) != n || int64_t(strides.size()) != n || int64_t(dilations.size()) != n ||
      int64_t(pads.size()) != 2 * n || (!outputShape.empty() && int64_t(outputShape.size()) != n)) {
    c.fail("the lengths of strides, dilations, pads, output_padding or output_shape do not fit " + Twine(n) +
           " spatial dimensions");
    return;
  }
  bool same = StringRef(autoPad).starts_with("SAME");
  for (int64_t i = 0; i < n && (same || !outputShape.empty()); ++i) {
    int64_t in = c.dim(x, i + 2);
    if (ShapedType::isDynamic(in)) {
      c.fail("output_shape or auto_pad with a dynamic extent is not supported");
      return;
    }
    int64_t wanted = outputShape.empty() ? in * strides[i] : outputShape[i];
    int64_t total = strides[i] * (in - 1) + more[i] + (kernel.value()[i] - 1) * dilations[i] + 1 - wanted;
    if (total < 0) {
      more[i] -= total;
      total = 0;
    }
    int64_t half = total / 2;
    pads[i] = autoPad == "SAME_UPPER" ? half : total - half;
    pads[n + i] = total - pads[i];
  }
  c.set(
      0,
      c.one<nn::ConvTransposeOp>(x, w, bias, strides, pads, dilations, more, uint64_t(c.attrInt("group", 1))),
      c.type(0));
}

static void deformConv(NodeContext &c) {
  Value x = c.v(0), w = c.v(1), offset = c.v(2), bias = c.optional(3), mask = c.optional(4);
  std::optional<Ints> kernel = kernelOf(c, x, w);
  std::optional<WindowAttrs> a = kernel ? windowAttrs(c, x, *kernel) : std::nullopt;
  if (!a)
    return;
  c.set(0,
        c.one<nn::DeformConvOp>(x, w, offset, bias, mask, a->strides, a->pads, a->dilations,
                                uint64_t(c.attrInt("group", 1)), uint64_t(c.attrInt("offset_group", 1))),
        c.type(0));
}

// Causal depthwise convolution along the last dimension of x (N C L), with the k - 1 elements before it as a
// state.
static void causalConv(NodeContext &c) {
  DataType type = c.type(0);
  Value x = c.v(0), w = c.v(1), bias = c.optional(2), past = c.optional(3);
  if (c.rank(x) != 3 || c.rank(w) != 3) {
    c.fail("expected an operand and weights of three dimensions");
    return;
  }
  int64_t channels = c.dim(x, 1), kernel = c.dim(w, 2);
  if (ShapedType::isDynamic(channels) || ShapedType::isDynamic(kernel)) {
    c.fail("dynamic channels or weights are not supported");
    return;
  }
  Value padded = past ? c.concat({past, x}, 2) : c.pad(x, {0, 0, kernel - 1}, {0, 0, 0});
  Value y =
      padded ? c.one<nn::ConvOp>(padded, w, bias, Ints{1}, Ints{0, 0}, Ints{1}, uint64_t(channels)) : Value();
  std::string activation = c.attrString("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = c.activation(nn::ActivationKind::swish, y, 1);
  else if (activation != "none" && !activation.empty()) {
    c.fail("activation '" + ::tessera::onnx::printable(activation) + "' is not supported");
    return;
  }
  c.set(0, y, type);
  if (!c.wants(1) || !padded)
    return;
  int64_t length = c.dim(padded, 2);
  if (ShapedType::isDynamic(length)) {
    c.fail("a state of a sequence of dynamic length is not supported");
    return;
  }
  c.set(1, c.slice(padded, 2, length - (kernel - 1), kernel - 1), type);
}

ArrayRef<OperatorEntry> onnximport::contractOperators() {
  static const OperatorEntry entries[] = {
      {"MatMul", 1, lastOpset, matMul},
      {"Gemm", 1, lastOpset, gemmOperator},
      {"MatMulInteger", 10, lastOpset, matMulInteger},
      {"QLinearMatMul", 10, lastOpset, qLinearMatMul},
      {"Einsum", 12, lastOpset, einsum},
      {"Conv", 1, lastOpset, conv},
      {"ConvInteger", 10, lastOpset, convInteger},
      {"QLinearConv", 10, lastOpset, qLinearConv},
      {"ConvTranspose", 1, lastOpset, convTranspose},
      {"DeformConv", 19, lastOpset, deformConv},
      {"CausalConvWithState", 27, lastOpset, causalConv},
  };
  return entries;
}
