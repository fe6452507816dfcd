// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph transformations as functions, one for each. The passes, the operations of the transform dialect
// and a tuner all call these. A function either rewrites everything it should or leaves the IR as it was and
// says why in a Refusal; it never does half of its work.
#pragma once

#include "tessera/base/Knob.h"
#include "tessera/ir/dfg/Dfg.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

#include <string>

namespace tessera::graph {

/// Why a rewrite does not apply: what was wrong, at which operation, and what would help.
struct Refusal {
  Operation *at = nullptr;
  std::string text, remedy;

  /// Fills in the reason and returns failure, so that a check can end with `return no(node, "…", "…")`.
  LogicalResult operator()(Operation *where, const Twine &why, const Twine &help = "");
  /// Reports the refusal as an error at its operation, with the remedy as a note.
  LogicalResult emit() const;
};

//===----------------------------------------------------------------------===//
// Hierarchy
//===----------------------------------------------------------------------===//

/// Inlines an internal node without a grid into its parent. Children are named `outer.inner`. Returns the
/// children.
FailureOr<SmallVector<Operation *>> flattenNode(RewriterBase &rewriter, dfg::NodeOp node, Refusal &no);

/// Inlines the graph that a call names. Nodes are named `callee.inner`. Returns the copies of the callee's
/// nodes.
FailureOr<SmallVector<Operation *>> flattenCall(RewriterBase &rewriter, dfg::CallOp call, Refusal &no);

/// Flattens all hierarchy below `root` that is not replicated: only groups remain.
LogicalResult flattenAll(RewriterBase &rewriter, Operation *root, Refusal &no);

/// Moves nodes of one graph into a new internal node of this name.
FailureOr<dfg::NodeOp> outlineNodes(RewriterBase &rewriter, ArrayRef<dfg::NodeOp> nodes, StringRef name,
                                    Refusal &no);

/// Moves nodes of one graph into a new private graph of this name and calls it.
FailureOr<dfg::CallOp> outlineGraph(RewriterBase &rewriter, ArrayRef<dfg::NodeOp> nodes, StringRef name,
                                    Refusal &no);

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

struct FuseOptions {
  /// Also fuse through edges that carry the whole tensor, by computing an element wherever it is read.
  bool recompute = false;
  /// The most operations that recomputation may add to one instance of the consumer.
  double maxRecompute = 256;
};

/// Inlines the producer's body into the consumer's. Through `each` edges between equal grids each element is
/// computed once, and results of the producer with other users become further results of the fused node. With
/// recomputation the producer stays for its other users.
FailureOr<dfg::NodeOp> fuseProducer(RewriterBase &rewriter, dfg::NodeOp producer, dfg::NodeOp consumer,
                                    const FuseOptions &options, Refusal &no);

/// What one instance of the consumer would compute again if the producer were fused by recomputation, in
/// operations; fails where that is not possible.
FailureOr<double> recomputeCost(dfg::NodeOp producer, dfg::NodeOp consumer, Refusal &no);

/// Makes one node of two independent nodes with equal grids.
FailureOr<dfg::NodeOp> fuseSiblings(RewriterBase &rewriter, dfg::NodeOp first, dfg::NodeOp second,
                                    Refusal &no);

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

struct TiledNode {
  dfg::NodeOp group, leaf;
};

/// Makes a leaf a group of tiles; size 0 leaves a dimension in one piece.
FailureOr<TiledNode> tileGrid(RewriterBase &rewriter, dfg::NodeOp node, ArrayRef<int64_t> sizes, Refusal &no);

struct SplitNode {
  dfg::NodeOp first, second;
  /// The node that combines the reductions of the two; null when there is none.
  dfg::NodeOp combine;
};

/// Splits one dimension of a leaf's grid at `at` into two nodes.
FailureOr<SplitNode> splitGrid(RewriterBase &rewriter, dfg::NodeOp node, unsigned dim, int64_t at,
                               Refusal &no);

/// Turns the grid dimensions given (all, when empty) into loops inside the leaf.
FailureOr<dfg::NodeOp> sequentialise(RewriterBase &rewriter, dfg::NodeOp node, ArrayRef<int64_t> dims,
                                     Refusal &no);

/// Lets one instance do the work of `factor` neighbours along a grid dimension.
FailureOr<dfg::NodeOp> unrollGrid(RewriterBase &rewriter, dfg::NodeOp node, unsigned dim, int64_t factor,
                                  Refusal &no);

/// Positions p of a grid dimension with (p - offset) mod rate < skip are filled in instead of computed: on
/// the line between their computed neighbours, or on the cubic through the nearest four.
struct Perforation {
  unsigned dim = 0;
  int64_t rate = 2, skip = 1, offset = 0;
  bool cubic = false;
};

struct PerforatedNode {
  dfg::NodeOp some, fill;
};

/// Replaces a leaf by one that computes the other positions and one that fills in these. Approximates.
FailureOr<PerforatedNode> perforateGrid(RewriterBase &rewriter, dfg::NodeOp node, const Perforation &by,
                                        Refusal &no);

/// Leaves positions p with p mod rate = offset out of a node's sums and extremes. Approximates; the node has
/// such a knob.
dfg::NodeOp sampleReduction(RewriterBase &rewriter, dfg::NodeOp node, int64_t rate, int64_t offset);

/// Activations of a stream, counted from 0, with (number - offset) mod rate < skip do not compute a node.
struct Reuse {
  int64_t rate = 2, skip = 1, offset = 1;
};

/// Lets a node that has such a knob yield its last results again in some activations. Approximates.
dfg::NodeOp reuseResults(RewriterBase &rewriter, dfg::NodeOp node, const Reuse &by);

/// Splits a node that stores one element for each instance (dfg::storesOf) into one that yields them, which
/// is returned and keeps the knob, and one that stores them.
dfg::NodeOp liftStores(RewriterBase &rewriter, dfg::NodeOp node);

/// Puts the graph that is version `number` of a node in its place.
LogicalResult substituteVersion(RewriterBase &rewriter, dfg::NodeOp node, int64_t number, Refusal &no);

/// Lets the readers of a node get its results of so many activations before. Approximates.
LogicalResult delayResults(RewriterBase &rewriter, dfg::NodeOp node, int64_t activations, Refusal &no);

/// Turns over bits of what a node that has such a knob yields, each with probability `rate`. Approximates.
void addBitErrors(RewriterBase &rewriter, dfg::NodeOp node, double rate);

/// Stores a node's results as elements of this type, and widens them where they are read. Approximates.
FailureOr<dfg::NodeOp> narrowResults(RewriterBase &rewriter, dfg::NodeOp node, FloatType element,
                                     Refusal &no);

/// Lets a node that has such a knob compute in f16: its operands are rounded, its results are f32 that f16
/// holds, and can be narrowed. `halves` has tensors that are there in f16 already, and gets those that are
/// made. Approximates.
void computeInHalf(RewriterBase &rewriter, dfg::NodeOp node, DenseMap<Value, Value> &halves);

//===----------------------------------------------------------------------===//
// Knobs of nodes
//===----------------------------------------------------------------------===//

/// The nodes of graphs that have knobs, in order.
SmallVector<dfg::NodeOp> tunableNodes(Operation *root);

/// Expected operations of one instance.
double instanceCost(dfg::NodeOp node);
/// Those of one instance in the mean when the node has this knob.
double knobCost(dfg::NodeOp node, const Knob &knob);

/// Puts a configuration onto them ("all" first, names over it); returns what names no node or fits none.
Result<KnobMap> setNodeKnobs(Operation *root, const KnobMap &knobs);

/// Rewrites every node that has a knob into what computes it so.
LogicalResult applyNodeKnobs(RewriterBase &rewriter, Operation *root, Refusal &no);

//===----------------------------------------------------------------------===//
// Inside a leaf
//===----------------------------------------------------------------------===//

/// Gives each instance its own copy of a piece of memory that it writes before it reads: `dfg.scratch`, or a
/// writable port on a buffer without other users.
LogicalResult privatiseScratch(RewriterBase &rewriter, dfg::ScratchOp scratch, Refusal &no);
FailureOr<dfg::NodeOp> privatisePort(RewriterBase &rewriter, dfg::NodeOp node, unsigned input, Refusal &no);

struct PrivatisedNode {
  dfg::NodeOp node, merge;
};

/// Gives each of `chunks` parts of the grid its own copy of an `acc` port, and merges the copies by a second
/// node.
FailureOr<PrivatisedNode> privatiseAccumulator(RewriterBase &rewriter, dfg::NodeOp node, unsigned input,
                                               int64_t chunks, Refusal &no);

/// Unrolls a loop inside a leaf; factor 0 unrolls it fully.
LogicalResult unrollLoop(RewriterBase &rewriter, scf::ForOp loop, int64_t factor, Refusal &no);

/// Makes one loop of two adjacent loops with the same bounds.
FailureOr<scf::ForOp> fuseLoops(RewriterBase &rewriter, scf::ForOp first, scf::ForOp second, Refusal &no);

struct HoistedNode {
  dfg::NodeOp invariant, node;
};

/// Moves what all instances of a leaf compute alike into a node without a grid.
FailureOr<HoistedNode> hoistInvariant(RewriterBase &rewriter, dfg::NodeOp node, Refusal &no);

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

/// Removes dead nodes, results and operands, copies and duplicates below `root` until nothing changes. True
/// when something changed.
bool simplify(RewriterBase &rewriter, Operation *root);

} // namespace tessera::graph
