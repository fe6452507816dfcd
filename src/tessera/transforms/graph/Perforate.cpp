// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Grid perforation: a node computes only some of the positions along one dimension of its grid, as a smaller
// node, and a second one fills in the others between their nearest computed neighbours. An approximation,
// asked for by a knob: `dfg.knob` on the node. What it means is in Dfg.md; the oracle computes it by itself.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/Passes.h"
#include "tessera/transforms/graph/Support.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

namespace {
/// Index arithmetic on one gaps. Positions `p` with (p - offset) mod rate < skip are left out.
struct Gaps {
  OpBuilder &b;
  Location loc;
  Perforation by;

  Value number(int64_t n) { return arith::ConstantIndexOp::create(b, loc, n); }
  template <typename Op> Value make(Value x, int64_t y) {
    return Op::create(b, loc, x, number(y)).getResult();
  }

  /// How many positions below `n` are computed.
  Value computedBelow(Value n) {
    int64_t rate = by.rate, skip = by.skip, offset = by.offset;
    Value whole = make<arith::MulIOp>(make<arith::DivUIOp>(n, rate), rate - skip);
    Value rest = make<arith::RemUIOp>(n, rate), part;
    if (offset + skip > rate) { // the gap runs over the end of a period
      part = make<arith::MaxSIOp>(make<arith::SubIOp>(rest, offset + skip - rate), 0);
      part = make<arith::MinSIOp>(part, rate - skip);
    } else {
      Value before = make<arith::MinSIOp>(rest, offset);
      Value after = make<arith::MaxSIOp>(make<arith::SubIOp>(rest, offset + skip), 0);
      part = arith::AddIOp::create(b, loc, before, after);
    }
    return arith::AddIOp::create(b, loc, whole, part);
  }

  /// The position that is computed as number `c`.
  Value position(Value c) {
    int64_t rate = by.rate, skip = by.skip, offset = by.offset, kept = rate - skip;
    Value start = make<arith::MulIOp>(make<arith::DivUIOp>(c, kept), rate),
          rest = make<arith::RemUIOp>(c, kept);
    Value shift;
    if (offset + skip > rate) {
      shift = number(offset + skip - rate);
    } else {
      Value after = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, rest, number(offset));
      shift = arith::SelectOp::create(b, loc, after, number(skip), number(0));
    }
    return arith::AddIOp::create(b, loc, start, arith::AddIOp::create(b, loc, rest, shift));
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

// The node with the computed positions only.
static NodeOp buildCompact(RewriterBase &rewriter, NodeOp node, const Perforation &by, Value computed) {
  Location loc = node.getLoc();
  MLIRContext *context = node.getContext();
  NodeParts parts(node);
  parts.name = uniqueName(node->getBlock(), node.getName() + "_some");
  Value full = node.getGrid()[by.dim];
  parts.grid[by.dim] = computed;
  llvm::erase_if(parts.hints, [](NamedAttribute hint) { return hint.getName() == knobAttr; });
  // An element that belonged to an instance is now one of a whole tensor.
  for (unsigned i = 0; i < parts.ports.size(); ++i)
    if (node.getPort(i).getMode() == PortMode::Each)
      parts.ports[i] = graph::getPort(context, PortMode::Whole);
  for (unsigned r = 0; r < parts.types.size(); ++r) {
    auto type = cast<RankedTensorType>(parts.types[r]);
    SmallVector<int64_t> shape(type.getShape());
    shape[by.dim] = getConstantIntValue(computed).value_or(ShapedType::kDynamic);
    parts.types[r] = type.clone(shape);
  }
  Capture capture(parts);
  capture.need(full);
  NodeOp compact = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(compact.getBodyBlock());
  Gaps gaps{rewriter, loc, by};
  Value extent = capture.get(rewriter, compact, full);
  // A grid of which nothing would be computed computes its last position.
  Value last = gaps.make<arith::SubIOp>(extent, 1);
  Value id = arith::MinSIOp::create(rewriter, loc, gaps.position(compact.getIds()[by.dim]), last);
  IRMapping map;
  SmallVector<Value> ids(compact.getIds());
  ids[by.dim] = id;
  map.map(node.getIds(), ids);
  for (auto [i, from, to] :
       llvm::enumerate(node.getInputArgs(), compact.getInputArgs().take_front(node.getInputs().size())))
    map.map(from,
            node.getPort(i).getMode() == PortMode::Each ? elementAt(rewriter, loc, to, ids) : Value(to));
  auto extents = [&](OpBuilder &, unsigned d) { return d == by.dim ? extent : Value(); };
  finish(rewriter, compact, cloneBody(rewriter, node, map, extents));
  return compact;
}

// The node that has a value for every position again.
static NodeOp buildFill(RewriterBase &rewriter, NodeOp node, const Perforation &by, NodeOp compact) {
  Location loc = node.getLoc();
  NodeParts parts(loc, uniqueName(node->getBlock(), node.getName() + "_fill"));
  parts.grid.assign(node.getGrid().begin(), node.getGrid().end());
  for (NamedAttribute hint : NodeParts(node).hints)
    if (hint.getName() != "cost" && hint.getName() != knobAttr)
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
  Gaps gaps{rewriter, loc, by};
  Value at = fill.getIds()[by.dim];
  // 0 for the first position of a gap, 1 for the next, …, `skip` and more for computed ones.
  Value place = gaps.make<arith::RemUIOp>(gaps.make<arith::AddIOp>(at, by.rate - by.offset), by.rate);
  Value isGap = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, place, gaps.number(by.skip));
  Value last = gaps.make<arith::SubIOp>(capture.get(rewriter, fill, computed), 1);
  Value upper = arith::MinSIOp::create(rewriter, loc, gaps.computedBelow(at), last);
  Value below = gaps.make<arith::MaxSIOp>(gaps.make<arith::SubIOp>(gaps.computedBelow(at), 1), 0);
  below = arith::MinSIOp::create(rewriter, loc, below, last);
  Value lower = arith::SelectOp::create(rewriter, loc, isGap, below, upper);
  SmallVector<Value> yielded;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    SmallVector<Value> low(fill.getIds()), high(fill.getIds());
    low[by.dim] = lower;
    high[by.dim] = upper;
    Value tensor = fill.getInputArgs()[r];
    Value a = elementAt(rewriter, loc, tensor, low), c = elementAt(rewriter, loc, tensor, high);
    // a + (c - a) * (place + 1) / (skip + 1): of equal neighbours exactly their value.
    Type type = a.getType();
    Value step =
        arith::IndexCastOp::create(rewriter, loc, rewriter.getI32Type(), gaps.make<arith::AddIOp>(place, 1));
    Value share = arith::SIToFPOp::create(rewriter, loc, type, step);
    Value scale =
        arith::ConstantOp::create(rewriter, loc, rewriter.getFloatAttr(type, 1.0 / double(by.skip + 1)));
    share = arith::MulFOp::create(rewriter, loc, share, scale);
    Value difference = arith::SubFOp::create(rewriter, loc, c, a);
    Value between =
        arith::AddFOp::create(rewriter, loc, a, arith::MulFOp::create(rewriter, loc, difference, share));
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
  rewriter.setInsertionPoint(node);
  Location loc = node.getLoc();
  Gaps gaps{rewriter, loc, by};
  Value full = node.getGrid()[by.dim], computed = gaps.make<arith::MaxSIOp>(gaps.computedBelow(full), 1);
  computed = arith::MinSIOp::create(rewriter, loc, computed, full);
  NodeOp compact = buildCompact(rewriter, node, by, computed);
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
          return LogicalResult(perforateGrid(rewriter, op, {dim, rate, skip, offset}, no));
        })))
      signalPassFailure();
  }
};
} // namespace
