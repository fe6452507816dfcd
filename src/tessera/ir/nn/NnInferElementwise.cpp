// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result types of elementwise operations.
#include "tessera/ir/nn/NnInfer.h"

using namespace tessera;
using namespace tessera::nn;

NN_INFER(UnaryOp) {
  NN_WHERE(UnaryOp);
  UnaryKind kind = a.getKind();
  bool either =
      kind == UnaryKind::abs || kind == UnaryKind::neg || kind == UnaryKind::sign || kind == UnaryKind::relu;
  bool integer = kind == UnaryKind::not_ || kind == UnaryKind::popcount;
  if (integer ? failed(checkInteger(where, a.getX(), "x"))
              : !either && failed(checkFloat(where, a.getX(), "x")))
    return failure();
  Type element = isPredicate(kind) ? IntegerType::get(context, 1) : elementOf(a.getX());
  results.push_back(RankedTensorType::get(shapeOf(a.getX()), element));
  return success();
}

NN_INFER(ActivationOp) {
  NN_WHERE(ActivationOp);
  if (a.getKind() != ActivationKind::clip && a.getKind() != ActivationKind::shrink &&
      a.getKind() != ActivationKind::leaky_relu && failed(checkFloat(where, a.getX(), "x")))
    return failure();
  results.push_back(a.getX().getType());
  return success();
}

NN_INFER(BinaryOp) {
  NN_WHERE(BinaryOp);
  BinaryKind kind = a.getKind();
  if (failed(checkElement(where, a.getB(), "b", elementOf(a.getA()))))
    return failure();
  bool bits = kind == BinaryKind::and_ || kind == BinaryKind::or_ || kind == BinaryKind::xor_ ||
              kind == BinaryKind::shl || kind == BinaryKind::shr;
  if (bits && failed(checkInteger(where, a.getA(), "a")))
    return failure();
  FailureOr<SmallVector<int64_t>> shape = broadcastShapes(shapeOf(a.getA()), shapeOf(a.getB()));
  if (failed(shape))
    return where.emitError("expected operands that broadcast against each other, but got shapes ",
                           describe(shapeOf(a.getA())), " and ", describe(shapeOf(a.getB())));
  results.push_back(
      RankedTensorType::get(*shape, isComparison(kind) ? IntegerType::get(context, 1) : elementOf(a.getA())));
  return success();
}

NN_INFER(SelectOp) {
  NN_WHERE(SelectOp);
  if (failed(checkElement(where, a.getCondition(), "condition", IntegerType::get(context, 1))) ||
      failed(checkElement(where, a.getB(), "b", elementOf(a.getA()))))
    return failure();
  FailureOr<SmallVector<int64_t>> shape =
      broadcastShapes({shapeOf(a.getCondition()), shapeOf(a.getA()), shapeOf(a.getB())});
  if (failed(shape))
    return where.emitError("expected three operands that broadcast against each other, but got shapes ",
                           describe(shapeOf(a.getCondition())), ", ", describe(shapeOf(a.getA())), " and ",
                           describe(shapeOf(a.getB())));
  results.push_back(RankedTensorType::get(*shape, elementOf(a.getA())));
  return success();
}
