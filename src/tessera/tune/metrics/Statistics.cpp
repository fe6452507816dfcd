// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/metrics/Statistics.h"

#include "tessera/base/Check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace tessera::tune {

double normalQuantile(double p) {
  TESSERA_CHECK(p > 0 && p < 1) << "a quantile is asked for outside (0, 1)";
  // Bisection on the distribution function: slow, exact to the last digits, and called a few times.
  double low = -40, high = 40;
  for (int i = 0; i < 200; ++i) {
    double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

// The integral of cos^power from 0 to `angle`, by Simpson's rule.
static double cosineIntegral(double power, double angle) {
  const int steps = 400;
  double sum = 0;
  for (int i = 0; i <= steps; ++i)
    sum += (i == 0 || i == steps ? 1 : i % 2 ? 4 : 2) * std::pow(std::cos(angle * i / steps), power);
  return sum * angle / steps / 3;
}

double studentQuantile(double p, double freedom) {
  TESSERA_CHECK(p >= 0.5 && p < 1) << "a quantile is asked for outside [0.5, 1)";
  // With t = sqrt(freedom) tan(angle) the density is a power of a cosine.
  const double n = std::max(1.0, freedom), right = std::numbers::pi / 2;
  const double goal = (2 * p - 1) * cosineIntegral(n - 1, right);
  double low = 0, high = right;
  for (int i = 0; i < 60; ++i) {
    double middle = (low + high) / 2;
    (cosineIntegral(n - 1, middle) < goal ? low : high) = middle;
  }
  return std::sqrt(n) * std::tan((low + high) / 2);
}

Estimate medianEstimate(std::vector<double> values, double confidence) {
  TESSERA_CHECK(!values.empty()) << "the median of nothing";
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  // So many values may lie on one side of both ends: a coin's chance, thrown n times.
  size_t outside = 0;
  double ways = 1, chance = std::pow(0.5, double(n)), below = chance;
  for (size_t k = 1; k < n / 2; ++k) {
    ways *= double(n - k + 1) / double(k);
    below += ways * chance;
    if (1 - 2 * below < confidence)
      break;
    outside = k;
  }
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values[outside], values[n - 1 - outside]};
}

Estimate meanEstimate(std::span<const double> values, double confidence) {
  TESSERA_CHECK(!values.empty()) << "the mean of nothing";
  const auto n = double(values.size());
  double mean = 0, squares = 0;
  for (double v : values)
    mean += v / n;
  for (double v : values)
    squares += (v - mean) * (v - mean);
  const double half =
      n > 1 ? studentQuantile(0.5 + confidence / 2, n - 1) * std::sqrt(squares / (n - 1) / n) : 0;
  return {mean, mean - half, mean + half};
}

Interval wilson(int64_t hits, int64_t count, double confidence) {
  if (count == 0)
    return {0, 1};
  double z = normalQuantile(0.5 + confidence / 2), n = double(count), p = double(hits) / n;
  double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

PairedLoss pairedLoss(std::span<const uint8_t> before, std::span<const uint8_t> after) {
  TESSERA_CHECK(before.size() == after.size()) << "a paired comparison of different items";
  PairedLoss loss;
  loss.count = int64_t(before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    loss.lost += before[i] && !after[i];
    loss.won += !before[i] && after[i];
  }
  return loss;
}

double PairedLoss::upperBound(double confidence) const {
  if (count == 0)
    return 1;
  double z = normalQuantile(confidence), n = double(count) + 2, b = double(lost) + 0.5, c = double(won) + 0.5;
  return (b - c) / n + z * std::sqrt(std::max(0.0, b + c - (b - c) * (b - c) / n)) / n;
}

double spendable(double bound, int64_t count, double changed, double confidence) {
  PairedLoss loss;
  loss.count = count;
  double low = -bound, high = bound;
  for (int i = 0; i < 60; ++i) {
    double middle = (low + high) / 2;
    loss.lost = int64_t(std::llround((changed + middle) / 2 * double(count)));
    loss.won = int64_t(std::llround((changed - middle) / 2 * double(count)));
    (loss.upperBound(confidence) <= bound ? low : high) = middle;
  }
  return low;
}

uint64_t Stream::at(uint64_t i) const {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

double Stream::normal() {
  double u = 1 - unit(), v = unit();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

std::vector<std::vector<int64_t>> stratifiedSplit(std::span<const int32_t> labels,
                                                  std::span<const double> shares, uint64_t seed) {
  std::map<int32_t, std::vector<int64_t>> byLabel;
  for (size_t i = 0; i < labels.size(); ++i)
    byLabel[labels[i]].push_back(int64_t(i));
  std::vector<std::vector<int64_t>> parts(shares.size());
  Stream random(seed);
  double total = 0;
  for (double s : shares)
    total += s;
  for (auto &[label, items] : byLabel) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[random.below(i)]);
    double before = 0;
    for (size_t p = 0; p < shares.size(); ++p) {
      size_t first = size_t(std::llround(before / total * double(items.size())));
      before += shares[p];
      size_t last = size_t(std::llround(before / total * double(items.size())));
      parts[p].insert(parts[p].end(), items.begin() + first, items.begin() + last);
    }
  }
  for (auto &part : parts)
    std::sort(part.begin(), part.end());
  return parts;
}

} // namespace tessera::tune
