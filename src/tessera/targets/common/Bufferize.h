// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From tensors to memory, for targets whose kernels are loops.
#pragma once

#include "tessera/ir/dfg/Dfg.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera {

/// Tensors → buffers, in place, in all functions of a module. Destinations are the functions' own arguments.
LogicalResult bufferizePayloads(ModuleOp payloads);

} // namespace tessera
