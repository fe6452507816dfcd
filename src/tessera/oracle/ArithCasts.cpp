// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between numbers, and constants. A float that an integer cannot hold is an error, not some
// value.
#include "tessera/oracle/Interpreter.h"

#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace tessera;
using namespace tessera::oracle;

template <bool isSigned> static LogicalResult resize(Exec &, const Inst &inst, const Val &a, Val &out) {
  APInt value = a.getInt(inst.operandInfo.width);
  unsigned width = inst.resultInfo.width;
  out = Val::integer(isSigned ? value.sextOrTrunc(width) : value.zextOrTrunc(width));
  return success();
}

static LogicalResult trunci(Exec &x, const Inst &inst, const Val &a, Val &out) {
  unsigned from = inst.operandInfo.width, to = inst.resultInfo.width;
  APInt value = a.getInt(from), result = value.trunc(to);
  auto flags = static_cast<arith::IntegerOverflowFlags>(inst.immediate);
  if (bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nsw) && result.sext(from) != value)
    return x.error(inst, "overflows as a signed number although it is marked 'nsw'");
  if (bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nuw) && result.zext(from) != value)
    return x.error(inst, "overflows as an unsigned number although it is marked 'nuw'");
  out = Val::integer(result);
  return success();
}

template <bool isSigned> static LogicalResult intToFloat(Exec &, const Inst &inst, const Val &a, Val &out) {
  APInt value = a.getInt(inst.operandInfo.width);
  APFloat number = APFloat::getZero(*inst.resultInfo.semantics);
  number.convertFromAPInt(value, isSigned, APFloat::rmNearestTiesToEven);
  out = Val::floating(number);
  return success();
}

template <bool isSigned> static LogicalResult floatToInt(Exec &x, const Inst &inst, const Val &a, Val &out) {
  APFloat number = a.getFloat(*inst.operandInfo.semantics);
  llvm::APSInt value(inst.resultInfo.width, /*isUnsigned=*/!isSigned);
  bool isExact;
  if (number.convertToInteger(value, APFloat::rmTowardZero, &isExact) == APFloat::opInvalidOp) {
    SmallString<16> text;
    number.toString(text);
    return x.error(inst, "converts " + Twine(text) + ", which does not fit into " +
                             Twine(inst.resultInfo.width) + (isSigned ? " signed bits" : " unsigned bits"));
  }
  out = Val::integer(value);
  return success();
}

static APFloat::roundingMode roundingOf(Operation *op) {
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  if (!truncation || !truncation.getRoundingmode())
    return APFloat::rmNearestTiesToEven;
  switch (*truncation.getRoundingmode()) {
  case arith::RoundingMode::to_nearest_even:
    return APFloat::rmNearestTiesToEven;
  case arith::RoundingMode::downward:
    return APFloat::rmTowardNegative;
  case arith::RoundingMode::upward:
    return APFloat::rmTowardPositive;
  case arith::RoundingMode::toward_zero:
    return APFloat::rmTowardZero;
  case arith::RoundingMode::to_nearest_away:
    return APFloat::rmNearestTiesToAway;
  }
  return APFloat::rmNearestTiesToEven;
}

static LogicalResult floatToFloat(Exec &, const Inst &inst, const Val &a, Val &out) {
  const ElementInfo &from = inst.operandInfo, &to = inst.resultInfo;
  if (from.kind == ElementInfo::F32 && to.kind == ElementInfo::F64) {
    out.setScalar(fromDouble(static_cast<double>(asFloat(a.getBits()))));
    return success();
  }
  APFloat number = a.getFloat(*from.semantics);
  bool lost;
  number.convert(*to.semantics, roundingOf(inst.op), &lost);
  out = Val::floating(number);
  return success();
}

static LogicalResult bitcast(Exec &, const Inst &, const Val &a, Val &out) {
  out = a;
  return success();
}

//===----------------------------------------------------------------------===//
// The index dialect's own
//===----------------------------------------------------------------------===//

static LogicalResult indexCompare(Exec &, const Inst &inst, const Val &va, const Val &vb, Val &out) {
  APInt a = va.getInt(64), b = vb.getInt(64);
  bool value = false;
  switch (cast<index::CmpOp>(inst.op).getPred()) {
  case index::IndexCmpPredicate::EQ:
    value = a == b;
    break;
  case index::IndexCmpPredicate::NE:
    value = a != b;
    break;
  case index::IndexCmpPredicate::SLT:
    value = a.slt(b);
    break;
  case index::IndexCmpPredicate::SLE:
    value = a.sle(b);
    break;
  case index::IndexCmpPredicate::SGT:
    value = a.sgt(b);
    break;
  case index::IndexCmpPredicate::SGE:
    value = a.sge(b);
    break;
  case index::IndexCmpPredicate::ULT:
    value = a.ult(b);
    break;
  case index::IndexCmpPredicate::ULE:
    value = a.ule(b);
    break;
  case index::IndexCmpPredicate::UGT:
    value = a.ugt(b);
    break;
  case index::IndexCmpPredicate::UGE:
    value = a.uge(b);
    break;
  }
  out.setScalar(value);
  return success();
}

static LogicalResult indexConstant(Exec &x, const Inst &inst) {
  x.out(inst) = Val::index(cast<index::ConstantOp>(inst.op).getValue().getSExtValue());
  return success();
}

static LogicalResult indexBool(Exec &x, const Inst &inst) {
  x.out(inst) = Val::boolean(cast<index::BoolConstantOp>(inst.op).getValue());
  return success();
}

static LogicalResult indexSize(Exec &x, const Inst &inst) {
  x.out(inst) = Val::index(64);
  return success();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

// A resource's bytes are little endian and dense; i1 takes a bit in upstream's layout, which nobody writes by
// hand.
static std::optional<Val> resourceValue(DenseResourceElementsAttr attr, ElementInfo info, ShapedType type) {
  AsmResourceBlob *blob = attr.getRawHandle().getBlob();
  if (!blob || info.isWide() || info.width % 8)
    return std::nullopt;
  ArrayRef<char> bytes = blob->getData();
  unsigned size = info.width / 8;
  Ref<Elements> elements = new Elements(info, type.getShape());
  if (static_cast<int64_t>(bytes.size()) != elements->size() * size)
    return std::nullopt;
  for (int64_t e = 0, count = elements->size(); e < count; ++e)
    std::memcpy(&elements->data[e], &bytes[e * size], size);
  return Val::of(elements.get());
}

std::optional<Val> oracle::constantValue(Attribute value, Type type) {
  ElementInfo info = ElementInfo::get(type);
  if (info.kind == ElementInfo::None)
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return Val::integer(integer.getValue());
  if (auto floating = dyn_cast<FloatAttr>(value))
    return Val::floating(floating.getValue());
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return std::nullopt;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return resourceValue(resource, info, shaped);
  auto dense = dyn_cast<ElementsAttr>(value);
  if (!dense)
    return std::nullopt;
  Ref<Elements> elements = new Elements(info, shaped.getShape());
  // Weights are many: as bytes when they are stored so.
  auto stored = dyn_cast<DenseIntOrFPElementsAttr>(value);
  if (stored && !stored.isSplat() && !info.isWide() && info.width % 8 == 0) {
    ArrayRef<char> bytes = stored.getRawData();
    unsigned size = info.width / 8;
    for (int64_t i = 0, count = elements->size(); i < count; ++i)
      std::memcpy(&elements->data[i], &bytes[i * size], size);
    return Val::of(elements.get());
  }
  int64_t e = 0;
  if (info.isFloat()) {
    auto values = dense.tryGetValues<APFloat>();
    if (!values)
      return std::nullopt;
    for (const APFloat &v : *values)
      elements->store(e++, Val::floating(v));
  } else {
    auto values = dense.tryGetValues<APInt>();
    if (!values)
      return std::nullopt;
    for (const APInt &v : *values)
      elements->store(e++, Val::integer(v));
  }
  return Val::of(elements.get());
}

void oracle::addArithCasts(HandlerTable &table) {
  table.add("arith.extsi", unary<resize<true>>);
  table.add("arith.extui", unary<resize<false>>);
  table.add("arith.index_cast", unary<resize<true>>);
  table.add("arith.index_castui", unary<resize<false>>);
  table.add("arith.trunci", unary<trunci>);
  table.add("arith.sitofp", unary<intToFloat<true>>);
  table.add("arith.uitofp", unary<intToFloat<false>>);
  table.add("arith.fptosi", unary<floatToInt<true>>);
  table.add("arith.fptoui", unary<floatToInt<false>>);
  table.add("arith.extf", unary<floatToFloat>);
  table.add("arith.truncf", unary<floatToFloat>);
  table.add("arith.bitcast", unary<bitcast>);
  table.add("tensor.bitcast", unary<bitcast>);
  table.add("index.casts", unary<resize<true>>);
  table.add("index.castu", unary<resize<false>>);
  table.add("index.cmp", binary<indexCompare>);
  table.add("index.constant", indexConstant);
  table.add("index.bool.constant", indexBool);
  table.add("index.sizeof", indexSize);
}
