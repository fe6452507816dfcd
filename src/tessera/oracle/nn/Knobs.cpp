// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Knobs.h.
#include "tessera/oracle/nn/Knobs.h"

#include "tessera/base/Weights.h"

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;
using Precision = Knob::Precision;
using Structure = Knob::Structure;

namespace {

/// The operands of a sum of products, as the knob has them.
struct Operands {
  std::vector<double> x, w;
  std::vector<double> scale; ///< of each result, for integers
  double biasLow = 0, biasHigh = 0;
};

} // namespace

static std::vector<float> floats(const Elements &elements) {
  std::vector<float> result(elements.size());
  for (int64_t i = 0; i < elements.size(); ++i)
    result[i] = static_cast<float>(numberAt(elements, i));
  return result;
}

// An activation as an integer whose zero is 0: a multiplication in f32, as programs do it.
static float int8Level(float v, const Int8Range &as) {
  auto zero = static_cast<float>(as.zero);
  return std::clamp(std::nearbyint(v * (1 / as.scale)) + zero, 0.0f, 255.0f) - zero;
}

// What int8 or int7 makes of both: integers, whose sums are exact in double.
static LogicalResult toBytes(const Call &call, const Knob &knob, const std::vector<float> &x,
                             const std::vector<float> &w, int64_t rows, Operands &out) {
  auto range = rangeOf(call.inst.op);
  if (!range)
    return call.error("has the knob " + knob.str() + ", but no 'nn.range'");
  Int8Range as = int8Range(range->first, range->second);
  for (float v : x)
    out.x.push_back(int8Level(v, as));
  const int32_t most = mostOf(knob.precision);
  std::vector<float> scales = int8Scales(w, rows, most);
  for (size_t i = 0; i < w.size(); ++i)
    out.w.push_back(std::clamp<float>(std::nearbyint(w[i] / scales[i / (w.size() / rows)]), -most, most));
  for (float scale : scales)
    out.scale.push_back(as.scale * scale);
  return success();
}

// PROMISE: all operands on 256 levels, noise on the activation.
static LogicalResult toPromise(const Call &call, const Knob &knob, std::vector<float> x,
                               const std::vector<float> &w, Operands &out) {
  auto range = rangeOf(call.inst.op);
  if (!range)
    return call.error("has the knob promise, but no 'nn.range'");
  int64_t key = noiseKey(nameOf(call.inst.op));
  double sigma = promiseSigma(knob.value);
  for (auto [i, v] : llvm::enumerate(x)) {
    auto level = static_cast<double>(promiseLevel(v, range->first, range->second));
    out.x.push_back(static_cast<float>(level + sigma * level * philoxNormal(i, key)));
  }
  auto [low, high] = std::minmax_element(w.begin(), w.end());
  for (float v : w)
    out.w.push_back(promiseLevel(v, *low, *high));
  return success();
}

// x and w (a row for each result) as the knob has them.
static LogicalResult prepare(const Call &call, const Knob &knob, std::vector<float> x, std::vector<float> w,
                             const WeightShape &shape, Operands &out) {
  changeWeights(w, shape, knob);
  if (knob.structure == Structure::Promise)
    return toPromise(call, knob, std::move(x), w, out);
  if (knob.isBytes())
    return toBytes(call, knob, x, w, shape.rows, out);
  for (float v : x)
    out.x.push_back(roundTo(knob.precision, v));
  for (float v : w)
    out.w.push_back(roundTo(knob.precision, v));
  return success();
}

// A sum as an f32 of the result's scale.
static double finish(const Operands &operands, int64_t row, double sum) {
  if (operands.scale.empty())
    return sum;
  return static_cast<float>(sum) * static_cast<float>(operands.scale[row]);
}

// The bias as PROMISE stores it; otherwise as it is.
static std::vector<double> biasOf(const Elements *bias, const Knob &knob, int64_t count) {
  std::vector<double> values(count);
  if (!bias)
    return values;
  std::vector<float> exact = floats(*bias);
  auto [low, high] = std::minmax_element(exact.begin(), exact.end());
  for (int64_t i = 0; i < count; ++i)
    values[i] = knob.structure == Structure::Promise ? promiseLevel(exact[i], *low, *high) : exact[i];
  return values;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

// Sums of products without bias: n f places…
static std::vector<double> convolve(const std::vector<double> &x, const std::vector<double> &w,
                                    int64_t images, int64_t channels, int64_t features, int64_t groups,
                                    const Spatial &s) {
  std::vector<double> y(images * features * s.count());
  int64_t each = channels / groups;
  for (int64_t n = 0; n < images; ++n)
    for (int64_t f = 0; f < features; ++f)
      for (int64_t place = 0; place < s.count(); ++place) {
        double sum = 0;
        int64_t first = f / (features / groups) * each;
        for (int64_t c = 0; c < each; ++c)
          for (int64_t tap = 0; tap < s.taps(); ++tap)
            if (int64_t look = s.look(place, tap); look >= 0)
              sum += w[(f * each + c) * s.taps() + tap] * x[(n * channels + first + c) * s.size() + look];
        y[(n * features + f) * s.count() + place] = sum;
      }
  return y;
}

// Replaces what a perforated convolution does not compute along one dimension of outer x extent x inner.
static void fillIn(std::vector<double> &y, int64_t extent, int64_t inner, const Knob &knob) {
  for (size_t plane = 0; plane < y.size(); plane += extent * inner)
    for (int64_t i = knob.offset; i < extent; i += knob.rate)
      for (int64_t j = 0; j < inner; ++j) {
        auto at = [&](int64_t row) { return y[plane + row * inner + j]; };
        double above = at(i > 0 ? i - 1 : i + 1), below = at(i + 1 < extent ? i + 1 : i - 1);
        y[plane + i * inner + j] = (above + below) / 2;
      }
}

LogicalResult oracle::runKnobConv(Call &call, ConvOp op) {
  Knob knob = knobOf(op);
  const Elements &x = call[op.getX()], &w = call[op.getW()], *bias = call.find(op.getBias());
  ArrayRef<int64_t> spatial = ArrayRef(x.shape).drop_front(2), kernel = ArrayRef(w.shape).drop_front(2);
  if (failed(checkSpatial(call, spatial.size())))
    return failure();
  SmallVector<Window> windows = makeWindows(kernel, op.getStrides(), op.getPads(), op.getDilations());
  Spatial s(spatial, windows);
  int64_t groups = op.getGroups(), features = w.shape[0], channels = x.shape[1];
  if (w.shape[1] * groups != channels || features % groups || (bias && bias->size() != features))
    return call.mismatch(x.shape, w.shape);
  Shape shape = {x.shape[0], features};
  for (auto [extent, window] : llvm::zip(spatial, windows))
    shape.push_back(window.places(extent));
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  WeightShape matrix{features, w.shape[1], s.taps(), kernel.back()};
  std::vector<double> sums;
  if (knob.structure == Structure::LowRank) {
    std::vector<float> left, right;
    factorise(floats(w), features, matrix.columns(), knob.value, left, right);
    Operands first, second;
    Knob precision{knob.precision};
    if (failed(prepare(call, precision, floats(x), right, {knob.value, channels, s.taps()}, first)))
      return failure();
    std::vector<double> middle = convolve(first.x, first.w, x.shape[0], channels, knob.value, 1, s);
    if (failed(prepare(call, precision, std::vector<float>(middle.begin(), middle.end()), left,
                       {features, knob.value}, second)))
      return failure();
    Shape places(ArrayRef(shape).drop_front(2));
    sums = convolve(second.x, second.w, x.shape[0], knob.value, features, 1,
                    Spatial(places, SmallVector<Window>(places.size(), Window{1})));
  } else {
    Operands operands;
    if (failed(prepare(call, knob, floats(x), floats(w), matrix, operands)))
      return failure();
    sums = convolve(operands.x, operands.w, x.shape[0], channels, features, groups, s);
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = finish(operands, static_cast<int64_t>(i) / s.count() % features, sum);
  }
  if (knob.perforatesRows())
    fillIn(sums, s.places[1], s.places[2], knob);
  if (knob.perforatesCols())
    fillIn(sums, s.places[2], 1, knob);
  std::vector<double> biases = biasOf(bias, knob, features);
  for (auto [i, sum] : llvm::enumerate(sums))
    put(*y, i, sum + biases[static_cast<int64_t>(i) / s.count() % features]);
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

// rows x depth times the transpose of columns x depth.
static std::vector<double> multiply(const std::vector<double> &x, const std::vector<double> &w,
                                    int64_t depth) {
  int64_t rows = static_cast<int64_t>(x.size()) / depth, columns = static_cast<int64_t>(w.size()) / depth;
  std::vector<double> y(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t k = 0; k < depth; ++k)
        y[i * columns + j] += x[i * depth + k] * w[j * depth + k];
  return y;
}

// A batch of matrices with rows and columns exchanged.
static std::vector<float> transposed(const std::vector<float> &m, int64_t rows, int64_t columns) {
  std::vector<float> result(m.size());
  for (size_t from = 0; from < m.size(); from += rows * columns)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        result[from + j * rows + i] = m[from + i * columns + j];
  return result;
}

LogicalResult oracle::runKnobMatmul(Call &call, MatmulOp op) {
  Knob knob = knobOf(op);
  const Elements &a = call[op.getA()], &b = call[op.getB()];
  ArrayRef<int64_t> p = a.shape, q = b.shape;
  int64_t rows = p[p.size() - 2], inner = p.back(), innerB = q[q.size() - 2], columns = q.back();
  // Rows of both are what is summed over.
  std::vector<float> left = floats(a), right = floats(b);
  if (op.getTransposeA()) {
    left = transposed(left, rows, inner);
    std::swap(rows, inner);
  }
  if (op.getTransposeB())
    std::swap(innerB, columns);
  else
    right = transposed(right, innerB, columns);
  FailureOr<SmallVector<int64_t>> lead = broadcastShapes(p.drop_back(2), q.drop_back(2));
  if (inner != innerB || failed(lead))
    return call.mismatch(p, q);
  Shape shape(lead->begin(), lead->end());
  shape.append({rows, columns});
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  std::vector<double> sums;
  if (knob.structure == Structure::LowRank) {
    std::vector<float> outer, kept;
    factorise(right, columns, inner, knob.value, outer, kept);
    Operands first, second;
    Knob precision{knob.precision};
    if (failed(prepare(call, precision, left, kept, {knob.value, inner}, first)))
      return failure();
    std::vector<double> middle = multiply(first.x, first.w, inner);
    if (failed(prepare(call, precision, std::vector<float>(middle.begin(), middle.end()), outer,
                       {columns, knob.value}, second)))
      return failure();
    sums = multiply(second.x, second.w, knob.value);
  } else {
    Operands operands;
    if (failed(prepare(call, knob, left, right, {columns, inner}, operands)))
      return failure();
    Walk walk(*lead, {broadcastStrides(p.drop_back(2), *lead), broadcastStrides(q.drop_back(2), *lead)});
    for (int64_t batch = 0, batches = countElements(*lead); batch < batches; ++batch, walk.next()) {
      auto x = operands.x.begin() + walk[0] * rows * inner,
           w = operands.w.begin() + walk[1] * columns * inner;
      for (double sum : multiply({x, x + rows * inner}, {w, w + columns * inner}, inner))
        sums.push_back(finish(operands, static_cast<int64_t>(sums.size()) % columns, sum));
    }
  }
  putAll(*y, sums);
  return success();
}

//===----------------------------------------------------------------------===//
// Sums of two activations
//===----------------------------------------------------------------------===//

LogicalResult oracle::runKnobSum(Call &call, BinaryOp op) {
  Knob knob = knobOf(op);
  Int8Range as;
  if (knob.precision == Precision::Int8) {
    auto range = rangeOf(op);
    if (!range)
      return call.error("has the knob int8, but no 'nn.range'");
    as = int8Range(range->first, range->second);
  }
  Value waiting = op.getRangedOperand();
  auto operand = [&](Value v) {
    std::vector<float> numbers = floats(call[v]);
    if (v == waiting)
      for (float &number : numbers)
        number = knob.precision == Precision::Int8 ? int8Level(number, as) * as.scale
                                                   : roundTo(knob.precision, number);
    return numbers;
  };
  std::vector<float> a = operand(op.getA()), b = operand(op.getB());
  if (call[op.getA()].shape != call[op.getB()].shape)
    return call.mismatch(call[op.getA()].shape, call[op.getB()].shape);
  Elements *y = call.make(call[op.getA()].shape);
  if (!y)
    return failure();
  for (size_t i = 0; i < a.size(); ++i)
    put(*y, static_cast<int64_t>(i), a[i] + b[i]);
  return success();
}

//===----------------------------------------------------------------------===//
// What knobs make of layers
//===----------------------------------------------------------------------===//

static LogicalResult runInterpolate(Call &call, InterpolateOp op) {
  int64_t rate = op.getRate(), offset = op.getOffset();
  const Elements &first = call[op.getParts()[0]];
  Shape shape(cast<RankedTensorType>(op.getY().getType()).getShape());
  shape[0] = first.shape[0];
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  int64_t columnParts = op.getColumns() ? rate - 1 : 1, lanes = shape.size() == 5 ? shape[4] : 1;
  // Where a row or column stands; those between are at first the neighbour's.
  std::vector<double> values(y->size());
  for (int64_t i = 0, count = y->size(); i < count; ++i) {
    int64_t lane = i % lanes, column = i / lanes % shape[3], row = i / lanes / shape[3] % shape[2],
            plane = i / lanes / shape[3] / shape[2];
    auto atRow = op.getRows() ? partOf(row, rate, offset) : std::pair<int64_t, int64_t>(0, row);
    auto atColumn = op.getColumns() ? partOf(column, rate, offset) : std::pair<int64_t, int64_t>(0, column);
    if (!atRow || !atColumn)
      continue;
    const Elements &part = call[op.getParts()[atRow->first * columnParts + atColumn->first]];
    if (part.shape[0] != shape[0])
      return call.mismatch(first.shape, part.shape);
    values[i] = numberAt(
        part, ((plane * part.shape[2] + atRow->second) * part.shape[3] + atColumn->second) * lanes + lane);
  }
  Knob knob;
  knob.rate = rate;
  knob.offset = offset;
  if (op.getRows())
    fillIn(values, shape[2], shape[3] * lanes, knob);
  if (op.getColumns())
    fillIn(values, shape[3], lanes, knob);
  putAll(*y, values);
  return success();
}

static LogicalResult runSplit(Call &call, SplitOp op) {
  const Elements &x = call[op.getX()];
  auto shape = x.shape;
  shape[1] *= 3;
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  const int64_t images = x.shape[0], each = images ? x.size() / images : 0;
  for (int64_t n = 0; n < images; ++n)
    for (int64_t i = 0; i < each; ++i) {
      auto v = static_cast<float>(numberAt(x, n * each + i));
      const float high = roundTo(Precision::BF16, v), low = roundTo(Precision::BF16, v - high);
      put(*y, 3 * n * each + i, high);
      put(*y, (3 * n + 1) * each + i, high);
      put(*y, (3 * n + 2) * each + i, low);
    }
  return success();
}

static LogicalResult runNoise(Call &call, NoiseOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  double sigma = op.getSigma().convertToDouble();
  for (int64_t i = 0, count = x.size(); i < count; ++i) {
    double v = numberAt(x, i);
    put(*y, i, v + sigma * v * philoxNormal(i, op.getKey()));
  }
  return success();
}

void oracle::addNnApprox(HandlerTable &table) {
  addNnOp<InterpolateOp, runInterpolate>(table);
  addNnOp<SplitOp, runSplit>(table);
  addNnOp<NoiseOp, runNoise>(table);
}
