// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result types of data movement.
#include "tessera/ir/nn/NnInfer.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace tessera;
using namespace tessera::nn;

NN_INFER(TransposeOp) {
  NN_WHERE(TransposeOp);
  ArrayRef<int64_t> x = shapeOf(a.getX());
  if (failed(checkList(where, a.getPermutation(), "permutation", x.size(), 0)))
    return failure();
  if (!isPermutationVector(a.getPermutation()))
    return where.emitError("expected each dimension once in the permutation, but got ",
                           describe(a.getPermutation()));
  SmallVector<int64_t> shape;
  for (int64_t dim : a.getPermutation())
    shape.push_back(x[dim]);
  results.push_back(RankedTensorType::get(shape, elementOf(a.getX())));
  return success();
}

NN_INFER(TileOp) {
  NN_WHERE(TileOp);
  ArrayRef<int64_t> x = shapeOf(a.getX());
  if (failed(checkList(where, a.getRepeats(), "repeats", x.size(), 0)))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [extent, repeat] : llvm::zip(x, a.getRepeats()))
    shape.push_back(mulExtents(extent, repeat));
  results.push_back(RankedTensorType::get(shape, elementOf(a.getX())));
  return success();
}

NN_INFER(ConcatOp) {
  NN_WHERE(ConcatOp);
  if (a.getInputs().empty())
    return where.emitError("expected at least one input, but got none");
  SmallVector<int64_t> shape(shapeOf(a.getInputs()[0]));
  int64_t axis = a.getAxis();
  if (failed(checkAxis(where, axis, shape.size())))
    return failure();
  for (auto [i, input] : llvm::enumerate(a.getInputs().drop_front())) {
    std::string what = "inputs[" + std::to_string(i + 1) + "]";
    if (failed(checkRank(where, input, what, shape.size())) ||
        failed(checkElement(where, input, what, elementOf(a.getInputs()[0]))))
      return failure();
    for (auto [dim, extent] : llvm::enumerate(shapeOf(input))) {
      if (static_cast<int64_t>(dim) == axis) {
        shape[dim] = addExtents(shape[dim], extent);
        continue;
      }
      if (failed(checkExtent(where, input, what, dim, shape[dim])))
        return failure();
      shape[dim] = known(shape[dim], extent);
    }
  }
  results.push_back(RankedTensorType::get(shape, elementOf(a.getInputs()[0])));
  return success();
}

NN_INFER(PadOp) {
  NN_WHERE(PadOp);
  ArrayRef<int64_t> x = shapeOf(a.getX());
  constexpr int64_t any = std::numeric_limits<int32_t>::min();
  if (failed(checkList(where, a.getLows(), "lows", x.size(), any)) ||
      failed(checkList(where, a.getHighs(), "highs", x.size(), any)))
    return failure();
  if (a.getValue() && (failed(checkElement(where, a.getValue(), "value", elementOf(a.getX()))) ||
                       failed(checkRank(where, a.getValue(), "value", 0))))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [extent, low, high] : llvm::zip(x, a.getLows(), a.getHighs())) {
    shape.push_back(addExtents(extent, low + high));
    if (shape.back() < 0 && !ShapedType::isDynamic(shape.back()))
      return where.emitError("expected borders that cut off at most the extent ", extent, ", but got ", low,
                             " and ", high);
    if (extent == 0 && shape.back() > 0 && a.getMode() != PadMode::constant)
      return where.emitError("expected elements to repeat in the border, but got ", a.getX().getType());
  }
  results.push_back(RankedTensorType::get(shape, elementOf(a.getX())));
  return success();
}

NN_INFER(TriluOp) {
  NN_WHERE(TriluOp);
  if (shapeOf(a.getX()).size() < 2)
    return where.emitError("expected 'x' to be a matrix or more, but got ", a.getX().getType());
  results.push_back(a.getX().getType());
  return success();
}

NN_INFER(ReverseSequenceOp) {
  NN_WHERE(ReverseSequenceOp);
  ArrayRef<int64_t> x = shapeOf(a.getX());
  int64_t rank = x.size();
  if (failed(checkAxis(where, a.getTimeAxis(), rank)) || failed(checkAxis(where, a.getBatchAxis(), rank)) ||
      failed(checkRank(where, a.getLengths(), "lengths", 1)) ||
      failed(checkInteger(where, a.getLengths(), "lengths")) ||
      failed(checkExtent(where, a.getLengths(), "lengths", 0, x[a.getBatchAxis()])))
    return failure();
  if (a.getTimeAxis() == a.getBatchAxis())
    return where.emitError("expected two axes, but got ", a.getTimeAxis(), " twice");
  results.push_back(a.getX().getType());
  return success();
}

NN_INFER(GatherOp) {
  NN_WHERE(GatherOp);
  ArrayRef<int64_t> x = shapeOf(a.getX());
  if (failed(checkAxis(where, a.getAxis(), x.size())) ||
      failed(checkInteger(where, a.getIndices(), "indices")))
    return failure();
  SmallVector<int64_t> shape(x.take_front(a.getAxis()));
  llvm::append_range(shape, shapeOf(a.getIndices()));
  llvm::append_range(shape, x.drop_front(a.getAxis() + 1));
  results.push_back(RankedTensorType::get(shape, elementOf(a.getX())));
  return success();
}

// Indices of the rank of x that stay inside it in all other dimensions.
static LogicalResult checkElements(Where where, Value x, Value indices, int64_t axis) {
  if (failed(checkAxis(where, axis, shapeOf(x).size())) || failed(checkInteger(where, indices, "indices")) ||
      failed(checkRank(where, indices, "indices", shapeOf(x).size())))
    return failure();
  for (auto [dim, extent] : llvm::enumerate(shapeOf(x)))
    if (static_cast<int64_t>(dim) != axis && !ShapedType::isDynamic(extent) && shapeOf(indices)[dim] > extent)
      return where.emitError("expected extent ", dim, " of 'indices' to be at most ", extent, ", but got ",
                             shapeOf(indices)[dim]);
  return success();
}

NN_INFER(GatherElementsOp) {
  NN_WHERE(GatherElementsOp);
  if (failed(checkElements(where, a.getX(), a.getIndices(), a.getAxis())))
    return failure();
  results.push_back(RankedTensorType::get(shapeOf(a.getIndices()), elementOf(a.getX())));
  return success();
}

NN_INFER(GatherNdOp) {
  NN_WHERE(GatherNdOp);
  ArrayRef<int64_t> x = shapeOf(a.getX()), indices = shapeOf(a.getIndices());
  int64_t batch = a.getBatchDims(), rank = x.size(), tupled = indices.size();
  if (failed(checkInteger(where, a.getIndices(), "indices")))
    return failure();
  if (batch < 0 || batch >= rank || batch >= tupled)
    return where.emitError("expected fewer batch dimensions than ranks ", rank, " and ", tupled, ", but got ",
                           batch);
  int64_t tuple = indices.back();
  if (ShapedType::isDynamic(tuple) || tuple < 1 || batch + tuple > rank)
    return where.emitError("expected tuples of 1 to ", rank - batch, " indices, but got ", tuple);
  for (int64_t dim = 0; dim < batch; ++dim)
    if (failed(checkExtent(where, a.getIndices(), "indices", dim, x[dim])))
      return failure();
  SmallVector<int64_t> shape(indices.drop_back());
  llvm::append_range(shape, x.drop_front(batch + tuple));
  results.push_back(RankedTensorType::get(shape, elementOf(a.getX())));
  return success();
}

NN_INFER(ScatterElementsOp) {
  NN_WHERE(ScatterElementsOp);
  if (failed(checkElements(where, a.getX(), a.getIndices(), a.getAxis())) ||
      failed(checkElement(where, a.getUpdates(), "updates", elementOf(a.getX()))) ||
      failed(checkRank(where, a.getUpdates(), "updates", shapeOf(a.getX()).size())))
    return failure();
  for (auto [dim, extent] : llvm::enumerate(shapeOf(a.getIndices())))
    if (failed(checkExtent(where, a.getUpdates(), "updates", dim, extent)))
      return failure();
  results.push_back(a.getX().getType());
  return success();
}

NN_INFER(ScatterNdOp) {
  NN_WHERE(ScatterNdOp);
  ArrayRef<int64_t> x = shapeOf(a.getX()), indices = shapeOf(a.getIndices());
  int64_t rank = x.size();
  if (failed(checkInteger(where, a.getIndices(), "indices")) ||
      failed(checkElement(where, a.getUpdates(), "updates", elementOf(a.getX()))))
    return failure();
  if (indices.empty() || ShapedType::isDynamic(indices.back()) || indices.back() > rank)
    return where.emitError("expected tuples of up to ", rank, " indices, but got ", a.getIndices().getType());
  SmallVector<int64_t> expected(indices.drop_back());
  llvm::append_range(expected, x.drop_front(indices.back()));
  if (failed(checkRank(where, a.getUpdates(), "updates", expected.size())))
    return failure();
  for (auto [dim, extent] : llvm::enumerate(expected))
    if (failed(checkExtent(where, a.getUpdates(), "updates", dim, extent)))
      return failure();
  results.push_back(a.getX().getType());
  return success();
}

NN_INFER(OneHotOp) {
  NN_WHERE(OneHotOp);
  SmallVector<int64_t> shape(shapeOf(a.getIndices()));
  if (failed(checkAxis(where, a.getAxis(), shape.size() + 1)) ||
      failed(checkRank(where, a.getValues(), "values", 1)) ||
      failed(checkExtent(where, a.getValues(), "values", 0, 2)))
    return failure();
  int64_t depth = a.getDepth();
  if (depth < 0)
    return where.emitError("expected a depth of at least 0, but got ", depth);
  shape.insert(shape.begin() + a.getAxis(), depth);
  results.push_back(RankedTensorType::get(shape, elementOf(a.getValues())));
  return success();
}
