// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of operations whose result type is written, not inferred.
#include "tessera/ir/nn/NnInfer.h"

using namespace tessera;
using namespace tessera::nn;

static Where at(Operation *op) { return {op->getLoc(), op->getName().getStringRef()}; }

// The shape of y may be that of x.
static LogicalResult verifySameShape(Operation *op, Value x, Value y) {
  if (failed(verifyCompatibleShape(shapeOf(x), shapeOf(y))))
    return op->emitOpError("expected the result to have the shape ")
           << describe(shapeOf(x)) << ", but got " << describe(shapeOf(y));
  return success();
}

// Formats that are stored in bytes stand in i8; a sign is one of integers.
static LogicalResult verifyFormat(Operation *op, Value value, Format format) {
  Type element = elementOf(value);
  if (isByteFormat(format) && !element.isInteger(8))
    return op->emitOpError("expected the format '")
           << stringifyFormat(format) << "' to be stored in i8, but got " << element;
  if (format == Format::unsigned_ && !isa<IntegerType>(element))
    return op->emitOpError("expected the format 'unsigned_' with integers, but got ") << element;
  return success();
}

// One index for each dynamic extent of the result.
static LogicalResult verifyExtents(Operation *op, Value y, ValueRange extents) {
  int64_t dynamic = typeOf(y).getNumDynamicDims();
  if (dynamic != static_cast<int64_t>(extents.size()))
    return op->emitOpError("expected an extent for each of the result's ")
           << dynamic << " dynamic dimensions, but got " << extents.size();
  return success();
}

LogicalResult CastOp::verify() {
  if (failed(verifySameShape(*this, getX(), getY())) || failed(verifyFormat(*this, getX(), getFrom())) ||
      failed(verifyFormat(*this, getY(), getTo())))
    return failure();
  return checkWord(at(*this), getRoundMode(), "round_mode", {"nearest", "up", "down"});
}

LogicalResult BitcastOp::verify() {
  Type from = elementOf(getX()), to = elementOf(getY());
  // An i1 is stored in a byte.
  auto width = [](Type type) { return std::max(8u, type.getIntOrFloatBitWidth()); };
  if (width(from) != width(to))
    return emitOpError("expected types of the same width, but got ") << from << " and " << to;
  return verifySameShape(*this, getX(), getY());
}

// Scale and zero: one element, a vector along the axis, or one for each block along it.
static LogicalResult verifyScale(Operation *op, Value x, Value scale, int64_t axis, int64_t block) {
  ArrayRef<int64_t> shape = shapeOf(x), own = shapeOf(scale);
  if (block < 0)
    return op->emitOpError("expected a block of at least 0, but got ") << block;
  if (block == 0 && (own.empty() || (own.size() == 1 && own[0] == 1)))
    return success();
  if (failed(checkAxis(at(op), axis, shape.size())))
    return failure();
  if (block == 0)
    return success(succeeded(checkRank(at(op), scale, "scale", 1)) &&
                   succeeded(checkExtent(at(op), scale, "scale", 0, shape[axis])));
  if (failed(checkRank(at(op), scale, "scale", shape.size())))
    return failure();
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    int64_t expected = extent;
    if (static_cast<int64_t>(dim) == axis && !ShapedType::isDynamic(extent))
      expected = llvm::divideCeil(extent, block);
    if (failed(checkExtent(at(op), scale, "scale", dim, expected)))
      return failure();
  }
  return success();
}

static LogicalResult verifyZero(Operation *op, Value scale, Value zero, Value narrow) {
  if (!zero)
    return success();
  if (failed(checkElement(at(op), zero, "zero", elementOf(narrow))))
    return failure();
  if (failed(verifyCompatibleShape(shapeOf(scale), shapeOf(zero))))
    return op->emitOpError("expected the zero point to have the scale's shape ")
           << describe(shapeOf(scale)) << ", but got " << describe(shapeOf(zero));
  return success();
}

LogicalResult QuantizeOp::verify() {
  return success(succeeded(verifySameShape(*this, getX(), getY())) &&
                 succeeded(verifyFormat(*this, getY(), getTo())) &&
                 succeeded(verifyScale(*this, getX(), getScale(), getAxis(), getBlock())) &&
                 succeeded(verifyZero(*this, getScale(), getZero(), getY())));
}

LogicalResult DequantizeOp::verify() {
  if (failed(checkFloat(at(*this), getY(), "y")))
    return failure();
  return success(succeeded(verifySameShape(*this, getX(), getY())) &&
                 succeeded(verifyFormat(*this, getX(), getFrom())) &&
                 succeeded(verifyScale(*this, getX(), getScale(), getAxis(), getBlock())) &&
                 succeeded(verifyZero(*this, getScale(), getZero(), getX())));
}

LogicalResult ReshapeOp::verify() {
  if (failed(checkElement(at(*this), getY(), "y", elementOf(getX()))) ||
      failed(verifyExtents(*this, getY(), getExtents())))
    return failure();
  RankedTensorType x = typeOf(getX()), y = typeOf(getY());
  if (x.hasStaticShape() && y.hasStaticShape() && x.getNumElements() != y.getNumElements())
    return emitOpError("expected as many elements in the result as in the operand, but got ")
           << y.getNumElements() << " and " << x.getNumElements();
  return success();
}

LogicalResult BroadcastOp::verify() {
  if (failed(checkElement(at(*this), getY(), "y", elementOf(getX()))) ||
      failed(verifyExtents(*this, getY(), getExtents())))
    return failure();
  return checkBroadcast(at(*this), getX(), "x", shapeOf(getY()));
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> x = shapeOf(getX()), y = shapeOf(getY());
  if (failed(checkElement(at(*this), getY(), "y", elementOf(getX()))) ||
      failed(checkRank(at(*this), getY(), "y", x.size())) ||
      failed(checkList(at(*this), getStarts(), "starts", x.size(), 0)) ||
      failed(checkList(at(*this), getSteps(), "steps", x.size(), std::numeric_limits<int64_t>::min())))
    return failure();
  for (auto [from, to, start, step] : llvm::zip(x, y, getStarts(), getSteps())) {
    if (step == 0)
      return emitOpError("expected steps other than 0, but got 0");
    if (ShapedType::isDynamic(to)) {
      if (start != 0 || step != 1)
        return emitOpError("expected start 0 and step 1 for a dynamic extent, but got ")
               << start << " and " << step;
      continue;
    }
    int64_t last = start + (to - 1) * step;
    if (to > 0 && (last < 0 || (!ShapedType::isDynamic(from) && (start >= from || last >= from))))
      return emitOpError("expected elements from 0 to ")
             << from - 1 << ", but got " << start << " to " << last << " with step " << step;
  }
  return success();
}

LogicalResult IotaOp::verify() {
  for (auto [value, what] : {std::pair(getStart(), "start"), std::pair(getStep(), "step")})
    if (failed(checkRank(at(*this), value, what, 0)) ||
        failed(checkElement(at(*this), value, what, elementOf(getY()))))
      return failure();
  return success(succeeded(checkAxis(at(*this), getAxis(), typeOf(getY()).getRank())) &&
                 succeeded(verifyExtents(*this, getY(), getExtents())));
}

LogicalResult ColumnsToImageOp::verify() {
  if (failed(checkElement(at(*this), getY(), "y", elementOf(getX()))) ||
      failed(checkRank(at(*this), getX(), "x", 3)))
    return failure();
  ArrayRef<int64_t> y = shapeOf(getY());
  int64_t spatial = static_cast<int64_t>(y.size()) - 2;
  if (spatial < 1)
    return emitOpError("expected an image of rank 3 or more, but got ") << getY().getType();
  if (failed(checkList(at(*this), getKernel(), "kernel", spatial, 1)) ||
      failed(checkList(at(*this), getStrides(), "strides", spatial, 1)) ||
      failed(checkList(at(*this), getPads(), "pads", 2 * spatial, 0)) ||
      failed(checkList(at(*this), getDilations(), "dilations", spatial, 1)))
    return failure();
  int64_t taps = 1, places = 1;
  SmallVector<Window> windows = makeWindows(getKernel(), getStrides(), getPads(), getDilations());
  for (auto [extent, window] : llvm::zip(y.drop_front(2), windows)) {
    if (ShapedType::isDynamic(extent))
      return emitOpError("expected an image of static spatial extents, but got ") << getY().getType();
    taps *= window.kernel;
    places *= window.places(extent);
  }
  if (failed(checkExtent(at(*this), getX(), "x", 0, y[0])) ||
      failed(checkExtent(at(*this), getX(), "x", 2, places)))
    return failure();
  return ShapedType::isDynamic(y[1]) ? success() : checkExtent(at(*this), getX(), "x", 1, y[1] * taps);
}

LogicalResult MaxUnpoolOp::verify() {
  if (failed(checkElement(at(*this), getY(), "y", elementOf(getX()))) ||
      failed(checkInteger(at(*this), getIndices(), "indices")))
    return failure();
  if (failed(verifyCompatibleShape(shapeOf(getX()), shapeOf(getIndices()))))
    return emitOpError("expected an index for each element, but got shapes ")
           << describe(shapeOf(getX())) << " and " << describe(shapeOf(getIndices()));
  if (!typeOf(getY()).hasStaticShape())
    return emitOpError("expected a result of static shape, but got ") << getY().getType();
  return checkList(at(*this), getFrom(), "from", typeOf(getY()).getRank(), 1);
}

LogicalResult ResizeOp::verify() {
  int64_t rank = typeOf(getX()).getRank();
  if (failed(checkElement(at(*this), getY(), "y", elementOf(getX()))) ||
      failed(checkRank(at(*this), getY(), "y", rank)) ||
      failed(checkWord(at(*this), getMode(), "mode", {"nearest", "linear", "cubic"})) ||
      failed(checkWord(at(*this), getCoordinates(), "coordinates",
                       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                        "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"})) ||
      failed(checkWord(at(*this), getNearest(), "nearest",
                       {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})))
    return failure();
  if (static_cast<int64_t>(getScales().size()) != rank)
    return emitOpError("expected a scale for each of ")
           << rank << " dimensions, but got " << getScales().size();
  for (double scale : getScales())
    if (!(scale > 0))
      return emitOpError("expected scales above 0, but got ") << scale;
  bool crop = getCoordinates() == "tf_crop_and_resize";
  if (crop && static_cast<int64_t>(getRoi().size()) != 2 * rank)
    return emitOpError("expected a region of ") << 2 * rank << " entries, but got " << getRoi().size();
  return success();
}
