// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex numbers, C's own and those of std::complex, which are made of them: classes of two parts. Products
// and quotients follow their formulas; what has no number as its result is not turned into an infinity.
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace tessera;
using namespace tessera::heterocpp;

static RValue make(Value real, Value imaginary) {
  RValue value;
  value.kind = RValue::Aggregate;
  value.parts = {RValue::of(real), RValue::of(imaginary)};
  return value;
}

Place Translator::emitPart(const clang::UnaryOperator *op) {
  Place place = resolve(emitPlace(op->getSubExpr()));
  clang::QualType part = getPartType(op->getSubExpr()->getType());
  bool second = op->getOpcode() == clang::UO_Imag;
  if (part.isNull() || !place)
    return place;
  if (place.storage && place.storage->parts.size() == 2)
    return {part, place.storage->parts[second].get(), nullptr, Value()};
  if (second && place.object)
    place.offset = arith::AddIOp::create(
        b, current, place.offset,
        constantIndex(ast.getTypeSizeInChars(part).getQuantity() / place.object->unit.bytes));
  place.type = part;
  return place;
}

std::pair<Value, Value> Translator::emitParts(const clang::Expr *expr) {
  clang::QualType part = getPartType(expr->getType());
  if (part.isNull()) {
    Value real = emitScalar(expr);
    return {real, Value()};
  }
  RValue value = emit(expr);
  if (value.parts.size() == 2 && value.parts[0].scalar && value.parts[1].scalar)
    return {value.parts[0].scalar, value.parts[1].scalar};
  Type type = valueType(part, b.getContext(), ast);
  if (!type)
    unsupportedType(part, expr->getBeginLoc());
  Value none = zero(type ? type : b.getF64Type());
  return {none, none};
}

RValue Translator::complexArithmetic(clang::BinaryOperatorKind kind, std::pair<Value, Value> l,
                                     std::pair<Value, Value> r) {
  auto [a, bi] = l;
  auto [c, d] = r;
  auto add = [&](Value x, Value y) -> Value { return arith::AddFOp::create(b, current, x, y); };
  auto subtract = [&](Value x, Value y) -> Value { return arith::SubFOp::create(b, current, x, y); };
  auto multiply = [&](Value x, Value y) -> Value { return arith::MulFOp::create(b, current, x, y); };
  auto divide = [&](Value x, Value y) -> Value { return arith::DivFOp::create(b, current, x, y); };
  switch (kind) {
  case clang::BO_Add:
    return make(add(a, c), !bi ? d : !d ? bi : add(bi, d));
  case clang::BO_Sub:
    return make(subtract(a, c), !d    ? bi
                                : !bi ? arith::NegFOp::create(b, current, d).getResult()
                                      : subtract(bi, d));
  case clang::BO_Mul:
    if (!bi || !d)
      return make(multiply(a, c), bi ? multiply(bi, c) : multiply(a, d));
    return make(subtract(multiply(a, c), multiply(bi, d)), add(multiply(a, d), multiply(bi, c)));
  default:
    break;
  }
  if (!d)
    return make(divide(a, c), divide(bi, c));
  if (!bi)
    bi = zero(a.getType());
  // The divisor is brought near one, so that its square is neither too large nor too small.
  Value larger = arith::MaximumFOp::create(b, current, math::AbsFOp::create(b, current, c),
                                           math::AbsFOp::create(b, current, d));
  Value by = arith::SubIOp::create(b, current, constant(b.getI32Type(), 0), splitExponent(larger).second);
  c = scale(c, by);
  d = scale(d, by);
  Value square = add(multiply(c, c), multiply(d, d));
  Value real = divide(add(multiply(a, c), multiply(bi, d)), square);
  Value imaginary = divide(subtract(multiply(bi, c), multiply(a, d)), square);
  return make(scale(real, by), scale(imaginary, by));
}

bool Translator::isSupportedComplex(const clang::BinaryOperator *op) {
  for (const clang::Expr *side : {op->getLHS(), op->getRHS()})
    if (clang::QualType part = getPartType(side->getType());
        side->getType()->isAnyComplexType() && (part.isNull() || !isScalar(part))) {
      unsupportedType(side->getType(), op->getExprLoc());
      return false;
    }
  return true;
}

RValue Translator::emitComplex(const clang::BinaryOperator *op) {
  if (!isSupportedComplex(op))
    return zeroOf(op->getType(), op->getBeginLoc());
  std::pair<Value, Value> l = emitParts(op->getLHS()), r = emitParts(op->getRHS());
  if (!op->isEqualityOp())
    return complexArithmetic(op->getOpcode(), l, r);
  auto same = [&](Value x, Value y) -> Value {
    return arith::CmpFOp::create(b, current, arith::CmpFPredicate::OEQ, x, y);
  };
  Value none = zero(l.first.getType());
  Value equal = arith::AndIOp::create(b, current, same(l.first, r.first),
                                      same(l.second ? l.second : none, r.second ? r.second : none));
  if (op->getOpcode() == clang::BO_NE)
    equal = arith::XOrIOp::create(b, current, equal, constant(b.getI1Type(), 1));
  return RValue::of(equal);
}

std::optional<RValue> Translator::emitComplex(const clang::UnaryOperator *op) {
  clang::UnaryOperatorKind kind = op->getOpcode();
  if (kind != clang::UO_Minus && kind != clang::UO_Not && kind != clang::UO_Real && kind != clang::UO_Imag)
    return std::nullopt;
  if (clang::QualType part = getPartType(op->getSubExpr()->getType()); part.isNull() || !isScalar(part)) {
    unsupportedType(op->getSubExpr()->getType(), op->getExprLoc());
    return zeroOf(op->getType(), op->getBeginLoc());
  }
  if (op->isGLValue())
    return load(emitPart(op), op->getExprLoc());
  auto [real, imaginary] = emitParts(op->getSubExpr());
  if (kind == clang::UO_Real || kind == clang::UO_Imag)
    return RValue::of(kind == clang::UO_Real ? real : imaginary);
  return make(kind == clang::UO_Minus ? arith::NegFOp::create(b, current, real).getResult() : real,
              arith::NegFOp::create(b, current, imaginary));
}

RValue Translator::emitComplex(const clang::CompoundAssignOperator *op, Place *written) {
  if (!isSupportedComplex(op))
    return zeroOf(op->getType(), op->getBeginLoc());
  std::pair<Value, Value> r = emitParts(op->getRHS());
  Place place = emitPlace(op->getLHS());
  if (written)
    *written = place;
  RValue old = load(place, op->getExprLoc());
  clang::QualType own = getPartType(op->getLHS()->getType()), wide = getPartType(op->getComputationLHSType());
  if (old.parts.size() != 2 || own.isNull() || wide.isNull()) {
    unsupported(op->getExprLoc(), "this operator", "write it with other operators");
    return old;
  }
  auto widen = [&](unsigned i) { return convert(old.parts[i].scalar, own, wide); };
  RValue value = complexArithmetic(clang::BinaryOperator::getOpForCompoundAssignment(op->getOpcode()),
                                   {widen(0), widen(1)}, r);
  for (RValue &part : value.parts)
    part.scalar = convert(part.scalar, wide, own);
  store(place, value, op->getExprLoc());
  return value;
}

std::optional<RValue> Translator::emitComplexCast(const clang::CastExpr *cast) {
  const clang::Expr *inner = cast->getSubExpr();
  clang::QualType from = getPartType(inner->getType()), to = getPartType(cast->getType());
  switch (cast->getCastKind()) {
  case clang::CK_FloatingRealToComplex: {
    Value real = emitScalar(inner);
    return make(real, zero(real.getType()));
  }
  case clang::CK_FloatingComplexToReal:
    return RValue::of(emitParts(inner).first);
  case clang::CK_FloatingComplexCast: {
    auto [real, imaginary] = emitParts(inner);
    return make(convert(real, from, to), convert(imaginary, from, to));
  }
  case clang::CK_FloatingComplexToBoolean: {
    auto [real, imaginary] = emitParts(inner);
    return RValue::of(arith::OrIOp::create(b, current, toBool(real), toBool(imaginary)));
  }
  default:
    return std::nullopt;
  }
}

std::optional<RValue> Translator::emitComplexMath(StringRef name, const clang::CallExpr *call) {
  if (name == "complex" && call->getNumArgs() == 2) {
    Value real = emitScalar(call->getArg(0));
    return make(real, emitScalar(call->getArg(1)));
  }
  if (call->getNumArgs() != 1 || getPartType(call->getArg(0)->getType()).isNull())
    return std::nullopt;
  name.consume_back("f");
  if (name != "creal" && name != "cimag" && name != "conj" && name != "cabs" && name != "carg" &&
      name != "cexp")
    return std::nullopt;
  auto [real, imaginary] = emitParts(call->getArg(0));
  if (name == "creal")
    return RValue::of(real);
  if (name == "cimag")
    return RValue::of(imaginary);
  if (name == "conj")
    return make(real, arith::NegFOp::create(b, current, imaginary));
  if (name == "cabs")
    return RValue::of(hypotenuse(real, imaginary));
  if (name == "carg")
    return RValue::of(math::Atan2Op::create(b, current, imaginary, real));
  Value size = math::ExpOp::create(b, current, real);
  return make(arith::MulFOp::create(b, current, size, math::CosOp::create(b, current, imaginary)),
              arith::MulFOp::create(b, current, size, math::SinOp::create(b, current, imaginary)));
}
