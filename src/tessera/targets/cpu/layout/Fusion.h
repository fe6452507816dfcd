// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operations share a node on the CPU, beyond what their classes say.
#pragma once

#include "tessera/targets/cpu/ir/CpuOps.h"
#include "tessera/transforms/nn/graph/Rewrites.h"

namespace tessera::cpu {

/// A product of computed operands, which the CPU lowers itself.
bool isBatchProduct(MatmulOp op);
/// A softmax that is part of the product that alone reads it.
bool isAttention(SoftmaxOp op);

class CpuFusionRules : public FusionRules {
public:
  /// `stripWeights`: bytes of a pointwise layer's weights, at most, with which it runs in strips behind a
  /// depthwise one.
  /// `attention`: a product joins the softmax of another one's result, which rounds differently.
  explicit CpuFusionRules(int64_t stripWeights, bool attention = true)
      : stripWeights(stripWeights), attention(attention) {}

  Follow mayFollow(Operation *op, Operation *anchor, ArrayRef<Operation *> group) const override;
  bool isOffset(Operation *op) const override;
  unsigned storeOrder(Operation *op) const override;

private:
  int64_t stripWeights;
  bool attention;
};

} // namespace tessera::cpu
