// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Elements.h: the functions of one element. Half types compute in f32 and round once at the end; integers
// wrap; nothing is poison, whatever the operands.
#include "tessera/ir/fault/Fault.h"
#include "tessera/transforms/nn/lower/Elements.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace tessera;
using namespace tessera::nn;

namespace {

/// Shortens the arithmetic below: one builder, one place, one type to compute in.
struct Scalar {
  OpBuilder &b;
  Location loc;
  Type type;

  Value c(double v) { return constantOf(b, loc, type, v); }
  Value i(int64_t v) { return integerOf(b, loc, type, v); }
  template <typename Op> Value f(Value x) { return Op::create(b, loc, x); }
  template <typename Op> Value f(Value x, Value y) { return Op::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value exp(Value x) { return math::ExpOp::create(b, loc, x); }
  Value max(Value x, Value y) { return arith::MaximumFOp::create(b, loc, x, y); }
  Value min(Value x, Value y) { return arith::MinimumFOp::create(b, loc, x, y); }
  Value cmp(arith::CmpFPredicate p, Value x, Value y) { return arith::CmpFOp::create(b, loc, p, x, y); }
  Value cmp(arith::CmpIPredicate p, Value x, Value y) { return arith::CmpIOp::create(b, loc, p, x, y); }
  Value less(Value x, Value y) { return cmp(arith::CmpFPredicate::OLT, x, y); }
  Value pick(Value condition, Value x, Value y) { return arith::SelectOp::create(b, loc, condition, x, y); }
  Value sigmoid(Value x) { return div(c(1), add(c(1), exp(arith::NegFOp::create(b, loc, x)))); }
  // log(1 + exp(x)) without overflow
  Value softplus(Value x) {
    Value tail = exp(arith::NegFOp::create(b, loc, math::AbsFOp::create(b, loc, x)));
    return add(max(x, c(0)), math::Log1pOp::create(b, loc, tail));
  }
};

} // namespace

// f(x) of a half type → trunc(f(ext(x)))
static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

static Value widen(OpBuilder &b, Location loc, Value x) {
  return isHalf(x.getType()) ? arith::ExtFOp::create(b, loc, b.getF32Type(), x).getResult() : x;
}

static Value narrow(OpBuilder &b, Location loc, Value x, Type type) {
  return x.getType() != type && isa<FloatType>(x.getType())
             ? arith::TruncFOp::create(b, loc, type, x).getResult()
             : x;
}

static Value unaryFloat(Scalar s, UnaryKind kind, Value x) {
  OpBuilder &b = s.b;
  Location loc = s.loc;
  constexpr double inf = std::numeric_limits<double>::infinity();
  switch (kind) {
  case UnaryKind::abs:
    return s.f<math::AbsFOp>(x);
  case UnaryKind::neg:
    return s.f<arith::NegFOp>(x);
  case UnaryKind::exp:
    return s.exp(x);
  case UnaryKind::log:
    return s.f<math::LogOp>(x);
  case UnaryKind::sqrt:
    return s.f<math::SqrtOp>(x);
  case UnaryKind::reciprocal:
    return s.div(s.c(1), x);
  case UnaryKind::sign:
    return s.pick(s.less(s.c(0), x), s.c(1), s.pick(s.less(x, s.c(0)), s.c(-1), x));
  case UnaryKind::floor:
    return s.f<math::FloorOp>(x);
  case UnaryKind::ceil:
    return s.f<math::CeilOp>(x);
  case UnaryKind::round:
    return s.f<math::RoundEvenOp>(x);
  case UnaryKind::erf:
    return s.f<math::ErfOp>(x);
  case UnaryKind::sin:
    return s.f<math::SinOp>(x);
  case UnaryKind::cos:
    return s.f<math::CosOp>(x);
  case UnaryKind::tan:
    return s.f<math::TanOp>(x);
  case UnaryKind::asin:
    return s.f<math::AsinOp>(x);
  case UnaryKind::acos:
    return s.f<math::AcosOp>(x);
  case UnaryKind::atan:
    return s.f<math::AtanOp>(x);
  case UnaryKind::sinh:
    return s.f<math::SinhOp>(x);
  case UnaryKind::cosh:
    return s.f<math::CoshOp>(x);
  case UnaryKind::tanh:
    return s.f<math::TanhOp>(x);
  case UnaryKind::asinh:
    return s.f<math::AsinhOp>(x);
  case UnaryKind::acosh:
    return s.f<math::AcoshOp>(x);
  case UnaryKind::atanh:
    return s.f<math::AtanhOp>(x);
  case UnaryKind::sigmoid:
    return s.sigmoid(x);
  case UnaryKind::relu:
    return s.max(x, s.c(0));
  case UnaryKind::softplus:
    return s.softplus(x);
  case UnaryKind::softsign:
    return s.div(x, s.add(s.c(1), s.f<math::AbsFOp>(x)));
  case UnaryKind::gelu: {
    Value e = math::ErfOp::create(b, loc, s.mul(x, s.c(std::sqrt(0.5))));
    return s.mul(s.mul(s.c(0.5), x), s.add(s.c(1), e));
  }
  case UnaryKind::gelu_tanh: {
    Value cube = s.mul(x, s.mul(x, x));
    Value inner = s.mul(s.c(std::sqrt(2 / M_PI)), s.add(x, s.mul(s.c(0.044715), cube)));
    return s.mul(s.mul(s.c(0.5), x), s.add(s.c(1), math::TanhOp::create(b, loc, inner)));
  }
  case UnaryKind::mish:
    return s.mul(x, math::TanhOp::create(b, loc, s.softplus(x)));
  case UnaryKind::isnan:
    return s.cmp(arith::CmpFPredicate::UNO, x, x);
  case UnaryKind::isinf:
    return s.cmp(arith::CmpFPredicate::OEQ, s.f<math::AbsFOp>(x), s.c(inf));
  case UnaryKind::isposinf:
    return s.cmp(arith::CmpFPredicate::OEQ, x, s.c(inf));
  case UnaryKind::isneginf:
    return s.cmp(arith::CmpFPredicate::OEQ, x, s.c(-inf));
  case UnaryKind::not_:
  case UnaryKind::popcount:
    break;
  }
  return Value();
}

static Value unaryInteger(Scalar s, UnaryKind kind, Value x, bool isUnsigned) {
  switch (kind) {
  case UnaryKind::abs:
    return isUnsigned ? x : s.f<math::AbsIOp>(x);
  case UnaryKind::neg:
    return s.f<arith::SubIOp>(s.i(0), x);
  case UnaryKind::sign: {
    Value some = s.pick(s.cmp(arith::CmpIPredicate::ne, x, s.i(0)), s.i(1), s.i(0));
    return isUnsigned ? some : s.pick(s.cmp(arith::CmpIPredicate::slt, x, s.i(0)), s.i(-1), some);
  }
  case UnaryKind::floor:
  case UnaryKind::ceil:
  case UnaryKind::round:
    return x;
  case UnaryKind::relu:
    return isUnsigned ? x : s.f<arith::MaxSIOp>(x, s.i(0));
  case UnaryKind::not_:
    return s.f<arith::XOrIOp>(x, s.i(-1));
  case UnaryKind::popcount:
    return s.f<math::CtPopOp>(x);
  case UnaryKind::isnan:
  case UnaryKind::isinf:
  case UnaryKind::isposinf:
  case UnaryKind::isneginf:
    return integerOf(s.b, s.loc, s.b.getI1Type(), 0);
  default:
    return Value();
  }
}

Value nn::emitUnary(OpBuilder &b, Location loc, UnaryKind kind, Value x, bool isUnsigned) {
  Type type = x.getType();
  if (isa<FloatType>(type)) {
    Value wide = widen(b, loc, x);
    return narrow(b, loc, unaryFloat({b, loc, wide.getType()}, kind, wide), type);
  }
  if (Value y = unaryInteger({b, loc, type}, kind, x, isUnsigned))
    return y;
  // A function of the reals on integers: in double precision, then back.
  Value real = emitCast(b, loc, x, b.getF64Type(), isUnsigned);
  return emitCast(b, loc, unaryFloat({b, loc, b.getF64Type()}, kind, real), type, false, isUnsigned);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

static Value activationFloat(Scalar s, ActivationKind kind, Value x, double alpha, double beta) {
  Value zero = s.c(0);
  auto elu = [&](Value v, double a) { return s.mul(s.c(a), s.f<math::ExpM1Op>(v)); };
  auto clamp01 = [&](Value v) { return s.min(s.max(v, zero), s.c(1)); };
  auto linear = [&] { return s.add(s.mul(s.c(alpha), x), s.c(beta)); };
  switch (kind) {
  case ActivationKind::leaky_relu:
    return s.pick(s.less(x, zero), s.mul(s.c(alpha), x), x);
  case ActivationKind::elu:
    return s.pick(s.less(x, zero), elu(x, alpha), x);
  case ActivationKind::selu:
    return s.mul(s.c(beta), s.pick(s.less(x, zero), elu(x, alpha), x));
  case ActivationKind::celu:
    return s.pick(s.less(x, zero), elu(s.div(x, s.c(alpha)), alpha), x);
  case ActivationKind::hard_sigmoid:
    return clamp01(linear());
  case ActivationKind::hard_swish:
    return s.mul(x, clamp01(linear()));
  case ActivationKind::thresholded_relu:
    return s.pick(s.less(s.c(alpha), x), x, zero);
  case ActivationKind::shrink:
    return s.pick(s.less(x, s.c(-alpha)), s.add(x, s.c(beta)),
                  s.pick(s.less(s.c(alpha), x), s.sub(x, s.c(beta)), zero));
  case ActivationKind::clip: {
    // A bound that is infinite does nothing.
    Value y = std::isinf(alpha) && alpha < 0 ? x : s.max(x, s.c(alpha));
    return std::isinf(beta) && beta > 0 ? y : s.min(y, s.c(beta));
  }
  case ActivationKind::swish:
    return s.mul(x, s.sigmoid(s.mul(s.c(alpha), x)));
  }
  return Value();
}

// clip on integers; a bound outside of the type does nothing.
static Value clipInteger(Scalar s, Value x, double low, double high, bool isUnsigned) {
  unsigned width = s.type.getIntOrFloatBitWidth();
  double least = isUnsigned ? 0 : -std::ldexp(1.0, width - 1),
         most = std::ldexp(1.0, isUnsigned ? width : width - 1);
  auto bound = [&](double v) { return isUnsigned && v >= 0 ? s.i(int64_t(uint64_t(v))) : s.i(int64_t(v)); };
  if (low > least && low < most)
    x = isUnsigned ? s.f<arith::MaxUIOp>(x, bound(std::ceil(low)))
                   : s.f<arith::MaxSIOp>(x, bound(std::ceil(low)));
  if (high >= least && high < most)
    x = isUnsigned ? s.f<arith::MinUIOp>(x, bound(std::floor(high)))
                   : s.f<arith::MinSIOp>(x, bound(std::floor(high)));
  return x;
}

Value nn::emitActivation(OpBuilder &b, Location loc, ActivationKind kind, Value x, double alpha, double beta,
                         bool isUnsigned) {
  Type type = x.getType();
  if (isa<FloatType>(type)) {
    Value wide = widen(b, loc, x);
    return narrow(b, loc, activationFloat({b, loc, wide.getType()}, kind, wide, alpha, beta), type);
  }
  if (kind == ActivationKind::clip)
    return clipInteger({b, loc, type}, x, alpha, beta, isUnsigned);
  Value real = emitCast(b, loc, x, b.getF64Type(), isUnsigned);
  return emitCast(b, loc, activationFloat({b, loc, b.getF64Type()}, kind, real, alpha, beta), type, false,
                  isUnsigned);
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

static Value binaryFloat(Scalar s, BinaryKind kind, Value x, Value y) {
  switch (kind) {
  case BinaryKind::add:
    return s.add(x, y);
  case BinaryKind::sub:
    return s.sub(x, y);
  case BinaryKind::mul:
    return s.mul(x, y);
  case BinaryKind::div:
    return s.div(x, y);
  case BinaryKind::pow:
    return s.f<math::PowFOp>(x, y);
  case BinaryKind::mod: {
    Value r = s.f<arith::RemFOp>(x, y), zero = s.c(0);
    Value crossed = s.f<arith::XOrIOp>(s.less(r, zero), s.less(y, zero));
    Value some = s.cmp(arith::CmpFPredicate::ONE, r, zero);
    return s.pick(s.f<arith::AndIOp>(some, crossed), s.add(r, y), r);
  }
  case BinaryKind::fmod:
    return s.f<arith::RemFOp>(x, y);
  case BinaryKind::min:
    return s.min(x, y);
  case BinaryKind::max:
    return s.max(x, y);
  case BinaryKind::prelu:
    return s.pick(s.less(x, s.c(0)), s.mul(x, y), x);
  case BinaryKind::eq:
    return s.cmp(arith::CmpFPredicate::OEQ, x, y);
  case BinaryKind::ne:
    return s.cmp(arith::CmpFPredicate::UNE, x, y);
  case BinaryKind::lt:
    return s.cmp(arith::CmpFPredicate::OLT, x, y);
  case BinaryKind::le:
    return s.cmp(arith::CmpFPredicate::OLE, x, y);
  case BinaryKind::gt:
    return s.cmp(arith::CmpFPredicate::OGT, x, y);
  case BinaryKind::ge:
    return s.cmp(arith::CmpFPredicate::OGE, x, y);
  default:
    return Value();
  }
}

// x / y and x % y where the processor would trap: a divisor of 0 is a fault, the least number by -1 wraps.
static Value divideInteger(Scalar s, BinaryKind kind, Value x, Value y, bool isUnsigned) {
  Value zero = s.i(0), one = s.i(1);
  y = emitDivisor(s.b, s.loc, y, stringifyBinaryKind(kind));
  auto guarded = [&](Value quotient) {
    fault::Notes::guarded.set(quotient.getDefiningOp());
    return quotient;
  };
  if (isUnsigned || s.type.isInteger(1))
    return guarded(kind == BinaryKind::div ? s.f<arith::DivUIOp>(x, y) : s.f<arith::RemUIOp>(x, y));
  // x / -1 is 0 - x, and the remainder 0, so that no quotient overflows.
  Value minus = s.cmp(arith::CmpIPredicate::eq, y, s.i(-1)), safe = s.pick(minus, one, y);
  if (kind == BinaryKind::div)
    return s.pick(minus, s.f<arith::SubIOp>(zero, x), guarded(s.f<arith::DivSIOp>(x, safe)));
  Value r = guarded(s.f<arith::RemSIOp>(x, safe));
  if (kind == BinaryKind::mod) {
    Value crossed = s.cmp(arith::CmpIPredicate::slt, s.f<arith::XOrIOp>(r, y), zero);
    Value some = s.cmp(arith::CmpIPredicate::ne, r, zero);
    r = s.pick(s.f<arith::AndIOp>(some, crossed), s.f<arith::AddIOp>(r, y), r);
  }
  return r;
}

// Shifting by the width or more leaves nothing (or the sign).
static Value shift(Scalar s, BinaryKind kind, Value x, Value y, bool isUnsigned) {
  unsigned width = s.type.getIntOrFloatBitWidth();
  Value fits = s.cmp(arith::CmpIPredicate::ult, y, s.i(width));
  Value by = s.pick(fits, y, s.i(width - 1));
  if (kind == BinaryKind::shr && !isUnsigned)
    return s.f<arith::ShRSIOp>(x, by);
  Value shifted = kind == BinaryKind::shl ? s.f<arith::ShLIOp>(x, by) : s.f<arith::ShRUIOp>(x, by);
  return s.pick(fits, shifted, s.i(0));
}

static Value binaryInteger(Scalar s, BinaryKind kind, Value x, Value y, bool isUnsigned) {
  using P = arith::CmpIPredicate;
  // Bits have no sign: 1 is more than 0.
  isUnsigned |= s.type.isInteger(1);
  auto compare = [&](P ifSigned, P ifUnsigned) { return s.cmp(isUnsigned ? ifUnsigned : ifSigned, x, y); };
  switch (kind) {
  case BinaryKind::add:
    return s.f<arith::AddIOp>(x, y);
  case BinaryKind::sub:
    return s.f<arith::SubIOp>(x, y);
  case BinaryKind::mul:
    return s.f<arith::MulIOp>(x, y);
  case BinaryKind::div:
  case BinaryKind::mod:
  case BinaryKind::fmod:
    return divideInteger(s, kind, x, y, isUnsigned);
  case BinaryKind::pow:
    return s.f<math::IPowIOp>(x, y);
  case BinaryKind::min:
    return isUnsigned ? s.f<arith::MinUIOp>(x, y) : s.f<arith::MinSIOp>(x, y);
  case BinaryKind::max:
    return isUnsigned ? s.f<arith::MaxUIOp>(x, y) : s.f<arith::MaxSIOp>(x, y);
  case BinaryKind::and_:
    return s.f<arith::AndIOp>(x, y);
  case BinaryKind::or_:
    return s.f<arith::OrIOp>(x, y);
  case BinaryKind::xor_:
    return s.f<arith::XOrIOp>(x, y);
  case BinaryKind::shl:
  case BinaryKind::shr:
    return shift(s, kind, x, y, isUnsigned);
  case BinaryKind::prelu:
    return isUnsigned ? x : s.pick(s.cmp(P::slt, x, s.i(0)), s.f<arith::MulIOp>(x, y), x);
  case BinaryKind::eq:
    return s.cmp(P::eq, x, y);
  case BinaryKind::ne:
    return s.cmp(P::ne, x, y);
  case BinaryKind::lt:
    return compare(P::slt, P::ult);
  case BinaryKind::le:
    return compare(P::sle, P::ule);
  case BinaryKind::gt:
    return compare(P::sgt, P::ugt);
  case BinaryKind::ge:
    return compare(P::sge, P::uge);
  }
  return Value();
}

Value nn::emitBinary(OpBuilder &b, Location loc, BinaryKind kind, Value x, Value y, bool isUnsigned) {
  Type type = x.getType();
  if (kind == BinaryKind::pow && type != y.getType()) {
    // Base and exponent of different types: as floats unless both are integers.
    bool integers = !isa<FloatType>(type) && !isa<FloatType>(y.getType());
    Type common = integers               ? Type(b.getI64Type())
                  : isa<FloatType>(type) ? (type.isF64() ? type : Type(b.getF32Type()))
                                         : Type(b.getF64Type());
    if (isa<FloatType>(common) && y.getType().isF64())
      common = b.getF64Type();
    Value r = emitBinary(b, loc, kind, emitCast(b, loc, x, common, isUnsigned), emitCast(b, loc, y, common));
    return emitCast(b, loc, r, type, false, isUnsigned);
  }
  if (isa<FloatType>(type)) {
    Value wide = widen(b, loc, x);
    return narrow(b, loc, binaryFloat({b, loc, wide.getType()}, kind, wide, widen(b, loc, y)), type);
  }
  return binaryInteger({b, loc, type}, kind, x, y, isUnsigned);
}

//===----------------------------------------------------------------------===//
// Conversions and indices
//===----------------------------------------------------------------------===//

// A float → the integer it truncates to. What does not fit 32 (or 64) bits is saturated, and NaN gives 0;
// narrower integers keep the lower bits of that, as processors do.
static Value toInteger(OpBuilder &b, Location loc, Value x, Type to, bool toUnsigned) {
  Scalar s{b, loc, x.getType()};
  unsigned width = to.getIntOrFloatBitWidth();
  if (width < 32 || (width == 32 && toUnsigned)) {
    Type wide = width < 32 ? b.getI32Type() : b.getI64Type();
    return arith::TruncIOp::create(b, loc, to, toInteger(b, loc, x, wide, /*toUnsigned=*/false));
  }
  double least = toUnsigned ? 0 : -std::ldexp(1.0, width - 1),
         end = std::ldexp(1.0, toUnsigned ? width : width - 1); // the first number that is too large
  Value number = s.cmp(arith::CmpFPredicate::ORD, x, x);
  Value low = s.pick(number, s.max(x, s.c(least)), s.c(0));
  // The largest float below `end`.
  const llvm::fltSemantics &semantics = cast<FloatType>(x.getType()).getFloatSemantics();
  APFloat largest(end);
  bool lost;
  largest.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  largest.next(/*nextDown=*/true);
  Value top = arith::ConstantOp::create(b, loc, FloatAttr::get(x.getType(), largest));
  Value inside = s.min(low, top);
  Value y = toUnsigned ? arith::FPToUIOp::create(b, loc, to, inside).getResult()
                       : arith::FPToSIOp::create(b, loc, to, inside).getResult();
  // Where the float has fewer digits than the integer, `top` is not the largest integer.
  if (width < APFloat::semanticsPrecision(semantics))
    return y;
  Value beyond = s.cmp(arith::CmpFPredicate::OGE, x, s.c(end));
  APInt most = toUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  Value mostValue = arith::ConstantOp::create(b, loc, IntegerAttr::get(to, most));
  return s.pick(beyond, mostValue, y);
}

Value nn::emitCast(OpBuilder &b, Location loc, Value v, Type to, bool fromUnsigned, bool toUnsigned) {
  Type from = v.getType();
  if (from == to)
    return v;
  bool fromFloat = isa<FloatType>(from), toFloat = isa<FloatType>(to);
  if (to.isInteger(1)) {
    if (fromFloat)
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, v, constantOf(b, loc, from, 0));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, integerOf(b, loc, from, 0));
  }
  fromUnsigned |= from.isInteger(1);
  if (fromFloat && toFloat) {
    unsigned a = from.getIntOrFloatBitWidth(), c = to.getIntOrFloatBitWidth();
    if (a < c)
      return arith::ExtFOp::create(b, loc, to, v);
    if (a > c)
      return arith::TruncFOp::create(b, loc, to, v);
    return arith::TruncFOp::create(b, loc, to, arith::ExtFOp::create(b, loc, b.getF32Type(), v));
  }
  if (fromFloat)
    return toInteger(b, loc, widen(b, loc, v), to, toUnsigned);
  if (toFloat)
    return fromUnsigned ? arith::UIToFPOp::create(b, loc, to, v).getResult()
                        : arith::SIToFPOp::create(b, loc, to, v).getResult();
  unsigned a = from.getIntOrFloatBitWidth(), c = to.getIntOrFloatBitWidth();
  if (a > c)
    return arith::TruncIOp::create(b, loc, to, v);
  return fromUnsigned ? arith::ExtUIOp::create(b, loc, to, v).getResult()
                      : arith::ExtSIOp::create(b, loc, to, v).getResult();
}
