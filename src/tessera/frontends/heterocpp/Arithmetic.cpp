// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators and conversions. Signed overflow has no meaning in C++, and the operations say so (nsw): index
// arithmetic can be widened because of it.
#include "tessera/frontends/heterocpp/Bases.h"
#include "tessera/frontends/heterocpp/Markers.h"
#include "tessera/frontends/heterocpp/Translator.h"

#include "clang/AST/ComparisonCategories.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace tessera;
using namespace tessera::heterocpp;

Value Translator::toBool(Value v) {
  Type type = v.getType();
  if (type.isInteger(1))
    return v;
  if (isa<FloatType>(type))
    return arith::CmpFOp::create(b, current, arith::CmpFPredicate::UNE, v, zero(type));
  return isNotZero(v);
}

Value Translator::convert(Value v, clang::QualType from, clang::QualType to) {
  Type source = v.getType(), target = valueType(to, b.getContext(), ast);
  if (!target || source == target)
    return v;
  if (to.getCanonicalType()->isBooleanType())
    return toBool(v);
  bool fromSigned = isSigned(from), toSigned = isSigned(to);
  if (isa<FloatType>(source) && isa<FloatType>(target)) {
    if (target.getIntOrFloatBitWidth() > source.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, current, target, v);
    if (target.getIntOrFloatBitWidth() == source.getIntOrFloatBitWidth())
      v = arith::ExtFOp::create(b, current, b.getF32Type(), v);
    return arith::TruncFOp::create(b, current, target, v);
  }
  if (isa<FloatType>(source))
    return toSigned ? arith::FPToSIOp::create(b, current, target, v).getResult()
                    : arith::FPToUIOp::create(b, current, target, v).getResult();
  if (isa<FloatType>(target))
    return fromSigned ? arith::SIToFPOp::create(b, current, target, v).getResult()
                      : arith::UIToFPOp::create(b, current, target, v).getResult();
  unsigned width = target.getIntOrFloatBitWidth(), old = source.getIntOrFloatBitWidth();
  if (width < old)
    return truncate(v, target);
  if (fromSigned && old > 1)
    return b.createOrFold<arith::ExtSIOp>(current, target, v);
  return b.createOrFold<arith::ExtUIOp>(current, target, v);
}

// `#pragma clang fp reassociate(on)`, and the flags that imply it, let a sum be computed in vectors.
static Value allowRegrouping(Value v, const clang::BinaryOperator *op, const clang::ASTContext &ast) {
  if (Operation *made = v.getDefiningOp();
      made && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(made) &&
      op->getFPFeaturesInEffect(ast.getLangOpts()).getAllowFPReassociate()) {
    auto fast = cast<arith::ArithFastMathInterface>(made);
    made->setAttr(fast.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(made->getContext(), arith::FastMathFlags::reassoc));
  }
  return v;
}

Value Translator::arithmetic(clang::BinaryOperatorKind kind, Value l, Value r, clang::QualType type,
                             clang::SourceLocation at) {
  bool sign = isSigned(type);
  auto flags = sign ? arith::IntegerOverflowFlags::nsw : arith::IntegerOverflowFlags::none;
  if (isa<FloatType>(l.getType()))
    switch (kind) {
    case clang::BO_Add:
      return arith::AddFOp::create(b, current, l, r);
    case clang::BO_Sub:
      return arith::SubFOp::create(b, current, l, r);
    case clang::BO_Mul:
      return arith::MulFOp::create(b, current, l, r);
    case clang::BO_Div:
      return arith::DivFOp::create(b, current, l, r);
    default:
      break;
    }
  // The right side of a shift has a type of its own.
  if ((kind == clang::BO_Shl || kind == clang::BO_Shr) && l.getType() != r.getType()) {
    if (r.getType().getIntOrFloatBitWidth() < l.getType().getIntOrFloatBitWidth())
      r = arith::ExtUIOp::create(b, current, l.getType(), r);
    else
      r = arith::TruncIOp::create(b, current, l.getType(), r);
  }
  switch (kind) {
  case clang::BO_Add:
    return arith::AddIOp::create(b, current, l, r, flags);
  case clang::BO_Sub:
    return arith::SubIOp::create(b, current, l, r, flags);
  case clang::BO_Mul:
    return arith::MulIOp::create(b, current, l, r, flags);
  case clang::BO_Div:
    return sign ? arith::DivSIOp::create(b, current, l, r).getResult()
                : arith::DivUIOp::create(b, current, l, r).getResult();
  case clang::BO_Rem:
    return sign ? arith::RemSIOp::create(b, current, l, r).getResult()
                : arith::RemUIOp::create(b, current, l, r).getResult();
  case clang::BO_Shl:
    return arith::ShLIOp::create(b, current, l, r);
  case clang::BO_Shr:
    return sign ? arith::ShRSIOp::create(b, current, l, r).getResult()
                : arith::ShRUIOp::create(b, current, l, r).getResult();
  case clang::BO_And:
    return arith::AndIOp::create(b, current, l, r);
  case clang::BO_Or:
    return arith::OrIOp::create(b, current, l, r);
  case clang::BO_Xor:
    return arith::XOrIOp::create(b, current, l, r);
  default:
    unsupported(at, "this operator", "write it with other operators");
    return l;
  }
}

Value Translator::compare(clang::BinaryOperatorKind kind, Value l, Value r, clang::QualType type) {
  if (isa<FloatType>(l.getType())) {
    using P = arith::CmpFPredicate;
    P predicate = kind == clang::BO_LT   ? P::OLT
                  : kind == clang::BO_LE ? P::OLE
                  : kind == clang::BO_GT ? P::OGT
                  : kind == clang::BO_GE ? P::OGE
                  : kind == clang::BO_EQ ? P::OEQ
                                         : P::UNE;
    return arith::CmpFOp::create(b, current, predicate, l, r);
  }
  using P = arith::CmpIPredicate;
  bool sign = l.getType().isIndex() || isSigned(type);
  P predicate = kind == clang::BO_LT   ? (sign ? P::slt : P::ult)
                : kind == clang::BO_LE ? (sign ? P::sle : P::ule)
                : kind == clang::BO_GT ? (sign ? P::sgt : P::ugt)
                : kind == clang::BO_GE ? (sign ? P::sge : P::uge)
                : kind == clang::BO_EQ ? P::eq
                                       : P::ne;
  return arith::CmpIOp::create(b, current, predicate, l, r);
}

// Pointers into one object by their offsets; a buffer is never null.
RValue Translator::comparePointers(const clang::BinaryOperator *op) {
  RValue l = emit(op->getLHS()), r = emit(op->getRHS());
  Place left = resolve(l.place), right = resolve(r.place);
  if (left.object && left.object == right.object)
    return RValue::of(compare(op->getOpcode(), left.offset, right.offset, op->getType()));
  testForNull(l.place, op->getExprLoc());
  testForNull(r.place, op->getExprLoc());
  bool equal = left.storage == right.storage && left.object == right.object;
  if ((left && right && !equal) || !op->isEqualityOp()) {
    if (!op->isEqualityOp())
      unsupported(op->getExprLoc(), "a comparison of pointers to different objects", "compare indices");
  }
  return RValue::of(constant(b.getI1Type(), (op->getOpcode() == clang::BO_EQ) == equal));
}

// l <=> r: an object whose one member says which.
RValue Translator::emitThreeWay(const clang::BinaryOperator *op) {
  const clang::ComparisonCategoryInfo *info = ast.CompCategories.lookupInfoForType(op->getType());
  Type type = info ? valueType(info->Record->field_begin()->getType(), b.getContext(), ast) : Type();
  if (!type) {
    unsupported(op->getExprLoc(), "this operator", "write it with other operators");
    return zeroOf(op->getType(), op->getBeginLoc());
  }
  Value l = emitScalar(op->getLHS()), r = emitScalar(op->getRHS());
  clang::QualType compared = op->getLHS()->getType();
  auto code = [&](const clang::ComparisonCategoryInfo::ValueInfo *value) {
    return constant(type, value->getIntValue().getExtValue());
  };
  Value v = code(info->isPartial() ? info->getUnordered() : info->getEqualOrEquiv());
  auto choose = [&](clang::BinaryOperatorKind kind, const clang::ComparisonCategoryInfo::ValueInfo *value) {
    v = arith::SelectOp::create(b, current, compare(kind, l, r, compared), code(value), v);
  };
  choose(clang::BO_EQ, info->getEqualOrEquiv());
  choose(clang::BO_LT, info->getLess());
  choose(clang::BO_GT, info->getGreater());
  RValue result{RValue::Aggregate, {}, {}, {}};
  result.parts.push_back(RValue::of(v));
  return result;
}

RValue Translator::emitBinary(const clang::BinaryOperator *op) {
  clang::BinaryOperatorKind kind = op->getOpcode();
  if (kind == clang::BO_Assign)
    return emitAssign(op);
  if (kind == clang::BO_Comma) {
    emit(op->getLHS());
    return emit(op->getRHS());
  }
  if (kind == clang::BO_LAnd || kind == clang::BO_LOr) {
    Value left = emitCondition(op->getLHS());
    auto right = [&] { return emitCondition(op->getRHS()); };
    auto known = [&] { return constant(b.getI1Type(), kind == clang::BO_LOr); };
    return RValue::of(kind == clang::BO_LAnd ? emitIf(left, right, known) : emitIf(left, known, right));
  }
  const clang::Expr *lhs = op->getLHS(), *rhs = op->getRHS();
  if (lhs->getType()->isAnyComplexType() || rhs->getType()->isAnyComplexType())
    return emitComplex(op);
  bool leftPointer = lhs->getType()->isPointerType() || lhs->getType()->isNullPtrType(),
       rightPointer = rhs->getType()->isPointerType() || rhs->getType()->isNullPtrType();
  if (op->isComparisonOp() && (leftPointer || rightPointer))
    return comparePointers(op);
  if (leftPointer && rightPointer) {
    Place l = resolve(emit(lhs).place), r = resolve(emit(rhs).place);
    if (!l.object || l.object != r.object) {
      unsupported(op->getExprLoc(), "the difference of pointers to different objects", "subtract indices");
      return RValue::of(zero(b.getI64Type()));
    }
    Value units = arith::SubIOp::create(b, current, l.offset, r.offset);
    uint64_t each =
        ast.getTypeSizeInChars(lhs->getType()->getPointeeType()).getQuantity() / l.object->unit.bytes;
    if (each > 1)
      units = arith::DivSIOp::create(b, current, units, constantIndex(each));
    return RValue::of(arith::IndexCastOp::create(b, current, b.getI64Type(), units));
  }
  if (leftPointer || rightPointer) {
    const clang::Expr *pointer = leftPointer ? lhs : rhs, *number = leftPointer ? rhs : lhs;
    RValue value = emit(pointer);
    Value index = emitIndex(number);
    if (!value.place)
      return value;
    if (kind == clang::BO_Sub)
      index = arith::SubIOp::create(b, current, constantIndex(0), index);
    value.place.type = pointer->getType()->getPointeeType();
    return RValue::pointer(elementOf(value.place, index, op->getExprLoc()));
  }
  if (kind == clang::BO_Cmp && isScalar(lhs->getType()))
    return emitThreeWay(op);
  Value l = emitScalar(lhs), r = emitScalar(rhs);
  if (op->isComparisonOp() && kind != clang::BO_Cmp)
    return RValue::of(compare(kind, l, r, lhs->getType()));
  return RValue::of(allowRegrouping(arithmetic(kind, l, r, op->getType(), op->getExprLoc()), op, ast));
}

RValue Translator::emitAssign(const clang::BinaryOperator *op, Place *written) {
  RValue value = emit(op->getRHS());
  Place place = emitPlace(op->getLHS());
  if (written)
    *written = place;
  store(place, value, op->getExprLoc());
  return value;
}

RValue Translator::emitCompound(const clang::CompoundAssignOperator *op, Place *written) {
  clang::BinaryOperatorKind kind = clang::BinaryOperator::getOpForCompoundAssignment(op->getOpcode());
  clang::QualType type = op->getLHS()->getType();
  if (type->isAnyComplexType() || op->getRHS()->getType()->isAnyComplexType())
    return emitComplex(op, written);
  if (type->isPointerType()) {
    Value index = emitIndex(op->getRHS());
    Place place = emitPlace(op->getLHS());
    if (written)
      *written = place;
    RValue value = load(place, op->getExprLoc());
    if (kind == clang::BO_Sub)
      index = arith::SubIOp::create(b, current, constantIndex(0), index);
    value.place.type = type->getPointeeType();
    value = RValue::pointer(elementOf(value.place, index, op->getExprLoc()));
    store(place, value, op->getExprLoc());
    return value;
  }
  Value right = emitScalar(op->getRHS());
  Place place = emitPlace(op->getLHS());
  if (written)
    *written = place;
  RValue old = load(place, op->getExprLoc());
  if (!old.scalar)
    return old;
  // The operation may be done in another type than the variable's.
  clang::QualType wide = op->getComputationLHSType();
  Value left = convert(old.scalar, type, wide);
  // What is taken away from memory is added with the other sign: such updates are reductions, too.
  if (kind == clang::BO_Sub && resolve(place).object) {
    kind = clang::BO_Add;
    right = isa<FloatType>(right.getType())
                ? arith::NegFOp::create(b, current, right).getResult()
                : b.createOrFold<arith::SubIOp>(current, zero(right.getType()), right);
  }
  Value result = arithmetic(kind, left, right, op->getComputationResultType(), op->getExprLoc());
  result = allowRegrouping(result, op, ast);
  RValue value = RValue::of(convert(result, op->getComputationResultType(), type));
  store(place, value, op->getExprLoc());
  return value;
}

RValue Translator::emitUnary(const clang::UnaryOperator *op, Place *written) {
  clang::QualType type = op->getSubExpr()->getType();
  if (type->isAnyComplexType())
    if (std::optional<RValue> value = emitComplex(op))
      return *value;
  switch (op->getOpcode()) {
  case clang::UO_Plus:
    return emit(op->getSubExpr());
  case clang::UO_Minus: {
    Value v = emitScalar(op->getSubExpr());
    if (isa<FloatType>(v.getType()))
      return RValue::of(arith::NegFOp::create(b, current, v));
    return RValue::of(arithmetic(clang::BO_Sub, zero(v.getType()), v, op->getType(), op->getExprLoc()));
  }
  case clang::UO_Not: {
    Value v = emitScalar(op->getSubExpr());
    return RValue::of(arith::XOrIOp::create(b, current, v, constant(v.getType(), -1)));
  }
  case clang::UO_LNot: {
    Value v = emitCondition(op->getSubExpr());
    return RValue::of(arith::XOrIOp::create(b, current, v, constant(b.getI1Type(), 1)));
  }
  case clang::UO_AddrOf:
    return RValue::pointer(emitPlace(op->getSubExpr()));
  case clang::UO_Deref:
    return load(emitPlace(op), op->getExprLoc());
  case clang::UO_Extension:
    return emit(op->getSubExpr());
  case clang::UO_PreInc:
  case clang::UO_PreDec:
  case clang::UO_PostInc:
  case clang::UO_PostDec: {
    Place place = emitPlace(op->getSubExpr());
    if (written)
      *written = place;
    RValue old = load(place, op->getExprLoc()), value;
    bool up = op->isIncrementOp();
    if (type->isPointerType()) {
      old.place.type = type->getPointeeType();
      value = RValue::pointer(elementOf(old.place, constantIndex(up ? 1 : -1), op->getExprLoc()));
    } else if (old.scalar) {
      Type t = old.scalar.getType();
      Value one = isa<FloatType>(t)
                      ? arith::ConstantOp::create(b, current, b.getFloatAttr(t, 1.0)).getResult()
                      : constant(t, 1);
      value =
          RValue::of(arithmetic(up ? clang::BO_Add : clang::BO_Sub, old.scalar, one, type, op->getExprLoc()));
    } else {
      return old;
    }
    store(place, value, op->getExprLoc());
    return op->isPrefix() ? value : old;
  }
  default:
    unsupported(op->getExprLoc(), "this operator", "write it with other operators");
    return zeroOf(op->getType(), op->getBeginLoc());
  }
}

RValue Translator::emitCast(const clang::CastExpr *cast) {
  const clang::Expr *inner = cast->getSubExpr();
  MarkerKind marker;
  if (cast->getType()->isPointerType() && isa<clang::CallExpr>(inner->IgnoreParens()) &&
      findMarker(inner, marker) && marker == MarkerKind::Scratch)
    castTo = cast->getType()->getPointeeType();
  switch (cast->getCastKind()) {
  case clang::CK_LValueToRValue: {
    // A constant of the program stands for its value.
    if (const auto *ref = dyn_cast<clang::DeclRefExpr>(inner->IgnoreParens()))
      if (const auto *var = dyn_cast<clang::VarDecl>(ref->getDecl());
          var &&
          (ref->isNonOdrUse() == clang::NOUR_Constant || var->isConstexpr() ||
           (var->getType().isConstQualified() && !var->isLocalVarDeclOrParm())) &&
          isScalar(cast->getType()))
        if (std::optional<RValue> value = emitConstant(cast))
          return *value;
    if (const auto *choice = dyn_cast<clang::ConditionalOperator>(inner->IgnoreParens()))
      return emitConditional(choice);
    return load(emitPlace(inner), cast->getExprLoc());
  }
  case clang::CK_NoOp:
  case clang::CK_ConstructorConversion:
  case clang::CK_UserDefinedConversion:
    return inner->isGLValue() && !cast->isGLValue() ? load(emitPlace(inner), cast->getExprLoc())
                                                    : emit(inner);
  case clang::CK_IntegralCast:
  case clang::CK_IntegralToFloating:
  case clang::CK_FloatingToIntegral:
  case clang::CK_FloatingCast:
  case clang::CK_BooleanToSignedIntegral:
  case clang::CK_IntegralToBoolean:
  case clang::CK_FloatingToBoolean: {
    Value v = emitScalar(inner);
    if (!valueType(cast->getType(), b.getContext(), ast)) {
      unsupportedType(cast->getType(), cast->getBeginLoc());
      return RValue();
    }
    return RValue::of(convert(v, inner->getType(), cast->getType()));
  }
  case clang::CK_PointerToBoolean: {
    RValue pointer = emit(inner);
    testForNull(pointer.place, cast->getExprLoc());
    return RValue::of(constant(b.getI1Type(), bool(pointer.place)));
  }
  case clang::CK_NullToPointer:
    return zeroOf(cast->getType(), cast->getBeginLoc());
  case clang::CK_ArrayToPointerDecay: {
    Place place = emitPlace(inner);
    return place ? RValue::pointer(decay(place)) : zeroOf(cast->getType(), cast->getBeginLoc());
  }
  case clang::CK_BitCast: {
    RValue value = emit(inner);
    if (value.place)
      value.place.type = cast->getType()->getPointeeType();
    return value;
  }
  case clang::CK_ToVoid:
    if (!inner->isGLValue())
      emit(inner);
    else if (inner->HasSideEffects(ast))
      emitPlace(inner);
    return RValue();
  case clang::CK_DerivedToBase:
  case clang::CK_UncheckedDerivedToBase: {
    if (cast->getType()->isPointerType()) {
      if (const clang::CXXRecordDecl *moving = findMovingBase(cast)) {
        unsupported(cast->getExprLoc(), nameMovingBase(moving), movingBaseRemedy);
        return zeroOf(cast->getType(), cast->getBeginLoc());
      }
      RValue value = emit(inner);
      if (value.place) {
        value.place.type = inner->getType()->getPointeeType();
        value.place = baseOf(value.place, cast->getType()->getPointeeType()->getAsCXXRecordDecl());
      }
      return value;
    }
    return load(emitPlace(cast), cast->getExprLoc());
  }
  case clang::CK_LValueToRValueBitCast: {
    Type to = memoryType(cast->getType(), b.getContext(), ast),
         from = memoryType(inner->getType(), b.getContext(), ast);
    if (!to || !from || cast->getType()->isBooleanType() || inner->getType()->isBooleanType())
      break;
    Value v = load(emitPlace(inner), cast->getExprLoc()).scalar;
    return RValue::of(to == from ? v : arith::BitcastOp::create(b, current, to, v).getResult());
  }
  case clang::CK_LValueBitCast:
    return load(emitPlace(cast), cast->getExprLoc());
  default:
    if (std::optional<RValue> value = emitComplexCast(cast))
      return *value;
    break;
  }
  unsupported(cast->getExprLoc(), Twine("a conversion of the kind '") + cast->getCastKindName() + "'",
              "keep the value in its own type");
  return zeroOf(cast->getType(), cast->getBeginLoc());
}
