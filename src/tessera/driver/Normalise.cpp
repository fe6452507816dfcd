// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a plan cannot say directly becomes a node (GraphPlan.h).
#include "tessera/driver/GraphPlan.h"

#include "tessera/ir/nn/Nn.h"

#include "mlir/IR/IRMapping.h"

using namespace tessera;

// A node without a grid around a copy of `op`, with the operands as whole inputs.
static dfg::NodeOp wrap(Operation *op, StringRef name, OpBuilder &b) {
  SmallVector<dfg::PortAttr> ports(op->getNumOperands(),
                                   dfg::PortAttr::get(b.getContext(), dfg::PortMode::Whole, {}));
  SmallVector<dfg::ResultAttr> yields(op->getNumResults(),
                                      dfg::ResultAttr::get(b.getContext(), dfg::ResultMode::Gather, {}, {}));
  auto node = dfg::NodeOp::create(b, op->getLoc(), name, ValueRange{}, op->getOperands(), ports,
                                  op->getResultTypes(), yields);
  OpBuilder inner = OpBuilder::atBlockBegin(node.getBodyBlock());
  IRMapping map;
  map.map(op->getOperands(), node.getInputArgs());
  Operation *copy = inner.clone(*op, map);
  dfg::YieldOp::create(inner, op->getLoc(), copy->getResults());
  return node;
}

static LogicalResult normalise(dfg::GraphOp graph, bool isForm) {
  OpBuilder b(graph.getContext());
  unsigned count = 0;
  auto fresh = [&](StringRef what) { return (what + "." + Twine(count++)).str(); };
  for (Operation &op : llvm::make_early_inc_range(*graph.getBodyBlock())) {
    b.setInsertionPoint(&op);
    if (auto buffer = dyn_cast<dfg::BufferOp>(op); buffer && buffer.getFill()) {
      // dfg.buffer fill(%v) → an empty buffer and a node that fills it
      Value fill = buffer.getFill();
      b.setInsertionPointAfter(buffer);
      SmallVector<dfg::PortAttr> ports = {dfg::PortAttr::get(b.getContext(), dfg::PortMode::Out, {}),
                                          dfg::PortAttr::get(b.getContext(), dfg::PortMode::Whole, {})};
      auto node = dfg::NodeOp::create(b, op.getLoc(), fresh("fill"), ValueRange{},
                                      ValueRange{buffer.getMemory(), fill}, ports, TypeRange{},
                                      ArrayRef<dfg::ResultAttr>{});
      OpBuilder inner = OpBuilder::atBlockBegin(node.getBodyBlock());
      linalg::FillOp::create(inner, op.getLoc(), ValueRange{node.getInputArgs()[1]},
                             ValueRange{node.getInputArgs()[0]});
      dfg::YieldOp::create(inner, op.getLoc());
      buffer.getMemory().replaceAllUsesExcept(node.getPortResult(0), node);
      buffer.getFillMutable().clear();
      continue;
    }
    bool tensorView = dfg::isWiring(&op) && op.getNumResults() == 1 &&
                      isa<RankedTensorType>(op.getResult(0).getType()) &&
                      !isa<arith::ConstantOp, tensor::CastOp, nn::ReshapeOp>(op);
    if (tensorView) {
      dfg::NodeOp node = wrap(&op, fresh("view"), b);
      op.getResult(0).replaceAllUsesWith(node.getResult(0));
      op.erase();
      continue;
    }
    if (dfg::isWiring(&op) && op.getNumResults() == 1 && isa<MemRefType>(op.getResult(0).getType()) &&
        !isa<memref::CastOp>(op))
      return op.emitOpError(
          "of a buffer cannot stand in a graph that is installed; make the view inside the node");
  }
  auto rootOf = [](Value v) {
    while (isa_and_nonnull<nn::ReshapeOp, tensor::CastOp>(v.getDefiningOp()))
      v = v.getDefiningOp()->getOperand(0);
    return v;
  };
  auto copyFor = [&](OpOperand &use) {
    Value v = use.get();
    Location loc = use.getOwner()->getLoc();
    b.setInsertionPoint(use.getOwner());
    SmallVector<dfg::PortAttr> ports = {dfg::PortAttr::get(b.getContext(), dfg::PortMode::Whole, {})};
    SmallVector<dfg::ResultAttr> yields = {
        dfg::ResultAttr::get(b.getContext(), dfg::ResultMode::Gather, {}, {})};
    auto node = dfg::NodeOp::create(b, loc, fresh("copy"), ValueRange{}, ValueRange{v}, ports,
                                    TypeRange{v.getType()}, yields);
    OpBuilder inner = OpBuilder::atBlockBegin(node.getBodyBlock());
    dfg::YieldOp::create(inner, loc, ValueRange(node.getInputArgs()));
    use.set(node.getResult(0));
  };
  // A state that takes the content of another one takes that of before the other's own update.
  for (auto update : graph.getBodyBlock()->getOps<dfg::UpdateOp>())
    if (auto other = rootOf(update.getNext()).getDefiningOp<dfg::StateOp>();
        other && other != update.getState().getDefiningOp())
      copyFor(update.getNextMutable());
  // A returned value must be memory of its own: one that a node wrote, once among the results.
  DenseSet<Value> returned;
  for (OpOperand &use : graph.getBodyBlock()->getTerminator()->getOpOperands()) {
    Value v = use.get(), root = v;
    while (auto reshape = isForm ? nn::ReshapeOp() : root.getDefiningOp<nn::ReshapeOp>())
      root = reshape.getX();
    bool written = isa_and_nonnull<dfg::NodeOp>(root.getDefiningOp());
    bool memory = isa<MemRefType>(v.getType());
    if (!memory && !(written && returned.insert(root).second))
      copyFor(use);
  }
  return success();
}

LogicalResult tessera::normaliseGraph(dfg::GraphOp graph) { return normalise(graph, /*isForm=*/false); }

LogicalResult tessera::normaliseForm(dfg::NodeOp node, dfg::GraphOp form) {
  if (failed(normalise(form, /*isForm=*/true)))
    return failure();
  // What was added runs where the rest does.
  ArrayAttr versions;
  form.walk([&](dfg::NodeOp part) { versions = part.getVersionsAttr() ? part.getVersionsAttr() : versions; });
  form.walk([&](dfg::NodeOp part) {
    if (!part.getVersionsAttr())
      part.setVersionsAttr(versions);
  });
  return success();
}
