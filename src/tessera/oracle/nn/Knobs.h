// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations with a knob (nn.knob) compute: the definition of each knob. docs/knobs.md says it in words.
#pragma once

#include "tessera/oracle/nn/Nn.h"

namespace tessera::oracle {

/// A convolution, a product or a sum that carries a knob other than f32.
LogicalResult runKnobConv(Call &call, nn::ConvOp op);
LogicalResult runKnobMatmul(Call &call, nn::MatmulOp op);
LogicalResult runKnobSum(Call &call, nn::BinaryOp op);

/// For sampled reductions and pools: whether the element with this index along the sampled dimension is left
/// out.
inline bool isLeftOut(const Knob &knob, int64_t index) {
  return knob.structure == Knob::Structure::Sample && index % knob.rate == knob.offset;
}
/// What a sum over elements of which `kept` of `all` were seen is multiplied by.
inline double sampleScale(nn::ReduceKind kind, int64_t all, int64_t kept) {
  return kind == nn::ReduceKind::sum && kept ? static_cast<double>(all) / static_cast<double>(kept) : 1;
}

} // namespace tessera::oracle
