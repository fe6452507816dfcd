// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that are mostly zero: packed layers that leave the zeros out. The portfolio measures them; the
// attribute `cpu.algorithm` = "sparse" chooses them.
#pragma once

#include "tessera/targets/cpu/ir/CpuOps.h"

namespace tessera::cpu {

/// The name of the choice.
inline constexpr StringLiteral sparseName = "sparse";

/// Whether half of the elements of f32 weights are zero: with fewer nothing can be left out.
bool isMostlyZero(Value w);

/// Marks a layer (Notes::filled), whose result is `y`, when at most half of the rows of its weights (one tap
/// of the window on one channel of x, all lanes of a block) hold something; where `from` asks for that, the
/// zeros are left out. `direct` is the layer itself or, of a Winograd one, its direct form, which is erased:
/// rows are those of cpu.packed_conv of one group and of cpu.packed_matmul.
Value chooseSparse(OpBuilder &b, Operation *from, Value y, Operation *direct);

/// The layer without the zeros in front of one that was marked, in its direct form.
Value emitSparse(OpBuilder &b, Operation *op);

} // namespace tessera::cpu
