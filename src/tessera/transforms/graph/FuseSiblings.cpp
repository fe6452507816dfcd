// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes one node of two independent nodes with equal grids, so that what both read is read once.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

static LogicalResult checkIndependent(NodeOp first, NodeOp second, Refusal &no) {
  std::string cannot = ("cannot fuse '" + first.getName() + "' and '" + second.getName() + "': ").str();
  if (first == second)
    return no(second, cannot + "they are one node", "name two nodes");
  if (first->getBlock() != second->getBlock())
    return no(second, cannot + "they stand in different graphs", "flatten or outline first");
  if (failed(checkLeaf(first, "fuse", no)) || failed(checkLeaf(second, "fuse", no)))
    return failure();
  if (!sameGrid(first, second))
    return no(second, cannot + "their grids are not certainly equal", "give both the same extents");
  if (llvm::any_of(second->getOperands(), [&](Value v) { return v.getDefiningOp() == first; }))
    return no(second, cannot + "the second reads a result of the first", "use 'fuse_nodes'");
  if (conflictInMemory(first, second))
    return no(second, cannot + "both use the same memory and one of them writes it", "keep them apart");
  return success();
}

// %a = @f grid(G) …; %b = @g grid(G) …  →  %a, %b = @f_g grid(G) … { both bodies; yield both }
FailureOr<NodeOp> graph::fuseSiblings(RewriterBase &rewriter, NodeOp first, NodeOp second, Refusal &no) {
  if (first != second && first->getBlock() == second->getBlock() && second->isBeforeInBlock(first))
    std::swap(first, second);
  if (failed(checkIndependent(first, second, no)))
    return failure();
  FailureOr<SmallVector<NamedAttribute>> hints = mergeHints(first, second, no);
  if (failed(hints) || failed(graph::gather(rewriter, {first, second}, no)))
    return failure();
  NodeParts parts(rewriter.getFusedLoc({first.getLoc(), second.getLoc()}),
                  uniqueName(second->getBlock(), jointName(first, second)));
  parts.grid = SmallVector<Value>(second.getGrid());
  parts.hints = *hints;
  NodeOp nodes[] = {first, second};
  SmallVector<unsigned> positions[2];
  for (auto [node, position] : llvm::zip(nodes, positions)) {
    for (unsigned i = 0; i < node.getInputs().size(); ++i)
      position.push_back(parts.addInput(node.getInputs()[i], node.getPort(i)));
    for (unsigned r = 0; r < node.getNumYields(); ++r)
      parts.addOutput(node.getResult(r).getType(), node.getYield(r));
  }
  rewriter.setInsertionPoint(second);
  NodeOp fused = parts.build(rewriter);
  rewriter.setInsertionPointToEnd(fused.getBodyBlock());
  SmallVector<Value> yielded;
  for (auto [node, position] : llvm::zip(nodes, positions)) {
    IRMapping map;
    map.map(node.getIds(), fused.getIds());
    for (auto [i, at] : llvm::enumerate(position))
      map.map(node.getInputArgs()[i], fused.getInputArgs()[at]);
    yielded.append(cloneBody(rewriter, node, map));
  }
  finish(rewriter, fused, yielded);
  unsigned next = 0;
  for (auto [node, position] : llvm::zip(nodes, positions)) {
    SmallVector<Value> results(fused.getResults().slice(next, node.getNumYields()));
    next += node.getNumYields();
    for (unsigned i = 0; i < node.getInputs().size(); ++i)
      if (node.getPort(i).isWritable())
        results.push_back(fused.getPortResult(position[i]));
    rewriter.replaceOp(node, results);
  }
  return fused;
}

namespace tessera::graph {
#define GEN_PASS_DEF_FUSESIBLINGSPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct FuseSiblingsPass : graph::impl::FuseSiblingsPassBase<FuseSiblingsPass> {
  using FuseSiblingsPassBase::FuseSiblingsPassBase;

  // Without names: any two nodes that read a common input.
  bool fuseOne(IRRewriter &rewriter) {
    return getOperation()
        .walk([&](NodeOp a) {
          for (Value input : a.getInputs())
            for (Operation *user : input.getUsers()) {
              auto b = dyn_cast<NodeOp>(user);
              Refusal no;
              if (b && b != a && isa<RankedTensorType>(input.getType()) &&
                  succeeded(fuseSiblings(rewriter, a, b, no)))
                return WalkResult::interrupt();
            }
          return WalkResult::advance();
        })
        .wasInterrupted();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (first.empty() && second.empty()) {
      while (fuseOne(rewriter))
        ;
      return;
    }
    NodeOp a, b;
    getOperation().walk([&](NodeOp node) {
      if (node.getName() == first)
        a = node;
      if (node.getName() == second)
        b = node;
    });
    Refusal no;
    if (a && b && failed(fuseSiblings(rewriter, a, b, no))) {
      (void)no.emit();
      signalPassFailure();
    }
  }
};
} // namespace
