// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/search/Predict.h"

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

double meanSquaredChange(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = double(a[i]) - double(b[i]);
    sum += d * d;
  }
  return a.empty() ? 0 : sum / double(a.size());
}

void OutputModel::observe(std::span<const uint16_t> picks, Scores scores) {
  Known run{{picks.begin(), picks.end()}, std::move(scores), {}};
  const std::vector<float> none(exact.values.size());
  for (size_t op = 0; op < differences.size(); ++op) {
    auto differenceOf = [&](size_t choice) -> const std::vector<float> & {
      return knows(op, choice) && choice ? differences[op][choice] : none;
    };
    run.distances.emplace_back();
    for (size_t choice = 0; choice < differences[op].size(); ++choice)
      run.distances.back().push_back(meanSquaredChange(differenceOf(choice), differenceOf(picks[op])));
  }
  known.push_back(std::move(run));
}

const OutputModel::Known *OutputModel::nearest(std::span<const uint16_t> picks) const {
  const Known *best = nullptr;
  double least = 0;
  for (const Known &run : known) {
    double distance = 0;
    for (size_t op = 0; op < run.distances.size(); ++op)
      if (picks[op] != run.picks[op])
        distance += run.distances[op][picks[op]];
    if (!best || distance < least)
      best = &run, least = distance;
  }
  return best;
}

PairedLoss OutputModel::predict(std::span<const uint16_t> picks) const {
  const Known *from = nearest(picks);
  Scores sum = from ? from->scores : exact;
  auto add = [&](size_t op, uint16_t choice, double scale) {
    if (choice == 0)
      return;
    TESSERA_CHECK(knows(op, choice)) << "a choice that was never profiled";
    const std::vector<float> &delta = differences[op][choice];
    for (size_t i = 0; i < delta.size(); ++i)
      sum.values[i] += float(scale) * delta[i];
  };
  for (size_t op = 0; op < picks.size(); ++op) {
    const uint16_t before = from ? from->picks[op] : 0;
    if (picks[op] == before)
      continue;
    add(op, picks[op], factor);
    add(op, before, -factor);
  }
  return lossOf(sum);
}

PairedLoss OutputModel::lossOf(const Scores &scores) const {
  return pairedLoss(correct, correctItems(scores, labels, k));
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

void Uncertainty::observe(double predicted, double measured) {
  squares += (predicted - measured) * (predicted - measured);
  ++count;
}

double Uncertainty::of(int64_t items, double changed) const {
  // Sampling alone: losses and gains are rare and independent.
  const double sampling = std::sqrt(std::max(changed, 1e-4) / double(std::max<int64_t>(items, 1)));
  const double model = count ? std::sqrt(squares / double(count)) : 0.002;
  return std::sqrt(model * model + sampling * sampling);
}

} // namespace tessera::tune
