// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See MemoryUses.h. A worklist over values: where an operation makes another name for the memory, that name
// joins it.
#include "tessera/transforms/check/MemoryUses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace tessera;
using namespace tessera::check;

namespace {
class Collector {
public:
  explicit Collector(llvm::DenseSet<Operation *> &callees) : callees(callees) {}

  void run(Value memory) {
    add(memory);
    while (!names.empty())
      for (OpOperand &use : names.pop_back_val().getUses())
        visit(use);
  }

  SmallVector<MemoryUse> uses;

private:
  void add(Value name) {
    if (isa<BaseMemRefType>(name.getType()) && seen.insert(name).second)
      names.push_back(name);
  }
  MemoryUse &found(OpOperand &use) {
    return uses.emplace_back(MemoryUse{use.getOwner(), use.getOwner(), use.get()});
  }

  void visit(OpOperand &use) {
    Operation *op = use.getOwner();
    unsigned number = use.getOperandNumber();
    if (auto view = dyn_cast<ViewLikeOpInterface>(op); view && view.getViewSource() == use.get())
      return add(view.getViewDest());
    if (isa<arith::SelectOp>(op))
      return add(op->getResult(0));
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return carry(loop.getTiedLoopRegionIterArg(&use), loop.getTiedLoopResult(&use));
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return add(loop.getBeforeArguments()[number]);
    if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
      auto loop = cast<scf::WhileOp>(op->getParentOp());
      return carry(loop.getAfterArguments()[number - 1], loop.getResult(number - 1));
    }
    if (isa<scf::YieldOp>(op))
      return visitYield(op->getParentOp(), number, use);
    if (auto node = dyn_cast<dfg::NodeOp>(op))
      return visitChild(node, number - node.getRank(), use);
    if (auto call = dyn_cast<CallOpInterface>(op))
      return visitCallee(dyn_cast_if_present<FunctionOpInterface>(call.resolveCallable()), number, use);
    if (auto call = dyn_cast<dfg::CallOp>(op))
      return visitGraph(call, number, use);
    // The end of a graph hands the memory on; that touches nothing.
    if (!isa<dfg::ReturnOp>(op))
      visitEffects(use);
  }

  void carry(Value inside, Value after) {
    add(inside);
    add(after);
  }

  void visitYield(Operation *parent, unsigned number, OpOperand &use) {
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return carry(loop.getRegionIterArg(number), loop.getResult(number));
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      return add(loop.getBeforeArguments()[number]);
    if (isa<scf::IfOp, scf::ExecuteRegionOp, scf::IndexSwitchOp>(parent))
      return add(parent->getResult(number));
    found(use).unknown = true;
  }

  // A child node is taken at its word; its own turn checks the word.
  void visitChild(dfg::NodeOp node, unsigned input, OpOperand &use) {
    dfg::PortAttr port = node.getPort(input);
    MemoryUse &child = found(use);
    child.reads = port.getMode() != dfg::PortMode::Out;
    child.writes = port.isWritable();
    child.atomic = port.getMode() == dfg::PortMode::Acc;
    if (port.isWritable())
      add(node.getPortResult(input));
  }

  void visitInside(Region *body, unsigned number, OpOperand &use) {
    if (!body || body->empty() || number >= body->getNumArguments()) {
      found(use).unknown = true;
      return;
    }
    if (!callees.insert(body->getParentOp()).second)
      return; // A recursive function does nothing that its first visit has not found.
    Collector inside(callees);
    inside.run(body->getArgument(number));
    callees.erase(body->getParentOp());
    for (MemoryUse inner : inside.uses) {
      inner.op = use.getOwner();
      inner.through = use.get();
      uses.push_back(inner);
    }
  }
  void visitCallee(FunctionOpInterface function, unsigned number, OpOperand &use) {
    visitInside(function ? &function.getFunctionBody() : nullptr, number, use);
    // A returned memref may be the same memory under another name.
    for (Value result : use.getOwner()->getResults())
      add(result);
  }
  void visitGraph(dfg::CallOp call, unsigned number, OpOperand &use) {
    auto graph = SymbolTable::lookupNearestSymbolFrom<dfg::GraphOp>(call, call.getCalleeAttr());
    visitInside(graph ? &graph.getBody() : nullptr, number, use);
    for (Value result : call.getResults())
      add(result);
  }

  void visitEffects(OpOperand &use) {
    Operation *op = use.getOwner();
    if (isMemoryEffectFree(op))
      return;
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    MemoryUse access = {op, op, use.get()};
    access.atomic = isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp, dfg::AccumulateOp>(op);
    if (!interface) {
      access.unknown = true;
      uses.push_back(access);
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (effect.getValue() && effect.getValue() != use.get())
        continue;
      // An operation that passes memory on is not asked twice when it names two operands alike.
      if (OpOperand *operand = effect.getEffectValue<OpOperand *>(); operand && operand != &use)
        continue;
      access.unknown |= !effect.getValue();
      access.reads |= isa<MemoryEffects::Read>(effect.getEffect());
      access.writes |= isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect());
    }
    // Upstream declares only the write of a generic atomic update.
    if (isa<memref::GenericAtomicRMWOp, memref::AtomicRMWOp>(op))
      access.reads = access.writes = true;
    if (access.reads || access.writes || access.unknown)
      uses.push_back(access);
  }

  llvm::DenseSet<Operation *> &callees;
  SmallVector<Value> names;
  llvm::DenseSet<Value> seen;
};
} // namespace

SmallVector<MemoryUse> check::collectMemoryUses(Value memory) {
  llvm::DenseSet<Operation *> callees;
  Collector collector(callees);
  collector.run(memory);
  // The worklist visits by name; messages come in the order of the text.
  llvm::DenseMap<Operation *, unsigned> order;
  Operation *body = memory.getParentRegion()->getParentOp();
  body->walk<WalkOrder::PreOrder>([&](Operation *op) { order.try_emplace(op, order.size()); });
  llvm::stable_sort(collector.uses, [&](const MemoryUse &a, const MemoryUse &b) {
    return order.lookup(a.op) < order.lookup(b.op);
  });
  return collector.uses;
}
