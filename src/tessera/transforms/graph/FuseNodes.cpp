// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fuses a producer into its consumer: through `each` edges between equal grids for free, through whole
// tensors by computing an element again wherever the consumer reads one.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

namespace {
// One operand of the consumer that is a result of the producer.
struct Edge {
  unsigned input, result;
  // The instance reads only its own element.
  bool direct;
};
} // namespace

static std::string pairName(StringRef verb, NodeOp producer, NodeOp consumer) {
  return ("cannot " + verb + " '" + producer.getName() + "' into '" + consumer.getName() + "': ").str();
}

static FailureOr<SmallVector<Edge>> findEdges(NodeOp producer, NodeOp consumer, Refusal &no) {
  std::string cannot = pairName("fuse", producer, consumer);
  if (producer == consumer)
    return no(consumer, cannot + "they are one node", "name two nodes");
  if (producer->getBlock() != consumer->getBlock())
    return no(consumer, cannot + "they stand in different graphs", "flatten or outline first");
  if (failed(checkLeaf(producer, "fuse", no)) || failed(checkLeaf(consumer, "fuse", no)))
    return failure();
  bool equal = sameGrid(producer, consumer);
  SmallVector<Edge> edges;
  for (unsigned i = 0; i < consumer.getInputs().size(); ++i) {
    if (consumer.getInputs()[i].getDefiningOp() != producer)
      continue;
    unsigned result = cast<OpResult>(consumer.getInputs()[i]).getResultNumber();
    if (result >= producer.getNumYields())
      return no(consumer,
                cannot + "the edge between them is memory, which one instance writes and another may read",
                "pass a tensor instead");
    if (producer.getYield(result).getMode() != ResultMode::Gather)
      return no(consumer,
                cannot + "result " + Twine(result) + " of '" + producer.getName() + "' is a " +
                    stringifyResultMode(producer.getYield(result).getMode()) +
                    " over its grid, known only when all instances have run",
                "fuse what follows with another node");
    bool each = consumer.getPort(i).getMode() == PortMode::Each;
    if (each && !equal)
      return no(consumer, cannot + "their grids are not certainly equal", "give both the same extents");
    edges.push_back({i, result, equal && (each || !producer.getRank())});
  }
  for (Value extent : consumer.getGrid())
    if (extent.getDefiningOp() == producer)
      return no(consumer, cannot + "it computes the extents of the consumer's grid", "keep them apart");
  if (edges.empty())
    return no(consumer, cannot + "there is no edge between them",
              "use 'fuse_siblings' for independent nodes");
  return edges;
}

//===----------------------------------------------------------------------===//
// Equal grids
//===----------------------------------------------------------------------===//

// %s = @p grid(G) … {…; yield %v}; %t = @c grid(G) (each %e = %s) {…}  →  %t = @p_c grid(G) {…; … with %v for
// %e}
static FailureOr<NodeOp> fuseDirect(RewriterBase &rewriter, NodeOp producer, NodeOp consumer,
                                    ArrayRef<Edge> edges, Refusal &no) {
  std::string cannot = pairName("fuse", producer, consumer);
  if (conflictInMemory(producer, consumer))
    return no(consumer, cannot + "both use the same memory and one of them writes it", "keep them apart");
  FailureOr<SmallVector<NamedAttribute>> hints = mergeHints(producer, consumer, no);
  if (failed(hints) || failed(graph::gather(rewriter, {producer, consumer}, no)))
    return failure();

  NodeParts parts(rewriter.getFusedLoc({producer.getLoc(), consumer.getLoc()}),
                  uniqueName(consumer->getBlock(), jointName(producer, consumer)));
  parts.grid = SmallVector<Value>(consumer.getGrid());
  parts.hints = *hints;
  SmallVector<unsigned> fromProducer, fromConsumer(consumer.getInputs().size(), ~0u);
  for (unsigned i = 0; i < producer.getInputs().size(); ++i)
    fromProducer.push_back(parts.addInput(producer.getInputs()[i], producer.getPort(i)));
  auto edgeOf = [&](unsigned input) {
    return llvm::find_if(edges, [&](const Edge &edge) { return edge.input == input; });
  };
  for (unsigned i = 0; i < consumer.getInputs().size(); ++i)
    if (edgeOf(i) == edges.end())
      fromConsumer[i] = parts.addInput(consumer.getInputs()[i], consumer.getPort(i));
  for (unsigned r = 0; r < consumer.getNumYields(); ++r)
    parts.addOutput(consumer.getResult(r).getType(), consumer.getYield(r));
  SmallVector<unsigned> kept;
  for (unsigned r = 0; r < producer.getNumYields(); ++r)
    if (llvm::any_of(producer.getResult(r).getUsers(), [&](Operation *user) { return user != consumer; })) {
      parts.addOutput(producer.getResult(r).getType(), producer.getYield(r));
      kept.push_back(r);
    }

  rewriter.setInsertionPoint(consumer);
  NodeOp fused = parts.build(rewriter);
  SmallVector<Value> args(fused.getIds());
  for (unsigned position : fromProducer)
    args.push_back(fused.getInputArgs()[position]);
  SmallVector<Value> produced = moveBody(rewriter, producer, fused, args);
  args.truncate(fused.getRank());
  for (auto [i, position] : llvm::enumerate(fromConsumer))
    args.push_back(position == ~0u ? produced[edgeOf(i)->result] : Value(fused.getInputArgs()[position]));
  SmallVector<Value> yielded = moveBody(rewriter, consumer, fused, args);
  for (unsigned r : kept)
    yielded.push_back(produced[r]);
  finish(rewriter, fused, yielded);

  SmallVector<Value> results(fused.getResults().take_front(consumer.getNumYields()));
  for (unsigned i = 0; i < consumer.getInputs().size(); ++i)
    if (consumer.getPort(i).isWritable())
      results.push_back(fused.getPortResult(fromConsumer[i]));
  rewriter.replaceOp(consumer, results);
  for (auto [position, r] : llvm::enumerate(kept))
    rewriter.replaceAllUsesWith(producer.getResult(r),
                                fused.getResult(yielded.size() - kept.size() + position));
  for (unsigned i = 0; i < producer.getInputs().size(); ++i)
    if (producer.getPort(i).isWritable())
      rewriter.replaceAllUsesWith(producer.getPortResult(i), fused.getPortResult(fromProducer[i]));
  rewriter.eraseOp(producer);
  return fused;
}

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

// How often one instance executes an operation of its body.
static double executions(Operation *op, NodeOp leaf) {
  double times = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop && leaf->isAncestor(loop);
       loop = loop->getParentOfType<scf::ForOp>())
    times *= tripCount(loop);
  return times;
}

static FailureOr<double> recomputeCost(NodeOp producer, NodeOp consumer, ArrayRef<Edge> edges, Refusal &no) {
  std::string cannot = pairName("recompute", producer, consumer);
  WalkResult effects = producer.getBody().walk([&](Operation *op) {
    bool harmless = isa<YieldOp>(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                    isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op);
    return harmless ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (effects.wasInterrupted())
    return no(producer, cannot + "its body writes or allocates memory", "yield its values instead");
  double evaluations = 0;
  bool once = false;
  for (const Edge &edge : edges) {
    if (edge.direct || !producer.getRank()) {
      once = true;
      continue;
    }
    BlockArgument arg = consumer.getInputArgs()[edge.input];
    for (Operation *user : arg.getUsers()) {
      if (isa<tensor::DimOp>(user))
        continue;
      if (!isa<tensor::ExtractOp>(user))
        return no(user,
                  cannot + "its result is read by '" + user->getName().getStringRef() +
                      "', not element by element",
                  "read it with 'tensor.extract'");
      evaluations += executions(user, consumer);
    }
  }
  return (evaluations + once) * bodyCost(producer.getBodyBlock());
}

FailureOr<double> graph::recomputeCost(NodeOp producer, NodeOp consumer, Refusal &no) {
  FailureOr<SmallVector<Edge>> edges = findEdges(producer, consumer, no);
  if (failed(edges))
    return failure();
  return ::recomputeCost(producer, consumer, *edges, no);
}

// %s = @p grid(G) … {…; yield %v}; %t = @c (%x = %s) { tensor.extract %x[%a, %b] }
//   →  %t = @c (…) { the body of @p with (%a, %b) for its ids }
static FailureOr<NodeOp> fuseRecompute(RewriterBase &rewriter, NodeOp producer, NodeOp consumer,
                                       ArrayRef<Edge> edges, const FuseOptions &options, Refusal &no) {
  FailureOr<double> cost = recomputeCost(producer, consumer, edges, no);
  if (failed(cost))
    return failure();
  std::string cannot = pairName("recompute", producer, consumer);
  if (*cost > options.maxRecompute)
    return no(consumer,
              cannot + "it would add " + Twine(int64_t(*cost)) + " operations to each instance, more than " +
                  Twine(int64_t(options.maxRecompute)),
              "raise 'max_cost', or keep the nodes apart");
  FailureOr<SmallVector<NamedAttribute>> hints = mergeHints(producer, consumer, no);
  if (failed(hints))
    return failure();
  // The producer's memory is now read where the consumer stands: nobody may write it in between.
  for (Value input : producer.getInputs())
    if (isa<MemRefType>(input.getType()))
      for (OpOperand &use : input.getUses())
        if (consumes(use) && use.getOwner()->getBlock() == consumer->getBlock() &&
            producer->isBeforeInBlock(use.getOwner()) &&
            (use.getOwner() == consumer || use.getOwner()->isBeforeInBlock(consumer)))
          return no(use.getOwner(), cannot + "memory that it reads is written before the consumer runs",
                    "keep them apart");

  // Does an indexed or a direct copy of the body need the operand?
  bool direct = llvm::any_of(edges, [](const Edge &edge) { return edge.direct; });
  NodeParts parts(consumer);
  parts.loc = rewriter.getFusedLoc({producer.getLoc(), consumer.getLoc()});
  parts.hints = *hints;
  // Every consumer operand keeps its place until its readers are gone.
  MLIRContext *context = rewriter.getContext();
  SmallVector<unsigned> eachAt(producer.getInputs().size()), wholeAt(producer.getInputs().size());
  for (unsigned i = 0; i < producer.getInputs().size(); ++i) {
    Value value = producer.getInputs()[i];
    PortAttr port = producer.getPort(i);
    bool each = port.getMode() == PortMode::Each;
    if (!each || direct)
      eachAt[i] = parts.addInput(value, port);
    wholeAt[i] = each ? parts.addInput(value, graph::getPort(context, PortMode::Whole)) : eachAt[i];
  }
  // An extent that both grids share is the fused node's own; others are passed in.
  auto shared = [&](unsigned dim) {
    return dim < consumer.getRank() && sameExtent(producer.getGrid()[dim], consumer.getGrid()[dim]);
  };
  Capture capture(parts);
  for (unsigned dim = 0; dim < producer.getRank(); ++dim)
    if (!shared(dim))
      capture.need(producer.getGrid()[dim]);
  rewriter.setInsertionPoint(consumer);
  NodeOp fused = parts.build(rewriter);
  rewriter.setInsertionPointToEnd(fused.getBodyBlock());
  IRMapping map;
  map.map(consumer.getIds(), fused.getIds());
  for (auto [from, to] : llvm::zip(consumer.getInputArgs(), fused.getInputArgs()))
    map.map(from, to);
  SmallVector<Value> yielded = cloneBody(rewriter, consumer, map);
  finish(rewriter, fused, yielded);

  auto extents = [&](OpBuilder &b, unsigned dim) -> Value {
    if (shared(dim))
      return ExtentOp::create(b, producer.getLoc(), b.getIndexType(), b.getI64IntegerAttr(dim));
    return capture.get(b, fused, producer.getGrid()[dim]);
  };
  auto copyAt = [&](ValueRange ids, ArrayRef<unsigned> positions, bool indexed) {
    IRMapping inner;
    inner.map(producer.getIds(), ids);
    for (unsigned i = 0; i < producer.getInputs().size(); ++i) {
      Value arg = fused.getInputArgs()[positions[i]];
      if (indexed && producer.getPort(i).getMode() == PortMode::Each)
        arg = elementAt(rewriter, producer.getLoc(), arg, ids);
      inner.map(producer.getInputArgs()[i], arg);
    }
    return cloneBody(rewriter, producer, inner, extents);
  };
  SmallVector<Value> here;
  llvm::BitVector dead(fused.getInputs().size());
  for (const Edge &edge : edges) {
    BlockArgument arg = fused.getInputArgs()[edge.input];
    dead.set(edge.input);
    if (edge.direct || !producer.getRank()) {
      if (here.empty()) {
        rewriter.setInsertionPointToStart(fused.getBodyBlock());
        here = copyAt(edge.direct ? ValueRange(fused.getIds()) : ValueRange(), edge.direct ? eachAt : wholeAt,
                      false);
      }
      rewriter.replaceAllUsesWith(arg, here[edge.result]);
      continue;
    }
    for (Operation *user : llvm::make_early_inc_range(arg.getUsers())) {
      auto extract = dyn_cast<tensor::ExtractOp>(user);
      if (!extract)
        continue;
      rewriter.setInsertionPoint(user);
      unsigned rank = producer.getRank();
      SmallVector<Value> ids(extract.getIndices().take_front(rank));
      Value value = copyAt(ids, wholeAt, true)[edge.result];
      rewriter.setInsertionPoint(user);
      if (isa<RankedTensorType>(value.getType()))
        value = tensor::ExtractOp::create(rewriter, extract.getLoc(), value,
                                          extract.getIndices().drop_front(rank));
      rewriter.replaceOp(extract, value);
    }
    // An extent of the producer's result is an extent of its grid.
    for (Operation *user : llvm::make_early_inc_range(arg.getUsers())) {
      auto dim = cast<tensor::DimOp>(user);
      std::optional<int64_t> index = dim.getConstantIndex();
      if (!index || *index >= int64_t(producer.getRank())) {
        dead.reset(edge.input);
        continue;
      }
      rewriter.setInsertionPoint(user);
      rewriter.replaceOp(user, extents(rewriter, *index));
    }
  }
  for (unsigned i = 0; i < dead.size(); ++i)
    if (!fused.getPort(i).isWritable() && fused.getInputArgs()[i].use_empty() &&
        i >= consumer.getInputs().size())
      dead.set(i);
  eraseInputs(rewriter, fused, dead);
  rewriter.replaceOp(consumer, fused.getResults());
  if (producer->use_empty())
    rewriter.eraseOp(producer);
  return fused;
}

FailureOr<NodeOp> graph::fuseProducer(RewriterBase &rewriter, NodeOp producer, NodeOp consumer,
                                      const FuseOptions &options, Refusal &no) {
  FailureOr<SmallVector<Edge>> edges = findEdges(producer, consumer, no);
  if (failed(edges))
    return failure();
  if (llvm::all_of(*edges, [](const Edge &edge) { return edge.direct; }))
    return fuseDirect(rewriter, producer, consumer, *edges, no);
  if (!options.recompute)
    return no(consumer,
              pairName("fuse", producer, consumer) + "it reads more than its own element of the result",
              "allow it with 'recompute'");
  return fuseRecompute(rewriter, producer, consumer, *edges, options, no);
}

namespace tessera::graph {
#define GEN_PASS_DEF_FUSENODESPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct FuseNodesPass : graph::impl::FuseNodesPassBase<FuseNodesPass> {
  using FuseNodesPassBase::FuseNodesPassBase;

  // All pairs that fuse without a refusal; each fusion makes one node fewer, so this ends.
  void fuseEverything(IRRewriter &rewriter, const FuseOptions &options) {
    for (bool changed = true; changed;) {
      changed = false;
      getOperation().walk([&](NodeOp consumer) {
        for (Value input : consumer.getInputs()) {
          auto from = input.getDefiningOp<NodeOp>();
          Refusal no;
          if (from && succeeded(fuseProducer(rewriter, from, consumer, options, no))) {
            changed = true;
            return WalkResult::interrupt();
          }
        }
        return WalkResult::advance();
      });
    }
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    FuseOptions options{recompute, maxCost};
    if (producer.empty() && consumer.empty())
      return fuseEverything(rewriter, options);
    NodeOp from, into;
    getOperation().walk([&](NodeOp node) {
      if (node.getName() == producer)
        from = node;
      if (node.getName() == consumer)
        into = node;
    });
    Refusal no;
    if (from && into && failed(fuseProducer(rewriter, from, into, options, no))) {
      (void)no.emit();
      signalPassFailure();
    }
  }
};
} // namespace
