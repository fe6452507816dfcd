// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicts the quality of a configuration from profiles of one operation at a time. Three predictors: the
// sum of the changes of quality (`sumOfLosses`, ApproxTuner's second), the sum of the changes of the outputs
// (`OutputModel::predict` with its scale, ApproxTuner's first), and the latter from the nearest configuration
// that was run (`OutputModel::observe`), with its uncertainty (`Uncertainty`).
#pragma once

#include "tessera/tune/metrics/Metrics.h"
#include "tessera/tune/metrics/Statistics.h"
#include "tessera/tune/search/Front.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::tune {

/// Mean squared difference of two sets of scores.
double meanSquaredChange(std::span<const float> a, std::span<const float> b);

/// The losses of the picked choices, added up.
double sumOfLosses(std::span<const Operation> operations, std::span<const uint16_t> picks);

/// The scores of a classifier under each single choice, as differences from the exact scores.
class OutputModel {
public:
  OutputModel(Scores exact, std::vector<int32_t> labels, int k = 1);
  /// Records the scores when only operation `op` runs choice `choice`. Choice 0 is exact and is not recorded.
  void add(size_t op, size_t choice, const Scores &scores);
  bool knows(size_t op, size_t choice) const;

  /// The loss of these scores, paired with the exact answers.
  PairedLoss lossOf(const Scores &scores) const;
  /// scores + scale * (sum of differences), as a loss paired with the exact answers. The scores are those of
  /// the nearest configuration that was run: by the squared differences of the choices that are not the same.
  PairedLoss predict(std::span<const uint16_t> picks) const;
  /// Records the scores of a configuration that was run.
  void observe(std::span<const uint16_t> picks, Scores scores);
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

  /// A configuration that was run.
  struct Known {
    std::vector<uint16_t> picks;
    Scores scores;
    std::vector<std::vector<double>> distances; // of each operation's choices from the one picked
  };
  const Known *nearest(std::span<const uint16_t> picks) const; ///< null: nothing was run yet
  std::vector<Known> known;
};

/// A prediction with its standard error, both in shares.
struct Prediction {
  double loss, deviation;
};

/// The error of predictions: from the errors of earlier ones and from the number of samples.
class Uncertainty {
public:
  void observe(double predicted, double measured);
  /// The standard error for a configuration that changes the share `changed` of the answers for `items`.
  double of(int64_t items, double changed) const;

private:
  double squares = 0;
  int64_t count = 0;
};

} // namespace tessera::tune
