// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Knobs of whole networks: names for the operations that have any, and configurations put onto them.
#pragma once

#include "tessera/base/Knob.h"
#include "tessera/transforms/nn/graph/Rewrites.h"

namespace tessera::nn {

/// All operations with knobs in the networks below `root`, in order.
SmallVector<TunableOp> tunableOps(Operation *root);
/// "conv", "matmul", "sum", …
StringRef kindOf(TunableOp op);

/// Gives each of them a name (nn.name) that no other has: its own, the one of its node in the model, or its
/// mnemonic with a number.
void nameTunableOps(Operation *root);

/// Puts the knobs of a configuration onto the operations below `root` (nn.knob); "all" first, names over it.
/// An operation that is not there, or a knob that it does not have, is an error that says what there is.
Status setKnobs(Operation *root, const KnobMap &knobs);

} // namespace tessera::nn
