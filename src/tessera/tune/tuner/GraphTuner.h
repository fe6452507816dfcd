// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tuning of programs that are no networks, such as chains of image filters: few nodes, cheap to compile. So
// each knob of each node is tried in the whole program, and so are the configurations that the search
// proposes and those that a few steps from the best of them lead to.
#pragma once

#include "tessera/base/Knob.h"
#include "tessera/runtime/program/Program.h"
#include "tessera/tune/curve/Curve.h"
#include "tessera/tune/measure/Journal.h"
#include "tessera/tune/metrics/Judge.h"
#include "tessera/tune/metrics/Statistics.h"
#include "tessera/tune/search/Budget.h"
#include "tessera/tune/search/Front.h"
#include "tessera/tune/tuner/Network.h"

#include <functional>

namespace tessera::tune {

struct GraphTuneOptions {
  std::string data, metric;
  int64_t images = 0; ///< samples for the search; 0: half of them
  /// Losses to tune for, in the metric's unit, the largest last. For PSNR they are below 100 dB, which stand
  /// for an exact answer.
  std::vector<double> goals = {0};
  double budget = 0; ///< seconds; 0: no limit
  int64_t candidates = 16;
  double confidence = 0.95;
  uint64_t seed = 1;
  unsigned threads = 0;
  std::string machine; ///< the CPU to compile for, if it is not this one
  std::string folder;  ///< for intermediate results, so that an interrupted run can continue
  bool quiet = true;
};

/// Compiles configurations into one installed file, as programs p0, p1, …
using ConfigurationCompiler =
    std::function<Status(std::span<const KnobMap> configurations, const std::string &path)>;

class GraphTuner {
public:
  /// `digest` is that of the program.
  GraphTuner(std::string name, std::string digest, std::vector<TunableNode> nodes,
             const GraphTuneOptions &options, ConfigurationCompiler compiler)
      : name(std::move(name)), digest(std::move(digest)), nodes(std::move(nodes)), options(options),
        compiler(std::move(compiler)), budget(options.budget) {}

  Result<Curve> tune();

private:
  /// The measurements of a configuration; figures of all samples, in order.
  struct Found {
    double microseconds = 0;
    std::vector<double> figures;
  };
  struct Candidate {
    KnobMap knobs;
    double predicted = 0; ///< quality
    Found found;
  };

  Status prepare();
  Result<std::vector<Found>> tryAll(std::span<const KnobMap> configurations, const std::string &file);
  Status profile();
  std::vector<std::vector<uint16_t>> search();
  Status validate(const std::vector<std::vector<uint16_t>> &proposals);
  struct Start {
    KnobMap knobs;
    int turns; ///< of each round
  };
  std::vector<Start> startsOf(Stream &random) const;
  bool isKnown(const KnobMap &knobs, std::span<const KnobMap> chosen) const;
  Status tryTogether(std::vector<KnobMap> chosen, const std::string &file);
  Status tryUniform();
  Status refine();
  std::vector<const Candidate *> front() const;
  Curve curve() const;
  Configuration describe(const Candidate &candidate) const;
  KnobMap knobsOf(std::span<const uint16_t> picks) const;
  double damageOf(double quality) const;
  double damageOfLoss(double loss) const;
  double qualityOf(double damage) const;
  double searched(const Found &found) const;
  double costOf(std::span<const uint16_t> picks) const;
  double damageSum(std::span<const uint16_t> picks) const;
  bool isUsedUp(double share, const std::string &when);
  void tell(const std::string &text) const;

  std::string name, digest;
  std::vector<TunableNode> nodes;
  GraphTuneOptions options;
  ConfigurationCompiler compiler;
  Budget budget;

  std::shared_ptr<Program> exact;
  std::optional<Journal> journal;
  std::optional<Judge> judge; ///< its samples begin with those of the search
  size_t searchCount = 0;
  double exactMicroseconds = 0;
  std::vector<Operation> operations; ///< choices: cost is the change of time, loss the damage
  std::vector<std::vector<KnobRecord>> records;
  std::vector<Candidate> candidates;
  Curve::Tuning cost;
};

} // namespace tessera::tune
