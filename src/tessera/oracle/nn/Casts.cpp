// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Other element types and formats: casts, quantisation.
#include "tessera/oracle/nn/Nn.h"

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

static const llvm::fltSemantics *semanticsOf(Format format) {
  switch (format) {
  case Format::f8e4m3fn:
    return &APFloat::Float8E4M3FN();
  case Format::f8e4m3fnuz:
    return &APFloat::Float8E4M3FNUZ();
  case Format::f8e5m2:
    return &APFloat::Float8E5M2();
  case Format::f8e5m2fnuz:
    return &APFloat::Float8E5M2FNUZ();
  case Format::f8e8m0:
    return &APFloat::Float8E8M0FNU();
  case Format::f4e2m1:
    return &APFloat::Float4E2M1FN();
  default:
    return nullptr;
  }
}

bool oracle::isFloatFormat(Format format) { return semanticsOf(format); }

// Bits and sign of an integer format that is stored in bytes.
static std::pair<unsigned, bool> smallInteger(Format format) {
  unsigned width = format == Format::i4 || format == Format::u4 ? 4 : 2;
  return {width, format == Format::i4 || format == Format::i2};
}

double oracle::decodeFormat(Format format, uint64_t bits) {
  if (const llvm::fltSemantics *semantics = semanticsOf(format)) {
    unsigned width = APFloat::getSizeInBits(*semantics);
    APFloat number(*semantics, APInt(width, bits, /*isSigned=*/false, /*implicitTrunc=*/true));
    bool lost;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return number.convertToDouble();
  }
  auto [width, isSigned] = smallInteger(format);
  auto value = static_cast<int64_t>(bits & ((1u << width) - 1));
  return isSigned && value >> (width - 1) ? value - (1 << width) : value;
}

// A power of two, 2^(bits - 127); what is behind the binary point decides by mode. The sign is lost.
static uint64_t encodeExponent(double value, bool wrap, StringRef roundMode) {
  auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  uint32_t exponent = bits >> 23 & 255, fraction = bits & 0x7fffff, half = 0x400000;
  if (exponent == 255)
    return 255;
  // A tie goes up: the lowest bit of the significand is the hidden one, which is set but for subnormals.
  bool up = roundMode == "up"     ? fraction != 0
            : roundMode == "down" ? false
                                  : fraction > half || (fraction == half && exponent != 0);
  return up && (wrap || exponent < 254) ? exponent + 1 : exponent;
}

uint64_t oracle::encodeFormat(Format format, double value, bool wrap, StringRef roundMode) {
  if (format == Format::f8e8m0)
    return encodeExponent(value, wrap, roundMode);
  const llvm::fltSemantics *semantics = semanticsOf(format);
  if (!semantics) {
    auto [width, isSigned] = smallInteger(format);
    uint64_t low = static_cast<uint64_t>(toInteger(value)) & ((1u << width) - 1);
    return isSigned && low >> (width - 1) ? (low | ~uint64_t(0) << width) & 255 : low;
  }
  // The 4-bit float has neither infinity nor NaN; what is no number becomes -0, as there is nothing better.
  if (format == Format::f4e2m1) {
    if (std::isnan(value))
      return 8;
    wrap = false;
  }
  double most = APFloat::getLargest(*semantics).convertToDouble();
  if (!wrap && !std::isnan(value))
    value = std::clamp(value, -most, most);
  APFloat number(value);
  bool lost;
  if (std::isinf(value) && format != Format::f8e5m2)
    number = APFloat::getNaN(APFloat::IEEEdouble(), std::signbit(value));
  number.convert(*semantics, APFloat::rmNearestTiesToEven, &lost);
  return number.bitcastToAPInt().getZExtValue();
}

std::pair<int64_t, int64_t> oracle::integerRange(Format format, unsigned width) {
  bool isSigned = format == Format::plain;
  if (isByteFormat(format))
    std::tie(width, isSigned) = smallInteger(format);
  if (isSigned && width >= 64)
    return {INT64_MIN, INT64_MAX};
  if (isSigned)
    return {-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1};
  return {0, width >= 63 ? INT64_MAX : (int64_t(1) << width) - 1};
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

static LogicalResult runCast(Call &call, CastOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  Format from = op.getFrom(), to = op.getTo();
  bool isUnsigned = from == Format::unsigned_;
  bool isInteger = !x.info.isFloat() && !isFloatFormat(from);
  for (int64_t i = 0, count = x.size(); i < count; ++i) {
    double number = isByteFormat(from) ? decodeFormat(from, x.data[i]) : numberAt(x, i, isUnsigned);
    int64_t integer = isByteFormat(from) ? toInteger(number) : integerAt(x, i, isUnsigned);
    if (isByteFormat(to))
      y->data[i] = encodeFormat(to, isFloatFormat(to) || !isInteger ? number : static_cast<double>(integer),
                                op.getWrap(), op.getRoundMode());
    else if (y->info.width == 1 && !y->info.isFloat())
      y->data[i] = isInteger ? integer != 0 : number != 0;
    else if (isInteger && !y->info.isFloat())
      put(*y, i, integer);
    else if (isInteger && y->info.kind == ElementInfo::F32)
      // Directly, as a 64-bit integer may be rounded on its way through double.
      y->data[i] = fromFloat(isUnsigned ? static_cast<float>(static_cast<uint64_t>(integer))
                                        : static_cast<float>(integer));
    else
      put(*y, i, number);
  }
  return success();
}

static LogicalResult runBitcast(Call &call, BitcastOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  // An i1 is the lowest bit of its byte.
  for (int64_t i = 0, count = x.size(); i < count; ++i)
    y->data[i] = x.data[i] & y->info.mask;
  return success();
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

// The position of an element's scale: one for all, one for each place of the axis, or one for each block
// there.
static int64_t scalePosition(const Elements &scale, ArrayRef<int64_t> index, int64_t axis, int64_t block) {
  if (scale.size() == 1)
    return 0;
  if (block == 0)
    return index[axis];
  Shape at(index);
  at[axis] /= block;
  return scale.linear(at);
}

static LogicalResult checkScale(const Call &call, const Elements &x, const Elements &scale, int64_t axis,
                                int64_t block) {
  if (scale.size() == 1 || (block == 0 && scale.shape.size() == 1 && scale.shape[0] == x.shape[axis]))
    return success();
  Shape expected = x.shape;
  if (block > 0)
    expected[axis] = llvm::divideCeil(expected[axis], block);
  return block > 0 && scale.shape == expected ? success() : call.mismatch(x.shape, scale.shape);
}

static double zeroAt(const Elements *zero, int64_t i, Format format) {
  if (!zero)
    return 0;
  return isByteFormat(format) ? decodeFormat(format, zero->data[i])
                              : numberAt(*zero, i, format == Format::unsigned_);
}

static LogicalResult runQuantize(Call &call, QuantizeOp op) {
  const Elements &x = call[op.getX()], &scale = call[op.getScale()], *zero = call.find(op.getZero());
  int64_t axis = op.getAxis(), block = op.getBlock();
  if (failed(checkScale(call, x, scale, axis, block)))
    return failure();
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  Format to = op.getTo();
  // The quotient is one of the operands' type before it is rounded to an integer.
  const ElementInfo &type = x.info.isFloat() && x.info.width >= scale.info.width ? x.info : scale.info;
  Shape index(x.shape.size());
  for (int64_t i = 0, count = x.size(); i < count; ++i, nextIndex(index, x.shape)) {
    int64_t s = scalePosition(scale, index, axis, block);
    double quotient = toDouble(type, fromDouble(type, numberAt(x, i) / numberAt(scale, s)));
    if (isFloatFormat(to)) {
      y->data[i] = encodeFormat(to, quotient + zeroAt(zero, s, to), op.getWrap(), "nearest");
      continue;
    }
    auto [low, high] = integerRange(to, y->info.width);
    double moved = std::nearbyint(quotient) + zeroAt(zero, s, to);
    int64_t integer = moved != moved                       ? 0
                      : moved <= static_cast<double>(low)  ? low
                      : moved >= static_cast<double>(high) ? high
                                                           : static_cast<int64_t>(moved);
    put(*y, i, integer);
  }
  return success();
}

static LogicalResult runDequantize(Call &call, DequantizeOp op) {
  const Elements &x = call[op.getX()], &scale = call[op.getScale()], *zero = call.find(op.getZero());
  int64_t axis = op.getAxis(), block = op.getBlock();
  if (failed(checkScale(call, x, scale, axis, block)))
    return failure();
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  Format from = op.getFrom();
  Shape index(x.shape.size());
  for (int64_t i = 0, count = x.size(); i < count; ++i, nextIndex(index, x.shape)) {
    int64_t s = scalePosition(scale, index, axis, block);
    double number =
        isByteFormat(from) ? decodeFormat(from, x.data[i]) : numberAt(x, i, from == Format::unsigned_);
    put(*y, i, (number - zeroAt(zero, s, from)) * numberAt(scale, s));
  }
  return success();
}

void oracle::addNnCasts(HandlerTable &table) {
  addNnOp<CastOp, runCast>(table);
  addNnOp<BitcastOp, runBitcast>(table);
  addNnOp<QuantizeOp, runQuantize>(table);
  addNnOp<DequantizeOp, runDequantize>(table);
}
