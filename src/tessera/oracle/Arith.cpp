// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer and float arithmetic, comparisons and selection. Integers of any width wrap; what arith leaves
// undefined (a division by zero, a shift past the width, an overflow that a flag excludes) is an error.
// Fast-math flags are permissions that the oracle does not use.
#include "tessera/oracle/Interpreter.h"

#include <cmath>

using namespace tessera;
using namespace tessera::oracle;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

// Reports an overflow of a kind that the operation's flags exclude.
static LogicalResult checkOverflow(Exec &x, const Inst &inst, bool isSigned, bool isUnsigned) {
  if (!isSigned && !isUnsigned)
    return success();
  auto flags = static_cast<arith::IntegerOverflowFlags>(inst.immediate);
  if (isSigned && bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nsw))
    return x.error(inst, "overflows as a signed number although it is marked 'nsw'");
  if (isUnsigned && bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nuw))
    return x.error(inst, "overflows as an unsigned number although it is marked 'nuw'");
  return success();
}

// The decoder left the flags in the immediate.
static bool hasOverflowFlags(const Inst &inst) { return inst.immediate != 0; }

namespace {
struct AddI {
  static uint64_t narrow(uint64_t a, uint64_t b) { return a + b; }
  static APInt wide(const APInt &a, const APInt &b, bool &s, bool &u) {
    (void)a.uadd_ov(b, u);
    return a.sadd_ov(b, s);
  }
};
struct SubI {
  static uint64_t narrow(uint64_t a, uint64_t b) { return a - b; }
  static APInt wide(const APInt &a, const APInt &b, bool &s, bool &u) {
    (void)a.usub_ov(b, u);
    return a.ssub_ov(b, s);
  }
};
struct MulI {
  static uint64_t narrow(uint64_t a, uint64_t b) { return a * b; }
  static APInt wide(const APInt &a, const APInt &b, bool &s, bool &u) {
    (void)a.umul_ov(b, u);
    return a.smul_ov(b, s);
  }
};
} // namespace

template <typename Op>
static LogicalResult wrapping(Exec &x, const Inst &inst, const Val &a, const Val &b, Val &out) {
  const ElementInfo &info = inst.operandInfo;
  if (!info.isWide() && !hasOverflowFlags(inst)) {
    out.setScalar(Op::narrow(a.getBits(), b.getBits()) & info.mask);
    return success();
  }
  bool isSigned, isUnsigned;
  out = Val::integer(Op::wide(a.getInt(info.width), b.getInt(info.width), isSigned, isUnsigned));
  return checkOverflow(x, inst, isSigned, isUnsigned);
}

// Operations that never fail.
template <APInt (*Function)(const APInt &, const APInt &)>
static LogicalResult total(Exec &x, const Inst &inst, const Val &a, const Val &b, Val &out) {
  unsigned width = inst.operandInfo.width;
  out = Val::integer(Function(a.getInt(width), b.getInt(width)));
  return success();
}

static APInt minSigned(const APInt &a, const APInt &b) { return llvm::APIntOps::smin(a, b); }
static APInt maxSigned(const APInt &a, const APInt &b) { return llvm::APIntOps::smax(a, b); }
static APInt minUnsigned(const APInt &a, const APInt &b) { return llvm::APIntOps::umin(a, b); }
static APInt maxUnsigned(const APInt &a, const APInt &b) { return llvm::APIntOps::umax(a, b); }
static APInt bitAnd(const APInt &a, const APInt &b) { return a & b; }
static APInt bitOr(const APInt &a, const APInt &b) { return a | b; }
static APInt bitXor(const APInt &a, const APInt &b) { return a ^ b; }

enum class Division {
  Signed,
  Unsigned,
  CeilSigned,
  CeilUnsigned,
  FloorSigned,
  RemainderSigned,
  RemainderUnsigned
};

template <Division kind>
static LogicalResult divide(Exec &x, const Inst &inst, const Val &va, const Val &vb, Val &out) {
  unsigned width = inst.operandInfo.width;
  APInt a = va.getInt(width), b = vb.getInt(width);
  constexpr bool isSigned =
      kind != Division::Unsigned && kind != Division::CeilUnsigned && kind != Division::RemainderUnsigned;
  if (b.isZero())
    return x.error(inst, "divides by zero");
  if (isSigned && a.isMinSignedValue() && b.isAllOnes())
    return x.error(inst, "overflows: the smallest number is divided by -1");
  if (inst.op->hasAttr("isExact") && !(isSigned ? a.srem(b) : a.urem(b)).isZero())
    return x.error(inst, "leaves a remainder although it is marked 'exact'");
  switch (kind) {
  case Division::Signed:
    out = Val::integer(a.sdiv(b));
    break;
  case Division::Unsigned:
    out = Val::integer(a.udiv(b));
    break;
  case Division::CeilSigned:
    out = Val::integer(llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::UP));
    break;
  case Division::CeilUnsigned:
    out = Val::integer(llvm::APIntOps::RoundingUDiv(a, b, APInt::Rounding::UP));
    break;
  case Division::FloorSigned:
    out = Val::integer(llvm::APIntOps::RoundingSDiv(a, b, APInt::Rounding::DOWN));
    break;
  case Division::RemainderSigned:
    out = Val::integer(a.srem(b));
    break;
  case Division::RemainderUnsigned:
    out = Val::integer(a.urem(b));
    break;
  }
  return success();
}

enum class Shift { Left, Arithmetic, Logical };

template <Shift kind>
static LogicalResult shift(Exec &x, const Inst &inst, const Val &va, const Val &vb, Val &out) {
  unsigned width = inst.operandInfo.width;
  APInt a = va.getInt(width), b = vb.getInt(width);
  if (b.uge(width))
    return x.error(inst, "shifts by " + Twine(b.getLimitedValue()) + ", which is not less than the width " +
                             Twine(width));
  unsigned amount = b.getZExtValue();
  if (kind == Shift::Left) {
    APInt result = a.shl(amount);
    out = Val::integer(result);
    if (!hasOverflowFlags(inst))
      return success();
    return checkOverflow(x, inst, result.ashr(amount) != a, result.lshr(amount) != a);
  }
  if (inst.op->hasAttr("isExact") && a.countr_zero() < amount)
    return x.error(inst, "shifts bits out although it is marked 'exact'");
  out = Val::integer(kind == Shift::Arithmetic ? a.ashr(amount) : a.lshr(amount));
  return success();
}

static LogicalResult addExtended(Exec &x, const Inst &inst) {
  return mapElements(x, inst, [](Exec &, const Inst &inst, const Val *const *in, Val *out) {
    bool overflow;
    unsigned width = inst.operandInfo.width;
    out[0] = Val::integer(in[0]->getInt(width).uadd_ov(in[1]->getInt(width), overflow));
    out[1] = Val::boolean(overflow);
    return success();
  });
}

template <bool isSigned> static LogicalResult mulExtended(Exec &x, const Inst &inst) {
  return mapElements(x, inst, [](Exec &, const Inst &inst, const Val *const *in, Val *out) {
    unsigned width = inst.operandInfo.width;
    APInt a = in[0]->getInt(width), b = in[1]->getInt(width);
    APInt product = isSigned ? a.sext(2 * width) * b.sext(2 * width) : a.zext(2 * width) * b.zext(2 * width);
    out[0] = Val::integer(product.trunc(width));
    out[1] = Val::integer(product.extractBits(width, width));
    return success();
  });
}

static bool compareIntegers(arith::CmpIPredicate predicate, const APInt &a, const APInt &b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a.slt(b);
  case arith::CmpIPredicate::sle:
    return a.sle(b);
  case arith::CmpIPredicate::sgt:
    return a.sgt(b);
  case arith::CmpIPredicate::sge:
    return a.sge(b);
  case arith::CmpIPredicate::ult:
    return a.ult(b);
  case arith::CmpIPredicate::ule:
    return a.ule(b);
  case arith::CmpIPredicate::ugt:
    return a.ugt(b);
  case arith::CmpIPredicate::uge:
    return a.uge(b);
  }
  return false;
}

static LogicalResult cmpi(Exec &x, const Inst &inst, const Val &a, const Val &b, Val &out) {
  unsigned width = inst.operandInfo.width;
  auto predicate = static_cast<arith::CmpIPredicate>(inst.immediate);
  out.setScalar(compareIntegers(predicate, a.getInt(width), b.getInt(width)));
  return success();
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

// Halves are computed in double and rounded once: for these four operations the double's 53 bits are more
// than twice theirs plus two, so that rounding twice gives what rounding once would.
template <typename Op> static Val floatOperation(const ElementInfo &info, const Val &a, const Val &b) {
  switch (info.kind) {
  case ElementInfo::F32:
    return Val::scalar(fromFloat(Op::host(asFloat(a.getBits()), asFloat(b.getBits()))));
  case ElementInfo::F64:
    return Val::scalar(fromDouble(Op::host(asDouble(a.getBits()), asDouble(b.getBits()))));
  case ElementInfo::F16:
  case ElementInfo::BF16:
    return fromDouble(info, Op::host(toDouble(info, a), toDouble(info, b)));
  default:
    break;
  }
  APFloat number = a.getFloat(*info.semantics);
  Op::exact(number, b.getFloat(*info.semantics));
  return Val::floating(number);
}

namespace {
constexpr auto nearest = APFloat::rmNearestTiesToEven;
struct AddF {
  template <typename T> static T host(T a, T b) { return a + b; }
  static void exact(APFloat &a, const APFloat &b) { a.add(b, nearest); }
};
struct SubF {
  template <typename T> static T host(T a, T b) { return a - b; }
  static void exact(APFloat &a, const APFloat &b) { a.subtract(b, nearest); }
};
struct MulF {
  template <typename T> static T host(T a, T b) { return a * b; }
  static void exact(APFloat &a, const APFloat &b) { a.multiply(b, nearest); }
};
struct DivF {
  template <typename T> static T host(T a, T b) { return a / b; }
  static void exact(APFloat &a, const APFloat &b) { a.divide(b, nearest); }
};
struct RemF {
  template <typename T> static T host(T a, T b) { return std::fmod(a, b); }
  static void exact(APFloat &a, const APFloat &b) { a.mod(b); }
};
// minimum and maximum give NaN for NaN; minnum and maxnum give the other operand. -0.0 is less than +0.0 in
// all four.
template <typename T> static T smaller(T a, T b) {
  return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
template <typename T> static T larger(T a, T b) { return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b; }
struct MinimumF {
  template <typename T> static T host(T a, T b) {
    return std::isnan(a) ? a : std::isnan(b) ? b : smaller(a, b);
  }
  static void exact(APFloat &a, const APFloat &b) { a = llvm::minimum(a, b); }
};
struct MaximumF {
  template <typename T> static T host(T a, T b) {
    return std::isnan(a) ? a : std::isnan(b) ? b : larger(a, b);
  }
  static void exact(APFloat &a, const APFloat &b) { a = llvm::maximum(a, b); }
};
struct MinNumF {
  template <typename T> static T host(T a, T b) {
    return std::isnan(a) ? b : std::isnan(b) ? a : smaller(a, b);
  }
  static void exact(APFloat &a, const APFloat &b) { a = llvm::minnum(a, b); }
};
struct MaxNumF {
  template <typename T> static T host(T a, T b) {
    return std::isnan(a) ? b : std::isnan(b) ? a : larger(a, b);
  }
  static void exact(APFloat &a, const APFloat &b) { a = llvm::maxnum(a, b); }
};
} // namespace

template <typename Op>
static LogicalResult floatBinary(Exec &, const Inst &inst, const Val &a, const Val &b, Val &out) {
  if (inst.operandInfo.kind == ElementInfo::F32)
    out.setScalar(fromFloat(Op::host(asFloat(a.getBits()), asFloat(b.getBits()))));
  else
    out = floatOperation<Op>(inst.operandInfo, a, b);
  return success();
}

static LogicalResult negf(Exec &, const Inst &inst, const Val &a, Val &out) {
  const ElementInfo &info = inst.operandInfo;
  APInt bits = a.getInt(info.width);
  if (info.kind == ElementInfo::OtherFloat) {
    APFloat number = a.getFloat(*info.semantics);
    number.changeSign();
    bits = number.bitcastToAPInt();
  } else {
    bits.flipBit(info.width - 1);
  }
  out = Val::integer(bits);
  return success();
}

static LogicalResult cmpf(Exec &, const Inst &inst, const Val &a, const Val &b, Val &out) {
  const ElementInfo &info = inst.operandInfo;
  APFloat::cmpResult result;
  if (info.kind == ElementInfo::OtherFloat) {
    result = a.getFloat(*info.semantics).compare(b.getFloat(*info.semantics));
  } else {
    double p = toDouble(info, a), q = toDouble(info, b);
    result = std::isnan(p) || std::isnan(q) ? APFloat::cmpUnordered
             : p < q                        ? APFloat::cmpLessThan
             : p > q                        ? APFloat::cmpGreaterThan
                                            : APFloat::cmpEqual;
  }
  bool less = result == APFloat::cmpLessThan, greater = result == APFloat::cmpGreaterThan;
  bool equal = result == APFloat::cmpEqual, unordered = result == APFloat::cmpUnordered;
  bool value = false;
  switch (static_cast<arith::CmpFPredicate>(inst.immediate)) {
  case arith::CmpFPredicate::AlwaysFalse:
    value = false;
    break;
  case arith::CmpFPredicate::OEQ:
    value = equal;
    break;
  case arith::CmpFPredicate::OGT:
    value = greater;
    break;
  case arith::CmpFPredicate::OGE:
    value = greater || equal;
    break;
  case arith::CmpFPredicate::OLT:
    value = less;
    break;
  case arith::CmpFPredicate::OLE:
    value = less || equal;
    break;
  case arith::CmpFPredicate::ONE:
    value = less || greater;
    break;
  case arith::CmpFPredicate::ORD:
    value = !unordered;
    break;
  case arith::CmpFPredicate::UEQ:
    value = equal || unordered;
    break;
  case arith::CmpFPredicate::UGT:
    value = greater || unordered;
    break;
  case arith::CmpFPredicate::UGE:
    value = greater || equal || unordered;
    break;
  case arith::CmpFPredicate::ULT:
    value = less || unordered;
    break;
  case arith::CmpFPredicate::ULE:
    value = less || equal || unordered;
    break;
  case arith::CmpFPredicate::UNE:
    value = !equal;
    break;
  case arith::CmpFPredicate::UNO:
    value = unordered;
    break;
  case arith::CmpFPredicate::AlwaysTrue:
    value = true;
    break;
  }
  out.setScalar(value);
  return success();
}

//===----------------------------------------------------------------------===//
// Selection, constants, poison
//===----------------------------------------------------------------------===//

// Only the chosen operand has to be defined.
static LogicalResult select(Exec &x, const Inst &inst) {
  const Val &flag = x.in(inst, 0);
  if (flag.isUndef())
    return x.undefined(inst, "the condition is undefined");
  if (flag.getTag() != Val::Tensor) {
    x.out(inst) = x.in(inst, flag.getBits() ? 1 : 2);
    return success();
  }
  const Elements &flags = flag.elements(), &a = x.in(inst, 1).elements(), &b = x.in(inst, 2).elements();
  if (flags.shape != a.shape || flags.shape != b.shape)
    return x.error(inst, "has operands of different extents " + formatIndex(flags.shape) + ", " +
                             formatIndex(a.shape) + " and " + formatIndex(b.shape));
  Ref<Elements> result = new Elements(a.info, a.shape);
  for (int64_t e = 0, count = flags.size(); e < count; ++e) {
    Val choice = flags.load(e);
    if (!choice.isUndef())
      result->copyElement(e, choice.getBits() ? a : b, e);
    else
      result->store(e, Val());
  }
  x.out(inst) = Val::of(result.get());
  return success();
}

static LogicalResult constant(Exec &x, const Inst &inst) {
  if (inst.constant.isUndef())
    return x.error(inst, "is a constant that the oracle cannot represent");
  x.out(inst) = inst.constant;
  return success();
}

static LogicalResult poison(Exec &x, const Inst &inst) {
  auto shaped = dyn_cast<ShapedType>(inst.op->getResult(0).getType());
  if (shaped && shaped.hasStaticShape() && inst.isShaped)
    return x.allocate(inst, inst.resultInfo, shaped.getShape(), x.out(inst), /*isDefined=*/false);
  x.out(inst) = Val();
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions of two scalars
//===----------------------------------------------------------------------===//

Val oracle::addFloat(const ElementInfo &info, const Val &a, const Val &b) {
  return floatOperation<AddF>(info, a, b);
}
Val oracle::mulFloat(const ElementInfo &info, const Val &a, const Val &b) {
  return floatOperation<MulF>(info, a, b);
}

Val oracle::fmaFloat(const ElementInfo &info, const Val &a, const Val &b, const Val &c) {
  if (info.kind == ElementInfo::F32)
    return Val::scalar(fromFloat(std::fma(asFloat(a.getBits()), asFloat(b.getBits()), asFloat(c.getBits()))));
  if (info.kind == ElementInfo::F64)
    return Val::scalar(
        fromDouble(std::fma(asDouble(a.getBits()), asDouble(b.getBits()), asDouble(c.getBits()))));
  APFloat number = a.getFloat(*info.semantics);
  number.fusedMultiplyAdd(b.getFloat(*info.semantics), c.getFloat(*info.semantics), nearest);
  return Val::floating(number);
}

Val oracle::combineScalars(Combine kind, const ElementInfo &info, const Val &va, const Val &vb) {
  switch (kind) {
  case Combine::AddF:
    return floatOperation<AddF>(info, va, vb);
  case Combine::MulF:
    return floatOperation<MulF>(info, va, vb);
  case Combine::MinimumF:
    return floatOperation<MinimumF>(info, va, vb);
  case Combine::MaximumF:
    return floatOperation<MaximumF>(info, va, vb);
  case Combine::MinNumF:
    return floatOperation<MinNumF>(info, va, vb);
  case Combine::MaxNumF:
    return floatOperation<MaxNumF>(info, va, vb);
  default:
    break;
  }
  APInt a = va.getInt(info.width), b = vb.getInt(info.width);
  switch (kind) {
  case Combine::AddI:
    return Val::integer(a + b);
  case Combine::MulI:
    return Val::integer(a * b);
  case Combine::MinSI:
    return Val::integer(minSigned(a, b));
  case Combine::MaxSI:
    return Val::integer(maxSigned(a, b));
  case Combine::MinUI:
    return Val::integer(minUnsigned(a, b));
  case Combine::MaxUI:
    return Val::integer(maxUnsigned(a, b));
  case Combine::AndI:
    return Val::integer(a & b);
  case Combine::OrI:
    return Val::integer(a | b);
  default:
    return Val::integer(a ^ b);
  }
}

Val oracle::combineIdentity(Combine kind, const ElementInfo &info) {
  switch (kind) {
  // -0.0 and not +0.0: adding it changes nothing, not even the sign of a zero.
  case Combine::AddF:
    return Val::floating(APFloat::getZero(*info.semantics, /*Negative=*/true));
  case Combine::MulF:
    return Val::floating(APFloat(*info.semantics, 1));
  case Combine::MinimumF:
    return Val::floating(APFloat::getInf(*info.semantics));
  case Combine::MaximumF:
    return Val::floating(APFloat::getInf(*info.semantics, /*Negative=*/true));
  case Combine::MinNumF:
  case Combine::MaxNumF:
    return Val::floating(APFloat::getNaN(*info.semantics));
  case Combine::MulI:
    return Val::integer(APInt(info.width, 1));
  case Combine::MinSI:
    return Val::integer(APInt::getSignedMaxValue(info.width));
  case Combine::MaxSI:
    return Val::integer(APInt::getSignedMinValue(info.width));
  case Combine::MinUI:
  case Combine::AndI:
    return Val::integer(APInt::getAllOnes(info.width));
  default:
    return Val::integer(APInt::getZero(info.width));
  }
}

void oracle::addArith(HandlerTable &table) {
  table.add("arith.addi", binary<wrapping<AddI>>);
  table.add("arith.subi", binary<wrapping<SubI>>);
  table.add("arith.muli", binary<wrapping<MulI>>);
  table.add("arith.divsi", binary<divide<Division::Signed>>);
  table.add("arith.divui", binary<divide<Division::Unsigned>>);
  table.add("arith.ceildivsi", binary<divide<Division::CeilSigned>>);
  table.add("arith.ceildivui", binary<divide<Division::CeilUnsigned>>);
  table.add("arith.floordivsi", binary<divide<Division::FloorSigned>>);
  table.add("arith.remsi", binary<divide<Division::RemainderSigned>>);
  table.add("arith.remui", binary<divide<Division::RemainderUnsigned>>);
  table.add("arith.shli", binary<shift<Shift::Left>>);
  table.add("arith.shrsi", binary<shift<Shift::Arithmetic>>);
  table.add("arith.shrui", binary<shift<Shift::Logical>>);
  table.add("arith.andi", binary<total<bitAnd>>);
  table.add("arith.ori", binary<total<bitOr>>);
  table.add("arith.xori", binary<total<bitXor>>);
  table.add("arith.minsi", binary<total<minSigned>>);
  table.add("arith.maxsi", binary<total<maxSigned>>);
  table.add("arith.minui", binary<total<minUnsigned>>);
  table.add("arith.maxui", binary<total<maxUnsigned>>);
  table.add("arith.addui_extended", addExtended);
  table.add("arith.mulsi_extended", mulExtended<true>);
  table.add("arith.mului_extended", mulExtended<false>);
  table.add("arith.cmpi", binary<cmpi>);
  table.add("arith.addf", binary<floatBinary<AddF>>);
  table.add("arith.subf", binary<floatBinary<SubF>>);
  table.add("arith.mulf", binary<floatBinary<MulF>>);
  table.add("arith.divf", binary<floatBinary<DivF>>);
  table.add("arith.remf", binary<floatBinary<RemF>>);
  table.add("arith.minimumf", binary<floatBinary<MinimumF>>);
  table.add("arith.maximumf", binary<floatBinary<MaximumF>>);
  table.add("arith.minnumf", binary<floatBinary<MinNumF>>);
  table.add("arith.maxnumf", binary<floatBinary<MaxNumF>>);
  table.add("arith.negf", unary<negf>);
  table.add("arith.cmpf", binary<cmpf>);
  table.add("arith.select", select);
  table.add("arith.constant", constant);
  table.add("ub.poison", poison);
  // The index dialect is the same arithmetic on 64 bits.
  table.add("index.add", binary<wrapping<AddI>>);
  table.add("index.sub", binary<wrapping<SubI>>);
  table.add("index.mul", binary<wrapping<MulI>>);
  table.add("index.divs", binary<divide<Division::Signed>>);
  table.add("index.divu", binary<divide<Division::Unsigned>>);
  table.add("index.ceildivs", binary<divide<Division::CeilSigned>>);
  table.add("index.ceildivu", binary<divide<Division::CeilUnsigned>>);
  table.add("index.floordivs", binary<divide<Division::FloorSigned>>);
  table.add("index.rems", binary<divide<Division::RemainderSigned>>);
  table.add("index.remu", binary<divide<Division::RemainderUnsigned>>);
  table.add("index.shl", binary<shift<Shift::Left>>);
  table.add("index.shrs", binary<shift<Shift::Arithmetic>>);
  table.add("index.shru", binary<shift<Shift::Logical>>);
  table.add("index.and", binary<total<bitAnd>>);
  table.add("index.or", binary<total<bitOr>>);
  table.add("index.xor", binary<total<bitXor>>);
  table.add("index.mins", binary<total<minSigned>>);
  table.add("index.maxs", binary<total<maxSigned>>);
  table.add("index.minu", binary<total<minUnsigned>>);
  table.add("index.maxu", binary<total<maxUnsigned>>);
}
