// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that are steady: no step changes the extents of what it carries. Only a lowered step shows that, but
// how it is lowered depends on it (a sum with a tensor from outside broadcasts, or does not). So it is
// assumed, and the lowered step is asked whether the next one finds what this one did.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

namespace tessera::nn {

/// Marks the loops in a leaf that carry tensors of dynamic extents; false when there is none.
bool assumeSteady(dfg::NodeOp node);
/// Asserts that dynamic extents which meet in an elementwise operation of a loop are equal, such that neither
/// is broadcast; false when they are known to be. Steps that are only steady so are lowered so.
bool assumeEqual(dfg::NodeOp node);
/// Whether the steps of marked loops, which are lowered by now, keep the extents that they were assumed to.
bool areSteady(dfg::NodeOp node);
/// Takes the marks away.
void forgetSteady(dfg::NodeOp node);

/// The tensor that a marked loop starts with where `v` is what it carries or gives in the end: both have the
/// same extents. Null for any other value.
Value startOf(Value v);

} // namespace tessera::nn
