// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `cpu` dialect as C++ classes: layers on activations in blocks of channels.
#pragma once

#include "tessera/ir/nn/Nn.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace tessera::cpu {
/// What the value of the note must be beyond its type.
LogicalResult verifyTiles(Operation *op, Attribute tiles);
} // namespace tessera::cpu

#include "tessera/targets/cpu/ir/CpuDialect.h.inc"

/// What works on these operations works on those of networks, too.
namespace tessera::cpu {
using namespace nn;
using Notes = CpuDialect::Notes;
} // namespace tessera::cpu

#define GET_OP_CLASSES
#include "tessera/targets/cpu/ir/CpuOps.h.inc"

namespace tessera::cpu {

/// Dimensions of what is multiplied by packed weights, at most: five are those of blocks.
inline constexpr size_t mostProductRank = 4;

/// Tells the oracle what the operations mean, as soon as the dialect is loaded.
void registerMeaning(DialectRegistry &registry);

} // namespace tessera::cpu
