// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the stages do with networks: leaves that hold operations of the `nn` dialect.
#pragma once

#include "tessera/driver/Compiler.h"
#include "tessera/targets/cpu/layout/Layout.h"

namespace tessera {

/// Part of the stage `graph`: simplifies all networks of a module.
LogicalResult simplifyNetworks(ModuleOp module);

/// What layouts are made for, on the machine of these options.
cpu::LayoutOptions layoutOptions(const InstallOptions &options);

/// Before the graph is scheduled: chooses layouts and cuts each network into nodes.
LogicalResult prepareNetworks(ModuleOp module, const InstallOptions &options);

/// After placement: operations of the dialect become loops on tensors, in each node.
LogicalResult lowerNetworks(dfg::GraphOp graph);

} // namespace tessera
