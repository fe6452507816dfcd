// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which operations share a node on the CPU, beyond what their classes say.
#pragma once

#include "tessera/targets/cpu/ir/CpuOps.h"
#include "tessera/transforms/nn/graph/Rewrites.h"

namespace tessera::cpu {

class CpuFusionRules : public FusionRules {
public:
  /// `stripWeights`: bytes of a pointwise layer's weights, at most, with which it runs in strips behind a
  /// depthwise one.
  explicit CpuFusionRules(int64_t stripWeights) : stripWeights(stripWeights) {}

  Follow mayFollow(Operation *op, Operation *anchor, ArrayRef<Operation *> group) const override;
  bool isOffset(Operation *op) const override;
  unsigned storeOrder(Operation *op) const override;

private:
  int64_t stripWeights;
};

} // namespace tessera::cpu
