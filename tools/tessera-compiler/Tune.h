// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `tune` does with the two kinds of programs. The tuners themselves know no MLIR
// (src/tessera/tune/tuner/Tuner.h for networks, GraphTuner.h for others); here they get what they run.
#pragma once

#include "tessera/driver/Compiler.h"
#include "tessera/tune/tuner/Tuner.h"

namespace tessera::cli {

struct TuneArgs {
  std::string in, out, program, data, normalise, metric;
  std::vector<std::string> knobs; ///< patterns; empty: the default of the kind of program
  std::vector<double> losses;     ///< ascending; empty: the default of the kind of program
  std::string budget;
  std::optional<int64_t> images;
  double share = 0.95; ///< of runs in which demands must hold
  tune::TuneOptions options;
  TargetOptions target; ///< what is compiled to be measured
  bool keep = false, budgets = false;
};

/// A network: one input, one output, judged by labels.
Result<tune::Curve> tuneNetwork(Session &session, Portable &program, const std::string &digest,
                                TuneArgs &args);
/// Gives the operations of a network what errors they may have (nn.demand) and the ranges of their
/// activations.
Status tuneBudgets(Session &session, Portable &program, const std::string &digest, TuneArgs &args);
/// Knobs for a network whose operations have demands, by their errors and times here.
Result<KnobMap> chooseByDemands(Session &session, Portable &program, const std::string &path,
                                const TargetOptions &target);

/// The knobs that operations of networks are tried with for a machine by default.
std::vector<std::string> defaultKnobs(const TargetOptions &target);

/// Any program whose nodes or operations have knobs, judged by the exact one's answers.
Result<tune::Curve> tuneGraph(Session &session, Portable &program, const std::string &digest,
                              const TuneArgs &args);

} // namespace tessera::cli
