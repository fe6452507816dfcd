// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the C and C++ libraries, and Clang's builtins, that MLIR has operations for.
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace tessera;
using namespace tessera::heterocpp;

static bool isOfLibrary(const clang::FunctionDecl *callee) {
  if (callee->getBuiltinID())
    return true;
  const clang::DeclContext *context = callee->getDeclContext();
  while (isa<clang::LinkageSpecDecl>(context) || context->isInlineNamespace())
    context = context->getParent();
  if (context->isStdNamespace() ||
      (isa<clang::NamespaceDecl>(context) && context->getParent()->isStdNamespace()))
    return true;
  return context->isTranslationUnit() && callee->isExternC();
}

std::optional<RValue> Translator::emitLibrary(const clang::CallExpr *call,
                                              const clang::FunctionDecl *callee) {
  if (const auto *method = dyn_cast<clang::CXXMethodDecl>(callee)) {
    // std::atomic_ref<T>(x).fetch_add(v)
    const clang::CXXRecordDecl *record = method->getParent();
    if (callee->getIdentifier() && record->isInStdNamespace() && (record->getName().contains("atomic")))
      return emitAtomic(callee->getName(), call);
    return std::nullopt;
  }
  if (!callee->getIdentifier() || !isOfLibrary(callee))
    return std::nullopt;
  StringRef name = callee->getName();
  if (callee->getBuiltinID())
    if (std::optional<RValue> known = emitConstant(call))
      return known;
  if (name.starts_with("__atomic_") || name.starts_with("__sync_") || name.starts_with("__hetero_atomic_") ||
      name.starts_with("__hpvm__atomic_"))
    return emitAtomic(name, call);
  name.consume_front("__builtin_");
  if (std::optional<RValue> value = emitComplexMath(name, call))
    return value;
  if (name == "expect" || name == "assume_aligned" || name == "launder" || name == "expect_with_probability")
    return emit(call->getArg(0));
  if (name == "assume" || name == "unreachable" || name == "__assert_fail" || name == "__glibcxx_assert_fail")
    return RValue();
  if (name == "is_constant_evaluated")
    return RValue::of(constant(b.getI1Type(), 0));
  if ((name == "move" || name == "forward" || name == "as_const") && call->getNumArgs() == 1) {
    RValue value;
    value.kind = RValue::Reference;
    value.place = emitPlace(call->getArg(0));
    return value;
  }
  if (name == "addressof" && call->getNumArgs() == 1)
    return RValue::pointer(emitPlace(call->getArg(0)));
  auto value = [&](unsigned i) {
    const clang::Expr *arg = call->getArg(i);
    return arg->isGLValue() ? load(emitPlace(arg), arg->getBeginLoc()).scalar : emitScalar(arg);
  };
  if ((name == "min" || name == "max") && call->getNumArgs() == 2 && isScalar(call->getArg(0)->getType())) {
    // std::min is b < a ? b : a, which fixes what happens to NaN and to zeros.
    Value l = value(0), r = value(1);
    clang::QualType type = call->getArg(0)->getType();
    Value less = name == "min" ? compare(clang::BO_LT, r, l, type) : compare(clang::BO_LT, l, r, type);
    return RValue::of(arith::SelectOp::create(b, current, less, r, l));
  }
  if (name == "clamp" && call->getNumArgs() == 3 && isScalar(call->getArg(0)->getType())) {
    Value v = value(0), low = value(1), high = value(2);
    clang::QualType type = call->getArg(0)->getType();
    Value upper = arith::SelectOp::create(b, current, compare(clang::BO_LT, high, v, type), high, v);
    return RValue::of(arith::SelectOp::create(b, current, compare(clang::BO_LT, v, low, type), low, upper));
  }
  if (name == "swap" && call->getNumArgs() == 2) {
    Place l = emitPlace(call->getArg(0)), r = emitPlace(call->getArg(1));
    Place kept = materialize(load(l, call->getExprLoc()), call->getArg(0)->getType(), call->getBeginLoc());
    store(l, load(r, call->getExprLoc()), call->getExprLoc());
    store(r, load(kept, call->getExprLoc()), call->getExprLoc());
    return RValue();
  }
  if ((name == "memcpy" || name == "memset" || name == "memmove") && call->getNumArgs() == 3) {
    Place to = resolve(emit(call->getArg(0)).place);
    Value bytes = emitIndex(call->getArg(2));
    if (!to.object) {
      unsupported(call->getExprLoc(), "'" + name + "' of a variable", "assign it, or use 'std::bit_cast'");
      return RValue();
    }
    uint64_t unit = to.object->unit.bytes;
    Value count =
        unit > 1 ? arith::DivUIOp::create(b, current, bytes, constantIndex(unit)).getResult() : bytes;
    mayAccess(*to.object, true, call->getExprLoc());
    if (name == "memset") {
      Value byte = emitScalar(call->getArg(1));
      APInt known;
      if (!matchPattern(byte, m_ConstantInt(&known)) || !known.isZero()) {
        unsupported(call->getExprLoc(), "'memset' with another value than 0", "write a loop");
        return RValue();
      }
      emitCounted(constantIndex(0), count, constantIndex(1), [&](Value i) {
        memref::StoreOp::create(b, current, zero(to.object->unit.type), to.object->memory,
                                arith::AddIOp::create(b, current, to.offset, i).getResult());
      });
      return RValue();
    }
    Place from = resolve(emit(call->getArg(1)).place);
    if (!from.object || from.object->unit.bytes != unit) {
      unsupported(call->getExprLoc(), "'" + name + "' between objects of different types", "write a loop");
      return RValue();
    }
    mayAccess(*from.object, false, call->getExprLoc());
    emitCounted(constantIndex(0), count, constantIndex(1), [&](Value i) {
      Value v = loadUnit(*from.object, arith::AddIOp::create(b, current, from.offset, i));
      if (v.getType() != to.object->unit.type)
        v = arith::BitcastOp::create(b, current, to.object->unit.type, v);
      memref::StoreOp::create(b, current, v, to.object->memory,
                              arith::AddIOp::create(b, current, to.offset, i).getResult());
    });
    return RValue();
  }
  if (name == "abs" || name == "labs" || name == "llabs") {
    if (call->getNumArgs() == 1 && isScalar(call->getArg(0)->getType())) {
      Value v = emitScalar(call->getArg(0));
      if (isa<IntegerType>(v.getType()))
        return RValue::of(math::AbsIOp::create(b, current, v));
      return RValue::of(math::AbsFOp::create(b, current, v));
    }
    return std::nullopt;
  }
  if (call->getNumArgs() == 1 && call->getArg(0)->getType()->isIntegerType()) {
    StringRef bits = name;
    bits.consume_back("ll") || bits.consume_back("l");
    Value v;
    if (bits == "popcount" || bits == "clz" || bits == "ctz" || bits == "countl_zero" ||
        bits == "countr_zero") {
      v = emitScalar(call->getArg(0));
      Value n = bits == "popcount" ? math::CtPopOp::create(b, current, v).getResult()
                : bits == "clz" || bits == "countl_zero"
                    ? math::CountLeadingZerosOp::create(b, current, v).getResult()
                    : math::CountTrailingZerosOp::create(b, current, v).getResult();
      Type result = valueType(call->getType(), b.getContext(), ast);
      if (n.getType().getIntOrFloatBitWidth() > result.getIntOrFloatBitWidth())
        n = arith::TruncIOp::create(b, current, result, n);
      else if (n.getType() != result)
        n = arith::ExtUIOp::create(b, current, result, n);
      return RValue::of(n);
    }
  }
  if (std::optional<RValue> result = emitMath(name, call))
    return result;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// <cmath>
//===----------------------------------------------------------------------===//

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

std::optional<RValue> Translator::emitMath(StringRef name, const clang::CallExpr *call) {
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
