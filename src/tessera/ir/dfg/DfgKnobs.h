// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The knobs of nodes: how a node may be computed other than exactly. What each means is in Dfg.md.
#pragma once

#include "tessera/base/Knob.h"
#include "tessera/ir/dfg/Dfg.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tessera::dfg {

/// The node's knob; f32 without one.
Knob knobOf(NodeOp node);

/// The node carries a knob, or an attribute that gives it knobs.
bool hasOtherWays(NodeOp node);

/// The graph that `version:number` calls; null when there is none.
FlatSymbolRefAttr versionOf(NodeOp node, int64_t number);

/// What result `result` is before the first activation.
TypedAttr firstOf(NodeOp node, unsigned result);

/// The key of the random numbers that say which bits of a result are wrong.
uint64_t bitErrorKey(NodeOp node, unsigned result);

/// The node's own form allows the knob.
bool hasKnob(NodeOp node, const Knob &knob);

/// The grid dimension of which positions may be left out of a node's sums and extremes, the first that all of
/// its results reduce; nothing for other nodes.
std::optional<unsigned> sampledDim(NodeOp node);

/// Of a leaf that yields nothing, but stores one float for each instance through each of its writable ports,
/// at a place that hangs on no memory: the stores. Such a node has the knobs of one that yields them.
std::optional<SmallVector<memref::StoreOp>> storesOf(NodeOp node);

/// The operations of the body that compute where a store goes.
SmallVector<Operation *> addressOf(memref::StoreOp store);

/// All readers of the node's results are leaves that take single elements, so that they can be stored
/// otherwise.
bool canNarrow(NodeOp node);

/// All readers of the node's results are nodes, which may get results of another activation.
bool canDelay(NodeOp node);

/// The node has the knob, and the readers of its results allow it.
bool offersKnob(NodeOp node, const Knob &knob);

/// The knobs worth trying, the exact one first.
SmallVector<Knob> listKnobs(NodeOp node);

} // namespace tessera::dfg
