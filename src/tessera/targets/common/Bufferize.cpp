// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Payload functions take their inputs and outputs as buffers already; what is left are the tensors between.
#include "tessera/targets/common/Bufferize.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace tessera;

static bool keepsDynamicExtents(tensor::CollapseShapeOp op) {
  return llvm::all_of(op.getReassociationIndices(), [&](const ReassociationIndices &group) {
    return group.size() == 1 ||
           llvm::none_of(group, [&](int64_t d) { return op.getSrcType().isDynamicDim(d); });
  });
}

// A result that is written in another shape: the destination takes that shape instead, at the head of the
// function, so that what computes the result can write there.
//   materialize (expand_shape %y) in %dest  →  materialize %y in (collapse_shape %dest), and the inverse
static void reshapeDestinations(func::FuncOp payload) {
  SmallVector<bufferization::MaterializeInDestinationOp> ops;
  payload.walk([&](bufferization::MaterializeInDestinationOp op) { ops.push_back(op); });
  for (bufferization::MaterializeInDestinationOp op : ops) {
    auto dest = dyn_cast<BlockArgument>(op.getDest());
    while (dest && isa<MemRefType>(dest.getType()) && op.getSource().hasOneUse()) {
      OpBuilder b = OpBuilder::atBlockBegin(&payload.getBody().front());
      Value view = op.getDest(), source;
      if (Operation *def = view.getDefiningOp())
        b.setInsertionPointAfter(def);
      Location loc = op.getLoc();
      if (auto expand = op.getSource().getDefiningOp<tensor::ExpandShapeOp>()) {
        view = memref::CollapseShapeOp::create(b, loc, view, expand.getReassociationIndices());
        source = expand.getSrc();
      } else if (auto collapse = op.getSource().getDefiningOp<tensor::CollapseShapeOp>();
                 collapse && keepsDynamicExtents(collapse)) {
        SmallVector<OpFoldResult> extents;
        for (auto [i, group] : llvm::enumerate(collapse.getReassociationIndices()))
          for (int64_t d : group)
            extents.push_back(collapse.getSrcType().isDynamicDim(d)
                                  ? OpFoldResult(memref::DimOp::create(b, loc, view, i).getResult())
                                  : b.getIndexAttr(collapse.getSrcType().getDimSize(d)));
        view = memref::ExpandShapeOp::create(b, loc, collapse.getSrcType().getShape(), view,
                                             collapse.getReassociationIndices(), extents);
        source = collapse.getSrc();
      } else {
        break;
      }
      Operation *reshape = op.getSource().getDefiningOp();
      op.getDestMutable().assign(view);
      op.getSourceMutable().assign(source);
      reshape->erase();
    }
  }
}

LogicalResult tessera::bufferizePayloads(ModuleOp payloads) {
  payloads.walk(reshapeDestinations);
  PassManager pm(payloads.getContext());
  auto tidy = [](OpPassManager &each) {
    each.addPass(createCanonicalizerPass());
    each.addPass(createCSEPass());
  };
  OpPassManager &before = pm.nest<func::FuncOp>();
  tidy(before);
  // A tensor.empty that ends in an output becomes that output: no copy.
  before.addPass(bufferization::createEmptyTensorEliminationPass());
  before.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  bufferization::OneShotBufferizePassOptions options;
  options.allowReturnAllocsFromLoops = true;
  options.bufferAlignment = 64;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  tidy(pm.nest<func::FuncOp>());
  return pm.run(payloads);
}
