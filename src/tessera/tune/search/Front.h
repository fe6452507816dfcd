// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trade-off between cost and loss when each operation picks one of several knobs and losses add up: a
// multiple-choice knapsack, solved for all budgets at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::tune {

/// One way to run an operation.
struct Choice {
  std::string knob; ///< as in IR, JSON and on the command line
  double cost = 0;  ///< time or energy
  double loss = 0;  ///< of quality, in the metric's unit; may be negative
};

/// An operation and its choices; the first one is exact.
struct Operation {
  std::string name;
  std::vector<Choice> choices;
};

/// A configuration: the index of the choice of each operation.
struct Point {
  std::vector<uint16_t> picks;
  double cost = 0, loss = 0;
};

/// Keeps the points that no other one beats in both cost and loss, ordered by loss.
std::vector<Point> paretoFront(std::vector<Point> points);

/// All optimal trade-offs with a loss of at most `maxLoss`, exact up to `resolution` in the loss of each
/// operation (0: exact, which may take exponential room). Deterministic.
std::vector<Point> solveFront(std::span<const Operation> operations, double maxLoss, double resolution);

} // namespace tessera::tune
