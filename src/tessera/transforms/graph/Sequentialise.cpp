// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns grid dimensions into loops inside the leaf. Gathered results are built by inserting into a tensor,
// reductions and folds are carried around the loops.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

namespace {
// What becomes of one result: which of its dimensions are gathered or reduced by loops and which by the grid.
struct Carried {
  SmallVector<unsigned, 3> gatheredByGrid, gatheredByLoop, reducedByGrid, reducedByLoop;
  Type type; // carried around the loops and yielded
};

struct Sequentialising {
  Sequentialising(RewriterBase &rewriter, NodeOp node) : rewriter(rewriter), node(node) {}

  RewriterBase &rewriter;
  NodeOp node;
  SmallVector<unsigned> kept, loops;
  SmallVector<Carried> carried;

  LogicalResult analyse(Refusal &no);
  ResultAttr newMode(unsigned result) const;
  Value init(NodeOp to, unsigned result, Capture &capture);
  NodeOp build();
  bool loopsInnermost() const { return kept.empty() || kept.back() < loops.front(); }
};
} // namespace

LogicalResult Sequentialising::analyse(Refusal &no) {
  std::string cannot = ("cannot sequentialise '" + node.getName() + "': ").str();
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    ResultAttr yield = node.getYield(r);
    if (yield.getMode() == ResultMode::Tile)
      return no(node, cannot + "result " + Twine(r) + " is made of tiles",
                "sequentialise before unrolling the grid");
    Carried &c = carried.emplace_back();
    for (unsigned d = 0; d < node.getRank(); ++d) {
      bool loop = llvm::is_contained(loops, d);
      (yield.reduces(d) ? loop ? c.reducedByLoop : c.reducedByGrid
       : loop           ? c.gatheredByLoop
                        : c.gatheredByGrid)
          .push_back(d);
    }
    if (yield.getMode() == ResultMode::Fold && !c.reducedByGrid.empty())
      return no(node, cannot + "result " + Twine(r) + " is a fold, which must not be regrouped",
                "sequentialise all the dimensions that it folds");
    if (!c.gatheredByGrid.empty() && !c.gatheredByLoop.empty() &&
        c.gatheredByGrid.back() > c.gatheredByLoop.front())
      return no(node,
                cannot + "result " + Twine(r) + " is gathered over dimension " +
                    Twine(c.gatheredByLoop.front()) + " outside dimension " + Twine(c.gatheredByGrid.back()) +
                    ", which stays in the grid",
                "sequentialise the innermost dimensions");
    Type element = node.getYieldOp().getValues()[r].getType();
    c.type = element;
    if (!c.gatheredByLoop.empty()) {
      auto full = cast<RankedTensorType>(node.getResult(r).getType());
      c.type =
          RankedTensorType::get(full.getShape().drop_front(c.gatheredByGrid.size()), full.getElementType());
    }
    auto carriedTensor = dyn_cast<RankedTensorType>(c.type);
    auto tile = dyn_cast<RankedTensorType>(element);
    if (tile && !tile.hasStaticShape() && carriedTensor)
      return no(node, cannot + "result " + Twine(r) + " is made of tiles of unknown size",
                "give the tiles a static size");
  }
  return success();
}

ResultAttr Sequentialising::newMode(unsigned result) const {
  ResultAttr old = NodeOp(node).getYield(result);
  const Carried &c = carried[result];
  if (c.reducedByGrid.empty())
    return getGather(old.getContext());
  SmallVector<int64_t> dims;
  if (c.reducedByGrid.size() != kept.size())
    for (auto [position, d] : llvm::enumerate(kept))
      if (llvm::is_contained(c.reducedByGrid, d))
        dims.push_back(position);
  return ResultAttr::get(old.getContext(), old.getMode(), old.getReduction(), dims);
}

// The value before the first trip: nothing yet, or the reduction's identity everywhere.
Value Sequentialising::init(NodeOp to, unsigned result, Capture &capture) {
  const Carried &c = carried[result];
  Location loc = node.getLoc();
  auto tensor = dyn_cast<RankedTensorType>(c.type);
  SmallVector<Value> dynamic;
  if (tensor)
    for (auto [position, d] : llvm::enumerate(c.gatheredByLoop))
      if (tensor.isDynamicDim(position))
        dynamic.push_back(capture.get(rewriter, to, node.getGrid()[d]));
  if (c.reducedByLoop.empty())
    return tensor::EmptyOp::create(rewriter, loc, tensor, dynamic);
  Type element = getElementTypeOrSelf(c.type);
  Value identity = arith::ConstantOp::create(
      rewriter, loc, dfg::getIdentity(node.getYield(result).getReduction(), element, node));
  return tensor ? tensor::SplatOp::create(rewriter, loc, tensor, identity, dynamic) : identity;
}

NodeOp Sequentialising::build() {
  MLIRContext *context = node.getContext();
  Location loc = node.getLoc();
  NodeParts parts(node);
  parts.grid.clear();
  for (unsigned d : kept)
    parts.grid.push_back(node.getGrid()[d]);
  llvm::erase_if(parts.hints, [](NamedAttribute hint) { return hint.getName() == "cost"; });
  PortAttr whole = graph::getPort(context, PortMode::Whole);
  for (PortAttr &port : parts.ports)
    if (port.getMode() == PortMode::Each && (kept.empty() || !loopsInnermost()))
      port = whole;
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    parts.yields[r] = newMode(r);
  Capture capture(parts);
  for (unsigned d : loops)
    capture.need(node.getGrid()[d]);
  rewriter.setInsertionPoint(node);
  NodeOp to = parts.build(rewriter);
  rewriter.setInsertionPointToEnd(to.getBodyBlock());

  SmallVector<Value> state;
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    state.push_back(init(to, r, capture));
  Value zero = indexConstant(rewriter, loc, 0), one = indexConstant(rewriter, loc, 1);
  SmallVector<Value> ids(node.getRank());
  for (auto [position, d] : llvm::enumerate(kept))
    ids[d] = to.getIds()[position];
  SmallVector<Value> bounds;
  for (unsigned d : loops)
    bounds.push_back(capture.get(rewriter, to, node.getGrid()[d]));
  SmallVector<scf::ForOp> nest;
  for (auto [d, bound] : llvm::zip(loops, bounds)) {
    auto loop = scf::ForOp::create(rewriter, loc, zero, bound, one, state);
    state.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    ids[d] = loop.getInductionVar();
    nest.push_back(loop);
    rewriter.setInsertionPointToStart(loop.getBody());
  }

  IRMapping map;
  map.map(node.getIds(), ids);
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    Value arg = to.getInputArgs()[i];
    if (node.getPort(i).getMode() == PortMode::Each) {
      bool stays = to.getPort(i).getMode() == PortMode::Each;
      arg = elementAt(rewriter, loc, arg, ArrayRef<Value>(ids).drop_front(stays ? kept.size() : 0));
    }
    map.map(node.getInputArgs()[i], arg);
  }
  auto extents = [&](OpBuilder &b, unsigned d) -> Value {
    if (auto *at = llvm::find(loops, d); at != loops.end())
      return bounds[at - loops.begin()];
    return ExtentOp::create(b, loc, b.getIndexType(),
                            b.getI64IntegerAttr(llvm::find(kept, d) - kept.begin()));
  };
  SmallVector<Value> yielded = cloneBody(rewriter, node, map, extents);
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    const Carried &c = carried[r];
    SmallVector<Value> at;
    for (unsigned d : c.gatheredByLoop)
      at.push_back(ids[d]);
    if (!c.reducedByLoop.empty()) {
      Value before = at.empty() ? state[r] : elementAt(rewriter, loc, state[r], at);
      yielded[r] = buildCombine(rewriter, loc, node.getYield(r).getReduction(), before, yielded[r], node);
    }
    if (!at.empty())
      yielded[r] = insertAt(rewriter, loc, yielded[r], state[r], at);
  }
  for (scf::ForOp loop : llvm::reverse(nest)) {
    if (!yielded.empty()) {
      rewriter.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(rewriter, loc, yielded);
    }
    yielded.assign(loop.getResults().begin(), loop.getResults().end());
  }
  finish(rewriter, to, yielded);
  rewriter.replaceOp(node, to.getResults());
  return to;
}

// @f grid(%n) (each %e = %x) {…; yield %v}  →  @f (%x) { scf.for %i = 0 to %n iter_args(%t) {…; tensor.insert
// %v into %t[%i]} }
FailureOr<NodeOp> graph::sequentialise(RewriterBase &rewriter, NodeOp node, ArrayRef<int64_t> dims,
                                       Refusal &no) {
  if (failed(checkLeaf(node, "sequentialise", no)))
    return failure();
  std::string cannot = ("cannot sequentialise '" + node.getName() + "': ").str();
  if (!node.getRank())
    return no(node, cannot + "it has no grid", "name a replicated leaf");
  if (hasGroupMemory(node))
    return no(node, cannot + "its instances share scratch memory or a barrier", "remove them first");
  for (int64_t dim : dims)
    if (dim < 0 || dim >= int64_t(node.getRank()))
      return no(node,
                cannot + "expected grid dimensions below " + Twine(node.getRank()) + ", but got " +
                    Twine(dim),
                "name dimensions of its grid");
  Sequentialising work(rewriter, node);
  for (unsigned d = 0; d < node.getRank(); ++d)
    (dims.empty() || llvm::is_contained(dims, d) ? work.loops : work.kept).push_back(d);
  if (failed(work.analyse(no)))
    return failure();
  return work.build();
}

namespace tessera::graph {
#define GEN_PASS_DEF_SEQUENTIALISEPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct SequentialisePass : graph::impl::SequentialisePassBase<SequentialisePass> {
  using SequentialisePassBase::SequentialisePassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<int64_t> list(dims.begin(), dims.end());
    if (failed(forNamedNodes(getOperation(), node, [&](NodeOp op, Refusal &no) {
          return LogicalResult(sequentialise(rewriter, op, list, no));
        })))
      signalPassFailure();
  }
};
} // namespace
