// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses of a leaf may happen at the same time, given its barriers.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tessera::check {

/// One way in which two accesses, `a` in one instance and `b` in another, stand between the same two
/// barriers: what it asks of the counters of the loops that hold barriers. These loops run in step in all
/// instances (rule dfg-b2).
struct Meeting {
  enum Relation {
    Same,   ///< both in the same round
    BNext,  ///< b one round after a
    ANext,  ///< a one round after b
    ALast,  ///< a in the last round
    BLast,  ///< b in the last round
    AFirst, ///< a in the first round
    BFirst, ///< b in the first round
  };
  SmallVector<std::pair<scf::ForOp, Relation>> loops;
  /// A barrier that may or may not be passed was not counted.
  bool exact = true;
};

/// All ways in which the two operations of a leaf may meet; none when barriers always keep them apart.
SmallVector<Meeting> findMeetings(dfg::NodeOp leaf, Operation *a, Operation *b);

} // namespace tessera::check
