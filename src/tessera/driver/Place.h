// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage `place`: which targets each node may run on. Networks are cut into regions first, so that what
// belongs to one target only does not keep the rest from the others.
#pragma once

#include "tessera/driver/TargetList.h"

namespace tessera {

/// Gives a version for each target that may run it to every node of a graph that has none.
void placeGraph(dfg::GraphOp graph, const TargetList &targets);

} // namespace tessera
