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

/// The operand and its dimension that extent `d` of the operation's result certainly equals; none where no
/// single one does.
std::optional<std::pair<Value, int64_t>> sourceOfExtent(Operation *op, int64_t d);

/// What a target adds to the rules by which operations share a node (Partition.cpp). `group` is in the order
/// of the program, `anchor` its layer; null when there is none.
class FusionRules {
public:
  virtual ~FusionRules() = default;
  enum class Follow {
    No,
    AsLayer,  ///< `op` is the group's layer from then on
    InStores, ///< it becomes part of the layer's stores
  };
  /// Whether `op` may join the group behind its last operation although the classes do not say so.
  virtual Follow mayFollow(Operation *op, Operation *anchor, ArrayRef<Operation *> group) const {
    return Follow::No;
  }
  /// The operation only leaves out elements, so that it may stand in front of a layer: it is an offset.
  virtual bool isOffset(Operation *op) const { return false; }
  /// A layer may do so as it stores its result. Of several in one node the numbers rise; 0: it may not.
  virtual unsigned storeOrder(Operation *op) const { return 0; }
};

struct PartitionOptions {
  bool fuse = true;                   ///< several operations into a node
  const FusionRules *rules = nullptr; ///< a target's own; may be null
};

/// Cuts a network into one node for each fusion group; the leaf is erased.
LogicalResult partitionNetwork(dfg::NodeOp node, const PartitionOptions &options);

/// Cuts a network into one leaf for each of `regions`, lists of its operations in the order of the program,
/// of which none may wait for itself through another one. Each leaf has the constants it reads; operations in
/// no region stand in the graph. Returns the leaves by region, null where nobody reads what it computes; the
/// network is erased.
SmallVector<dfg::NodeOp> cutNetwork(dfg::NodeOp node, ArrayRef<SmallVector<Operation *>> regions);

} // namespace tessera::nn
