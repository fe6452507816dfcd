// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DataOptions.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

namespace tessera::tool {

void DataOptions::add(CLI::App &app) {
  app.add_option(
         "--data", data,
         "mnist:DIR or cifar10:DIR (their test images; without :DIR in $TESSERA_DATA), or a .npz file "
         "with samples x and classes y; bytes become numbers from 0 to 1. For a tuned program that is "
         "compared with the exact one: a folder of .npy or .npz files with inputs")
      ->required();
  app.add_option("--limit", limit, "use only this many samples")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40));
  app.add_option("--skip", skip, "skip the first N samples")->check(CLI::Range(int64_t(0), int64_t(1) << 40));
  app.add_option(
      "--normalise", normalise,
      "subtract and divide for each channel: MEANS/DEVIATIONS, e.g. 0.5,0.5,0.5/0.2,0.2,0.2, or 'imagenet'");
}

// Where the samples that are asked for end.
static Result<int64_t> endOf(const DataOptions &options, const std::string &name, int64_t count) {
  if (options.skip >= count)
    return fail(StatusCode::InvalidArgument, "--skip: ", name, " has ", count, " samples, but got ",
                options.skip);
  return options.limit ? std::min(count, options.skip + options.limit) : count;
}

Result<LabelledSamples> DataOptions::labelled() const {
  LabelledSamples samples;
  TESSERA_ASSIGN(samples.data, readDataset(data));
  TESSERA_ASSIGN(const int64_t end, endOf(*this, samples.data.name, samples.data.size()));
  samples.items.resize(static_cast<size_t>(end - skip));
  std::iota(samples.items.begin(), samples.items.end(), skip);
  for (int64_t item : samples.items)
    samples.labels.push_back(static_cast<int32_t>(samples.data.label[static_cast<size_t>(item)]));
  return samples;
}

Result<std::vector<tune::Sample>> DataOptions::files(const ProgramPlan &plan) const {
  TESSERA_ASSIGN(std::vector<tune::Sample> all, tune::readSamples(data, plan));
  TESSERA_ASSIGN(const int64_t end, endOf(*this, concat("'", data, "'"), static_cast<int64_t>(all.size())));
  all.erase(all.begin() + end, all.end());
  all.erase(all.begin(), all.begin() + skip);
  return all;
}

} // namespace tessera::tool
