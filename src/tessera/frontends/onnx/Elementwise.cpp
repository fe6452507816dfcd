// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that work element by element: arithmetic, comparisons, activations, casts.
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;
using nn::ActivationKind;
using nn::BinaryKind;
using nn::UnaryKind;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

template <UnaryKind kind> static void unary(NodeContext &c) {
  c.set(0, c.unary(kind, c.v(0), isUnsigned(c.type(0))), c.type(0));
}
static void isNan(NodeContext &c) { c.set(0, c.unary(UnaryKind::isnan, c.v(0)), DataType::Bool); }
static void isInf(NodeContext &c) {
  bool positive = c.attrInt("detect_positive", 1), negative = c.attrInt("detect_negative", 1);
  Value x = c.v(0);
  if (!positive && !negative)
    return c.set(0, c.full(c.exts(x), 0, DataType::Bool), DataType::Bool);
  UnaryKind kind = !negative ? UnaryKind::isposinf : !positive ? UnaryKind::isneginf : UnaryKind::isinf;
  c.set(0, c.unary(kind, x), DataType::Bool);
}
static void gelu(NodeContext &c) {
  std::string how = c.attrString("approximate", "none");
  c.set(0, c.unary(how == "tanh" ? UnaryKind::gelu_tanh : UnaryKind::gelu, c.v(0)), c.type(0));
}
static void identity(NodeContext &c) {
  if (!c.has(0)) {
    c.fail("input 0 is missing");
    return;
  }
  c.set(0, c.val(0));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static void activate(NodeContext &c, ActivationKind kind, double alpha = 0, double beta = 0) {
  c.set(0, c.activation(kind, c.v(0), alpha, beta, isUnsigned(c.type(0))), c.type(0));
}
static void leakyRelu(NodeContext &c) {
  activate(c, ActivationKind::leaky_relu, c.attrFloat("alpha", 0.01f));
}
static void elu(NodeContext &c) { activate(c, ActivationKind::elu, c.attrFloat("alpha", 1)); }
static void selu(NodeContext &c) {
  // The defaults are the operator's, which changed their last digits with opset 6.
  activate(c, ActivationKind::selu, c.attrFloat("alpha", c.opset < 6 ? 1.6732f : 1.67326319217681884765625),
           c.attrFloat("gamma", c.opset < 6 ? 1.0507f : 1.05070102214813232421875));
}
static void celu(NodeContext &c) { activate(c, ActivationKind::celu, c.attrFloat("alpha", 1)); }
static void hardSigmoid(NodeContext &c) {
  activate(c, ActivationKind::hard_sigmoid, c.attrFloat("alpha", 0.2f), c.attrFloat("beta", 0.5));
}
static void hardSwish(NodeContext &c) { activate(c, ActivationKind::hard_swish, 1.0 / 6, 0.5); }
static void thresholdedRelu(NodeContext &c) {
  activate(c, ActivationKind::thresholded_relu, c.attrFloat("alpha", 1));
}
static void shrink(NodeContext &c) {
  activate(c, ActivationKind::shrink, c.attrFloat("lambd", 0.5), c.attrFloat("bias", 0));
}
static void swish(NodeContext &c) { activate(c, ActivationKind::swish, c.attrFloat("alpha", 1)); }

// Bounds are attributes before opset 11; after it scalars, which become attributes where they are known.
static void clip(NodeContext &c) {
  Value x = c.v(0);
  DataType type = c.type(0);
  bool isU = isUnsigned(type);
  if (isFloat(type)) {
    std::optional<double> bounds[2];
    bool known = true;
    for (int i : {0, 1}) {
      const char *name = i ? "max" : "min";
      double open = i ? INFINITY : -INFINITY;
      if (c.opset < 11)
        bounds[i] = c.attrFloat(name, open);
      else if (!c.has(i + 1))
        bounds[i] = open;
      else if (KnownPtr k = c.tryKnown(i + 1); k && k->count() == 1 && k->isStatic())
        bounds[i] = k->elements[0].f;
      else
        known = false;
    }
    // With the bounds crossed the upper one wins; the activation need not know.
    if (known && *bounds[0] <= *bounds[1]) {
      if (*bounds[0] == -INFINITY && *bounds[1] == INFINITY)
        return c.set(0, c.val(0));
      return activate(c, ActivationKind::clip, *bounds[0], *bounds[1]);
    }
    if (c.opset < 11)
      return c.set(0, c.full(c.exts(x), *bounds[1], type), type);
  }
  auto bound = [&](unsigned i) {
    Value s = c.v(i);
    return c.rank(s) ? c.reshape(s, {}) : s;
  };
  if (c.has(1))
    x = c.binary(BinaryKind::max, x, bound(1), isU);
  if (c.has(2))
    x = c.binary(BinaryKind::min, x, bound(2), isU);
  c.set(0, x, type);
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

// Before opset 7 broadcasting was asked for by an attribute, and aligned at an axis.
static Value legacySecond(NodeContext &c) {
  Value a = c.v(0), b = c.v(1);
  if (c.opset >= 7 || !c.attrInt("broadcast", 0) || !c.hasAttr("axis") || !a || !b)
    return b;
  std::optional<int64_t> axis = c.axis(c.attrInt("axis", 0), c.rank(a));
  if (!axis)
    return {};
  int64_t trailing = c.rank(a) - *axis - c.rank(b);
  if (trailing < 0)
    return c.fail("its second operand does not fit at axis " + Twine(*axis)), Value();
  Exts shape = c.exts(b);
  shape.append(trailing, Ext(1));
  return c.reshape(b, shape);
}

static bool sameTypes(NodeContext &c) {
  for (unsigned i = 1; i < c.numInputs(); ++i)
    if (c.has(i) && c.type(i) != c.type(0)) {
      c.fail("its operands have different element types, " +
             Twine(std::string(::tessera::onnx::dataTypeName(c.type(0)))) + " and " +
             std::string(::tessera::onnx::dataTypeName(c.type(i))));
      return false;
    }
  return true;
}

template <BinaryKind kind> static void binary(NodeContext &c) {
  if (!sameTypes(c))
    return;
  Value a = c.v(0), b = legacySecond(c);
  c.set(0, c.binary(kind, a, b, isUnsigned(c.type(0))), c.type(0));
}
template <BinaryKind kind> static void compare(NodeContext &c) {
  if (!sameTypes(c))
    return;
  Value a = c.v(0), b = legacySecond(c);
  c.set(0, c.binary(kind, a, b, isUnsigned(c.type(0))), DataType::Bool);
}
static void mod(NodeContext &c) {
  if (!sameTypes(c))
    return;
  bool truncate = c.attrInt("fmod", 0);
  c.set(0, c.binary(truncate ? BinaryKind::fmod : BinaryKind::mod, c.v(0), c.v(1), isUnsigned(c.type(0))),
        c.type(0));
}
static void bitShift(NodeContext &c) {
  bool left = c.attrString("direction", "") == "LEFT";
  c.set(0, c.binary(left ? BinaryKind::shl : BinaryKind::shr, c.v(0), c.v(1), true), c.type(0));
}
// The result has the base's type; with a float among them the work is done in floats.
static void pow(NodeContext &c) {
  DataType base = c.type(0), exponent = c.type(1);
  Value x = c.v(0), y = legacySecond(c);
  if (base == exponent)
    return c.set(0, c.binary(BinaryKind::pow, x, y, isUnsigned(base)), base);
  DataType work = base;
  if (isFloat(base))
    work = base;
  else if (isFloat(exponent))
    work = exponent == DataType::F64 || base == DataType::I64 ? DataType::F64 : DataType::F32;
  Value r = c.binary(BinaryKind::pow, c.castTo(x, base, work), c.castTo(y, exponent, work), isUnsigned(work));
  c.set(0, c.castTo(r, work, base), base);
}
static void prelu(NodeContext &c) {
  Value x = c.v(0), slope = c.v(1);
  // Before opset 7 a vector of slopes was one for each channel.
  if (c.opset < 7 && c.rank(slope) == 1 && c.rank(x) > 1 && c.dim(slope, 0) != 1)
    slope = c.along(slope, 1, c.rank(x));
  c.set(0, c.binary(BinaryKind::prelu, x, slope, isUnsigned(c.type(0))), c.type(0));
}
static void where(NodeContext &c) {
  if (c.type(1) != c.type(2)) {
    c.fail("its two values have different element types");
    return;
  }
  c.set(0, c.select(c.v(0), c.v(1), c.v(2)), c.type(1));
}

template <BinaryKind kind> static void variadic(NodeContext &c) {
  if (!c.numInputs() || !sameTypes(c)) {
    c.fail("expected at least one input");
    return;
  }
  Value x = c.v(0);
  for (unsigned i = 1; i < c.numInputs(); ++i)
    x = c.binary(kind, x, c.v(i), isUnsigned(c.type(0)));
  c.set(0, x, c.type(0));
}
static void mean(NodeContext &c) {
  if (!c.numInputs()) {
    c.fail("expected at least one input");
    return;
  }
  Value x = c.v(0);
  for (unsigned i = 1; i < c.numInputs(); ++i)
    x = c.add(x, c.v(i));
  c.set(0, c.div(x, c.scalar(c.numInputs(), c.type(0))), c.type(0));
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static void castAs(NodeContext &c, DataType to) {
  if (c.type(0) == to)
    return c.set(0, c.val(0));
  Value x = c.v(0);
  Value y = c.castTo(x, c.type(0), to, c.attrInt("saturate", 1), c.attrString("round_mode", "up"));
  c.set(0, y, to);
}
static void cast(NodeContext &c) {
  int64_t to = c.attrInt("to", 0);
  if (to <= 0 || to > ::tessera::onnx::lastDataType) {
    c.fail("attribute 'to' names no element type: " + Twine(to));
    return;
  }
  castAs(c, static_cast<DataType>(to));
}
static void castLike(NodeContext &c) { castAs(c, c.type(1)); }
static void bitCast(NodeContext &c) {
  int64_t to = c.attrInt("to", 0);
  Value x = c.v(0);
  if (to <= 0 || to > ::tessera::onnx::lastDataType || !x) {
    c.fail("attribute 'to' names no element type: " + Twine(to));
    return;
  }
  auto type = static_cast<DataType>(to);
  Type element = c.elem(type);
  if (!element || ::tessera::onnx::dataTypeBits(type) != ::tessera::onnx::dataTypeBits(c.type(0))) {
    c.fail("expected types of equal width");
    return;
  }
  if (element == c.elem(x))
    return c.set(0, x, type);
  // A bool is a byte 0 or 1 in memory, but one bit in the graph.
  if (type == DataType::Bool || c.type(0) == DataType::Bool)
    return c.set(0, c.castTo(x, c.type(0), type), type);
  c.set(0, nn::BitcastOp::create(c.b, c.loc, c.tt(x).clone(element), x), type);
}

// Without training it hands its operand on, and keeps every element.
static void dropout(NodeContext &c) {
  if (c.opset >= 12 && c.has(2)) {
    std::optional<int64_t> training = c.oneInt(2, "training_mode");
    if (!training)
      return;
    double ratio = 0.5;
    if (c.has(1)) {
      std::optional<double> given = c.oneFloat(1, "ratio");
      if (!given)
        return;
      ratio = *given;
    }
    if (*training && ratio != 0) {
      c.fail("drops elements at random, which is not supported");
      return;
    }
  }
  c.set(0, c.val(0));
  if (c.wants(1)) {
    DataType type = c.opset >= 10 ? DataType::Bool : c.type(0);
    c.set(1, c.full(c.exts(c.v(0)), 1, type), type);
  }
}

ArrayRef<OperatorEntry> onnximport::elementwiseOperators() {
  static const OperatorEntry entries[] = {
      {"Abs", 1, lastOpset, unary<UnaryKind::abs>},
      {"Neg", 1, lastOpset, unary<UnaryKind::neg>},
      {"Exp", 1, lastOpset, unary<UnaryKind::exp>},
      {"Log", 1, lastOpset, unary<UnaryKind::log>},
      {"Sqrt", 1, lastOpset, unary<UnaryKind::sqrt>},
      {"Reciprocal", 1, lastOpset, unary<UnaryKind::reciprocal>},
      {"Sign", 9, lastOpset, unary<UnaryKind::sign>},
      {"Floor", 1, lastOpset, unary<UnaryKind::floor>},
      {"Ceil", 1, lastOpset, unary<UnaryKind::ceil>},
      {"Round", 11, lastOpset, unary<UnaryKind::round>},
      {"Erf", 9, lastOpset, unary<UnaryKind::erf>},
      {"Sin", 7, lastOpset, unary<UnaryKind::sin>},
      {"Cos", 7, lastOpset, unary<UnaryKind::cos>},
      {"Tan", 7, lastOpset, unary<UnaryKind::tan>},
      {"Asin", 7, lastOpset, unary<UnaryKind::asin>},
      {"Acos", 7, lastOpset, unary<UnaryKind::acos>},
      {"Atan", 7, lastOpset, unary<UnaryKind::atan>},
      {"Sinh", 9, lastOpset, unary<UnaryKind::sinh>},
      {"Cosh", 9, lastOpset, unary<UnaryKind::cosh>},
      {"Tanh", 1, lastOpset, unary<UnaryKind::tanh>},
      {"Asinh", 9, lastOpset, unary<UnaryKind::asinh>},
      {"Acosh", 9, lastOpset, unary<UnaryKind::acosh>},
      {"Atanh", 9, lastOpset, unary<UnaryKind::atanh>},
      {"Sigmoid", 1, lastOpset, unary<UnaryKind::sigmoid>},
      {"Relu", 1, lastOpset, unary<UnaryKind::relu>},
      {"Softplus", 1, lastOpset, unary<UnaryKind::softplus>},
      {"Softsign", 1, lastOpset, unary<UnaryKind::softsign>},
      {"Mish", 18, lastOpset, unary<UnaryKind::mish>},
      {"Not", 1, lastOpset, unary<UnaryKind::not_>},
      {"BitwiseNot", 18, lastOpset, unary<UnaryKind::not_>},
      {"IsNaN", 9, lastOpset, isNan},
      {"IsInf", 10, lastOpset, isInf},
      {"Gelu", 20, lastOpset, gelu},
      {"Identity", 1, lastOpset, identity},
      {"LeakyRelu", 1, lastOpset, leakyRelu},
      {"Elu", 1, lastOpset, elu},
      {"Selu", 1, lastOpset, selu},
      {"Celu", 12, lastOpset, celu},
      {"HardSigmoid", 1, lastOpset, hardSigmoid},
      {"HardSwish", 14, lastOpset, hardSwish},
      {"ThresholdedRelu", 1, lastOpset, thresholdedRelu},
      {"Shrink", 9, lastOpset, shrink},
      {"Swish", 24, lastOpset, swish},
      {"Clip", 1, lastOpset, clip},
      {"Add", 1, lastOpset, binary<BinaryKind::add>},
      {"Sub", 1, lastOpset, binary<BinaryKind::sub>},
      {"Mul", 1, lastOpset, binary<BinaryKind::mul>},
      {"Div", 1, lastOpset, binary<BinaryKind::div>},
      {"And", 1, lastOpset, binary<BinaryKind::and_>},
      {"Or", 1, lastOpset, binary<BinaryKind::or_>},
      {"Xor", 1, lastOpset, binary<BinaryKind::xor_>},
      {"BitwiseAnd", 18, lastOpset, binary<BinaryKind::and_>},
      {"BitwiseOr", 18, lastOpset, binary<BinaryKind::or_>},
      {"BitwiseXor", 18, lastOpset, binary<BinaryKind::xor_>},
      {"Equal", 1, lastOpset, compare<BinaryKind::eq>},
      {"Less", 1, lastOpset, compare<BinaryKind::lt>},
      {"LessOrEqual", 12, lastOpset, compare<BinaryKind::le>},
      {"Greater", 1, lastOpset, compare<BinaryKind::gt>},
      {"GreaterOrEqual", 12, lastOpset, compare<BinaryKind::ge>},
      {"Mod", 10, lastOpset, mod},
      {"Pow", 1, lastOpset, pow},
      {"BitShift", 11, lastOpset, bitShift},
      {"PRelu", 1, lastOpset, prelu},
      {"Where", 9, lastOpset, where},
      {"Max", 1, lastOpset, variadic<BinaryKind::max>},
      {"Min", 1, lastOpset, variadic<BinaryKind::min>},
      {"Sum", 1, lastOpset, variadic<BinaryKind::add>},
      {"Mean", 1, lastOpset, mean},
      {"Cast", 6, lastOpset, cast},
      {"CastLike", 15, lastOpset, castLike},
      {"BitCast", 26, lastOpset, bitCast},
      {"Dropout", 1, lastOpset, dropout},
  };
  return entries;
}
