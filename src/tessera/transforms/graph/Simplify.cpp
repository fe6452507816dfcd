// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cleans a graph up: dead nodes, results and operands, copies, duplicate operands and nodes, grids of one
// instance. What a node writes into memory that came from outside the graph is never dead.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OperationSupport.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

// The results' only effect is to be used: all ports write buffers of this graph.
static bool writesOnlyOwnBuffers(NodeOp node) {
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).isWritable() && !memoryRoot(node.getInputs()[i]).getDefiningOp<BufferOp>())
      return false;
  return !node.walk([](StateOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

// A node, buffer or wiring nobody uses  →  (nothing)
static bool eraseDead(RewriterBase &rewriter, Operation *op) {
  if (!op->use_empty())
    return false;
  auto node = dyn_cast<NodeOp>(op);
  if (!(node && writesOnlyOwnBuffers(node)) && !isa<BufferOp>(op) && !isOpTriviallyDead(op))
    return false;
  rewriter.eraseOp(op);
  return true;
}

// The node without some of its results; the body moves over.
static NodeOp rebuildWithout(RewriterBase &rewriter, NodeOp node, const llvm::BitVector &deadYields,
                             const llvm::BitVector &deadPorts) {
  NodeParts parts(node);
  SmallVector<Value> values;
  SmallVector<unsigned> keptResults;
  for (unsigned r = node.getNumYields(); r-- > 0;)
    if (deadYields.test(r)) {
      parts.types.erase(parts.types.begin() + r);
      parts.yields.erase(parts.yields.begin() + r);
    }
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    if (!deadYields.test(r))
      keptResults.push_back(r);
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).isWritable() && !deadPorts.test(i))
      keptResults.push_back(node.getPortResult(i).getResultNumber());
  for (unsigned i = node.getInputs().size(); i-- > 0;)
    if (deadPorts.test(i)) {
      parts.inputs.erase(parts.inputs.begin() + i);
      parts.ports.erase(parts.ports.begin() + i);
    }
  rewriter.setInsertionPoint(node);
  NodeOp to = parts.build(rewriter);
  SmallVector<Value> args(to.getIds());
  unsigned next = 0;
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    args.push_back(deadPorts.test(i) ? Value(node.getInputArgs()[i]) : Value(to.getInputArgs()[next++]));
  YieldOp yield = node.getYieldOp();
  for (auto [arg, value] : llvm::zip(node.getBodyBlock()->getArguments(), args))
    if (arg != value)
      rewriter.replaceAllUsesWith(arg, value);
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    if (!deadYields.test(r))
      values.push_back(yield.getValues()[r]);
  rewriter.eraseOp(yield);
  to.getBodyBlock()->getOperations().splice(to.getBodyBlock()->end(), node.getBodyBlock()->getOperations());
  finish(rewriter, to, values);
  for (auto [position, r] : llvm::enumerate(keptResults))
    rewriter.replaceAllUsesWith(node.getResult(r), to.getResult(position));
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (deadPorts.test(i))
      rewriter.replaceAllUsesWith(node.getPortResult(i), node.getInputs()[i]);
  // The old node has no body left, so it may not be looked into again.
  rewriter.setInsertionPointToEnd(node.getBodyBlock());
  YieldOp::create(rewriter, node.getLoc());
  rewriter.eraseOp(node);
  return to;
}

// @f (…) -> (%used, %unused)  →  @f (…) -> %used;  a writable port that the body ignores is passed by
static bool dropDeadResults(RewriterBase &rewriter, NodeOp node) {
  llvm::BitVector deadYields(node.getNumYields()), deadPorts(node.getInputs().size());
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    deadYields[r] = node.getResult(r).use_empty();
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    deadPorts[i] = node.getPort(i).isWritable() && node.getInputArgs()[i].use_empty();
  if (deadYields.none() && deadPorts.none())
    return false;
  rebuildWithout(rewriter, node, deadYields, deadPorts);
  return true;
}

// @f (%a = %x, %b = %x, %unused = %y)  →  @f (%a = %x)
static bool dropDeadInputs(RewriterBase &rewriter, NodeOp node) {
  llvm::BitVector dead(node.getInputs().size());
  for (unsigned i = 0; i < dead.size(); ++i) {
    if (node.getPort(i).isWritable())
      continue;
    for (unsigned earlier = 0; earlier < i; ++earlier)
      if (node.getInputs()[earlier] == node.getInputs()[i] && node.getPort(earlier) == node.getPort(i))
        rewriter.replaceAllUsesWith(node.getInputArgs()[i], node.getInputArgs()[earlier]);
  }
  // Only now: merging gives uses to an argument that had none.
  for (unsigned i = 0; i < dead.size(); ++i)
    dead[i] = !node.getPort(i).isWritable() && node.getInputArgs()[i].use_empty();
  if (dead.none())
    return false;
  eraseInputs(rewriter, node, dead);
  return true;
}

// %y = @copy grid(G) (each %e = %x) { yield %e }  →  %x;  a value yielded twice is one result
static bool forwardCopies(RewriterBase &rewriter, NodeOp node) {
  bool changed = false;
  auto replace = [&](OpResult result, Value value) {
    if (result.use_empty())
      return;
    if (value.getType() != result.getType()) {
      if (!tensor::CastOp::areCastCompatible(value.getType(), result.getType()))
        return;
      rewriter.setInsertionPointAfter(node);
      value = tensor::CastOp::create(rewriter, node.getLoc(), result.getType(), value);
    }
    rewriter.replaceAllUsesWith(result, value);
    changed = true;
  };
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    Value yielded = node.getYieldOp().getValues()[r];
    for (unsigned earlier = 0; earlier < r; ++earlier)
      if (node.getYieldOp().getValues()[earlier] == yielded && node.getYield(earlier) == node.getYield(r) &&
          node.getResult(earlier).getType() == node.getResult(r).getType())
        replace(cast<OpResult>(node.getResult(r)), node.getResult(earlier));
    auto arg = dyn_cast<BlockArgument>(yielded);
    if (!arg || arg.getOwner() != node.getBodyBlock() || arg.getArgNumber() < node.getRank())
      continue;
    unsigned input = arg.getArgNumber() - node.getRank();
    PortMode mode = node.getPort(input).getMode();
    bool gathered = node.getYield(r).getMode() == ResultMode::Gather && mode == PortMode::Each;
    bool single = !node.getRank() && (mode == PortMode::Each || mode == PortMode::Whole);
    if (gathered || single)
      replace(cast<OpResult>(node.getResult(r)), node.getInputs()[input]);
  }
  return changed;
}

// The value with the fewest uses of those that a node reads; null when it reads none.
static Value rarestOperand(NodeOp node) {
  Value rarest;
  unsigned fewest = ~0u;
  for (Value v : node->getOperands()) {
    unsigned uses = 0;
    for (auto it = v.use_begin(); it != v.use_end() && uses < fewest; ++it)
      ++uses;
    if (uses < fewest) {
      fewest = uses;
      rarest = v;
    }
  }
  return rarest;
}

// Two nodes that do the same to the same operands  →  the first
static bool mergeDuplicates(RewriterBase &rewriter, NodeOp node) {
  if (llvm::any_of(node.getPorts().getAsRange<PortAttr>(), [](PortAttr port) { return port.isMemory(); }) ||
      node.walk([](StateOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return false;
  // What reads the same operands reads the rarest of them.
  SmallVector<Operation *> others;
  if (Value rarest = rarestOperand(node)) {
    for (Operation *user : rarest.getUsers())
      if (user->getBlock() == node->getBlock() && user->isBeforeInBlock(node))
        others.push_back(user);
    llvm::sort(others, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  } else {
    for (Operation *op = &node->getBlock()->front(); op != node; op = op->getNextNode())
      others.push_back(op);
  }
  for (Operation *op : others) {
    auto other = dyn_cast<NodeOp>(op);
    if (!other || other->getOperands() != node->getOperands() || other.getRank() != node.getRank() ||
        other->getResultTypes() != node->getResultTypes() || other.getPorts() != node.getPorts() ||
        other.getYields() != node.getYields() || NodeParts(other).hints != NodeParts(node).hints)
      continue;
    if (!OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &node.getBody(),
                                                    OperationEquivalence::IgnoreLocations))
      continue;
    rewriter.replaceOp(node, other.getResults());
    return true;
  }
  return false;
}

// @f grid(1) (…) -> reduce  →  @f (…)
static bool dropUnitGrid(RewriterBase &rewriter, NodeOp node) {
  auto isOne = [](Value extent) { return getConstantIntValue(extent) == 1; };
  auto reduced = [&](ResultAttr yield) { return reducesAll(yield, node.getRank()); };
  if (!node.getRank() || node.isInternal() || !llvm::all_of(node.getGrid(), isOne) ||
      !llvm::all_of(node.getYields().getAsRange<ResultAttr>(), reduced))
    return false;
  NodeParts parts(node);
  parts.grid.clear();
  for (PortAttr &port : parts.ports)
    if (port.getMode() == PortMode::Each)
      port = graph::getPort(node.getContext(), PortMode::Whole);
  for (ResultAttr &yield : parts.yields)
    yield = getGather(node.getContext());
  rewriter.setInsertionPoint(node);
  NodeOp to = parts.build(rewriter);
  rewriter.setInsertionPointToEnd(to.getBodyBlock());
  Location loc = node.getLoc();
  SmallVector<Value> ids(node.getRank(), indexConstant(rewriter, loc, 0));
  IRMapping map;
  map.map(node.getIds(), ids);
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    Value arg = to.getInputArgs()[i];
    bool each = node.getPort(i).getMode() == PortMode::Each;
    map.map(node.getInputArgs()[i], each ? elementAt(rewriter, loc, arg, ids) : arg);
  }
  auto one = [&](OpBuilder &b, unsigned) { return indexConstant(b, loc, 1); };
  finish(rewriter, to, cloneBody(rewriter, node, map, one));
  rewriter.replaceOp(node, to.getResults());
  return true;
}

// tensor.dim of a gathered result  →  the extent of the grid
static bool foldExtent(RewriterBase &rewriter, tensor::DimOp dim) {
  auto node = dim.getSource().getDefiningOp<NodeOp>();
  std::optional<int64_t> index = dim.getConstantIndex();
  if (!node || !index)
    return false;
  ResultAttr yield = node.getYield(cast<OpResult>(dim.getSource()).getResultNumber());
  if (yield.getMode() == ResultMode::Tile)
    return false;
  for (unsigned d = 0; d < node.getRank(); ++d)
    if (!yield.reduces(d) && (*index)-- == 0) {
      rewriter.replaceOp(dim, node.getGrid()[d]);
      return true;
    }
  return false;
}

static bool simplifyOnce(RewriterBase &rewriter, Operation *op) {
  if (eraseDead(rewriter, op))
    return true;
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return foldExtent(rewriter, dim);
  auto node = dyn_cast<NodeOp>(op);
  // What may be computed otherwise is not what its body says, and its type is also that of its versions.
  return node && !hasOtherWays(node) &&
         (forwardCopies(rewriter, node) || dropDeadResults(rewriter, node) ||
          dropDeadInputs(rewriter, node) || mergeDuplicates(rewriter, node) || dropUnitGrid(rewriter, node));
}

// The operations of graphs and internal nodes, last first, so that users go before what they use; then
// leaves' own.
static bool simplifyBlock(RewriterBase &rewriter, Block *block) {
  bool changed = false;
  for (Operation *op = block->empty() ? nullptr : &block->back(); op;) {
    Operation *before = op->getPrevNode();
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        changed |= simplifyBlock(rewriter, &inner);
    changed |= simplifyOnce(rewriter, op);
    op = before;
  }
  return changed;
}

bool graph::simplify(RewriterBase &rewriter, Operation *root) {
  bool any = false;
  for (bool changed = true; changed; any |= changed) {
    changed = false;
    for (Region &region : root->getRegions())
      for (Block &block : region)
        changed |= simplifyBlock(rewriter, &block);
  }
  return any;
}

namespace tessera::graph {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct SimplifyPass : graph::impl::SimplifyPassBase<SimplifyPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    simplify(rewriter, getOperation());
  }
};
} // namespace
