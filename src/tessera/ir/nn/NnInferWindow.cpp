// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result types of pools, of what looks at neighbours, and of sampling at given places.
#include "tessera/ir/nn/NnInfer.h"

using namespace tessera;
using namespace tessera::nn;

// N C places…
template <typename Adaptor>
static FailureOr<SmallVector<int64_t>> poolShape(Where where, Adaptor a, int64_t leastPad = 0) {
  ArrayRef<int64_t> x = shapeOf(a.getX());
  if (x.size() < 3)
    return where.emitError("expected 'x' with a batch, channels and spatial dimensions, but got ",
                           a.getX().getType());
  int64_t spatial = x.size() - 2;
  if (failed(checkList(where, a.getKernel(), "kernel", spatial, 1)) ||
      failed(checkList(where, a.getStrides(), "strides", spatial, 1)) ||
      failed(checkList(where, a.getPads(), "pads", 2 * spatial, leastPad)) ||
      failed(checkList(where, a.getDilations(), "dilations", spatial, 1)))
    return failure();
  SmallVector<int64_t> shape(x.take_front(2));
  SmallVector<Window> windows =
      makeWindows(a.getKernel(), a.getStrides(), a.getPads(), a.getDilations(), a.getCeil());
  for (auto [extent, window] : llvm::zip(x.drop_front(2), windows)) {
    shape.push_back(window.places(extent));
    if (shape.back() < 1 && !ShapedType::isDynamic(shape.back()))
      return where.emitError("expected a window that fits, but got ", window.span(), " elements over ",
                             extent + window.low + window.high, " with pads");
  }
  return shape;
}

NN_INFER(PoolOp) {
  NN_WHERE(PoolOp);
  FailureOr<SmallVector<int64_t>> shape = poolShape(where, a, std::numeric_limits<int32_t>::min());
  if (failed(shape))
    return failure();
  if (static_cast<int64_t>(a.getP()) < 1)
    return where.emitError("expected p to be at least 1, but got ", a.getP());
  results.push_back(RankedTensorType::get(*shape, elementOf(a.getX())));
  return success();
}
int64_t PoolOp::getFlops() {
  int64_t flops = countElements(getY().getType());
  for (int64_t extent : getKernel())
    flops *= extent;
  return flops;
}

NN_INFER(MaxPoolIndicesOp) {
  NN_WHERE(MaxPoolIndicesOp);
  FailureOr<SmallVector<int64_t>> shape = poolShape(where, a);
  if (failed(shape))
    return failure();
  results.push_back(RankedTensorType::get(*shape, elementOf(a.getX())));
  results.push_back(RankedTensorType::get(*shape, IntegerType::get(context, 64)));
  return success();
}

NN_INFER(LrnOp) {
  NN_WHERE(LrnOp);
  if (shapeOf(a.getX()).size() < 2)
    return where.emitError("expected 'x' with channels in dimension 1, but got ", a.getX().getType());
  if (failed(checkFloat(where, a.getX(), "x")))
    return failure();
  if (static_cast<int64_t>(a.getSize()) < 1)
    return where.emitError("expected a size of at least 1, but got ", a.getSize());
  results.push_back(a.getX().getType());
  return success();
}

NN_INFER(GridSampleOp) {
  NN_WHERE(GridSampleOp);
  ArrayRef<int64_t> x = shapeOf(a.getX()), grid = shapeOf(a.getGrid());
  if (failed(checkRank(where, a.getGrid(), "grid", x.size())))
    return failure();
  if (x.size() < 3)
    return where.emitError("expected 'x' with a spatial dimension or more, but got ", a.getX().getType());
  if (failed(checkFloat(where, a.getX(), "x")) || failed(checkFloat(where, a.getGrid(), "grid")) ||
      failed(checkExtent(where, a.getGrid(), "grid", 0, x[0])) ||
      failed(checkExtent(where, a.getGrid(), "grid", x.size() - 1, x.size() - 2)) ||
      failed(checkWord(where, a.getMode(), "mode", {"linear", "nearest", "cubic"})) ||
      failed(checkWord(where, a.getPadding(), "padding", {"zeros", "border", "reflection"})))
    return failure();
  SmallVector<int64_t> shape = {known(x[0], grid[0]), x[1]};
  llvm::append_range(shape, grid.drop_front().drop_back());
  results.push_back(RankedTensorType::get(shape, elementOf(a.getX())));
  return success();
}

NN_INFER(RoiAlignOp) {
  NN_WHERE(RoiAlignOp);
  if (failed(checkRank(where, a.getX(), "x", 4)) || failed(checkRank(where, a.getRois(), "rois", 2)) ||
      failed(checkRank(where, a.getBatch(), "batch", 1)) ||
      failed(checkExtent(where, a.getRois(), "rois", 1, 4)) ||
      failed(checkExtent(where, a.getBatch(), "batch", 0, shapeOf(a.getRois())[0])) ||
      failed(checkFloat(where, a.getX(), "x")) || failed(checkFloat(where, a.getRois(), "rois")) ||
      failed(checkInteger(where, a.getBatch(), "batch")) ||
      failed(checkWord(where, a.getMode(), "mode", {"avg", "max"})))
    return failure();
  int64_t height = a.getHeight(), width = a.getWidth(), sampling = a.getSampling();
  if (height < 1 || width < 1 || sampling < 0)
    return where.emitError("expected a height and width of at least 1 and sampling of at least 0, but got ",
                           height, ", ", width, " and ", sampling);
  results.push_back(RankedTensorType::get(
      {known(shapeOf(a.getRois())[0], shapeOf(a.getBatch())[0]), shapeOf(a.getX())[1], height, width},
      elementOf(a.getX())));
  return success();
}
