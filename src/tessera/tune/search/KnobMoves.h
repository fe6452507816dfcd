// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps between configurations of graph nodes. Rows that a node leaves out cause a smaller error, or none,
// when its readers leave out the rows around them, so knobs of neighbouring nodes are changed together.
#pragma once

#include "tessera/base/Knob.h"
#include "tessera/tune/tuner/Network.h"

#include <span>

namespace tessera::tune {

/// The node has a plainer form of this knob, in f32 and with rows left out from the first one on; what is
/// known of that is enough to begin with.
bool isVariant(const TunableNode &node, const std::string &knob);

/// The configurations that one step leads to: a node takes a knob next to its own, or one that fits to
/// another node's. Only knobs that the nodes have; without repetitions, and not the configuration itself.
/// Nodes are in the graph's order.
std::vector<KnobMap> singleStepsOf(std::span<const TunableNode> nodes, const KnobMap &knobs);

/// Likewise, but all nodes change together: other rows, another precision, or one node's knob for all.
std::vector<KnobMap> jointStepsOf(std::span<const TunableNode> nodes, const KnobMap &knobs);

} // namespace tessera::tune
