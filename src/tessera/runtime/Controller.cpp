// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/runtime/Controller.h"

#include <algorithm>
#include <cmath>

namespace tessera {

Result<Controller> Controller::create(std::vector<ControlPoint> points, ControlGoal goal) {
  if (points.empty())
    return fail(StatusCode::InvalidArgument, "the trade-off curve is empty; tune the program first");
  if (!(goal.value > 0))
    return fail(StatusCode::InvalidArgument, "the goal must be positive");
  for (size_t i = 0; i < points.size(); ++i) {
    double figure = goal.kind == ControlGoal::MeanEnergy ? points[i].joules : points[i].ms;
    if (!(figure > 0))
      return fail(StatusCode::InvalidArgument, "point ", i, " of the curve has no ",
                  goal.kind == ControlGoal::MeanEnergy ? "energy" : "time",
                  "; install the program on this machine");
    if (i && points[i].loss < points[i - 1].loss)
      return fail(StatusCode::InvalidArgument, "the points of the curve are not ordered by loss");
  }
  Controller controller(std::move(points), goal);
  controller.correction.assign(controller.points.size(), 1);
  return controller;
}

double Controller::base(size_t point) const {
  return (goal.kind == ControlGoal::MeanEnergy ? points[point].joules : points[point].ms) * correction[point];
}

double Controller::expected(size_t point) const { return base(point) * slowness; }

size_t Controller::choose() {
  size_t last = points.size() - 1, pick = last;
  if (goal.kind == ControlGoal::Deadline) {
    // The most exact point that meets the deadline with some margin. A step back towards exactness needs more
    // of it, so that noise does not make the choice swing.
    double limit = goal.value * (1 - goal.margin);
    for (size_t i = 0; i < points.size(); ++i)
      if (expected(i) <= limit * (i < current ? 1 - goal.hysteresis : 1)) {
        pick = i;
        break;
      }
  } else {
    // A mean: the most exact point that the goal and what has been saved can pay for. Neighbours then
    // alternate by themselves. Savings are spent over several batches, and only so many are kept, so that a
    // calm hour does not pay for a slow minute.
    double limit = goal.value + credit / 8;
    for (size_t i = 0; i < points.size(); ++i)
      if (expected(i) <= limit) {
        pick = i;
        break;
      }
  }
  if (pick != current || log.empty()) {
    log.push_back({batches, current, pick, slowness, cause});
    current = pick;
  }
  return pick;
}

void Controller::observe(size_t point, double ms, double joules) {
  double figure = goal.kind == ControlGoal::MeanEnergy ? joules : ms;
  ++batches;
  lossSum += points[point].loss;
  if (!(figure > 0))
    return;
  double seen = figure / base(point);
  if (goal.kind != ControlGoal::Deadline)
    credit = std::clamp(credit + goal.value - figure, -16 * goal.value, 16 * goal.value);
  double change = seen / slowness;
  if (change > 1.25 || change < 0.8) {
    // One slow batch is an accident; the second in a row is another machine. A deadline cannot wait for the
    // third.
    if (++outliers >= 2) {
      cause = change > 1 ? "the machine has become slower" : "the machine has become faster";
      slowness = seen;
      outliers = 0;
    }
    return;
  }
  outliers = 0;
  double before = slowness;
  slowness += 0.15 * (seen - slowness);
  // What this point's figure says beyond the machine's slowness belongs to the point: the curve was measured
  // on another day.
  correction[point] *= 1 + 0.05 * (seen / slowness - 1);
  cause = slowness > before ? "batches take longer than expected" : "batches take less than expected";
}

} // namespace tessera
