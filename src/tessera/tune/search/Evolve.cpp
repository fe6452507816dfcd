// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/search/Evolve.h"

#include "tessera/tune/metrics/Statistics.h"

#include <algorithm>
#include <set>

namespace tessera::tune {

std::vector<Point> evolve(std::span<const Operation> operations, std::vector<Point> start,
                          const std::function<double(std::span<const uint16_t>)> &loss,
                          const EvolveOptions &options) {
  Stream random(options.seed);
  std::set<std::vector<uint16_t>> known;
  std::vector<Point> all;
  auto consider = [&](std::vector<uint16_t> picks) {
    if (!known.insert(picks).second)
      return;
    Point p;
    for (size_t i = 0; i < operations.size(); ++i)
      p.cost += operations[i].choices[picks[i]].cost;
    p.loss = loss(picks);
    p.picks = std::move(picks);
    if (p.loss <= options.maxLoss)
      all.push_back(std::move(p));
  };
  consider(std::vector<uint16_t>(operations.size(), 0));
  // A front may be long; its points lie close, so an even choice of them is enough to start from.
  size_t stride = std::max<size_t>(1, start.size() / size_t(std::max(1, options.population)));
  for (size_t i = 0; i < start.size(); i += stride)
    consider(start[i].picks);
  std::vector<Point> front = paretoFront(all);
  for (int g = 0; g < options.generations; ++g) {
    for (int i = 0; i < options.population; ++i) {
      const Point &a = front[random.below(front.size())], &b = front[random.below(front.size())];
      std::vector<uint16_t> child = a.picks;
      // Neighbours on the front share most picks; take the rest from either, then change one or two.
      for (size_t op = 0; op < child.size(); ++op)
        if (random.unit() < 0.3)
          child[op] = b.picks[op];
      for (uint64_t changes = random.below(3); changes > 0 && !child.empty(); --changes) {
        size_t op = random.below(child.size());
        child[op] = uint16_t(random.below(operations[op].choices.size()));
      }
      consider(std::move(child));
    }
    front = paretoFront(std::move(all));
    all = front;
  }
  return front;
}

} // namespace tessera::tune
