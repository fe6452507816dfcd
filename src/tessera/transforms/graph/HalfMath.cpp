// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic in f16: a node's operands are rounded once, its body computes in f16, and twice as many lanes
// fit a vector. Asked for by a knob; who has it is for dfg::hasKnob to say.
#include "tessera/transforms/graph/NodeParts.h"

#include "tessera/ir/dfg/DfgKnobs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

static APFloat rounded(APFloat value) {
  bool losesInfo = false;
  value.convert(APFloat::IEEEhalf(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

// Of what a node gathers it is one of the grid's, so that only nodes read the tensor.
static Value extentOf(RewriterBase &rewriter, Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return indexConstant(rewriter, tensor.getLoc(), type.getDimSize(dim));
  if (auto maker = tensor.getDefiningOp<NodeOp>()) {
    const unsigned result = cast<OpResult>(tensor).getResultNumber();
    if (result < maker.getNumYields() && maker.getYield(result).getMode() == ResultMode::Gather &&
        dim < int64_t(maker.getRank()))
      return maker.getGrid()[dim];
  }
  return tensor::DimOp::create(rewriter, tensor.getLoc(), tensor, dim);
}

// A node that makes of each element of a tensor one of this type, right behind what makes the tensor; that
// may take it in, since it reads its own elements alone.
static NodeOp convertTensor(RewriterBase &rewriter, NodeOp beside, const Twine &suffix, Value tensor,
                            FloatType element) {
  Location loc = tensor.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(tensor);
  NodeParts parts(loc, uniqueName(beside->getBlock(), beside.getName() + suffix));
  for (int64_t d = 0; d < type.getRank(); ++d)
    parts.grid.push_back(extentOf(rewriter, tensor, d));
  parts.addInput(tensor, getPort(rewriter.getContext(), PortMode::Each));
  parts.addOutput(type.clone(element), getGather(rewriter.getContext()));
  NodeOp node = parts.build(rewriter);
  rewriter.setInsertionPointToEnd(node.getBodyBlock());
  Value own = node.getInputArgs()[0];
  if (element != type.getElementType())
    own = arith::TruncFOp::create(rewriter, loc, element, own);
  finish(rewriter, node, own);
  return node;
}

// A whole tensor in f16: a constant, or what a node of its own makes.
static Value roundTensor(RewriterBase &rewriter, NodeOp reader, Value tensor) {
  FloatType half = rewriter.getF16Type();
  DenseFPElementsAttr weights;
  if (!matchPattern(tensor, m_Constant(&weights)))
    return convertTensor(rewriter, reader, "_half", tensor, half)->getResult(0);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(tensor);
  Attribute narrow =
      weights.mapValues(half, [](const APFloat &value) { return rounded(value).bitcastToAPInt(); });
  return arith::ConstantOp::create(rewriter, tensor.getLoc(), cast<TypedAttr>(narrow));
}

// The body in f16 where it was in f32, up to what it yields.
static void narrowBody(RewriterBase &rewriter, NodeOp node, ArrayRef<BlockArgument> elements) {
  OpBuilder::InsertionGuard guard(rewriter);
  FloatType half = rewriter.getF16Type();
  auto narrow = [&](Value value) {
    if (value.getType().isF32())
      value.setType(half);
  };
  node.getBodyBlock()->walk([&](Operation *op) {
    if (auto wider = dyn_cast<arith::ExtFOp>(op)) {
      // Of a result that is stored narrow.
      Value own = wider.getIn();
      if (own.getType() != half) {
        rewriter.setInsertionPointAfter(op);
        own = arith::TruncFOp::create(rewriter, op->getLoc(), half, wider);
        wider.getResult().replaceAllUsesExcept(own, own.getDefiningOp());
      } else {
        rewriter.replaceOp(wider, own);
      }
      return;
    }
    llvm::for_each(op->getResults(), narrow);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), narrow);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        constant.setValueAttr(FloatAttr::get(half, rounded(number.getValue())));
  });
  rewriter.setInsertionPointToStart(node.getBodyBlock());
  for (BlockArgument arg : elements) {
    auto own = arith::TruncFOp::create(rewriter, arg.getLoc(), half, arg);
    arg.replaceAllUsesExcept(own, own);
  }
  YieldOp yield = node.getYieldOp();
  rewriter.setInsertionPoint(yield);
  for (OpOperand &value : yield->getOpOperands())
    value.set(arith::ExtFOp::create(rewriter, value.get().getLoc(), rewriter.getF32Type(), value.get()));
}

void graph::computeInHalf(RewriterBase &rewriter, NodeOp node, DenseMap<Value, Value> &halves) {
  SmallVector<BlockArgument> elements;
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    Value input = node.getInputs()[i];
    BlockArgument arg = node.getInputArgs()[i];
    if (!getElementTypeOrSelf(input.getType()).isF32())
      continue;
    if (!isa<RankedTensorType>(arg.getType())) {
      elements.push_back(arg);
      continue;
    }
    Value &half = halves[input];
    if (!half)
      half = roundTensor(rewriter, node, input);
    node.getInputsMutable()[i].set(half);
    arg.setType(half.getType());
  }
  narrowBody(rewriter, node, elements);
  if (canNarrow(node))
    return;
  // What leaves the graph, or is not read element by element, a node does that widens it.
  for (Value result : node->getResults()) {
    NodeOp wide = convertTensor(rewriter, node, "_wide", result, rewriter.getF32Type());
    result.replaceAllUsesExcept(wide->getResult(0), wide);
  }
}
