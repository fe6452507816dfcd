// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evolutionary search where losses do not simply add up: starts from the additive model's front and moves
// along a better predictor.
#pragma once

#include "tessera/tune/search/Front.h"

#include <functional>

namespace tessera::tune {

struct EvolveOptions {
  int generations = 40, population = 64;
  double maxLoss = 0.03; ///< in the predictor's unit
  uint64_t seed = 1;
};

/// The front that `loss` (called once for each configuration) and the operations' costs give, from the
/// configurations of `start`. The same for the same seed.
std::vector<Point> evolve(std::span<const Operation> operations, std::vector<Point> start,
                          const std::function<double(std::span<const uint16_t>)> &loss,
                          const EvolveOptions &options);

} // namespace tessera::tune
