// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The portfolio of a network's layers: the ways to run each one that its target thinks may be best are
// measured on this machine, once, and the best is taken. What was measured is kept in the user's cache.
#pragma once

#include "tessera/driver/Installation.h"

namespace tessera {

/// Measures and marks the layers of networks that were placed with what prepare() is to make of them; a layer
/// without a mark takes the default, which is a candidate too and wins ties. Returns what was measured: by
/// program and node the candidates with their times and the choice. For another machine than this one nothing
/// is measured, with a warning.
nlohmann::json choosePortfolio(Installation &in);

} // namespace tessera
