// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result types and arithmetic of layers on blocked activations.
#include "tessera/ir/nn/NnInfer.h"
#include "tessera/targets/cpu/ir/CpuOps.h"

using namespace tessera;
using namespace tessera::cpu;

LogicalResult cpu::verifyTiles(Operation *op, Attribute tiles) {
  if (cast<DenseI64ArrayAttr>(tiles).size() == 6)
    return success();
  return op->emitOpError("expected 'cpu.tiles' to be an array of six i64, but got ") << tiles;
}

// N x C1 x H x W x c; channels are static.
static LogicalResult checkBlocked(Where where, Value x) {
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.size() == 5 && !ShapedType::isDynamic(shape[1]) && !ShapedType::isDynamic(shape[4]))
    return success();
  return where.emitError("expected 'x' of shape N x C1 x H x W x c with static channels, but got ",
                         x.getType());
}

// What sums of products of narrow elements are collected in.
static Type wideOf(Type element) {
  Builder b(element.getContext());
  return element.isInteger(8) ? Type(b.getI32Type()) : element.isBF16() ? Type(b.getF32Type()) : element;
}
static bool isNarrow(Type element) { return wideOf(element) != element; }

// Weights of the element type of x, and the bias if there is one, of the result's; w of rank `rank` (narrow:
// one more) and static; bias: blocks x lanes.
static LogicalResult checkWeights(Where where, Value x, Value w, Value bias, int64_t rank) {
  Type wide = wideOf(elementOf(x));
  bool narrow = isNarrow(elementOf(x));
  if (failed(checkRank(where, w, "w", rank + narrow)) || failed(checkElement(where, w, "w", elementOf(x))))
    return failure();
  if (!typeOf(w).hasStaticShape())
    return where.emitError("expected 'w' of static shape, but got ", w.getType());
  if (!bias)
    return success();
  if (failed(checkRank(where, bias, "bias", 2)) || failed(checkElement(where, bias, "bias", wide)) ||
      failed(checkExtent(where, bias, "bias", 0, shapeOf(w).front())) ||
      failed(checkExtent(where, bias, "bias", 1, shapeOf(w)[rank - 1])))
    return failure();
  return success();
}

// Places of windows without pads; fails when none fits.
static FailureOr<SmallVector<int64_t>> placesOf(Where where, ArrayRef<int64_t> x, ArrayRef<int64_t> kernel,
                                                ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
                                                ArrayRef<int64_t> dilations) {
  if (failed(checkList(where, strides, "strides", 2, 1)) ||
      failed(checkList(where, dilations, "dilations", 2, 1)))
    return failure();
  SmallVector<int64_t> places;
  for (auto [extent, window] : llvm::zip(x.slice(2, 2), makeWindows(kernel, strides, pads, dilations))) {
    places.push_back(window.places(extent));
    if (!ShapedType::isDynamic(extent) && places.back() < 1)
      return where.emitError("expected a window that fits, but got ", window.span(), " elements over ",
                             extent + window.low + window.high);
  }
  return places;
}

NN_INFER(PackOp) {
  NN_WHERE(PackOp);
  if (failed(checkRank(where, a.getX(), "x", 4)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(a.getX());
  int64_t block = a.getBlock();
  if (ShapedType::isDynamic(x[1]) || block < 1)
    return where.emitError("expected 'x' with static channels and blocks of at least 1 channel, but got ",
                           a.getX().getType(), " and ", block);
  results.push_back(
      RankedTensorType::get({x[0], (x[1] + block - 1) / block, x[2], x[3], block}, elementOf(a.getX())));
  return success();
}

NN_INFER(UnpackOp) {
  NN_WHERE(UnpackOp);
  if (failed(checkBlocked(where, a.getX())))
    return failure();
  ArrayRef<int64_t> x = shapeOf(a.getX());
  int64_t channels = a.getChannels();
  if (channels < 1 || channels > x[1] * x[4])
    return where.emitError("expected 1 to ", x[1] * x[4], " channels, but got ", channels);
  results.push_back(RankedTensorType::get({x[0], channels, x[2], x[3]}, elementOf(a.getX())));
  return success();
}

// Both take a border into account, with opposite signs.
static LogicalResult inferBorder(Where where, Value x, ArrayRef<int64_t> pads, int64_t sign,
                                 SmallVectorImpl<Type> &results) {
  if (failed(checkBlocked(where, x)) || failed(checkList(where, pads, "pads", 4, 0)))
    return failure();
  SmallVector<int64_t> shape(shapeOf(x));
  bool isEmpty = false;
  for (int64_t d : {0, 1})
    if (int64_t &extent = shape[2 + d]; !ShapedType::isDynamic(extent)) {
      extent += sign * (pads[d] + pads[d + 2]);
      isEmpty |= extent < 1;
    }
  if (isEmpty)
    return where.emitError("expected something left of ", x.getType(), ", but got ", shape[2], " x ",
                           shape[3]);
  results.push_back(RankedTensorType::get(shape, elementOf(x)));
  return success();
}
NN_INFER(HaloOp) {
  NN_WHERE(HaloOp);
  return inferBorder(where, a.getX(), a.getPads(), 1, results);
}
NN_INFER(CropOp) {
  NN_WHERE(CropOp);
  return inferBorder(where, a.getX(), a.getPads(), -1, results);
}

NN_INFER(PackedConvOp) {
  NN_WHERE(PackedConvOp);
  if (failed(checkBlocked(where, a.getX())) ||
      failed(checkWeights(where, a.getX(), a.getW(), a.getBias(), 6)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(a.getX()), w = shapeOf(a.getW());
  int64_t groups = a.getGroups();
  if (groups < 1 || x[1] % groups || w[0] % groups)
    return where.emitError("expected groups that divide the blocks of channels, but got ", groups, " for ",
                           x[1], " and ", w[0]);
  int64_t together = isNarrow(elementOf(a.getX())) ? std::max<int64_t>(1, w[6]) : 1;
  if (failed(checkExtent(where, a.getW(), "w", 1, x[1] / groups)) ||
      failed(checkExtent(where, a.getW(), "w", 4, x[4] / together)))
    return failure();
  FailureOr<SmallVector<int64_t>> places =
      placesOf(where, x, w.slice(2, 2), a.getStrides(), {0, 0, 0, 0}, a.getDilations());
  if (failed(places))
    return failure();
  results.push_back(
      RankedTensorType::get({x[0], w[0], (*places)[0], (*places)[1], w[5]}, wideOf(elementOf(a.getX()))));
  return success();
}
int64_t PackedConvOp::getFlops() {
  ArrayRef<int64_t> w = shapeOf(getW());
  return 2 * countElements(getY().getType()) * w[1] * w[2] * w[3] * shapeOf(getX())[4];
}

NN_INFER(PackedSparseOp) {
  NN_WHERE(PackedSparseOp);
  Type index = IntegerType::get(context, 32);
  bool matrix = shapeOf(a.getX()).size() == 2 && !ShapedType::isDynamic(shapeOf(a.getX())[1]);
  if ((!matrix && failed(checkBlocked(where, a.getX()))) ||
      failed(checkRank(where, a.getValues(), "values", 2)) ||
      failed(checkElement(where, a.getValues(), "values", elementOf(a.getX()))) ||
      failed(checkRank(where, a.getTaps(), "taps", 1)) ||
      failed(checkElement(where, a.getTaps(), "taps", index)) ||
      failed(checkExtent(where, a.getTaps(), "taps", 0, shapeOf(a.getValues())[0])) ||
      failed(checkList(where, a.getKernel(), "kernel", 2, 1)) ||
      failed(checkRank(where, a.getStarts(), "starts", 1)) ||
      failed(checkElement(where, a.getStarts(), "starts", index)))
    return failure();
  for (auto [v, what] : {std::pair(a.getValues(), "values"), std::pair(a.getStarts(), "starts")})
    if (!typeOf(v).hasStaticShape())
      return where.emitError("expected '", what, "' of static shape, but got ", v.getType());
  ArrayRef<int64_t> x = shapeOf(a.getX());
  int64_t blocks = shapeOf(a.getStarts())[0] - 1, lanes = shapeOf(a.getValues())[1];
  if (blocks < 1)
    return where.emitError("expected 'starts' of one block at least, but got ", a.getStarts().getType());
  if (a.getBias() && (failed(checkRank(where, a.getBias(), "bias", 2)) ||
                      failed(checkElement(where, a.getBias(), "bias", elementOf(a.getX()))) ||
                      failed(checkExtent(where, a.getBias(), "bias", 0, blocks)) ||
                      failed(checkExtent(where, a.getBias(), "bias", 1, lanes))))
    return failure();
  if (matrix) {
    results.push_back(RankedTensorType::get({x[0], blocks * lanes}, elementOf(a.getX())));
    return success();
  }
  FailureOr<SmallVector<int64_t>> places =
      placesOf(where, x, a.getKernel(), a.getStrides(), {0, 0, 0, 0}, a.getDilations());
  if (failed(places))
    return failure();
  results.push_back(
      RankedTensorType::get({x[0], blocks, (*places)[0], (*places)[1], lanes}, elementOf(a.getX())));
  return success();
}
int64_t PackedSparseOp::getFlops() {
  ArrayRef<int64_t> y = shapeOf(getY());
  auto known = [](int64_t extent) { return std::max<int64_t>(1, extent); };
  int64_t places = known(y[0]) * (y.size() == 5 ? known(y[2]) * known(y[3]) : 1);
  return 2 * places * countElements(getValues().getType());
}

NN_INFER(PackedWinogradOp) {
  NN_WHERE(PackedWinogradOp);
  if (failed(checkBlocked(where, a.getX())) ||
      failed(checkWeights(where, a.getX(), a.getW(), a.getBias(), 4)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(a.getX()), w = shapeOf(a.getW());
  int64_t tile = a.getTile();
  if (tile != 2 && tile != 4)
    return where.emitError("expected a tile of 2 or 4, but got ", tile);
  // Windows of 3 and 5 differ by the points they take.
  int64_t window = w[1] == (tile + 4) * (tile + 4) ? 5 : 3, points = tile + window - 1;
  if (failed(checkExtent(where, a.getW(), "w", 1, points * points)) ||
      failed(checkExtent(where, a.getW(), "w", 2, x[1] * x[4])))
    return failure();
  FailureOr<SmallVector<int64_t>> places = placesOf(where, x, {window, window}, {1, 1}, {0, 0, 0, 0}, {1, 1});
  if (failed(places))
    return failure();
  results.push_back(
      RankedTensorType::get({x[0], w[0], (*places)[0], (*places)[1], w[3]}, elementOf(a.getX())));
  return success();
}
// What the convolution would take without the trick, so that rates can be compared.
int64_t PackedWinogradOp::getFlops() {
  return 2 * countElements(getY().getType()) * shapeOf(getW())[2] * getWindow() * getWindow();
}
// Windows of 3 and 5 differ by the points they take.
int64_t PackedWinogradOp::getWindow() {
  return shapeOf(getW())[1] == int64_t((getTile() + 4) * (getTile() + 4)) ? 5 : 3;
}

NN_INFER(PackedDepthwiseOp) {
  NN_WHERE(PackedDepthwiseOp);
  // Narrow elements are widened as they are read.
  Type own = elementOf(a.getX()),
       wide = own.isInteger(8) || own.isBF16() || own.isF16() ? Float32Type::get(context) : own;
  if (failed(checkBlocked(where, a.getX())) || failed(checkElement(where, a.getW(), "w", wide)) ||
      failed(checkWeights(where, a.getW(), a.getW(), a.getBias(), 4)))
    return failure();
  ArrayRef<int64_t> x = shapeOf(a.getX()), w = shapeOf(a.getW());
  if (failed(checkExtent(where, a.getW(), "w", 0, x[1])) ||
      failed(checkExtent(where, a.getW(), "w", 3, x[4])))
    return failure();
  FailureOr<SmallVector<int64_t>> places =
      placesOf(where, x, w.slice(1, 2), a.getStrides(), {0, 0, 0, 0}, a.getDilations());
  if (failed(places))
    return failure();
  results.push_back(RankedTensorType::get({x[0], x[1], (*places)[0], (*places)[1], x[4]}, wide));
  return success();
}
int64_t PackedDepthwiseOp::getFlops() {
  ArrayRef<int64_t> w = shapeOf(getW());
  return 2 * countElements(getY().getType()) * w[1] * w[2];
}

NN_INFER(PackedMatmulOp) {
  NN_WHERE(PackedMatmulOp);
  ArrayRef<int64_t> x = shapeOf(a.getX()), w = shapeOf(a.getW());
  if (x.size() < 2 || x.size() > mostProductRank)
    return where.emitError("expected 'x' of 2 to ", mostProductRank, " dimensions, but got ",
                           a.getX().getType());
  if (failed(checkWeights(where, a.getX(), a.getW(), a.getBias(), 3)))
    return failure();
  // Rows are as far apart as they are long.
  if (ShapedType::isDynamic(x.back()))
    return where.emitError("expected 'x' with a static number of columns, but got ", a.getX().getType());
  if (failed(checkExtent(where, a.getX(), "x", x.size() - 1, w[1] * (w.size() == 4 ? w[3] : 1))))
    return failure();
  int64_t columns = a.getColumns();
  if (columns < 1 || columns > w[0] * w[2])
    return where.emitError("expected 1 to ", w[0] * w[2], " columns, but got ", columns);
  SmallVector<int64_t> y(x);
  y.back() = columns;
  results.push_back(RankedTensorType::get(y, wideOf(elementOf(a.getX()))));
  return success();
}
int64_t PackedMatmulOp::getFlops() { return 2 * countElements(getY().getType()) * shapeOf(getX()).back(); }

// Two batches of matrices, of which the first has rows of as many elements as `inner` says the second has
// rows, and the result's extents.
static LogicalResult inferBatched(Where where, Value x, Value y, Value init, bool transposed,
                                  SmallVectorImpl<Type> &results) {
  ArrayRef<int64_t> a = shapeOf(x), b = shapeOf(y), c = shapeOf(init);
  size_t rank = a.size();
  if (rank < 2 || b.size() != rank || c.size() != rank)
    return where.emitError("expected operands of one rank, 2 or more, but got ", x.getType(), ", ",
                           y.getType(), " and ", init.getType());
  for (Value v : {x, y, init})
    if (!elementOf(v).isF32())
      return where.emitError("expected elements of f32, but got ", v.getType());
  auto meet = [](int64_t m, int64_t n) {
    return m == n || ShapedType::isDynamic(m) || ShapedType::isDynamic(n);
  };
  int64_t depth = b[transposed ? rank - 1 : rank - 2], columns = b[transposed ? rank - 2 : rank - 1];
  bool fits = meet(a[rank - 1], depth) && meet(a[rank - 2], c[rank - 2]) && meet(columns, c[rank - 1]);
  for (size_t d = 0; d + 2 < rank; ++d)
    fits &= (a[d] == 1 || meet(a[d], c[d])) && (b[d] == 1 || meet(b[d], c[d]));
  if (!fits)
    return where.emitError("expected extents that fit each other, but got ", x.getType(), ", ", y.getType(),
                           " and ", init.getType());
  results.push_back(init.getType());
  return success();
}

NN_INFER(ProductOp) {
  NN_WHERE(ProductOp);
  return inferBatched(where, a.getX(), a.getY(), a.getInit(), a.getTransposeY(), results);
}
int64_t ProductOp::getFlops() {
  int64_t depth = shapeOf(getX()).back();
  return 2 * countElements(getZ().getType()) * (ShapedType::isDynamic(depth) ? 1 : depth);
}

NN_INFER(AttendOp) {
  NN_WHERE(AttendOp);
  if (ShapedType::isDynamic(shapeOf(a.getValues()).back()))
    return where.emitError("expected 'values' with a static number of columns, but got ",
                           a.getValues().getType());
  return inferBatched(where, a.getScores(), a.getValues(), a.getInit(), false, results);
}
int64_t AttendOp::getFlops() {
  int64_t keys = shapeOf(getScores()).back();
  return 2 * countElements(getZ().getType()) * (ShapedType::isDynamic(keys) ? 1 : keys);
}

NN_INFER(PackedPoolOp) {
  NN_WHERE(PackedPoolOp);
  if (failed(checkBlocked(where, a.getX())) || failed(checkList(where, a.getKernel(), "kernel", 2, 1)) ||
      failed(checkList(where, a.getPads(), "pads", 4, 0)))
    return failure();
  ReduceKind kind = a.getKind();
  if (kind != ReduceKind::max && kind != ReduceKind::min && kind != ReduceKind::mean &&
      kind != ReduceKind::sum)
    return where.emitError("expected max, min, mean or sum, but got ", stringifyReduceKind(kind));
  ArrayRef<int64_t> x = shapeOf(a.getX()), pads = a.getPads();
  FailureOr<SmallVector<int64_t>> places =
      placesOf(where, x, a.getKernel(), a.getStrides(), pads, a.getDilations());
  if (failed(places))
    return failure();
  results.push_back(
      RankedTensorType::get({x[0], x[1], (*places)[0], (*places)[1], x[4]}, elementOf(a.getX())));
  return success();
}
int64_t PackedPoolOp::getFlops() { return countElements(getY().getType()) * getKernel()[0] * getKernel()[1]; }

NN_INFER(PackedMeanOp) {
  NN_WHERE(PackedMeanOp);
  if (failed(checkBlocked(where, a.getX())))
    return failure();
  ArrayRef<int64_t> x = shapeOf(a.getX());
  results.push_back(RankedTensorType::get({x[0], x[1] * x[4]}, elementOf(a.getX())));
  return success();
}
int64_t PackedMeanOp::getFlops() { return countElements(getX().getType()); }
