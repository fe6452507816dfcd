// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The knobs of nodes: the notes of the dialect, and which knobs a node has.
#include "tessera/ir/dfg/DfgKnobs.h"

#include "tessera/base/Diag.h"
#include "tessera/base/Weights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace tessera;
using namespace tessera::dfg;

bool dfg::isOfGraph(Operation *op) { return isa<NodeOp>(op) && isa_and_present<GraphOp>(op->getParentOp()); }

// That they are graphs of the node's type is for NodeOp::verifySymbolUses to say.
LogicalResult dfg::verifyVersions(Operation *op, Attribute versions) {
  auto list = cast<ArrayAttr>(versions);
  if (!list.empty() && llvm::all_of(list, llvm::IsaPred<FlatSymbolRefAttr>))
    return success();
  return op->emitOpError("expected 'dfg.versions' to list names of graphs, but got ")
         << versions << " (dfg-v2)";
}

LogicalResult dfg::verifyFirst(Operation *op, Attribute first) {
  auto node = cast<NodeOp>(op);
  auto list = cast<ArrayAttr>(first);
  bool fits = list.size() == node.getNumYields();
  for (unsigned r = 0; fits && r < list.size(); ++r) {
    auto typed = dyn_cast<TypedAttr>(list[r]);
    fits = typed && typed.getType() == node->getResult(r).getType();
  }
  if (fits)
    return success();
  return op->emitOpError("expected 'dfg.first' to list a value for each yielded result of a node, but got ")
         << first << " (dfg-v4)";
}

LogicalResult dfg::verifyKnob(Operation *op, Attribute knob) {
  StringRef text = cast<StringAttr>(knob).getValue();
  Result<Knob> parsed = Knob::parse(text.str());
  if (!parsed.ok())
    return op->emitOpError("'dfg.knob': ") << parsed.status().message();
  if (!hasKnob(cast<NodeOp>(op), *parsed))
    return op->emitOpError("does not have the knob '") << text << "'";
  return success();
}

LogicalResult dfg::verifyUnsigned(Operation *op, Attribute names) {
  if (llvm::all_of(cast<ArrayAttr>(names), llvm::IsaPred<StringAttr>))
    return success();
  return op->emitOpError("expected 'dfg.unsigned' to list names of inputs and outputs, but got ") << names;
}

Knob dfg::knobOf(NodeOp node) {
  StringAttr text = Notes::knob.get(node);
  return text ? *Knob::parse(text.getValue().str()) : Knob();
}

bool dfg::hasOtherWays(NodeOp node) {
  return Notes::knob.isOn(node) || Notes::versions.isOn(node) || Notes::approximate.isOn(node);
}

FlatSymbolRefAttr dfg::versionOf(NodeOp node, int64_t number) {
  ArrayAttr list = Notes::versions.get(node);
  const bool isThere = list && number >= 1 && number <= static_cast<int64_t>(list.size());
  return isThere ? cast<FlatSymbolRefAttr>(list[number - 1]) : FlatSymbolRefAttr();
}

TypedAttr dfg::firstOf(NodeOp node, unsigned result) {
  if (ArrayAttr list = Notes::first.get(node))
    return cast<TypedAttr>(list[result]);
  return Builder(node.getContext()).getZeroAttr(node->getResult(result).getType());
}

uint64_t dfg::bitErrorKey(NodeOp node, unsigned result) {
  return static_cast<uint64_t>(noiseKey(concat(node.getName().str(), "#", result)));
}

static bool meets(NodeOp node) {
  return node.walk([](Operation *op) { return WalkResult(failure(isa<ScratchOp, BarrierOp>(op))); })
      .wasInterrupted();
}

static bool writesOrMeets(NodeOp node) {
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).isWritable())
      return true;
  return meets(node);
}

SmallVector<Operation *> dfg::addressOf(memref::StoreOp store) {
  llvm::SetVector<Operation *> slice;
  for (Value index : store.getIndices())
    if (Operation *def = index.getDefiningOp())
      slice.insert(def);
  for (size_t i = 0; i < slice.size(); ++i)
    for (Value operand : slice[i]->getOperands())
      if (Operation *def = operand.getDefiningOp())
        slice.insert(def);
  return slice.takeVector();
}

std::optional<SmallVector<memref::StoreOp>> dfg::storesOf(NodeOp node) {
  if (node.getRank() == 0 || node.getNumYields() != 0 || node.isInternal() || meets(node))
    return std::nullopt;
  SmallVector<memref::StoreOp> stores;
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    if (!node.getPort(i).isWritable())
      continue;
    Value memory = node.getInputArgs()[i];
    auto store = memory.hasOneUse() ? dyn_cast<memref::StoreOp>(*memory.user_begin()) : memref::StoreOp();
    if (!store || store.getMemref() != memory || store->getBlock() != node.getBodyBlock() ||
        !isa<FloatType>(store.getValue().getType()) || node.getPort(i).getReduction())
      return std::nullopt;
    for (Operation *op : addressOf(store))
      if (op->getNumRegions() || !isMemoryEffectFree(op))
        return std::nullopt;
    stores.push_back(store);
  }
  return stores.empty() ? std::nullopt : std::optional(stores);
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

// As what is kept for reuse, but of any node: it is computed all the same.
static bool canBeStale(NodeOp node) {
  if (node.getNumYields() == 0 || node->getNumResults() != node.getNumYields())
    return false;
  return llvm::all_of(node->getResultTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return type.isIntOrFloat() || (shaped && shaped.hasStaticShape());
  });
}

// Bits of whole bytes, counted by at most three indices.
static bool canHaveErrors(NodeOp node) {
  if (node.getNumYields() == 0)
    return false;
  for (Type type : node->getResults().take_front(node.getNumYields()).getTypes()) {
    auto shaped = dyn_cast<RankedTensorType>(type);
    Type element = getElementTypeOrSelf(type);
    if ((shaped && shaped.getRank() > 3) || !element.isIntOrFloat() ||
        !llvm::is_contained({8, 16, 32, 64}, static_cast<int>(element.getIntOrFloatBitWidth())))
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

// Operations that mean the same of f16 as of f32 but for rounding.
static bool isArithmetic(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SelectOp,
             arith::ConstantOp, arith::SIToFPOp, arith::UIToFPOp, tensor::ExtractOp, tensor::DimOp,
             scf::ForOp, scf::IfOp, scf::YieldOp, YieldOp>(op);
}

// All floats of the body are numbers of f32, and nothing is done with them that f16 does not have.
static bool canComputeInHalf(NodeOp node) {
  // Whole tensors are rounded before the node, numbers in it; memory and parts of tensors are not.
  for (auto [i, arg] : llvm::enumerate(node.getInputArgs())) {
    const bool isWhole = isa<RankedTensorType>(arg.getType()) && node.getPort(i).getMode() != PortMode::Each;
    if (getElementTypeOrSelf(arg.getType()).isF32() && !arg.getType().isF32() && !isWhole)
      return false;
  }
  WalkResult walk = node.getBodyBlock()->walk([](Operation *op) {
    auto isFloat = [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); };
    const bool touches =
        llvm::any_of(op->getOperandTypes(), isFloat) || llvm::any_of(op->getResultTypes(), isFloat);
    auto isOther = [&](Type type) { return isFloat(type) && !type.isF32(); };
    const bool reads = isa<tensor::ExtractOp, tensor::DimOp>(op);
    const bool fits = isArithmetic(op) && !llvm::any_of(op->getResultTypes(), isOther) &&
                      (reads ? getElementTypeOrSelf(op->getOperand(0).getType()).isF32()
                             : !llvm::any_of(op->getOperandTypes(), isOther));
    return WalkResult(failure(touches && !fits));
  });
  return !walk.wasInterrupted();
}

bool dfg::hasKnob(NodeOp node, const Knob &knob) {
  if (knob.isExact())
    return true;
  if (knob.needsMark() && (!Notes::approximate.isOn(node) || !isa<GraphOp>(node->getParentOp())))
    return false;
  const bool isPlain = knob.precision == Knob::Precision::F32;
  switch (knob.structure) {
  case Knob::Structure::Sample:
    return isPlain && sampledDim(node).has_value();
  case Knob::Structure::Reuse:
    return isPlain && canReuse(node);
  case Knob::Structure::Version:
    return isPlain && versionOf(node, knob.value);
  case Knob::Structure::Stale:
    return isPlain && canBeStale(node);
  case Knob::Structure::BitErrors:
    return isPlain && canHaveErrors(node);
  default:
    break;
  }
  const bool isMath = knob.precision == Knob::Precision::F16Math;
  const bool narrows =
      isMath || knob.precision == Knob::Precision::F16 || knob.precision == Knob::Precision::BF16;
  if (knob.precision != Knob::Precision::F32 && !narrows)
    return false;
  if (knob.structure != Knob::Structure::None && !knob.skipsRows())
    return false;
  // A row has to have something in it: what is left out must be more than what asking costs.
  if (node.getRank() < 2)
    return false;
  auto allows = [&](Type type) {
    // The weights of cubics are quotients of numbers that 16 bits do not hold.
    const bool isCubic = knob.structure == Knob::Structure::CubicRows;
    return isa<FloatType>(type) && (!narrows || type.isF32()) && (!isCubic || type.isF32() || type.isF64());
  };
  if (std::optional<SmallVector<memref::StoreOp>> stores = storesOf(node))
    return !isMath &&
           llvm::all_of(*stores, [&](memref::StoreOp store) { return allows(store.getValue().getType()); });
  if (node.getNumYields() == 0 || node.isInternal() || writesOrMeets(node))
    return false;
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    if (node.getYield(r).getMode() != ResultMode::Gather ||
        !allows(node.getYieldOp().getValues()[r].getType()))
      return false;
  return !isMath || canComputeInHalf(node);
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

bool dfg::canDelay(NodeOp node) {
  return llvm::all_of(node->getUsers(), [](Operation *user) { return isa<NodeOp>(user); });
}

bool dfg::offersKnob(NodeOp node, const Knob &knob) {
  const bool isStoredNarrow =
      knob.precision != Knob::Precision::F32 && knob.precision != Knob::Precision::F16Math;
  return hasKnob(node, knob) && (!isStoredNarrow || canNarrow(node)) &&
         (knob.structure != Knob::Structure::Stale || canDelay(node));
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
  for (int64_t rate : {3, 4, 6, 8, 12, 16})
    for (int64_t offset : {int64_t(0), rate / 2})
      add(line, rate - 1, rate, offset);
  // The three rows that a reader takes which computes that one.
  for (int64_t rate : {6, 8, 12, 16})
    for (int64_t offset : {int64_t(1), rate / 2 + 1})
      add(line, rate - 3, rate, offset);
  add(cubic, 1, 2, 0);
  for (int64_t rate : {3, 4, 6, 8})
    for (int64_t offset : {int64_t(0), rate / 2})
      add(cubic, rate - 1, rate, offset);
  for (Precision precision : {Precision::F32, Precision::F16, Precision::BF16, Precision::F16Math})
    for (Knob knob : structures) {
      knob.precision = precision;
      if (offersKnob(node, knob))
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
  auto offer = [&](Knob::Structure structure, int64_t value, double share) {
    Knob knob;
    knob.structure = structure;
    knob.value = value;
    knob.share = share;
    if (offersKnob(node, knob))
      knobs.push_back(knob);
  };
  for (int64_t number = 1; versionOf(node, number); ++number)
    offer(Knob::Structure::Version, number, 0);
  offer(Knob::Structure::Stale, 1, 0);
  for (double share : {1e-6, 1e-5, 1e-4, 1e-3})
    offer(Knob::Structure::BitErrors, 0, share);
  return knobs;
}
