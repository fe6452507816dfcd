// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes hierarchy: moves nodes of one graph into a new internal node, or into a graph of their own that is
// called.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

// The nodes and the wiring that leads from one of them to another, in block order.
static SmallVector<Operation *> withInnerWiring(ArrayRef<NodeOp> nodes) {
  llvm::SetVector<Operation *> set;
  for (NodeOp node : nodes)
    set.insert(node);
  auto before = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
  SmallVector<Operation *> sorted(set.begin(), set.end());
  llvm::sort(sorted, before);
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation *op = sorted.front(); op != sorted.back(); op = op->getNextNode()) {
      auto isMember = [&](Operation *other) { return other && set.contains(other); };
      bool from = llvm::any_of(op->getOperands(), [&](Value v) { return isMember(v.getDefiningOp()); });
      if (!set.contains(op) && isWiring(op) && from && llvm::any_of(op->getUsers(), isMember))
        changed |= set.insert(op);
    }
  }
  sorted.assign(set.begin(), set.end());
  llvm::sort(sorted, before);
  return sorted;
}

namespace {
// How the members use one piece of memory that comes from outside.
struct MemoryUse {
  bool read = false, written = false;
  /// The reduction of its accumulations, and whether there are several.
  ReductionAttr reduction;
  bool mixed = false;
};
} // namespace

static PortAttr portFor(Value memref, const llvm::SetVector<Operation *> &members) {
  MemoryUse use;
  unsigned accumulated = 0, uses = 0;
  SmallVector<Value> chain{memref};
  while (!chain.empty()) {
    Value value = chain.pop_back_val();
    for (OpOperand &operand : value.getUses()) {
      if (!members.contains(operand.getOwner()))
        continue;
      ++uses;
      auto node = dyn_cast<NodeOp>(operand.getOwner());
      if (!node) {
        use.read = use.written = true; // a view: what becomes of it is not followed
        continue;
      }
      unsigned input = operand.getOperandNumber() - node.getRank();
      PortAttr port = node.getPort(input);
      if (port.getMode() == PortMode::Acc) {
        use.mixed |= accumulated && use.reduction != port.getReduction();
        use.reduction = port.getReduction();
        ++accumulated;
      }
      use.read |= port.getMode() != PortMode::Out;
      use.written |= port.isWritable();
      if (port.isWritable())
        chain.push_back(node.getPortResult(input));
    }
  }
  MLIRContext *context = memref.getContext();
  if (accumulated == uses && !use.mixed)
    return PortAttr::get(context, PortMode::Acc, use.reduction);
  return graph::getPort(context, !use.written ? PortMode::In : use.read ? PortMode::InOut : PortMode::Out);
}

// %1 = dfg.node @a (…); %2 = dfg.node @b (… %1)  →  %2 = dfg.node @name (…) { @a; @b; dfg.yield }
FailureOr<NodeOp> graph::outlineNodes(RewriterBase &rewriter, ArrayRef<NodeOp> nodes, StringRef name,
                                      Refusal &no) {
  NodeOp first = nodes.front();
  for (NodeOp node : nodes)
    if (node->getBlock() != first->getBlock())
      return no(node,
                "cannot outline '" + first.getName() + "' and '" + node.getName() +
                    "' together: they stand in different graphs",
                "outline nodes of one graph");
  SmallVector<Operation *> sorted = withInnerWiring(nodes);
  llvm::SetVector<Operation *> members(sorted.begin(), sorted.end());
  if (failed(graph::gather(rewriter, sorted, no)))
    return failure();
  SmallVector<Location> locs;
  for (NodeOp node : nodes)
    locs.push_back(node.getLoc());
  NodeParts parts(rewriter.getFusedLoc(locs), uniqueName(first->getBlock(), name));
  SmallVector<Operation *> constants;
  DenseMap<Value, unsigned> position;
  for (Operation *op : sorted)
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (position.contains(operand) || (def && members.contains(def)))
        continue;
      if (def && def->hasTrait<OpTrait::ConstantLike>()) {
        if (!llvm::is_contained(constants, def))
          constants.push_back(def);
        continue;
      }
      PortAttr port = isa<MemRefType>(operand.getType())
                          ? portFor(operand, members)
                          : graph::getPort(rewriter.getContext(), PortMode::Whole);
      position[operand] = parts.addInput(operand, port);
    }
  SmallVector<Value> yielded;
  auto usedOutside = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) { return !members.contains(user); });
  };
  for (Operation *op : sorted)
    for (Value result : op->getResults())
      if (usedOutside(result) && !isa<MemRefType>(result.getType())) {
        parts.addOutput(result.getType(), getGather(rewriter.getContext()));
        yielded.push_back(result);
      }
  rewriter.setInsertionPointAfter(sorted.back());
  NodeOp outer = parts.build(rewriter);
  Block *body = outer.getBodyBlock();
  for (Operation *op : sorted)
    rewriter.moveOpBefore(op, body, body->end());
  auto inside = [&](OpOperand &use) { return members.contains(use.getOwner()); };
  rewriter.setInsertionPointToStart(body);
  for (Operation *constant : constants)
    rewriter.replaceUsesWithIf(constant->getResult(0), rewriter.clone(*constant)->getResult(0), inside);
  for (auto [value, input] : position)
    rewriter.replaceUsesWithIf(value, outer.getInputArgs()[input], inside);
  for (auto [value, result] : llvm::zip(yielded, outer.getResults()))
    rewriter.replaceUsesWithIf(value, result, [&](OpOperand &use) { return !inside(use); });
  for (unsigned i = 0; i < outer.getInputs().size(); ++i)
    if (outer.getPort(i).isWritable())
      if (Value end = endOfChain(outer.getInputArgs()[i]))
        rewriter.replaceUsesWithIf(end, outer.getPortResult(i), [&](OpOperand &use) { return !inside(use); });
  finish(rewriter, outer, yielded);
  return outer;
}

// dfg.node @name (%a = %x) {…}  →  dfg.graph private @name(%a) {…}, dfg.call @name(%x)
FailureOr<CallOp> graph::outlineGraph(RewriterBase &rewriter, ArrayRef<NodeOp> nodes, StringRef name,
                                      Refusal &no) {
  auto parent = nodes.front()->getParentOfType<GraphOp>();
  Operation *table = SymbolTable::getNearestSymbolTable(parent->getParentOp());
  if (table && SymbolTable::lookupSymbolIn(table, name))
    return no(nodes.front(), "cannot outline into graph '" + name + "': the name is taken",
              "choose another name");
  // A call takes memory over and gives it back as a result; that cannot be followed through views.
  for (NodeOp node : nodes)
    for (Value input : node.getInputs())
      if (isa<MemRefType>(input.getType()) &&
          (input.getDefiningOp<ViewLikeOpInterface>() ||
           llvm::any_of(input.getUsers(), [](Operation *user) { return isa<ViewLikeOpInterface>(user); })))
        return no(node,
                  "cannot outline '" + node.getName() +
                      "' into a graph: it uses memory of which there is a view",
                  "outline it into an internal node instead");
  for (NodeOp node : nodes)
    for (Value input : node.getInputs()) {
      auto arg =
          isa<MemRefType>(input.getType()) ? dyn_cast<BlockArgument>(memoryRoot(input)) : BlockArgument();
      auto around = arg ? dyn_cast<NodeOp>(arg.getOwner()->getParentOp()) : NodeOp();
      if (around && around.getPort(arg.getArgNumber() - around.getRank()).getMode() != PortMode::InOut)
        return no(node,
                  "cannot outline '" + node.getName() +
                      "' into a graph: a call may read and write its memory, and '" + around.getName() +
                      "' around it may not",
                  "outline it into an internal node instead");
    }
  FailureOr<NodeOp> outer = outlineNodes(rewriter, nodes, name, no);
  if (failed(outer))
    return failure();
  SmallVector<Value> returned(outer->getYieldOp().getValues());
  for (unsigned i = 0; i < outer->getInputs().size(); ++i)
    if (outer->getPort(i).isWritable())
      returned.push_back(endOfChain(outer->getInputArgs()[i]));
  unsigned written = returned.size();
  SmallVector<Value> onlyRead;
  for (unsigned i = 0; i < outer->getInputs().size(); ++i)
    if (outer->getPort(i).getMode() == PortMode::In) {
      onlyRead.push_back(outer->getInputs()[i]);
      returned.push_back(outer->getInputArgs()[i]);
    }
  SmallVector<Attribute> argNames, resultNames;
  for (unsigned i = 0; i < outer->getInputs().size(); ++i)
    argNames.push_back(rewriter.getStringAttr("in" + Twine(i)));
  for (unsigned i = 0; i < returned.size(); ++i)
    resultNames.push_back(rewriter.getStringAttr("out" + Twine(i)));
  rewriter.setInsertionPoint(parent);
  auto type = rewriter.getFunctionType(outer->getInputs().getTypes(), ValueRange(returned).getTypes());
  auto graph = GraphOp::create(rewriter, outer->getLoc(), rewriter.getStringAttr(name), TypeAttr::get(type),
                               rewriter.getArrayAttr(argNames), rewriter.getArrayAttr(resultNames),
                               rewriter.getStringAttr("private"));
  rewriter.inlineRegionBefore(outer->getBody(), graph.getBody(), graph.getBody().end());
  Operation *yield = graph.getBodyBlock()->getTerminator();
  rewriter.setInsertionPoint(yield);
  ReturnOp::create(rewriter, yield->getLoc(), returned);
  rewriter.eraseOp(yield);
  rewriter.setInsertionPoint(*outer);
  auto call = CallOp::create(rewriter, outer->getLoc(), type.getResults(), name, outer->getInputs());
  for (auto [i, memory] : llvm::enumerate(onlyRead))
    rewriter.replaceUsesWithIf(memory, call.getResult(written + i), [&](OpOperand &use) {
      return call->isBeforeInBlock(use.getOwner()) && use.getOwner() != *outer;
    });
  rewriter.replaceOp(*outer, call.getResults().take_front(written));
  return call;
}

namespace tessera::graph {
#define GEN_PASS_DEF_OUTLINEPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct OutlinePass : graph::impl::OutlinePassBase<OutlinePass> {
  using OutlinePassBase::OutlinePassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<NodeOp> set;
    getOperation().walk([&](NodeOp node) {
      if (llvm::is_contained(nodes, node.getName()))
        set.push_back(node);
    });
    if (set.empty())
      return;
    Refusal no;
    if (failed(asGraph ? LogicalResult(outlineGraph(rewriter, set, name, no))
                       : LogicalResult(outlineNodes(rewriter, set, name, no)))) {
      (void)no.emit();
      signalPassFailure();
    }
  }
};
} // namespace
