// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the graph transformations share: a node taken apart and put together again, copies of a body under
// other ids, hints of merged nodes, and the order of nodes that use the same memory. Not for users outside
// this folder.
#pragma once

#include "tessera/transforms/graph/Rewrites.h"

#include "mlir/IR/IRMapping.h"

namespace tessera::graph {

/// A node as data: change the parts, then build. The body is filled in afterwards.
struct NodeParts {
  NodeParts(Location loc, StringRef name) : loc(loc), name(name) {}
  /// Everything but the body.
  explicit NodeParts(dfg::NodeOp node);

  Location loc;
  std::string name;
  SmallVector<Value> grid, inputs;
  SmallVector<dfg::PortAttr> ports;
  SmallVector<Type> types;
  SmallVector<dfg::ResultAttr> yields;
  /// All attributes that are not structure.
  SmallVector<NamedAttribute> hints;

  /// The position of an input; a value that is already read in the same mode is not added again.
  unsigned addInput(Value value, dfg::PortAttr port);
  unsigned addWhole(Value value);
  unsigned addOutput(Type type, dfg::ResultAttr yield);

  /// A node with an empty block and its arguments, without terminator.
  dfg::NodeOp build(OpBuilder &b) const;
};

dfg::PortAttr getPort(MLIRContext *context, dfg::PortMode mode);
dfg::ResultAttr getGather(MLIRContext *context);

/// Values that a new body needs from outside: constants are copied into it, others become whole operands.
/// Call `need` before the node is built and `get` while its body is.
class Capture {
public:
  explicit Capture(NodeParts &parts) : parts(parts) {}
  void need(Value value);
  Value get(OpBuilder &b, dfg::NodeOp node, Value value);

private:
  NodeParts &parts;
  DenseMap<Value, unsigned> position;
};

/// Moves a leaf's body, without its yield, to the end of another's; `args` replace its arguments. Returns
/// what the instance would yield. The leaf that is left empty is to be replaced.
SmallVector<Value> moveBody(RewriterBase &rewriter, dfg::NodeOp from, dfg::NodeOp to, ValueRange args);

/// Copies a leaf's body without its yield; the map holds the block's arguments. `extents` replaces
/// `dfg.extent` (null: keep; may return null to keep). Returns what the instance would yield.
SmallVector<Value> cloneBody(RewriterBase &rewriter, dfg::NodeOp leaf, IRMapping &map,
                             function_ref<Value(OpBuilder &, unsigned)> extents = nullptr);

/// The element (or tile) of a tensor at these leading indices.
Value elementAt(OpBuilder &b, Location loc, Value tensor, ValueRange indices);

/// Inserts an element (or tile) into a tensor at these leading indices.
Value insertAt(OpBuilder &b, Location loc, Value element, Value tensor, ValueRange indices);

/// The two extents are certainly equal.
bool sameExtent(Value a, Value b);
bool sameGrid(dfg::NodeOp a, dfg::NodeOp b);

/// The body asks for the extent of this dimension.
bool asksExtent(dfg::NodeOp leaf, unsigned dim);

/// A leaf, not placed yet; `no` says otherwise. `verb` completes "cannot …".
LogicalResult checkLeaf(dfg::NodeOp node, StringRef verb, Refusal &no);

/// The leaf's instances share scratch memory or meet at barriers.
bool hasGroupMemory(dfg::NodeOp leaf);

/// The hints of a node that does the work of both; fails when their targets exclude each other.
FailureOr<SmallVector<NamedAttribute>> mergeHints(dfg::NodeOp a, dfg::NodeOp b, Refusal &no);

/// Index arithmetic in wiring, folded where the operands are constants.
Value indexConstant(OpBuilder &b, Location loc, int64_t value);
Value indexMin(OpBuilder &b, Location loc, Value x, Value y);
Value indexSub(OpBuilder &b, Location loc, Value x, Value y);
Value indexCeilDiv(OpBuilder &b, Location loc, Value x, int64_t y);

/// The part of a tensor's leading dimensions from `offsets` with `sizes`; null entries mean the whole
/// dimension.
Value sliceLeading(OpBuilder &b, Location loc, Value tensor, ArrayRef<Value> offsets, ArrayRef<Value> sizes);

/// All grid dimensions are combined away by this result.
bool reducesAll(dfg::ResultAttr yield, unsigned rank);

/// Runs a rewrite on every node with this name, or on every leaf it applies to when there is no name. Emits
/// the refusal, and fails, only for a name.
LogicalResult forNamedNodes(Operation *root, StringRef name,
                            function_ref<LogicalResult(dfg::NodeOp, Refusal &)> rewrite);

/// A name that no node of the graph around the block has yet.
std::string uniqueName(Block *block, const Twine &base);

/// What two nodes become when they are fused; names of many are cut off.
std::string jointName(dfg::NodeOp first, dfg::NodeOp second);

/// All nodes below `root`, outer ones first, without a look into the bodies of leaves.
void walkNodes(Operation *root, function_ref<void(dfg::NodeOp)> visit);

/// The memory that a memref stands for: through views and through the ports of nodes to a buffer or an
/// argument.
Value memoryRoot(Value memref);

/// The operation may write what this operand refers to, so the memref is dead after it.
bool consumes(OpOperand &operand);

/// `a` and `b` use the same memory and one of them writes it.
bool conflictInMemory(Operation *a, Operation *b);

/// Makes room for one operation in place of `members` (in block order) at the last of them: moves operations
/// that depend on a member to after the last. Fails when a member depends on an operation that depends on a
/// member.
LogicalResult gather(RewriterBase &rewriter, ArrayRef<Operation *> members, Refusal &no);

/// The memref at the end of the chain of writers that begins with `memref` in its block; null when a call
/// keeps it.
Value endOfChain(Value memref);

/// Removes inputs that are not writable and whose arguments have no use.
void eraseInputs(RewriterBase &rewriter, dfg::NodeOp node, const llvm::BitVector &dead);

/// What costs take for a number of trips, and for an extent, that is not known.
inline constexpr int64_t unknownTrips = 16;

/// Expected operations of one execution of a body: loops count their trips.
double bodyCost(Block *block);
double tripCount(scf::ForOp loop);

/// Writes the terminator of a body.
void finish(RewriterBase &rewriter, dfg::NodeOp node, ValueRange yielded);

} // namespace tessera::graph
