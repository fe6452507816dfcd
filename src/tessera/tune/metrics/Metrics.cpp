// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/metrics/Metrics.h"

#include "tessera/base/Check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tessera::tune {

std::vector<uint8_t> correctItems(const Scores &scores, std::span<const int32_t> labels, int k) {
  TESSERA_CHECK(labels.size() == size_t(scores.items)) << "labels and scores differ in length";
  std::vector<uint8_t> correct(labels.size());
  for (int64_t i = 0; i < scores.items; ++i) {
    std::span<const float> row = scores.row(i);
    if (labels[i] < 0 || labels[i] >= scores.classes)
      continue;
    // A score that is not a number is worse than any other, so that broken arithmetic never counts as right.
    float own = row[labels[i]];
    int better = std::isnan(own) ? k : 0;
    for (int64_t c = 0; c < scores.classes && better < k; ++c)
      better += row[c] > own || (row[c] == own && c < labels[i]);
    correct[i] = better < k;
  }
  return correct;
}

double share(std::span<const uint8_t> flags) {
  int64_t ones = 0;
  for (uint8_t f : flags)
    ones += f;
  return flags.empty() ? 0 : double(ones) / double(flags.size());
}

double meanError(std::span<const float> got, std::span<const float> golden, int norm) {
  TESSERA_CHECK(got.size() == golden.size()) << "compared arrays differ in length";
  double sum = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    double d = std::fabs(double(got[i]) - double(golden[i]));
    sum += norm == 1 ? d : d * d;
  }
  return got.empty() ? 0 : sum / double(got.size());
}

double relativeError(std::span<const float> got, std::span<const float> golden, int norm) {
  double error = meanError(got, golden, norm), size = 0;
  for (float v : golden)
    size += norm == 1 ? std::fabs(double(v)) : double(v) * double(v);
  size = golden.empty() ? 0 : size / double(golden.size());
  if (size == 0)
    return error == 0 ? 0 : std::numeric_limits<double>::infinity();
  return norm == 1 ? error / size : std::sqrt(error / size);
}

double psnr(std::span<const float> got, std::span<const float> golden, double peak) {
  double mean = meanError(got, golden, 2);
  return mean == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(peak * peak / mean);
}

double ssim(std::span<const float> got, std::span<const float> golden, int64_t height, int64_t width,
            double peak) {
  TESSERA_CHECK(int64_t(got.size()) == height * width && got.size() == golden.size())
      << "images of another size";
  constexpr int64_t window = 7;
  // The constants of the original definition: 1 % and 3 % of the range, squared.
  const double c1 = 0.01 * peak * 0.01 * peak, c2 = 0.03 * peak * 0.03 * peak;
  const int64_t h = std::min(window, height), w = std::min(window, width);
  const double n = double(h * w), unbiased = n > 1 ? n / (n - 1) : 1;
  // Sums of the five moments over windows: first down the columns, which roll from row to row, then across.
  std::vector<std::array<double, 5>> columns(size_t(width), std::array<double, 5>{});
  auto moments = [&](int64_t y, int64_t x) {
    const double p = got[size_t(y * width + x)], q = golden[size_t(y * width + x)];
    return std::array<double, 5>{p, q, p * p, q * q, p * q};
  };
  double total = 0;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x)
      for (size_t m = 0; m < 5; ++m)
        columns[size_t(x)][m] += moments(y, x)[m] - (y >= h ? moments(y - h, x)[m] : 0);
    if (y + 1 < h)
      continue;
    std::array<double, 5> sum{};
    for (int64_t x = 0; x < width; ++x) {
      for (size_t m = 0; m < 5; ++m)
        sum[m] += columns[size_t(x)][m] - (x >= w ? columns[size_t(x - w)][m] : 0);
      if (x + 1 < w)
        continue;
      const double a = sum[0] / n, b = sum[1] / n, va = unbiased * (sum[2] / n - a * a),
                   vb = unbiased * (sum[3] / n - b * b), cov = unbiased * (sum[4] / n - a * b);
      total += (2 * a * b + c1) * (2 * cov + c2) / ((a * a + b * b + c1) * (va + vb + c2));
    }
  }
  const int64_t windows = (height - h + 1) * (width - w + 1);
  return height && width ? total / double(windows) : 1;
}

static constexpr std::pair<const char *, MetricKind::Kind> metricNames[] = {
    {"l1", MetricKind::L1},
    {"l2", MetricKind::L2},
    {"relative", MetricKind::Relative},
    {"psnr", MetricKind::Psnr},
    {"ssim", MetricKind::Ssim}};

std::string MetricKind::name() const {
  for (auto [name, known] : metricNames)
    if (kind == known)
      return name;
  return concat("top-", k);
}

Result<MetricKind> parseMetric(const std::string &name) {
  MetricKind metric;
  if (name.starts_with("top-") && name.size() > 4 && name.size() < 8 &&
      name.find_first_not_of("0123456789", 4) == std::string::npos && std::stoi(name.substr(4)) > 0) {
    metric.k = std::stoi(name.substr(4));
    return metric;
  }
  for (auto [known, kind] : metricNames)
    if (name == known) {
      metric.kind = kind;
      return metric;
    }
  return fail(StatusCode::InvalidArgument, "unknown metric '", name,
              "'; there are top-1 (or top-5, …), l1, l2, relative, psnr and ssim");
}

} // namespace tessera::tune
