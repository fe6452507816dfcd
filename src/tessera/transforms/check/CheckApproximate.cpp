// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rule dfg-x1: what a program marks as approximate decides nothing and addresses nothing. Values are followed
// forward from the marked results; what is not known to be harmless is taken for harmful.
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/ir/dfg/DfgNames.h"
#include "tessera/ir/nn/Nn.h"
#include "tessera/transforms/check/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_CHECKAPPROXIMATEPASS
#include "tessera/transforms/check/Passes.h.inc"
} // namespace tessera

using namespace tessera;
using namespace tessera::dfg;

namespace {

/// What depends on a set of values.
class Flow {
public:
  explicit Flow(ModuleOp module) : module(module) {}

  void mark(Value value) { reached.insert(value); }
  /// Follows all that was marked. True when it meets something that must be exact: `at`, by `use`.
  bool run();

  Operation *at = nullptr;
  StringRef use;

private:
  void visit(OpOperand &operand);
  void visitNode(NodeOp node, unsigned operand);
  void visitYield(Operation *yield, unsigned operand);
  void visitNn(nn::NnOp op, unsigned operand);
  void visitOther(Operation *op, unsigned operand);
  void markMemory(Value memory);
  void markResults(Operation *op) {
    for (Value result : op->getResults())
      mark(result);
  }
  void markResults(GraphOp graph, unsigned number);
  void markInput(Operation *from, FlatSymbolRefAttr graph, unsigned input);
  void stop(Operation *op, StringRef what) {
    at = op;
    use = what;
  }
  // Of an operation that takes elements out or puts them in: its operands from `first` on are places.
  bool isPlace(Operation *op, unsigned operand, unsigned first) {
    if (operand < first)
      return false;
    stop(op, "an index");
    return true;
  }

  ModuleOp module;
  llvm::SetVector<Value> reached; ///< grows while it is gone through
};

} // namespace

bool Flow::run() {
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand &operand : reached[i].getUses()) {
      visit(operand);
      if (at)
        return true;
    }
  return false;
}

// Whoever looks at the same memory later sees it.
void Flow::markMemory(Value memory) {
  mark(memory);
  if (Operation *def = memory.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(def))
      markMemory(view.getViewSource());
    return;
  }
  auto arg = cast<BlockArgument>(memory);
  auto node = dyn_cast<NodeOp>(arg.getOwner()->getParentOp());
  if (node && arg.getArgNumber() >= node.getRank() &&
      node.getPort(arg.getArgNumber() - node.getRank()).isWritable())
    mark(node.getPortResult(arg.getArgNumber() - node.getRank()));
}

void Flow::markInput(Operation *from, FlatSymbolRefAttr name, unsigned input) {
  if (auto graph = SymbolTable::lookupNearestSymbolFrom<GraphOp>(from, name))
    mark(graph.getBodyBlock()->getArgument(input));
}

// Of all that stand for the graph.
void Flow::markResults(GraphOp graph, unsigned number) {
  if (auto uses = SymbolTable::getSymbolUses(graph, module))
    for (const SymbolTable::SymbolUse &each : *uses)
      if (isa<CallOp, NodeOp>(each.getUser()))
        mark(each.getUser()->getResult(number));
}

void Flow::visitNode(NodeOp node, unsigned operand) {
  if (operand < node.getRank())
    return stop(node, "the extent of a grid");
  const unsigned input = operand - node.getRank();
  mark(node.getInputArgs()[input]);
  if (node.getPort(input).isWritable())
    mark(node.getPortResult(input));
  for (int64_t number = 1; FlatSymbolRefAttr version = versionOf(node, number); ++number)
    markInput(node, version, input);
}

void Flow::visitYield(Operation *yield, unsigned operand) {
  Operation *parent = yield->getParentOp();
  if (auto node = dyn_cast<NodeOp>(parent)) {
    mark(node->getResult(operand));
    ReductionAttr reduction = node.getYield(operand).getReduction();
    if (FlatSymbolRefAttr name = reduction ? reduction.getCombiner() : FlatSymbolRefAttr())
      if (auto combiner = SymbolTable::lookupNearestSymbolFrom<CombinerOp>(node, name))
        for (Value arg : combiner.getBody().getArguments())
          mark(arg);
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    return mark(loop.getBeforeArguments()[operand]);
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    mark(loop.getRegionIterArg(operand));
  if (operand < parent->getNumResults())
    mark(parent->getResult(operand));
}

// Elements that become elements; the other operands of what moves them are places and extents.
void Flow::visitNn(nn::NnOp op, unsigned operand) {
  const nn::OpClass kind = op.getOpClass();
  const bool moves = kind == nn::OpClass::Injective || kind == nn::OpClass::Opaque;
  if (op->getOperand(operand).getType().isIndex() || (moves && operand > 0 && !isa<nn::ConcatOp>(op)))
    return stop(op, "an index");
  markResults(op);
}

void Flow::visitOther(Operation *op, unsigned operand) {
  if (auto own = dyn_cast<nn::NnOp>(op))
    return visitNn(own, operand);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
          arith::CeilDivUIOp, arith::FloorDivSIOp>(op) &&
      operand == 1)
    return stop(op, "a divisor of integers");
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return markResults(op);
  if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::FromElementsOp,
          memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op) &&
      (operand == 0 || isa<tensor::FromElementsOp>(op)))
    return markResults(op);
  if (auto generic = dyn_cast<linalg::LinalgOp>(op)) {
    mark(generic.getBlock()->getArgument(operand));
    for (Value out : generic.getDpsInits())
      if (isa<MemRefType>(out.getType()))
        markMemory(out);
    return markResults(op);
  }
  stop(op, "an operation that may decide by it");
}

void Flow::visit(OpOperand &use) {
  Operation *op = use.getOwner();
  const unsigned operand = use.getOperandNumber();
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](NodeOp node) { visitNode(node, operand); })
      .Case([&](CallOp call) { markInput(call, call.getCalleeAttr(), operand); })
      .Case([&](ReturnOp) { markResults(cast<GraphOp>(op->getParentOp()), operand); })
      .Case([&](StateOp state) { mark(state.getValue()); })
      .Case([&](UpdateOp update) {
        if (operand == 1)
          mark(update.getState());
      })
      .Case([&](BufferOp buffer) {
        if (operand < buffer.getExtents().size())
          return stop(op, "the extent of a buffer");
        mark(buffer.getMemory());
      })
      .Case([&](AccumulateOp accumulate) {
        if (!isPlace(op, operand, 2) && operand == 0)
          markMemory(accumulate.getMemory());
      })
      .Case<YieldOp, scf::YieldOp, linalg::YieldOp>([&](Operation *yield) { visitYield(yield, operand); })
      .Case<tensor::DimOp, memref::DimOp>([&](Operation *) { (void)isPlace(op, operand, 1); })
      .Case<tensor::ExtractOp, memref::LoadOp, tensor::ExtractSliceOp, memref::SubViewOp>([&](Operation *) {
        if (!isPlace(op, operand, 1))
          markResults(op);
      })
      .Case<tensor::InsertOp, tensor::InsertSliceOp>([&](Operation *) {
        if (!isPlace(op, operand, 2))
          markResults(op);
      })
      .Case<memref::StoreOp, memref::AtomicRMWOp>([&](Operation *) {
        if (isPlace(op, operand, 2))
          return;
        markResults(op);
        if (operand == 0)
          markMemory(op->getOperand(1));
      })
      .Case([&](memref::CopyOp copy) {
        if (operand == 0)
          markMemory(copy.getTarget());
      })
      .Case<scf::IfOp, scf::IndexSwitchOp>([&](Operation *) { stop(op, "a branch"); })
      .Case([&](scf::ForOp loop) {
        if (operand < 3)
          return stop(op, "the bound of a loop");
        mark(loop.getRegionIterArg(operand - 3));
        mark(loop.getResult(operand - 3));
      })
      .Case([&](scf::WhileOp loop) { mark(loop.getBeforeArguments()[operand]); })
      .Case([&](scf::ConditionOp condition) {
        if (operand == 0)
          return stop(op, "the bound of a loop");
        auto loop = cast<scf::WhileOp>(op->getParentOp());
        mark(loop.getAfterArguments()[operand - 1]);
        mark(loop.getResult(operand - 1));
      })
      .Default([&](Operation *) { visitOther(op, operand); });
}

namespace {
struct CheckApproximate : tessera::impl::CheckApproximatePassBase<CheckApproximate> {
  void runOnOperation() override {
    getOperation().walk([&](NodeOp node) {
      if (!dfg::Notes::approximate.isOn(node))
        return;
      Flow flow(getOperation());
      for (Value result : node->getResults())
        flow.mark(result);
      if (!flow.run())
        return;
      auto diag = node.emitError() << "the results of " << describe(node)
                                   << " are marked as approximate, but " << flow.use
                                   << " depends on them (dfg-x1)";
      diag.attachNote(flow.at->getLoc()) << "here";
      signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
