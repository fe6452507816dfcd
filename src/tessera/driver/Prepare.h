// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage `prepare`: each region of a network becomes the nodes that its target wants to run it as. A
// region that several targets can run keeps the form that each of them gives it, as a graph of its own that
// the region's version names.
#pragma once

#include "tessera/driver/TargetList.h"

namespace tessera {

/// Prepares all regions of a graph that was placed.
LogicalResult prepareGraph(dfg::GraphOp graph, const TargetList &targets, const RegionOptions &how);

/// The graph that a version names; null when it runs the node as it is.
dfg::GraphOp formOf(dfg::NodeOp node, dfg::VersionAttr version);

/// Calls `f` for the form of each node of a graph that has forms, once for each.
LogicalResult forEachForm(dfg::GraphOp graph, function_ref<LogicalResult(dfg::NodeOp, dfg::GraphOp)> f);

} // namespace tessera
