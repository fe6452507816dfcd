// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Resample.h. Places and weights are computed at launch, in f32 as ONNX Runtime does, and elements are
// gathered along one axis after the other.
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Resample.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace tessera;
using namespace tessera::onnximport;
using nn::BinaryKind;
using nn::UnaryKind;

static constexpr DataType f32 = DataType::F32, i64 = DataType::I64;

Ext onnximport::scaledExtent(NodeContext &c, Ext extent, double scale) {
  if (extent.isStatic()) {
    double scaled = std::floor(float(extent.size) * float(scale));
    if (!(scaled >= 0 && scaled <= double(maxElements)))
      return c.fail("expected scales and a region that give extents from 0 to " + Twine(maxElements)), Ext(1);
    return Ext(int64_t(scaled));
  }
  // scale = number / 2^bits
  int exponent;
  double fraction = std::frexp(scale, &exponent);
  auto number = int64_t(std::ldexp(fraction, 24));
  int bits = 24 - exponent;
  for (; number && number % 2 == 0 && bits > 0; number /= 2)
    --bits;
  if (bits < 0 || bits > 40)
    return c.fail("a scale of " + Twine(std::to_string(scale)) +
                  " along a dynamic extent is not supported; expected one between 1e-4 and 1e6"),
           Ext(1);
  Ext product = c.mul(extent, Ext(number));
  // Where the product does not fit the digits of an f32, it is rounded there before it is cut off.
  if (number >= 1 << 12)
    product = c.add(product, c.floordiv(product, Ext(int64_t(1) << 24)));
  return c.floordiv(product, Ext(int64_t(1) << bits));
}

// How many times as large a computed extent is for certain; 0 where that is not seen.
static int64_t ratio(const Ext &extent, const Ext &of) {
  auto product = extent.value ? extent.value.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!product || !of.value)
    return 0;
  for (auto [a, b] :
       {std::pair(product.getLhs(), product.getRhs()), std::pair(product.getRhs(), product.getLhs())})
    if (std::optional<int64_t> times = getConstantIntValue(b); times && a == of.value)
      return *times;
  return 0;
}

// Each element several times is a copy, which needs no places.
static bool isRepetition(const ResizeWords &w) {
  if (w.mode != "nearest")
    return false;
  if (w.coordinates == "asymmetric")
    return w.nearest == "floor";
  return (w.coordinates == "half_pixel" || w.coordinates == "half_pixel_symmetric" ||
          w.coordinates == "pytorch_half_pixel") &&
         (w.nearest == "round_prefer_floor" || w.nearest == "round_prefer_ceil");
}

static Value repeat(NodeContext &c, Value x, int64_t axis, int64_t times) {
  Exts apart = c.exts(x), whole = apart;
  whole[axis] = c.mul(whole[axis], Ext(times));
  apart.insert(apart.begin() + axis + 1, Ext(times));
  return c.reshape(c.broadcast(c.unsqueeze(x, {axis + 1}), apart), whole);
}

namespace {
/// One axis of a resize.
struct Axis {
  NodeContext &c;
  Value x;
  int64_t axis;
  Ext in, out;
  Value scale; ///< f32
  const ResizeWords &words;

  Value real(double v) { return c.scalar(v, f32); }
  Value real(const Ext &e) { return c.castTo(c.number(e), i64, f32); }
  Value origins();
  Value clamp(Value at) {
    return c.binary(BinaryKind::max, c.binary(BinaryKind::min, at, real(c.sub(in, Ext(1)))), real(0.0));
  }
  /// Elements at places that are f32 without fractions.
  Value at(Value place) { return c.gather(x, c.castTo(clamp(place), f32, i64), axis); }
  Value nearest(Value origin);
  Value linear(Value origin);
  Value cubic(Value origin);
};
} // namespace

// Where each place of the result lies in the operand.
Value Axis::origins() {
  Value place = c.castTo(c.places(out, Ext(0), 1), i64, f32);
  StringRef how = words.coordinates;
  auto halfPixel = [&] { return c.sub(c.div(c.add(place, real(0.5)), scale), real(0.5)); };
  auto unlessOne = [&](Value origin) {
    Value single = c.binary(BinaryKind::eq, c.number(out), c.number(Ext(1)));
    return c.select(single, real(0.0), origin);
  };
  if (how == "half_pixel")
    return halfPixel();
  if (how == "asymmetric")
    return c.div(place, scale);
  if (how == "align_corners")
    return unlessOne(c.div(c.mul(place, real(c.sub(in, Ext(1)))), real(c.max(c.sub(out, Ext(1)), Ext(1)))));
  if (how == "pytorch_half_pixel")
    return unlessOne(halfPixel());
  if (how == "half_pixel_symmetric") {
    // The centre stays the centre where the length was rounded.
    Value part = c.div(real(out), c.mul(scale, real(in)));
    return c.add(halfPixel(), c.mul(c.mul(real(in), real(0.5)), c.sub(real(1.0), part)));
  }
  c.fail("coordinates '" + ::tessera::onnx::printable(words.coordinates) +
         "' along a dynamic extent are not supported; export the model with fixed heights and widths");
  return {};
}

Value Axis::nearest(Value origin) {
  StringRef how = words.nearest;
  if (how == "floor")
    return at(c.unary(UnaryKind::floor, origin));
  if (how == "ceil")
    return at(c.unary(UnaryKind::ceil, origin));
  if (how == "round_prefer_ceil")
    return at(c.unary(UnaryKind::floor, c.add(origin, real(0.5))));
  return at(c.unary(UnaryKind::ceil, c.sub(origin, real(0.5))));
}

Value Axis::linear(Value origin) {
  origin = clamp(origin);
  Value low = c.unary(UnaryKind::floor, origin), part = c.along(c.sub(origin, low), axis, c.rank(x));
  Value a = at(low), b = at(c.add(low, real(1.0)));
  return c.add(c.mul(c.sub(real(1.0), part), a), c.mul(part, b));
}

Value Axis::cubic(Value origin) {
  Value low = c.unary(UnaryKind::floor, origin), part = c.sub(origin, low), total, sum;
  double a = words.cubic;
  Value last = real(c.sub(in, Ext(1)));
  for (int tap = -1; tap <= 2; ++tap) {
    // The distance of the tap, which is within 1 of the place or within 2.
    Value d = tap <= 0 ? c.add(part, real(double(-tap))) : c.sub(real(double(tap)), part);
    Value weight;
    if (tap == 0 || tap == 1)
      weight = c.add(c.mul(c.mul(c.sub(c.mul(real(a + 2), d), real(a + 3)), d), d), real(1.0));
    else
      weight = c.sub(c.mul(c.mul(c.add(c.mul(c.sub(d, real(5.0)), d), real(8.0)), d), real(a)), real(4 * a));
    Value place = c.add(low, real(double(tap)));
    if (words.excludeOutside) {
      Value inside = c.binary(BinaryKind::and_, c.binary(BinaryKind::ge, place, real(0.0)),
                              c.binary(BinaryKind::le, place, last));
      weight = c.select(inside, weight, real(0.0));
      total = total ? c.add(total, weight) : weight;
    }
    Value term = c.mul(c.along(weight, axis, c.rank(x)), at(place));
    sum = sum ? c.add(sum, term) : term;
  }
  return total ? c.div(sum, c.along(total, axis, c.rank(x))) : sum;
}

Value onnximport::resizeOpen(NodeContext &c, Value x, int64_t axis, Ext extent, std::optional<double> scale,
                             const ResizeWords &words, DataType type) {
  if (!x || c.bad)
    return {};
  Ext in = c.ext(x, axis);
  if (c.same(in, extent) && (!scale || *scale == 1))
    return x;
  int64_t times = !scale                                          ? ratio(extent, in)
                  : *scale == std::floor(*scale) && *scale < 1024 ? int64_t(*scale)
                                                                  : 0;
  if (times && isRepetition(words))
    return repeat(c, x, axis, times);
  Axis a{c, x, axis, in, extent, {}, words};
  a.scale = scale ? a.real(*scale) : c.div(a.real(extent), a.real(in));
  Value origin = a.origins();
  if (words.mode == "nearest")
    return a.nearest(origin);
  if (!isFloat(type))
    return c.fail("only floats can be interpolated along a dynamic extent; put a Cast in front"), Value();
  Type own = c.elem(x);
  if (type != DataType::F64)
    a.x = c.castFloat(x, c.elem(f32));
  else
    return c.fail("f64 cannot be interpolated along a dynamic extent; put a Cast in front"), Value();
  return c.castFloat(words.mode == "cubic" ? a.cubic(origin) : a.linear(origin), own);
}
