// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves along a trade-off curve while a program runs, so that a goal holds under changing conditions: a
// deadline for each batch, a mean throughput, or a mean energy. It never leaves the points it was given, so
// the curve's end is the floor of quality.
#pragma once

#include "tessera/base/Status.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tessera {

/// One configuration of the curve, with what it took when it was measured.
struct ControlPoint {
  double loss = 0;   ///< of quality
  double ms = 0;     ///< for one batch
  double joules = 0; ///< for one batch; 0 where it is not known
};

struct ControlGoal {
  enum Kind { Deadline, MeanTime, MeanEnergy } kind = Deadline;
  double value = 0;        ///< milliseconds or joules a batch
  double margin = 0.07;    ///< a deadline is planned for with at least this much to spare
  double hysteresis = 0.1; ///< how much better the next more exact point must fit before it is taken
  double maxLoss =
      std::numeric_limits<double>::infinity(); ///< the floor of quality: points beyond are not used
};

/// "deadline:12ms", "throughput:500/s" (items; a batch has `batch` of them) or "energy:0.5J" (a batch).
Result<ControlGoal> parseGoal(const std::string &text, int64_t batch);

/// Why the controller changed its mind.
struct Adaptation {
  int64_t batch;
  size_t from, to;
  double scale; ///< the machine's slowness against the measured curve, as estimated then
  std::string cause;
};

class Controller {
public:
  /// The points, from the most exact to the fastest. Refuses a curve that is empty, has no point within the
  /// floor of quality, or lacks the figure that the goal is about.
  static Result<Controller> create(std::vector<ControlPoint> points, ControlGoal goal);

  /// The point to run the next batch with.
  size_t choose();
  /// What the batch took. `joules` is ignored where it is not positive.
  void observe(size_t point, double ms, double joules = 0);
  /// Something the machine's speed depends on has changed, see Monitor: the next batch that differs is no
  /// accident, and `what` is its cause.
  void conditionsChanged(const std::string &what) { changed = what; }

  double scale() const { return slowness; }
  /// True when the last choose() changed its mind; adaptations().back() says why. For a mean, taking turns
  /// between two neighbours is no change.
  bool adapted() const { return justAdapted; }
  /// The latest ones, at least the last 500.
  const std::vector<Adaptation> &adaptations() const { return log; }
  /// False while even the fastest point is expected to miss the goal.
  bool reachable() const { return expected(points.size() - 1) <= goal.value; }
  /// The mean loss of the batches so far.
  double meanLoss() const { return batches ? lossSum / double(batches) : 0; }

private:
  Controller(std::vector<ControlPoint> points, ControlGoal goal) : points(std::move(points)), goal(goal) {}
  double base(size_t point) const;
  double expected(size_t point) const;
  size_t mostExact(double limit, double stricter) const;

  std::vector<ControlPoint> points;
  ControlGoal goal;
  std::vector<double> correction; ///< of each point's figure against the others', learnt
  double slowness = 1;            ///< of the machine
  double tail = 1;                ///< 96 of 100 batches take at most this times what is expected, learnt
  double credit = 0;              ///< a mean goal: what has been saved (positive) or overdrawn so far
  double lossSum = 0;
  int64_t batches = 0;
  int outliers = 0;    ///< batches in a row that the estimate does not explain
  double lastSeen = 0; ///< what the last of them said
  size_t current = 0;
  size_t lowerTurn = 0; ///< a mean goal: this point and the next take turns
  bool justAdapted = false;
  std::string cause = "start", changed;
  std::vector<Adaptation> log;
};

} // namespace tessera
