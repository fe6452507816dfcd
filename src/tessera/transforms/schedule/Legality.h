// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A user's script keeps what its program computes, or it is refused: our own steps check what they do, and so
// do some of upstream's; others are the author's to vouch for, by `tessera.unsafe` on the sequence.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera::schedule {

/// Checks that each step of a sequence without `tessera.unsafe` is one that keeps what a program computes.
LogicalResult checkSteps(ModuleOp script);

/// Puts a check of the payload in front of upstream's steps that are safe for some operations only. What has
/// one already gets no second one.
void addStepChecks(ModuleOp script);

/// The text of a sequence as its author wrote it, without these checks.
void printSequence(Operation *sequence, raw_ostream &os);

} // namespace tessera::schedule
