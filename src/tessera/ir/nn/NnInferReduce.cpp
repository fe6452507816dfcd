// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result types of reductions, prefixes, extremes and softmax.
#include "tessera/ir/nn/NnInfer.h"

using namespace tessera;
using namespace tessera::nn;

// The shape without the axes, or with extent 1 there.
static FailureOr<SmallVector<int64_t>> reduceShape(Where where, Value x, ArrayRef<int64_t> axes, bool keep) {
  ArrayRef<int64_t> shape = shapeOf(x);
  SmallVector<bool> gone(shape.size(), false);
  for (int64_t axis : axes) {
    if (failed(checkAxis(where, axis, shape.size())))
      return failure();
    if (gone[axis])
      return where.emitError("expected each axis once, but got axis ", axis, " twice");
    gone[axis] = true;
  }
  SmallVector<int64_t> result;
  for (auto [i, extent] : llvm::enumerate(shape))
    if (!gone[i] || keep)
      result.push_back(gone[i] ? 1 : extent);
  return result;
}

NN_INFER(ReduceOp) {
  NN_WHERE(ReduceOp);
  FailureOr<SmallVector<int64_t>> shape = reduceShape(where, a.getX(), a.getAxes(), a.getKeep());
  if (failed(shape))
    return failure();
  results.push_back(RankedTensorType::get(*shape, elementOf(a.getX())));
  return success();
}
int64_t ReduceOp::getFlops() { return countElements(getX().getType()); }

NN_INFER(ArgReduceOp) {
  NN_WHERE(ArgReduceOp);
  FailureOr<SmallVector<int64_t>> shape = reduceShape(where, a.getX(), a.getAxis(), a.getKeep());
  if (failed(shape))
    return failure();
  results.push_back(RankedTensorType::get(*shape, IntegerType::get(context, 64)));
  return success();
}

NN_INFER(CumulativeOp) {
  NN_WHERE(CumulativeOp);
  if (failed(checkAxis(where, a.getAxis(), shapeOf(a.getX()).size())))
    return failure();
  if (a.getKind() != ReduceKind::sum && a.getKind() != ReduceKind::prod)
    return where.emitError("expected prefixes of kind 'sum' or 'prod', but got '",
                           stringifyReduceKind(a.getKind()), "'");
  results.push_back(a.getX().getType());
  return success();
}

NN_INFER(TopKOp) {
  NN_WHERE(TopKOp);
  SmallVector<int64_t> shape(shapeOf(a.getX()));
  if (failed(checkAxis(where, a.getAxis(), shape.size())))
    return failure();
  int64_t extent = shape[a.getAxis()];
  int64_t k = a.getK();
  if (k < 0 || (!ShapedType::isDynamic(extent) && k > extent))
    return where.emitError("expected k to be from 0 to the axis's extent ", extent, ", but got ", k);
  shape[a.getAxis()] = k;
  results.push_back(RankedTensorType::get(shape, elementOf(a.getX())));
  results.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}

NN_INFER(SoftmaxOp) {
  NN_WHERE(SoftmaxOp);
  if (failed(checkFloat(where, a.getX(), "x")) ||
      failed(checkAxis(where, a.getAxis(), shapeOf(a.getX()).size())))
    return failure();
  results.push_back(a.getX().getType());
  return success();
}
