// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage `schedule` for one node: the user's script when there is one, otherwise the target's own.
#pragma once

#include "tessera/targets/Target.h"

namespace tessera {

/// Applies the script for `lowering.node` to its payload and returns its text. A user's script for a node is a
/// sequence named after it in `scripts` (which may be null).
FailureOr<std::string> scheduleNode(NodeLowering &lowering, const Target &target, ModuleOp scripts,
                                    const TargetOptions &options);

} // namespace tessera
