// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of what knobs make of layers.
#include "tessera/ir/nn/NnInfer.h"

using namespace tessera;
using namespace tessera::nn;

std::optional<std::pair<int64_t, int64_t>> nn::partOf(int64_t i, int64_t rate, int64_t offset) {
  int64_t r = i % rate;
  if (r == offset)
    return std::nullopt;
  return std::pair(r - (r > offset), i / rate);
}

LogicalResult InterpolateOp::verify() {
  Where where{getLoc(), getOperationName()};
  RankedTensorType y = typeOf(getY());
  int64_t rate = getRate(), offset = getOffset();
  if ((y.getRank() != 4 && y.getRank() != 5) ||
      llvm::any_of(y.getShape().drop_front(), ShapedType::isDynamic))
    return emitOpError("expected a result N x C x H x W or N x C1 x H x W x c, static but for N, but got ")
           << y;
  if (rate < 2 || offset < 0 || offset >= rate || (!getRows() && !getColumns()))
    return emitOpError("expected 'rows' or 'columns', a rate of at least 2 and an offset below it, but got ")
           << rate << " and " << offset;
  int64_t rowParts = getRows() ? rate - 1 : 1, columnParts = getColumns() ? rate - 1 : 1;
  if (static_cast<int64_t>(getParts().size()) != rowParts * columnParts)
    return emitOpError("expected ") << rowParts * columnParts << " parts, but got " << getParts().size();
  // Rows of part p: those of y that are in it.
  auto extent = [&](bool split, int64_t whole, int64_t p) {
    return split ? (whole - (p + (p >= offset)) + rate - 1) / rate : whole;
  };
  for (auto [i, part] : llvm::enumerate(getParts())) {
    int64_t p = static_cast<int64_t>(i);
    if (failed(checkRank(where, part, "part", y.getRank())) ||
        failed(checkElement(where, part, "part", y.getElementType())))
      return failure();
    for (int64_t d = 0; d < y.getRank(); ++d) {
      int64_t whole = y.getDimSize(d);
      if (d == 2)
        whole = extent(getRows(), whole, p / columnParts);
      if (d == 3)
        whole = extent(getColumns(), whole, p % columnParts);
      if (failed(checkExtent(where, part, "part", d, whole)))
        return failure();
      if (d >= 2 && whole < 1)
        return emitOpError("expected parts that are not empty, but got ") << part.getType();
    }
  }
  return success();
}

NN_INFER(SplitOp) {
  NN_WHERE(SplitOp);
  RankedTensorType x = typeOf(a.getX());
  if (failed(checkElement(where, a.getX(), "x", Float32Type::get(context))))
    return failure();
  if (x.getRank() < 2 || x.isDynamicDim(1))
    return where.emitError("expected x to be N x C x ... with a known C, but got ", x);
  SmallVector<int64_t> shape(x.getShape());
  shape[1] *= 3;
  results.push_back(RankedTensorType::get(shape, BFloat16Type::get(context)));
  return success();
}

NN_INFER(NoiseOp) {
  NN_WHERE(NoiseOp);
  if (failed(checkFloat(where, a.getX(), "x")))
    return failure();
  results.push_back(a.getX().getType());
  return success();
}
