// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Development-time tuning of a network: profiles each operation under each knob, searches the space of
// configurations, and measures the best ones on samples that the search did not see.
#pragma once

#include "tessera/runtime/program/Module.h"
#include "tessera/tune/curve/Curve.h"
#include "tessera/tune/measure/Journal.h"
#include "tessera/tune/measure/Runner.h"
#include "tessera/tune/search/Budget.h"
#include "tessera/tune/search/Predict.h"
#include "tessera/tune/search/Search.h"

#include <functional>

namespace tessera::tune {

struct TuneOptions {
  int64_t skip = 0, limit = 0; ///< which samples may be used; limit 0: all
  int64_t images = 256;        ///< for profiles; the others validate
  int64_t batch = 16;
  MetricKind metric;
  std::vector<double> goals = {1, 2, 3}; ///< losses to tune for, in points, the largest last
  double budget = 0;                     ///< seconds; 0: no limit
  int64_t candidates = 16;               ///< configurations to validate
  double confidence = 0.95;
  uint64_t seed = 1;
  unsigned threads = 0;
  Normalisation normalise;
  std::string folder;    ///< for intermediate results, so that an interrupted run can continue
  std::string costs;     ///< the journal of measured times, shared by all runs on this machine
  std::string machine;   ///< the CPU to compile for, if it is not this one; its times are kept apart
  bool portable = false; ///< costs are arithmetic, counted by precision, and not times of this machine
  bool quiet = true;

  /// The largest loss on the curve, in points.
  double maxLoss() const { return goals.back(); }
};

/// Compiles pieces into the installed file `path`. Unsupported: there is no code for one of the knobs.
using PieceCompiler =
    std::function<Status(std::span<const PieceName> pieces, const Ranges &ranges, const std::string &path)>;

/// Compiles configurations of the whole network into one installed file, as programs p0, p1, … Unsupported as
/// above.
using NetworkCompiler = std::function<Status(std::span<const KnobMap> configurations, const Ranges &ranges,
                                             const std::string &path)>;

/// The choice of bytes and nothing else; null where an operation cannot be computed so.
const Choice *plainBytes(const Operation &op);

class Tuner {
public:
  /// `program` is the digest of the program that the network comes from. Only `tune` needs `whole`.
  Tuner(Network network, std::string program, const Dataset &data, const TuneOptions &options,
        PieceCompiler compiler, NetworkCompiler whole = {})
      : network(std::move(network)), program(std::move(program)), data(data), options(options),
        compiler(std::move(compiler)), whole(std::move(whole)) {}

  /// With a budget, the best curve found in that time; `tuning.isCut` says that the time was too short.
  Result<Curve> tune();

  /// Error budgets of the operations: with errors of these sizes the loss stays below options.maxLoss() in a
  /// share of runs. And the ranges of their activations.
  struct FoundDemands {
    Demands demands;
    Ranges ranges;
    int64_t held = 0, runs = 0; ///< on samples that the search did not see
  };
  Result<FoundDemands> findDemands(double share);

  /// The fastest knob of each operation whose error is within its demand, on whatever data there is: nothing
  /// is asked about quality. Operations that stay exact are left out.
  Result<std::map<std::string, std::string>> chooseByDemands();

private:
  /// A configuration on its way to the curve.
  struct Candidate {
    std::vector<uint16_t> picks;
    double cost = 0;      ///< of the exact configuration's
    bool inBytes = false; ///< but for few operations
    Prediction predicted{};
    PairedLoss measured; ///< on samples that the search did not see
    int64_t right = 0;
    bool dropped = false;
    bool isCut = false; ///< the budget left no time for all samples
  };

  Status prepare();
  std::vector<int32_t> labelsOf(std::span<const int64_t> items) const;
  Result<double> injectedLoss(std::span<const double> errors, const Items &items,
                              std::span<const uint8_t> before, uint64_t seed, std::vector<double> &l1) const;
  Result<std::shared_ptr<const Module>> compile(std::span<const PieceName> pieces, const std::string &name);
  Status profile();
  /// Which knobs of a segment are tried, besides the exact one.
  enum class Effort { None, Plain, All };
  Effort effortAtFirst(size_t segment) const;
  Effort effortFor(size_t segment, double from) const; ///< `from`: what of the budget was used up at first
  Status profileSegment(size_t segment, Effort effort);
  Status noteEffort(size_t segment, Effort effort);
  double profiledShare(size_t segment) const;
  Result<std::vector<uint16_t>> compileVariants(size_t segment, Effort effort = Effort::All);
  std::string measuredHow() const; ///< what keys of the table of times end with
  Status costsOf(size_t segment, std::span<const uint16_t> available, std::vector<double> &microseconds);
  Status search();
  Status measureInBytes();
  Result<std::vector<std::vector<double>>> runInBytes(std::span<const std::string> knobs);
  SearchInput preferBytes() const;
  bool isInBytes(std::span<const uint16_t> picks) const;
  bool isBeaten(const Candidate &candidate, double share,
                const std::function<bool(const Candidate &)> &) const;
  Candidate candidateOf(const std::vector<uint16_t> &picks) const;
  std::vector<Candidate> nearGoal(double goal) const;
  bool hasTimeFor(std::span<const uint16_t> picks);
  Result<Scores> measureOnProfile(std::span<const uint16_t> picks);
  Status validate();
  void tellCut();
  Status validateOn(std::vector<Candidate> &some, const Items &items, const std::string &stage,
                    std::span<const uint8_t> exact);
  Curve curve() const;
  Configuration describe(const Candidate &candidate) const;
  double costOf(std::span<const uint16_t> picks) const;
  Picks piecesOf(std::span<const uint16_t> picks) const; ///< choices, as what the runner takes
  std::string spell(std::span<const uint16_t> picks) const;
  void tell(const std::string &text) const;

  Network network;
  std::string program;
  const Dataset &data;
  TuneOptions options;
  PieceCompiler compiler;
  NetworkCompiler whole;

  /// The shares of the budget at which profiling ends, and at which the search runs nothing more.
  static constexpr double profileShare = 0.5, searchShare = 0.7;
  Budget budget;
  size_t wholeProfiles = 0, plainProfiles = 0; ///< operations tried under all knobs, and under some
  std::optional<Feed> feed;
  std::optional<Runner> runner;
  std::optional<Journal> journal, costs;
  Items searchItems, heldBack;
  Scores exact;
  Ranges ranges;
  std::optional<OutputModel> model;
  Uncertainty uncertainty;
  std::map<std::string, std::vector<double>> amongBytes; ///< microseconds of each segment, by knob
  SearchInput preferring;                       ///< as `input`, with costs between operations in bytes
  SearchInput input;                            ///< operations are segments, choices those that are worth it
  std::vector<std::vector<KnobRecord>> records; ///< of each segment, as in `input`
  std::vector<std::vector<uint16_t>> knobs;     ///< of each choice: its index in the segment's list
  std::vector<double> exactMicroseconds;        ///< of each segment
  std::vector<Point> front;                     ///< as predicted, of what prefers bytes
  std::vector<Candidate> candidates;
  Curve::Tuning cost;
  std::vector<uint8_t> exactRight; ///< on the held-back samples
};

} // namespace tessera::tune
