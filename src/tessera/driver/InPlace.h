// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that take the memory of an operand which nobody needs afterwards: one tensor less to write to
// memory that is not in the cache.
#pragma once

#include "tessera/driver/TargetList.h"

namespace tessera {

/// The operand that the node may write its only result over; none when there is no such.
std::optional<unsigned> findTakenOver(dfg::NodeOp node, const TargetList &targets);

} // namespace tessera
