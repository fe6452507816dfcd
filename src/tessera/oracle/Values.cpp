// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements and the conversions between the formats of floats and the host's numbers.
#include "tessera/oracle/Values.h"

#include "tessera/oracle/Memory.h"

#include <cmath>

using namespace tessera;
using namespace tessera::oracle;

ElementInfo ElementInfo::get(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    type = shaped.getElementType();
  ElementInfo info;
  if (type.isIndex()) {
    info.kind = Int;
    info.width = 64;
  } else if (auto integer = dyn_cast<IntegerType>(type)) {
    info.kind = Int;
    info.width = integer.getWidth();
  } else if (auto floating = dyn_cast<FloatType>(type)) {
    info.semantics = &floating.getFloatSemantics();
    info.width = floating.getWidth();
    info.kind = type.isF16()    ? F16
                : type.isBF16() ? BF16
                : type.isF32()  ? F32
                : type.isF64()  ? F64
                                : OtherFloat;
  }
  info.mask = info.width >= 64 ? ~uint64_t(0) : (uint64_t(1) << info.width) - 1;
  return info;
}

Val Val::of(Elements *elements) {
  Val v;
  v.tag = Tensor;
  v.object = elements;
  return v;
}

int64_t oracle::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

SmallVector<int64_t, 4> oracle::denseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

bool oracle::nextIndex(MutableArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  for (size_t d = index.size(); d-- > 0;) {
    if (++index[d] < shape[d])
      return true;
    index[d] = 0;
  }
  return false;
}

std::string oracle::formatIndex(ArrayRef<int64_t> index) {
  std::string text = "[";
  for (size_t d = 0; d < index.size(); ++d)
    text += (d ? ", " : "") + std::to_string(index[d]);
  return text + "]";
}

Elements::Elements(ElementInfo info, ArrayRef<int64_t> shape, bool isDefined) : info(info), shape(shape) {
  int64_t count = countElements(shape);
  data.resize(count * info.words());
  if (!isDefined)
    defined.resize(count);
}

Val Elements::loadWide(int64_t i) const {
  unsigned words = info.words();
  return Val::integer(APInt(info.width, ArrayRef<uint64_t>(&data[i * words], words)));
}

void Elements::storeSlow(int64_t i, const Val &value) {
  if (value.isUndef()) {
    if (defined.empty())
      defined.assign(size(), 1);
    defined[i] = 0;
    return;
  }
  if (!defined.empty())
    defined[i] = 1;
  if (!info.isWide()) {
    data[i] = value.getBits();
    return;
  }
  APInt bits = value.getInt(info.width);
  std::copy_n(bits.getRawData(), info.words(), &data[i * info.words()]);
}

int64_t Elements::linear(ArrayRef<int64_t> index) const {
  int64_t position = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    if (index[d] < 0 || index[d] >= shape[d])
      return -1;
    position = position * shape[d] + index[d];
  }
  return position;
}

void Elements::copyElement(int64_t to, const Elements &from, int64_t at) { store(to, from.load(at)); }

Elements &oracle::mutate(Val &value) {
  if (!value.isUnique())
    value = Val::of(new Elements(static_cast<const Elements &>(value.elements())));
  return value.elements();
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

uint64_t oracle::roundDouble(double value, int precision, int exponentBits) {
  int bias = (1 << (exponentBits - 1)) - 1;
  int emin = 1 - bias;
  uint64_t sign = static_cast<uint64_t>(std::signbit(value)) << (precision - 1 + exponentBits);
  uint64_t infinity = ((uint64_t(1) << exponentBits) - 1) << (precision - 1);
  if (std::isnan(value))
    return sign | infinity | (uint64_t(1) << (precision - 2));
  if (std::isinf(value))
    return sign | infinity;
  if (value == 0)
    return sign;
  double magnitude = std::fabs(value);
  int exponent = std::max(std::ilogb(magnitude), emin);
  // Scaling by a power of two is exact, so that this is the only rounding.
  auto digits = static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, precision - 1 - exponent)));
  // The digits may carry into the next exponent, or a subnormal into the first normal: the encoding is
  // monotonic.
  uint64_t hidden = uint64_t(1) << (precision - 1);
  uint64_t bits = digits < hidden
                      ? digits
                      : (static_cast<uint64_t>(exponent + bias) << (precision - 1)) + digits - hidden;
  return sign | std::min(bits, infinity);
}

double oracle::halfToDouble(uint64_t bits) {
  int exponent = (bits >> 10) & 31;
  auto mantissa = static_cast<double>(bits & 0x3ff);
  double magnitude;
  if (exponent == 31)
    magnitude = mantissa == 0 ? HUGE_VAL : std::nan("");
  else if (exponent == 0)
    magnitude = mantissa * 0x1p-24;
  else
    magnitude = std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

double oracle::toDouble(const ElementInfo &info, const Val &value) {
  switch (info.kind) {
  case ElementInfo::F32:
    return asFloat(value.getBits());
  case ElementInfo::F64:
    return asDouble(value.getBits());
  case ElementInfo::F16:
    return halfToDouble(value.getBits());
  case ElementInfo::BF16:
    return bfloatToDouble(value.getBits());
  default:
    break;
  }
  APFloat number = value.getFloat(*info.semantics);
  bool lost;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

Val oracle::fromDouble(const ElementInfo &info, double value) {
  switch (info.kind) {
  case ElementInfo::F32:
    return Val::scalar(fromFloat(static_cast<float>(value)));
  case ElementInfo::F64:
    return Val::scalar(fromDouble(value));
  case ElementInfo::F16:
    return Val::scalar(roundDouble(value, 11, 5));
  case ElementInfo::BF16:
    return Val::scalar(roundDouble(value, 8, 8));
  default:
    break;
  }
  APFloat number(value);
  bool lost;
  number.convert(*info.semantics, APFloat::rmNearestTiesToEven, &lost);
  return Val::floating(number);
}

Val oracle::fromLongDouble(const ElementInfo &info, long double value) {
  if (info.kind == ElementInfo::F32)
    return Val::scalar(fromFloat(static_cast<float>(value)));
  return fromDouble(info, static_cast<double>(value));
}
