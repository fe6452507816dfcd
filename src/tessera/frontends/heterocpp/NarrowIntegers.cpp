// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++ computes with `int` what is stored in fewer bits. The bits that are stored do not depend on those
// above, so the same is computed as narrow as it is stored: updates of narrow numbers are reductions, and
// lanes are full.
#include "tessera/frontends/heterocpp/Graph.h"

using namespace tessera;
using namespace tessera::heterocpp;

static bool isExtended(Value v, Type narrow) {
  Operation *op = v.getDefiningOp();
  return op && isa<arith::ExtUIOp, arith::ExtSIOp>(op) && op->getOperand(0).getType() == narrow;
}

static Value rebuild(OpBuilder &b, Operation *op, ValueRange operands) {
  // Nothing is known about overflow in the narrow type.
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(operands[0].getType());
  return b.create(state)->getResult(0);
}

// trunc(op(extend(a), b)) is op(a, trunc(b)) where the low bits of the result come from the low bits.
Value Translator::truncate(Value v, Type narrow) {
  Operation *op = v.getDefiningOp();
  if (op &&
      isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
      (isExtended(op->getOperand(0), narrow) || isExtended(op->getOperand(1), narrow)))
    return rebuild(b, op,
                   {b.createOrFold<arith::TruncIOp>(current, narrow, op->getOperand(0)),
                    b.createOrFold<arith::TruncIOp>(current, narrow, op->getOperand(1))});
  return b.createOrFold<arith::TruncIOp>(current, narrow, v);
}

// op(extend(a), extend(b)) != 0 is op(a, b) of truth values.
Value Translator::isNotZero(Value v) {
  Operation *op = v.getDefiningOp();
  Type truth = b.getI1Type();
  if (op && isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) && isExtended(op->getOperand(0), truth) &&
      isExtended(op->getOperand(1), truth))
    return rebuild(
        b, op,
        {op->getOperand(0).getDefiningOp()->getOperand(0), op->getOperand(1).getDefiningOp()->getOperand(0)});
  return b.createOrFold<arith::CmpIOp>(current, arith::CmpIPredicate::ne, v, zero(v.getType()));
}
