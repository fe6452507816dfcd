// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage `place`: which targets each node may run on. Networks are cut into regions first, so that what
// belongs to one target only does not keep the rest from the others.
#pragma once

#include "tessera/driver/TargetList.h"

namespace tessera {

/// Gives every node of a graph a version for each target that may run it.
void placeGraph(dfg::GraphOp graph, const TargetList &targets);
/// The same for the nodes that later stages have made.
void placeNew(dfg::GraphOp graph, const TargetList &targets);

} // namespace tessera
