// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <cmath>: functions that MLIR has operations for, and those that are made of a few.
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace tessera;
using namespace tessera::heterocpp;

namespace {
using Unary = Value (*)(OpBuilder &, Location, Value);
template <typename Op> Value makeUnary(OpBuilder &b, Location loc, Value v) { return Op::create(b, loc, v); }
} // namespace

static Unary findUnary(StringRef name) {
  return llvm::StringSwitch<Unary>(name)
      .Case("sqrt", makeUnary<math::SqrtOp>)
      .Case("fabs", makeUnary<math::AbsFOp>)
      .Case("exp", makeUnary<math::ExpOp>)
      .Case("exp2", makeUnary<math::Exp2Op>)
      .Case("expm1", makeUnary<math::ExpM1Op>)
      .Case("log", makeUnary<math::LogOp>)
      .Case("log2", makeUnary<math::Log2Op>)
      .Case("log10", makeUnary<math::Log10Op>)
      .Case("log1p", makeUnary<math::Log1pOp>)
      .Case("sin", makeUnary<math::SinOp>)
      .Case("cos", makeUnary<math::CosOp>)
      .Case("tan", makeUnary<math::TanOp>)
      .Case("asin", makeUnary<math::AsinOp>)
      .Case("acos", makeUnary<math::AcosOp>)
      .Case("atan", makeUnary<math::AtanOp>)
      .Case("sinh", makeUnary<math::SinhOp>)
      .Case("cosh", makeUnary<math::CoshOp>)
      .Case("tanh", makeUnary<math::TanhOp>)
      .Case("asinh", makeUnary<math::AsinhOp>)
      .Case("acosh", makeUnary<math::AcoshOp>)
      .Case("atanh", makeUnary<math::AtanhOp>)
      .Case("erf", makeUnary<math::ErfOp>)
      .Case("erfc", makeUnary<math::ErfcOp>)
      .Case("cbrt", makeUnary<math::CbrtOp>)
      .Case("ceil", makeUnary<math::CeilOp>)
      .Case("floor", makeUnary<math::FloorOp>)
      .Case("round", makeUnary<math::RoundOp>)
      .Case("trunc", makeUnary<math::TruncOp>)
      .Cases({"rint", "nearbyint", "roundeven"}, makeUnary<math::RoundEvenOp>)
      .Default(nullptr);
}

// The larger side is taken out of the root, so that no square is too large or too small.
Value Translator::hypotenuse(Value x, Value y) {
  Value l = math::AbsFOp::create(b, current, x), r = math::AbsFOp::create(b, current, y);
  Type type = l.getType();
  Value larger = arith::MaximumFOp::create(b, current, l, r),
        smaller = arith::MinimumFOp::create(b, current, l, r);
  Value one = arith::ConstantOp::create(b, current, b.getFloatAttr(type, 1.0));
  Value ratio = arith::DivFOp::create(b, current, smaller, larger);
  Value root = math::SqrtOp::create(
      b, current, arith::AddFOp::create(b, current, one, arith::MulFOp::create(b, current, ratio, ratio)));
  Value result = arith::MulFOp::create(b, current, larger, root);
  // Both zero, or one without end, have no ratio.
  Value isZero = arith::CmpFOp::create(b, current, arith::CmpFPredicate::OEQ, larger, zero(type));
  result = arith::SelectOp::create(b, current, isZero, larger, result);
  Value infinite = arith::OrIOp::create(b, current, math::IsInfOp::create(b, current, x),
                                        math::IsInfOp::create(b, current, y));
  Value infinity = arith::ConstantOp::create(
      b, current, b.getFloatAttr(type, APFloat::getInf(cast<FloatType>(type).getFloatSemantics())));
  return arith::SelectOp::create(b, current, infinite, infinity, result);
}

// x * 2^n, rounded once: powers that are no number of the type are applied in up to three steps, of which
// only the last rounds.
Value Translator::scale(Value x, Value n) {
  auto type = cast<FloatType>(x.getType());
  Type integer = n.getType(), bits = b.getIntegerType(type.getWidth());
  int digits = type.getFPMantissaWidth(), most = (1 << (type.getWidth() - digits - 1)) - 1, least = 1 - most;
  auto step = [&](arith::CmpIPredicate beyond, int limit, int by) {
    Value isBeyond = arith::CmpIOp::create(b, current, beyond, n, constant(integer, limit));
    Value power = arith::ConstantOp::create(b, current, b.getFloatAttr(type, std::ldexp(1.0, by)));
    x = arith::SelectOp::create(b, current, isBeyond, arith::MulFOp::create(b, current, x, power), x);
    n = arith::SelectOp::create(b, current, isBeyond,
                                arith::SubIOp::create(b, current, n, constant(integer, by)), n);
  };
  for (int i = 0; i < 2; ++i) {
    step(arith::CmpIPredicate::sgt, most, most);
    step(arith::CmpIPredicate::slt, least, least + digits);
  }
  n = arith::MinSIOp::create(b, current, n, constant(integer, most));
  n = arith::MaxSIOp::create(b, current, n, constant(integer, least));
  Value exponent = arith::AddIOp::create(b, current, n, constant(integer, most));
  if (integer != bits)
    exponent = bits.getIntOrFloatBitWidth() > integer.getIntOrFloatBitWidth()
                   ? arith::ExtUIOp::create(b, current, bits, exponent).getResult()
                   : arith::TruncIOp::create(b, current, bits, exponent).getResult();
  Value shifted = arith::ShLIOp::create(b, current, exponent, constant(bits, digits - 1));
  return arith::MulFOp::create(b, current, x, arith::BitcastOp::create(b, current, type, shifted));
}

// x = fraction * 2^exponent, with a fraction of at least a half and below one.
std::pair<Value, Value> Translator::splitExponent(Value x) {
  using P = arith::CmpIPredicate;
  auto type = cast<FloatType>(x.getType());
  Type bits = b.getIntegerType(type.getWidth());
  int digits = type.getFPMantissaWidth(), most = (1 << (type.getWidth() - digits - 1)) - 1;
  uint64_t mask = 2 * uint64_t(most) + 1;
  auto exponentOf = [&](Value v) -> Value {
    Value all = arith::BitcastOp::create(b, current, bits, v);
    Value high = arith::ShRUIOp::create(b, current, all, constant(bits, digits - 1));
    return arith::AndIOp::create(b, current, high, constant(bits, mask));
  };
  // A number without a leading one gets one first.
  Value isSmall = arith::CmpIOp::create(b, current, P::eq, exponentOf(x), constant(bits, 0));
  Value power = arith::ConstantOp::create(b, current, b.getFloatAttr(type, std::ldexp(1.0, digits)));
  Value whole = arith::SelectOp::create(b, current, isSmall, arith::MulFOp::create(b, current, x, power), x);
  Value found = exponentOf(whole);
  Value shift = arith::SelectOp::create(b, current, isSmall, constant(bits, most - 1 + digits),
                                        constant(bits, most - 1));
  Value exponent = arith::SubIOp::create(b, current, found, shift);
  Value rest = arith::AndIOp::create(b, current, arith::BitcastOp::create(b, current, bits, whole),
                                     constant(bits, int64_t(~(mask << (digits - 1)))));
  Value fraction =
      arith::OrIOp::create(b, current, rest, constant(bits, int64_t(uint64_t(most - 1) << (digits - 1))));
  // Zero, infinity and what is no number stay what they are.
  Value isSpecial =
      arith::OrIOp::create(b, current, arith::CmpIOp::create(b, current, P::eq, found, constant(bits, mask)),
                           arith::CmpFOp::create(b, current, arith::CmpFPredicate::OEQ, x, zero(type)));
  Value result =
      arith::SelectOp::create(b, current, isSpecial, x, arith::BitcastOp::create(b, current, type, fraction));
  exponent = arith::SelectOp::create(b, current, isSpecial, constant(bits, 0), exponent);
  if (Type integer = b.getI32Type(); bits != integer)
    exponent = type.getWidth() > 32 ? arith::TruncIOp::create(b, current, integer, exponent).getResult()
                                    : arith::ExtSIOp::create(b, current, integer, exponent).getResult();
  return {result, exponent};
}

// x - y * n for the whole number n that is nearest to x / y, exactly.
Value Translator::remainder(Value x, Value y) {
  using P = arith::CmpFPredicate;
  Type type = x.getType();
  auto number = [&](double v) {
    return arith::ConstantOp::create(b, current, b.getFloatAttr(type, v)).getResult();
  };
  auto sub = [&](Value l, Value r) { return arith::SubFOp::create(b, current, l, r).getResult(); };
  auto is = [&](P predicate, Value l, Value r) {
    return arith::CmpFOp::create(b, current, predicate, l, r).getResult();
  };
  auto select = [&](Value c, Value l, Value r) {
    return arith::SelectOp::create(b, current, c, l, r).getResult();
  };
  Value size = math::AbsFOp::create(b, current, y), rest = math::AbsFOp::create(b, current, x);
  // Twice y may be no number of the type; then x is below it anyway.
  Value twice = arith::AddFOp::create(b, current, size, size);
  Value isFinite = math::IsFiniteOp::create(b, current, twice);
  rest = select(isFinite, arith::RemFOp::create(b, current, rest, select(isFinite, twice, number(1))), rest);
  // rest > y / 2 and rest >= y / 2, without rounding: half of a small y would lose a bit.
  Value tiny = is(P::OLT, size, number(type.isF64() ? 0x1p-1021 : 0x1p-125));
  Value half = arith::MulFOp::create(b, current, size, number(0.5));
  auto beyond = [&](P predicate) {
    Value doubled = is(predicate, arith::AddFOp::create(b, current, rest, rest), size);
    return select(tiny, doubled, is(predicate, rest, half));
  };
  Value first = beyond(P::OGT);
  rest = select(first, sub(rest, size), rest);
  Value second = arith::AndIOp::create(b, current, first, beyond(P::OGE));
  rest = select(second, sub(rest, size), rest);
  // A sign of its own; what is no number comes from x - x and y - y.
  Value sign = math::CopySignOp::create(b, current, number(1), x);
  rest = arith::MulFOp::create(b, current, rest, sign);
  rest = select(is(P::OEQ, rest, number(0)), math::CopySignOp::create(b, current, number(0), x), rest);
  Value nan = number(std::numeric_limits<double>::quiet_NaN());
  Value good =
      arith::AndIOp::create(b, current, math::IsFiniteOp::create(b, current, x), is(P::ONE, size, number(0)));
  return select(good, rest, nan);
}

// The number of the type beside x, towards y: numbers of one sign are ordered as their bits are.
Value Translator::nextAfter(Value x, Value y) {
  using P = arith::CmpFPredicate;
  Type type = x.getType(), bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  Value one = constant(bits, 1), all = arith::BitcastOp::create(b, current, bits, x);
  auto is = [&](P predicate, Value l, Value r) {
    return arith::CmpFOp::create(b, current, predicate, l, r).getResult();
  };
  Value away = arith::XOrIOp::create(b, current, is(P::OGT, y, x), is(P::OLT, x, zero(type)));
  Value next = arith::SelectOp::create(b, current, away, arith::AddIOp::create(b, current, all, one),
                                       arith::SubIOp::create(b, current, all, one));
  Value result = arith::BitcastOp::create(b, current, type, next);
  Value smallest = arith::BitcastOp::create(b, current, type, one);
  result = arith::SelectOp::create(b, current, is(P::OEQ, x, zero(type)),
                                   math::CopySignOp::create(b, current, smallest, y), result);
  result = arith::SelectOp::create(b, current, is(P::OEQ, x, y), y, result);
  return arith::SelectOp::create(b, current, is(P::UNO, x, y), arith::AddFOp::create(b, current, x, y),
                                 result);
}

// isless(x, y), isnormal(x), fpclassify(…, x)
std::optional<RValue> Translator::emitClassification(StringRef name, const clang::CallExpr *call) {
  using P = arith::CmpFPredicate;
  unsigned count = call->getNumArgs();
  Type type = valueType(call->getType(), b.getContext(), ast);
  if (!count || !isa_and_present<IntegerType>(type))
    return std::nullopt;
  auto answer = [&](Value flag) {
    return RValue::of(type.isInteger(1) ? flag : arith::ExtUIOp::create(b, current, type, flag).getResult());
  };
  std::optional<P> predicate = llvm::StringSwitch<std::optional<P>>(name)
                                   .Case("isless", P::OLT)
                                   .Case("islessequal", P::OLE)
                                   .Case("isgreater", P::OGT)
                                   .Case("isgreaterequal", P::OGE)
                                   .Case("islessgreater", P::ONE)
                                   .Case("isunordered", P::UNO)
                                   .Default(std::nullopt);
  if (predicate && count == 2 && call->getArg(0)->getType()->isFloatingType()) {
    Value l = emitScalar(call->getArg(0)), r = emitScalar(call->getArg(1));
    if (l.getType() != r.getType())
      return std::nullopt;
    return answer(arith::CmpFOp::create(b, current, *predicate, l, r));
  }
  if ((name != "isnormal" || count != 1) && (name != "fpclassify" || count != 6))
    return std::nullopt;
  if (!call->getArg(count - 1)->getType()->isFloatingType())
    return std::nullopt;
  Value x = emitScalar(call->getArg(count - 1));
  auto real = cast<FloatType>(x.getType());
  Value size = math::AbsFOp::create(b, current, x);
  auto number = [&](const APFloat &v) {
    return arith::ConstantOp::create(b, current, b.getFloatAttr(real, v)).getResult();
  };
  auto is = [&](P p, Value r) { return arith::CmpFOp::create(b, current, p, size, r).getResult(); };
  Value infinity = number(APFloat::getInf(real.getFloatSemantics()));
  Value large = is(P::OGE, number(APFloat::getSmallestNormalized(real.getFloatSemantics())));
  if (name == "isnormal")
    return answer(arith::AndIOp::create(b, current, large, is(P::OLT, infinity)));
  // not a number, infinite, normal, subnormal, zero
  Value v = emitScalar(call->getArg(3));
  auto choose = [&](Value condition, unsigned i) {
    v = arith::SelectOp::create(b, current, condition, emitScalar(call->getArg(i)), v);
  };
  choose(large, 2);
  choose(is(P::OEQ, infinity), 1);
  choose(is(P::OEQ, zero(real)), 4);
  choose(is(P::UNO, size), 0);
  return RValue::of(v);
}

std::optional<RValue> Translator::emitMath(StringRef name, const clang::CallExpr *call) {
  if (std::optional<RValue> result = emitClassification(name, call))
    return result;
  if (call->getNumArgs() == 0 || call->getNumArgs() > 3)
    return std::nullopt;
  Type type = valueType(call->getType(), b.getContext(), ast);
  StringRef base = name;
  // sqrtf is sqrt; the type is the argument's.
  if (!findUnary(base) && base.ends_with("f") && isa_and_present<FloatType>(type))
    base = base.drop_back();
  auto floating = [&](unsigned i) -> Value {
    const clang::Expr *arg = call->getArg(i);
    Value v = arg->isGLValue() ? load(emitPlace(arg), arg->getBeginLoc()).scalar : emitScalar(arg);
    Type wanted = isa_and_present<FloatType>(type) ? type : v.getType();
    if (isa<IntegerType>(v.getType()))
      return isSigned(arg->getType()) ? arith::SIToFPOp::create(b, current, wanted, v).getResult()
                                      : arith::UIToFPOp::create(b, current, wanted, v).getResult();
    if (v.getType() != wanted && isa<FloatType>(wanted))
      return v.getType().getIntOrFloatBitWidth() < wanted.getIntOrFloatBitWidth()
                 ? arith::ExtFOp::create(b, current, wanted, v).getResult()
                 : arith::TruncFOp::create(b, current, wanted, v).getResult();
    return v;
  };
  unsigned count = call->getNumArgs();
  if (count == 1 && base == "exp10" && isa_and_present<FloatType>(type))
    return RValue::of(math::PowFOp::create(
        b, current, arith::ConstantOp::create(b, current, b.getFloatAttr(type, 10.0)), floating(0)));
  if (count == 1 && isa_and_present<FloatType>(type))
    if (Unary make = findUnary(base))
      return RValue::of(make(b, current, floating(0)));
  if (count == 2 && isa_and_present<FloatType>(type)) {
    if (base == "pow")
      return RValue::of(math::PowFOp::create(b, current, floating(0), floating(1)));
    if (base == "atan2")
      return RValue::of(math::Atan2Op::create(b, current, floating(0), floating(1)));
    if (base == "fmod")
      return RValue::of(arith::RemFOp::create(b, current, floating(0), floating(1)));
    if (base == "fmin")
      return RValue::of(arith::MinNumFOp::create(b, current, floating(0), floating(1)));
    if (base == "fmax")
      return RValue::of(arith::MaxNumFOp::create(b, current, floating(0), floating(1)));
    if (base == "remainder")
      return RValue::of(remainder(floating(0), floating(1)));
    if (base == "nextafter")
      return RValue::of(nextAfter(floating(0), floating(1)));
    if (base == "copysign")
      return RValue::of(math::CopySignOp::create(b, current, floating(0), floating(1)));
    if (base == "fdim") {
      Value l = floating(0), r = floating(1);
      Value d = arith::SubFOp::create(b, current, l, r);
      Value less = arith::CmpFOp::create(b, current, arith::CmpFPredicate::OLE, l, r);
      return RValue::of(arith::SelectOp::create(b, current, less, zero(l.getType()), d));
    }
    if (base == "hypot") {
      return RValue::of(hypotenuse(floating(0), floating(1)));
    }
    if (base == "ldexp" || base == "scalbn" || base == "scalbln")
      return RValue::of(scale(floating(0), emitScalar(call->getArg(1))));
    if (base == "frexp") {
      auto [fraction, exponent] = splitExponent(floating(0));
      store(resolve(emit(call->getArg(1)).place), RValue::of(exponent), call->getExprLoc());
      return RValue::of(fraction);
    }
    if (name == "modf" || name == "modff") {
      Value v = floating(0), whole = math::TruncOp::create(b, current, v);
      store(resolve(emit(call->getArg(1)).place), RValue::of(whole), call->getExprLoc());
      Value rest = arith::SelectOp::create(b, current, math::IsInfOp::create(b, current, v), zero(type),
                                           arith::SubFOp::create(b, current, v, whole));
      return RValue::of(math::CopySignOp::create(b, current, rest, v));
    }
  }
  if (count == 3 && isa_and_present<FloatType>(type) && base == "fma")
    return RValue::of(math::FmaOp::create(b, current, floating(0), floating(1), floating(2)));
  if (count == 1 && isa_and_present<IntegerType>(type) && call->getArg(0)->getType()->isFloatingType()) {
    Value result;
    if (name == "isnan")
      result = math::IsNaNOp::create(b, current, floating(0));
    else if (name == "isinf")
      result = math::IsInfOp::create(b, current, floating(0));
    else if (name == "isfinite")
      result = math::IsFiniteOp::create(b, current, floating(0));
    else if (name == "signbit") {
      Value v = floating(0);
      Type bits = b.getIntegerType(v.getType().getIntOrFloatBitWidth());
      result = arith::CmpIOp::create(b, current, arith::CmpIPredicate::slt,
                                     arith::BitcastOp::create(b, current, bits, v), zero(bits));
    } else if (StringRef whole = base.starts_with("ll") ? base.drop_front() : base;
               whole == "lround" || whole == "lroundf" || whole == "lrint" || whole == "lrintf") {
      Value v = name.contains("round") ? math::RoundOp::create(b, current, floating(0)).getResult()
                                       : math::RoundEvenOp::create(b, current, floating(0)).getResult();
      return RValue::of(arith::FPToSIOp::create(b, current, type, v));
    }
    if (result) {
      if (!type.isInteger(1))
        result = arith::ExtUIOp::create(b, current, type, result);
      return RValue::of(result);
    }
  }
  if (count == 3 && (name == "sincos" || name == "sincosf")) {
    Value v = emitScalar(call->getArg(0));
    Place sine = resolve(emit(call->getArg(1)).place), cosine = resolve(emit(call->getArg(2)).place);
    store(sine, RValue::of(math::SinOp::create(b, current, v)), call->getExprLoc());
    store(cosine, RValue::of(math::CosOp::create(b, current, v)), call->getExprLoc());
    return RValue();
  }
  return std::nullopt;
}
