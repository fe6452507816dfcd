// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products of integers or bf16 that were widened first, as layers on the narrow elements themselves.
// The forms are those that importers write for integer models, and that knobs of precision make:
//   conv(cast(x as unsigned bytes → i32) - zero, w), w within a signed byte
//   conv(cast(x: bf16 → f32), w), w without bits that bf16 has not
#pragma once

#include "tessera/targets/cpu/layout/Layout.h"

namespace tessera::cpu {

struct Narrow {
  Value source;         ///< the narrow operand
  int64_t zero = 0;     ///< what is subtracted from it
  int64_t together;     ///< elements that one instruction takes
  bool isSmall = false; ///< the weights are (Notes::smallWeights)
  int64_t tile = 0;     ///< channels that one product of matrices takes; 0: vectors are multiplied
};

/// The narrow form of an operand and its weights, if there is one that the machine is fast at.
std::optional<Narrow> narrowOf(Value x, Value w, const LayoutOptions &options);
std::optional<Narrow> narrowOf(ConvOp op, const LayoutOptions &options);

/// The packed layer for a convolution on narrow blocks `x` with their border.
Value emitNarrowConv(OpBuilder &b, ConvOp op, const Narrow &narrow, Value x, int64_t block);
/// A product with packed narrow weights. `rows` has the weights as cpu.packed_matmul wants wide ones.
Value emitNarrowMatmul(OpBuilder &b, MatmulOp op, const Narrow &narrow, Value x, ArrayRef<float> rows,
                       int64_t block);

/// A constant's elements, which are f32 or i32, as floats.
std::vector<float> floatsOf(Value constant);

} // namespace tessera::cpu
