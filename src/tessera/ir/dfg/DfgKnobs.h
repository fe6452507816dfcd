// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The knobs of nodes: how a node may be computed other than exactly. What each means is in Dfg.md.
#pragma once

#include "tessera/base/Knob.h"
#include "tessera/ir/dfg/Dfg.h"

namespace tessera::dfg {

/// The attribute of a node that says how it may be computed other than exactly (base/Knob.h).
inline constexpr StringLiteral knobAttr = "dfg.knob";

/// The node's knob; f32 without one.
Knob knobOf(NodeOp node);

/// The node's own form allows the knob.
bool hasKnob(NodeOp node, const Knob &knob);

/// The grid dimension of which positions may be left out of a node's sums and extremes, the first that all of
/// its results reduce; nothing for other nodes.
std::optional<unsigned> sampledDim(NodeOp node);

/// All readers of the node's results are leaves that take single elements, so that they can be stored
/// otherwise.
bool canNarrow(NodeOp node);

/// The knobs worth trying, the exact one first.
SmallVector<Knob> listKnobs(NodeOp node);

} // namespace tessera::dfg
