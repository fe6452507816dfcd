// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Removes vector.mask before anything else looks at a program: upstream's elimination of common
// subexpressions takes an operation in the region of a vector.mask for equal to the same operation without a
// mask.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera::graph {

/// Masked transfers and gathers get the mask as an operand, masked reductions reduce a selection.
LogicalResult lowerMasks(ModuleOp module);

} // namespace tessera::graph
