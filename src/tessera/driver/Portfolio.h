// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The portfolio of a network's layers: for each one the algorithms and tile sizes that may be best are
// measured on this machine, once, and the best is taken. What was measured is kept in the user's cache.
#pragma once

#include "tessera/driver/Compiler.h"

#include <nlohmann/json.hpp>

namespace tessera {

/// Measures and marks the layers of networks with what they are to run by (nn.algorithm, nn.tiles); a layer
/// without a mark takes the default, which is a candidate too and wins ties. Returns what was measured: by
/// program and node the candidates with their times and the choice. For another machine than this one nothing
/// is measured, with a warning.
nlohmann::json choosePortfolio(Session &session, MutableArrayRef<Portable> programs,
                               const InstallOptions &options);

} // namespace tessera
