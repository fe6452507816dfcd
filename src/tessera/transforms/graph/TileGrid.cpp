// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a leaf a group of tiles. The group's grid counts tiles; the leaf inside runs over one tile and
// rebuilds its ids. Tiles that are cut short at the border are possible only when no result is gathered,
// because `tile` lays tiles of one size side by side.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

static LogicalResult checkTileable(NodeOp node, ArrayRef<int64_t> sizes, Refusal &no) {
  if (failed(checkLeaf(node, "tile", no)))
    return failure();
  std::string cannot = ("cannot tile '" + node.getName() + "': ").str();
  if (!node.getRank() || sizes.size() != node.getRank())
    return no(node,
              cannot + "expected " + Twine(node.getRank()) +
                  " tile sizes, one for each grid dimension, but got " + Twine(sizes.size()),
              "use size 0 for a dimension to leave in one piece");
  if (llvm::any_of(sizes, [](int64_t size) { return size < 0; }))
    return no(node, cannot + "expected tile sizes that are not negative",
              "use size 0 to leave a dimension in one piece");
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return no(node, cannot + "all tile sizes are 0", "give a size for at least one dimension");
  if (hasGroupMemory(node))
    return no(node, cannot + "its instances share scratch memory or a barrier", "remove them first");
  bool gathers = false;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    ResultAttr yield = node.getYield(r);
    gathers |= yield.getMode() == ResultMode::Gather;
    if (yield.getMode() == ResultMode::Fold)
      return no(node, cannot + "result " + Twine(r) + " is a fold, which must not be regrouped",
                "use 'reduce'");
    if (yield.getMode() == ResultMode::Tile)
      return no(node, cannot + "result " + Twine(r) + " is made of tiles already",
                "tile before unrolling the grid");
    if (yield.isReduction() && !reducesAll(yield, node.getRank()))
      return no(node, cannot + "result " + Twine(r) + " is reduced over some dimensions only",
                "sequentialise the reduced dimensions first");
  }
  for (auto [d, size] : llvm::enumerate(sizes)) {
    std::optional<int64_t> extent = getConstantIntValue(node.getGrid()[d]);
    if (!gathers || !size || (extent && *extent % size == 0))
      continue;
    if (extent)
      return no(node,
                cannot + "grid dimension " + Twine(d) + " of extent " + Twine(*extent) +
                    " cannot be cut into tiles of " + Twine(size) + " exactly",
                "use a divisor of " + Twine(*extent) + ", or write through a memory port");
    return no(node,
              cannot + "grid dimension " + Twine(d) +
                  " has an unknown extent and results are gathered over it",
              "make the extent static, or write through a memory port");
  }
  return success();
}

namespace {
// The parts of a tiled node while it is built.
struct Tiling {
  Tiling(RewriterBase &rewriter, NodeOp node, ArrayRef<int64_t> sizes)
      : rewriter(rewriter), node(node), sizes(sizes) {}

  RewriterBase &rewriter;
  NodeOp node;
  ArrayRef<int64_t> sizes;
  NodeOp group;
  SmallVector<Value> base, extent; // in the group's body, for each dimension; base is null for an untiled one
  SmallVector<Value> whole;        // the grid's extents inside the group; null where nobody asks

  bool exact(unsigned d) {
    std::optional<int64_t> n = getConstantIntValue(node.getGrid()[d]);
    return n && sizes[d] && *n % sizes[d] == 0;
  }
  void buildGroup();
  void buildExtents();
  NodeOp buildLeaf();
  void yield(NodeOp leaf);
  SmallVector<unsigned> groupInput;
  std::unique_ptr<Capture> capture;
};
} // namespace

void Tiling::buildGroup() {
  MLIRContext *context = node.getContext();
  Location loc = node.getLoc();
  NodeParts parts(loc, uniqueName(node->getBlock(), node.getName() + "_tiles"));
  parts.hints = NodeParts(node).hints;
  llvm::erase_if(parts.hints, [](NamedAttribute hint) { return hint.getName() == "cost"; });
  rewriter.setInsertionPoint(node);
  for (auto [d, size] : llvm::enumerate(sizes))
    parts.grid.push_back(size ? indexCeilDiv(rewriter, loc, node.getGrid()[d], size)
                              : indexConstant(rewriter, loc, 1));
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    bool each = node.getPort(i).getMode() == PortMode::Each;
    groupInput.push_back(parts.addInput(node.getInputs()[i],
                                        each ? graph::getPort(context, PortMode::Whole) : node.getPort(i)));
  }
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    ResultAttr yield = node.getYield(r);
    ResultAttr mode = yield.isReduction()
                          ? ResultAttr::get(context, yield.getMode(), yield.getReduction(), {})
                          : ResultAttr::get(context, ResultMode::Tile, ReductionAttr(), {});
    parts.addOutput(node.getResult(r).getType(), mode);
  }
  capture = std::make_unique<Capture>(parts);
  for (unsigned d = 0; d < node.getRank(); ++d)
    if (!exact(d) || asksExtent(node, d))
      capture->need(node.getGrid()[d]);
  group = parts.build(rewriter);
}

void Tiling::buildExtents() {
  Location loc = node.getLoc();
  rewriter.setInsertionPointToEnd(group.getBodyBlock());
  for (auto [d, size] : llvm::enumerate(sizes)) {
    whole.push_back(!exact(d) || asksExtent(node, d) ? capture->get(rewriter, group, node.getGrid()[d])
                                                     : Value());
    if (!size) {
      base.push_back({});
      extent.push_back(whole[d]);
      continue;
    }
    Value length = indexConstant(rewriter, loc, size);
    base.push_back(arith::MulIOp::create(rewriter, loc, group.getIds()[d], length));
    if (!exact(d)) {
      Value rest = arith::SubIOp::create(rewriter, loc, whole[d], base[d]);
      length = arith::MinSIOp::create(rewriter, loc, length, rest);
    }
    extent.push_back(length);
  }
}

NodeOp Tiling::buildLeaf() {
  Location loc = node.getLoc();
  NodeParts parts(loc, node.getName());
  parts.hints = NodeParts(node).hints;
  parts.grid = extent;
  SmallVector<unsigned> position;
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    Value arg = group.getInputArgs()[groupInput[i]];
    if (node.getPort(i).getMode() == PortMode::Each)
      arg = sliceLeading(rewriter, loc, arg, base, extent);
    position.push_back(parts.addInput(arg, node.getPort(i)));
  }
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    Type type = node.getResult(r).getType();
    if (!node.getYield(r).isReduction()) {
      auto tensor = cast<RankedTensorType>(type);
      SmallVector<int64_t> shape(tensor.getShape());
      for (unsigned d = 0; d < node.getRank(); ++d)
        shape[d] = getConstantIntValue(extent[d]).value_or(ShapedType::kDynamic);
      type = RankedTensorType::get(shape, tensor.getElementType());
    }
    parts.addOutput(type, node.getYield(r));
  }
  Capture inner(parts);
  for (unsigned d = 0; d < node.getRank(); ++d) {
    if (base[d])
      inner.need(base[d]);
    if (asksExtent(node, d))
      inner.need(whole[d]);
  }
  NodeOp leaf = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(leaf.getBodyBlock());
  IRMapping map;
  for (unsigned d = 0; d < node.getRank(); ++d) {
    Value id = leaf.getIds()[d];
    if (base[d])
      id = arith::AddIOp::create(rewriter, loc, inner.get(rewriter, leaf, base[d]), id);
    map.map(node.getIds()[d], id);
  }
  for (auto [i, at] : llvm::enumerate(position))
    map.map(node.getInputArgs()[i], leaf.getInputArgs()[at]);
  auto extents = [&](OpBuilder &b, unsigned d) { return inner.get(b, leaf, whole[d]); };
  finish(rewriter, leaf, cloneBody(rewriter, node, map, extents));
  return leaf;
}

void Tiling::yield(NodeOp leaf) {
  SmallVector<Value> yielded;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    Value value = leaf.getResult(r);
    if (Type expected = group.getYieldedType(r); expected != value.getType())
      value = tensor::CastOp::create(rewriter, node.getLoc(), expected, value);
    yielded.push_back(value);
  }
  finish(rewriter, group, yielded);
}

// @f grid(%n) {…}  →  @f_tiles grid(ceildiv(%n, t)) { @f grid(min(t, %n - i*t)) {… with i*t + id for id} }
FailureOr<TiledNode> graph::tileGrid(RewriterBase &rewriter, NodeOp node, ArrayRef<int64_t> sizes,
                                     Refusal &no) {
  if (failed(checkTileable(node, sizes, no)))
    return failure();
  Tiling tiling(rewriter, node, sizes);
  tiling.buildGroup();
  tiling.buildExtents();
  NodeOp leaf = tiling.buildLeaf();
  tiling.yield(leaf);
  rewriter.replaceOp(node, tiling.group.getResults());
  return TiledNode{tiling.group, leaf};
}

namespace tessera::graph {
#define GEN_PASS_DEF_TILEGRIDPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct TileGridPass : graph::impl::TileGridPassBase<TileGridPass> {
  using TileGridPassBase::TileGridPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<int64_t> list(sizes.begin(), sizes.end());
    if (failed(forNamedNodes(getOperation(), node, [&](NodeOp op, Refusal &no) {
          return LogicalResult(tileGrid(rewriter, op, list, no));
        })))
      signalPassFailure();
  }
};
} // namespace
