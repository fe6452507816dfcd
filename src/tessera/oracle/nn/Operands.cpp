// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands, numbers and walks of network operations. See Nn.h.
#include "tessera/oracle/nn/Nn.h"

#include "tessera/oracle/Tensors.h"

using namespace tessera;
using namespace tessera::oracle;

void oracle::addNn(HandlerTable &table) {
  addNnElementwise(table);
  addNnCasts(table);
  addNnReduce(table);
  addNnContract(table);
  addNnWindow(table);
  addNnSample(table);
  addNnNorm(table);
  addNnMove(table);
  addNnGather(table);
  addNnSequence(table);
  addNnApprox(table);
}

//===----------------------------------------------------------------------===//
// Call
//===----------------------------------------------------------------------===//

const Elements *Call::find(Value operand) const {
  for (auto [i, value] : llvm::enumerate(inst.op->getOperands()))
    if (value == operand)
      return &x.in(inst, i).elements();
  return nullptr;
}

LogicalResult Call::shapeFrom(ValueRange extents, Shape &shape) const {
  unsigned first = inst.op->getNumOperands() - extents.size();
  return x.mixed(inst, cast<ShapedType>(inst.op->getResult(0).getType()).getShape(), first, shape);
}

Elements *Call::make(ArrayRef<int64_t> shape, unsigned result) {
  Type type = inst.op->getResult(result).getType();
  Val value;
  if (failed(x.allocate(inst, ElementInfo::get(type), shape, value, /*isDefined=*/true)) ||
      failed(checkType(x, inst, type, shape)))
    return nullptr;
  Elements *elements = &value.elements();
  // An operand's slot is never a result's, so that operands stay.
  x.out(inst, result) = std::move(value);
  return elements;
}

LogicalResult Call::reuse(const Elements &operand, ArrayRef<int64_t> shape) {
  if (failed(checkType(x, inst, inst.op->getResult(0).getType(), shape)))
    return failure();
  Ref<Elements> elements = new Elements(operand);
  elements->shape.assign(shape.begin(), shape.end());
  x.out(inst) = Val::of(elements.get());
  return success();
}

LogicalResult Call::mismatch(ArrayRef<int64_t> a, ArrayRef<int64_t> b) const {
  return error("has operands whose extents do not fit: " + formatIndex(a) + " and " + formatIndex(b));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

double oracle::numberAt(const Elements &elements, int64_t i, bool isUnsigned) {
  if (!elements.info.isFloat()) {
    int64_t value = integerAt(elements, i, isUnsigned);
    return isUnsigned ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
  }
  if (elements.info.kind == ElementInfo::F32)
    return asFloat(elements.data[i]);
  return toDouble(elements.info, elements.load(i));
}

int64_t oracle::toInteger(double value) {
  if (value != value)
    return 0;
  if (value >= 0x1p63)
    return value < 0x1p64 ? static_cast<int64_t>(static_cast<uint64_t>(value)) : INT64_MAX;
  return value < -0x1p63 ? INT64_MIN : static_cast<int64_t>(value);
}

int64_t oracle::integerAt(const Elements &elements, int64_t i, bool isUnsigned) {
  if (elements.info.isFloat())
    return toInteger(numberAt(elements, i));
  uint64_t bits = elements.data[i];
  unsigned width = elements.info.width;
  if (isUnsigned || width == 1 || width >= 64)
    return static_cast<int64_t>(bits);
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

void oracle::put(Elements &elements, int64_t i, double value) {
  if (!elements.info.isFloat())
    elements.data[i] = static_cast<uint64_t>(toInteger(value)) & elements.info.mask;
  else if (elements.info.kind == ElementInfo::F32)
    elements.data[i] = fromFloat(static_cast<float>(value));
  else
    elements.store(i, fromDouble(elements.info, value));
}

void oracle::put(Elements &elements, int64_t i, int64_t value) {
  if (elements.info.isFloat())
    put(elements, i, static_cast<double>(value));
  else
    elements.data[i] = static_cast<uint64_t>(value) & elements.info.mask;
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

Shape oracle::broadcastStrides(ArrayRef<int64_t> own, ArrayRef<int64_t> shape) {
  Shape dense = denseStrides(own), strides(shape.size(), 0);
  size_t lead = shape.size() - own.size();
  for (size_t d = 0; d < own.size(); ++d)
    strides[lead + d] = own[d] == 1 ? 0 : dense[d];
  return strides;
}

LogicalResult oracle::broadcast(const Call &call, ArrayRef<const Elements *> operands, Shape &shape) {
  shape.clear();
  for (const Elements *operand : operands) {
    Shape before = shape;
    if (operand->shape.size() > shape.size())
      shape.insert(shape.begin(), operand->shape.size() - shape.size(), 1);
    size_t lead = shape.size() - operand->shape.size();
    for (auto [d, extent] : llvm::enumerate(operand->shape)) {
      int64_t &common = shape[lead + d];
      if (common != 1 && extent != 1 && common != extent)
        return call.mismatch(before, operand->shape);
      common = common == 1 ? extent : common;
    }
  }
  return success();
}

Spatial::Spatial(ArrayRef<int64_t> extents, ArrayRef<nn::Window> own) {
  size_t missing = 3 - extents.size();
  for (size_t d = 0; d < 3; ++d) {
    window[d] = d < missing ? nn::Window{1} : own[d - missing];
    extent[d] = d < missing ? 1 : extents[d - missing];
    places[d] = window[d].places(extent[d]);
  }
}

int64_t Spatial::look(int64_t place, int64_t tap) const {
  int64_t position = 0, scale = 1;
  for (size_t d = 3; d-- > 0;) {
    const nn::Window &w = window[d];
    int64_t i = place % places[d] * w.stride - w.low + tap % w.kernel * w.dilation;
    if (i < 0 || i >= extent[d])
      return -1;
    position += i * scale;
    scale *= extent[d];
    place /= places[d];
    tap /= w.kernel;
  }
  return position;
}

LogicalResult oracle::checkSpatial(const Call &call, size_t count) {
  if (count > 3)
    return call.error("has more than 3 spatial dimensions");
  return success();
}

LogicalResult oracle::checkWindows(const Call &call, ArrayRef<int64_t> extents,
                                   ArrayRef<nn::Window> windows) {
  if (failed(checkSpatial(call, extents.size())))
    return failure();
  for (auto [extent, window] : llvm::zip(extents, windows))
    if (window.places(extent) < 1)
      return call.error("has a window of " + Twine(window.span()) + " elements over " +
                        Twine(extent + window.low + window.high) + " with pads");
  return success();
}
