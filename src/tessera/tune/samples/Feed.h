// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How labelled samples become a program's input, and its output scores: what `eval` and the tuner share.
#pragma once

#include "tessera/base/Dataset.h"
#include "tessera/runtime/memory/Buffer.h"
#include "tessera/runtime/plan/Plan.h"
#include "tessera/tune/metrics/Metrics.h"

namespace tessera::tune {

/// (value - mean) / deviation for each channel; empty: as it is.
struct Normalisation {
  std::vector<float> mean, deviation;
};
/// MEANS/DEVIATIONS, or 'imagenet'; the text of --normalise.
Result<Normalisation> parseNormalisation(const std::string &text);

class Feed {
public:
  /// Decides how samples of `data`, which must outlive the feed, go into the only input of a program, or says
  /// why they cannot.
  static Result<Feed> match(const Dataset &data, const ProgramPlan &plan, Normalisation norm);

  /// The number of samples that the program takes at once; -1: any.
  int64_t fixedBatch() const { return shape[0]; }
  /// The samples of the given numbers as an input. A fixed batch is filled up with the first of them.
  Result<BufferRef> batch(std::span<const int64_t> items) const;

private:
  void fill(size_t from, std::byte *to) const;

  const Dataset *data = nullptr;
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape; ///< of the input, with the batch first (-1: any)
  int64_t channels = 1, area = 1;
  bool channelsLast = false;
  Normalisation norm;
};

/// Indices of the samples that the search uses, and of those that are held back.
struct DealtItems {
  std::vector<int64_t> search, heldBack;
};
/// The samples from `begin` to `end`, each label alike in both parts; the same for the same seed.
DealtItems dealItems(const Dataset &data, int64_t begin, int64_t end, int64_t searched, uint64_t seed);

/// The index of the output with the scores: the only one, or the one called `name`.
Result<size_t> chooseOutput(const ProgramPlan &plan, const std::string &name);

/// Appends the first `rows` rows of an output to `scores`. `batch` is how many it must have.
Status appendScores(Buffer &output, const std::string &name, int64_t batch, int64_t rows, Scores &scores);

} // namespace tessera::tune
