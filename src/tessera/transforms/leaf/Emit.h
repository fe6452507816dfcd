// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How one node becomes operations inside a payload function; shared by the files of this folder only.
#pragma once

#include "tessera/ir/dfg/Dfg.h"
#include "tessera/transforms/leaf/Payload.h"

#include "mlir/IR/IRMapping.h"

namespace tessera::leaf {

/// A node being emitted: its operands as values of the function, and where its results go.
struct EmitContext {
  OpBuilder &b;
  const PayloadOptions &options;
  dfg::NodeOp node;
  SmallVector<Value> grid;   ///< extents
  SmallVector<Value> inputs; ///< tensors, memrefs (ports), scalars
  SmallVector<Value> dests;  ///< for each yielded result: memory to write it to, or null
  SmallVector<Value>
      results; ///< set by emission: for each yielded result, a tensor or scalar (null when written to dests)
  Location loc;
};

/// Emits a node of any kind at the builder's insertion point.
LogicalResult emitNode(EmitContext &ctx);

/// The forms of a leaf with a grid.
LogicalResult emitGeneric(EmitContext &ctx);
LogicalResult emitTensorForall(EmitContext &ctx);
LogicalResult emitBufferLoops(EmitContext &ctx);
LogicalResult emitPhases(EmitContext &ctx);

/// Copies the body of a leaf: `map` gives ids and arguments their values. Returns what it yields.
SmallVector<Value> cloneBody(EmitContext &ctx, IRMapping &map);

/// Emits what one instance of a node does: a leaf's body, or the children of an internal node.
FailureOr<SmallVector<Value>> emitBody(EmitContext &ctx, IRMapping &map);

/// The extents that a yielded result has over the grid, then its tile's.
SmallVector<OpFoldResult> getResultExtents(EmitContext &ctx, unsigned result, Value tile);

/// A tensor to compute result `result` into: its destination, or an empty one of these extents.
Value getInit(EmitContext &ctx, unsigned result, ArrayRef<OpFoldResult> extents);

/// Writes a computed tensor or scalar to the result's destination, or keeps it as the result's value.
void finishResult(EmitContext &ctx, unsigned result, Value value);

/// Replaces dfg.accumulate under `root` by a load, a combination and a store: what it means to one thread.
/// `ports` holds the memory that stands for each input; null entries mean the input itself.
void lowerAccumulate(EmitContext &ctx, Operation *root, ArrayRef<Value> ports);

/// The instance's element or tile, as its argument's type says, of an `each` operand.
Value sliceEach(EmitContext &ctx, OpBuilder &b, Value whole, Type argType, ValueRange ids);

/// A constant of this value.
Value constantOf(OpBuilder &b, Location loc, TypedAttr attr);

} // namespace tessera::leaf
