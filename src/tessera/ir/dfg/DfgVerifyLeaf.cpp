// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbered rules of what may stand only inside a leaf, among them that all instances of a grid meet at
// the same barriers.
#include "tessera/ir/dfg/DfgNames.h"
#include "tessera/ir/dfg/DfgVerify.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace tessera;
using namespace tessera::dfg;

LogicalResult AccumulateOp::verify() {
  if (!getReduction()) {
    auto diag = emitOpError()
                << "expected the memory to be an 'acc' port of the enclosing leaf, but got another memref "
                   "(dfg-l1)";
    diag.attachNote(getMemory().getLoc()) << "the memory comes from here";
    return diag;
  }
  int64_t rank = cast<MemRefType>(getMemory().getType()).getRank();
  if (int64_t(getIndices().size()) != rank)
    return emitOpError() << "expected " << rank << " indices, as many as the memory has dimensions, but got "
                         << getIndices().size() << " (dfg-l2)";
  return success();
}

LogicalResult ExtentOp::verify() {
  NodeOp leaf = getEnclosingLeaf(*this);
  if (!leaf)
    return emitOpError()
           << "expected an extent to be asked for inside a leaf, but got none around it (dfg-l3)";
  int64_t dim = getDim();
  if (dim >= 0 && dim < int64_t(leaf.getRank()))
    return success();
  auto diag = emitOpError() << "expected a dimension below the grid's rank of " << leaf.getRank()
                            << ", but got " << dim << " (dfg-l4)";
  diag.attachNote(leaf.getLoc()) << "the grid is here";
  return diag;
}

LogicalResult ScratchOp::verify() {
  auto leaf = dyn_cast<NodeOp>((*this)->getParentOp());
  if (!leaf || leaf.isInternal() || !leaf.getRank()) {
    auto diag = emitOpError() << "expected scratch memory to stand directly in a leaf with a grid, but got '"
                              << (*this)->getParentOp()->getName() << "' around it (dfg-l5)";
    diag.attachNote() << "a grid has one piece for all its instances, so it is not made in loops or branches";
    return diag;
  }
  return verifyEdgeType(*this, getMemory().getType(), "the scratch memory");
}

//===----------------------------------------------------------------------===//
// Barriers and divergence
//===----------------------------------------------------------------------===//

namespace {
/// The values of a leaf that may differ between instances, by forward propagation: what depends on ids, on
/// `each` elements and on memory that the leaf may write. Everything else is the same in all instances.
class Divergence {
public:
  explicit Divergence(NodeOp leaf) : leaf(leaf) {
    for (Value id : leaf.getIds())
      divergent.insert(id);
    for (auto [i, arg] : llvm::enumerate(leaf.getInputArgs()))
      if (leaf.getPort(i).getMode() == PortMode::Each)
        divergent.insert(arg);
    do {
      changed = false;
      leaf.getBody().walk([&](Operation *op) {
        if (op != leaf)
          visit(op);
      });
    } while (changed);
  }
  bool isDivergent(Value value) const { return divergent.contains(value); }

private:
  void mark(ValueRange values) {
    for (Value value : values)
      changed |= divergent.insert(value).second;
  }
  void markWhere(ValueRange sources, ValueRange values) {
    for (auto [source, value] : llvm::zip(sources, values))
      if (isDivergent(source))
        mark(value);
  }
  bool anyDivergent(ValueRange values) const {
    return llvm::any_of(values, [&](Value v) { return isDivergent(v); });
  }

  // Memory that nobody writes while the leaf runs: what came in through an `in` port.
  bool isReadOnly(Value memref) {
    while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
      memref = view.getViewSource();
    auto arg = dyn_cast<BlockArgument>(memref);
    return arg && arg.getOwner() == leaf.getBodyBlock() && arg.getArgNumber() >= leaf.getRank() &&
           leaf.getPort(arg.getArgNumber() - leaf.getRank()).getMode() == PortMode::In;
  }

  void visit(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (anyDivergent({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})) {
        mark(loop.getBody()->getArguments());
        mark(loop.getResults());
      }
      markWhere(loop.getInitArgs(), loop.getRegionIterArgs());
      markWhere(loop.getYieldedValues(), loop.getRegionIterArgs());
      markWhere(loop.getRegionIterArgs(), loop.getResults());
      return;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (isDivergent(branch.getCondition()))
        mark(branch.getResults());
      for (Region *region : branch.getRegions())
        if (!region->empty())
          markWhere(region->front().getTerminator()->getOperands(), branch.getResults());
      return;
    }
    if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      // Instances that leave at different times take different values with them.
      if (isDivergent(loop.getConditionOp().getCondition())) {
        mark(loop.getBeforeArguments());
        mark(loop.getAfterArguments());
        mark(loop.getResults());
      }
      markWhere(loop.getInits(), loop.getBeforeArguments());
      markWhere(loop.getYieldOp().getResults(), loop.getBeforeArguments());
      markWhere(loop.getConditionOp().getArgs(), loop.getAfterArguments());
      markWhere(loop.getConditionOp().getArgs(), loop.getResults());
      return;
    }
    bool differs = anyDivergent(op->getOperands());
    if (auto load = dyn_cast<memref::LoadOp>(op))
      differs |= !isReadOnly(load.getMemRef());
    else if (!isMemoryEffectFree(op))
      differs = true;
    if (!differs)
      return;
    mark(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        mark(block.getArguments());
  }

  NodeOp leaf;
  llvm::DenseSet<Value> divergent;
  bool changed = false;
};
} // namespace

// Why an operation around a barrier may bring some instances there and not others; empty when it cannot.
static std::string whyDivergent(Operation *around, const Divergence &divergence) {
  std::string name = "'" + around->getName().getStringRef().str() + "'";
  if (auto loop = dyn_cast<scf::ForOp>(around)) {
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (divergence.isDivergent(bound))
        return name + " whose bounds may differ between instances";
    return "";
  }
  if (auto branch = dyn_cast<scf::IfOp>(around))
    return divergence.isDivergent(branch.getCondition())
               ? name + " whose condition may differ between instances"
               : "";
  if (auto loop = dyn_cast<scf::WhileOp>(around))
    return divergence.isDivergent(loop.getConditionOp().getCondition())
               ? name + " whose condition may differ between instances"
               : "";
  return name + ", which does not promise to run its region once for all instances";
}

LogicalResult BarrierOp::verify() {
  NodeOp leaf = getEnclosingLeaf(*this);
  if (!leaf || !leaf.getRank()) {
    auto diag = emitOpError() << "expected a barrier to stand in a leaf with a grid, but got "
                              << (leaf ? "a leaf without one" : "no leaf around it") << " (dfg-b1)";
    if (leaf)
      diag.attachNote(leaf.getLoc()) << "the leaf is here";
    return diag;
  }
  // The analysis reads terminators of loops, which may themselves not be verified yet: it waits for the
  // leaf's turn.
  return success();
}

LogicalResult dfg::verifyBarriers(NodeOp leaf) {
  SmallVector<BarrierOp> barriers;
  leaf.getBody().walk([&](BarrierOp barrier) { barriers.push_back(barrier); });
  if (barriers.empty())
    return success();
  Divergence divergence(leaf);
  for (BarrierOp barrier : barriers)
    for (Operation *around = barrier->getParentOp(); around != leaf; around = around->getParentOp()) {
      std::string why = whyDivergent(around, divergence);
      if (why.empty())
        continue;
      if (isFromSource(leaf)) {
        auto diag = emitError(barrier.getLoc())
                    << "not all iterations of " << describe(leaf) << " may reach this barrier (dfg-b2)";
        diag.attachNote(around->getLoc()) << "what is decided here may differ between them; let all "
                                             "iterations pass the barrier, and put the "
                                             "condition around what stands before and after it";
        return diag;
      }
      auto diag = barrier.emitOpError()
                  << "expected all instances to reach a barrier, but it stands in " << why << " (dfg-b2)";
      diag.attachNote(around->getLoc())
          << "control may diverge here; ids, 'each' elements and memory that the leaf "
             "writes differ between instances";
      return diag;
    }
  return success();
}
