// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that are mostly zero: packed layers that leave the zeros out. The portfolio measures them; the
// attribute `nn.algorithm` = "sparse" chooses them.
#pragma once

#include "tessera/ir/nn/Nn.h"

namespace tessera::nn {

/// The name of the choice.
inline constexpr StringLiteral sparseName = "sparse";

/// Marks (filledAttr) nn.packed_conv with windows of one element and nn.packed_matmul when at most half of
/// the rows of their weights (one channel of x, all lanes of a block) hold something; false when more do, or
/// it is another layer.
bool markSparse(Operation *op);

/// The layer without the zeros in front of one that is marked.
Value emitSparse(OpBuilder &b, Operation *op);

} // namespace tessera::nn
