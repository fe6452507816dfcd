// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How good an answer is: accuracy of a classifier, errors against a golden answer, similarity of images.
#pragma once

#include "tessera/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::tune {

/// Rows of scores, one row for each item.
struct Scores {
  std::vector<float> values;
  int64_t items = 0, classes = 0;
  std::span<const float> row(int64_t item) const {
    return {values.data() + item * classes, static_cast<size_t>(classes)};
  }
};

/// One byte for each item: 1 where the label is among the `k` best scores (ties go to the lower class).
std::vector<uint8_t> correctItems(const Scores &scores, std::span<const int32_t> labels, int k = 1);

/// The share of ones.
double share(std::span<const uint8_t> flags);

/// ‖got − golden‖ / ‖golden‖ in the norm 1 or 2; 0 for two zero vectors, infinity where only the golden one
/// is zero.
double relativeError(std::span<const float> got, std::span<const float> golden, int norm);

/// The mean of |got − golden| ^ norm.
double meanError(std::span<const float> got, std::span<const float> golden, int norm);

/// Peak signal-to-noise ratio in decibels for values up to `peak`; infinity for equal images.
double psnr(std::span<const float> got, std::span<const float> golden, double peak);

/// Mean structural similarity of two images of height x width, values up to `peak`: over all windows of 7 x
/// 7, with unbiased variances, as scikit-image computes it.
double ssim(std::span<const float> got, std::span<const float> golden, int64_t height, int64_t width,
            double peak);

/// A metric by its name on the command line and in curves: top-1, top-K, l1, l2, relative, psnr, ssim.
struct MetricKind {
  enum Kind { TopK, L1, L2, Relative, Psnr, Ssim } kind = TopK;
  int k = 1;
  /// A larger figure is better (accuracies and similarities), or a smaller one (errors).
  bool higherIsBetter() const { return kind == TopK || kind == Psnr || kind == Ssim; }
  std::string name() const;
};
Result<MetricKind> parseMetric(const std::string &name);

/// Digits behind the point that figures of a metric are printed with; errors are small numbers.
inline int metricDigits(std::string_view metric) {
  return metric.starts_with("top-") || metric.find("psnr") != std::string_view::npos ? 2 : 4;
}

} // namespace tessera::tune
