// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operations touch a piece of memory, followed forward from the value that names it. Used by the checks
// of effects and of races.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

namespace tessera::check {

struct MemoryUse {
  /// The operation in the body that was looked at.
  Operation *op;
  /// The same, or the operation inside the function or graph that `op` calls.
  Operation *inner;
  /// The operand of `op` through which it happens: the memory itself or a view of it.
  Value through;
  bool reads = false, writes = false;
  /// A single indivisible update, which does not race with another one.
  bool atomic = false;
  /// The operation does not say what it does.
  bool unknown = false;
};

/// All uses of the memory that `memory` names, in the order of a walk through the body that holds it; through
/// views, casts, selections, loops, branches, functions, child nodes and called graphs.
SmallVector<MemoryUse> collectMemoryUses(Value memory);

} // namespace tessera::check
