// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/runtime/Controller.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tessera {

Result<ControlGoal> parseGoal(const std::string &text, int64_t batch) {
  struct Form {
    const char *name, *unit;
    ControlGoal::Kind kind;
  };
  static const Form forms[] = {{"deadline:", "ms", ControlGoal::Deadline},
                               {"throughput:", "/s", ControlGoal::MeanTime},
                               {"energy:", "J", ControlGoal::MeanEnergy}};
  for (const Form &form : forms) {
    if (!text.starts_with(form.name))
      continue;
    const char *digits = text.c_str() + std::char_traits<char>::length(form.name);
    char *end = nullptr;
    const double value = std::strtod(digits, &end);
    if (end == digits || (*end && std::string(end) != form.unit) || !std::isfinite(value) || value <= 0)
      break;
    ControlGoal goal;
    goal.kind = form.kind;
    goal.value = form.kind == ControlGoal::MeanTime ? 1000 * double(batch) / value : value;
    return goal;
  }
  return fail(StatusCode::InvalidArgument, "unknown goal '", text,
              "'; write deadline:12ms, throughput:500/s or energy:0.5J");
}

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
  while (!points.empty() && !(points.back().loss <= goal.maxLoss))
    points.pop_back();
  if (points.empty())
    return fail(StatusCode::InvalidArgument,
                "no point of the curve is within the floor of quality; allow more loss");
  Controller controller(std::move(points), goal);
  controller.correction.assign(controller.points.size(), 1);
  controller.tail = 1 + goal.margin;
  return controller;
}

double Controller::base(size_t point) const {
  return (goal.kind == ControlGoal::MeanEnergy ? points[point].joules : points[point].ms) * correction[point];
}

double Controller::expected(size_t point) const { return base(point) * slowness; }

// The first point expected to stay within `limit`; those more exact than the current one must stay within
// `stricter` times that. The fastest when none does.
size_t Controller::mostExact(double limit, double stricter) const {
  size_t fastest = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (expected(i) <= limit * (i < current ? stricter : 1))
      return i;
    if (expected(i) < expected(fastest))
      fastest = i;
  }
  return fastest;
}

size_t Controller::choose() {
  size_t pick;
  bool turn = false;
  if (goal.kind == ControlGoal::Deadline) {
    // The most exact point that meets the deadline in nearly all batches, as far as they scatter. A step back
    // towards exactness needs more room, so that noise does not make the choice swing.
    pick = mostExact(goal.value / tail, 1 - goal.hysteresis);
  } else {
    // A mean: the most exact point that the goal and what has been saved can pay for. Neighbours then
    // alternate by themselves. Savings are spent over several batches, and only so many are kept, so that a
    // calm hour does not pay for a slow minute.
    pick = mostExact(goal.value + credit / 8, 1);
    turn = pick == lowerTurn || pick == lowerTurn + 1;
    if (!turn)
      lowerTurn = pick > current ? pick - 1 : pick;
  }
  justAdapted = log.empty() || (pick != current && !turn);
  if (justAdapted) {
    if (log.size() >= 1000)
      log.erase(log.begin(), log.begin() + 500);
    log.push_back({batches, current, pick, slowness, cause});
  }
  current = pick;
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
  double ratio = seen / slowness, gate = std::max(1.25, 1.1 * tail);
  if (ratio > gate || ratio < 1 / gate) {
    // One slow batch is an accident, unless the machine is known to have changed; the second in a row is
    // another machine. A deadline cannot wait for the third. The change may have come within the first of
    // the two, so the slower one tells more.
    if (++outliers >= 2 || !changed.empty()) {
      cause = ratio > 1 ? "the machine has become slower" : "the machine has become faster";
      if (!changed.empty())
        cause += ": " + changed;
      slowness = outliers >= 2 ? std::max(seen, lastSeen) : seen;
      changed.clear();
      outliers = 0;
      return;
    }
  } else {
    outliers = 0;
    double before = slowness;
    slowness += 0.15 * (seen - slowness);
    // What this point's figure says beyond the machine's slowness belongs to the point: the curve was
    // measured on another day.
    correction[point] = std::clamp(correction[point] * (1 + 0.05 * (seen / slowness - 1)), 0.5, 2.0);
    cause = slowness > before ? "batches take longer than expected" : "batches take less than expected";
    if (!changed.empty() && std::fabs(ratio - 1) > 0.05)
      cause += ": " + changed;
  }
  lastSeen = seen;
  // Up by much when a batch exceeds it, down by little when none does: it settles where 4 in 100 exceed it.
  tail = std::clamp(tail + 0.02 * (ratio > tail ? 0.96 : -0.04), 1 + goal.margin, 2.0);
}

} // namespace tessera
