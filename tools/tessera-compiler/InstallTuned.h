// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `install` with a goal for quality.
#pragma once

#include "tessera/driver/Compiler.h"
#include "tessera/tune/measure/Measure.h"
#include "tessera/tune/tuner/Network.h"

namespace tessera::cli {

/// How machines of one kind share out what is to be measured.
struct Sharing {
  int64_t part = 0, parts = 0;    ///< measure this part of so many alone, and write what was found
  std::vector<std::string> files; ///< what parts found
};

/// Installs the configurations of the portable object's curve that keep the goal and are worth it here.
Status installTuned(const std::string &in, const std::string &out, const InstallOptions &options,
                    const tune::Goal &goal, const Sharing &sharing);

/// Gives the operations of a program, and the sums that read the same activations, ranges.
void setRanges(Portable &program, const tune::Ranges &ranges);
/// Gives the operations of a program the ranges that the curve in its file knows, for knobs that need one.
Status setTunedRanges(Portable &program, const std::string &path);

} // namespace tessera::cli
