// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How good answers are that no label judges: those of the exact program say what is right. The quality of a
// sample is what the metric says of it; under several metrics with bounds, the share of them that is used up.
#pragma once

#include "tessera/runtime/program/Program.h"
#include "tessera/tune/curve/Curve.h"
#include "tessera/tune/metrics/MetricSet.h"
#include "tessera/tune/samples/Samples.h"

namespace tessera::tune {

/// An exact picture has no noise; in curves, which hold finite numbers, that counts as so many decibels.
inline constexpr double exactDecibels = 100;

class Judge {
public:
  /// Reads the metric that a program is judged by.
  static Result<Judge> create(const ProgramPlan &plan, const std::string &metric);
  /// Runs the exact program on the samples, of which there is at least one.
  Status learn(Program &exact, std::vector<Sample> samples);

  std::span<const Sample> samples() const { return list; }
  /// The one with most bytes, which times are measured on.
  const Sample &largest() const;

  /// The quality of another program's answer to each sample.
  Result<std::vector<double>> judge(Program &program) const;
  /// Their mean and the loss, with what they stay within at this confidence.
  Configuration::Measured summarise(std::span<const double> qualities, double confidence) const;

  double exactQuality() const { return quality; }
  double lossOf(double other) const { return higherIsBetter() ? quality - other : other - quality; }
  bool isPsnr() const;
  bool higherIsBetter() const { return !isShare && metrics->items()[0].higherIsBetter(); }

private:
  std::vector<Sample> list;
  std::vector<std::vector<OutputArray>> golden; ///< of each sample
  std::optional<MetricSet> metrics;
  bool isShare = false;             ///< quality is the share of bounds that is used up
  std::vector<double> exactFigures; ///< of each metric
  double quality = 0;
};

} // namespace tessera::tune
