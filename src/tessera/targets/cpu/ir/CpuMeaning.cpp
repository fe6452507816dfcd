// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What layers on blocked activations mean, as their definitions say: for the oracle, which finds it through
// the dialect.
#include "tessera/ir/nn/NnExtents.h"
#include "tessera/oracle/Meaning.h"
#include "tessera/oracle/nn/Fold.h"
#include "tessera/oracle/nn/Nn.h"
#include "tessera/targets/cpu/ir/CpuOps.h"

#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::cpu;

namespace {

/// N x C1 x H x W x c with its place for each index.
struct Blocks {
  explicit Blocks(ArrayRef<int64_t> shape) : shape(shape) {}
  int64_t at(int64_t n, int64_t block, int64_t i, int64_t j, int64_t lane) const {
    return (((n * shape[1] + block) * shape[2] + i) * shape[3] + j) * shape[4] + lane;
  }
  ArrayRef<int64_t> shape;
};

} // namespace

// Calls `f(n, block, i, j, lane)` for each place of a blocked shape.
template <typename F> static void forEachPlace(ArrayRef<int64_t> s, F f) {
  for (int64_t n = 0; n < s[0]; ++n)
    for (int64_t block = 0; block < s[1]; ++block)
      for (int64_t i = 0; i < s[2]; ++i)
        for (int64_t j = 0; j < s[3]; ++j)
          for (int64_t lane = 0; lane < s[4]; ++lane)
            f(n, block, i, j, lane);
}

static LogicalResult runPack(Call &call, PackOp op) {
  const Elements &x = call[op.getX()];
  int64_t c = op.getBlock(), channels = x.shape[1];
  Elements *y = call.make({x.shape[0], (channels + c - 1) / c, x.shape[2], x.shape[3], c});
  if (!y)
    return failure();
  Blocks to(y->shape);
  for (int64_t n = 0, from = 0; n < x.shape[0]; ++n)
    for (int64_t k = 0; k < channels; ++k)
      for (int64_t i = 0; i < x.shape[2]; ++i)
        for (int64_t j = 0; j < x.shape[3]; ++j, ++from)
          put(*y, to.at(n, k / c, i, j, k % c), numberAt(x, from));
  return success();
}

static LogicalResult runUnpack(Call &call, UnpackOp op) {
  const Elements &x = call[op.getX()];
  int64_t c = x.shape[4], channels = op.getChannels();
  Elements *y = call.make({x.shape[0], channels, x.shape[2], x.shape[3]});
  if (!y)
    return failure();
  Blocks from(x.shape);
  for (int64_t n = 0, to = 0; n < x.shape[0]; ++n)
    for (int64_t k = 0; k < channels; ++k)
      for (int64_t i = 0; i < x.shape[2]; ++i)
        for (int64_t j = 0; j < x.shape[3]; ++j, ++to)
          put(*y, to, numberAt(x, from.at(n, k / c, i, j, k % c)));
  return success();
}

// Bytes that come with narrow weights are unsigned.
static bool isByte(const Elements &x) { return !x.info.isFloat() && x.info.width == 8; }

// The elements of x, `above` rows lower and `left` columns further to the right; `fill` where there are none.
static LogicalResult shift(Call &call, const Elements &x, int64_t above, int64_t left, int64_t below,
                           int64_t right, int64_t fill = 0) {
  Elements *y =
      call.make({x.shape[0], x.shape[1], x.shape[2] + above + below, x.shape[3] + left + right, x.shape[4]});
  if (!y)
    return failure();
  if (fill)
    for (int64_t i = 0, count = y->size(); i < count; ++i)
      put(*y, i, fill);
  Blocks from(x.shape), to(y->shape);
  forEachPlace(x.shape, [&](int64_t n, int64_t block, int64_t i, int64_t j, int64_t lane) {
    int64_t row = i + above, column = j + left;
    if (row >= 0 && row < y->shape[2] && column >= 0 && column < y->shape[3])
      put(*y, to.at(n, block, row, column, lane), numberAt(x, from.at(n, block, i, j, lane)));
  });
  return success();
}
static LogicalResult runHalo(Call &call, HaloOp op) {
  ArrayRef<int64_t> p = op.getPads();
  return shift(call, call[op.getX()], p[0], p[1], p[2], p[3], op.getFill());
}
static LogicalResult runCrop(Call &call, CropOp op) {
  ArrayRef<int64_t> p = op.getPads();
  return shift(call, call[op.getX()], -p[0], -p[1], -p[2], -p[3]);
}

static double biasOf(const Elements *bias, int64_t block, int64_t lane) {
  return bias ? numberAt(*bias, block * bias->shape[1] + lane) : 0;
}

// The result's shape; open extents come from x.
static Shape resultShape(Operation *op, const Elements &x) {
  Shape shape(cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  shape[0] = x.shape[0];
  for (int64_t d = 2; d < int64_t(shape.size()); ++d)
    if (ShapedType::isDynamic(shape[d]))
      if (std::optional<nn::ExtentRule> rule = nn::ruleOfExtent(op, d))
        shape[d] = std::max<int64_t>(0, rule->apply(x.shape[rule->dim]));
  return shape;
}

static LogicalResult runConv(Call &call, PackedConvOp op) {
  const Elements &x = call[op.getX()], &w = call[op.getW()], *bias = call.find(op.getBias());
  Elements *y = call.make(resultShape(op, x));
  if (!y)
    return failure();
  std::vector<double> xs = numbers<double>(x, isByte(x)), ws = numbers<double>(w);
  Blocks from(x.shape), to(y->shape);
  int64_t perGroup = w.shape[0] / int64_t(op.getGroups()), p = w.shape.size() == 7 ? w.shape[6] : 1;
  forEachPlace(y->shape, [&](int64_t n, int64_t f1, int64_t i, int64_t j, int64_t f0) {
    double sum = biasOf(bias, f1, f0);
    for (int64_t c1 = 0; c1 < w.shape[1]; ++c1)
      for (int64_t a = 0; a < w.shape[2]; ++a)
        for (int64_t b = 0; b < w.shape[3]; ++b)
          for (int64_t c0 = 0; c0 < x.shape[4]; ++c0) {
            int64_t tap =
                (((((f1 * w.shape[1] + c1) * w.shape[2] + a) * w.shape[3] + b) * w.shape[4] + c0 / p) *
                     w.shape[5] +
                 f0) *
                    p +
                c0 % p;
            sum += ws[tap] * xs[from.at(n, f1 / perGroup * w.shape[1] + c1,
                                        i * op.getStrides()[0] + a * op.getDilations()[0],
                                        j * op.getStrides()[1] + b * op.getDilations()[1], c0)];
          }
    put(*y, to.at(n, f1, i, j, f0), sum);
  });
  return success();
}

static LogicalResult runSparse(Call &call, PackedSparseOp op) {
  const Elements &x = call[op.getX()], &values = call[op.getValues()], *bias = call.find(op.getBias());
  std::vector<double> taps = numbers<double>(call[op.getTaps()]),
                      starts = numbers<double>(call[op.getStarts()]);
  Elements *y = call.make(resultShape(op, x));
  if (!y)
    return failure();
  // A matrix is planes of one place each.
  bool matrix = x.shape.size() == 2;
  Shape own = x.shape, result = y->shape;
  int64_t lanes = values.shape[1];
  if (matrix) {
    own = {x.shape[0], 1, 1, 1, x.shape[1]};
    result = {x.shape[0], int64_t(starts.size()) - 1, 1, 1, lanes};
  }
  ArrayRef<int64_t> kernel = op.getKernel(), strides = op.getStrides(), dilations = op.getDilations();
  int64_t count = taps.size(), all = own[1] * kernel[0] * kernel[1] * own[4];
  if (starts.front() < 0 || starts.back() > double(count) || !llvm::is_sorted(starts) ||
      llvm::any_of(taps, [&](double tap) { return tap < 0 || tap >= double(all); }))
    return call.error("refers to taps that are not there");
  Blocks from(own), to(result);
  forEachPlace(result, [&](int64_t n, int64_t f1, int64_t i, int64_t j, int64_t f0) {
    double sum = biasOf(bias, f1, f0);
    for (auto s = int64_t(starts[f1]); s < int64_t(starts[f1 + 1]); ++s) {
      auto tap = int64_t(taps[s]);
      int64_t place = tap / own[4], column = place % kernel[1], row = place / kernel[1] % kernel[0];
      sum += numberAt(values, s * lanes + f0) *
             numberAt(x, from.at(n, place / (kernel[0] * kernel[1]), i * strides[0] + row * dilations[0],
                                 j * strides[1] + column * dilations[1], tap % own[4]));
    }
    put(*y, to.at(n, f1, i, j, f0), sum);
  });
  return success();
}

static LogicalResult runDepthwise(Call &call, PackedDepthwiseOp op) {
  const Elements &x = call[op.getX()], &w = call[op.getW()], *bias = call.find(op.getBias());
  Elements *y = call.make(resultShape(op, x));
  if (!y)
    return failure();
  Blocks from(x.shape), to(y->shape);
  forEachPlace(y->shape, [&](int64_t n, int64_t block, int64_t i, int64_t j, int64_t lane) {
    double sum = biasOf(bias, block, lane);
    for (int64_t a = 0; a < w.shape[1]; ++a)
      for (int64_t b = 0; b < w.shape[2]; ++b)
        sum += numberAt(w, ((block * w.shape[1] + a) * w.shape[2] + b) * w.shape[3] + lane) *
               numberAt(x,
                        from.at(n, block, i * op.getStrides()[0] + a * op.getDilations()[0],
                                j * op.getStrides()[1] + b * op.getDilations()[1], lane),
                        isByte(x));
    put(*y, to.at(n, block, i, j, lane), sum);
  });
  return success();
}

// The definition of F(tile, window) for one dimension as its polynomials have it, by the number of points: 0,
// 1, -1, then 2, -2, then 1/2, -1/2, and infinity. A column of the output's matrix holds the powers of a
// point.
static std::vector<double> inputMatrix(int64_t points) {
  if (points == 4)
    return {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1};
  if (points == 6)
    return {4, 0,  -5, 0, 1, 0, 0, -4, -4, 1,  1, 0, 0, 4, -4, -1, 1, 0,
            0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0,  -5, 0, 1};
  return {4. / 4,   0,        -21. / 4, 0,       21. / 4, 0,      -1,      0,       0,       1,
          1,        -17. / 4, -17. / 4, 1,       1,       0,      0,       -1,      1,       17. / 4,
          -17. / 4, -1,       1,        0,       0,       1. / 2, 1. / 4,  -5. / 2, -5. / 4, 2,
          1,        0,        0,        -1. / 2, 1. / 4,  5. / 2, -5. / 4, -2,      1,       0,
          0,        2,        4,        -5. / 2, -5,      1. / 2, 1,       0,       0,       -2,
          4,        5. / 2,   -5,       -1. / 2, 1,       0,      0,       -1,      0,       21. / 4,
          0,        -21. / 4, 0,        1};
}
static std::vector<double> outputMatrix(int64_t tile, int64_t points) {
  if (points == 4)
    return {1, 1, 1, 0, 0, 1, -1, -1};
  const double at[] = {0, 1, -1, 2, -2, 0.5, -0.5};
  std::vector<double> m(tile * points);
  for (int64_t i = 0; i < tile; ++i)
    for (int64_t p = 0; p + 1 < points; ++p)
      m[i * points + p] = std::pow(at[p], double(i));
  m.back() = 1;
  return m;
}
// m v m^T for a matrix m of n x k and k x k numbers.
static std::vector<double> sandwich(const std::vector<double> &m, const std::vector<double> &v, int64_t n,
                                    int64_t k) {
  std::vector<double> half(n * k), result(n * n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j)
      for (int64_t s = 0; s < k; ++s)
        half[i * k + j] += m[i * k + s] * v[s * k + j];
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t s = 0; s < k; ++s)
        result[i * n + j] += half[i * k + s] * m[j * k + s];
  return result;
}

static LogicalResult runWinograd(Call &call, PackedWinogradOp op) {
  const Elements &x = call[op.getX()], &w = call[op.getW()], *bias = call.find(op.getBias());
  Elements *y = call.make(resultShape(op, x));
  if (!y)
    return failure();
  std::vector<double> ws = numbers<double>(w);
  Blocks from(x.shape), to(y->shape);
  int64_t tile = op.getTile(), t = tile + int64_t(op.getWindow()) - 1, channels = w.shape[2],
          rows = y->shape[2], columns = y->shape[3];
  for (int64_t n = 0; n < x.shape[0]; ++n)
    for (int64_t top = 0; top < rows; top += tile)
      for (int64_t left = 0; left < columns; left += tile) {
        std::vector<std::vector<double>> inputs;
        for (int64_t c = 0; c < channels; ++c) {
          std::vector<double> d(t * t);
          for (int64_t i = 0; i < t && top + i < x.shape[2]; ++i)
            for (int64_t j = 0; j < t && left + j < x.shape[3]; ++j)
              d[i * t + j] = numberAt(x, from.at(n, c / x.shape[4], top + i, left + j, c % x.shape[4]));
          inputs.push_back(sandwich(inputMatrix(t), d, t, t));
        }
        for (int64_t f1 = 0; f1 < w.shape[0]; ++f1)
          for (int64_t f0 = 0; f0 < w.shape[3]; ++f0) {
            std::vector<double> sums(t * t);
            for (int64_t p = 0; p < t * t; ++p)
              for (int64_t c = 0; c < channels; ++c)
                sums[p] += inputs[c][p] * ws[((f1 * t * t + p) * channels + c) * w.shape[3] + f0];
            std::vector<double> result = sandwich(outputMatrix(tile, t), sums, tile, t);
            for (int64_t i = 0; i < tile && top + i < rows; ++i)
              for (int64_t j = 0; j < tile && left + j < columns; ++j)
                put(*y, to.at(n, f1, top + i, left + j, f0), result[i * tile + j] + biasOf(bias, f1, f0));
          }
      }
  return success();
}

static LogicalResult runMatmul(Call &call, PackedMatmulOp op) {
  const Elements &x = call[op.getX()], &w = call[op.getW()], *bias = call.find(op.getBias());
  int64_t columns = op.getColumns(), p = w.shape.size() == 4 ? w.shape[3] : 1, depth = w.shape[1] * p,
          lanes = w.shape[2], rows = 1;
  SmallVector<int64_t> shape(x.shape.begin(), x.shape.end());
  for (int64_t extent : ArrayRef(shape).drop_back())
    rows *= extent;
  shape.back() = columns;
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < columns; ++n) {
      double sum = biasOf(bias, n / lanes, n % lanes);
      for (int64_t k = 0; k < depth; ++k)
        sum += numberAt(x, m * depth + k, isByte(x)) *
               numberAt(w, ((n / lanes * w.shape[1] + k / p) * lanes + n % lanes) * p + k % p);
      put(*y, m * columns + n, sum);
    }
  return success();
}

// z[…, m, n] = sum over k of weight(row, k) * y[…, k, n], where a row is one of all matrices of x.
static LogicalResult multiply(Call &call, const Elements &x, const Elements &y, ArrayRef<int64_t> shape,
                              bool transposed, function_ref<double(int64_t row, int64_t k)> weight) {
  size_t rank = shape.size();
  int64_t m = shape[rank - 2], n = shape[rank - 1], depth = x.shape[rank - 1], matrices = 1;
  for (int64_t extent : shape.drop_back(2))
    matrices *= extent;
  Elements *z = call.make(shape);
  if (!z)
    return failure();
  // The number of an operand's matrix that belongs to one of the result.
  auto matrixOf = [&](const Elements &v, int64_t matrix) {
    int64_t at = 0, step = 1;
    for (size_t d = rank - 2; d-- > 0; matrix /= shape[d]) {
      at += v.shape[d] == 1 ? 0 : matrix % shape[d] * step;
      step *= v.shape[d];
    }
    return at;
  };
  for (int64_t matrix = 0; matrix < matrices; ++matrix)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += weight(matrixOf(x, matrix) * m + i, k) *
                 numberAt(y, matrixOf(y, matrix) * depth * n + (transposed ? j * depth + k : k * n + j));
        put(*z, (matrix * m + i) * n + j, sum);
      }
  return success();
}

static LogicalResult runProduct(Call &call, ProductOp op) {
  const Elements &x = call[op.getX()], &y = call[op.getY()], &init = call[op.getInit()];
  int64_t depth = x.shape.back();
  return multiply(call, x, y, init.shape, op.getTransposeY(),
                  [&](int64_t row, int64_t k) { return numberAt(x, row * depth + k); });
}

static LogicalResult runAttend(Call &call, AttendOp op) {
  const Elements &s = call[op.getScores()], &v = call[op.getValues()], &init = call[op.getInit()];
  int64_t keys = s.shape.back(), rows = keys ? s.size() / keys : 0;
  std::vector<double> weights(size_t(rows * keys));
  for (int64_t row = 0; row < rows; ++row) {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t k = 0; k < keys; ++k)
      top = std::max(top, numberAt(s, row * keys + k));
    for (int64_t k = 0; k < keys; ++k)
      sum += weights[size_t(row * keys + k)] = std::exp(numberAt(s, row * keys + k) - top);
    bool none = op.getZeros() && top == -std::numeric_limits<double>::infinity();
    for (int64_t k = 0; k < keys; ++k)
      weights[size_t(row * keys + k)] = none ? 0 : weights[size_t(row * keys + k)] / sum;
  }
  return multiply(call, s, v, init.shape, false,
                  [&](int64_t row, int64_t k) { return weights[size_t(row * keys + k)]; });
}

static LogicalResult runPool(Call &call, PackedPoolOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make(resultShape(op, x));
  if (!y)
    return failure();
  Blocks from(x.shape), to(y->shape);
  ArrayRef<int64_t> kernel = op.getKernel(), strides = op.getStrides(), pads = op.getPads(),
                    dilations = op.getDilations();
  forEachPlace(y->shape, [&](int64_t n, int64_t block, int64_t i, int64_t j, int64_t lane) {
    Fold<double> fold(op.getKind(), isByte(x), x.info.width);
    for (int64_t a = 0; a < kernel[0]; ++a)
      for (int64_t b = 0; b < kernel[1]; ++b) {
        int64_t row = i * strides[0] + a * dilations[0] - pads[0],
                column = j * strides[1] + b * dilations[1] - pads[1];
        if (row >= 0 && row < x.shape[2] && column >= 0 && column < x.shape[3])
          fold.add(numberAt(x, from.at(n, block, row, column, lane), isByte(x)));
      }
    put(*y, to.at(n, block, i, j, lane), fold.finish(op.getCountPad() ? kernel[0] * kernel[1] : 0));
  });
  return success();
}

static LogicalResult runMean(Call &call, PackedMeanOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make({x.shape[0], x.shape[1] * x.shape[4]});
  if (!y)
    return failure();
  std::vector<double> sums(y->size());
  Blocks from(x.shape);
  forEachPlace(x.shape, [&](int64_t n, int64_t block, int64_t i, int64_t j, int64_t lane) {
    sums[(n * x.shape[1] + block) * x.shape[4] + lane] += numberAt(x, from.at(n, block, i, j, lane));
  });
  for (double &sum : sums)
    sum /= static_cast<double>(x.shape[2] * x.shape[3]);
  putAll(*y, sums);
  return success();
}

namespace {

class CpuMeaning : public Meaning {
public:
  explicit CpuMeaning(Dialect *dialect) : Meaning(dialect) {}
  void addTo(HandlerTable &table) const override {
    addNnOp<PackOp, runPack>(table);
    addNnOp<UnpackOp, runUnpack>(table);
    addNnOp<HaloOp, runHalo>(table);
    addNnOp<CropOp, runCrop>(table);
    addNnOp<PackedConvOp, runConv>(table);
    addNnOp<PackedSparseOp, runSparse>(table);
    addNnOp<PackedDepthwiseOp, runDepthwise>(table);
    addNnOp<PackedWinogradOp, runWinograd>(table);
    addNnOp<PackedMatmulOp, runMatmul>(table);
    addNnOp<ProductOp, runProduct>(table);
    addNnOp<AttendOp, runAttend>(table);
    addNnOp<PackedPoolOp, runPool>(table);
    addNnOp<PackedMeanOp, runMean>(table);
  }
};

} // namespace

void cpu::registerMeaning(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, CpuDialect *dialect) { dialect->addInterfaces<CpuMeaning>(); });
}
