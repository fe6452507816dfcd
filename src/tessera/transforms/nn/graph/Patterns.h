// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rewrites that simplify networks, by family. Not for users outside this folder.
#pragma once

#include "tessera/transforms/nn/graph/Constants.h"
#include "tessera/transforms/nn/graph/Rewrites.h"

namespace tessera::nn {

void populateAlgebra(RewritePatternSet &patterns);  ///< neutral elements, pairs of functions
void populateMovement(RewritePatternSet &patterns); ///< reshapes, transposes, slices, pads of nothing
void populateFoldNorm(RewritePatternSet &patterns); ///< scales and offsets of channels into weights
void populateFoldPad(RewritePatternSet &patterns);  ///< pads into windows
void populateFoldConstants(RewritePatternSet &patterns,
                           const Evaluator &evaluate); ///< operations on constants

/// Layers between dequantize and quantize → layers on integers.
void readQuantised(dfg::NodeOp node);

/// The value's only use is this one operation, once.
inline bool hasOneUser(Value v) { return v.hasOneUse(); }

} // namespace tessera::nn
