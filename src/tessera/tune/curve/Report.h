// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One self-contained page about a tuned program: the trade-off curve, how sensitive each operation is, what
// it was given and why, what the controller did, and what tuning cost.
#pragma once

#include "tessera/tune/curve/Curve.h"

namespace tessera::tune {

/// The page. `timeline` is what `tessera eval --log` wrote, lines of JSON; may be empty. Fails when a line is
/// none.
Result<std::string> reportPage(const Curve &curve, std::string_view timeline);

} // namespace tessera::tune
