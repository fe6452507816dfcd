// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Install-time refinement of a curve: what its configurations take on this machine, and which of them are
// worth having here.
#pragma once

#include "tessera/runtime/program/Program.h"
#include "tessera/tune/curve/Curve.h"

namespace tessera::tune {

/// What a user is ready to give up.
struct Goal {
  std::optional<double> loss;       ///< at most so many points
  std::optional<double> minQuality; ///< the metric stays above this
};

/// The configurations that keep the goal with the curve's confidence, the exact one first. Fails when not
/// even that one does, and says how near one can get.
Result<std::vector<const Configuration *>> withinGoal(const Curve &curve, const Goal &goal);

/// The configuration nearest to the goal that does not keep it, in words; "" when all do.
std::string nearestMiss(const Curve &curve, const Goal &goal);

struct Cost {
  double microseconds = 0;  ///< of a batch: of the first program the best of all rounds, over the speedup
  Estimate speedup;         ///< over the first program
  Estimate joules;          ///< of a batch
  std::string energySource; ///< "measured" or "modelled"
  unsigned threads = 1;
  std::map<std::string, double> shares{}; ///< of the curve's operations: their part of the nodes' time
};

/// The clock that a program's launches are measured by, in nanoseconds. A program of one thread runs in the
/// caller's, whose processor time no other load makes longer.
uint64_t launchClock(const Program &program);

/// The operation that a node computes, by its name: where one has several nodes, numbers stand behind it.
std::string_view operationOf(std::string_view node);

/// What a batch costs in each of the programs, measured in turns; the first one is exact. Inputs are random
/// numbers from 0 to 1, of the shapes that the curve names or with the batch it was tuned for. Programs are
/// opened anew several times, and intervals are those of such repetitions: where memory lies makes a
/// difference too.
Result<std::vector<Cost>> measureTogether(const std::shared_ptr<const Module> &module,
                                          std::span<const std::string> programs, const Curve &curve,
                                          const ProgramOptions &options, double seconds);

/// Of configurations in the order of their loss: those that are clearly faster than all more exact ones, and
/// the fastest.
std::vector<size_t> trueFront(std::span<const Cost> costs);

} // namespace tessera::tune
