// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that are written over an operand: a residual that a layer adds, the operand of an activation.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

namespace tessera {

/// The operand whose memory the result of a node may take over, if there is one: the node reads each of its
/// elements only for the element of the result at the same place, and nobody reads it afterwards.
std::optional<unsigned> findTakenOver(dfg::NodeOp node);

} // namespace tessera
