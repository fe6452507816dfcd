// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic operations on memory, in all their spellings.
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tessera;
using namespace tessera::heterocpp;

std::optional<RValue> Translator::emitAtomic(StringRef name, const clang::CallExpr *call) {
  // Where the operation works, and on what.
  Place place;
  SmallVector<const clang::Expr *> args(call->arg_begin(), call->arg_end());
  if (const auto *member = dyn_cast<clang::CXXMemberCallExpr>(call)) {
    // The reference that the atomic_ref was made from.
    const clang::Expr *object = member->getImplicitObjectArgument()->IgnoreParenImpCasts();
    if (const auto *temporary = dyn_cast<clang::MaterializeTemporaryExpr>(object))
      object = temporary->getSubExpr()->IgnoreParenImpCasts();
    while (true) {
      const clang::Expr *before = object;
      if (const auto *cast = dyn_cast<clang::CXXFunctionalCastExpr>(object))
        object = cast->getSubExpr()->IgnoreParenImpCasts();
      if (const auto *bound = dyn_cast<clang::CXXBindTemporaryExpr>(object))
        object = bound->getSubExpr()->IgnoreParenImpCasts();
      if (object == before)
        break;
    }
    const clang::CXXConstructExpr *made = dyn_cast<clang::CXXConstructExpr>(object);
    if (const auto *ref = dyn_cast<clang::DeclRefExpr>(object))
      if (const auto *var = dyn_cast<clang::VarDecl>(ref->getDecl()); var && var->getInit())
        made = dyn_cast<clang::CXXConstructExpr>(var->getInit()->IgnoreParenImpCasts());
    if (!made || made->getNumArgs() != 1) {
      unsupported(call->getExprLoc(), "this use of an atomic object",
                  "write 'std::atomic_ref(element).operation(value)'");
      return zeroOf(call->getType(), call->getBeginLoc());
    }
    place = emitPlace(made->getArg(0));
  } else {
    if (args.empty())
      return std::nullopt;
    RValue pointer = emit(args.front());
    place = pointer.place;
    if (place && args.front()->IgnoreParenImpCasts()->getType()->isPointerType())
      place.type = args.front()->IgnoreParenImpCasts()->getType()->getPointeeType();
    args.erase(args.begin());
  }
  return emitAtomicOn(name, place, args, call);
}

// Clang's own form of the builtins.
RValue Translator::emitAtomicExpr(const clang::AtomicExpr *expr) {
  Place place = emit(expr->getPtr()).place;
  if (place && expr->getPtr()->IgnoreParenImpCasts()->getType()->isPointerType())
    place.type = expr->getPtr()->IgnoreParenImpCasts()->getType()->getPointeeType();
  std::string name = expr->getOpAsString().str();
  SmallVector<const clang::Expr *> args;
  // Operands follow the address and the order; what is compared with comes first.
  if (expr->getNumSubExprs() > 2)
    args.push_back(expr->getVal1());
  if (expr->isCmpXChg() || expr->getOp() == clang::AtomicExpr::AO__atomic_exchange)
    args.push_back(expr->getVal2());
  if (std::optional<RValue> value = emitAtomicOn(name, place, args, expr))
    return *value;
  unsupported(expr->getExprLoc(), "'" + name + "'", "use an atomic addition, minimum, maximum or exchange");
  return zeroOf(expr->getType(), expr->getBeginLoc());
}

std::optional<RValue> Translator::emitAtomicOn(StringRef name, Place place,
                                               ArrayRef<const clang::Expr *> args, const clang::Expr *call) {
  place = resolve(place);
  for (StringRef prefix : {"__c11_atomic_", "__atomic_", "__sync_", "__hetero_atomic_", "__hpvm__atomic_"})
    name.consume_front(prefix);
  bool isNew = name.consume_back("_fetch") || name.ends_with("_and_fetch");
  name.consume_front("fetch_and_");
  name.consume_front("fetch_");
  name.consume_back("_n");
  // Clang names the __sync functions by the size.
  for (StringRef size : {"_1", "_2", "_4", "_8"})
    name.consume_back(size);
  isNew |= name.consume_back("_fetch");
  name.consume_back("_and");
  if (!place.object || !isScalar(place.type)) {
    unsupported(call->getExprLoc(), "an atomic operation on a local variable or an object",
                "use an ordinary operation, or an element of a buffer");
    return zeroOf(call->getType(), call->getBeginLoc());
  }
  // Without _n, values are passed and returned by their addresses.
  auto isAddress = [&](unsigned i) { return i < args.size() && args[i]->getType()->isPointerType(); };
  auto at = [&](unsigned i) { return resolve(emit(args[i]).place); };
  if (name == "load") {
    RValue v = load(place, call->getExprLoc());
    if (isAddress(0))
      store(at(0), v, call->getExprLoc());
    return v;
  }
  auto operand = [&](unsigned i) {
    if (isAddress(i))
      return load(at(i), args[i]->getBeginLoc()).scalar;
    RValue v = args[i]->isGLValue() ? load(emitPlace(args[i]), args[i]->getBeginLoc()) : emit(args[i]);
    return v.scalar ? convert(v.scalar, args[i]->getType().getNonReferenceType(), place.type) : Value();
  };
  if (args.empty())
    return std::nullopt;
  if (name == "store") {
    store(place, RValue::of(operand(0)), call->getExprLoc());
    return RValue();
  }
  mayAccess(*place.object, true, call->getExprLoc());
  Type type = memoryType(place.type, b.getContext(), ast);
  if (place.object->unit.type != type) {
    unsupported(call->getExprLoc(),
                "an atomic operation on a member of an object with members of different types",
                "keep the member in an array of its own");
    return zeroOf(call->getType(), call->getBeginLoc());
  }
  bool real = isa<FloatType>(type), sign = isSigned(place.type);
  std::optional<arith::AtomicRMWKind> kind =
      llvm::StringSwitch<std::optional<arith::AtomicRMWKind>>(name)
          .Cases({"add", "sub"}, real ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi)
          .Case("min", real   ? arith::AtomicRMWKind::minimumf
                       : sign ? arith::AtomicRMWKind::mins
                              : arith::AtomicRMWKind::minu)
          .Case("max", real   ? arith::AtomicRMWKind::maximumf
                       : sign ? arith::AtomicRMWKind::maxs
                              : arith::AtomicRMWKind::maxu)
          .Case("and", arith::AtomicRMWKind::andi)
          .Case("or", arith::AtomicRMWKind::ori)
          .Case("xor", arith::AtomicRMWKind::xori)
          .Cases({"exchange", "xchg"}, arith::AtomicRMWKind::assign)
          .Default(std::nullopt);
  if (kind) {
    Value v = operand(0);
    if (name == "sub")
      v = real ? arith::NegFOp::create(b, current, v).getResult()
               : arith::SubIOp::create(b, current, zero(type), v).getResult();
    if (v.getType() != type)
      v = arith::ExtUIOp::create(b, current, type, v);
    Value old = memref::AtomicRMWOp::create(b, current, type, *kind, v, place.object->memory, place.offset);
    if (isNew && (name == "min" || name == "max")) {
      Value less = compare(clang::BO_LT, old, v, place.type);
      return RValue::of(name == "min" ? arith::SelectOp::create(b, current, less, old, v)
                                      : arith::SelectOp::create(b, current, less, v, old));
    }
    if (isNew) {
      clang::BinaryOperatorKind op = llvm::StringSwitch<clang::BinaryOperatorKind>(name)
                                         .Case("and", clang::BO_And)
                                         .Case("or", clang::BO_Or)
                                         .Case("xor", clang::BO_Xor)
                                         .Default(clang::BO_Add);
      return RValue::of(arithmetic(op, old, v, place.type, call->getExprLoc()));
    }
    if (isAddress(1))
      store(at(1), RValue::of(old), call->getExprLoc());
    return RValue::of(old);
  }
  if (name.starts_with("compare_exchange") || name == "bool_compare_and_swap" ||
      name == "val_compare_and_swap" || name == "cas" || name == "cmpxchg") {
    // compare_exchange takes the expected value by reference and puts the old one there.
    bool standard = name.starts_with("compare_exchange");
    auto widened = [&](Value v) {
      return v && v.getType() != type ? arith::ExtUIOp::create(b, current, type, v).getResult() : v;
    };
    Place expectedPlace;
    Value expected, wanted;
    if (standard) {
      expectedPlace = resolve(args[0]->getType()->isPointerType() ? emit(args[0]).place : emitPlace(args[0]));
      expected = load(expectedPlace, call->getExprLoc()).scalar;
      wanted = operand(1);
    } else {
      expected = operand(0);
      wanted = operand(1);
    }
    expected = widened(expected);
    wanted = widened(wanted);
    if (!expected || !wanted)
      return zeroOf(call->getType(), call->getBeginLoc());
    // Floats are compared bit by bit, as C++ does it.
    auto isSameBits = [&](Value l, Value r) {
      if (real) {
        Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
        l = arith::BitcastOp::create(b, current, bits, l);
        r = arith::BitcastOp::create(b, current, bits, r);
      }
      return arith::CmpIOp::create(b, current, arith::CmpIPredicate::eq, l, r).getResult();
    };
    auto update = memref::GenericAtomicRMWOp::create(b, current, place.object->memory, place.offset);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(update.getBody());
      Value equal = isSameBits(update.getCurrentValue(), expected);
      Value next = arith::SelectOp::create(b, current, equal, wanted, update.getCurrentValue());
      memref::AtomicYieldOp::create(b, current, next);
    }
    // The operation gives the old value.
    Value old = update.getResult();
    Value done = isSameBits(old, expected);
    if (standard) {
      // Where it succeeded, the old value is the expected one: storing it changes nothing.
      Value seen = old;
      if (Type value = valueType(place.type, b.getContext(), ast); value != type)
        seen = arith::CmpIOp::create(b, current, arith::CmpIPredicate::ne, old, zero(type));
      store(expectedPlace, RValue::of(seen), call->getExprLoc());
      return RValue::of(done);
    }
    return name == "bool_compare_and_swap" ? RValue::of(done) : RValue::of(old);
  }
  return std::nullopt;
}
