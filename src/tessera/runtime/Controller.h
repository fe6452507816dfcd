// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves along a trade-off curve while a program runs, so that a goal holds under changing conditions: a
// deadline for each batch, a mean throughput, or a mean energy. It never leaves the points it was given, so
// the curve's end is the floor of quality.
#pragma once

#include "tessera/base/Status.h"

#include <cstdint>
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
  double margin = 0.07;    ///< a deadline is planned for with this much to spare
  double hysteresis = 0.1; ///< how much better the next more exact point must fit before it is taken
};

/// Why the controller changed its mind.
struct Adaptation {
  int64_t batch;
  size_t from, to;
  double scale; ///< the machine's slowness against the measured curve, as estimated then
  std::string cause;
};

class Controller {
public:
  /// The points, from the most exact to the fastest. Refuses an empty curve, and one whose times do not fall.
  static Result<Controller> create(std::vector<ControlPoint> points, ControlGoal goal);

  /// The point to run the next batch with.
  size_t choose();
  /// What the batch took. `joules` is ignored where it is not positive.
  void observe(size_t point, double ms, double joules = 0);

  double scale() const { return slowness; }
  const std::vector<Adaptation> &adaptations() const { return log; }
  /// The mean loss of the batches so far.
  double meanLoss() const { return batches ? lossSum / double(batches) : 0; }

private:
  Controller(std::vector<ControlPoint> points, ControlGoal goal) : points(std::move(points)), goal(goal) {}
  double base(size_t point) const;
  double expected(size_t point) const;

  std::vector<ControlPoint> points;
  ControlGoal goal;
  std::vector<double> correction; ///< of each point's figure against the others', learnt
  double slowness = 1;            ///< of the machine
  double credit = 0;              ///< a mean goal: what has been saved (positive) or overdrawn so far
  double lossSum = 0;
  int64_t batches = 0;
  int outliers = 0; ///< batches in a row that the estimate does not explain
  size_t current = 0;
  std::string cause = "start";
  std::vector<Adaptation> log;
};

} // namespace tessera
