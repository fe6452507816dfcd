// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/Predict.h"

#include "tessera/base/Check.h"

#include <cmath>

namespace tessera::tune {

double sumOfLosses(std::span<const Operation> operations, std::span<const uint16_t> picks) {
  double sum = 0;
  for (size_t i = 0; i < operations.size(); ++i)
    sum += operations[i].choices[picks[i]].loss;
  return sum;
}

OutputModel::OutputModel(Scores exactScores, std::vector<int32_t> itemLabels, int k)
    : exact(std::move(exactScores)), labels(std::move(itemLabels)), k(k),
      correct(correctItems(exact, labels, k)) {}

void OutputModel::add(size_t op, size_t choice, const Scores &scores) {
  TESSERA_CHECK(scores.items == exact.items && scores.classes == exact.classes) << "a profile of other items";
  if (differences.size() <= op)
    differences.resize(op + 1);
  if (differences[op].size() <= choice)
    differences[op].resize(choice + 1);
  std::vector<float> &delta = differences[op][choice];
  delta.resize(exact.values.size());
  for (size_t i = 0; i < delta.size(); ++i)
    delta[i] = scores.values[i] - exact.values[i];
}

bool OutputModel::knows(size_t op, size_t choice) const {
  return choice == 0 ||
         (op < differences.size() && choice < differences[op].size() && !differences[op][choice].empty());
}

PairedLoss OutputModel::predict(std::span<const uint16_t> picks) const {
  Scores sum = exact;
  for (size_t op = 0; op < picks.size(); ++op) {
    if (picks[op] == 0)
      continue;
    TESSERA_CHECK(knows(op, picks[op])) << "a choice that was never profiled";
    const std::vector<float> &delta = differences[op][picks[op]];
    for (size_t i = 0; i < delta.size(); ++i)
      sum.values[i] += float(factor) * delta[i];
  }
  return pairedLoss(correct, correctItems(sum, labels, k));
}

void OutputModel::fitScale(std::span<const std::vector<uint16_t>> configurations,
                           std::span<const double> measured) {
  double best = factor, least = -1;
  for (int step = 0; step <= 30; ++step) {
    factor = 0.5 + 0.05 * step;
    double error = 0;
    for (size_t i = 0; i < configurations.size(); ++i) {
      double difference = predict(configurations[i]).loss() - measured[i];
      error += difference * difference;
    }
    // Of equal fits the one nearest to 1, which is what theory says.
    if (least < 0 || error < least || (error == least && std::fabs(factor - 1) < std::fabs(best - 1)))
      least = error, best = factor;
  }
  factor = configurations.empty() ? 1 : best;
}

void Corrected::observe(double predicted, int64_t approximated, double measured) {
  seen.push_back({predicted, double(approximated), measured});
}

Prediction Corrected::correct(double predicted, int64_t approximated, int64_t items, double changed) const {
  // Sampling alone: losses and gains are rare and independent.
  double sampling = std::sqrt(std::max(changed, 1e-4) / double(std::max<int64_t>(items, 1)));
  if (seen.size() < 4)
    return {predicted, sampling + 0.002};
  // residual = a * predicted + b * approximated, ridge-regularised towards no correction.
  double xx = 1e-4, xy = 0, yy = 4, xr = 0, yr = 0;
  for (const Seen &s : seen) {
    double r = s.measured - s.predicted;
    xx += s.predicted * s.predicted, xy += s.predicted * s.approximated,
        yy += s.approximated * s.approximated;
    xr += s.predicted * r, yr += s.approximated * r;
  }
  double det = xx * yy - xy * xy, a = (xr * yy - yr * xy) / det, b = (yr * xx - xr * xy) / det, left = 0;
  for (const Seen &s : seen) {
    double r = s.measured - s.predicted - a * s.predicted - b * s.approximated;
    left += r * r;
  }
  double model = std::sqrt(left / double(seen.size() - 2));
  return {predicted * (1 + a) + b * double(approximated), std::sqrt(model * model + sampling * sampling)};
}

} // namespace tessera::tune
