// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/curve/Claims.h"

namespace tessera::tune {

const char *verdictName(Verdict verdict) {
  switch (verdict) {
  case Verdict::Holds:
    return "holds";
  case Verdict::Doubtful:
    return "in doubt";
  case Verdict::Broken:
    return "broken";
  case Verdict::Unknown:
    break;
  }
  return "not compared";
}

Verdict compareClaim(const Estimate &claimed, const Estimate &found, bool higherIsBetter, double tolerance) {
  if (!higherIsBetter)
    return compareClaim({-claimed.value, -claimed.high, -claimed.low},
                        {-found.value, -found.high, -found.low}, true, tolerance);
  const double least = claimed.low - tolerance * std::abs(claimed.low);
  return found.value >= least ? Verdict::Holds : found.high >= least ? Verdict::Doubtful : Verdict::Broken;
}

static Estimate qualityOf(const Configuration::Measured &m) { return {m.quality, m.low, m.high}; }
static Estimate lossOf(const Configuration::Measured &m) { return {m.loss, m.lossLow, m.lossHigh}; }

std::vector<Claim> checkClaims(const Configuration &configuration, const Configuration::Measured &quality,
                               bool higherIsBetter, const Cost &cost, double tolerance) {
  std::vector<Claim> claims;
  auto add = [&](const char *figure, const Estimate &claimed, const Estimate &found, bool higher,
                 double allowed) {
    claims.push_back({figure, claimed, found, compareClaim(claimed, found, higher, allowed)});
  };
  if (configuration.measured) {
    add("quality", qualityOf(*configuration.measured), qualityOf(quality), higherIsBetter, 0);
    add("loss", lossOf(*configuration.measured), lossOf(quality), false, 0);
  }
  if (configuration.installed) {
    add("speedup", configuration.installed->speedup, cost.speedup, true, tolerance);
    add("energy", configuration.installed->joules, cost.joules, false, tolerance);
    // A counter and a model are two things.
    if (configuration.installed->energySource != cost.energySource)
      claims.back().verdict = Verdict::Unknown;
  }
  return claims;
}

} // namespace tessera::tune
