// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which sequence of a script is for what. A sequence has a phase, and says for which node, graph and target
// it is; see Schedule.md.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

#include "mlir/Dialect/Transform/IR/TransformOps.h"

namespace tessera::schedule {

/// When a sequence runs, and on what.
enum class Phase {
  Graph,   ///< on a whole program, before its nodes become loops
  Payload, ///< on the function that a node has become
  Loops,   ///< on each kernel of a node, after tensors have become memory
};
StringRef stringify(Phase phase);

/// The version of scripts that is written. It notes on a sequence what it is for (ir/note/Notes.td); version
/// 1 has no attributes: the sequence @graph is for the program, a sequence that is named as a node for its
/// payload, one with `_loops` behind that for its kernels.
inline constexpr int64_t scriptVersion = 2;

/// Checks a user's script: its version, and what its sequences are for.
LogicalResult checkSequences(ModuleOp script);

/// The sequence of a phase for a node on a target, or for the program; null when the script has none. The one
/// that says most about its place is taken. A node that was fused has the sequences of its parts; it is an
/// error when they are several.
FailureOr<transform::NamedSequenceOp> findSequence(ModuleOp script, Phase phase, dfg::NodeOp node = {},
                                                   StringRef target = {});

/// Notes on the nodes that a script names under which names it knows them, so that it finds them when they
/// have been fused or inlined.
void markNodes(ModuleOp program, ModuleOp script);

/// Warns of sequences for nodes that the program does not have (any more).
void warnOfUnused(ModuleOp program, ModuleOp script);

} // namespace tessera::schedule
