// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From operations of networks to loops on tensors (linalg, tensor, scf, arith, math), inside one node. What
// an operation means is decided here and in the oracle, which share nothing.
#pragma once

#include "tessera/ir/dfg/Dfg.h"
#include "tessera/ir/nn/Nn.h"

#include "mlir/IR/PatternMatch.h"

namespace tessera::nn {

/// Rewrites all operations of the dialect in the body of a leaf, those inside of scf regions too, and fuses
/// elementwise chains. Emits a diagnostic on failure.
LogicalResult lowerToLinalg(dfg::NodeOp node);

/// Asserts in the leaf what its operations ask of dynamic extents: the plan's checks.
void addExtentChecks(dfg::NodeOp node);

/// Lets the branches and loops of a lowered leaf write what they give into tensors that are made before them.
void writeOutside(dfg::NodeOp node);

/// The patterns of each family, one file each.
void populateElementwise(RewritePatternSet &patterns); ///< unary, activation, binary, select, batch_norm
void populateCast(RewritePatternSet &patterns);        ///< cast, bitcast, quantize, dequantize
void populateReduce(RewritePatternSet &patterns);      ///< reduce, arg_reduce
void populateOrder(RewritePatternSet &patterns);       ///< cumulative, topk
void populateShape(RewritePatternSet &patterns); ///< reshape, transpose, broadcast, tile, concat, slice, pad
void populateIndex(RewritePatternSet &patterns); ///< trilu, reverse_sequence, iota, one_hot, gathers
void populateScatter(RewritePatternSet &patterns);  ///< scatters, columns_to_image
void populateContract(RewritePatternSet &patterns); ///< matmul, einsum, convolutions
void populateWindow(RewritePatternSet &patterns);   ///< pools, lrn, resize, grid_sample, roi_align
void populateNorm(RewritePatternSet &patterns);     ///< layer_norm, group_norm, softmax
void populateSequence(RewritePatternSet &patterns); ///< recurrent, attention
void populateApprox(RewritePatternSet &patterns);   ///< interpolate, noise

} // namespace tessera::nn
