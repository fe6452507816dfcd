// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations ask of numbers that only their kernels see: indices, lengths and divisors. Each becomes a
// `fault.require`, which gives something harmless where the number does not fit and makes the launch fail.
#include "tessera/ir/fault/Fault.h"
#include "tessera/transforms/nn/lower/Elements.h"

using namespace tessera;
using namespace tessera::nn;

static Value require(OpBuilder &b, Location loc, Value ok, Value value, Value instead, Value reported,
                     Value limit, StringRef kind, const Twine &what) {
  return fault::RequireOp::create(b, loc, value.getType(), ok, value, instead, reported, limit,
                                  b.getStringAttr(kind), b.getStringAttr(what), IntegerAttr());
}

static Value toIndex(OpBuilder &b, Location loc, Value v) {
  return v.getType().isIndex() ? v : arith::IndexCastOp::create(b, loc, b.getIndexType(), v).getResult();
}

Value nn::emitIndex(OpBuilder &b, Location loc, Value element, Value extent, const Twine &what) {
  Value id = toIndex(b, loc, element), zero = indexOf(b, loc, 0);
  Value negative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, id, zero);
  Value place = arith::SelectOp::create(b, loc, negative, arith::AddIOp::create(b, loc, id, extent), id);
  // As unsigned numbers: what is still negative is larger than any extent.
  Value ok = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, place, extent);
  return require(b, loc, ok, place, zero, id, extent, "index", what);
}

Value nn::emitOffset(OpBuilder &b, Location loc, Value element, Value extent, const Twine &what) {
  Value id = toIndex(b, loc, element);
  Value ok = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, id, extent);
  return require(b, loc, ok, id, indexOf(b, loc, 0), id, extent, "offset", what);
}

Value nn::emitLength(OpBuilder &b, Location loc, Value element, Value extent, const Twine &what) {
  Value length = toIndex(b, loc, element);
  Value ok = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, length, extent);
  return require(b, loc, ok, length, indexOf(b, loc, 0), length, extent, "length", what);
}

Value nn::emitDivisor(OpBuilder &b, Location loc, Value y, const Twine &what) {
  Value zero = integerOf(b, loc, y.getType(), 0), one = integerOf(b, loc, y.getType(), 1);
  Value ok = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, y, zero);
  return require(b, loc, ok, y, one, y, zero, "divisor", what);
}
