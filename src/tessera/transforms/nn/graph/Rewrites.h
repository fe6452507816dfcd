// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rewrites of networks as functions. A network is one leaf without a grid that holds all of its
// operations (the stage `graph`); the installer cuts it into nodes.
#pragma once

#include "tessera/ir/dfg/Dfg.h"
#include "tessera/ir/nn/Nn.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace tessera::nn {

/// The leaf holds operations of the dialect.
bool isNetwork(dfg::NodeOp node);
/// Runs `rewrite` on every network below `root`; stops at the first failure.
LogicalResult forEachNetwork(Operation *root, function_ref<LogicalResult(dfg::NodeOp)> rewrite);

/// Computes the results of an operation whose operands are all constants; empty when it cannot.
using Evaluator = std::function<SmallVector<ElementsAttr>(Operation *op, ArrayRef<ElementsAttr> operands)>;

/// Machine-independent simplification of a network. `evaluate` may be null.
LogicalResult simplifyNetwork(dfg::NodeOp node, const Evaluator &evaluate);

/// Extents of results become extents of operands, or of the leaf's arguments, so that asking for one is no
/// use of a result.
void simplifyExtents(dfg::NodeOp node);

/// What layouts are made for.
struct LayoutOptions {
  int64_t lanes = 8;      ///< of f32 in a vector register
  bool winograd = true;   ///< algorithms that round differently are allowed
  int64_t bytes = 0;      ///< unsigned times signed bytes that one step of a sum takes; 0: not worth it
  int64_t smallBytes = 0; ///< the same where weights are small (packed::fitsPairs); 0: no other
  int64_t halves = 0;     ///< bf16 alike
  int64_t tileBytes = 0, tileHalves = 0; ///< channels of either that one product of matrices takes; 0: none
};

/// Convolutions with the knob `split` as ones of parts in bf16, where a machine multiplies matrices of those.
void splitLayers(dfg::NodeOp node, const LayoutOptions &options);

/// Gives activations blocked layouts where that pays, and makes packed layers of those that read or write
/// them. Weights are packed here.
LogicalResult assignLayouts(dfg::NodeOp node, const LayoutOptions &options);

struct PartitionOptions {
  bool fuse = true; ///< several operations into a node
  /// Bytes of a pointwise layer's weights, at most, with which it runs in strips behind a depthwise one.
  int64_t stripWeights = 0;
};

/// Cuts a network into one node for each fusion group; the leaf is erased.
LogicalResult partitionNetwork(dfg::NodeOp node, const PartitionOptions &options);

} // namespace tessera::nn
