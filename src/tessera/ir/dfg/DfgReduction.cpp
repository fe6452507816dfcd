// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions as IR: identities and how two values combine. (The oracle has its own arithmetic.)
#include "tessera/ir/dfg/Dfg.h"

#include "mlir/IR/IRMapping.h"

using namespace tessera;
using namespace tessera::dfg;

bool dfg::isFloatReduction(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::AddF:
  case ReductionKind::MulF:
  case ReductionKind::MinimumF:
  case ReductionKind::MaximumF:
  case ReductionKind::MinNumF:
  case ReductionKind::MaxNumF:
    return true;
  default:
    return false;
  }
}

static arith::AtomicRMWKind toArith(ReductionKind kind) {
  switch (kind) {
  case ReductionKind::AddF:
    return arith::AtomicRMWKind::addf;
  case ReductionKind::AddI:
    return arith::AtomicRMWKind::addi;
  case ReductionKind::MulF:
    return arith::AtomicRMWKind::mulf;
  case ReductionKind::MulI:
    return arith::AtomicRMWKind::muli;
  case ReductionKind::MinimumF:
    return arith::AtomicRMWKind::minimumf;
  case ReductionKind::MaximumF:
    return arith::AtomicRMWKind::maximumf;
  case ReductionKind::MinNumF:
    return arith::AtomicRMWKind::minnumf;
  case ReductionKind::MaxNumF:
    return arith::AtomicRMWKind::maxnumf;
  case ReductionKind::MinSI:
    return arith::AtomicRMWKind::mins;
  case ReductionKind::MaxSI:
    return arith::AtomicRMWKind::maxs;
  case ReductionKind::MinUI:
    return arith::AtomicRMWKind::minu;
  case ReductionKind::MaxUI:
    return arith::AtomicRMWKind::maxu;
  case ReductionKind::AndI:
    return arith::AtomicRMWKind::andi;
  case ReductionKind::OrI:
    return arith::AtomicRMWKind::ori;
  case ReductionKind::XOrI:
    return arith::AtomicRMWKind::xori;
  }
  llvm_unreachable("all kinds are listed");
}

TypedAttr dfg::getIdentity(ReductionKind kind, Type type) {
  OpBuilder b(type.getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &sem = floatType.getFloatSemantics();
    switch (kind) {
    // Strictly, -0.0 is the identity; a sum that starts at +0.0 is what everybody writes, also over nothing.
    case ReductionKind::AddF:
      return b.getFloatAttr(type, APFloat::getZero(sem, /*Negative=*/true));
    case ReductionKind::MulF:
      return b.getFloatAttr(type, APFloat(sem, 1));
    case ReductionKind::MinimumF:
      return b.getFloatAttr(type, APFloat::getInf(sem));
    case ReductionKind::MaximumF:
      return b.getFloatAttr(type, APFloat::getInf(sem, /*Negative=*/true));
    case ReductionKind::MinNumF:
    case ReductionKind::MaxNumF:
      return b.getFloatAttr(type, APFloat::getNaN(sem));
    default:
      return {};
    }
  }
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  switch (kind) {
  case ReductionKind::AddI:
  case ReductionKind::OrI:
  case ReductionKind::XOrI:
  case ReductionKind::MaxUI:
    return b.getIntegerAttr(type, APInt::getZero(width));
  case ReductionKind::MulI:
    return b.getIntegerAttr(type, APInt(width, 1));
  case ReductionKind::AndI:
  case ReductionKind::MinUI:
    return b.getIntegerAttr(type, APInt::getAllOnes(width));
  case ReductionKind::MinSI:
    return b.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  case ReductionKind::MaxSI:
    return b.getIntegerAttr(type, APInt::getSignedMinValue(width));
  default:
    return {};
  }
}

TypedAttr dfg::getIdentity(ReductionAttr reduction, Type type, Operation *from) {
  if (reduction.getKind())
    return getIdentity(*reduction.getKind(), type);
  auto combiner = SymbolTable::lookupNearestSymbolFrom<CombinerOp>(from, reduction.getCombiner());
  return combiner ? combiner.getIdentity() : TypedAttr();
}

Value dfg::buildCombine(OpBuilder &b, Location loc, ReductionKind kind, Value lhs, Value rhs,
                        arith::FastMathFlags flags) {
  Value v = arith::getReductionOp(toArith(kind), b, loc, lhs, rhs);
  if (flags != arith::FastMathFlags::none)
    if (auto fast = v.getDefiningOp<arith::ArithFastMathInterface>())
      fast->setAttr(fast.getFastMathAttrName(), arith::FastMathFlagsAttr::get(b.getContext(), flags));
  return v;
}

Value dfg::buildCombine(OpBuilder &b, Location loc, ReductionAttr reduction, Value lhs, Value rhs,
                        Operation *from, arith::FastMathFlags flags) {
  if (reduction.getKind())
    return buildCombine(b, loc, *reduction.getKind(), lhs, rhs, flags);
  auto combiner = SymbolTable::lookupNearestSymbolFrom<CombinerOp>(from, reduction.getCombiner());
  Block &body = combiner.getBody().front();
  IRMapping map;
  map.map(body.getArgument(0), lhs);
  map.map(body.getArgument(1), rhs);
  for (Operation &op : body.without_terminator())
    b.clone(op, map);
  return map.lookupOrDefault(body.getTerminator()->getOperand(0));
}
