// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Knobs of precision: operands become narrow where they are made, and stay so in memory.
#pragma once

#include "tessera/transforms/nn/knobs/Knobs.h"

#include "llvm/ADT/DenseMap.h"

namespace tessera::nn {

/// Rewrites operations whose knob is a precision alone. int8: the activation is quantised to bytes behind its
/// definition, the sum of products is one of integers, and its result is scaled. bf16, f16: both operands are
/// rounded; of a sum the operand that waits in memory. Operations that read one activation share its narrow
/// form.
class PrecisionRewriter {
public:
  LogicalResult apply(TunableOp op);

private:
  struct Scale {
    float factor; ///< elements are multiplied by this, 1 / s
    float step;   ///< s
    int64_t zero;
  };
  static FailureOr<Scale> scaleOf(TunableOp op);
  LogicalResult applyInt8(TunableOp op);
  void applyHalf(TunableOp op, Type half);
  LogicalResult applyInt8Sum(BinaryOp op);
  /// `v` in bytes, and rounded to a half type and back.
  Value quantised(Value v, const Scale &scale);
  Value rounded(Value v, Type half);
  static Value narrowed(Value v, Type half);
  static Value widened(OpBuilder &b, Location loc, Value q, const Scale &scale);
  /// Whoever reads `v` wants it in bytes of this scale.
  static bool wantsOnly(Value v, const Scale &scale);
  static bool wantsOnly(Value v, Type half);

  DenseMap<std::pair<Value, std::pair<uint32_t, int64_t>>, Value> bytes;
  DenseMap<std::pair<Value, Type>, Value> halves;
};

} // namespace tessera::nn
