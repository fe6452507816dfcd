// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Node skipping: in some activations of a stream a node yields what it computed last. A state counts the
// activations, others keep the results. An approximation, asked for by a knob: `dfg.knob` on the node.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/NodeParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

// From the number of this activation in its period: the next one, and whether the node is left out.
static NodeOp buildTurn(RewriterBase &rewriter, NodeOp node, const Reuse &by, Value number) {
  Location loc = node.getLoc();
  NodeParts parts(loc, uniqueName(node->getBlock(), node.getName() + "_turn"));
  parts.addWhole(number);
  parts.addOutput(rewriter.getI32Type(), getGather(node.getContext()));
  parts.addOutput(rewriter.getI1Type(), getGather(node.getContext()));
  NodeOp turn = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(turn.getBodyBlock());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(int32_t(value)));
  };
  Value at = turn.getInputArgs()[0];
  Value next = arith::AddIOp::create(rewriter, loc, at, constant(1));
  next = arith::RemUIOp::create(rewriter, loc, next, constant(by.rate));
  Value place = arith::SubIOp::create(rewriter, loc, at, constant(by.offset)); // below 0: a large number
  Value isLeftOut = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, place, constant(by.skip));
  finish(rewriter, turn, {next, isLeftOut});
  return turn;
}

// %y = @f grid(G)  →  %y = @f grid(G) (…, %out, each %last) { if %out then %last else … }; update %last, %y
NodeOp graph::reuseResults(RewriterBase &rewriter, NodeOp node, const Reuse &by) {
  assert(hasKnob(node, *Knob::parse("reuse:1/2@1")) && "the verifier refuses the knob elsewhere");
  Location loc = node.getLoc();
  rewriter.setInsertionPoint(node);
  Value zero = arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(0));
  Value number = StateOp::create(rewriter, loc, zero.getType(), zero);
  NodeOp turn = buildTurn(rewriter, node, by, number);
  NodeParts parts(node);
  const unsigned leftOutAt = parts.addWhole(turn.getResult(1));
  SmallVector<Value> states;
  SmallVector<unsigned> lastAt;
  for (Type type : parts.types) {
    Value none = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    states.push_back(StateOp::create(rewriter, loc, type, none));
    lastAt.push_back(parts.addInput(states.back(), graph::getPort(node.getContext(), PortMode::Each)));
  }
  NodeOp reusing = parts.build(rewriter);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToEnd(reusing.getBodyBlock());
    SmallVector<Type> types(node.getYieldOp().getValues().getTypes());
    auto choice =
        scf::IfOp::create(rewriter, loc, types, reusing.getInputArgs()[leftOutAt], /*withElse=*/true);
    rewriter.setInsertionPointToStart(choice.thenBlock());
    SmallVector<Value> last;
    for (unsigned at : lastAt)
      last.push_back(reusing.getInputArgs()[at]);
    scf::YieldOp::create(rewriter, loc, last);
    rewriter.setInsertionPointToStart(choice.elseBlock());
    IRMapping map;
    map.map(node.getIds(), reusing.getIds());
    map.map(node.getInputArgs(), reusing.getInputArgs().take_front(node.getInputs().size()));
    SmallVector<Value> computed = cloneBody(rewriter, node, map);
    scf::YieldOp::create(rewriter, loc, computed);
    rewriter.setInsertionPointToEnd(reusing.getBodyBlock());
    finish(rewriter, reusing, choice.getResults());
  }
  rewriter.setInsertionPointAfter(reusing);
  UpdateOp::create(rewriter, loc, number, turn.getResult(0));
  for (auto [r, state] : llvm::enumerate(states))
    UpdateOp::create(rewriter, loc, state, reusing.getResult(r));
  rewriter.replaceOp(node, reusing->getResults());
  return reusing;
}
