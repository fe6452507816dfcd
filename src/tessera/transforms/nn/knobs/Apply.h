// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What knobs make of operations: others that compute less.
#pragma once

#include "tessera/transforms/nn/knobs/Knobs.h"

namespace tessera::nn {

/// Rewrites all operations of a network that carry a knob into operations without one, with the meaning that
/// the oracle gives to the knob. Emits a diagnostic on failure.
LogicalResult applyKnobs(dfg::NodeOp node);

} // namespace tessera::nn
