// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The samples that `eval` and `verify` look at: labelled ones of a data set, or inputs in the files of a
// folder, to which the exact program gives the right answers.
#pragma once

#include "tessera/base/Dataset.h"
#include "tessera/tune/curve/Curve.h"
#include "tessera/tune/samples/Samples.h"

namespace CLI {
class App;
}

namespace tessera::tool {

struct LabelledSamples {
  Dataset data;
  std::vector<int64_t> items;
  std::vector<int32_t> labels;
};

struct DataOptions {
  std::string data, normalise;
  int64_t skip = 0, limit = 0;
  void add(CLI::App &app);

  Result<LabelledSamples> labelled() const;
  Result<std::vector<tune::Sample>> files(const ProgramPlan &plan) const;
};

/// Whether a tuned program's answers are judged by the exact program's, not by labels.
inline bool isJudgedByExact(const tune::Curve &curve) { return !curve.shapes.empty(); }

} // namespace tessera::tool
