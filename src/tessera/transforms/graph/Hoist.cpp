// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves work that all instances of a leaf do alike into a node without a grid that does it once. Only dear
// work is worth a node; cheap operations move along when they feed it or follow from it.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

#include "llvm/ADT/SetVector.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

static bool isDear(Operation *op) {
  return op->getName().getDialectNamespace() == "math" || op->getNumRegions() ||
         isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::RemFOp,
             arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
}

// Operations of the body that depend on whole operands and constants only. Where the grid may be empty, what
// could trap must not run at all.
static llvm::SetVector<Operation *> findInvariant(NodeOp leaf) {
  bool mayBeEmpty =
      llvm::any_of(leaf.getGrid(), [](Value extent) { return getConstantIntValue(extent).value_or(0) <= 0; });
  llvm::SetVector<Operation *> invariant;
  auto isInvariant = [&](Value value) {
    if (auto arg = dyn_cast<BlockArgument>(value))
      return arg.getOwner() == leaf.getBodyBlock() && arg.getArgNumber() >= leaf.getRank() &&
             leaf.getPort(arg.getArgNumber() - leaf.getRank()).getMode() == PortMode::Whole;
    return invariant.contains(value.getDefiningOp());
  };
  for (Operation &op : leaf.getBodyBlock()->without_terminator()) {
    if (!isMemoryEffectFree(&op) || (mayBeEmpty && !isSpeculatable(&op)))
      continue;
    bool all = !op.walk([&](Operation *inner) {
                    for (Value operand : inner->getOperands()) {
                      Operation *def = operand.getDefiningOp();
                      Block *block = operand.getParentBlock();
                      bool local = op.isAncestor(def ? def : block->getParentOp()) && def != &op;
                      if (!local && !isInvariant(operand))
                        return WalkResult::interrupt();
                    }
                    return isa<ScratchOp, BarrierOp, AccumulateOp>(inner) ? WalkResult::interrupt()
                                                                          : WalkResult::advance();
                  }).wasInterrupted();
    if (all)
      invariant.insert(&op);
  }
  return invariant;
}

// The dear ones, what feeds them, and what follows from them alone.
static llvm::SetVector<Operation *> chooseHoisted(NodeOp leaf,
                                                  const llvm::SetVector<Operation *> &invariant) {
  llvm::SmallPtrSet<Operation *, 16> chosen;
  for (Operation *op : llvm::reverse(invariant)) {
    bool feeds = llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *top = leaf.getBodyBlock()->findAncestorOpInBlock(*user);
      return top && chosen.contains(top);
    });
    if (isDear(op) || feeds)
      chosen.insert(op);
  }
  llvm::SetVector<Operation *> hoisted;
  for (Operation *op : invariant) {
    bool follows = !op->getOperands().empty() && llvm::all_of(op->getOperands(), [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return !def || def->hasTrait<OpTrait::ConstantLike>() || hoisted.contains(def);
    }) && llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return def && !def->hasTrait<OpTrait::ConstantLike>() && hoisted.contains(def);
    });
    if (!chosen.contains(op) && !follows)
      continue;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        hoisted.insert(def); // constants; everything else is there already
    hoisted.insert(op);
  }
  return hoisted;
}

// @f grid(%n) (%a = %x, each %e = %y) { %r = math.exp %a; … %r … }
//   →  %r = @f_invariant (%a = %x) { yield math.exp %a }; @f grid(%n) (%r, each %e = %y) {…}
FailureOr<HoistedNode> graph::hoistInvariant(RewriterBase &rewriter, NodeOp node, Refusal &no) {
  if (failed(checkLeaf(node, "hoist from", no)))
    return failure();
  std::string cannot = ("cannot hoist from '" + node.getName() + "': ").str();
  if (!node.getRank())
    return no(node, cannot + "it has one instance only", "name a replicated leaf");
  llvm::SetVector<Operation *> hoisted = chooseHoisted(node, findInvariant(node));
  // Constants are cheaper to keep than to pass.
  SmallVector<Value> frontier;
  for (Operation *op : hoisted)
    if (!op->hasTrait<OpTrait::ConstantLike>() && !isa<ExtentOp>(op))
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              Operation *top = node.getBodyBlock()->findAncestorOpInBlock(*user);
              return !hoisted.contains(top);
            }))
          frontier.push_back(result);
  if (frontier.empty())
    return no(node, cannot + "no dear operation is the same in all instances", "leave it as it is");

  MLIRContext *context = node.getContext();
  NodeParts parts(node.getLoc(), uniqueName(node->getBlock(), node.getName() + "_invariant"));
  for (NamedAttribute hint : NodeParts(node).hints)
    if (hint.getName() != "cost" && SharedNotes::schedules != hint.getName())
      parts.hints.push_back(hint);
  SmallVector<unsigned> position(node.getInputs().size(), ~0u);
  Capture capture(parts);
  for (Operation *op : hoisted)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto arg = dyn_cast<BlockArgument>(operand); arg && arg.getOwner() == node.getBodyBlock()) {
          unsigned input = arg.getArgNumber() - node.getRank();
          position[input] = parts.addWhole(node.getInputs()[input]);
        }
      if (auto extent = dyn_cast<ExtentOp>(inner))
        capture.need(node.getGrid()[extent.getDim()]);
    });
  for (Value value : frontier)
    parts.addOutput(value.getType(), getGather(context));
  rewriter.setInsertionPoint(node);
  HoistedNode result;
  result.invariant = parts.build(rewriter);
  rewriter.setInsertionPointToEnd(result.invariant.getBodyBlock());
  IRMapping map;
  for (auto [i, at] : llvm::enumerate(position))
    if (at != ~0u)
      map.map(node.getInputArgs()[i], result.invariant.getInputArgs()[at]);
  for (Operation *op : hoisted) {
    if (auto extent = dyn_cast<ExtentOp>(op)) {
      map.map(extent.getResult(), capture.get(rewriter, result.invariant, node.getGrid()[extent.getDim()]));
      continue;
    }
    Operation *copy = rewriter.clone(*op, map);
    copy->walk([&](ExtentOp inner) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(inner);
      rewriter.replaceOp(inner, capture.get(rewriter, result.invariant, node.getGrid()[inner.getDim()]));
    });
  }
  SmallVector<Value> yielded;
  for (Value value : frontier)
    yielded.push_back(map.lookup(value));
  finish(rewriter, result.invariant, yielded);

  NodeParts rest(node);
  SmallVector<unsigned> arrives;
  for (Value value : result.invariant.getResults())
    arrives.push_back(rest.addWhole(value));
  rewriter.setInsertionPoint(node);
  result.node = rest.build(rewriter);
  rewriter.setInsertionPointToEnd(result.node.getBodyBlock());
  IRMapping restMap;
  restMap.map(node.getIds(), result.node.getIds());
  for (auto [i, arg] : llvm::enumerate(node.getInputArgs()))
    restMap.map(arg, result.node.getInputArgs()[i]);
  for (Operation &op : node.getBodyBlock()->without_terminator()) {
    bool keep = !hoisted.contains(&op) || op.hasTrait<OpTrait::ConstantLike>() || isa<ExtentOp>(op);
    if (keep)
      rewriter.clone(op, restMap);
    for (auto [value, at] : llvm::zip(frontier, arrives))
      if (value.getDefiningOp() == &op)
        restMap.map(value, result.node.getInputArgs()[at]);
  }
  SmallVector<Value> left;
  for (Value value : node.getYieldOp().getValues())
    left.push_back(restMap.lookupOrDefault(value));
  finish(rewriter, result.node, left);
  llvm::BitVector dead(result.node.getInputs().size());
  for (unsigned i = 0; i < dead.size(); ++i)
    if (!result.node.getPort(i).isWritable() && result.node.getInputArgs()[i].use_empty())
      dead.set(i);
  eraseInputs(rewriter, result.node, dead);
  rewriter.replaceOp(node, result.node.getResults());
  return result;
}

namespace tessera::graph {
#define GEN_PASS_DEF_HOISTPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct HoistPass : graph::impl::HoistPassBase<HoistPass> {
  using HoistPassBase::HoistPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(forNamedNodes(getOperation(), node, [&](NodeOp op, Refusal &no) {
          return LogicalResult(hoistInvariant(rewriter, op, no));
        })))
      signalPassFailure();
  }
};
} // namespace
