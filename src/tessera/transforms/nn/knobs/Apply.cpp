// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Apply.h: which file is for which knob.
#include "tessera/transforms/nn/knobs/Apply.h"

#include "tessera/transforms/nn/knobs/Quantise.h"

using namespace tessera;
using namespace tessera::nn;
using Structure = Knob::Structure;

void nn::keepPrecision(Operation *op, const Knob &knob, Operation *from) {
  nn::Notes::knob.remove(op);
  nn::Notes::name.copy(from, op);
  nn::Notes::range.copy(from, op);
  if (Knob left{knob.precision}; !left.isExact())
    nn::Notes::knob.set(op, left.str());
}

// Carries out what is not a precision.
static LogicalResult applyStructure(RewriterBase &rewriter, TunableOp op, const Knob &knob) {
  rewriter.setInsertionPoint(op);
  switch (knob.structure) {
  case Structure::None:
    return success();
  case Structure::PerforateRows:
  case Structure::PerforateCols:
  case Structure::PerforateBoth:
    return applyPerforation(rewriter, cast<ConvOp>(op.getOperation()), knob);
  case Structure::LowRank:
    return applyLowRank(rewriter, op, knob);
  case Structure::SampleFilter:
  case Structure::Prune:
  case Structure::PruneBlocks:
    return applyWeights(rewriter, op, knob);
  case Structure::Sample:
    if (auto pool = dyn_cast<PoolOp>(op.getOperation()))
      return applySample(rewriter, pool, knob);
    return applySample(rewriter, cast<ReduceOp>(op.getOperation()), knob);
  case Structure::Promise:
    return applyPromise(rewriter, op, knob);
  case Structure::Direct:
  case Structure::Winograd:
  case Structure::Split:
    // The choice of an algorithm: layout assignment looks at it.
    return success();
  }
  return success();
}

LogicalResult nn::applyKnobs(dfg::NodeOp node) {
  IRRewriter rewriter(node.getContext());
  for (TunableOp op : tunableOps(node)) {
    Knob knob = knobOf(op);
    if (knob.structure == Structure::Promise && !rangeOf(op))
      return op->emitOpError("'")
             << nameOf(op) << "' has the knob '" << knob.str()
             << "', but no range of its input (nn.range); 'tessera calibrate' measures it";
    if (!knob.isExact() && !hasKnob(op, knob))
      return op->emitOpError("'") << nameOf(op) << "' has the knob '" << knob.str()
                                  << "', which needs weights that are constants";
    if (failed(applyStructure(rewriter, op, knob)))
      return failure();
  }
  // What is left are precisions.
  PrecisionRewriter precision;
  for (TunableOp op : tunableOps(node)) {
    Knob knob = knobOf(op);
    if (knob.precision == Knob::Precision::F32)
      continue;
    rewriter.setInsertionPoint(op);
    bool isInt4 = knob.precision == Knob::Precision::Int4;
    if (failed(isInt4 ? applyWeights(rewriter, op, knob) : precision.apply(op)))
      return failure();
  }
  return success();
}
