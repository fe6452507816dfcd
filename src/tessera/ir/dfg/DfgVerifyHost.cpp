// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbered rules of what host code says to graphs. The types of a wait, push or pop are checked where the
// launch or open that they follow is visible; a handle that came in as an argument is checked at run time.
#include "tessera/ir/dfg/DfgVerify.h"

using namespace tessera;
using namespace tessera::dfg;

LogicalResult dfg::verifyOnHost(Operation *op) {
  auto graph = op->getParentOfType<GraphOp>();
  if (!graph)
    return success();
  auto diag = op->emitOpError() << "expected a host operation to stand outside graphs, but got it in graph '"
                                << graph.getSymName() << "' (dfg-h1)";
  diag.attachNote() << "inside a graph, 'dfg.call' instantiates another graph";
  return diag;
}

LogicalResult LaunchOp::verify() { return verifyOnHost(*this); }
LogicalResult OpenOp::verify() { return verifyOnHost(*this); }
LogicalResult WaitOp::verify() { return verifyOnHost(*this); }
LogicalResult PushOp::verify() { return verifyOnHost(*this); }
LogicalResult PopOp::verify() { return verifyOnHost(*this); }
LogicalResult CloseOp::verify() { return verifyOnHost(*this); }

static FailureOr<GraphOp> lookupGraph(Operation *op, FlatSymbolRefAttr name, SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(op, name);
  if (auto graph = dyn_cast_if_present<GraphOp>(symbol))
    return graph;
  auto diag =
      op->emitOpError() << "expected '" << name.getValue() << "' to be a graph, but got "
                        << (symbol ? "'" + symbol->getName().getStringRef().str() + "'" : "no such symbol")
                        << " (dfg-h2)";
  if (symbol)
    diag.attachNote(symbol->getLoc()) << "the symbol is defined here";
  return failure();
}

// What a host operation gives or takes against what the graph says.
static LogicalResult verifyTypes(Operation *op, TypeRange types, ArrayRef<Type> wanted, StringRef what,
                                 GraphOp graph) {
  if (types.size() != wanted.size()) {
    auto diag = op->emitOpError() << "expected " << wanted.size() << " " << what << "s of graph '"
                                  << graph.getSymName() << "', but got " << types.size() << " (dfg-h3)";
    diag.attachNote(graph.getLoc()) << "the graph is defined here";
    return diag;
  }
  for (auto [i, type] : llvm::enumerate(types)) {
    if (type == wanted[i])
      continue;
    auto diag = op->emitOpError() << "expected " << what << " #" << i << " of graph '" << graph.getSymName()
                                  << "' to have type " << wanted[i] << ", but got " << type << " (dfg-h3)";
    diag.attachNote(graph.getLoc()) << "the graph is defined here";
    return diag;
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<GraphOp> graph = lookupGraph(*this, getGraphAttr(), symbols);
  if (failed(graph) ||
      failed(verifyTypes(*this, getInputs().getTypes(), graph->getArgumentTypes(), "input", *graph)))
    return failure();
  llvm::DenseMap<Block *, WaitOp> waits;
  for (Operation *user : getRun().getUsers()) {
    auto wait = dyn_cast<WaitOp>(user);
    if (!wait)
      continue;
    if (failed(verifyTypes(wait, wait.getOutputs().getTypes(), graph->getResultTypes(), "output", *graph)))
      return failure();
    auto [it, inserted] = waits.try_emplace(wait->getBlock(), wait);
    if (inserted)
      continue;
    WaitOp first = wait->isBeforeInBlock(it->second) ? wait : it->second;
    WaitOp second = first == wait ? it->second : wait;
    auto diag =
        second.emitOpError() << "expected a run to be waited for once, but got a second wait (dfg-h4)";
    diag.attachNote(first.getLoc()) << "the first wait is here";
    return diag;
  }
  return success();
}

LogicalResult OpenOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<GraphOp> graph = lookupGraph(*this, getGraphAttr(), symbols);
  if (failed(graph))
    return failure();
  for (Operation *user : getStream().getUsers()) {
    if (auto push = dyn_cast<PushOp>(user))
      if (failed(verifyTypes(push, push.getInputs().getTypes(), graph->getArgumentTypes(), "input", *graph)))
        return failure();
    if (auto pop = dyn_cast<PopOp>(user))
      if (failed(verifyTypes(pop, pop.getOutputs().getTypes(), graph->getResultTypes(), "output", *graph)))
        return failure();
    // In one block the order is plain; across blocks only the runtime knows it.
    auto close = dyn_cast<CloseOp>(user);
    for (Operation *other : close ? llvm::to_vector(getStream().getUsers()) : SmallVector<Operation *>())
      if (other->getBlock() == close->getBlock() && close->isBeforeInBlock(other)) {
        auto diag = other->emitOpError()
                    << "expected no use of a stream after its close, but got one (dfg-h5)";
        diag.attachNote(close.getLoc()) << "closed here";
        return diag;
      }
  }
  return success();
}
