// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of sampling at places that are not elements: resized grids, given places, regions. What a
// resize reads, and how much of it counts, is computed here and stands in tables.
#include "tessera/transforms/nn/lower/Loops.h"

#include <cmath>

using namespace tessera;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

namespace {
/// One dimension of a resize: for each place of the result, taps with an index and a weight.
struct Taps {
  int64_t count = 1;
  std::vector<int32_t> index;  ///< [count][places]
  std::vector<double> weight;  ///< the same
  std::vector<int8_t> outside; ///< [places]
  bool anyOutside = false;
};
} // namespace

// Where place `at` of the result lies in the input.
static double originOf(ResizeOp op, unsigned d, int64_t at, int64_t in, int64_t out) {
  StringRef mode = op.getCoordinates();
  double scale = op.getScales()[d], length = scale * double(in), x = double(at);
  if (mode == "align_corners")
    return length == 1 ? 0 : x * double(in - 1) / (length - 1);
  if (mode == "asymmetric")
    return x / scale;
  if (mode == "tf_crop_and_resize") {
    unsigned rank = op.getScales().size();
    double from = op.getRoi()[d], to = op.getRoi()[rank + d];
    double moved =
        length == 1 ? (to - from) * double(in - 1) / 2 : x * (to - from) * double(in - 1) / (length - 1);
    return moved + from * double(in - 1);
  }
  if (mode == "pytorch_half_pixel" && length == 1)
    return -0.5;
  double origin = (x + 0.5) / scale - 0.5;
  // The centre stays the centre where the length was rounded.
  if (mode == "half_pixel_symmetric")
    origin += double(in) / 2 * (1 - double(out) / length);
  return origin;
}

// The filter of a mode, at a distance from the place.
static double filterOf(ResizeOp op, double x) {
  x = std::fabs(x);
  if (op.getMode() == "linear")
    return x < 1 ? 1 - x : 0;
  double a = op.getCubic().convertToDouble();
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

static int64_t nearestOf(StringRef how, double x) {
  double low = std::floor(x), part = x - low;
  bool up = part > 0 && (how == "ceil" || (how == "round_prefer_floor" && part > 0.5) ||
                         (how == "round_prefer_ceil" && part >= 0.5));
  return int64_t(low) + up;
}

static Taps computeTaps(ResizeOp op, unsigned d, int64_t in, int64_t out) {
  Taps taps;
  bool nearest = op.getMode() == "nearest";
  // A filter is widened when the grid gets coarser.
  double scale = op.getAntialias() ? std::min(op.getScales()[d], 1.0) : 1;
  int64_t first = nearest ? 0 : int64_t(std::floor((op.getMode() == "linear" ? -1 : -2) / scale)) + 1;
  taps.count = nearest ? 1 : 2 - 2 * first;
  taps.index.resize(taps.count * out);
  taps.weight.resize(taps.count * out);
  taps.outside.assign(out, 0);
  for (int64_t o = 0; o < out; ++o) {
    double x = originOf(op, d, o, in, out);
    if (op.getCoordinates() == "tf_crop_and_resize" && (x < 0 || x > double(in - 1))) {
      taps.outside[o] = 1;
      taps.anyOutside = true;
    }
    // The place lies in (base, base + 1].
    int64_t base = int64_t(std::ceil(x)) - 1;
    double total = 0;
    for (int64_t t = 0; t < taps.count; ++t) {
      int64_t index = nearest ? nearestOf(op.getNearest(), x) : base + first + t;
      double weight = nearest ? 1 : filterOf(op, (double(index) - x) * scale);
      if (op.getExcludeOutside() && (index < 0 || index >= in))
        weight = 0;
      total += weight;
      taps.index[t * out + o] = int32_t(std::clamp<int64_t>(index, 0, in - 1));
      taps.weight[t * out + o] = weight;
    }
    if (total != 0 && (op.getAntialias() || op.getExcludeOutside()))
      for (int64_t t = 0; t < taps.count; ++t)
        taps.weight[t * out + o] /= total;
  }
  return taps;
}

static Value tableOf(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, ArrayRef<int32_t> numbers) {
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(RankedTensorType::get(shape, b.getI32Type()), numbers));
}

static Value tableOf(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, Type real,
                     ArrayRef<double> numbers) {
  auto type = RankedTensorType::get(shape, real);
  SmallVector<Attribute> attrs;
  for (double v : numbers)
    attrs.push_back(b.getFloatAttr(real, v));
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, attrs));
}

static Value readFloat(OpBuilder &b, Location loc, Value tensor, ValueRange at, Type real,
                       bool isUnsigned = false) {
  Value v = tensor::ExtractOp::create(b, loc, tensor, at);
  return isa<FloatType>(v.getType()) ? floatTo(b, loc, v, real) : emitCast(b, loc, v, real, isUnsigned);
}

// x resampled along one dimension, as elements of type `real`.
static Value resample(OpBuilder &b, Location loc, Value x, unsigned d, int64_t out, const Taps &taps,
                      Type real, bool isUnsigned) {
  SmallVector<OpFoldResult> extents = extentsOf(b, loc, x);
  extents[d] = b.getIndexAttr(out);
  Value indices = tableOf(b, loc, {taps.count, out}, taps.index);
  Value weights = tableOf(b, loc, {taps.count, out}, real, taps.weight);
  auto tap = [&](OpBuilder &b, Location loc, SmallVector<Value> ids, Value t) {
    SmallVector<Value> entry = {t, ids[d]};
    Value index = tensor::ExtractOp::create(b, loc, indices, entry);
    Term weight(b, loc, tensor::ExtractOp::create(b, loc, weights, entry));
    ids[d] = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
    return weight * readFloat(b, loc, x, ids, real, isUnsigned);
  };
  if (taps.count <= 4)
    return generate(b, loc, extents, real, [&](OpBuilder &b, Location loc, ValueRange ids) -> Value {
      Term total = tap(b, loc, ids, indexOf(b, loc, 0));
      for (int64_t t = 1; t < taps.count; ++t)
        total = total + tap(b, loc, ids, indexOf(b, loc, t));
      return total;
    });
  // Wide filters: taps are a loop of their own, outside of the innermost dimension.
  unsigned rank = extents.size();
  LoopNest nest(b, loc, rank + 1);
  nest.reduce(rank - 1);
  SmallVector<unsigned> at = llvm::to_vector(llvm::seq<unsigned>(0, rank));
  at.back() = rank;
  nest.shape({b.getIndexAttr(taps.count)}, {nest.dim(rank - 1)});
  nest.write(filledWith(b, loc, extents, constantOf(b, loc, real, 0)), nest.dims(at));
  return nest.build([&](OpBuilder &b, Location loc, ValueRange args) {
    SmallVector<Value> ids;
    for (unsigned i : at)
      ids.push_back(linalg::IndexOp::create(b, loc, i));
    return SmallVector<Value>{Term(b, loc, args[1]) +
                              tap(b, loc, ids, linalg::IndexOp::create(b, loc, rank - 1))};
  })[0];
}

// All dimensions at once: each element is one element of x.
static Value pickNearest(OpBuilder &b, Location loc, Value x, ArrayRef<OpFoldResult> extents,
                         ArrayRef<std::pair<unsigned, Taps>> dims) {
  SmallVector<Value> tables;
  for (const auto &[d, taps] : dims)
    tables.push_back(tableOf(b, loc, {int64_t(taps.index.size())}, taps.index));
  return generate(b, loc, extents, typeOf(x).getElementType(),
                  [&](OpBuilder &b, Location loc, ValueRange ids) -> Value {
                    SmallVector<Value> at(ids);
                    for (auto [entry, table] : llvm::zip(dims, tables)) {
                      Value index = tensor::ExtractOp::create(b, loc, table, ids[entry.first]);
                      at[entry.first] = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
                    }
                    return tensor::ExtractOp::create(b, loc, x, at);
                  });
}

static SmallVector<Value> lowerResize(OpBuilder &b, ResizeOp op) {
  Location loc = op.getLoc();
  Value x = op.getX();
  RankedTensorType from = typeOf(x), to = typeOf(op.getY());
  Type element = from.getElementType();
  Type real = isa<FloatType>(element) ? accumulatorOf(element) : b.getF32Type();
  SmallVector<OpFoldResult> extents = extentsOf(b, loc, x);
  SmallVector<std::pair<unsigned, Taps>> dims;
  for (unsigned d = 0; d < from.getRank(); ++d) {
    int64_t in = from.getDimSize(d), out = to.getDimSize(d);
    bool crop = op.getCoordinates() == "tf_crop_and_resize";
    bool kept = op.getScales()[d] == 1 && in == out &&
                (!crop || (op.getRoi()[d] == 0 && op.getRoi()[from.getRank() + d] == 1));
    if (kept)
      continue;
    if (ShapedType::isDynamic(in) || ShapedType::isDynamic(out))
      return {};
    extents[d] = b.getIndexAttr(out);
    // Nothing to read: the result is empty, too.
    if (!in || !out) {
      for (auto [extent, known] : llvm::zip(extents, to.getShape()))
        if (!ShapedType::isDynamic(known))
          extent = b.getIndexAttr(known);
      return {emptyOf(b, loc, extents, element)};
    }
    dims.push_back({d, computeTaps(op, d, in, out)});
  }
  Value y = x;
  if (op.getMode() == "nearest") {
    y = pickNearest(b, loc, x, extents, dims);
  } else {
    for (const auto &[d, taps] : dims)
      y = resample(b, loc, y, d, to.getDimSize(d), taps, real, op.getIsUnsigned());
    Type now = typeOf(y).getElementType();
    if (now != element)
      y = mapElements(b, loc, extents, element, y, b.getMultiDimIdentityMap(extents.size()),
                      [&](OpBuilder &b, Location loc, ValueRange args) {
                        return isa<FloatType>(element)
                                   ? floatTo(b, loc, args[0], element)
                                   : emitCast(b, loc, args[0], element, false, op.getIsUnsigned());
                      });
  }
  for (const auto &[d, taps] : dims) {
    if (!taps.anyOutside)
      continue;
    Value flags = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(RankedTensorType::get({int64_t(taps.outside.size())}, b.getI8Type()),
                               ArrayRef<int8_t>(taps.outside)));
    AffineMap place = AffineMap::get(extents.size(), 0, b.getAffineDimExpr(d));
    y = mapElements(b, loc, extents, element, {y, flags}, {b.getMultiDimIdentityMap(extents.size()), place},
                    [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                      Value instead = constantOf(b, loc, element, op.getOutside().convertToDouble());
                      return Term(b, loc, args[1]).equal(0).select(args[0], instead);
                    });
  }
  return {y};
}

//===----------------------------------------------------------------------===//
// Given places
//===----------------------------------------------------------------------===//

// Mirrors a coordinate at the ends of [low, high] until it is inside.
static Term reflect(Term x, Term low, Term high) {
  Term range = (high - low).max(1e-6);
  Term below = low - x, above = x - high, zero = x.number(0);
  Term distance = below.max(above).max(zero);
  Term times = (distance / range).floor(), rest = distance - times * range;
  Term even = (times * 0.5).floor().equal((times * 0.5));
  Term fromLow = low + rest, fromHigh = high - rest;
  Term mirrored = zero.less(below).select(even.select(fromLow, fromHigh), even.select(fromHigh, fromLow));
  return zero.less(distance).select(mirrored, x);
}

// Weights of the neighbours at -1, 0, 1, 2 for a place at `part` after 0.
static SmallVector<Term> cubicWeights(Term part) {
  double a = -0.75;
  auto near = [&](Term x) { return (x * (a + 2) - (a + 3)) * x * x + 1.0; };
  auto far = [&](Term x) { return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a; };
  Term one = part.number(1);
  return {far(part + 1.0), near(part), near(one - part), far(one - part + 1.0)};
}

namespace {
/// One dimension of a sample: where its taps are, which of them are inside, and their weights.
struct SampleTaps {
  SmallVector<Term> at, inside, weight;
};
} // namespace

// `place` is in units of elements; `extent` of index type.
static SampleTaps tapsAround(Term place, Term extent, StringRef mode, StringRef padding, bool alignCorners) {
  Term size = extent.toFloat(place.type()), zero = extent.number(0), last = (extent - 1.0).max(zero);
  Term low = place.number(alignCorners ? 0 : -0.5), high = alignCorners ? size - 1.0 : size - 0.5;
  if (mode == "nearest")
    place = place.round();
  Term out = place.less(low) || high.less(place);
  if (padding == "border")
    place = out.select(place.clamp(place.number(0), size - 1.0), place);
  else if (padding == "reflection")
    place = out.select(reflect(place, low, high), place);
  // Farther away nothing changes; the conversion to an index must be defined.
  place = place.clamp(place.number(-4), size + 4.0);
  SampleTaps taps;
  Term floor = mode == "nearest" ? place : place.floor(), part = place - floor;
  int64_t first = mode == "cubic" ? -1 : 0, count = mode == "nearest" ? 1 : mode == "linear" ? 2 : 4;
  if (mode == "nearest")
    taps.weight = {place.number(1)};
  else if (mode == "linear")
    taps.weight = {part.number(1) - part, part};
  else
    taps.weight = cubicWeights(part);
  for (int64_t t = 0; t < count; ++t) {
    Term tap = floor + double(first + t);
    if (padding == "reflection")
      tap = reflect(tap, low, high);
    Term index = tap.toIndex();
    taps.inside.push_back(zero.lessEqual(index) && index.less(extent));
    taps.at.push_back(index.clamp(zero, last));
  }
  return taps;
}

static SmallVector<Value> lowerGridSample(OpBuilder &b, GridSampleOp op) {
  Location loc = op.getLoc();
  Value x = op.getX(), grid = op.getGrid();
  Type element = typeOf(x).getElementType(), real = accumulatorOf(element);
  if (typeOf(grid).getElementType().isF64())
    real = b.getF64Type();
  unsigned spatial = typeOf(x).getRank() - 2;
  SmallVector<OpFoldResult> in = extentsOf(b, loc, x), places = extentsOf(b, loc, grid),
                            extents = {in[0], in[1]};
  extents.append(places.begin() + 1, places.end() - 1);
  SmallVector<Value> limits;
  for (OpFoldResult extent : in)
    limits.push_back(asValue(b, loc, extent));
  StringRef mode = op.getMode() == "bilinear" ? "linear" : op.getMode() == "bicubic" ? "cubic" : op.getMode();
  return {generate(b, loc, extents, element, [&](OpBuilder &b, Location loc, ValueRange ids) -> Value {
    SmallVector<SampleTaps> taps;
    for (unsigned i = 0; i < spatial; ++i) {
      // The grid names the innermost dimension first.
      SmallVector<Value> at = {ids[0]};
      at.append(ids.begin() + 2, ids.end());
      at.push_back(indexOf(b, loc, spatial - 1 - i));
      Term place(b, loc, readFloat(b, loc, grid, at, real)), extent(b, loc, limits[2 + i]);
      Term size = extent.toFloat(real);
      place = op.getAlignCorners() ? (place + 1.0) / 2.0 * (size - 1.0) : ((place + 1.0) * size - 1.0) / 2.0;
      taps.push_back(tapsAround(place, extent, mode, op.getPadding(), op.getAlignCorners()));
    }
    Term total(b, loc, constantOf(b, loc, real, 0));
    unsigned count = taps[0].at.size(), combinations = 1;
    for (unsigned i = 0; i < spatial; ++i)
      combinations *= count;
    for (unsigned c = 0; c < combinations; ++c) {
      SmallVector<Value> at = {ids[0], ids[1]};
      std::optional<Term> weight, inside;
      unsigned rest = c;
      for (unsigned i = 0; i < spatial; ++i, rest /= count) {
        unsigned t = rest % count;
        at.push_back(taps[i].at[t]);
        weight = weight ? *weight * taps[i].weight[t] : taps[i].weight[t];
        inside = inside ? *inside && taps[i].inside[t] : taps[i].inside[t];
      }
      Term v(b, loc, readFloat(b, loc, x, at, real));
      if (op.getPadding() == "zeros")
        v = inside->select(v, v.number(0));
      total = mode == "nearest" ? v : total + v * *weight;
    }
    return floatTo(b, loc, total, element);
  })};
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {
/// The two elements around a sample along one dimension, clamped into the input.
struct Neighbours {
  Neighbours(Term place, Term extent) : low(extent), high(extent), part(place) {
    Term last = (extent - 1.0).max(0), limit = last.toFloat(place.type());
    Term inside = place.clamp(place.number(0), limit);
    low = inside.floor().toIndex();
    high = (low + 1.0).min(last);
    part = inside - inside.floor();
  }
  Term low, high, part;
};
} // namespace

static SmallVector<Value> lowerRoiAlign(OpBuilder &b, RoiAlignOp op) {
  Location loc = op.getLoc();
  Value x = op.getX(), rois = op.getRois(), batch = op.getBatch();
  Type element = typeOf(x).getElementType(), real = accumulatorOf(element);
  SmallVector<OpFoldResult> in = extentsOf(b, loc, x);
  SmallVector<OpFoldResult> extents = {tensor::getMixedSize(b, loc, rois, 0), in[1],
                                       b.getIndexAttr(op.getHeight()), b.getIndexAttr(op.getWidth())};
  Value items = asValue(b, loc, in[0]), limits[] = {asValue(b, loc, in[2]), asValue(b, loc, in[3])};
  bool max = op.getMode() == "max";
  double scale = op.getScale().convertToDouble(), offset = op.getHalfPixel() ? 0.5 : 0;
  int64_t places[] = {int64_t(op.getHeight()), int64_t(op.getWidth())};
  return {generate(b, loc, extents, element, [&](OpBuilder &b, Location loc, ValueRange ids) -> Value {
    Value item =
        emitOffset(b, loc, tensor::ExtractOp::create(b, loc, batch, ids[0]), items, "the batch of roi_align");
    // For rows and columns: where the first sample is, how far apart they are, and how many.
    SmallVector<Term> start, step, count;
    for (unsigned i = 0; i < 2; ++i) {
      auto corner = [&](unsigned at) {
        return Term(b, loc, readFloat(b, loc, rois, {ids[0], indexOf(b, loc, at)}, real)) * scale - offset;
      };
      Term from = corner(1 - i), length = corner(3 - i) - from;
      if (!op.getHalfPixel())
        length = length.max(1.0);
      Term bin = length / double(places[i]);
      Term samples =
          op.getSampling() > 0 ? bin.number(op.getSampling()) : bin.apply(UnaryKind::ceil).clamp(0, 1 << 20);
      start.push_back(from + Term(b, loc, ids[2 + i]).toFloat(real) * bin);
      step.push_back(bin / samples);
      count.push_back(samples.toIndex());
    }
    Value zero = indexOf(b, loc, 0), one = indexOf(b, loc, 1);
    double lowest = -std::numeric_limits<double>::infinity();
    Value init = constantOf(b, loc, real, max ? lowest : 0);
    auto loops = scf::buildLoopNest(
        b, loc, {zero, zero}, {count[0], count[1]}, {one, one}, init,
        [&](OpBuilder &b, Location loc, ValueRange sample, ValueRange carried) -> SmallVector<Value> {
          SmallVector<Neighbours> near;
          Term inside(b, loc, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
          for (unsigned i = 0; i < 2; ++i) {
            Term place = Term(b, loc, start[i]) + (Term(b, loc, sample[i]).toFloat(real) + 0.5) * step[i];
            Term extent(b, loc, limits[i]);
            inside = inside && place.number(-1).lessEqual(place) && place.lessEqual(extent.toFloat(real));
            near.push_back(Neighbours(place, extent));
          }
          Term total(b, loc, carried[0]);
          std::optional<Term> best, sum;
          for (unsigned corner = 0; corner < 4; ++corner) {
            bool down = corner & 2, right = corner & 1;
            Term row = near[0].part, column = near[1].part;
            Term weight = (down ? row : row.number(1) - row) * (right ? column : column.number(1) - column);
            Term v(b, loc,
                   readFloat(
                       b, loc, x,
                       {item, ids[1], down ? near[0].high : near[0].low, right ? near[1].high : near[1].low},
                       real));
            v = inside.select(v * weight, v.number(0));
            best = best ? best->max(v) : v;
            sum = sum ? *sum + v : v;
          }
          return {max ? total.max(*best) : total + *sum};
        });
    Term total(b, loc, loops.results[0]);
    Term samples = count[0] * count[1];
    if (max)
      total = samples.equal(0.0).select(total.number(0), total);
    else
      total = total / samples.max(1).toFloat(real);
    return floatTo(b, loc, total, element);
  })};
}

void nn::populateSample(RewritePatternSet &patterns) {
  addBuilder<ResizeOp>(patterns, lowerResize);
  addBuilder<GridSampleOp>(patterns, lowerGridSample);
  addBuilder<RoiAlignOp>(patterns, lowerRoiAlign);
}
