// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was promised of a shipped configuration, and what was found when it was measured again.
#pragma once

#include "tessera/tune/curve/Curve.h"
#include "tessera/tune/measure/Measure.h"

namespace tessera::tune {

enum class Verdict : uint8_t {
  Holds,
  Doubtful, ///< worse than claimed, by no more than what such measurements scatter by
  Broken,   ///< worse, and not by chance
  Unknown,  ///< the two cannot be compared
};
/// "holds", "in doubt", "broken", "not compared".
const char *verdictName(Verdict verdict);

/// A figure is as good as claimed when it is no worse than the worse end of the claim's interval. `tolerance`
/// is a share of the claim: machines are not equally fast on two days.
Verdict compareClaim(const Estimate &claimed, const Estimate &found, bool higherIsBetter, double tolerance);

struct Claim {
  std::string figure; ///< "quality", "loss", "speedup", "energy"
  Estimate claimed, found;
  Verdict verdict;
};

/// All that is claimed of a configuration that was installed, beside what was found.
std::vector<Claim> checkClaims(const Configuration &configuration, const Configuration::Measured &quality,
                               bool higherIsBetter, const Cost &cost, double tolerance);

} // namespace tessera::tune
