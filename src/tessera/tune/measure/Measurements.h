// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What configurations of a curve cost, as a file: machines of one kind share an installation's measurements
// out among them, and one puts them together.
#pragma once

#include "tessera/tune/measure/Measure.h"

#include <map>

namespace tessera::tune {

struct Measurements {
  std::string program;               ///< that of the curve
  std::string machine;               ///< of which kind it was
  std::map<std::string, Cost> costs; ///< by the configuration's name; the baseline is among them
};

std::string measurementsJson(const Measurements &measurements);
/// Damaged or unknown content is refused with a reason.
Result<Measurements> parseMeasurements(std::string_view text);

/// Reads a file with measurements of this curve on a machine of this kind; others are refused.
Result<Measurements> readMeasurements(const std::string &path, const Curve &curve,
                                      const std::string &machine);

/// Adds what another machine found. Two are never equally fast: times count as shares of the exact program's
/// on the machine where they were measured, in units of the first one's.
void addMeasurements(Measurements &all, const Measurements &other);

/// Part `number` (from 1) of `count`: the exact configuration, which every part has, and each `count`th
/// other.
std::vector<const Configuration *> partOf(std::span<const Configuration *const> within, int64_t number,
                                          int64_t count);

} // namespace tessera::tune
