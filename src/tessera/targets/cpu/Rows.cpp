// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See writeRows in Script.h.
#include "tessera/targets/cpu/Script.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace tessera;

// Of the leading dimensions of all loops, how many every map of a tensor that the passes hand on begins with.
static unsigned commonRows(ArrayRef<linalg::GenericOp> passes) {
  unsigned rows = 3;
  auto limit = [&](linalg::GenericOp op, OpOperand *operand) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    unsigned same = 0;
    while (same < map.getNumResults() && map.getResult(same) == getAffineDimExpr(same, map.getContext()))
      ++same;
    rows = std::min(rows, same);
  };
  for (linalg::GenericOp op : passes) {
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    unsigned parallel = 0;
    while (parallel < iterators.size() && iterators[parallel] == utils::IteratorType::parallel)
      ++parallel;
    rows = std::min(rows, parallel);
    limit(op, op.getDpsInitOperand(0));
    for (OpOperand *input : op.getDpsInputOperands())
      if (input->get().getDefiningOp<linalg::GenericOp>())
        limit(op, input);
  }
  return rows;
}

bool cpu::writeRows(Writer &out, func::FuncOp payload) {
  auto range = payload.getBody().front().getOps<linalg::GenericOp>();
  SmallVector<linalg::GenericOp> passes(range.begin(), range.end());
  if (passes.size() < 2 ||
      llvm::none_of(passes, [](linalg::GenericOp op) { return op.getNumReductionLoops(); }))
    return false;
  for (linalg::GenericOp op : passes) {
    bool last = op == passes.back();
    if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() || (last && op.getNumReductionLoops()))
      return false;
    // What an instance reads by itself is not seen by tiling.
    if (op.getBody()
            ->walk([&](Operation *inner) {
              return inner->getNumRegions() || isa<tensor::ExtractOp>(inner) ? WalkResult::interrupt()
                                                                             : WalkResult::advance();
            })
            .wasInterrupted())
      return false;
    if (!last && llvm::any_of(op->getUsers(), [&](Operation *user) {
          return !isa<linalg::GenericOp>(user) || user->getBlock() != op->getBlock();
        }))
      return false;
  }
  unsigned rows = commonRows(passes), loops = passes.back().getNumLoops();
  // A row alone must be worth a task.
  if (!rows || rows >= loops)
    return false;
  SmallVector<int64_t> tiles(loops, 0);
  std::fill_n(tiles.begin(), rows, 1);
  out.script.note(llvm::Twine(passes.size()) + " passes over a row as one task");
  schedule::Steps &steps = out.payload;
  schedule::Handle<scf::ForallOp> task;
  auto fuse = [&](schedule::AnyHandle op) {
    task = steps.fuseInto(op, task).loop;
    // Slices that two passes read become one, so that neither computes it again.
    steps.applyCse(steps.root());
  };
  for (linalg::GenericOp op : llvm::reverse(passes)) {
    std::string number = std::to_string(numberOf(op));
    auto pass = steps.match<linalg::GenericOp>("g" + number, steps.root(), numberedAs(op));
    schedule::AnyHandle fill;
    if (op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
      fill = steps.producerOf("i" + number, pass, op.getNumDpsInputs());
    if (!task)
      task = steps.tileForall(pass, tiles).loop;
    else
      fuse(pass);
    if (fill)
      fuse(fill);
  }
  return true;
}
