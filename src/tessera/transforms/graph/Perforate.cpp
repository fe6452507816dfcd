// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grid perforation: a node computes only some of the positions along one dimension of its grid, as a smaller
// node, and a second one fills in the others between their nearest computed neighbours. An approximation,
// asked for by a knob: `dfg.knob` on the node. What it means is in Dfg.md; the oracle computes it by itself.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/Compact.h"
#include "tessera/transforms/graph/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

namespace {
/// What a gap is filled in with.
struct Filling : Gaps {
  Value constant(Type type, double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }

  /// a + (c - a) * (place + 1) / (skip + 1): of equal neighbours exactly their value.
  Value onLine(Value a, Value c, Value place) {
    Type type = a.getType();
    Value share = arith::AddFOp::create(b, loc, place, constant(type, 1));
    share = arith::MulFOp::create(b, loc, share, constant(type, 1.0 / double(by.skip + 1)));
    Value difference = arith::SubFOp::create(b, loc, c, a);
    return arith::AddFOp::create(b, loc, a, arith::MulFOp::create(b, loc, difference, share));
  }

  /// The cubic through four rows by Lagrange's weights; of equal rows exactly their value.
  Value onCubic(ArrayRef<Value> values, Value place) {
    Type type = place.getType();
    const int64_t next = by.rate - by.skip > 1 ? 1 : by.rate;
    const int64_t at[] = {-1 - next, -1, by.skip, by.skip + next};
    Value sum;
    for (unsigned i : {0u, 2u, 3u}) {
      Value weight;
      double below = 1;
      for (unsigned k = 0; k < 4; ++k) {
        if (k == i)
          continue;
        Value distance = arith::SubFOp::create(b, loc, place, constant(type, double(at[k])));
        weight = weight ? arith::MulFOp::create(b, loc, weight, distance).getResult() : distance;
        below *= double(at[i] - at[k]);
      }
      weight = arith::MulFOp::create(b, loc, weight, constant(type, 1 / below));
      Value part = arith::SubFOp::create(b, loc, values[i], values[1]);
      part = arith::MulFOp::create(b, loc, part, weight);
      sum = sum ? arith::AddFOp::create(b, loc, sum, part).getResult() : part;
    }
    return arith::AddFOp::create(b, loc, values[1], sum);
  }
};
} // namespace

static LogicalResult checkPerforable(NodeOp node, const Perforation &by, Refusal &no) {
  if (failed(checkLeaf(node, "perforate", no)))
    return failure();
  std::string cannot = ("cannot perforate '" + node.getName() + "': ").str();
  if (by.dim >= node.getRank())
    return no(node,
              cannot + "expected a grid dimension below " + Twine(node.getRank()) + ", but got " +
                  Twine(by.dim),
              "name a dimension of its grid");
  if (by.rate < 2 || by.skip < 1 || by.skip >= by.rate || by.offset < 0 || by.offset >= by.rate)
    return no(
        node,
        cannot + "expected to leave out 1 to rate - 1 of every rate positions, from an offset below the rate",
        "for example 1 of 2 from 0");
  if (hasGroupMemory(node))
    return no(node, cannot + "its instances share scratch memory or a barrier", "leave it exact");
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).isWritable())
      return no(node, cannot + "it writes memory", "let it yield its results");
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    if (node.getYield(r).getMode() != ResultMode::Gather ||
        !isa<FloatType>(node.getYieldOp().getValues()[r].getType()))
      return no(node, cannot + "result " + Twine(r) + " is not one float for each instance",
                "leave the node exact, or split its results");
  return success();
}

// The node that has a value for every position again.
static NodeOp buildFill(RewriterBase &rewriter, NodeOp node, const Perforation &by, NodeOp compact) {
  Location loc = node.getLoc();
  NodeParts parts(loc, uniqueName(node->getBlock(), node.getName() + "_fill"));
  parts.grid.assign(node.getGrid().begin(), node.getGrid().end());
  for (NamedAttribute hint : NodeParts(node).hints)
    if (hint.getName() != "cost" && dfg::Notes::knob != hint.getName() &&
        SharedNotes::schedules != hint.getName())
      parts.hints.push_back(hint);
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    parts.addWhole(compact.getResult(r));
    parts.addOutput(node.getResult(r).getType(), node.getYield(r));
  }
  Capture capture(parts);
  Value computed = compact.getGrid()[by.dim];
  capture.need(computed);
  NodeOp fill = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(fill.getBodyBlock());
  Filling gaps{{rewriter, loc, by}};
  Value at = fill.getIds()[by.dim];
  // 0 for the first position of a gap, 1 for the next, …, `skip` and more for computed ones.
  Value place = gaps.make<arith::RemUIOp>(gaps.make<arith::AddIOp>(at, by.rate - by.offset), by.rate);
  Value isGap = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, place, gaps.number(by.skip));
  Value last = gaps.make<arith::SubIOp>(capture.get(rewriter, fill, computed), 1);
  Value behind = gaps.computedBelow(at);
  // The computed row that is `steps` from the first one behind the gap, or the last one there is on that
  // side.
  auto rowAt = [&](int64_t steps) -> Value {
    Value row = steps < 0   ? gaps.make<arith::MaxSIOp>(gaps.make<arith::SubIOp>(behind, -steps), 0)
                : steps > 0 ? gaps.make<arith::AddIOp>(behind, steps)
                            : behind;
    return arith::MinSIOp::create(rewriter, loc, row, last);
  };
  Value upper = rowAt(0), lower = arith::SelectOp::create(rewriter, loc, isGap, rowAt(-1), upper);
  SmallVector<Value> outer;
  if (by.cubic)
    outer = {rowAt(-2), rowAt(1)};
  Value step = arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(), place);
  SmallVector<Value> yielded;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    auto load = [&](Value row) {
      SmallVector<Value> ids(fill.getIds());
      ids[by.dim] = row;
      return elementAt(rewriter, loc, fill.getInputArgs()[r], ids);
    };
    Value a = load(lower), c = load(upper);
    Value number = arith::SIToFPOp::create(rewriter, loc, a.getType(), step);
    Value between =
        by.cubic ? gaps.onCubic({load(outer[0]), a, c, load(outer[1])}, number) : gaps.onLine(a, c, number);
    yielded.push_back(arith::SelectOp::create(rewriter, loc, isGap, between, c));
  }
  finish(rewriter, fill, yielded);
  return fill;
}

// %y = @f grid(%h, %w)  →  %c = @f_some grid(%some, %w); %y = @f_fill grid(%h, %w) (%c)
FailureOr<PerforatedNode> graph::perforateGrid(RewriterBase &rewriter, NodeOp node, const Perforation &by,
                                               Refusal &no) {
  if (failed(checkPerforable(node, by, no)))
    return failure();
  NodeOp compact = buildCompact(rewriter, node, by);
  NodeOp fill = buildFill(rewriter, node, by, compact);
  rewriter.replaceOp(node, fill->getResults());
  return PerforatedNode{compact, fill};
}

namespace tessera::graph {
#define GEN_PASS_DEF_PERFORATEGRIDPASS
#include "tessera/transforms/graph/Passes.h.inc"
} // namespace tessera::graph

namespace {
struct PerforateGridPass : graph::impl::PerforateGridPassBase<PerforateGridPass> {
  using PerforateGridPassBase::PerforateGridPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    if (failed(forNamedNodes(getOperation(), node, [&](NodeOp op, Refusal &no) {
          return LogicalResult(perforateGrid(rewriter, op, {dim, rate, skip, offset, cubic}, no));
        })))
      signalPassFailure();
  }
};
} // namespace
