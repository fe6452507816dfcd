// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One element in, one element out: arithmetic with broadcast, activations, casts.
#ifndef TESSERA_IR_NN_NNELEMENTWISE_TD
#define TESSERA_IR_NN_NNELEMENTWISE_TD

include "tessera/ir/nn/NnBase.td"

class Nn_Enum<string name, string what, list<string> words> : I32EnumAttr<name, what,
    !foreach(i, !range(words), I32EnumAttrCase<words[i], i>)> {
  let cppNamespace = "::tessera::nn";
}

// `round` goes to even; `not` is logical on i1 and bitwise on wider integers.
def Nn_UnaryKind : Nn_Enum<"UnaryKind", "a function of one element", [
    "abs", "neg", "exp", "log", "sqrt", "reciprocal", "sign", "floor", "ceil", "round", "erf", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid", "relu", "softplus", "softsign", "gelu",
    "gelu_tanh", "mish", "not_", "popcount", "isnan", "isinf", "isposinf", "isneginf"]>;

// With parameters alpha and beta: leaky_relu x<0 ? alpha*x; elu alpha*(exp(x)-1); selu beta*elu(alpha); celu; hard_sigmoid
// clamp(alpha*x+beta, 0, 1); hard_swish x*clamp(alpha*x+beta,0,1); thresholded_relu x>alpha ? x : 0; shrink (alpha = lambd, beta = bias);
// clip to [alpha, beta]; swish x*sigmoid(alpha*x).
def Nn_ActivationKind : Nn_Enum<"ActivationKind", "an activation with parameters", [
    "leaky_relu", "elu", "selu", "celu", "hard_sigmoid", "hard_swish", "thresholded_relu", "shrink", "clip", "swish"]>;

// `mod` takes the divisor's sign, `fmod` the dividend's. `prelu` is a < 0 ? a*b : a. Comparisons give i1. `and_`, `or_`, `xor_` are
// logical on i1 and bitwise on wider integers. `min` and `max` hand on NaN.
def Nn_BinaryKind : Nn_Enum<"BinaryKind", "a function of two elements", [
    "add", "sub", "mul", "div", "pow", "mod", "fmod", "min", "max", "and_", "or_", "xor_", "shl", "shr", "prelu",
    "eq", "ne", "lt", "le", "gt", "ge"]>;

def Nn_UnaryOp : Nn_Op<"unary", "Elementwise", [], !strconcat(Nn_Lanes, Nn_WholeBlocks)> {
  let summary = "a function of each element";
  let arguments = (ins Nn_UnaryKind:$kind, AnyRankedTensor:$x, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
}

def Nn_ActivationOp : Nn_Op<"activation", "Elementwise", [], Nn_Lanes> {
  let summary = "an activation with parameters";
  let arguments = (ins Nn_ActivationKind:$kind, AnyRankedTensor:$x, DefaultValuedAttr<F64Attr, "0.0">:$alpha, DefaultValuedAttr<F64Attr, "0.0">:$beta,
                       UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
}

def Nn_BinaryOp : Nn_Op<"binary", "Elementwise", [Nn_TunableInterface], !strconcat(Nn_OwnKnobs, Nn_Lanes, Nn_WholeBlocks)> {
  let summary = "a function of two elements, with broadcast as in NumPy; knobs are for sums of two activations";
  let arguments = (ins Nn_BinaryKind:$kind, AnyRankedTensor:$a, AnyRankedTensor:$b, UnitAttr:$is_unsigned);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$kind $a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($y)";
}

def Nn_SelectOp : Nn_Op<"select", "Elementwise"> {
  let summary = "`condition ? a : b`, with broadcast";
  let arguments = (ins AnyRankedTensor:$condition, AnyRankedTensor:$a, AnyRankedTensor:$b);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$condition `,` $a `,` $b attr-dict `:` type($condition) `,` type($a) `,` type($b) `->` type($y)";
}

// Formats that are stored in bytes, and the sign of integers. `plain` is what the element type says, signed.
def Nn_Format : Nn_Enum<"Format", "how an element's bits are to be read", [
    "plain", "unsigned_", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0", "f4e2m1", "i4", "u4", "i2", "u2"]>;

def Nn_CastOp : Nn_ExplicitOp<"cast", "Elementwise", [], Nn_Lanes> {
  let summary = "another element type or format";
  let description = [{
    A float becomes an integer by truncation; a number becomes i1 by comparison with zero. To 8- and 4-bit floats rounds to nearest even
    (f8e8m0: by `round_mode`, "up", "down" or "nearest") and saturates unless `wrap` is given, which lets what does not fit become infinity or NaN.
  }];
  let arguments = (ins AnyRankedTensor:$x, DefaultValuedAttr<Nn_Format, "Format::plain">:$from, DefaultValuedAttr<Nn_Format, "Format::plain">:$to, UnitAttr:$wrap,
                       DefaultValuedAttr<StrAttr, "\"nearest\"">:$round_mode);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Nn_BitcastOp : Nn_ExplicitOp<"bitcast", "Elementwise"> {
  let summary = "the same bits as another type of the same width";
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

// y = saturate(round(x / scale) + zero), and back. scale and zero: one element, a vector along `axis`, or (with `block` > 0) one for each
// `block` elements along `axis`.
def Nn_QuantizeOp : Nn_ExplicitOp<"quantize", "Elementwise", [], Nn_Lanes> {
  let summary = "float to a narrow type with scale and zero point";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$scale, Optional<AnyRankedTensor>:$zero, DefaultValuedAttr<I64Attr, "1">:$axis, DefaultValuedAttr<I64Attr, "0">:$block,
                       DefaultValuedAttr<Nn_Format, "Format::plain">:$to, UnitAttr:$wrap);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def Nn_DequantizeOp : Nn_ExplicitOp<"dequantize", "Elementwise", [], Nn_Lanes> {
  let summary = "a narrow type with scale and zero point to float";
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$scale, Optional<AnyRankedTensor>:$zero, DefaultValuedAttr<I64Attr, "1">:$axis, DefaultValuedAttr<I64Attr, "0">:$block,
                       DefaultValuedAttr<Nn_Format, "Format::plain">:$from);
  let results = (outs AnyRankedTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
