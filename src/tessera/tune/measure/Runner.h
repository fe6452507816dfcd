// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a network piece by piece on batches of samples, so that the profile of one operation under a knob
// costs what comes after it only: the values at the cut in front of it are kept.
#pragma once

#include "tessera/runtime/program/Program.h"
#include "tessera/tune/samples/Feed.h"
#include "tessera/tune/tuner/Network.h"

namespace tessera::tune {

/// Samples of a data set, by number.
using Items = std::vector<int64_t>;

/// A configuration: the knob of each segment.
using Picks = std::vector<uint16_t>;

/// How often programs are run in turns to be timed: small ones more often, since a disturbance of the machine
/// is longer than they are.
class MeasuredRounds {
public:
  explicit MeasuredRounds(size_t programs);
  bool next();

private:
  int round = 0;
  uint64_t begin, budget;
};

class Runner {
public:
  /// `exact` holds the pieces under their first knob. `network` and `feed` must outlive the runner.
  static Result<Runner> create(const Network &network, const Feed &feed, std::shared_ptr<const Module> exact,
                               int64_t batch, unsigned threads);
  int64_t batchSize() const { return batch; }
  /// Says where the piece of a segment under one of its other knobs is.
  void add(size_t segment, size_t knob, std::shared_ptr<const Module> module) {
    modules[segment][knob] = std::move(module);
  }

  struct Exact {
    Scores scores;
    std::vector<std::pair<float, float>> ranges; ///< of each segment's activation
  };
  /// Runs all pieces exactly.
  Result<Exact> runExact(const Items &items) const;
  /// Runs configurations. What neighbours in the list begin with alike is run once for both.
  Result<std::vector<Scores>> run(std::span<const Picks> configurations, const Items &items) const;

  /// Runs all pieces exactly, but the first output of each segment s gets normal noise of the relative size
  /// errors[s] in the norm 2. `l1` receives the sizes in the norm 1.
  Result<Scores> runInjected(std::span<const double> errors, const Items &items, uint64_t seed,
                             std::vector<double> &l1) const;

  /// Keeps the values in front of the first segment for the samples that profiles look at.
  Status start(const Items &items);
  /// The segment that the kept values stand in front of.
  size_t position() const { return at; }
  /// Runs the exact piece here and goes on to the next cut.
  Status advance();
  /// Microseconds of the piece here for one batch under each of `knobs`, measured in turns, the best of
  /// several; without changes of layout, which are there because the piece stands alone.
  Result<std::vector<double>> measure(std::span<const uint16_t> knobs) const;
  /// How far the first output of the piece here is off under `knob`, on one batch.
  Result<Demand> errorOf(uint16_t knob) const;
  struct Profiled {
    Scores scores;
    double error = 0; ///< of the piece's first output: ‖A−G‖₂ / ‖G‖₂
  };
  /// What comes out when the piece here runs under `knob`.
  Result<Profiled> profile(uint16_t knob) const;

private:
  using Values = std::vector<BufferRef>;
  Runner() = default;
  Result<std::shared_ptr<Program>> open(size_t segment, uint16_t knob, bool measured = false) const;
  Result<std::vector<Values>> feedAll(std::span<const int64_t> items, std::vector<int64_t> &rows) const;
  Status launch(Program &program, size_t segment, Values &values) const;
  Status finish(std::span<const std::shared_ptr<Program>> chain, size_t from, Values &values, int64_t rows,
                Scores &scores) const;
  struct Alike;
  Status runAlike(Alike group, size_t from, Values values, int64_t rows) const;

  const Network *network = nullptr;
  const Feed *feed = nullptr;
  int64_t batch = 16;
  unsigned threads = 0;
  std::shared_ptr<const Module> exactModule;
  std::vector<std::vector<std::shared_ptr<const Module>>> modules; ///< of each segment's other knobs
  std::vector<std::shared_ptr<Program>> programs;                  ///< the exact ones
  std::vector<size_t> lastUse; ///< of each value: the last segment that reads it
  std::vector<Values> kept;    ///< at the cut, of each batch
  std::vector<int64_t> keptRows;
  size_t at = 0;
};

} // namespace tessera::tune
