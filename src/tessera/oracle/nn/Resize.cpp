// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading between the elements of a grid: resize, sampling at given places, regions.
#include "tessera/oracle/nn/Nn.h"

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// Resize
//===----------------------------------------------------------------------===//

// The cubic convolution kernel with parameter a at distance x.
static double cubicKernel(double x, double a) {
  x = std::fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * a * x - 4 * a : 0;
}

namespace {
// One dimension of a resize: for each place of the result, which elements it takes and their weights.
struct Tap {
  int64_t position;
  double weight;
};
using Taps = SmallVector<Tap, 4>;

struct ResizeAxis {
  ResizeOp op;
  int64_t in, out;
  double scale, low, high; // the region, for tf_crop_and_resize

  // Where a place of the result lies in the operand.
  double source(int64_t place);
  Taps taps(double at);
};
} // namespace

double ResizeAxis::source(int64_t place) {
  auto p = static_cast<double>(place), extent = static_cast<double>(in);
  // Not the result's extent when the scale does not divide evenly.
  double length = scale * extent;
  StringRef mode = op.getCoordinates();
  if (mode == "align_corners")
    return length == 1 ? 0 : p * (extent - 1) / (length - 1);
  if (mode == "asymmetric")
    return p / scale;
  if (mode == "tf_crop_and_resize")
    return low * (extent - 1) +
           (length == 1 ? (high - low) * (extent - 1) / 2 : p * (high - low) * (extent - 1) / (length - 1));
  if (mode == "pytorch_half_pixel" && length == 1)
    return -0.5;
  if (mode == "tf_half_pixel_for_nn")
    return (p + 0.5) / scale;
  double moved = 0;
  if (mode == "half_pixel_symmetric")
    moved = extent / 2 * (1 - static_cast<double>(out) / length);
  return moved + (p + 0.5) / scale - 0.5;
}

Taps ResizeAxis::taps(double at) {
  // The left neighbour is strictly left, so that `ratio` is in (0, 1].
  auto left = static_cast<int64_t>(std::ceil(at)) - 1;
  double ratio = at - static_cast<double>(left);
  auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i, 0, in - 1); };
  StringRef mode = op.getMode();
  if (mode == "nearest") {
    StringRef how = op.getNearest();
    bool isRight = ratio == 1 || how == "ceil" || (how == "round_prefer_floor" && ratio > 0.5) ||
                   (how == "round_prefer_ceil" && ratio >= 0.5);
    return {{clamp(left + isRight), 1}};
  }
  bool isCubic = mode == "cubic";
  // Shrinking with antialias widens the kernel.
  double stretch = op.getAntialias() ? std::min(scale, 1.0) : 1;
  int64_t first = static_cast<int64_t>(std::floor((isCubic ? -2 : -1) / stretch)) + 1;
  Taps taps;
  double sum = 0;
  for (int64_t i = first; i <= 1 - first; ++i) {
    double distance = (static_cast<double>(i) - ratio) * stretch;
    double weight = isCubic ? cubicKernel(distance, op.getCubic().convertToDouble())
                            : std::max(0.0, 1 - std::fabs(distance));
    if (op.getExcludeOutside() && clamp(left + i) != left + i)
      weight = 0;
    taps.push_back({clamp(left + i), weight});
    sum += weight;
  }
  for (Tap &tap : taps)
    tap.weight /= sum;
  return taps;
}

// Dimensions are independent: one after the other.
static LogicalResult runResize(Call &call, ResizeOp op) {
  const Elements &x = call[op.getX()];
  auto type = cast<ShapedType>(op.getY().getType());
  size_t rank = x.shape.size();
  Shape shape(type.getShape()), now = x.shape;
  for (size_t d = 0; d < rank; ++d)
    if (ShapedType::isDynamic(shape[d]))
      shape[d] = static_cast<int64_t>(std::floor(static_cast<double>(x.shape[d]) * op.getScales()[d]));
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  bool isCrop = op.getCoordinates() == "tf_crop_and_resize";
  std::vector<double> values = numbers<double>(x, op.getIsUnsigned());
  std::vector<std::vector<bool>> outside(rank);
  for (size_t d = 0; d < rank; ++d) {
    double low = isCrop ? op.getRoi()[d] : 0, high = isCrop ? op.getRoi()[rank + d] : 1;
    outside[d].resize(shape[d]);
    if (now[d] == shape[d] && op.getScales()[d] == 1 && low == 0 && high == 1)
      continue;
    if (now[d] == 0 && shape[d] > 0)
      return call.error("resamples a dimension without elements");
    ResizeAxis axis{op, now[d], shape[d], op.getScales()[d], low, high};
    Axis from(now, d);
    now[d] = shape[d];
    Axis to(now, d);
    std::vector<double> next(countElements(now));
    for (int64_t e = 0; e < to.extent; ++e) {
      double source = axis.source(e);
      outside[d][e] = isCrop && (source < 0 || source > static_cast<double>(from.extent - 1));
      if (outside[d][e])
        continue;
      Taps taps = axis.taps(source);
      for (int64_t o = 0; o < to.outer; ++o)
        for (int64_t i = 0; i < to.inner; ++i) {
          double sum = 0;
          for (const Tap &tap : taps)
            sum += tap.weight * values[from.position(o, tap.position, i)];
          next[to.position(o, e, i)] = sum;
        }
    }
    values = std::move(next);
  }
  Shape index(rank);
  bool isInteger = !x.info.isFloat();
  auto [least, most] = integerRange(op.getIsUnsigned() ? Format::unsigned_ : Format::plain, x.info.width);
  for (int64_t i = 0, count = y->size(); i < count; ++i, nextIndex(index, shape)) {
    double value = values[i];
    for (size_t d = 0; d < rank; ++d)
      if (outside[d][index[d]])
        value = op.getOutside().convertToDouble();
    // Integers are rounded and saturate.
    if (isInteger)
      value = std::clamp(std::nearbyint(value), static_cast<double>(least), static_cast<double>(most));
    put(*y, i, value);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

namespace {
// One spatial dimension of grid_sample. Coordinates are computed in the grid's precision, because they are
// rounded and compared: T is float or double.
template <typename T> struct GridAxis {
  int64_t extent;
  bool alignCorners;
  StringRef padding;

  T low() const { return alignCorners ? T(0) : T(-0.5); }
  T high() const { return static_cast<T>(extent) - (alignCorners ? T(1) : T(0.5)); }

  // From [-1, 1] to elements.
  T denormalise(T n) const {
    auto length = static_cast<T>(extent);
    return alignCorners ? (n + 1) / T(2) * (length - 1) : ((n + 1) * length - 1) / T(2);
  }
  // Back and forth between the borders.
  T reflect(T x) const {
    T range = high() - low();
    if (range <= 0)
      return 0;
    bool isBelow = x < low();
    if (!isBelow && x <= high())
      return x;
    T distance = isBelow ? low() - x : x - high();
    T turns = std::floor(distance / range), rest = distance - turns * range;
    bool fromLow = isBelow == (std::fmod(turns, T(2)) == 0);
    return fromLow ? low() + rest : high() - rest;
  }
  T enter(T x) const {
    if (x >= low() && x <= high())
      return x;
    if (padding == "border")
      return std::clamp(x, T(0), static_cast<T>(extent - 1));
    return padding == "reflection" ? reflect(x) : x;
  }
  // The element at a neighbour's index; -1 for a zero.
  int64_t look(int64_t i) const {
    if (i >= 0 && i < extent)
      return i;
    if (padding == "zeros")
      return -1;
    if (padding == "border")
      return std::clamp<int64_t>(i, 0, extent - 1);
    return std::clamp<int64_t>(static_cast<int64_t>(reflect(static_cast<T>(i))), 0, extent - 1);
  }
  Taps taps(T n, StringRef mode) const {
    T x = denormalise(n);
    // What no element is near to; a zero weight for NaN would hide it.
    if (!std::isfinite(x))
      return {{0, std::nan("")}};
    bool isNearest = mode == "nearest";
    x = enter(isNearest ? std::nearbyint(x) : x);
    // So far out that there is nothing; no integer need hold it.
    if (std::fabs(x) > T(0x1p40))
      return {{-1, 1}};
    auto left = static_cast<int64_t>(std::floor(x));
    if (isNearest)
      return {{look(static_cast<int64_t>(x)), 1}};
    double ratio = static_cast<double>(x) - static_cast<double>(left);
    if (mode == "linear")
      return {{look(left), 1 - ratio}, {look(left + 1), ratio}};
    Taps taps;
    for (int64_t i = -1; i <= 2; ++i)
      taps.push_back({look(left + i), cubicKernel(ratio - static_cast<double>(i), -0.75)});
    return taps;
  }
};
} // namespace

// Sums over all combinations of taps, the last dimension innermost.
static double combine(ArrayRef<Taps> taps, ArrayRef<int64_t> extents, const double *plane, int64_t position) {
  if (taps.empty())
    return plane[position];
  double sum = 0;
  for (const Tap &tap : taps.front())
    if (tap.position >= 0)
      sum += tap.weight *
             combine(taps.drop_front(), extents.drop_front(), plane, position * extents[0] + tap.position);
  return sum;
}

template <typename T> static LogicalResult sampleGrid(Call &call, GridSampleOp op) {
  const Elements &x = call[op.getX()], &grid = call[op.getGrid()];
  ArrayRef<int64_t> spatial = ArrayRef(x.shape).drop_front(2);
  size_t rank = spatial.size();
  Shape shape = {x.shape[0], x.shape[1]};
  llvm::append_range(shape, ArrayRef(grid.shape).drop_front().drop_back());
  if (grid.shape[0] != x.shape[0] || grid.shape.back() != static_cast<int64_t>(rank))
    return call.mismatch(x.shape, grid.shape);
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  if (llvm::is_contained(spatial, 0) && y->size())
    return call.error("samples a tensor without elements");
  std::vector<double> in = numbers<double>(x);
  int64_t places = countElements(ArrayRef(shape).drop_front(2)), size = countElements(spatial);
  SmallVector<Taps> taps(rank);
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t place = 0; place < places; ++place) {
      // A grid names the innermost dimension first.
      for (size_t d = 0; d < rank; ++d) {
        GridAxis<T> axis{spatial[d], op.getAlignCorners(), op.getPadding()};
        auto n0 = static_cast<T>(numberAt(grid, (n * places + place) * rank + rank - 1 - d));
        taps[d] = axis.taps(n0, op.getMode());
      }
      for (int64_t c = 0; c < shape[1]; ++c)
        put(*y, (n * shape[1] + c) * places + place,
            combine(taps, spatial, in.data() + (n * shape[1] + c) * size, 0));
    }
  return success();
}

static LogicalResult runGridSample(Call &call, GridSampleOp op) {
  bool isDouble = call[op.getGrid()].info.kind == ElementInfo::F64;
  return isDouble ? sampleGrid<double>(call, op) : sampleGrid<float>(call, op);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

namespace {
// The four neighbours of a sample and their weights.
struct RoiSample {
  int64_t positions[4] = {};
  double weights[4] = {};
};
} // namespace

static RoiSample sampleAt(double y, double x, int64_t height, int64_t width) {
  RoiSample sample;
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width)))
    return sample;
  auto split = [](double p, int64_t extent, int64_t &low, int64_t &high, double &ratio) {
    p = std::max(p, 0.0);
    low = std::min(static_cast<int64_t>(p), extent - 1);
    high = std::min(low + 1, extent - 1);
    ratio = low == high ? 0 : p - static_cast<double>(low);
  };
  int64_t top, bottom, left, right;
  double fy, fx;
  split(y, height, top, bottom, fy);
  split(x, width, left, right, fx);
  return {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
          {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx}};
}

static LogicalResult runRoiAlign(Call &call, RoiAlignOp op) {
  const Elements &x = call[op.getX()], &rois = call[op.getRois()], &batch = call[op.getBatch()];
  int64_t regions = rois.shape[0], channels = x.shape[1], height = x.shape[2], width = x.shape[3];
  int64_t rows = op.getHeight(), columns = op.getWidth(), sampling = op.getSampling();
  if (batch.shape[0] != regions)
    return call.mismatch(rois.shape, batch.shape);
  Elements *y = call.make({regions, channels, rows, columns});
  if (!y)
    return failure();
  double scale = op.getScale().convertToDouble(), half = op.getHalfPixel() ? 0.5 : 0;
  bool isMean = op.getMode() == "avg";
  std::vector<double> in = numbers<double>(x);
  for (int64_t r = 0; r < regions; ++r) {
    int64_t item = integerAt(batch, r);
    if (item < 0 || item >= x.shape[0])
      return call.error("takes a region of item " + Twine(item) + " of " + Twine(x.shape[0]));
    double left = numberAt(rois, r * 4) * scale - half, top = numberAt(rois, r * 4 + 1) * scale - half;
    double across = numberAt(rois, r * 4 + 2) * scale - half - left;
    double down = numberAt(rois, r * 4 + 3) * scale - half - top;
    if (!op.getHalfPixel()) {
      across = std::max(across, 1.0);
      down = std::max(down, 1.0);
    }
    double binHeight = down / static_cast<double>(rows), binWidth = across / static_cast<double>(columns);
    int64_t samplesY = sampling ? sampling : static_cast<int64_t>(std::ceil(binHeight));
    int64_t samplesX = sampling ? sampling : static_cast<int64_t>(std::ceil(binWidth));
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          const double *plane = in.data() + (item * channels + c) * height * width;
          double sum = 0, most = 0;
          bool isFirst = true;
          for (int64_t sy = 0; sy < samplesY; ++sy)
            for (int64_t sx = 0; sx < samplesX; ++sx) {
              double py = top + (static_cast<double>(i) +
                                 (static_cast<double>(sy) + 0.5) / static_cast<double>(samplesY)) *
                                    binHeight;
              double px = left + (static_cast<double>(j) +
                                  (static_cast<double>(sx) + 0.5) / static_cast<double>(samplesX)) *
                                     binWidth;
              RoiSample sample = sampleAt(py, px, height, width);
              for (size_t k = 0; k < 4; ++k) {
                double part = sample.weights[k] * plane[sample.positions[k]];
                sum += part;
                // The maximum is that of the weighted neighbours, not of the samples: ONNX defines it so.
                most = isFirst ? part : std::max(most, part);
                isFirst = false;
              }
            }
          double count = static_cast<double>(std::max<int64_t>(1, samplesY * samplesX));
          put(*y, ((r * channels + c) * rows + i) * columns + j, isMean ? sum / count : most);
        }
  }
  return success();
}

void oracle::addNnSample(HandlerTable &table) {
  addNnOp<ResizeOp, runResize>(table);
  addNnOp<GridSampleOp, runGridSample>(table);
  addNnOp<RoiAlignOp, runRoiAlign>(table);
}
