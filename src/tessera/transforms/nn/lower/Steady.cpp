// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Steady.h.
#include "tessera/transforms/nn/lower/Steady.h"

#include "tessera/transforms/nn/lower/Elements.h"

using namespace tessera;
using namespace tessera::nn;

static bool isDynamic(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type && !type.hasStaticShape();
}

bool nn::assumeSteady(dfg::NodeOp node) {
  bool any = false;
  node.getBody().walk([&](scf::WhileOp loop) {
    if (!llvm::any_of(loop.getInits(), isDynamic))
      return;
    SharedNotes::steady.set(loop);
    any = true;
  });
  return any;
}

// By induction over steps: the first finds the extents of what the loop starts with, and what a step gives
// has the extents of what it found. All loops at once, as one may start with what another carries.
bool nn::areSteady(dfg::NodeOp node) {
  auto keepsExtents = [](scf::WhileOp loop) {
    for (auto [init, next] : llvm::zip(loop.getInits(), loop.getYieldOp().getOperands()))
      for (int64_t d = 0; isDynamic(init) && d < typeOf(init).getRank(); ++d)
        if (!haveSameExtent(next, d, init, d))
          return false;
    return true;
  };
  return !node.getBody()
              .walk([&](scf::WhileOp loop) {
                return !SharedNotes::steady.isOn(loop) || keepsExtents(loop) ? WalkResult::advance()
                                                                             : WalkResult::interrupt();
              })
              .wasInterrupted();
}

void nn::forgetSteady(dfg::NodeOp node) {
  node.getBody().walk([](scf::WhileOp loop) { SharedNotes::steady.remove(loop); });
}

Value nn::startOf(Value v) {
  auto arg = dyn_cast<BlockArgument>(v);
  Operation *op = arg ? arg.getOwner()->getParentOp() : v.getDefiningOp();
  auto loop = dyn_cast_or_null<scf::WhileOp>(op);
  if (!loop || !SharedNotes::steady.isOn(loop))
    return {};
  if (!arg || arg.getOwner() != loop.getBeforeBody()) {
    // What the condition hands on, to the step or out of the loop, may be computed beside it.
    unsigned handed = arg ? arg.getArgNumber() : cast<OpResult>(v).getResultNumber();
    arg = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[handed]);
    if (!arg || arg.getOwner() != loop.getBeforeBody())
      return {};
  }
  return loop.getInits()[arg.getArgNumber()];
}
