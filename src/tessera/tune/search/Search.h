// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From profiles of single operations to configurations worth measuring. The exact front of two additive
// models starts the search: changes of quality, and mean squared changes of the outputs, which add up where
// errors are independent. Evolution along the predictor that adds the outputs' changes refines it.
#pragma once

#include "tessera/tune/search/Front.h"
#include "tessera/tune/search/Predict.h"

namespace tessera::tune {

struct SearchInput {
  std::vector<Operation> operations;      ///< costs; losses as shares, of each choice alone
  std::vector<std::vector<double>> noise; ///< mean squared change of the outputs, of each choice alone
  const OutputModel *model = nullptr;
  const Uncertainty *uncertainty = nullptr;
};

struct SearchOptions {
  double maxLoss = 0.03; ///< a share
  uint64_t seed = 1;
};

/// The expected loss and cost of a configuration, from all predictors together.
Prediction predict(const SearchInput &input, std::span<const uint16_t> picks);

/// The predicted front, ordered by loss. The same for the same seed.
std::vector<Point> searchFront(const SearchInput &input, const SearchOptions &options);

/// At most `count` points of a front, evenly spread over the logarithm of the cost; always the fastest one.
std::vector<Point> spread(const std::vector<Point> &front, size_t count);

} // namespace tessera::tune
