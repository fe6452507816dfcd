// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be said of all images from those that were looked at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::tune {

struct Interval {
  double low, high;
};

/// The quantile of the standard normal distribution: quantile(0.975) = 1.96.
double normalQuantile(double p);
/// The quantile, for p >= 0.5, of Student's distribution with `freedom` degrees of freedom; with none, that
/// of one.
double studentQuantile(double p, double freedom);

/// A figure that was measured several times: the median, and what it lies between.
struct Estimate {
  double value = 0, low = 0, high = 0;
};
/// The interval that the median of further measurements is in with this confidence, whatever their
/// distribution: order statistics. Of too few for that, the smallest and the largest.
Estimate medianEstimate(std::vector<double> values, double confidence = 0.95);

/// A mean of several figures, with Student's interval; of one, itself.
Estimate meanEstimate(std::span<const double> values, double confidence = 0.95);

/// Wilson's interval for a share of `hits` in `count`.
Interval wilson(int64_t hits, int64_t count, double confidence = 0.95);

/// A loss of accuracy, paired: the same items before and after. As a share, not in points.
struct PairedLoss {
  int64_t count = 0, lost = 0, won = 0; ///< right before and wrong after; wrong before and right after
  double loss() const { return count ? double(lost - won) / double(count) : 0; }
  /// What the loss on further items stays below with this one-sided confidence (Agresti and Min's adjusted
  /// interval).
  double upperBound(double confidence = 0.95) const;
  /// And what it stays above.
  double lowerBound(double confidence = 0.95) const {
    return -PairedLoss{count, won, lost}.upperBound(confidence);
  }
};
PairedLoss pairedLoss(std::span<const uint8_t> before, std::span<const uint8_t> after);

/// The largest measured loss on `count` items, when a share `changed` of all answers changes, that still
/// keeps `bound` with this confidence.
double spendable(double bound, int64_t count, double changed, double confidence = 0.95);

/// Items dealt into parts of the given shares, each label alike in every part; the same for the same seed.
std::vector<std::vector<int64_t>> stratifiedSplit(std::span<const int32_t> labels,
                                                  std::span<const double> shares, uint64_t seed);

/// A counter-based generator: the i-th number of a stream is a function of (seed, i) alone, on every machine.
class Stream {
public:
  explicit Stream(uint64_t seed) : seed(seed) {}
  uint64_t at(uint64_t i) const;
  uint64_t next() { return at(counter++); }
  /// In [0, 1).
  double unit() { return double(next() >> 11) * 0x1p-53; }
  double normal();
  uint64_t below(uint64_t n) { return next() % n; }

private:
  uint64_t seed, counter = 0;
};

} // namespace tessera::tune
