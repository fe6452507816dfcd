// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/runtime/control/Controller.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tessera {

// Logarithms and their variances. A machine drifts by 1 % from one batch to the next, and a point is within
// some 4 % of where the curve has it against the others. How much batches scatter is learnt.
static constexpr double drift = 0.01 * 0.01, pointDoubt = 0.04 * 0.04, pointDrift = 1e-6;
static constexpr double firstNoise = 0.05 * 0.05, unknown = 0.3 * 0.3;
// Batches: until the estimate after a change is good, the least stay on a point, and how long a point that
// was late is left alone at first and at most.
static constexpr int settlingBatches = 4, leastStay = 8;
static constexpr int64_t firstWait = 32, longestWait = 1 << 14;
static constexpr size_t window = 128, enough = 32;
// So many late batches beyond what the goal allows show that a point does not hold it.
static constexpr double lateLimit = 2;

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
  return Controller(std::move(points), goal);
}

Controller::Controller(std::vector<ControlPoint> given, ControlGoal goal)
    : points(std::move(given)), goal(goal), learnt(points.size(), {0, pointDoubt, 0, firstWait}),
      doubt(unknown), noise(firstNoise), tail(1 + goal.margin), settling(settlingBatches) {}

double Controller::scale() const { return std::exp(slowness); }

void Controller::conditionsChanged(const std::string &what, bool certain) {
  changed = what;
  changedUntil = batches + leastStay;
  if (certain)
    certainUntil = changedUntil;
}

double Controller::figure(size_t point) const {
  return goal.kind == ControlGoal::MeanEnergy ? points[point].joules : points[point].ms;
}

double Controller::expected(size_t point) const {
  return figure(point) * std::exp(slowness + learnt[point].correction);
}

// The first point expected to stay within `limit`; the fastest when none does.
size_t Controller::mostExact(double limit) const {
  size_t fastest = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (expected(i) <= limit)
      return i;
    if (expected(i) < expected(fastest))
      fastest = i;
  }
  return fastest;
}

// The most exact point that meets the deadline in the goal's share of batches, as far as they scatter. The
// estimate decides while the machine is new. Afterwards a point is left when batches are late, not when the
// estimate says that they might be, and one more exact is tried when the estimate says that it fits.
size_t Controller::chooseForDeadline() {
  if (settling == settlingBatches)
    return mostExact(goal.value / tail);
  if (settling > 0)
    return std::max(current, mostExact(goal.value / tail));
  if (late >= lateLimit)
    return moveOn();
  if (batches - arrived < leastStay)
    return current;
  for (size_t i = 0; i < current; ++i) {
    // A point that has not been seen on this machine gets the benefit of the doubt, once.
    const double hoped = expected(i) * std::exp(-std::sqrt(learnt[i].doubt));
    if (batches < learnt[i].retryAt || hoped * tail > goal.value * (1 - goal.hysteresis))
      continue;
    cause = "a more exact configuration is expected to be in time";
    return i;
  }
  return current;
}

// Away from a point that is late too often. It is left alone for a while, and for longer each time that it
// fails soon after it was taken, so that two points do not swing.
size_t Controller::moveOn() {
  late = 0;
  if (current + 1 == points.size())
    return current;
  cause = "too many batches are late";
  if (batches < changedUntil)
    cause += ": " + changed;
  Learnt &own = learnt[current];
  own.wait = batches - arrived < 8 * own.wait ? std::min(2 * own.wait, longestWait) : firstWait;
  for (size_t i = 0; i <= current; ++i)
    learnt[i].retryAt = std::max(learnt[i].retryAt, batches + own.wait);
  return std::max(current + 1, mostExact(goal.value / tail));
}

size_t Controller::choose() {
  size_t pick;
  bool turn = false;
  if (goal.kind == ControlGoal::Deadline) {
    pick = chooseForDeadline();
  } else {
    // A mean: the most exact point that the goal and what has been saved can pay for. Neighbours then
    // alternate by themselves. Savings are spent over several batches, and only so many are kept, so that a
    // calm hour does not pay for a slow minute.
    pick = mostExact(goal.value + credit / 8);
    turn = pick == lowerTurn || pick == lowerTurn + 1;
    if (!turn)
      lowerTurn = pick > current ? pick - 1 : pick;
  }
  justAdapted = log.empty() || (pick != current && !turn);
  if (justAdapted) {
    if (log.size() >= 1000)
      log.erase(log.begin(), log.begin() + 500);
    log.push_back({batches, current, pick, scale(), cause});
  }
  if (pick != current) {
    arrived = batches;
    late = 0;
  }
  current = pick;
  return pick;
}

void Controller::observe(size_t point, double ms, double joules) {
  const double seen = goal.kind == ControlGoal::MeanEnergy ? joules : ms;
  ++batches;
  lossSum += points[point].loss;
  if (!(seen > 0))
    return;
  if (goal.kind != ControlGoal::Deadline)
    credit = std::clamp(credit + goal.value - seen, -16 * goal.value, 16 * goal.value);
  else
    late = std::max(0.0, late + (seen > goal.value) - (1 - goal.share));

  Learnt &own = learnt[point];
  const double residual = std::log(seen / expected(point)), variance = doubt + own.doubt + noise;
  const double gate = std::max(std::clamp(3 * std::sqrt(noise), std::log(1.25), std::log(1.6)),
                               doubt >= unknown ? 3 * std::sqrt(variance) : 0);
  if (std::fabs(residual) > gate) {
    // One slow batch is an accident, unless the machine is known to have changed; the second in a row is
    // another machine. A deadline cannot wait for the third. Nothing is lost by looking twice whether it has
    // become faster: with a quota, batches that find it unused are much faster than others.
    outliers = residual > 0 ? std::max(outliers, 0) + 1 : std::min(outliers, 0) - 1;
    if (outliers >= 2 || outliers <= -4 || (residual > 0 && batches <= certainUntil))
      anotherMachine(residual);
    else
      remember(seen / expected(point));
    return;
  }
  outliers = 0;
  // A Kalman filter for the machine and this point. Early on the machine explains what is seen; once its
  // slowness is known, what a point takes beyond it is the point's.
  cause = residual > 0 ? "batches take longer than expected" : "batches take less than expected";
  if (batches <= changedUntil && std::fabs(residual) > 0.05)
    cause += ": " + changed;
  if (settling == 0)
    remember(seen / expected(point));
  else
    --settling;
  noise = std::clamp(noise + 0.03 * (residual * residual - noise), 0.02 * 0.02, 0.2 * 0.2);
  slowness += doubt / variance * residual;
  own.correction = std::clamp(own.correction + own.doubt / variance * residual, -0.7, 0.7);
  doubt += drift - doubt * doubt / variance;
  own.doubt += pointDrift - own.doubt * own.doubt / variance;
}

// Points may stand otherwise to each other now. How batches scatter is kept as a first guess.
void Controller::anotherMachine(double residual) {
  const bool slower = residual > 0;
  cause = slower ? "the machine has become slower" : "the machine has become faster";
  if (batches <= changedUntil)
    cause += ": " + changed;
  slowness += residual;
  doubt = noise; // one batch has been seen
  for (Learnt &point : learnt) {
    point.doubt = pointDoubt;
    if (!slower) // those that were too slow may not be any more
      point.retryAt = 0, point.wait = firstWait;
  }
  changedUntil = certainUntil = 0;
  outliers = 0;
  late = 0;
  settling = settlingBatches;
  tail = std::max(tail, 1 + goal.margin);
}

void Controller::remember(double ratio) {
  if (goal.kind != ControlGoal::Deadline)
    return;
  if (ratios.size() < window)
    ratios.push_back(ratio);
  else
    ratios[nextRatio++ % window] = ratio;
  if (ratios.size() < enough)
    return;
  // Not the goal's share: the slowest batches are accidents, which a faster point would not prevent. Whether
  // a point holds the goal is decided by how many of its batches are late.
  std::vector<double> ordered = ratios;
  const auto at = ordered.begin() + std::ptrdiff_t(0.94 * double(ordered.size() - 1));
  std::nth_element(ordered.begin(), at, ordered.end());
  tail = std::clamp(*at, 1.01, 2.0);
}

} // namespace tessera
