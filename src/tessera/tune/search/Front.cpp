// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/search/Front.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tessera::tune {

std::vector<Point> paretoFront(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), [](const Point &a, const Point &b) {
    return std::tie(a.loss, a.cost, a.picks) < std::tie(b.loss, b.cost, b.picks);
  });
  std::vector<Point> front;
  for (Point &p : points)
    if (front.empty() || p.cost < front.back().cost)
      front.push_back(std::move(p));
  return front;
}

namespace {
/// A point of a partial front, with the way to it instead of all its picks.
struct Step {
  double cost;
  int64_t loss; ///< in units of the resolution
  double exact; ///< the loss itself
  uint32_t from;
  uint16_t pick;
};
} // namespace

std::vector<Point> solveFront(std::span<const Operation> operations, double maxLoss, double resolution) {
  // The least that the operations after each one can add: a partial configuration above the bound may still
  // come back by knobs that improve quality.
  std::vector<double> rest(operations.size() + 1, 0);
  for (size_t i = operations.size(); i-- > 0;) {
    double least = 0;
    for (size_t c = 0; c < operations[i].choices.size(); ++c)
      least = c ? std::min(least, operations[i].choices[c].loss) : operations[i].choices[c].loss;
    rest[i] = rest[i + 1] + least;
  }
  std::vector<std::vector<Step>> levels(1, {{0, 0, 0, 0, 0}});
  for (size_t i = 0; i < operations.size(); ++i) {
    std::vector<Step> next;
    for (uint32_t f = 0; f < levels[i].size(); ++f)
      for (uint16_t c = 0; c < operations[i].choices.size(); ++c) {
        const Step &before = levels[i][f];
        const Choice &choice = operations[i].choices[c];
        double exact = before.exact + choice.loss;
        if (exact + rest[i + 1] > maxLoss)
          continue;
        int64_t units = resolution > 0 ? int64_t(std::floor(exact / resolution)) : 0;
        next.push_back({before.cost + choice.cost, units, exact, f, c});
      }
    auto key = [&](const Step &s) {
      double loss = resolution > 0 ? double(s.loss) : s.exact;
      return std::tuple(loss, s.cost, s.exact, s.from, s.pick);
    };
    std::sort(next.begin(), next.end(), [&](const Step &a, const Step &b) { return key(a) < key(b); });
    std::vector<Step> kept;
    for (const Step &s : next)
      if (kept.empty() || s.cost < kept.back().cost)
        kept.push_back(s);
    levels.push_back(std::move(kept));
  }
  std::vector<Point> points;
  for (uint32_t last = 0; last < levels.back().size(); ++last) {
    Point p;
    p.picks.resize(operations.size());
    uint32_t at = last;
    for (size_t i = operations.size(); i > 0; --i) {
      p.picks[i - 1] = levels[i][at].pick;
      at = levels[i][at].from;
    }
    p.cost = levels.back()[last].cost;
    p.loss = levels.back()[last].exact;
    if (p.loss <= maxLoss)
      points.push_back(std::move(p));
  }
  return paretoFront(std::move(points));
}

} // namespace tessera::tune
