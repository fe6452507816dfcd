// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbered rules of graphs and of what stands in them beside nodes. Each message carries its rule's
// label; the table of rules is in Dfg.md.
#include "tessera/ir/dfg/DfgVerify.h"

#include "tessera/ir/dfg/DfgKnobs.h"

#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace tessera;
using namespace tessera::dfg;

//===----------------------------------------------------------------------===//
// What the verifiers share
//===----------------------------------------------------------------------===//

static bool isEdgeElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && integer.getWidth() > 0;
  return isa<IndexType, FloatType>(type);
}

LogicalResult dfg::verifyEdgeType(Operation *op, Type type, const Twine &what) {
  if (isEdgeElement(isa<RankedTensorType, MemRefType>(type) ? getElementTypeOrSelf(type) : type)) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref || memref.getLayout().isIdentity())
      return success();
    auto diag = op->emitOpError() << "expected the memory of " << what
                                  << " to have an identity layout, but got " << type << " (dfg-m2)";
    diag.attachNote() << "pass the whole memory and the offsets, or copy the view into a 'dfg.buffer'";
    return diag;
  }
  return op->emitOpError()
         << "expected the type of " << what
         << " to be a signless integer, index or float, or a ranked tensor or memref of these, but got "
         << type << " (dfg-t1)";
}

// The memory that a memref of a graph names, whatever views were taken of it. A port's result is new memory:
// the node that yields it has consumed the old.
static Value getMemory(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
    if (!isa<BaseMemRefType>(view.getViewSource().getType()))
      break;
    memref = view.getViewSource();
  }
  return memref;
}

namespace {
/// Follows the memrefs of one block from operation to operation: rule dfg-m4.
struct MemoryLife {
  struct Consumer {
    Operation *op;
    std::string how;
  };
  llvm::DenseMap<Value, Consumer> consumed;

  LogicalResult use(Operation *op, unsigned operand) {
    auto it = consumed.find(getMemory(op->getOperand(operand)));
    if (it == consumed.end())
      return success();
    auto diag = op->emitOpError() << "expected operand #" << operand
                                  << " to be memory that is still valid, but it was consumed before (dfg-m4)";
    diag.attachNote(it->second.op->getLoc())
        << "consumed here by " << it->second.how << "; use the result instead";
    return diag;
  }

  // One operation may take a piece of memory through several read ports, or through one that consumes it.
  LogicalResult visit(Operation *op, function_ref<std::optional<std::string>(unsigned)> consumes) {
    llvm::SmallMapVector<Value, unsigned, 4> first;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<BaseMemRefType>(operand.get().getType()))
        continue;
      unsigned number = operand.getOperandNumber();
      if (failed(use(op, number)))
        return failure();
      auto [it, inserted] = first.insert({getMemory(operand.get()), number});
      if (!inserted && (consumes(number) || consumes(it->second))) {
        auto diag = op->emitOpError() << "expected memory that is consumed to be passed once, but operands #"
                                      << it->second << " and #" << number << " are the same memory (dfg-m5)";
        diag.attachNote(it->first.getLoc()) << "the memory comes from here";
        return diag;
      }
    }
    for (OpOperand &operand : op->getOpOperands())
      if (isa<BaseMemRefType>(operand.get().getType()))
        if (auto how = consumes(operand.getOperandNumber()))
          consumed.insert({getMemory(operand.get()), {op, *how}});
    return success();
  }
};
} // namespace

static LogicalResult visitMemory(MemoryLife &life, Operation &op) {
  if (auto node = dyn_cast<NodeOp>(op))
    return life.visit(&op, [&](unsigned operand) -> std::optional<std::string> {
      unsigned input = operand - node.getRank();
      PortAttr port = node.getPort(input);
      if (!port.isWritable())
        return std::nullopt;
      return ("the '" + stringifyPortMode(port.getMode()) + "' port of node '" + node.getName() + "'").str();
    });
  if (auto call = dyn_cast<CallOp>(op))
    return life.visit(&op, [&](unsigned) -> std::optional<std::string> {
      return ("the call of '" + call.getCallee() + "'").str();
    });
  // Handing the same memory out twice would give the caller two names for it.
  bool hands = isa<ReturnOp>(op);
  return life.visit(&op, [&](unsigned) -> std::optional<std::string> {
    return hands ? std::optional<std::string>("the return") : std::nullopt;
  });
}

LogicalResult dfg::verifyGraphBlock(Operation *op, Block &block) {
  for (Operation &child : block) {
    if (isa<NodeOp, CallOp, BufferOp, StateOp, UpdateOp, ReturnOp, YieldOp>(child) || isWiring(&child))
      continue;
    auto diag = child.emitOpError() << "expected only nodes, calls, buffers, states and wiring in "
                                    << (isa<GraphOp>(op) ? "a graph" : "an internal node")
                                    << ", but got an operation that is none of these (dfg-g4)";
    diag.attachNote(op->getLoc()) << "in this " << (isa<GraphOp>(op) ? "graph" : "node")
                                  << "; put the operation into a leaf node of its own";
    return diag;
  }
  MemoryLife life;
  for (Operation &child : block)
    if (failed(visitMemory(life, child)))
      return failure();
  return success();
}

// A call or a buffer stands where a node may stand.
static bool standsInGraph(Operation *op) {
  Operation *parent = op->getParentOp();
  auto node = dyn_cast_if_present<NodeOp>(parent);
  return isa_and_present<GraphOp>(parent) || (node && node.isInternal());
}

//===----------------------------------------------------------------------===//
// dfg.graph, dfg.return
//===----------------------------------------------------------------------===//

static LogicalResult verifyNames(GraphOp graph, ArrayAttr names, size_t count, StringRef what) {
  if (names.size() != count)
    return graph.emitOpError() << "expected one name for each of " << count << " " << what << "s, but got "
                               << names.size() << " (dfg-g1)";
  llvm::StringSet<> seen;
  for (auto [i, attr] : llvm::enumerate(names)) {
    StringRef name = cast<StringAttr>(attr).getValue();
    if (name.empty())
      return graph.emitOpError() << "expected the name of " << what << " #" << i
                                 << " not to be empty (dfg-g1)";
    if (!seen.insert(name).second)
      return graph.emitOpError() << "expected the names of " << what << "s to differ, but got '" << name
                                 << "' twice (dfg-g1)";
  }
  return success();
}

LogicalResult GraphOp::verify() {
  if (failed(verifyNames(*this, getArgNames(), getArgumentTypes().size(), "input")) ||
      failed(verifyNames(*this, getResultNames(), getResultTypes().size(), "output")))
    return failure();
  for (auto [i, type] : llvm::enumerate(getArgumentTypes()))
    if (failed(verifyEdgeType(*this, type, "input #" + Twine(i))))
      return failure();
  for (auto [i, type] : llvm::enumerate(getResultTypes()))
    if (failed(verifyEdgeType(*this, type, "output #" + Twine(i))))
      return failure();
  if (getBodyBlock()->getNumArguments() != getArgumentTypes().size())
    return emitOpError() << "expected " << getArgumentTypes().size()
                         << " arguments of the body, as many as inputs, but got "
                         << getBodyBlock()->getNumArguments() << " (dfg-g2)";
  for (auto [i, arg] : llvm::enumerate(getBodyBlock()->getArguments()))
    if (arg.getType() != getArgumentTypes()[i])
      return emitOpError() << "expected argument #" << i << " of the body to have the input's type "
                           << getArgumentTypes()[i] << ", but got " << arg.getType() << " (dfg-g2)";
  return success();
}

LogicalResult GraphOp::verifyRegions() {
  if (!isa<ReturnOp>(getBodyBlock()->back()))
    return emitOpError() << "expected a graph to end with 'dfg.return', but got '"
                         << getBodyBlock()->back().getName() << "' (dfg-g3)";
  if (failed(verifyGraphBlock(*this, *getBodyBlock())))
    return failure();
  // Names find a node again in plans, traces and tables, so they differ in the whole graph, nested nodes
  // included.
  llvm::StringMap<NodeOp> named;
  WalkResult walk = getBody().walk<WalkOrder::PreOrder>([&](NodeOp node) {
    auto [it, inserted] = named.try_emplace(node.getName(), node);
    if (inserted)
      return WalkResult::advance();
    auto diag = node.emitOpError() << "expected the names of a graph's nodes to differ, but got '"
                                   << node.getName() << "' twice (dfg-g6)";
    diag.attachNote(it->second.getLoc()) << "the other node is here";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult ReturnOp::verify() {
  auto graph = cast<GraphOp>((*this)->getParentOp());
  ArrayRef<Type> types = graph.getResultTypes();
  if (types.size() != getNumOperands()) {
    auto diag = emitOpError() << "expected " << types.size() << " values, as many as outputs, but got "
                              << getNumOperands() << " (dfg-g5)";
    diag.attachNote(graph.getLoc()) << "the outputs of graph '" << graph.getSymName()
                                    << "' are declared here";
    return diag;
  }
  for (auto [i, value] : llvm::enumerate(getValues())) {
    if (value.getType() == types[i])
      continue;
    auto diag = emitOpError() << "expected value #" << i << " to have the output's type " << types[i]
                              << ", but got " << value.getType() << " (dfg-g5)";
    diag.attachNote(graph.getLoc()) << "the outputs of graph '" << graph.getSymName()
                                    << "' are declared here";
    return diag;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// dfg.call
//===----------------------------------------------------------------------===//

LogicalResult CallOp::verify() {
  if (standsInGraph(*this))
    return success();
  auto diag = emitOpError() << "expected a call to stand directly in a graph or an internal node, but got '"
                            << (*this)->getParentOp()->getName() << "' around it (dfg-c1)";
  diag.attachNote() << "code outside a graph starts one with 'dfg.launch'";
  return diag;
}

// The graphs that a call, or a node given in versions, may stand for.
static SmallVector<FlatSymbolRefAttr> graphsOf(Operation *op) {
  if (auto call = dyn_cast<CallOp>(op))
    return {call.getCalleeAttr()};
  SmallVector<FlatSymbolRefAttr> names;
  if (ArrayAttr list = Notes::versions.get(op); list && isa<NodeOp>(op))
    for (Attribute name : list)
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(name))
        names.push_back(symbol);
  return names;
}

// A path of calls and versions that leads from `graph` to `target`; empty when there is none.
static bool findCalls(GraphOp graph, GraphOp target, SymbolTableCollection &symbols,
                      llvm::DenseSet<Operation *> &seen, SmallVectorImpl<Operation *> &path) {
  if (graph == target)
    return true;
  if (!seen.insert(graph).second)
    return false;
  WalkResult walk = graph.getBody().walk([&](Operation *op) {
    for (FlatSymbolRefAttr name : graphsOf(op)) {
      auto callee = symbols.lookupNearestSymbolFrom<GraphOp>(op, name);
      if (!callee)
        continue;
      path.push_back(op);
      if (findCalls(callee, target, symbols, seen, path))
        return WalkResult::interrupt();
      path.pop_back();
    }
    return WalkResult::advance();
  });
  return walk.wasInterrupted();
}

// dfg-c4 for `op`, which stands for `graph`.
static LogicalResult verifyNotRecursive(Operation *op, GraphOp graph, SymbolTableCollection &symbols) {
  auto caller = op->getParentOfType<GraphOp>();
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> path;
  if (!caller || !findCalls(graph, caller, symbols, seen, path))
    return success();
  // Every graph of the cycle finds it; the first in the file reports it.
  for (Operation *step : path) {
    auto other = step->getParentOfType<GraphOp>();
    if (other != caller && other->getBlock() == caller->getBlock() && other->isBeforeInBlock(caller))
      return success();
  }
  auto diag = op->emitOpError() << "expected calls not to be recursive, but graph '" << caller.getSymName()
                                << "' reaches itself (dfg-c4)";
  for (Operation *step : path) {
    auto call = dyn_cast<CallOp>(step);
    diag.attachNote(step->getLoc()) << "graph '" << step->getParentOfType<GraphOp>().getSymName()
                                    << (call ? "' calls '" + call.getCallee().str() + "' here"
                                             : "' has a node with versions here");
  }
  return diag;
}

LogicalResult dfg::verifyVersions(NodeOp node, SymbolTableCollection &symbols) {
  auto type = FunctionType::get(node.getContext(), node.getInputs().getTypes(), node->getResultTypes());
  for (FlatSymbolRefAttr name : graphsOf(node)) {
    auto graph = symbols.lookupNearestSymbolFrom<GraphOp>(node, name);
    if (!graph || graph.getFunctionType() != type)
      return node.emitOpError() << "expected the version " << name << " to be a graph of type " << type
                                << " (dfg-v3)";
    if (failed(verifyNotRecursive(node, graph, symbols)))
      return failure();
  }
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getCalleeAttr());
  auto graph = dyn_cast_if_present<GraphOp>(symbol);
  if (!graph) {
    auto diag =
        emitOpError() << "expected the callee '" << getCallee() << "' to be a graph, but got "
                      << (symbol ? "'" + symbol->getName().getStringRef().str() + "'" : "no such symbol")
                      << " (dfg-c2)";
    if (symbol)
      diag.attachNote(symbol->getLoc()) << "the symbol is defined here";
    return diag;
  }
  auto type = FunctionType::get(getContext(), getInputs().getTypes(), getOutputs().getTypes());
  if (type != graph.getFunctionType()) {
    auto diag = emitOpError() << "expected the type of the callee '" << getCallee() << "', "
                              << graph.getFunctionType() << ", but got " << type << " (dfg-c3)";
    diag.attachNote(graph.getLoc()) << "the graph is defined here";
    return diag;
  }
  return verifyNotRecursive(*this, graph, symbols);
}

//===----------------------------------------------------------------------===//
// dfg.buffer, dfg.state, dfg.update
//===----------------------------------------------------------------------===//

LogicalResult BufferOp::verify() {
  if (!standsInGraph(*this)) {
    auto diag =
        emitOpError() << "expected a buffer to stand directly in a graph or an internal node, but got '"
                      << (*this)->getParentOp()->getName() << "' around it (dfg-s1)";
    diag.attachNote()
        << "memory of one instance of a leaf is 'memref.alloca', of all instances 'dfg.scratch'";
    return diag;
  }
  auto type = dyn_cast<MemRefType>(getMemory().getType());
  if (failed(verifyEdgeType(*this, getMemory().getType(), "the buffer")))
    return failure();
  if (getExtents().size() != size_t(type.getNumDynamicDims()))
    return emitOpError() << "expected one extent for each of " << type.getNumDynamicDims()
                         << " dynamic dimensions, but got " << getExtents().size() << " (dfg-s2)";
  for (auto [i, extent] : llvm::enumerate(getExtents()))
    if (auto value = getConstantIntValue(extent); value && *value <= 0)
      return emitOpError() << "expected extent #" << i << " to be positive, but got " << *value
                           << " (dfg-s2)";
  if (getFill() && getFill().getType() != type.getElementType())
    return emitOpError() << "expected the fill value to have the element type " << type.getElementType()
                         << ", but got " << getFill().getType() << " (dfg-s2)";
  return success();
}

LogicalResult StateOp::verify() {
  if (!isa<GraphOp>((*this)->getParentOp())) {
    auto diag = emitOpError() << "expected a state to stand directly in a graph, but got '"
                              << (*this)->getParentOp()->getName() << "' around it (dfg-s3)";
    diag.attachNote() << "keep the state in the graph and pass it to the node as an operand";
    return diag;
  }
  if (!getInit())
    return emitOpError() << "expected a state to have an initial value, 'init(...)', but got none (dfg-s4)";
  if (getInit().getType() != getValue().getType())
    return emitOpError() << "expected the initial value to have the state's type " << getValue().getType()
                         << ", but got " << getInit().getType() << " (dfg-s4)";
  if (isa<BaseMemRefType>(getValue().getType())) {
    auto diag = emitOpError() << "expected a state to be a tensor or a scalar, but got "
                              << getValue().getType() << " (dfg-s5)";
    diag.attachNote() << "a memref names memory, not a value; keep its content as a tensor";
    return diag;
  }
  if (failed(verifyEdgeType(*this, getValue().getType(), "the state")))
    return failure();
  SmallVector<UpdateOp> updates;
  for (OpOperand &use : getValue().getUses())
    if (auto update = dyn_cast<UpdateOp>(use.getOwner()); update && use.getOperandNumber() == 0)
      updates.push_back(update);
  if (updates.size() <= 1)
    return success();
  auto diag = emitOpError() << "expected at most one update of a state, but got " << updates.size()
                            << " (dfg-s6)";
  for (UpdateOp update : updates)
    diag.attachNote(update.getLoc()) << "updated here";
  return diag;
}

LogicalResult UpdateOp::verify() {
  if (!isa<GraphOp>((*this)->getParentOp()))
    return emitOpError() << "expected an update to stand directly in a graph, but got '"
                         << (*this)->getParentOp()->getName() << "' around it (dfg-s3)";
  if (!getState().getDefiningOp<StateOp>()) {
    auto diag =
        emitOpError() << "expected the first operand to be the result of 'dfg.state', but got another value "
                         "(dfg-s7)";
    diag.attachNote(getState().getLoc()) << "the value comes from here";
    return diag;
  }
  return success();
}
