// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the library on bytes and bits: memcpy and the like, and what processors have instructions for.
#include "tessera/frontends/heterocpp/Translator.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tessera;
using namespace tessera::heterocpp;

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

// Whether a number of bytes is known to be whole units.
static bool isMultiple(Value bytes, uint64_t unit) {
  if (unit == 1)
    return true;
  if (std::optional<int64_t> known = getConstantIntValue(bytes))
    return uint64_t(*known) % unit == 0;
  Operation *op = bytes.getDefiningOp();
  if (isa_and_present<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return isMultiple(op->getOperand(0), unit);
  if (isa_and_present<arith::AddIOp, arith::SubIOp>(op))
    return isMultiple(op->getOperand(0), unit) && isMultiple(op->getOperand(1), unit);
  if (isa_and_present<arith::MulIOp>(op))
    return isMultiple(op->getOperand(0), unit) || isMultiple(op->getOperand(1), unit);
  if (isa_and_present<arith::ShLIOp>(op))
    if (std::optional<int64_t> by = getConstantIntValue(op->getOperand(1)))
      return *by < 63 && (uint64_t(1) << *by) % unit == 0;
  return false;
}

Value Translator::asBits(Value v) {
  Type type = v.getType();
  return isa<FloatType>(type)
             ? arith::BitcastOp::create(b, current, b.getIntegerType(type.getIntOrFloatBitWidth()), v)
                   .getResult()
             : v;
}

void Translator::storeBits(const Place &to, Value index, Value bits) {
  if (bits.getType() != to.object->unit.type)
    bits = arith::BitcastOp::create(b, current, to.object->unit.type, bits);
  memref::StoreOp::create(b, current, bits, to.object->memory,
                          arith::AddIOp::create(b, current, to.offset, index).getResult());
}

// Writes `bytes` bytes: whole units, in the order that `backwards` says, then what is left of the last one.
void Translator::putBytes(const Place &to, Value bytes, Value backwards, function_ref<Value(Value)> bitsAt) {
  uint64_t unit = to.object->unit.bytes;
  Value one = constantIndex(1);
  Value count = unit > 1 ? arith::DivUIOp::create(b, current, bytes, constantIndex(unit)).getResult() : bytes;
  auto writeWhole = [&] {
    emitCounted(constantIndex(0), count, one, [&](Value i) {
      if (backwards) {
        Value last = arith::SubIOp::create(b, current, count, one);
        i = arith::SelectOp::create(b, current, backwards, arith::SubIOp::create(b, current, last, i), i);
      }
      storeBits(to, i, bitsAt(i));
    });
  };
  if (isMultiple(bytes, unit))
    return writeWhole();
  Value rest = arith::RemUIOp::create(b, current, bytes, constantIndex(unit));
  Value some = arith::CmpIOp::create(b, current, arith::CmpIPredicate::ne, rest, constantIndex(0));
  auto writeRest = [&] {
    Type type = b.getIntegerType(unit * 8);
    Value shift = arith::MulIOp::create(b, current, arith::IndexCastOp::create(b, current, type, rest),
                                        constant(type, 8));
    Value mask = arith::ShLIOp::create(b, current, constant(type, -1), shift);
    Value old = asBits(loadUnit(*to.object, arith::AddIOp::create(b, current, to.offset, count).getResult()));
    Value taken = arith::AndIOp::create(b, current, bitsAt(count),
                                        arith::XOrIOp::create(b, current, mask, constant(type, -1)));
    storeBits(to, count,
              arith::OrIOp::create(b, current, arith::AndIOp::create(b, current, old, mask), taken));
  };
  auto when = [&](Value condition) {
    emitIf(
        condition,
        [&] {
          writeRest();
          return Value();
        },
        [] { return Value(); });
  };
  mayAccess(*to.object, false, {});
  // Backwards the last one comes first.
  if (backwards)
    when(arith::AndIOp::create(b, current, some, backwards));
  writeWhole();
  if (backwards)
    some = arith::AndIOp::create(b, current, some,
                                 arith::XOrIOp::create(b, current, backwards, constant(b.getI1Type(), 1)));
  when(some);
}

// The first difference of two pieces of memory, as bytes.
Value Translator::compareBytes(const Place &l, const Place &r, Value bytes, Type result) {
  uint64_t unit = l.object->unit.bytes;
  unsigned found = newSlot(constant(result, 0));
  Value count = unit > 1 ? arith::DivUIOp::create(b, current, bytes, constantIndex(unit)).getResult() : bytes;
  emitCounted(constantIndex(0), count, constantIndex(1), [&](Value i) {
    auto read = [&](const Place &from) {
      return swapBytes(
          asBits(loadUnit(*from.object, arith::AddIOp::create(b, current, from.offset, i).getResult())));
    };
    Value x = read(l), y = read(r);
    auto is = [&](arith::CmpIPredicate predicate, Value a, Value c) {
      return arith::CmpIOp::create(b, current, predicate, a, c).getResult();
    };
    Value sign = arith::SelectOp::create(b, current, is(arith::CmpIPredicate::ult, x, y),
                                         constant(result, -1), constant(result, 1));
    Value isFirst = arith::AndIOp::create(b, current, is(arith::CmpIPredicate::ne, x, y),
                                          is(arith::CmpIPredicate::eq, slots[found], constant(result, 0)));
    slots[found] = arith::SelectOp::create(b, current, isFirst, sign, slots[found]);
  });
  return slots[found];
}

std::optional<RValue> Translator::emitBytes(StringRef name, const clang::CallExpr *call) {
  bool compares = name == "memcmp" || name == "bcmp";
  if ((name != "memcpy" && name != "memset" && name != "memmove" && !compares) || call->getNumArgs() != 3)
    return std::nullopt;
  clang::SourceLocation at = call->getExprLoc();
  Place to = resolve(emit(call->getArg(0)).place);
  RValue result = call->getType()->isPointerType() ? RValue::pointer(to) : zeroOf(call->getType(), at);
  Value bytes = emitIndex(call->getArg(2));
  if (!to.object) {
    unsupported(at, "'" + name + "' of a variable", "assign it, or use 'std::bit_cast'");
    return result;
  }
  uint64_t unit = to.object->unit.bytes;
  if (name == "memset") {
    Value byte = emitScalar(call->getArg(1));
    Type type = b.getIntegerType(unit * 8), given = byte.getType();
    if (given.getIntOrFloatBitWidth() > 8)
      byte = arith::TruncIOp::create(b, current, b.getI8Type(), byte);
    if (unit > 1) {
      byte = arith::ExtUIOp::create(b, current, type, byte);
      byte = arith::MulIOp::create(b, current, byte, constant(type, int64_t(0x0101010101010101)));
    }
    mayAccess(*to.object, true, at);
    putBytes(to, bytes, Value(), [&](Value) { return byte; });
    return result;
  }
  Place from = resolve(emit(call->getArg(1)).place);
  if (!from.object || from.object->unit.bytes != unit) {
    unsupported(at, "'" + name + "' between objects of different types", "write a loop");
    return result;
  }
  mayAccess(*from.object, false, at);
  if (compares) {
    mayAccess(*to.object, false, at);
    if (!isMultiple(bytes, unit)) {
      unsupported(at, "'" + name + "' of a part of an element", "compare whole elements");
      return result;
    }
    return RValue::of(compareBytes(to, from, bytes, valueType(call->getType(), b.getContext(), ast)));
  }
  mayAccess(*to.object, true, at);
  // What overlaps is read before it is written.
  Value backwards;
  if (name == "memmove" && to.object == from.object)
    backwards = arith::CmpIOp::create(b, current, arith::CmpIPredicate::ugt, to.offset, from.offset);
  putBytes(to, bytes, backwards, [&](Value i) {
    return asBits(loadUnit(*from.object, arith::AddIOp::create(b, current, from.offset, i).getResult()));
  });
  return result;
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

// The bytes of a number in the other order, by halves; with `bits` its bits.
Value Translator::reverse(Value v, bool bits) {
  Type type = v.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  for (unsigned half = width / 2; half >= (bits ? 1u : 8u); half /= 2) {
    // half = 8 of 32 bits: 0x00ff00ff
    APInt mask = APInt::getSplat(width, APInt::getLowBitsSet(2 * half, half));
    Value low = arith::ConstantOp::create(b, current, b.getIntegerAttr(type, mask)),
          by = constant(type, half);
    Value up = arith::ShLIOp::create(b, current, arith::AndIOp::create(b, current, v, low), by);
    Value down = arith::AndIOp::create(b, current, arith::ShRUIOp::create(b, current, v, by), low);
    v = arith::OrIOp::create(b, current, up, down);
  }
  return v;
}

Value Translator::swapBytes(Value v) { return reverse(v, /*bits=*/false); }

std::optional<RValue> Translator::emitBits(StringRef name, const clang::CallExpr *call) {
  using P = arith::CmpIPredicate;
  if (name.ends_with("_overflow") && call->getNumArgs() == 3)
    return emitOverflow(name.drop_back(9), call);
  if (call->getNumArgs() != 1 || !call->getArg(0)->getType()->isIntegerType())
    return std::nullopt;
  bool swaps = name.starts_with("bswap"), reverses = name.starts_with("bitreverse");
  StringRef bits = name;
  bits.consume_back("ll") || bits.consume_back("l");
  if (!swaps && !reverses &&
      !llvm::is_contained({"popcount", "clz", "ctz", "countl_zero", "countr_zero", "parity", "ffs", "clrsb"},
                          bits))
    return std::nullopt;
  Value v = emitScalar(call->getArg(0));
  Type type = v.getType();
  if (swaps || reverses)
    return RValue::of(reverse(v, reverses));
  Value n;
  if (bits == "popcount" || bits == "parity") {
    n = math::CtPopOp::create(b, current, v);
    if (bits == "parity")
      n = arith::AndIOp::create(b, current, n, constant(type, 1));
  } else if (bits == "clz" || bits == "countl_zero") {
    n = math::CountLeadingZerosOp::create(b, current, v);
  } else if (bits == "clrsb") {
    // Copies of the sign after the sign.
    Value sign = arith::ShRSIOp::create(b, current, v, constant(type, type.getIntOrFloatBitWidth() - 1));
    n = math::CountLeadingZerosOp::create(b, current, arith::XOrIOp::create(b, current, v, sign));
    n = arith::SubIOp::create(b, current, n, constant(type, 1));
  } else {
    n = math::CountTrailingZerosOp::create(b, current, v);
    if (bits == "ffs") {
      Value none = arith::CmpIOp::create(b, current, P::eq, v, constant(type, 0));
      n = arith::SelectOp::create(b, current, none, constant(type, 0),
                                  arith::AddIOp::create(b, current, n, constant(type, 1)));
    }
  }
  Type result = valueType(call->getType(), b.getContext(), ast);
  if (type.getIntOrFloatBitWidth() > result.getIntOrFloatBitWidth())
    n = arith::TruncIOp::create(b, current, result, n);
  else if (type != result)
    n = arith::ExtUIOp::create(b, current, result, n);
  return RValue::of(n);
}

// __builtin_add_overflow and its like, on three numbers of one type.
std::optional<RValue> Translator::emitOverflow(StringRef operation, const clang::CallExpr *call) {
  using P = arith::CmpIPredicate;
  clang::QualType type = call->getArg(0)->getType(), other = call->getArg(1)->getType(),
                  result = call->getArg(2)->getType()->getPointeeType();
  if (operation != "add" && operation != "sub" && operation != "mul")
    return std::nullopt;
  if (!ast.hasSameUnqualifiedType(type, other) || !ast.hasSameUnqualifiedType(type, result)) {
    unsupported(call->getExprLoc(), "'" + call->getDirectCallee()->getName() + "' of different types",
                "convert the numbers to one type");
    return zeroOf(call->getType(), call->getBeginLoc());
  }
  Value l = emitScalar(call->getArg(0)), r = emitScalar(call->getArg(1)), v, overflow;
  Type own = l.getType();
  Value none = constant(own, 0);
  auto is = [&](P predicate, Value a, Value c) {
    return arith::CmpIOp::create(b, current, predicate, a, c).getResult();
  };
  auto differ = [&](Value a, Value c) { return arith::XOrIOp::create(b, current, a, c).getResult(); };
  if (operation == "mul") {
    Value high;
    if (isSigned(type)) {
      auto product = arith::MulSIExtendedOp::create(b, current, l, r);
      v = product.getLow();
      high = product.getHigh();
      none = arith::ShRSIOp::create(b, current, v, constant(own, own.getIntOrFloatBitWidth() - 1));
    } else {
      auto product = arith::MulUIExtendedOp::create(b, current, l, r);
      v = product.getLow();
      high = product.getHigh();
    }
    overflow = is(P::ne, high, none);
  } else if (operation == "add") {
    v = arith::AddIOp::create(b, current, l, r);
    overflow = isSigned(type)
                   ? is(P::slt, arith::AndIOp::create(b, current, differ(l, v), differ(r, v)), none)
                   : is(P::ult, v, l);
  } else {
    v = arith::SubIOp::create(b, current, l, r);
    overflow = isSigned(type)
                   ? is(P::slt, arith::AndIOp::create(b, current, differ(l, r), differ(l, v)), none)
                   : is(P::ult, l, r);
  }
  Place to = emit(call->getArg(2)).place;
  store(to, RValue::of(v), call->getExprLoc());
  return RValue::of(overflow);
}
