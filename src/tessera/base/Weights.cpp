// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Weights.h.
#include "tessera/base/Weights.h"

#include "tessera/base/Half.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

using namespace tessera;

bool tessera::isSampledOut(int64_t column, const WeightShape &shape, const Knob &knob) {
  if (shape.width % knob.rate == 0)
    column = column % shape.width + (knob.rate - column / shape.taps % knob.rate);
  return column % knob.rate == knob.offset;
}

static void sampleFilter(std::span<float> weights, const WeightShape &shape, const Knob &knob) {
  float scale = static_cast<float>(knob.rate) / static_cast<float>(knob.rate - 1);
  for (int64_t c = 0; c < shape.columns(); ++c) {
    float factor = isSampledOut(c, shape, knob) ? 0 : scale;
    for (int64_t r = 0; r < shape.rows; ++r)
      weights[r * shape.columns() + c] *= factor;
  }
}

// Sorts indices; of equal ones the lower comes first.
template <typename Less> static void sortIndices(std::vector<int64_t> &indices, Less less) {
  std::sort(indices.begin(), indices.end(),
            [&](int64_t a, int64_t b) { return less(a, b) || (a < b && !less(b, a)); });
}

static void prune(std::span<float> weights, const WeightShape &shape, const Knob &knob) {
  for (int64_t r = 0; r < shape.rows; ++r)
    for (int64_t tap = 0; tap < shape.taps; ++tap)
      for (int64_t from = 0; from < shape.channels; from += knob.rate) {
        std::vector<int64_t> at;
        for (int64_t c = from; c < std::min(shape.channels, from + knob.rate); ++c)
          at.push_back(r * shape.columns() + c * shape.taps + tap);
        sortIndices(at, [&](int64_t a, int64_t b) { return std::fabs(weights[a]) > std::fabs(weights[b]); });
        for (size_t i = knob.value; i < at.size(); ++i)
          weights[at[i]] = 0;
      }
}

static void pruneBlocks(std::span<float> weights, const WeightShape &shape, const Knob &knob) {
  int64_t rowBlocks = (shape.rows + pruneRows - 1) / pruneRows,
          channelBlocks = (shape.channels + pruneChannels - 1) / pruneChannels;
  auto forEach = [&](int64_t block, auto f) {
    int64_t tap = block % shape.taps, c0 = block / shape.taps % channelBlocks * pruneChannels,
            r0 = block / shape.taps / channelBlocks * pruneRows;
    for (int64_t r = r0; r < std::min(shape.rows, r0 + pruneRows); ++r)
      for (int64_t c = c0; c < std::min(shape.channels, c0 + pruneChannels); ++c)
        f(weights[r * shape.columns() + c * shape.taps + tap]);
  };
  std::vector<double> sums(rowBlocks * channelBlocks * shape.taps);
  for (size_t i = 0; i < sums.size(); ++i)
    forEach(static_cast<int64_t>(i), [&](float w) { sums[i] += std::fabs(w); });
  std::vector<int64_t> order(sums.size());
  std::iota(order.begin(), order.end(), 0);
  sortIndices(order, [&](int64_t a, int64_t b) { return sums[a] < sums[b]; });
  order.resize(static_cast<size_t>(static_cast<double>(order.size()) * knob.share));
  for (int64_t block : order)
    forEach(block, [](float &w) { w = 0; });
}

static void roundInt4(std::span<float> weights, int64_t columns) {
  for (size_t row = 0; row < weights.size(); row += columns)
    for (int64_t from = 0; from < columns; from += int4Group) {
      auto group = weights.subspan(row + from, std::min(int4Group, columns - from));
      float most = 0;
      for (float w : group)
        most = std::max(most, std::fabs(w));
      if (most == 0)
        continue;
      float scale = most / 7;
      for (float &w : group)
        w = scale * std::clamp(std::nearbyint(w / scale), -7.0f, 7.0f);
    }
}

void tessera::changeWeights(std::span<float> weights, const WeightShape &shape, const Knob &knob) {
  switch (knob.structure) {
  case Knob::Structure::SampleFilter:
    sampleFilter(weights, shape, knob);
    break;
  case Knob::Structure::Prune:
    prune(weights, shape, knob);
    break;
  case Knob::Structure::PruneBlocks:
    pruneBlocks(weights, shape, knob);
    break;
  default:
    break;
  }
  if (knob.precision == Knob::Precision::Int4)
    roundInt4(weights, shape.columns());
}

std::vector<float> tessera::int8Scales(std::span<const float> weights, int64_t rows, int32_t most) {
  std::vector<float> scales(rows, 1);
  size_t columns = rows ? weights.size() / rows : 0;
  for (int64_t r = 0; r < rows; ++r) {
    float largest = 0;
    for (float w : weights.subspan(r * columns, columns))
      largest = std::max(largest, std::fabs(w));
    if (largest > 0)
      scales[r] = largest / static_cast<float>(most);
  }
  return scales;
}

Int8Range tessera::int8Range(float low, float high) {
  low = std::min(low, 0.0f);
  high = std::max(high, 0.0f);
  if (low == high)
    return {};
  float scale = (high - low) / 255;
  return {scale, static_cast<int32_t>(std::nearbyint(-low / scale))};
}

float tessera::roundTo(Knob::Precision precision, float value) {
  switch (precision) {
  case Knob::Precision::F16:
  case Knob::Precision::F16Math:
    return halfToFloat(floatToHalf(value));
  case Knob::Precision::BF16:
    return bfloatToFloat(floatToBfloat(value));
  default:
    return value;
  }
}

//===----------------------------------------------------------------------===//
// Low rank
//===----------------------------------------------------------------------===//

void tessera::factorise(std::span<const float> matrix, int64_t rows, int64_t columns, int64_t rank,
                        std::vector<float> &left, std::vector<float> &right) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::MatrixXd m = Eigen::Map<const Floats>(matrix.data(), rows, columns).cast<double>();
  // The first eigenvectors of the smaller of M M^T and M^T M span what is kept.
  const bool isWide = rows <= columns;
  const Eigen::MatrixXd gram = isWide ? Eigen::MatrixXd(m * m.transpose()) : m.transpose() * m;
  // The largest eigenvalue is last.
  Eigen::MatrixXd basis =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(gram).eigenvectors().rightCols(rank).rowwise().reverse();
  // An eigenvector may point either way; the largest number of ours is positive.
  for (auto vector : basis.colwise()) {
    Eigen::Index most = 0;
    vector.cwiseAbs().maxCoeff(&most);
    if (vector[most] < 0)
      vector = -vector;
  }
  // The basis on one side, the matrix seen from it on the other.
  left.resize(rows * rank);
  right.resize(rank * columns);
  Eigen::Map<Floats> l(left.data(), rows, rank), r(right.data(), rank, columns);
  l = (isWide ? basis : Eigen::MatrixXd(m * basis)).cast<float>();
  r = (isWide ? Eigen::MatrixXd(basis.transpose() * m) : Eigen::MatrixXd(basis.transpose())).cast<float>();
}

//===----------------------------------------------------------------------===//
// Random numbers, and what is made of them
//===----------------------------------------------------------------------===//

PhiloxBlock tessera::philox(uint64_t counter, uint64_t key) {
  uint32_t c[4] = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
    uint32_t next[4] = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
                        static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    std::copy(next, next + 4, c);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

double tessera::philoxNormal(uint64_t counter, uint64_t key) {
  PhiloxBlock block = philox(counter, key);
  return std::sqrt(-2 * std::log((block.word[0] + 1.0) * 0x1p-32)) *
         std::cos(2 * std::numbers::pi * block.word[1] * 0x1p-32);
}

uint32_t tessera::bitErrorThreshold(double rate) {
  return static_cast<uint32_t>(std::min(rate * 0x1p32, 0x1p32 - 1));
}

uint64_t tessera::bitErrors(uint64_t index, unsigned width, double rate, uint64_t key) {
  const uint32_t threshold = bitErrorThreshold(rate);
  uint64_t wrong = 0;
  for (unsigned b = 0; b < width; b += 4) {
    const PhiloxBlock block = philox(16 * index + b / 4, key);
    for (unsigned i = 0; i < 4; ++i)
      wrong |= uint64_t(block.word[i] < threshold) << (b + i);
  }
  return wrong;
}

double tessera::promiseSigma(int64_t level) {
  // As published for PROMISE's swing levels.
  static constexpr double sigmas[] = {0.64, 0.336, 0.21, 0.168, 0.14, 0.11, 0.0784};
  return sigmas[level - 1];
}

int64_t tessera::noiseKey(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<int64_t>(hash);
}

float tessera::promiseLevel(float value, float low, float high) {
  if (low == high)
    return low;
  float step = (high - low) / 255;
  return low + step * std::clamp(std::nearbyint((value - low) / step), 0.0f, 255.0f);
}
