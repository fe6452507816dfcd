// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Compact.h.
#include "tessera/transforms/graph/Compact.h"

#include "tessera/ir/dfg/DfgKnobs.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

Value Gaps::computedBelow(Value n) {
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

Value Gaps::position(Value c) {
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

NodeOp graph::buildCompact(RewriterBase &rewriter, NodeOp node, const Perforation &by, YieldHook hook) {
  Location loc = node.getLoc();
  rewriter.setInsertionPoint(node);
  Gaps gaps{rewriter, loc, by};
  MLIRContext *context = node.getContext();
  NodeParts parts(node);
  parts.name = uniqueName(node->getBlock(), node.getName() + "_some");
  Value full = node.getGrid()[by.dim], computed = gaps.make<arith::MaxSIOp>(gaps.computedBelow(full), 1);
  computed = arith::MinSIOp::create(rewriter, loc, computed, full);
  parts.grid[by.dim] = computed;
  llvm::erase_if(parts.hints, [](NamedAttribute hint) { return dfg::Notes::knob == hint.getName(); });
  // An element that belonged to an instance is now one of a whole tensor.
  for (unsigned i = 0; i < parts.ports.size(); ++i)
    if (node.getPort(i).getMode() == PortMode::Each)
      parts.ports[i] = graph::getPort(context, PortMode::Whole);
  for (unsigned r = 0; r < parts.types.size(); ++r) {
    if (node.getYield(r).getMode() != ResultMode::Gather)
      continue;
    auto type = cast<RankedTensorType>(parts.types[r]);
    SmallVector<int64_t> shape(type.getShape());
    shape[by.dim] = getConstantIntValue(computed).value_or(ShapedType::kDynamic);
    parts.types[r] = type.clone(shape);
  }
  Capture capture(parts);
  capture.need(full);
  if (hook)
    capture.need(computed);
  NodeOp compact = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(compact.getBodyBlock());
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
  SmallVector<Value> yielded = cloneBody(rewriter, node, map, extents);
  if (hook)
    hook(yielded, extent, capture.get(rewriter, compact, computed));
  finish(rewriter, compact, yielded);
  return compact;
}
