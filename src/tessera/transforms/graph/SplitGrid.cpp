// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits a node into two over the lower and the upper part of one grid dimension: for two devices, or to
// treat a border apart. Reductions of the two are combined by a third node; memory is threaded from the first
// to the second.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

static LogicalResult checkSplittable(NodeOp node, unsigned dim, int64_t at, Refusal &no) {
  if (failed(checkLeaf(node, "split", no)))
    return failure();
  std::string cannot = ("cannot split '" + node.getName() + "': ").str();
  if (dim >= node.getRank())
    return no(node,
              cannot + "expected a grid dimension below " + Twine(node.getRank()) + ", but got " + Twine(dim),
              "name a dimension of its grid");
  std::optional<int64_t> extent = getConstantIntValue(node.getGrid()[dim]);
  if (at <= 0 || (extent && at >= *extent))
    return no(node, cannot + "expected a point inside the grid dimension, but got " + Twine(at),
              "choose a point between its first and its last instance");
  if (hasGroupMemory(node))
    return no(node, cannot + "its instances share scratch memory or a barrier", "remove them first");
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    ResultAttr yield = node.getYield(r);
    if (yield.getMode() == ResultMode::Fold)
      return no(node, cannot + "result " + Twine(r) + " is a fold, which must not be regrouped",
                "use 'reduce'");
    if (!yield.reduces(dim))
      return no(node, cannot + "result " + Twine(r) + " is gathered over the dimension",
                "write through a memory port, or tile the grid");
    // A part may be empty, and then nothing would say how large its result is.
    auto tile = dyn_cast<RankedTensorType>(node.getYieldOp().getValues()[r].getType());
    if (tile && !tile.hasStaticShape())
      return no(node, cannot + "result " + Twine(r) + " is made of tiles of unknown size",
                "give the tiles a static size");
  }
  return success();
}

// One half: ids of `dim` are shifted by `offset`; writable ports continue from `earlier`, the first half.
static NodeOp buildHalf(RewriterBase &rewriter, NodeOp node, unsigned dim, Value offset, Value extent,
                        NodeOp earlier, StringRef suffix) {
  Location loc = node.getLoc();
  NodeParts parts(node);
  parts.name = uniqueName(node->getBlock(), node.getName() + suffix);
  parts.grid[dim] = extent;
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    if (earlier && node.getPort(i).isWritable())
      parts.inputs[i] = earlier.getPortResult(i);
    if (node.getPort(i).getMode() != PortMode::Each)
      continue;
    SmallVector<Value> offsets(node.getRank()), sizes(node.getRank());
    offsets[dim] = offset;
    sizes[dim] = extent;
    parts.inputs[i] = sliceLeading(rewriter, loc, parts.inputs[i], offsets, sizes);
  }
  Capture capture(parts);
  capture.need(offset);
  if (asksExtent(node, dim))
    capture.need(node.getGrid()[dim]);
  NodeOp half = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(half.getBodyBlock());
  IRMapping map;
  map.map(node.getIds(), half.getIds());
  for (auto [from, to] : llvm::zip(node.getInputArgs(), half.getInputArgs()))
    map.map(from, to);
  if (earlier) {
    Value shift = capture.get(rewriter, half, offset);
    map.map(node.getIds()[dim], arith::AddIOp::create(rewriter, loc, shift, half.getIds()[dim]).getResult());
  }
  auto extents = [&](OpBuilder &b, unsigned d) {
    return d == dim ? capture.get(b, half, node.getGrid()[dim]) : Value();
  };
  finish(rewriter, half, cloneBody(rewriter, node, map, extents));
  return half;
}

// A node that combines results `which` of the two halves; all have the same gathered dimensions.
static NodeOp buildCombineNode(RewriterBase &rewriter, NodeOp node, NodeOp first, NodeOp second,
                               ArrayRef<unsigned> which) {
  MLIRContext *context = node.getContext();
  NodeParts parts(node.getLoc(), uniqueName(node->getBlock(), node.getName() + "_combine"));
  for (unsigned d = 0; d < node.getRank(); ++d)
    if (!node.getYield(which.front()).reduces(d))
      parts.grid.push_back(node.getGrid()[d]);
  for (NamedAttribute hint : NodeParts(node).hints)
    if (hint.getName() != "cost")
      parts.hints.push_back(hint);
  PortAttr port = graph::getPort(context, parts.grid.empty() ? PortMode::Whole : PortMode::Each);
  for (unsigned r : which) {
    parts.addInput(first.getResult(r), port);
    parts.addInput(second.getResult(r), port);
    parts.addOutput(node.getResult(r).getType(), getGather(context));
  }
  NodeOp combine = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(combine.getBodyBlock());
  SmallVector<Value> yielded;
  for (auto [i, r] : llvm::enumerate(which))
    yielded.push_back(buildCombine(rewriter, node.getLoc(), node.getYield(r).getReduction(),
                                   combine.getInputArgs()[2 * i], combine.getInputArgs()[2 * i + 1], node));
  finish(rewriter, combine, yielded);
  return combine;
}

// %s = @f grid(%n) -> reduce<+>  →  %a = @f_lower grid(at); %b = @f_upper grid(%n - at); %s = @f_combine (%a,
// %b)
FailureOr<SplitNode> graph::splitGrid(RewriterBase &rewriter, NodeOp node, unsigned dim, int64_t at,
                                      Refusal &no) {
  if (failed(checkSplittable(node, dim, at, no)))
    return failure();
  Location loc = node.getLoc();
  rewriter.setInsertionPoint(node);
  Value zero = indexConstant(rewriter, loc, 0), point = indexConstant(rewriter, loc, at);
  // A grid that ends before the point has an empty upper part.
  Value lower = indexMin(rewriter, loc, point, node.getGrid()[dim]);
  Value upper = indexSub(rewriter, loc, node.getGrid()[dim], lower);
  SplitNode split;
  split.first = buildHalf(rewriter, node, dim, zero, lower, NodeOp(), "_lower");
  split.second = buildHalf(rewriter, node, dim, lower, upper, split.first, "_upper");

  SmallVector<Value> results(node->getNumResults());
  SmallVector<unsigned> scalars;
  auto combine = [&](ArrayRef<unsigned> which) {
    NodeOp combined = buildCombineNode(rewriter, node, split.first, split.second, which);
    for (auto [i, r] : llvm::enumerate(which))
      results[r] = combined.getResult(i);
    if (!split.combine)
      split.combine = combined;
  };
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    if (reducesAll(node.getYield(r), node.getRank()))
      scalars.push_back(r);
    else
      combine(r);
  if (!scalars.empty())
    combine(scalars);
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).isWritable())
      results[node.getPortResult(i).getResultNumber()] = split.second.getPortResult(i);
  rewriter.replaceOp(node, results);
  return split;
}

namespace tessera::graph {
#define GEN_PASS_DEF_SPLITGRIDPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct SplitGridPass : graph::impl::SplitGridPassBase<SplitGridPass> {
  using SplitGridPassBase::SplitGridPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(forNamedNodes(getOperation(), node, [&](NodeOp op, Refusal &no) {
          return LogicalResult(splitGrid(rewriter, op, dim, at, no));
        })))
      signalPassFailure();
  }
};
} // namespace
