// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unrolls: a loop inside a leaf, or a grid dimension, whose instances then each do the work of several
// neighbours.
#include "tessera/transforms/graph/NodeParts.h"
#include "tessera/transforms/graph/Passes.h"

#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

LogicalResult graph::unrollLoop(RewriterBase &rewriter, scf::ForOp loop, int64_t factor, Refusal &no) {
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (factor < 0)
    return no(loop,
              "cannot unroll the loop: expected a factor that is not negative, but got " + Twine(factor),
              "use 0 to unroll it fully");
  if (factor == 0 && !trips)
    return no(loop, "cannot unroll the loop fully: its trip count is not known", "unroll it by a factor");
  // A loop that does not run at all only hands its initial values on.
  if (trips && trips->isZero()) {
    rewriter.replaceOp(loop, loop.getInitArgs());
    return success();
  }
  if (factor == 0) {
    if (failed(loopUnrollFull(loop)))
      return no(loop, "cannot unroll the loop fully", "unroll it by a factor");
    return success();
  }
  if (factor == 1)
    return success();
  if (failed(loopUnrollByFactor(loop, factor)))
    return no(loop, "cannot unroll the loop by " + Twine(factor), "use a smaller factor");
  return success();
}

static LogicalResult checkUnrollable(NodeOp node, unsigned dim, int64_t factor, Refusal &no) {
  if (failed(checkLeaf(node, "unroll", no)))
    return failure();
  std::string cannot = ("cannot unroll '" + node.getName() + "': ").str();
  if (dim >= node.getRank())
    return no(node,
              cannot + "expected a grid dimension below " + Twine(node.getRank()) + ", but got " + Twine(dim),
              "name a dimension of its grid");
  if (factor < 2)
    return no(node, cannot + "expected a factor above 1, but got " + Twine(factor), "use 2 or more");
  std::optional<int64_t> extent = getConstantIntValue(node.getGrid()[dim]);
  if (!extent)
    return no(node, cannot + "grid dimension " + Twine(dim) + " has an unknown extent",
              "make the extent static");
  if (*extent % factor)
    return no(node, cannot + "its extent " + Twine(*extent) + " is not a multiple of " + Twine(factor),
              "use a divisor of " + Twine(*extent));
  if (hasGroupMemory(node))
    return no(node, cannot + "its instances share scratch memory or a barrier", "remove them first");
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    ResultAttr yield = node.getYield(r);
    if (yield.getMode() == ResultMode::Fold)
      return no(node, cannot + "result " + Twine(r) + " is a fold, which must not be regrouped",
                "use 'reduce'");
    if (yield.isReduction() && !yield.reduces(dim))
      return no(node, cannot + "result " + Twine(r) + " is reduced, but not over the dimension",
                "unroll a dimension that it reduces");
    if (!yield.isReduction() && isa<RankedTensorType>(node.getYieldOp().getValues()[r].getType()))
      return no(node, cannot + "result " + Twine(r) + " is made of tiles already",
                "unroll a loop inside instead");
  }
  return success();
}

// @f grid(8) (each %e = %x) {…; yield %v}  →  @f grid(4) (%x) {… at 2i; … at 2i+1; yield [%v0, %v1]} gathered
// by tile
FailureOr<NodeOp> graph::unrollGrid(RewriterBase &rewriter, NodeOp node, unsigned dim, int64_t factor,
                                    Refusal &no) {
  if (failed(checkUnrollable(node, dim, factor, no)))
    return failure();
  MLIRContext *context = node.getContext();
  Location loc = node.getLoc();
  int64_t extent = *getConstantIntValue(node.getGrid()[dim]);
  NodeParts parts(node);
  rewriter.setInsertionPoint(node);
  parts.grid[dim] = indexConstant(rewriter, loc, extent / factor);
  for (NamedAttribute &hint : parts.hints)
    if (hint.getName() == "cost")
      hint.setValue(FloatAttr::get(Float64Type::get(context), node.getCost()->convertToDouble() * factor));
  for (PortAttr &port : parts.ports)
    if (port.getMode() == PortMode::Each)
      port = graph::getPort(context, PortMode::Whole);
  for (ResultAttr &yield : parts.yields)
    if (!yield.isReduction())
      yield = ResultAttr::get(context, ResultMode::Tile, ReductionAttr(), {});
  NodeOp to = parts.build(rewriter);
  rewriter.setInsertionPointToEnd(to.getBodyBlock());
  Value length = indexConstant(rewriter, loc, factor);
  Value first = arith::MulIOp::create(rewriter, loc, to.getIds()[dim], length);
  SmallVector<SmallVector<Value>> yielded(node.getNumYields());
  auto extents = [&](OpBuilder &b, unsigned d) { return d == dim ? indexConstant(b, loc, extent) : Value(); };
  for (int64_t u = 0; u < factor; ++u) {
    SmallVector<Value> ids(to.getIds());
    ids[dim] = u ? arith::AddIOp::create(rewriter, loc, first, indexConstant(rewriter, loc, u)) : first;
    IRMapping map;
    map.map(node.getIds(), ids);
    for (unsigned i = 0; i < node.getInputs().size(); ++i) {
      Value arg = to.getInputArgs()[i];
      bool each = node.getPort(i).getMode() == PortMode::Each;
      map.map(node.getInputArgs()[i], each ? elementAt(rewriter, loc, arg, ids) : arg);
    }
    for (auto [r, value] : llvm::enumerate(cloneBody(rewriter, node, map, extents)))
      yielded[r].push_back(value);
  }
  SmallVector<Value> results;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    if (node.getYield(r).isReduction()) {
      Value all = yielded[r].front();
      for (Value next : ArrayRef<Value>(yielded[r]).drop_front())
        all = buildCombine(rewriter, loc, node.getYield(r).getReduction(), all, next, node);
      results.push_back(all);
      continue;
    }
    SmallVector<int64_t> shape(node.getRank(), 1);
    shape[dim] = factor;
    auto type = RankedTensorType::get(shape, yielded[r].front().getType());
    Value tile = tensor::FromElementsOp::create(rewriter, loc, type, yielded[r]);
    if (Type expected = to.getYieldedType(r); expected != type)
      tile = tensor::CastOp::create(rewriter, loc, expected, tile);
    results.push_back(tile);
  }
  finish(rewriter, to, results);
  rewriter.replaceOp(node, to.getResults());
  return to;
}

namespace tessera::graph {
#define GEN_PASS_DEF_UNROLLPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct UnrollPass : graph::impl::UnrollPassBase<UnrollPass> {
  using UnrollPassBase::UnrollPassBase;

  // Innermost loops only: after them, the loops around are another decision.
  static LogicalResult unrollInnermost(IRRewriter &rewriter, NodeOp leaf, int64_t factor, Refusal &no) {
    SmallVector<scf::ForOp> loops;
    leaf.getBody().walk([&](scf::ForOp loop) {
      if (!loop.getBody()->walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted())
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(unrollLoop(rewriter, loop, factor, no)))
        return failure();
    return success();
  }

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(forNamedNodes(getOperation(), node, [&](NodeOp op, Refusal &no) {
          if (dim >= 0)
            return LogicalResult(unrollGrid(rewriter, op, dim, factor, no));
          return unrollInnermost(rewriter, op, factor, no);
        })))
      signalPassFailure();
  }
};
} // namespace
