// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Demands of operations, which know no hardware, and knobs chosen by them, which needs no data.
#include "tessera/tune/tuner/Tuner.h"

#include <algorithm>
#include <cmath>

namespace tessera::tune {

static constexpr int jointRuns = 20, steps = 8;
static constexpr size_t mostOthers = 1000; // samples that the demands are tried on at last

// The loss in points when operations are off by so much; `before` are the exact answers.
Result<double> Tuner::injectedLoss(std::span<const double> errors, const Items &items,
                                   std::span<const uint8_t> before, uint64_t seed,
                                   std::vector<double> &l1) const {
  TESSERA_ASSIGN(Scores after, runner->runInjected(errors, items, seed, l1));
  return 100 * pairedLoss(before, correctItems(after, labelsOf(items), options.metric.k)).loss();
}

// First what each operation may do alone, then by which factor all of them have to share it.
Result<Tuner::FoundDemands> Tuner::findDemands(double share) {
  TESSERA_TRY(prepare());
  const size_t count = network.segments.size();
  std::vector<double> alone(count), l1;
  for (size_t s = 0; s < count; ++s) {
    if (network.segments[s].name.empty())
      continue;
    double low = std::log(1e-3), high = std::log(2.0);
    for (int i = 0; i < steps; ++i) {
      const double middle = (low + high) / 2;
      std::vector<double> errors(count);
      errors[s] = std::exp(middle);
      TESSERA_ASSIGN(const double loss,
                     injectedLoss(errors, searchItems, model->exactCorrect(), options.seed + s, l1));
      (loss <= options.maxLoss() ? low : high) = middle;
    }
    alone[s] = std::exp(low);
    tell(concat(network.segments[s].name, ": may be off by ", std::round(1000 * alone[s]) / 10, " % alone"));
  }
  std::vector<double> errors(count), sizes(count);
  auto holds = [&](const Items &items, std::span<const uint8_t> before, double factor,
                   uint64_t seed) -> Result<int64_t> {
    int64_t held = 0;
    std::fill(sizes.begin(), sizes.end(), 0.0);
    for (size_t s = 0; s < count; ++s)
      errors[s] = factor * alone[s];
    for (int run = 0; run < jointRuns; ++run) {
      TESSERA_ASSIGN(const double loss,
                     injectedLoss(errors, items, before, seed + static_cast<uint64_t>(run), l1));
      held += loss <= options.maxLoss();
      for (size_t s = 0; s < count; ++s)
        sizes[s] += l1[s] / jointRuns;
    }
    return held;
  };
  double low = 0, high = 1;
  for (int i = 0; i < steps; ++i) {
    const double middle = (low + high) / 2;
    TESSERA_ASSIGN(const int64_t held,
                   holds(searchItems, model->exactCorrect(), middle, options.seed + 1000));
    (static_cast<double>(held) >= share * jointRuns ? low : high) = middle;
  }
  FoundDemands found;
  found.ranges = ranges;
  found.runs = jointRuns;
  Items others;
  const size_t stride = std::max<size_t>(1, heldBack.size() / mostOthers);
  for (size_t i = 0; i < heldBack.size(); i += stride)
    others.push_back(heldBack[i]);
  TESSERA_ASSIGN(Runner::Exact golden, runner->runExact(others));
  TESSERA_ASSIGN(found.held, holds(others, correctItems(golden.scores, labelsOf(others), options.metric.k),
                                   low, options.seed + 2000));
  for (size_t s = 0; s < count; ++s)
    if (!network.segments[s].name.empty())
      found.demands[network.segments[s].name] = {sizes[s], errors[s]};
  return found;
}

Result<std::map<std::string, std::string>> Tuner::chooseByDemands() {
  TESSERA_TRY(prepare());
  TESSERA_TRY(runner->start(searchItems));
  std::map<std::string, std::string> chosen;
  for (size_t s = 0; s < network.segments.size(); ++s) {
    const Segment &info = network.segments[s];
    if (info.demand) {
      TESSERA_ASSIGN(const std::vector<uint16_t> available, compileVariants(s));
      std::vector<double> microseconds(info.knobs.size());
      TESSERA_TRY(costsOf(s, available, microseconds));
      std::vector<uint16_t> order(available);
      std::sort(order.begin(), order.end(),
                [&](uint16_t a, uint16_t b) { return microseconds[a] < microseconds[b]; });
      for (uint16_t k : order) {
        if (k == 0)
          break;
        TESSERA_ASSIGN(const Demand error, runner->errorOf(k));
        if (error.l1 > info.demand->l1 || error.l2 > info.demand->l2)
          continue;
        chosen[info.name] = info.knobs[k];
        break;
      }
      tell(concat(info.name, ": ", chosen.count(info.name) ? chosen[info.name] : "exact"));
    }
    TESSERA_TRY(runner->advance());
  }
  return chosen;
}

} // namespace tessera::tune
