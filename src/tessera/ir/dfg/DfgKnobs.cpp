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

static bool writesOrMeets(NodeOp node) {
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).isWritable())
      return true;
  return node.walk([](Operation *op) { return WalkResult(failure(isa<ScratchOp, BarrierOp>(op))); })
      .wasInterrupted();
}

// What is kept from one activation to the next has a size that is known before the first.
static bool canReuse(NodeOp node) {
  if (node.getRank() == 0 || node.getNumYields() == 0 || node.isInternal() || writesOrMeets(node) ||
      !isa<GraphOp>(node->getParentOp()))
    return false;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    auto type = dyn_cast<RankedTensorType>(node->getResult(r).getType());
    if (node.getYield(r).getMode() != ResultMode::Gather || !type || !type.hasStaticShape() ||
        type.getRank() != int64_t(node.getRank()))
      return false;
  }
  return true;
}

std::optional<unsigned> dfg::sampledDim(NodeOp node) {
  if (node.getRank() == 0 || node.getNumYields() == 0 || node.isInternal() || writesOrMeets(node))
    return std::nullopt;
  std::optional<unsigned> first;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    ResultAttr yield = node.getYield(r);
    std::optional<ReductionKind> kind;
    if (yield.getMode() == ResultMode::Reduce)
      kind = yield.getReduction().getKind();
    Type type = node.getYieldOp().getValues()[r].getType();
    if (!kind ||
        !llvm::is_contained({ReductionKind::AddF, ReductionKind::MinimumF, ReductionKind::MaximumF,
                             ReductionKind::MinNumF, ReductionKind::MaxNumF},
                            *kind) ||
        (!type.isF32() && !type.isF64()))
      return std::nullopt;
    unsigned dim = 0;
    while (!yield.reduces(dim))
      ++dim;
    if (first.value_or(dim) != dim)
      return std::nullopt;
    first = dim;
  }
  return first;
}

bool dfg::hasKnob(NodeOp node, const Knob &knob) {
  if (knob.isExact())
    return true;
  if (knob.structure == Knob::Structure::Sample)
    return knob.precision == Knob::Precision::F32 && sampledDim(node).has_value();
  if (knob.structure == Knob::Structure::Reuse)
    return knob.precision == Knob::Precision::F32 && canReuse(node);
  const bool narrows = knob.precision == Knob::Precision::F16 || knob.precision == Knob::Precision::BF16;
  if (knob.precision != Knob::Precision::F32 && !narrows)
    return false;
  if (knob.structure != Knob::Structure::None && !knob.skipsRows())
    return false;
  // A row has to have something in it: what is left out must be more than what asking costs.
  if (node.getRank() < 2 || node.getNumYields() == 0 || node.isInternal() || writesOrMeets(node))
    return false;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    Type type = node.getYieldOp().getValues()[r].getType();
    // The weights of cubics are quotients of numbers that 16 bits do not hold.
    const bool isCubic = knob.structure == Knob::Structure::CubicRows;
    if (node.getYield(r).getMode() != ResultMode::Gather || !isa<FloatType>(type) ||
        (narrows && !type.isF32()) || (isCubic && !type.isF32() && !type.isF64()))
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
  auto add = [&](Knob::Structure structure, int64_t skip, int64_t rate, int64_t offset) {
    Knob knob{Precision::F32, structure, rate, offset};
    knob.skip = skip;
    structures.push_back(knob);
  };
  constexpr auto line = Knob::Structure::PerforateRows, cubic = Knob::Structure::CubicRows;
  for (int64_t rate : {2, 3, 4})
    for (int64_t offset = 0; offset < rate; ++offset)
      add(line, 1, rate, offset);
  // One row of a period, at its end or in its middle: a reader does best between two of them.
  for (int64_t rate : {3, 4, 6, 8, 16})
    for (int64_t offset : {int64_t(0), rate / 2})
      add(line, rate - 1, rate, offset);
  // The three rows that a reader takes which computes that one.
  for (int64_t rate : {6, 8, 16})
    for (int64_t offset : {int64_t(1), rate / 2 + 1})
      add(line, rate - 3, rate, offset);
  add(cubic, 1, 2, 0);
  for (int64_t rate : {3, 4, 6, 8})
    for (int64_t offset : {int64_t(0), rate / 2})
      add(cubic, rate - 1, rate, offset);
  for (Precision precision : {Precision::F32, Precision::F16, Precision::BF16})
    for (Knob knob : structures) {
      knob.precision = precision;
      if (hasKnob(node, knob) && (precision == Precision::F32 || canNarrow(node)))
        knobs.push_back(knob);
    }
  for (int64_t rate : {2, 3, 4})
    for (int64_t offset = 0; offset < rate; ++offset)
      if (Knob knob{Precision::F32, Knob::Structure::Sample, rate, offset}; hasKnob(node, knob))
        knobs.push_back(knob);
  for (int64_t rate : {2, 3, 4}) {
    Knob knob{Precision::F32, Knob::Structure::Reuse, rate, 1};
    knob.skip = rate - 1;
    if (hasKnob(node, knob))
      knobs.push_back(knob);
  }
  return knobs;
}
