// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Formats.h. Everything is arithmetic on bits, so that loops over it vectorise.
#include "tessera/transforms/nn/lower/Formats.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace tessera;
using namespace tessera::nn;

namespace {

/// A float format with sign, exponent and mantissa. Codes are without the sign.
struct BitFields {
  int mantissa, bias, sign; ///< digits, bias of the exponent, position of the sign
  int max, inf, nan;        ///< the largest finite code; -1 where there is no infinity or NaN
  bool oneZero;             ///< no negative zero: its code is NaN
};

/// 32-bit integer arithmetic, one line each.
struct Bits {
  OpBuilder &b;
  Location loc;
  Type i32 = b.getI32Type(), f32 = b.getF32Type();

  Value c(int64_t v) { return integerOf(b, loc, i32, v); }
  Value f(double v) { return constantOf(b, loc, f32, v); }
  Value shl(Value x, int by) { return arith::ShLIOp::create(b, loc, x, c(by)); }
  Value shr(Value x, int by) { return arith::ShRUIOp::create(b, loc, x, c(by)); }
  Value andi(Value x, int64_t mask) { return arith::AndIOp::create(b, loc, x, c(mask)); }
  Value ori(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value cmp(arith::CmpIPredicate p, Value x, int64_t y) { return arith::CmpIOp::create(b, loc, p, x, c(y)); }
  Value pick(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }
  Value bits(Value x) { return arith::BitcastOp::create(b, loc, i32, x); }
  Value real(Value x) { return arith::BitcastOp::create(b, loc, f32, x); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
};

} // namespace

using P = arith::CmpIPredicate;

static BitFields fieldsOf(Format f) {
  switch (f) {
  case Format::f8e4m3fn:
    return {3, 7, 7, 0x7e, -1, 0x7f, false};
  case Format::f8e4m3fnuz:
    return {3, 8, 7, 0x7f, -1, 0x80, true};
  case Format::f8e5m2:
    return {2, 15, 7, 0x7b, 0x7c, 0x7e, false};
  case Format::f8e5m2fnuz:
    return {2, 16, 7, 0x7f, -1, 0x80, true};
  default:
    return {1, 1, 3, 0x7, -1, -1, false}; // f4e2m1
  }
}

static Value decodeFloat(Bits s, Value code, Format format) {
  if (format == Format::f8e8m0) {
    Value power = s.pick(s.cmp(P::eq, code, 0), s.c(0x00400000), s.shl(code, 23));
    return s.real(s.pick(s.cmp(P::eq, code, 0xff), s.c(0x7fc00000), power));
  }
  BitFields l = fieldsOf(format);
  Value magnitude = s.andi(code, (1 << l.sign) - 1);
  // The code as the top of an f32, whose bias is larger: one exact product corrects it, for subnormals too.
  Value scaled = arith::MulFOp::create(s.b, s.loc, s.real(s.shl(magnitude, 23 - l.mantissa)),
                                       s.f(std::ldexp(1.0, 127 - l.bias)));
  Value y = s.bits(scaled);
  if (l.inf >= 0) {
    y = s.pick(s.cmp(P::eq, magnitude, l.inf), s.c(0x7f800000), y);
    y = s.pick(s.cmp(P::sgt, magnitude, l.inf), s.c(0x7fc00000), y);
  } else if (l.nan >= 0 && !l.oneZero) {
    y = s.pick(s.cmp(P::eq, magnitude, l.nan), s.c(0x7fc00000), y);
  }
  y = s.ori(y, s.shl(s.andi(s.shr(code, l.sign), 1), 31));
  if (l.oneZero)
    y = s.pick(s.cmp(P::eq, s.andi(code, 0xff), l.nan), s.c(0x7fc00000), y);
  return s.real(y);
}

// Powers of two, by the exponent alone.
static Value encodeExponent(Bits s, Value x, bool wrap, StringRef roundMode) {
  Value u = s.bits(x);
  Value exponent = s.andi(s.shr(u, 23), 0xff);
  Value special = s.cmp(P::eq, exponent, 0xff);
  Value more;
  if (roundMode == "up") {
    more = s.cmp(P::ne, s.andi(u, 0x7fffff), 0);
  } else if (roundMode == "down") {
    more = integerOf(s.b, s.loc, s.b.getI1Type(), 0);
  } else {
    // Half goes to even, and every exponent but 0 counts as odd, since the mantissa's leading 1 is not
    // stored.
    Value half = s.cmp(P::ne, s.andi(u, 0x400000), 0);
    Value above = s.cmp(P::ne, s.andi(u, 0x3fffff), 0), odd = s.cmp(P::sgt, exponent, 0);
    more = s.both(half, arith::OrIOp::create(s.b, s.loc, above, odd));
  }
  if (!wrap)
    more = s.both(more, s.cmp(P::ne, exponent, 0xfe));
  Value next = s.add(exponent, arith::ExtUIOp::create(s.b, s.loc, s.i32, more));
  return s.pick(special, s.c(0xff), next);
}

// To nearest, half to even.
static Value encodeFloat(Bits s, Value x, Format format, bool wrap, StringRef roundMode) {
  if (format == Format::f8e8m0)
    return encodeExponent(s, x, wrap, roundMode);
  BitFields l = fieldsOf(format);
  Value u = s.bits(x), magnitude = s.andi(u, 0x7fffffff), size = s.real(magnitude);
  // Normal numbers: cut the mantissa off after rounding, which may carry into the exponent.
  int cut = 23 - l.mantissa;
  Value odd = s.andi(s.shr(magnitude, cut), 1);
  Value rounded = s.shr(s.add(s.add(magnitude, s.c((1 << (cut - 1)) - 1)), odd), cut);
  Value normal = s.add(rounded, s.c(-((127 - l.bias) << l.mantissa)));
  // Subnormal ones count steps; larger numbers are bounded so that the conversion is defined.
  Value steps = arith::MulFOp::create(s.b, s.loc, size, s.f(std::ldexp(1.0, l.bias - 1 + l.mantissa)));
  steps = arith::MinNumFOp::create(s.b, s.loc, steps, s.f(std::ldexp(1.0, l.mantissa + 1)));
  Value subnormal = arith::FPToSIOp::create(s.b, s.loc, s.i32, math::RoundEvenOp::create(s.b, s.loc, steps));
  Value isNormal =
      arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OGE, size, s.f(std::ldexp(1.0, 1 - l.bias)));
  Value code = s.pick(isNormal, normal, subnormal);
  bool saturate = !wrap || l.nan < 0;
  int beyond = saturate ? l.max : l.inf >= 0 ? l.inf : l.nan;
  code = s.pick(s.cmp(P::sgt, code, l.max), s.c(beyond), code);
  Value isNaN = s.cmp(P::ugt, magnitude, 0x7f800000);
  Value sign = s.shl(s.shr(u, 31), l.sign);
  Value y = s.ori(code, sign);
  if (l.oneZero)
    y = s.pick(s.cmp(P::eq, code, 0), s.c(0), y);
  // A format without NaN gives its negative zero.
  Value nan = l.nan < 0 ? s.c(1 << l.sign) : l.oneZero ? s.c(l.nan) : s.ori(s.c(l.nan), sign);
  return s.pick(isNaN, nan, y);
}

// The low bits of a byte, with or without their sign.
static Value lowBits(OpBuilder &b, Location loc, Value v, Format format) {
  Type i8 = b.getI8Type();
  switch (format) {
  case Format::u4:
    return arith::AndIOp::create(b, loc, v, integerOf(b, loc, i8, 15));
  case Format::u2:
    return arith::AndIOp::create(b, loc, v, integerOf(b, loc, i8, 3));
  default: {
    Value by = integerOf(b, loc, i8, format == Format::i4 ? 4 : 6);
    return arith::ShRSIOp::create(b, loc, arith::ShLIOp::create(b, loc, v, by), by);
  }
  }
}

Value nn::emitDecode(OpBuilder &b, Location loc, Value v, Format from) {
  if (isFloatFormat(from))
    return decodeFloat({b, loc}, arith::ExtUIOp::create(b, loc, b.getI32Type(), v), from);
  return from >= Format::i4 ? lowBits(b, loc, v, from) : v;
}

Value nn::emitEncode(OpBuilder &b, Location loc, Value v, bool fromUnsigned, Type type, Format to, bool wrap,
                     StringRef roundMode) {
  if (isFloatFormat(to)) {
    Value real = emitCast(b, loc, v, b.getF32Type(), fromUnsigned);
    return arith::TruncIOp::create(b, loc, type, encodeFloat({b, loc}, real, to, wrap, roundMode));
  }
  if (to < Format::i4)
    return emitCast(b, loc, v, type, fromUnsigned, to == Format::unsigned_);
  Value whole = isa<FloatType>(v.getType()) ? emitCast(b, loc, v, b.getI32Type()) : v;
  return lowBits(b, loc, emitCast(b, loc, whole, b.getI8Type(), fromUnsigned), to);
}
