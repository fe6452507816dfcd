// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Removes hierarchy that is not replicated: internal nodes without a grid and calls are inlined into their
// parents.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

// What an internal node allows or demands holds for each of its children.
static LogicalResult checkHintsPushable(NodeOp outer, Refusal &no) {
  if (outer.getVersions())
    return no(outer, "cannot flatten '" + outer.getName() + "': it is placed already",
              "transform the graph before placement");
  if (outer.getQuality())
    return no(outer,
              "cannot flatten '" + outer.getName() + "': its quality demand is for its results as a whole",
              "put a demand on the nodes inside instead");
  if (!outer.getTargets())
    return success();
  for (Operation &op : *outer.getBodyBlock()) {
    if (isa<CallOp>(op))
      return no(&op, "cannot flatten '" + outer.getName() + "': its targets cannot be passed on to a call",
                "flatten the call first");
    auto child = dyn_cast<NodeOp>(op);
    if (child && child.getTargets() && llvm::none_of(*child.getTargets(), [&](Attribute t) {
          return llvm::is_contained(*outer.getTargets(), t);
        }))
      return no(child,
                "cannot flatten '" + outer.getName() + "': its targets and those of '" + child.getName() +
                    "' have none in common",
                "allow one target for both");
  }
  return success();
}

static void pushHints(NodeOp outer, NodeOp child) {
  if (outer.getTargets()) {
    SmallVector<Attribute> both;
    for (Attribute target : outer.getTargetsAttr())
      if (!child.getTargets() || llvm::is_contained(*child.getTargets(), target))
        both.push_back(target);
    child.setTargetsAttr(ArrayAttr::get(child.getContext(), both));
  }
  StringAttr mine = child.getCriticalityAttr(), theirs = outer.getCriticalityAttr();
  if (theirs && (!mine || mine == "base" || theirs == "critical"))
    child.setCriticalityAttr(theirs);
}

static FailureOr<SmallVector<Value>> portResultsAfterFlatten(NodeOp node, Refusal &no) {
  SmallVector<Value> results;
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    if (!node.getPort(i).isWritable())
      continue;
    Value end = endOfChain(node.getInputArgs()[i]);
    if (!end)
      return no(node,
                "cannot flatten '" + node.getName() + "': a call inside keeps the memory of port " + Twine(i),
                "return the memref from the graph that is called");
    results.push_back(end == node.getInputArgs()[i] ? node.getInputs()[i] : end);
  }
  return results;
}

// dfg.node @outer (%a = %x) { %1 = dfg.node @inner (… = %a) …; dfg.yield %1 }  →  %1 = dfg.node @outer.inner
// (… = %x) …
FailureOr<SmallVector<Operation *>> graph::flattenNode(RewriterBase &rewriter, NodeOp node, Refusal &no) {
  if (!node.isInternal())
    return no(node, "cannot flatten '" + node.getName() + "': it is a leaf", "name an internal node");
  if (node.getRank())
    return no(node, "cannot flatten '" + node.getName() + "': it is replicated over a grid",
              "sequentialise its leaves, or keep the group");
  if (failed(checkHintsPushable(node, no)))
    return failure();
  FailureOr<SmallVector<Value>> ports = portResultsAfterFlatten(node, no);
  if (failed(ports))
    return failure();
  std::string prefix = (node.getName() + ".").str();
  IntegerAttr depth = node.getDepthAttr();
  SmallVector<Operation *> children;
  for (Operation &op : *node.getBodyBlock()) {
    if (auto child = dyn_cast<NodeOp>(op)) {
      rewriter.modifyOpInPlace(child, [&] {
        child.setName(uniqueName(node->getBlock(), prefix + child.getName()));
        pushHints(node, child);
        bool leaves = llvm::any_of(child->getUsers(), [](Operation *user) { return isa<YieldOp>(user); });
        if (depth && leaves && !child.getDepth())
          child.setDepthAttr(depth);
      });
    }
    if (isa<NodeOp, CallOp>(op))
      children.push_back(&op);
  }
  YieldOp yield = node.getYieldOp();
  rewriter.inlineBlockBefore(node.getBodyBlock(), node, node.getInputs());
  SmallVector<Value> results(yield.getValues());
  results.append(*ports);
  rewriter.eraseOp(yield);
  rewriter.replaceOp(node, results);
  return children;
}

// %y = dfg.call @sub(%x)  →  the body of @sub with its names prefixed
FailureOr<SmallVector<Operation *>> graph::flattenCall(RewriterBase &rewriter, CallOp call, Refusal &no) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<GraphOp>(call, call.getCalleeAttr());
  if (!callee)
    return no(call, "cannot flatten the call: there is no graph '" + call.getCallee() + "'", "define it");
  if (callee->isProperAncestor(call))
    return no(call, "cannot flatten the call: graph '" + call.getCallee() + "' calls itself",
              "a graph may not reach itself through calls");
  bool stateful = !callee.getBodyBlock()->getOps<StateOp>().empty();
  if (stateful && !isa<GraphOp>(call->getParentOp()))
    return no(call,
              "cannot flatten the call: graph '" + call.getCallee() +
                  "' keeps a state, which stands in a graph only",
              "flatten the internal node around the call first");
  IRMapping map;
  map.map(callee.getBody().getArguments(), call.getInputs());
  rewriter.setInsertionPoint(call);
  SmallVector<Operation *> copies;
  for (Operation &op : callee.getBodyBlock()->without_terminator()) {
    Operation *copy = rewriter.clone(op, map);
    copy->walk([&](NodeOp node) {
      std::string old = node.getName().str();
      node.setName("");
      node.setName(uniqueName(call->getBlock(), call.getCallee() + "." + old));
    });
    if (isa<NodeOp, CallOp>(copy))
      copies.push_back(copy);
  }
  SmallVector<Value> results;
  for (Value value : callee.getBodyBlock()->getTerminator()->getOperands())
    results.push_back(map.lookupOrDefault(value));
  rewriter.replaceOp(call, results);
  return copies;
}

LogicalResult graph::flattenAll(RewriterBase &rewriter, Operation *root, Refusal &no) {
  while (true) {
    // From outside in, but calls before an internal node that passes its targets on: a call has none.
    Operation *next = nullptr;
    root->walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto node = dyn_cast<NodeOp>(op);
      if (!isa<CallOp>(op) && !(node && node.isInternal() && !node.getRank()))
        return WalkResult::advance();
      next = op;
      if (node && node.getTargets())
        for (CallOp call : node.getBodyBlock()->getOps<CallOp>())
          next = call;
      return WalkResult::interrupt();
    });
    if (!next)
      return success();
    auto call = dyn_cast<CallOp>(next);
    if (failed(call ? flattenCall(rewriter, call, no) : flattenNode(rewriter, cast<NodeOp>(next), no)))
      return failure();
  }
}

namespace tessera::graph {
#define GEN_PASS_DEF_FLATTENPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct FlattenPass : graph::impl::FlattenPassBase<FlattenPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    Refusal no;
    if (failed(flattenAll(rewriter, getOperation(), no))) {
      (void)no.emit();
      return signalPassFailure();
    }
    for (GraphOp graph : llvm::make_early_inc_range(getOperation().getOps<GraphOp>()))
      if (graph.getSymVisibility() == "private" && SymbolTable::symbolKnownUseEmpty(graph, getOperation()))
        rewriter.eraseOp(graph);
  }
};
} // namespace
