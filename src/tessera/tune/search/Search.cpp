// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/search/Search.h"

#include "tessera/tune/search/Evolve.h"

#include <algorithm>
#include <cmath>

namespace tessera::tune {

Prediction predict(const SearchInput &input, std::span<const uint16_t> picks) {
  const PairedLoss loss = input.model->predict(picks);
  const double changed = loss.count ? double(loss.lost + loss.won) / double(loss.count) : 0;
  return {loss.loss(), input.uncertainty->of(loss.count, changed)};
}

// Fronts of the additive model whose losses are `noise`. How much noise costs how much quality is not known,
// so all budgets up to the noise of the worst single choice are taken.
static std::vector<Point> noiseFront(const SearchInput &input) {
  std::vector<Operation> operations = input.operations;
  double most = 0;
  for (size_t i = 0; i < operations.size(); ++i)
    for (size_t c = 0; c < operations[i].choices.size(); ++c) {
      operations[i].choices[c].loss = input.noise[i][c];
      most = std::max(most, input.noise[i][c]);
    }
  if (most == 0)
    return {};
  // Budgets of very different size matter; each gets its own resolution.
  std::vector<Point> all;
  for (double budget = most; budget > most / 1e4; budget /= 10)
    for (Point &p : solveFront(operations, budget, budget / 500))
      all.push_back(std::move(p));
  return paretoFront(std::move(all));
}

std::vector<Point> searchFront(const SearchInput &input, const SearchOptions &options) {
  // A choice that happened to win on the samples of the profile is not better than exact.
  std::vector<Operation> operations = input.operations;
  for (Operation &op : operations)
    for (Choice &choice : op.choices)
      choice.loss = std::max(choice.loss, 0.0);
  std::vector<Point> start = spread(solveFront(operations, options.maxLoss, options.maxLoss / 500), 200);
  for (Point &p : spread(noiseFront(input), 200))
    start.push_back(std::move(p));
  double scale = 0;
  for (const auto &choices : input.noise)
    for (double noise : choices)
      scale = std::max(scale, noise);
  auto loss = [&](std::span<const uint16_t> picks) {
    double noise = 0;
    for (size_t i = 0; i < picks.size(); ++i)
      noise += input.noise[i][picks[i]];
    // Samples are few, so many configurations have equal losses; of those the quieter one is safer.
    return std::max(0.0, predict(input, picks).loss) + 1e-3 * (scale > 0 ? noise / scale : 0);
  };
  EvolveOptions evolution;
  evolution.maxLoss = options.maxLoss;
  evolution.seed = options.seed;
  evolution.population = 400;
  evolution.generations = 12;
  return evolve(operations, std::move(start), loss, evolution);
}

std::vector<Point> spread(const std::vector<Point> &front, size_t count) {
  if (front.size() <= count || count == 0)
    return front;
  // Fronts are ordered by loss: the first is the most exact and costs most.
  const double top = std::log(std::max(front.front().cost, 1e-12)),
               bottom = std::log(std::max(front.back().cost, 1e-12));
  std::vector<Point> chosen;
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    const double goal = top + (bottom - top) * double(i + 1) / double(count);
    // The most exact point that is at least this fast.
    while (at + 1 < front.size() && std::log(std::max(front[at].cost, 1e-12)) > goal + 1e-9)
      ++at;
    if (chosen.empty() || chosen.back().picks != front[at].picks)
      chosen.push_back(front[at]);
  }
  return chosen;
}

} // namespace tessera::tune
