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
  double value = 0;         ///< milliseconds or joules a batch
  double share = 0.96;      ///< of batches that are to meet a deadline
  double margin = 0.07;     ///< what is left free of a deadline while the batches' scatter is not known
  double hysteresis = 0.02; ///< how much better the next more exact point must fit before it is taken
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
  /// Something the machine's speed depends on has changed, see Monitor: if one of the next batches differs,
  /// `what` is its cause, and where that is certain, one batch is no accident.
  void conditionsChanged(const std::string &what, bool certain = true);

  double scale() const;
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
  /// What is known of a point beyond the curve, which was measured on another day. Logarithms.
  struct Learnt {
    double correction = 0; ///< of its figure against the other points'
    double doubt;          ///< variance of that
    int64_t retryAt = 0;   ///< not to be gone back to before this batch
    int64_t wait;          ///< how long that is, doubled when going back fails
  };
  Controller(std::vector<ControlPoint> points, ControlGoal goal);
  double figure(size_t point) const;
  double expected(size_t point) const;
  size_t mostExact(double limit) const;
  size_t chooseForDeadline();
  size_t moveOn();
  void anotherMachine(double residual);
  void remember(double ratio);

  std::vector<ControlPoint> points;
  ControlGoal goal;
  std::vector<Learnt> learnt;
  double slowness = 0;        ///< of the machine, a logarithm
  double doubt;               ///< variance of that
  double noise;               ///< variance of a batch
  std::vector<double> ratios; ///< of the latest batches to what was expected of them, a ring
  size_t nextRatio = 0;
  double tail;       ///< 94 of 100 batches take at most this times what is expected
  double late = 0;   ///< batches that missed the deadline beyond what the goal allows, lately
  double credit = 0; ///< a mean goal: what has been saved (positive) or overdrawn so far
  double lossSum = 0;
  int64_t batches = 0, arrived = 0; ///< and the batch since which `current` is used
  int settling;                     ///< batches until the machine's slowness is known again
  int outliers = 0; ///< batches in a row that the estimate does not explain; below 0: too fast
  size_t current = 0;
  size_t lowerTurn = 0; ///< a mean goal: this point and the next take turns
  bool justAdapted = false;
  std::string cause = "start", changed;
  int64_t changedUntil = 0, certainUntil = 0; ///< batches
  std::vector<Adaptation> log;
};

} // namespace tessera
