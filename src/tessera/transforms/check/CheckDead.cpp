// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warnings dfg-w1 to dfg-w6: what is not used. What to do about it is for the passes that remove dead nodes.
#include "tessera/ir/dfg/DfgNames.h"
#include "tessera/transforms/check/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_CHECKDEADPASS
#include "tessera/transforms/check/Passes.h.inc"
} // namespace tessera

using namespace tessera;
using namespace tessera::dfg;

static std::string describe(Operation *op) {
  if (auto node = dyn_cast<NodeOp>(op))
    return dfg::describe(node);
  return ("the call of '" + cast<CallOp>(op).getCallee() + "'").str();
}

namespace {
struct CheckDead : tessera::impl::CheckDeadPassBase<CheckDead> {
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto graph = dyn_cast<GraphOp>(op))
        checkGraph(graph);
      else if (auto node = dyn_cast<NodeOp>(op); node && node.isInternal())
        checkBlock(*node.getBodyBlock());
      else if (auto launch = dyn_cast<LaunchOp>(op); launch && launch.getRun().use_empty())
        launch.emitWarning() << "the run of graph '" << launch.getGraph() << "' is never waited for (dfg-w6)";
      else if (auto open = dyn_cast<OpenOp>(op); open && !isClosed(open))
        open.emitWarning() << "the stream of graph '" << open.getGraph() << "' is never closed (dfg-w6)";
    });
    markAllAnalysesPreserved();
  }

  // A stream that is handed on may be closed elsewhere.
  static bool isClosed(OpenOp open) {
    return llvm::any_of(open.getStream().getUsers(),
                        [](Operation *user) { return !isa<PushOp, PopOp>(user); });
  }

  void checkGraph(GraphOp graph) {
    if (graph.isPrivate() && SymbolTable::symbolKnownUseEmpty(graph, getOperation()))
      graph.emitWarning() << "private graph '" << graph.getSymName()
                          << "' is never called, launched or opened (dfg-w3)";
    for (auto [i, arg] : llvm::enumerate(graph.getBodyBlock()->getArguments()))
      if (arg.use_empty())
        graph.emitWarning() << "input '" << cast<StringAttr>(graph.getArgNames()[i]).getValue()
                            << "' of graph '" << graph.getSymName() << "' is never used (dfg-w4)";
    for (auto state : graph.getBodyBlock()->getOps<StateOp>())
      if (llvm::none_of(state.getValue().getUses(), [](OpOperand &use) {
            return isa<UpdateOp>(use.getOwner()) && use.getOperandNumber() == 0;
          }))
        state.emitWarning() << "state is never updated, so it stays its initial value (dfg-w5)";
    checkBlock(*graph.getBodyBlock());
  }

  // What a terminator or an update takes is live, and what live operations take. Memory that comes in through
  // a port of an internal node goes out through it, so whoever writes there is live as well.
  void checkBlock(Block &block) {
    llvm::DenseSet<Operation *> live;
    for (Operation &op : llvm::reverse(block)) {
      bool alive = op.hasTrait<OpTrait::IsTerminator>() || isa<UpdateOp>(op) ||
                   llvm::any_of(op.getUsers(), [&](Operation *user) { return live.contains(user); });
      if (auto node = dyn_cast<NodeOp>(op); node && isa<NodeOp>(block.getParentOp()))
        for (unsigned i = 0; i < node.getInputs().size(); ++i)
          alive |= node.getPort(i).isWritable() && !node.getInputs()[i].getDefiningOp<BufferOp>();
      if (alive)
        live.insert(&op);
    }
    for (Operation &op : block) {
      if (!isa<NodeOp, CallOp>(op))
        continue;
      if (!live.contains(&op)) {
        op.emitWarning() << describe(&op)
                         << " is dead: none of its results reaches an output or a state (dfg-w2)";
        continue;
      }
      for (OpResult result : op.getResults()) {
        bool ofPort =
            isa<NodeOp>(op) && cast<NodeOp>(op).getPortOfResult(result.getResultNumber()).has_value();
        if (result.use_empty() && !ofPort)
          op.emitWarning() << "result #" << result.getResultNumber() << " of " << describe(&op)
                           << " is never used (dfg-w1)";
      }
    }
  }
};
} // namespace
