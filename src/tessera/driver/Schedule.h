// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage `schedule` for one node: the user's script when there is one, otherwise the target's own.
#pragma once

#include "tessera/targets/Target.h"

namespace tessera {

/// Applies the script for a whole program: the user's sequence @graph, or the one that the default scheduler
/// writes. Returns its text.
FailureOr<std::string> scheduleGraph(ModuleOp program, ModuleOp scripts,
                                     std::vector<OwningOpRef<ModuleOp>> &own);

/// Applies the script for `lowering.node` to its payload and keeps its text in the version. A user's script
/// for a node is a sequence named after it in `scripts` (which may be null); scripts that the target writes
/// are added to `own`.
LogicalResult scheduleNode(NodeLowering &lowering, const Target &target, ModuleOp scripts,
                           std::vector<OwningOpRef<ModuleOp>> &own, const TargetOptions &options);

} // namespace tessera
