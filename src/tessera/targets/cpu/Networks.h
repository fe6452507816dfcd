// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the CPU does with regions of networks.
#pragma once

#include "tessera/targets/Target.h"
#include "tessera/targets/cpu/Figures.h"

namespace tessera::cpu {

/// Layouts, packed weights, and one node for each fusion group.
LogicalResult prepareRegion(dfg::NodeOp region, const RegionOptions &how, const Figures &figures,
                            bool strict);

/// What is left of networks in a node becomes loops, but for what packed/ lowers.
LogicalResult lowerNetwork(dfg::NodeOp node);

/// The algorithms, and the tile sizes of each, that may be best for a layer on blocks.
SmallVector<SmallVector<Candidate>> candidatesFor(Operation *layer, Operation *prepared,
                                                  const Figures &figures, bool strict);

/// How a node's layer stores its result, in the usual letters: blocks of c channels innermost.
std::string layoutOf(dfg::NodeOp node);

/// The node reads each element of an operand only for the element of its result at the same place.
bool readsInPlace(dfg::NodeOp node, unsigned operand);

} // namespace tessera::cpu
