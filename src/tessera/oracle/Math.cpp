// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The math dialect. Functions of floats are computed with more precision than the type has (double for types
// up to f32, long double for f64) and rounded once, so that they are right or almost always right in the last
// bit.
#include "tessera/oracle/Interpreter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace tessera;
using namespace tessera::oracle;

template <auto Narrow, auto Wide>
static LogicalResult function1(Exec &, const Inst &inst, const Val &a, Val &out) {
  const ElementInfo &info = inst.operandInfo;
  if (info.kind == ElementInfo::F64)
    out = fromLongDouble(info, Wide(static_cast<long double>(asDouble(a.getBits()))));
  else
    out = fromDouble(info, Narrow(toDouble(info, a)));
  return success();
}

template <auto Narrow, auto Wide>
static LogicalResult function2(Exec &, const Inst &inst, const Val &a, const Val &b, Val &out) {
  const ElementInfo &info = inst.operandInfo;
  if (info.kind == ElementInfo::F64)
    out = fromLongDouble(info, Wide(asDouble(a.getBits()), asDouble(b.getBits())));
  else
    out = fromDouble(info, Narrow(toDouble(info, a), toDouble(info, b)));
  return success();
}

static double reciprocalRoot(double x) { return 1 / std::sqrt(x); }
static long double reciprocalRootL(long double x) { return 1 / sqrtl(x); }

// The host's square root is correctly rounded, and so it stays when rounded again to half the precision.
static LogicalResult squareRoot(Exec &, const Inst &inst, const Val &a, Val &out) {
  const ElementInfo &info = inst.operandInfo;
  if (info.kind == ElementInfo::F32)
    out.setScalar(fromFloat(std::sqrt(asFloat(a.getBits()))));
  else if (info.kind == ElementInfo::F64)
    out.setScalar(fromDouble(std::sqrt(asDouble(a.getBits()))));
  else
    out = fromDouble(info, std::sqrt(toDouble(info, a)));
  return success();
}

static LogicalResult absf(Exec &, const Inst &inst, const Val &a, Val &out) {
  APInt bits = a.getInt(inst.operandInfo.width);
  bits.clearBit(inst.operandInfo.width - 1);
  out = Val::integer(bits);
  return success();
}

static LogicalResult copySign(Exec &, const Inst &inst, const Val &a, const Val &b, Val &out) {
  unsigned width = inst.operandInfo.width;
  APInt bits = a.getInt(width);
  bits.setBitVal(width - 1, b.getInt(width)[width - 1]);
  out = Val::integer(bits);
  return success();
}

static LogicalResult fusedMultiplyAdd(Exec &, const Inst &inst, const Val &a, const Val &b, const Val &c,
                                      Val &out) {
  out = fmaFloat(inst.operandInfo, a, b, c);
  return success();
}

static LogicalResult clampf(Exec &, const Inst &inst, const Val &value, const Val &low, const Val &high,
                            Val &out) {
  const ElementInfo &info = inst.operandInfo;
  out = combineScalars(Combine::MinimumF, info, combineScalars(Combine::MaximumF, info, value, low), high);
  return success();
}

static LogicalResult sincos(Exec &x, const Inst &inst) {
  return mapElements(x, inst, [](Exec &, const Inst &inst, const Val *const *in, Val *out) {
    const ElementInfo &info = inst.operandInfo;
    if (info.kind == ElementInfo::F64) {
      out[0] = fromLongDouble(info, sinl(asDouble(in[0]->getBits())));
      out[1] = fromLongDouble(info, cosl(asDouble(in[0]->getBits())));
    } else {
      out[0] = fromDouble(info, std::sin(toDouble(info, *in[0])));
      out[1] = fromDouble(info, std::cos(toDouble(info, *in[0])));
    }
    return success();
  });
}

enum class FloatClass { Finite, Infinite, NaN, Normal };

template <FloatClass kind> static LogicalResult classify(Exec &, const Inst &inst, const Val &a, Val &out) {
  APFloat number = a.getFloat(*inst.operandInfo.semantics);
  out.setScalar(kind == FloatClass::Finite     ? number.isFinite()
                : kind == FloatClass::Infinite ? number.isInfinity()
                : kind == FloatClass::NaN      ? number.isNaN()
                                               : number.isNormal());
  return success();
}

//===----------------------------------------------------------------------===//
// Integers and powers
//===----------------------------------------------------------------------===//

static LogicalResult absi(Exec &, const Inst &inst, const Val &a, Val &out) {
  out = Val::integer(a.getInt(inst.operandInfo.width).abs());
  return success();
}

enum class Counting { LeadingZeros, TrailingZeros, Ones };

template <Counting kind> static LogicalResult countBits(Exec &, const Inst &inst, const Val &a, Val &out) {
  unsigned width = inst.operandInfo.width;
  APInt value = a.getInt(width);
  unsigned count = kind == Counting::LeadingZeros    ? value.countl_zero()
                   : kind == Counting::TrailingZeros ? value.countr_zero()
                                                     : value.popcount();
  out = Val::integer(APInt(width, count, /*isSigned=*/false, /*implicitTrunc=*/true));
  return success();
}

static LogicalResult ipowi(Exec &x, const Inst &inst, const Val &va, const Val &vb, Val &out) {
  unsigned width = inst.operandInfo.width;
  APInt base = va.getInt(width), exponent = vb.getInt(width), result(width, 1);
  if (exponent.isNegative()) {
    // 1 / base^n, rounded to zero.
    if (base.isZero())
      return x.error(inst, "raises zero to a negative power");
    bool isOdd = exponent[0];
    if (base.isAllOnes() && width > 1)
      out = Val::integer(isOdd ? base : result);
    else
      out = Val::integer(base.isOne() ? result : APInt(width, 0));
    return success();
  }
  for (; !exponent.isZero(); exponent.lshrInPlace(1)) {
    if (exponent[0])
      result *= base;
    base *= base;
  }
  out = Val::integer(result);
  return success();
}

static LogicalResult fpowi(Exec &x, const Inst &inst, const Val &a, const Val &b, Val &out) {
  const ElementInfo &info = inst.operandInfo;
  unsigned width = ElementInfo::get(inst.op->getOperand(1).getType()).width;
  long double exponent = static_cast<long double>(b.getInt(width).getSExtValue());
  out = fromLongDouble(info, powl(toDouble(info, a), exponent));
  return success();
}

void oracle::addMath(HandlerTable &table) {
#define TESSERA_FUNCTION(name)                                                                               \
  table.add("math." #name, unary<function1<static_cast<double (*)(double)>(::name), ::name##l>>)
  TESSERA_FUNCTION(acos);
  TESSERA_FUNCTION(acosh);
  TESSERA_FUNCTION(asin);
  TESSERA_FUNCTION(asinh);
  TESSERA_FUNCTION(atan);
  TESSERA_FUNCTION(atanh);
  TESSERA_FUNCTION(cbrt);
  TESSERA_FUNCTION(ceil);
  TESSERA_FUNCTION(cos);
  TESSERA_FUNCTION(cosh);
  TESSERA_FUNCTION(erf);
  TESSERA_FUNCTION(erfc);
  TESSERA_FUNCTION(exp);
  TESSERA_FUNCTION(exp2);
  TESSERA_FUNCTION(expm1);
  TESSERA_FUNCTION(floor);
  TESSERA_FUNCTION(log);
  TESSERA_FUNCTION(log10);
  TESSERA_FUNCTION(log1p);
  TESSERA_FUNCTION(log2);
  TESSERA_FUNCTION(round);
  TESSERA_FUNCTION(sin);
  TESSERA_FUNCTION(sinh);
  TESSERA_FUNCTION(tan);
  TESSERA_FUNCTION(tanh);
  TESSERA_FUNCTION(trunc);
#undef TESSERA_FUNCTION
  // rint rounds ties to even in the default rounding mode, which the oracle never changes.
  table.add("math.roundeven", unary<function1<static_cast<double (*)(double)>(::rint), ::rintl>>);
  table.add("math.rsqrt", unary<function1<reciprocalRoot, reciprocalRootL>>);
  table.add("math.powf", binary<function2<static_cast<double (*)(double, double)>(::pow), ::powl>>);
  table.add("math.atan2", binary<function2<static_cast<double (*)(double, double)>(::atan2), ::atan2l>>);
  table.add("math.sqrt", unary<squareRoot>);
  table.add("math.absf", unary<absf>);
  table.add("math.copysign", binary<copySign>);
  table.add("math.fma", ternary<fusedMultiplyAdd>);
  table.add("math.clampf", ternary<clampf>);
  table.add("math.sincos", sincos);
  table.add("math.isfinite", unary<classify<FloatClass::Finite>>);
  table.add("math.isinf", unary<classify<FloatClass::Infinite>>);
  table.add("math.isnan", unary<classify<FloatClass::NaN>>);
  table.add("math.isnormal", unary<classify<FloatClass::Normal>>);
  table.add("math.absi", unary<absi>);
  table.add("math.ctlz", unary<countBits<Counting::LeadingZeros>>);
  table.add("math.cttz", unary<countBits<Counting::TrailingZeros>>);
  table.add("math.ctpop", unary<countBits<Counting::Ones>>);
  table.add("math.ipowi", binary<ipowi>);
  table.add("math.fpowi", binary<fpowi>);
}
