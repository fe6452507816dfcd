// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors that are much wider than registers become loops over their elements. LLVM would write each of their
// operations out in as many instructions as there are registers in them, and does not take a vector of 65,536
// elements at all. A value that has one reader is computed where it is read, element by element; others go
// through memory. LLVM makes vectors of its own of the loops.
#include "tessera/targets/cpu/WideLegaliser.h"

#include "tessera/targets/common/Exprs.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace tessera;
using namespace tessera::cpu;

/// Bytes that a vector takes at most to stay one: as much as 64 of the longest registers there are.
static constexpr int64_t mostBytes = 4096;
/// Operations that one element is computed by, at most.
static constexpr unsigned mostLazy = 64;

static bool isTooWide(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.isScalable() || vector.getRank() == 0)
    return false;
  Type element = vector.getElementType();
  auto integer = dyn_cast<IntegerType>(element);
  if (integer ? integer.getWidth() > 64 : !plan::elementTypeOf(element))
    return false;
  return vector.getNumElements() > mostBytes / int64_t(plan::typeBytes(element));
}

//===----------------------------------------------------------------------===//
// What is lazy
//===----------------------------------------------------------------------===//

Value WideLegaliser::rootOf(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  if (auto arg = dyn_cast<BlockArgument>(memory))
    return isa<func::FuncOp>(arg.getOwner()->getParentOp()) ? memory : Value();
  return isa_and_nonnull<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(memory.getDefiningOp())
             ? memory
             : Value();
}

Value WideLegaliser::baseOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<vector::TransferReadOp, vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp,
            vector::TransferWriteOp, vector::StoreOp, vector::MaskedStoreOp, vector::ScatterOp,
            vector::CompressStoreOp>([](auto access) { return Value(access.getBase()); })
      .Case([](memref::StoreOp store) { return store.getMemRef(); })
      .Default([](Operation *) { return Value(); });
}

bool WideLegaliser::mustStore(OpResult v) {
  Operation *op = v.getOwner();
  if (WideLanes::isCheap(op) || isa<arith::ConstantOp>(op))
    return false;
  Operation *user = nullptr;
  for (OpOperand &use : v.getUses()) {
    Operation *other = use.getOwner();
    if ((user && other != user) || other->getBlock() != op->getBlock() || WideLanes::readsOften(use))
      return true;
    user = other;
  }
  return lazy[v].ops > mostLazy;
}

void WideLegaliser::visitLazy(Operation *op) {
  dead.push_back(op);
  LazyValue own;
  own.isStraight = WideLanes::isStraight(op);
  if (isa<vector::TransferReadOp, vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp>(op)) {
    own.reads.push_back(op);
    own.isStraight = isa<vector::TransferReadOp, vector::LoadOp>(op);
  }
  for (Value operand : op->getOperands())
    if (auto it = lazy.find(operand); it != lazy.end() && !lanes.memory.count(operand)) {
      own.reads.append(it->second.reads);
      own.ops += it->second.ops;
      own.isStraight &= it->second.isStraight;
      consume(operand);
    }
  for (OpResult result : op->getResults()) {
    if (result.use_empty())
      continue;
    if (!lanes.wide.count(result)) {
      // A part that is no wider than others: now, since whoever reads it is not looked at.
      b.setInsertionPoint(op);
      if (!isa<VectorType>(result.getType())) {
        result.replaceAllUsesWith(lanes.compute(b, op, result.getResultNumber(), {}));
        continue;
      }
      auto type = cast<VectorType>(result.getType());
      Value buffer = lanes.allocate(b, op->getLoc(), type);
      lanes.wide[result] = type;
      copy(op->getLoc(), result, buffer);
      lanes.wide.erase(result);
      finish(result, buffer);
      continue;
    }
    lazy[result] = own;
    if (mustStore(result)) {
      b.setInsertionPointAfter(op);
      keep(result);
    } else if (!own.reads.empty()) {
      pending.insert(result);
    }
  }
}

// Computes all elements at the builder's place.
void WideLegaliser::keep(Value v) {
  consume(v);
  Value buffer = lanes.allocate(b, v.getLoc(), lanes.typeOf(v));
  copy(v.getLoc(), v, buffer);
  lanes.memory[v] = buffer;
}

void WideLegaliser::copy(Location loc, Value v, Value buffer) {
  forLanes(b, loc, cast<MemRefType>(buffer.getType()).getShape(), [&](OpBuilder &inner, Lane lane) {
    lanes.store(inner, loc, lanes.at(inner, v, lane), buffer, lane);
  });
}

Value WideLegaliser::copyOf(Value v) {
  consume(v);
  Value buffer = lanes.allocate(b, v.getLoc(), lanes.typeOf(v));
  copy(v.getLoc(), v, buffer);
  return buffer;
}

void WideLegaliser::finish(Value result, Value buffer) {
  if (lanes.wide.count(result))
    lanes.memory[result] = buffer;
  else
    result.replaceAllUsesWith(
        lanes.readWhole(b, result.getLoc(), buffer, cast<VectorType>(result.getType()).getElementType()));
}

// Lane by lane into the place that was read: no lane is read after it was written.
bool WideLegaliser::isInPlace(Operation *op, Value tip, const LazyValue &tree) const {
  if (!tree.isStraight)
    return false;
  return llvm::all_of(tree.reads, [&](Operation *read) {
    if (!mayMeet(rootOf(baseOf(read)), rootOf(baseOf(op))))
      return true;
    auto load = dyn_cast<vector::LoadOp>(read);
    auto store = dyn_cast<vector::StoreOp>(op);
    if (load && store)
      return load.getBase() == store.getBase() && load.getIndices() == store.getIndices();
    auto from = dyn_cast<vector::TransferReadOp>(read);
    auto to = dyn_cast<vector::TransferWriteOp>(op);
    return from && to && from.getBase() == to.getBase() && from.getIndices() == to.getIndices() &&
           from.getPermutationMap() == to.getPermutationMap() && from.getPermutationMap().isMinorIdentity();
  });
}

void WideLegaliser::beforeWrite(Operation *op) {
  if (pending.empty() || isMemoryEffectFree(op))
    return;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!op->getNumRegions() && effects && !effects.hasEffect<MemoryEffects::Write>() &&
      !effects.hasEffect<MemoryEffects::Free>())
    return;
  Value target = baseOf(op), root = target ? rootOf(target) : Value();
  for (Value tip : llvm::to_vector(pending)) {
    const LazyValue &tree = lazy[tip];
    bool meets = llvm::any_of(tree.reads, [&](Operation *r) { return mayMeet(rootOf(baseOf(r)), root); });
    bool own = llvm::is_contained(op->getOperands(), tip) && isInPlace(op, tip, tree);
    if (meets && !own && lazy[tip].reads.front()->getParentRegion()->isAncestor(op->getParentRegion())) {
      b.setInsertionPoint(op);
      keep(tip);
    }
  }
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

void WideLegaliser::carry(Operation *op) {
  b.setInsertionPoint(op);
  // Buffers for those of `values` that are wide; the operands of `terminators` from `first` on go there.
  auto place = [&](ValueRange values, ArrayRef<Operation *> terminators, unsigned first, ValueRange inits) {
    SmallVector<Value> buffers(values.size());
    for (auto [i, v] : llvm::enumerate(values)) {
      if (!lanes.wide.count(v))
        continue;
      buffers[i] = inits.empty() ? lanes.allocate(b, op->getLoc(), lanes.typeOf(v)) : copyOf(inits[i]);
      lanes.memory[v] = buffers[i];
      carried.push_back(v);
      for (Operation *terminator : terminators)
        sinks[terminator].push_back({first + unsigned(i), buffers[i]});
    }
    return buffers;
  };
  auto alias = [&](ValueRange values, ArrayRef<Value> buffers) {
    for (auto [v, buffer] : llvm::zip(values, buffers))
      if (buffer) {
        lanes.memory[v] = buffer;
        carried.push_back(v);
      }
  };
  auto clear = [&](unsigned first, ArrayRef<Value> buffers) {
    for (auto [i, buffer] : llvm::enumerate(buffers))
      if (buffer)
        op->setOperand(first + i, constantIndex(b, op->getLoc(), 0));
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    auto buffers = place(loop.getRegionIterArgs(), {loop.getBody()->getTerminator()}, 0, loop.getInitArgs());
    alias(loop.getResults(), buffers);
    clear(loop.getNumControlOperands(), buffers);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    auto before = place(loop.getBeforeArguments(), {loop.getYieldOp()}, 0, loop.getInits());
    alias(loop.getResults(), place(loop.getAfterArguments(), {loop.getConditionOp()}, 1, {}));
    clear(0, before);
  } else {
    SmallVector<Operation *> yields;
    for (Region &region : op->getRegions())
      if (!region.empty())
        yields.push_back(region.front().getTerminator());
    place(op->getResults(), yields, 0, {});
  }
}

void WideLegaliser::leave(Operation *terminator) {
  // All of them first: they may be what the others are about to become.
  b.setInsertionPoint(terminator);
  SmallVector<std::pair<Value, Value>> copies;
  for (auto [operand, buffer] : sinks[terminator]) {
    Value v = terminator->getOperand(operand);
    terminator->setOperand(operand, constantIndex(b, terminator->getLoc(), 0));
    if (lanes.memory.lookup(v) == buffer)
      continue;
    bool moves =
        llvm::any_of(sinks[terminator], [&](auto &other) { return lanes.memory.lookup(v) == other.second; });
    bool isOwn = lanes.memory.count(v) && !moves;
    copies.push_back({isOwn ? lanes.memory[v] : copyOf(v), buffer});
  }
  for (auto [from, to] : copies)
    memref::CopyOp::create(b, terminator->getLoc(), from, to);
}

void WideLegaliser::visit(Operation *op) {
  if (sinks.count(op))
    return leave(op);
  auto touches = [&](ValueRange values) {
    return llvm::any_of(values, [&](Value v) { return lanes.wide.count(v); });
  };
  bool carries = isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(op) &&
                 (touches(op->getResults()) || touches(op->getOperands()));
  if (carries)
    carry(op);
  beforeWrite(op);
  if (carries || (!touches(op->getOperands()) && !touches(op->getResults())))
    return;
  b.setInsertionPoint(op);
  if (WideLanes::isLazy(op))
    return visitLazy(op);
  for (Value operand : op->getOperands())
    consume(operand);
  bool known =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case<vector::StoreOp, vector::MaskedStoreOp, vector::CompressStoreOp, vector::ExpandLoadOp,
                vector::ReductionOp, vector::MultiDimReductionOp, vector::ContractionOp, vector::ScanOp,
                vector::ShuffleOp, vector::InsertOp, vector::InsertStridedSliceOp, vector::FromElementsOp,
                vector::ToElementsOp>([&](auto own) { return emit(own), true; })
          .Case<vector::TransferWriteOp, vector::ScatterOp>(
              [&](auto own) { return isa<MemRefType>(own.getBase().getType()) && (emit(own), true); })
          .Default([](Operation *) { return false; });
  if (known)
    dead.push_back(op);
  else
    emitWhole(op);
}

void WideLegaliser::run() {
  SmallVector<Operation *> work;
  auto note = [&](Value v) {
    if (isTooWide(v.getType()))
      lanes.wide[v] = cast<VectorType>(v.getType());
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    work.push_back(op);
    llvm::for_each(op->getResults(), note);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), note);
  });
  if (lanes.wide.empty())
    return;
  for (Operation *op : ArrayRef(work).drop_front())
    visit(op);
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  // Nobody looks at what is carried any more.
  for (Value v : carried)
    v.setType(b.getIndexType());
}

void cpu::legaliseWideVectors(func::FuncOp payload) { WideLegaliser(payload).run(); }
