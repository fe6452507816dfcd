// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions about shapes, and the checks that inference and verifiers share.
#include "tessera/ir/nn/NnInfer.h"

#include "tessera/base/Check.h"

#include "llvm/ADT/StringExtras.h"

using namespace tessera;
using namespace tessera::nn;

int64_t nn::countElements(Type type) {
  int64_t count = 1;
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank())
    for (int64_t extent : shaped.getShape())
      count *= ShapedType::isDynamic(extent) ? 1 : extent;
  return count;
}

int64_t nn::staticExtent(Value tensor, int64_t dim) {
  int64_t extent = cast<ShapedType>(tensor.getType()).getDimSize(dim);
  TESSERA_CHECK(!ShapedType::isDynamic(extent)) << "extent " << dim << " is open";
  return extent;
}

bool nn::areCompatible(TypeRange inferred, TypeRange actual) {
  if (inferred.size() != actual.size())
    return false;
  for (auto [a, b] : llvm::zip(inferred, actual))
    if (getElementTypeOrSelf(a) != getElementTypeOrSelf(b) || failed(verifyCompatibleShape(a, b)))
      return false;
  return true;
}

FailureOr<SmallVector<int64_t>> nn::broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  SmallVector<int64_t> result(rank, 1);
  for (ArrayRef<int64_t> shape : shapes)
    for (auto [extent, known] : llvm::zip(llvm::reverse(shape), llvm::reverse(result))) {
      if (extent == known || extent == 1)
        continue;
      if (known == 1 || (ShapedType::isDynamic(known) && extent != 1))
        known = extent;
      else if (!ShapedType::isDynamic(extent))
        return failure();
    }
  return result;
}

FailureOr<SmallVector<int64_t>> nn::broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return broadcastShapes({a, b});
}

std::optional<int64_t> nn::normaliseAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

int64_t Window::places(int64_t in) const {
  if (ShapedType::isDynamic(in) || ShapedType::isDynamic(kernel))
    return ShapedType::kDynamic;
  int64_t room = in + low + high - span();
  if (room < (ceil ? 1 - stride : 0))
    return 0;
  if (!ceil)
    return room / stride + 1;
  // Rounded up, but no window starts in the high pad.
  int64_t count = (room + stride - 1) / stride + 1;
  if ((count - 1) * stride >= in + low)
    --count;
  return count;
}

SmallVector<Window> nn::makeWindows(ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                                    ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations, bool ceil) {
  SmallVector<Window> windows;
  for (size_t i = 0; i < kernel.size(); ++i)
    windows.push_back({kernel[i], strides[i], pads[i], pads[i + kernel.size()], dilations[i], ceil});
  return windows;
}

FailureOr<Einsum> nn::parseEinsum(StringRef equation) {
  auto [left, right] = equation.split("->");
  if (left.size() == equation.size())
    return failure();
  Einsum einsum;
  left.split(einsum.operands, ',');
  einsum.result = right;
  for (StringRef labels : einsum.operands)
    if (!llvm::all_of(labels, llvm::isAlpha))
      return failure();
  for (auto [i, label] : llvm::enumerate(right))
    if (!llvm::isAlpha(label) || !left.contains(label) || right.drop_front(i + 1).contains(label))
      return failure();
  return einsum;
}

bool nn::isPredicate(UnaryKind kind) {
  return kind == UnaryKind::isnan || kind == UnaryKind::isinf || kind == UnaryKind::isposinf ||
         kind == UnaryKind::isneginf;
}

bool nn::isComparison(BinaryKind kind) { return kind >= BinaryKind::eq && kind <= BinaryKind::ge; }

bool nn::isByteFormat(Format format) { return format != Format::plain && format != Format::unsigned_; }

std::string nn::describe(ArrayRef<int64_t> shape) {
  std::string text;
  for (auto [i, extent] : llvm::enumerate(shape))
    text += (i ? "x" : "") + (ShapedType::isDynamic(extent) ? "?" : std::to_string(extent));
  return text.empty() ? "none" : text;
}

LogicalResult nn::checkAxis(Where where, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    return where.emitError("expected an axis from 0 to ", rank - 1, ", but got ", axis);
  return success();
}

LogicalResult nn::checkRank(Where where, Value value, StringRef what, int64_t rank) {
  if (typeOf(value).getRank() != rank)
    return where.emitError("expected '", what, "' to have rank ", rank, ", but got ", value.getType());
  return success();
}

LogicalResult nn::checkElement(Where where, Value value, StringRef what, Type type) {
  if (elementOf(value) != type)
    return where.emitError("expected '", what, "' to have elements of type ", type, ", but got ",
                           elementOf(value));
  return success();
}

LogicalResult nn::checkFloat(Where where, Value value, StringRef what) {
  if (!isa<FloatType>(elementOf(value)))
    return where.emitError("expected '", what, "' to have floats as elements, but got ", elementOf(value));
  return success();
}

LogicalResult nn::checkInteger(Where where, Value value, StringRef what) {
  if (!isa<IntegerType>(elementOf(value)))
    return where.emitError("expected '", what, "' to have integers as elements, but got ", elementOf(value));
  return success();
}

LogicalResult nn::checkExtent(Where where, Value value, StringRef what, int64_t dim, int64_t extent) {
  if (!mayEqual(shapeOf(value)[dim], extent))
    return where.emitError("expected extent ", dim, " of '", what, "' to be ", extent, ", but got ",
                           shapeOf(value)[dim]);
  return success();
}

LogicalResult nn::checkBroadcast(Where where, Value value, StringRef what, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = shapeOf(value);
  bool fits = own.size() <= shape.size();
  if (fits)
    for (auto [a, b] : llvm::zip(llvm::reverse(own), llvm::reverse(shape)))
      fits &= a == 1 || mayEqual(a, b);
  if (!fits)
    return where.emitError("expected '", what, "' to broadcast to ", describe(shape), ", but got ",
                           describe(own));
  return success();
}

LogicalResult nn::checkList(Where where, ArrayRef<int64_t> list, StringRef what, int64_t count,
                            int64_t least) {
  if (static_cast<int64_t>(list.size()) != count)
    return where.emitError("expected '", what, "' to have ", count, " entries, but got ", list.size());
  for (int64_t entry : list)
    if (entry < least)
      return where.emitError("expected the entries of '", what, "' to be at least ", least, ", but got ",
                             entry);
  return success();
}

LogicalResult nn::checkWord(Where where, StringRef word, StringRef what, ArrayRef<StringRef> words) {
  if (!llvm::is_contained(words, word))
    return where.emitError("expected '", what, "' to be one of ", llvm::join(words, ", "), ", but got '",
                           word, "'");
  return success();
}
