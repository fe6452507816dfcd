// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedule scripts of a program and of its nodes: the user's where there is one, otherwise the scheduler's
// own.
#pragma once

#include "tessera/targets/Target.h"

namespace tessera {

/// Checks a script that a user gives, steps included, and notes on the nodes that it names that it is for
/// them. `scripts` may be null.
LogicalResult adoptScripts(ModuleOp program, ModuleOp scripts);

/// Applies the sequence of the phase `graph` to a whole program: the user's, or the one that the default
/// scheduler writes, which is added to `own`. Returns its text.
FailureOr<std::string> scheduleGraph(ModuleOp program, ModuleOp scripts,
                                     std::vector<OwningOpRef<ModuleOp>> &own);

/// Applies the sequence of the phase `payload` for `lowering.node` and its target to its payload, finds the
/// one of the phase `loops`, and keeps the text of both in the version. A sequence that `scripts` (which may
/// be null) does not have is the target's own; those that it writes are added to `own`. A user's payload
/// sequence comes without one for loops when the user wrote none.
LogicalResult scheduleNode(NodeLowering &lowering, const Target &target, ModuleOp scripts,
                           std::vector<OwningOpRef<ModuleOp>> &own, const TargetOptions &options);

} // namespace tessera
