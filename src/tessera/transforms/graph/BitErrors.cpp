// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that loses bits: behind a node stands another one that turns over bits of its results, each with a
// given probability and the same ones in every run. To study errors; asked for by a knob: `dfg.knob`.
#include "tessera/base/Weights.h"
#include "tessera/ir/Philox.h"
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/NodeParts.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::dfg;
using namespace tessera::graph;

// The element's bits with those turned over that bitErrors() (base/Weights.h) gives for its number.
static Value turnBits(OpBuilder &b, Location loc, Value element, Value number, double rate, uint64_t key) {
  const unsigned width = element.getType().getIntOrFloatBitWidth();
  Type wide = b.getI64Type(), bits = b.getIntegerType(width);
  auto constant = [&](int64_t v) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(v));
  };
  Value first = arith::MulIOp::create(b, loc, number, constant(16)), wrong = constant(0);
  Value threshold = constant(bitErrorThreshold(rate));
  auto loop = scf::ForOp::create(b, loc, indexConstant(b, loc, 0), indexConstant(b, loc, width / 4),
                                 indexConstant(b, loc, 1), wrong);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value block = arith::IndexCastOp::create(b, loc, wide, loop.getInductionVar());
    Value shift = arith::MulIOp::create(b, loc, block, constant(4)), all = loop.getRegionIterArg(0);
    Value counter = arith::AddIOp::create(b, loc, first, block);
    for (auto [i, word] : llvm::enumerate(buildPhilox(b, loc, counter, key))) {
      Value isWrong = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, word, threshold);
      Value bit = arith::ExtUIOp::create(b, loc, wide, isWrong);
      Value place = arith::AddIOp::create(b, loc, shift, constant(static_cast<int64_t>(i)));
      all = arith::OrIOp::create(b, loc, all, arith::ShLIOp::create(b, loc, bit, place));
    }
    scf::YieldOp::create(b, loc, all);
  }
  wrong = loop.getResult(0);
  if (bits != wide)
    wrong = arith::TruncIOp::create(b, loc, bits, wrong);
  const bool isFloat = isa<FloatType>(element.getType());
  Value stored = isFloat ? arith::BitcastOp::create(b, loc, bits, element).getResult() : element;
  stored = arith::XOrIOp::create(b, loc, stored, wrong);
  return isFloat ? arith::BitcastOp::create(b, loc, element.getType(), stored).getResult() : stored;
}

void graph::addBitErrors(RewriterBase &rewriter, NodeOp node, double rate) {
  Location loc = node.getLoc();
  for (OpResult result : node->getResults().take_front(node.getNumYields())) {
    rewriter.setInsertionPointAfter(node);
    NodeParts parts(loc, uniqueName(node->getBlock(), node.getName() + "_memory"));
    auto type = dyn_cast<RankedTensorType>(result.getType());
    const unsigned rank = type ? type.getRank() : 0;
    for (unsigned d = 0; d < rank; ++d)
      parts.grid.push_back(type.isDynamicDim(d) ? tensor::DimOp::create(rewriter, loc, result, d).getResult()
                                                : indexConstant(rewriter, loc, type.getDimSize(d)));
    // The one element of a tensor without dimensions is read as a whole tensor.
    parts.addInput(result, graph::getPort(node.getContext(), rank ? PortMode::Each : PortMode::Whole));
    parts.addOutput(result.getType(), getGather(node.getContext()));
    NodeOp memory = parts.build(rewriter);
    SmallPtrSet<Operation *, 4> keep = {memory};
    for (Value extent : parts.grid)
      keep.insert(extent.getDefiningOp());
    rewriter.replaceAllUsesExcept(result, memory->getResult(0), keep);
    rewriter.setInsertionPointToEnd(memory.getBodyBlock());
    Value number = indexConstant(rewriter, loc, 0);
    for (auto [d, id] : llvm::enumerate(memory.getIds())) {
      Value extent = ExtentOp::create(rewriter, loc, d);
      number = arith::MulIOp::create(rewriter, loc, number, extent);
      number = arith::AddIOp::create(rewriter, loc, number, id);
    }
    number = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(), number);
    Value element = memory.getInputArgs()[0];
    const bool isTensor = isa<RankedTensorType>(element.getType());
    if (isTensor)
      element = tensor::ExtractOp::create(rewriter, loc, element);
    Value stored =
        turnBits(rewriter, loc, element, number, rate, bitErrorKey(node, result.getResultNumber()));
    if (isTensor)
      stored = tensor::FromElementsOp::create(rewriter, loc, result.getType(), stored);
    finish(rewriter, memory, stored);
  }
}
