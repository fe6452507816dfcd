// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Samples for programs that are no classifiers: sets of inputs. The exact program computes the golden
// outputs.
#pragma once

#include "tessera/base/Npy.h"
#include "tessera/runtime/memory/Buffer.h"
#include "tessera/runtime/plan/Plan.h"

namespace tessera::tune {

/// One set of inputs, in the plan's order.
struct Sample {
  std::string name; ///< of its file
  std::vector<BufferRef> inputs;
  std::vector<NpyArray> keep; ///< what the inputs look into

  size_t bytes() const;
};

/// The inputs of one launch: copies of those that the program changes, so that it can be run on the sample
/// again.
struct LaunchInputs {
  static Result<LaunchInputs> of(const Sample &sample, const ProgramPlan &plan);
  std::vector<Buffer *> raw;
  std::vector<BufferRef> copies;
};

/// Reads all `.npz` files of a folder, whose arrays have the names of the program's inputs, and `.npy` files,
/// if it has only one; in the order of their names.
Result<std::vector<Sample>> readSamples(const std::string &folder, const ProgramPlan &plan);

/// Shuffles the samples by a seed; the search uses the first ones.
void dealOut(std::vector<Sample> &samples, uint64_t seed);

} // namespace tessera::tune
