// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The knobs of nodes: the attribute dfg.knob, and which knobs a node has.
#include "tessera/ir/dfg/DfgKnobs.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::dfg;

LogicalResult DfgDialect::verifyOperationAttribute(Operation *op, NamedAttribute attr) {
  if (attr.getName() != knobAttr)
    return success();
  auto text = dyn_cast<StringAttr>(attr.getValue());
  if (!text)
    return op->emitOpError("expected 'dfg.knob' to be a string");
  Result<Knob> knob = Knob::parse(text.getValue().str());
  if (!knob.ok())
    return op->emitOpError("'dfg.knob': ") << knob.status().message();
  auto node = dyn_cast<NodeOp>(op);
  if (!node || !hasKnob(node, *knob))
    return op->emitOpError("does not have the knob '") << text.getValue() << "'";
  return success();
}

Knob dfg::knobOf(NodeOp node) {
  auto text = node->getAttrOfType<StringAttr>(knobAttr);
  return text ? *Knob::parse(text.getValue().str()) : Knob();
}

bool dfg::hasKnob(NodeOp node, const Knob &knob) {
  if (knob.isExact())
    return true;
  const bool narrows = knob.precision == Knob::Precision::F16 || knob.precision == Knob::Precision::BF16;
  if (knob.precision != Knob::Precision::F32 && !narrows)
    return false;
  if (knob.structure != Knob::Structure::None && knob.structure != Knob::Structure::PerforateRows)
    return false;
  // A row has to have something in it: what is left out must be more than what asking costs.
  if (node.getRank() < 2 || node.getNumYields() == 0 || node.isInternal())
    return false;
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).isWritable())
      return false;
  if (node.walk([](Operation *op) { return WalkResult(failure(isa<ScratchOp, BarrierOp>(op))); })
          .wasInterrupted())
    return false;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    Type type = node.getYieldOp().getValues()[r].getType();
    if (node.getYield(r).getMode() != ResultMode::Gather || !isa<FloatType>(type) ||
        (narrows && !type.isF32()))
      return false;
  }
  return true;
}

bool dfg::canNarrow(NodeOp node) {
  for (OpResult result : node->getResults().take_front(node.getNumYields()))
    for (OpOperand &use : result.getUses()) {
      auto reader = dyn_cast<NodeOp>(use.getOwner());
      if (!reader || reader.isInternal() || use.getOperandNumber() < reader.getRank())
        return false;
      unsigned input = use.getOperandNumber() - reader.getRank();
      if (reader.getPort(input).getMode() == PortMode::Each)
        continue;
      for (Operation *user : reader.getInputArgs()[input].getUsers())
        if (!isa<tensor::ExtractOp, tensor::DimOp>(user))
          return false;
    }
  return true;
}

SmallVector<Knob> dfg::listKnobs(NodeOp node) {
  using Precision = Knob::Precision;
  SmallVector<Knob> structures = {Knob()}, knobs;
  auto add = [&](int64_t skip, int64_t rate, int64_t offset) {
    Knob knob{Precision::F32, Knob::Structure::PerforateRows, rate, offset};
    knob.skip = skip;
    structures.push_back(knob);
  };
  for (int64_t rate : {2, 3, 4})
    for (int64_t offset = 0; offset < rate; ++offset)
      add(1, rate, offset);
  for (int64_t rate : {3, 4, 6, 8})
    add(rate - 1, rate, 0);
  for (Precision precision : {Precision::F32, Precision::F16, Precision::BF16})
    for (Knob knob : structures) {
      knob.precision = precision;
      if (hasKnob(node, knob) && (precision == Precision::F32 || canNarrow(node)))
        knobs.push_back(knob);
    }
  return knobs;
}
