// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a configuration will do to quality, from profiles of one operation at a time. Three predictors: the
// sum of the changes of quality
// (`sumOfLosses`, ApproxTuner's second), the sum of the changes of the outputs (`OutputModel::predict` with
// its scale, ApproxTuner's first), and the latter corrected by what was measured, with its uncertainty
// (`Corrected`).
#pragma once

#include "tessera/tune/Front.h"
#include "tessera/tune/Metrics.h"
#include "tessera/tune/Statistics.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::tune {

/// The losses of the picked choices, added up.
double sumOfLosses(std::span<const Operation> operations, std::span<const uint16_t> picks);

/// The scores of a classifier under each single choice, as differences from the exact scores.
class OutputModel {
public:
  OutputModel(Scores exact, std::vector<int32_t> labels, int k = 1);
  /// Says what the scores are when only operation `op` runs choice `choice`. Choice 0 is exact and is not
  /// told.
  void add(size_t op, size_t choice, const Scores &scores);
  bool knows(size_t op, size_t choice) const;

  /// exact + scale * (sum of differences), as a loss paired with the exact answers.
  PairedLoss predict(std::span<const uint16_t> picks) const;
  /// Chooses the scale that fits measured configurations best (least squares over the losses), among 0.5 … 2.
  void fitScale(std::span<const std::vector<uint16_t>> configurations, std::span<const double> measured);
  double scale() const { return factor; }
  const std::vector<uint8_t> &exactCorrect() const { return correct; }

private:
  Scores exact;
  std::vector<int32_t> labels;
  int k;
  std::vector<uint8_t> correct;
  std::vector<std::vector<std::vector<float>>> differences; // by operation and choice
  double factor = 1;
};

/// A prediction with its standard error, both in shares.
struct Prediction {
  double loss, deviation;
};

/// Corrects a predictor by the residuals of configurations that were measured: residuals grow with the
/// predicted loss and the number of operations that are not exact, so a straight line in both is fitted, and
/// what it leaves is the uncertainty.
class Corrected {
public:
  /// Features of a configuration: its predicted loss, and how many picks are not exact.
  void observe(double predicted, int64_t approximated, double measured);
  Prediction correct(double predicted, int64_t approximated, int64_t items, double changed) const;
  size_t observations() const { return seen.size(); }

private:
  struct Seen {
    double predicted, approximated, measured;
  };
  std::vector<Seen> seen;
};

} // namespace tessera::tune
