// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the stages do with networks, leaves that hold operations of the `nn` dialect, whatever the target.
#pragma once

#include "tessera/driver/TargetList.h"

namespace tessera {

/// Part of the stage `graph`: simplifies all networks of a module.
LogicalResult simplifyNetworks(ModuleOp module);

/// Part of the stage `payload`: what is left of networks in the nodes of a graph becomes what its target
/// lowers.
LogicalResult lowerNetworks(dfg::GraphOp graph, const TargetList &targets);

} // namespace tessera
