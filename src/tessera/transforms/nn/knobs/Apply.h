// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What knobs make of operations: others that compute less.
#pragma once

#include "tessera/transforms/nn/knobs/Knobs.h"

namespace tessera::nn {

/// Rewrites all operations of a network that carry a knob into operations without one, with the meaning that
/// the oracle gives to the knob. Emits a diagnostic on failure.
LogicalResult applyKnobs(dfg::NodeOp node);

//===----------------------------------------------------------------------===//
// One function for each kind of knob; what they make may carry the precision that is left.
//===----------------------------------------------------------------------===//

/// Convolutions of the rows and columns that stay, and an nn.interpolate.
LogicalResult applyPerforation(RewriterBase &rewriter, ConvOp op, const Knob &knob);
/// Two convolutions or products.
LogicalResult applyLowRank(RewriterBase &rewriter, TunableOp op, const Knob &knob);
/// The same operation with other weights, int4 among them; a sampled product loses the columns that it does
/// not need.
LogicalResult applyWeights(RewriterBase &rewriter, TunableOp op, const Knob &knob);
LogicalResult applySample(RewriterBase &rewriter, ReduceOp op, const Knob &knob);
LogicalResult applySample(RewriterBase &rewriter, PoolOp op, const Knob &knob);
/// The model of PROMISE: levels and noise.
LogicalResult applyPromise(RewriterBase &rewriter, TunableOp op, const Knob &knob);

/// The precision of `knob` becomes what `op` carries, with name and range of `from`.
void keepPrecision(Operation *op, const Knob &knob, Operation *from);

} // namespace tessera::nn
