// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The controller on a simulated machine whose quota is cut: does it end on the most exact point that holds
// the deadline, as one finds by running each point alone?
#include "tessera/runtime/control/Controller.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <random>

using namespace tessera;

namespace {
/// Batches one after the other. A quota lets the program run for a share of each period and then stops it, so
/// that batches of equal work take unequal times.
class Machine {
public:
  Machine(unsigned seed, double noise, double period) : random(seed), jitter(0, noise), period(period) {}
  /// How long a batch takes that needs `ms` of an undisturbed machine, when it gets `share` of it. One in
  /// `accidents` batches takes half as long again.
  double run(double ms, double share, int accidents) {
    double work = ms * jitter(random);
    if (accidents && random() % unsigned(accidents) == 0)
      work *= 1.5;
    const double begin = now;
    while (work > 0) {
      const double into = now - period * std::floor(now / period);
      const double left = std::max(0.0, share * period - into);
      if (work < left) {
        now += work;
        break;
      }
      work -= left;
      now += period - into + 1e-9; // until the next period begins
    }
    const double taken = now - begin;
    now += 0.1; // between batches
    return taken;
  }

private:
  std::mt19937 random;
  std::lognormal_distribution<double> jitter;
  double period, now = 0;
};

struct Case {
  const char *name;
  std::vector<ControlPoint> points; ///< as they are; the curve may differ
  double deadline, noise, period, share;
  int accidents;
  std::vector<double> error; ///< of the curve's time against the truth, for each point
};

struct Replayed {
  double met = 0, loss = 0;
  size_t adaptations = 0;
  std::vector<int> used;
};
} // namespace

// Half of the trace runs undisturbed, then the quota falls. `fixed` is the only point, or none.
static Replayed replay(const Case &c, unsigned seed, std::optional<size_t> fixed) {
  std::vector<ControlPoint> curve = c.points;
  for (size_t i = 0; i < curve.size() && i < c.error.size(); ++i)
    curve[i].ms *= c.error[i];
  auto controller = Controller::create(curve, {ControlGoal::Deadline, c.deadline});
  Machine machine(seed, c.noise, c.period);
  Replayed outcome;
  outcome.used.resize(curve.size());
  const int half = 300, settled = half + 60, end = half + 1200;
  for (int b = 0; b < end; ++b) {
    const size_t point = fixed ? *fixed : controller->choose();
    const double ms = machine.run(c.points[point].ms, b < half ? 1 : c.share, c.accidents);
    controller->observe(point, ms);
    if (b < settled)
      continue;
    outcome.met += ms <= c.deadline;
    outcome.loss += c.points[point].loss;
    ++outcome.used[point];
  }
  outcome.met /= end - settled;
  outcome.loss /= end - settled;
  outcome.adaptations = controller->adaptations().size();
  return outcome;
}

// The most exact point that, alone, meets the deadline in this share of batches.
static size_t firstThatHolds(const Case &c, unsigned seed, double share) {
  size_t point = 0;
  while (point + 1 < c.points.size() && replay(c, seed, point).met < share)
    ++point;
  return point;
}

TEST(ControllerTrace, EndsOnTheMostExactPointThatHolds) {
  const std::vector<ControlPoint> wide = {{0, 11.9, 0},   {0, 8.9, 0},    {0.01, 8.4, 0},
                                          {0.78, 8.1, 0}, {1.22, 7.7, 0}, {1.9, 7.3, 0}};
  const std::vector<ControlPoint> steep = {{0, 7.2, 0},     {0, 2.23, 0},    {0.01, 2.15, 0},
                                           {0.36, 1.97, 0}, {1.58, 1.88, 0}, {1.88, 1.84, 0}};
  const std::vector<ControlPoint> fine = {{0, 5.1, 0},   {0, 3.7, 0},    {0.01, 3.4, 0},  {0.02, 3.2, 0},
                                          {0.1, 2.9, 0}, {0.15, 2.8, 0}, {0.99, 2.63, 0}, {2.36, 2.5, 0}};
  const Case cases[] = {
      {"quiet", wide, 20, 0.01, 4, 0.5, 0, {}},
      {"restless", wide, 20, 0.05, 4, 0.5, 0, {}},
      {"with accidents", wide, 20, 0.02, 4, 0.5, 60, {}},
      {"tight", wide, 17.5, 0.02, 2, 0.5, 0, {}},
      {"steep", steep, 9.4, 0.03, 1.9, 0.5, 0, {}},
      {"steep and tight", steep, 4.7, 0.03, 0.5, 0.5, 0, {}},
      {"many points", fine, 7, 0.03, 1, 0.5, 0, {}},
      {"the curve says too little", wide, 20, 0.02, 4, 0.5, 0, {1, 0.93, 0.94, 1.03, 0.97, 1}},
      {"the curve says too much", wide, 20, 0.02, 4, 0.5, 0, {1, 1.06, 1.05, 1, 1.04, 1}},
      {"very restless", wide, 22, 0.12, 4, 0.5, 0, {}},
      {"a third is left", steep, 9.4, 0.03, 1.9, 0.33, 40, {}},
  };
  for (const Case &c : cases)
    for (unsigned seed : {1u, 2u, 3u}) {
      SCOPED_TRACE(::testing::Message() << c.name << ", seed " << seed);
      // A point that holds by a hair may be left for the next one, which holds for certain.
      const size_t by = firstThatHolds(c, seed, 0.96), surely = firstThatHolds(c, seed, 0.98);
      const Replayed o = replay(c, seed, std::nullopt);
      const auto most = size_t(std::max_element(o.used.begin(), o.used.end()) - o.used.begin());
      EXPECT_GE(o.met, 0.95);
      EXPECT_GE(most, by);
      EXPECT_LE(most, surely);
      EXPECT_LE(o.loss, c.points[surely].loss + 0.15);
      EXPECT_LE(o.adaptations, 20u);
    }
}

// Two points between which the deadline lies: the more exact one is tried less and less often.
TEST(ControllerTrace, BacksOffFromAPointThatFails) {
  const std::vector<ControlPoint> points = {{0, 10, 0}, {1, 8, 0}};
  auto controller = Controller::create(points, {ControlGoal::Deadline, 11});
  std::mt19937 random(1);
  std::lognormal_distribution<double> jitter(0, 0.02);
  std::vector<int> tries;
  double met = 0;
  const int batches = 20000;
  for (int b = 0; b < batches; ++b) {
    const size_t point = controller->choose();
    // It looks as fast as the curve says, but is late in one batch of eight.
    const double ms = points[point].ms * jitter(random) * (point == 0 && random() % 8 == 0 ? 1.2 : 1);
    controller->observe(point, ms);
    met += ms <= 11;
    if (controller->adapted() && point == 0)
      tries.push_back(b);
  }
  EXPECT_GT(met / batches, 0.97);
  EXPECT_LT(tries.size(), 14u);
  EXPECT_LT(controller->adaptations().size(), 28u);
}
