// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tuning of programs that are no networks, such as chains of image filters: few nodes, cheap to compile. So
// each knob of each node is tried in the whole program, and so are the configurations that the search
// proposes and those that a few steps from the best of them lead to.
#pragma once

#include "tessera/base/Knob.h"
#include "tessera/runtime/Program.h"
#include "tessera/tune/Curve.h"
#include "tessera/tune/Front.h"
#include "tessera/tune/Journal.h"
#include "tessera/tune/MetricSet.h"
#include "tessera/tune/Network.h"
#include "tessera/tune/Samples.h"
#include "tessera/tune/Statistics.h"

#include <functional>

namespace tessera::tune {

struct GraphTuneOptions {
  std::string data, metric;
  int64_t images = 0; ///< samples for the search; 0: half of them
  double maxLoss = 0; ///< in the metric's unit; of PSNR below 100 dB, which stand for an exact answer
  int64_t candidates = 16;
  double confidence = 0.95;
  uint64_t seed = 1;
  unsigned threads = 0;
  std::string machine; ///< what is compiled for where it is another CPU
  std::string folder;  ///< for what was found so far, so that an interrupted run goes on
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
        compiler(std::move(compiler)) {}

  Result<Curve> tune();

private:
  /// What a configuration was found to do; figures of all samples, in order.
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
  Result<std::vector<double>> judge(Program &program);
  Status profile();
  std::vector<std::vector<uint16_t>> search();
  Status validate(const std::vector<std::vector<uint16_t>> &proposals);
  struct Start {
    KnobMap knobs;
    int turns; ///< of each round
  };
  std::vector<double> roundGoals() const;
  std::vector<Start> startsOf(Stream &random) const;
  bool isKnown(const KnobMap &knobs, std::span<const KnobMap> chosen) const;
  Status tryTogether(std::vector<KnobMap> chosen, const std::string &file);
  Status tryUniform();
  Status refine();
  std::vector<const Candidate *> front() const;
  Curve curve() const;
  Configuration describe(const Candidate &candidate) const;
  KnobMap knobsOf(std::span<const uint16_t> picks) const;
  bool isPsnr() const;
  bool higherIsBetter() const { return !isShare && metrics->items()[0].higherIsBetter(); }
  double damageOf(double quality) const;
  double damageOfLoss(double loss) const;
  double qualityOf(double damage) const;
  double lossOf(double quality) const;
  double searched(const Found &found) const;
  double costOf(std::span<const uint16_t> picks) const;
  double damageSum(std::span<const uint16_t> picks) const;
  void tell(const std::string &text) const;

  std::string name, digest;
  std::vector<TunableNode> nodes;
  GraphTuneOptions options;
  ConfigurationCompiler compiler;

  std::shared_ptr<Program> exact;
  std::optional<Journal> journal;
  std::optional<MetricSet> metrics;
  std::vector<Sample> samples;                  ///< those of the search first
  std::vector<std::vector<OutputArray>> golden; ///< of each sample
  size_t searchCount = 0, largest = 0;          ///< `largest`: the sample that times are measured on
  bool isShare = false;                         ///< quality is the share of bounds that is used up
  std::vector<double> exactFigures;             ///< of each metric
  double exactQuality = 0, exactMicroseconds = 0;
  std::vector<Operation> operations; ///< choices: cost is the change of time, loss the damage
  std::vector<std::vector<KnobRecord>> records;
  std::vector<Candidate> candidates;
  Curve::Tuning cost;
};

} // namespace tessera::tune
