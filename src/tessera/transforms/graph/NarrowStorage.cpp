// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Narrower storage between nodes: a node's results are rounded to a 16-bit type as they are stored, and
// widened as they are read, which halves the memory they take and move. Asked for by a knob.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/NodeParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

// Puts a conversion behind every element that `reader` takes from the tensor of its input.
static void widenInput(RewriterBase &rewriter, NodeOp reader, unsigned input, Value narrow) {
  Type element = cast<RankedTensorType>(narrow.getType()).getElementType();
  OpBuilder::InsertionGuard guard(rewriter);
  reader.getInputsMutable()[input].set(narrow);
  BlockArgument arg = reader.getInputArgs()[input];
  Type wide = getElementTypeOrSelf(arg.getType());
  auto widen = [&](Value value) {
    Value wider = arith::ExtFOp::create(rewriter, value.getLoc(), wide, value);
    value.replaceAllUsesExcept(wider, wider.getDefiningOp());
  };
  arg.setType(NodeOp::getArgType(narrow.getType(), reader.getPort(input), reader.getRank()));
  if (!isa<RankedTensorType>(arg.getType())) {
    rewriter.setInsertionPointToStart(reader.getBodyBlock());
    widen(arg);
    return;
  }
  for (Operation *user : llvm::make_early_inc_range(arg.getUsers()))
    if (auto extract = dyn_cast<tensor::ExtractOp>(user)) {
      extract.getResult().setType(element);
      rewriter.setInsertionPointAfter(extract);
      widen(extract.getResult());
    }
}

FailureOr<NodeOp> graph::narrowResults(RewriterBase &rewriter, NodeOp node, FloatType element, Refusal &no) {
  std::string cannot = ("cannot narrow the results of '" + node.getName() + "': ").str();
  if (!canNarrow(node))
    return no(node, cannot + "they leave the graph, or are read otherwise than element by element",
              "give the knob to nodes between others");
  NodeParts parts(node);
  for (Type &type : parts.types)
    type = cast<RankedTensorType>(type).clone(element);
  rewriter.setInsertionPoint(node);
  NodeOp narrow = parts.build(rewriter);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(narrow.getBodyBlock());
  IRMapping map;
  map.map(node.getBodyBlock()->getArguments(), narrow.getBodyBlock()->getArguments());
  SmallVector<Value> yielded = cloneBody(rewriter, node, map);
  for (Value &value : yielded)
    value = arith::TruncFOp::create(rewriter, node.getLoc(), element, value);
  finish(rewriter, narrow, yielded);
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    for (OpOperand &use : llvm::make_early_inc_range(node->getResult(r).getUses())) {
      auto reader = cast<NodeOp>(use.getOwner());
      widenInput(rewriter, reader, use.getOperandNumber() - reader.getRank(), narrow->getResult(r));
    }
  rewriter.eraseOp(node);
  return narrow;
}
