// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A leaf with barriers. Its body is cut at them into phases, and each phase becomes a loop over all
// instances, so that no instance enters a phase before all have left the one before. A loop or branch around
// a barrier, which the rules require to be uniform, is turned inside out: it stands around the loops over
// instances. What an instance keeps from one phase to the next lives in memory with one element for each
// instance, unless it is cheap to compute again.
#include "tessera/transforms/leaf/Emit.h"

#include "tessera/base/Check.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace tessera;
using namespace tessera::leaf;

namespace {

bool holdsBarrier(Operation *op) {
  return op->walk([](dfg::BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Computed again in each phase that uses it.
bool isCheap(Operation *op) {
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) && !isa<tensor::ExtractOp>(op);
}

class PhaseEmitter {
public:
  explicit PhaseEmitter(EmitContext &ctx) : ctx(ctx), node(ctx.node), b(ctx.b), loc(ctx.loc) {}
  LogicalResult run();

private:
  LogicalResult emitBlock(Block &block);
  LogicalResult emitPhase(ArrayRef<Operation *> ops);
  LogicalResult emitLoop(scf::ForOp loop);
  LogicalResult emitBranch(scf::IfOp branch);
  /// Some use of `v` is outside of the phase `ops`, directly or through operations that are repeated there.
  bool usedOutside(Value v, const DenseSet<Operation *> &ops, Block *block);
  /// Memory with one `type` for each instance.
  Value makeSlot(Type type);
  /// Runs `body` for all instances; in it, values are found by `inPhase`.
  LogicalResult forAll(function_ref<LogicalResult()> body);
  /// The value in the phase that is being emitted; null, with an error, when it cannot be had there.
  Value inPhase(Value v);
  /// A uniform value outside of the loops over instances.
  Value uniform(Value v);
  LogicalResult storeTo(ArrayRef<std::pair<Value, Value>> slotsAndValues);
  /// This instance's part of memory that all instances have parts of, as a memref of `shape`.
  Value ownPart(Value memory, ArrayRef<int64_t> shape);
  /// Puts a scalar or a tile into this instance's part of a slot.
  void store(Value v, Value slot);

  EmitContext &ctx;
  dfg::NodeOp node;
  OpBuilder &b;
  Location loc;
  Operation *anchor = nullptr;   // the node's first operation; slots stand before it
  bool accumulates = false;      // into a port
  SmallVector<Value> ids;        // of the instance, while a phase is emitted
  IRMapping shared;              // arguments, scratch, counters of outer loops
  IRMapping phase;               // values of the phase that is being emitted
  DenseMap<Value, Value> slots;  // value of the body → memory with one element for each instance
  DenseMap<Value, Value> locals; // memory of an instance → memory of all instances
};

Value PhaseEmitter::makeSlot(Type type) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(anchor);
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (Value g : ctx.grid) {
    std::optional<int64_t> extent = getConstantIntValue(g);
    shape.push_back(extent.value_or(ShapedType::kDynamic));
    if (!extent)
      dynamic.push_back(g);
  }
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && !isa<VectorType>(type)) {
    llvm::append_range(shape, shaped.getShape());
    type = shaped.getElementType();
  }
  return memref::AllocOp::create(b, loc, MemRefType::get(shape, type), dynamic);
}

bool PhaseEmitter::usedOutside(Value v, const DenseSet<Operation *> &ops, Block *block) {
  for (Operation *user : v.getUsers()) {
    Operation *top = block->findAncestorOpInBlock(*user);
    if (!top || !ops.contains(top))
      return true;
    if (isCheap(user) &&
        llvm::any_of(user->getResults(), [&](Value r) { return usedOutside(r, ops, block); }))
      return true;
  }
  return false;
}

Value PhaseEmitter::uniform(Value v) {
  if (Value known = shared.lookupOrNull(v))
    return known;
  Operation *def = v.getDefiningOp();
  if (!def || def->getNumRegions()) {
    node.emitOpError("has a barrier under a bound or condition that is not the same for all instances");
    return {};
  }
  IRMapping map;
  for (Value operand : def->getOperands()) {
    Value u = uniform(operand);
    if (!u)
      return {};
    map.map(operand, u);
  }
  Value copy = b.clone(*def, map)->getResult(cast<OpResult>(v).getResultNumber());
  if (auto extent = copy.getDefiningOp<dfg::ExtentOp>()) {
    copy = ctx.grid[extent.getDim()];
    extent.erase();
  }
  return copy;
}

Value PhaseEmitter::ownPart(Value memory, ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      strides(type.getRank(), b.getIndexAttr(1)), sizes;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    if (d < ids.size()) {
      offsets[d] = ids[d];
      sizes.push_back(b.getIndexAttr(1));
    } else {
      sizes.push_back(b.getIndexAttr(type.getDimSize(d)));
    }
  }
  auto view =
      cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(shape, type, offsets, sizes, strides));
  return memref::SubViewOp::create(b, loc, view, memory, offsets, sizes, strides);
}

void PhaseEmitter::store(Value v, Value slot) {
  if (auto tile = dyn_cast<RankedTensorType>(v.getType()))
    bufferization::MaterializeInDestinationOp::create(b, loc, Type(), v, ownPart(slot, tile.getShape()),
                                                      /*restrict=*/true,
                                                      /*writable=*/true);
  else
    memref::StoreOp::create(b, loc, v, slot, ids);
}

Value PhaseEmitter::inPhase(Value v) {
  if (Value known = phase.lookupOrNull(v))
    return known;
  if (Value known = shared.lookupOrNull(v))
    return known;
  Value result;
  if (Value memory = locals.lookup(v)) {
    result = ownPart(memory, cast<MemRefType>(v.getType()).getShape());
  } else if (Value slot = slots.lookup(v)) {
    if (auto tile = dyn_cast<RankedTensorType>(v.getType()))
      result =
          bufferization::ToTensorOp::create(b, loc, tile, ownPart(slot, tile.getShape()), /*restrict=*/true);
    else
      result = memref::LoadOp::create(b, loc, slot, ids);
  } else {
    // What a phase keeps for later ones has a slot, or was refused where it is made.
    Operation *def = v.getDefiningOp();
    TESSERA_CHECK(def && isCheap(def))
        << "a value of an earlier phase has no slot in '" << node.getName().str() << "'";
    if (auto extent = dyn_cast<dfg::ExtentOp>(def)) {
      result = ctx.grid[extent.getDim()];
    } else {
      IRMapping map;
      for (Value operand : def->getOperands()) {
        Value u = inPhase(operand);
        if (!u)
          return {};
        map.map(operand, u);
      }
      result = b.clone(*def, map)->getResult(cast<OpResult>(v).getResultNumber());
    }
  }
  phase.map(v, result);
  return result;
}

LogicalResult PhaseEmitter::forAll(function_ref<LogicalResult()> body) {
  OpBuilder::InsertionGuard guard(b);
  if (accumulates) {
    // Instances that accumulate into the same memory must not meet.
    ids.clear();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    for (Value extent : ctx.grid) {
      auto loop = scf::ForOp::create(b, loc, zero, extent, one);
      b.setInsertionPointToStart(loop.getBody());
      ids.push_back(loop.getInductionVar());
    }
  } else {
    auto forall = scf::ForallOp::create(b, loc, getAsOpFoldResult(ctx.grid), ValueRange{}, std::nullopt);
    b.setInsertionPointToStart(forall.getBody());
    ids = SmallVector<Value>(forall.getInductionVars());
  }
  phase = IRMapping();
  for (auto [id, value] : llvm::zip(node.getIds(), ids))
    phase.map(id, value);
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).getMode() == dfg::PortMode::Each)
      phase.map(node.getInputArgs()[i],
                sliceEach(ctx, b, ctx.inputs[i], node.getInputArgs()[i].getType(), ids));
  return body();
}

LogicalResult PhaseEmitter::storeTo(ArrayRef<std::pair<Value, Value>> pairs) {
  if (pairs.empty())
    return success();
  return forAll([&] {
    // All values first: one may be the old content of another's slot.
    SmallVector<Value> values;
    for (auto [slot, v] : pairs) {
      values.push_back(inPhase(v));
      if (!values.back())
        return failure();
    }
    for (auto [pair, v] : llvm::zip(pairs, values))
      store(v, pair.first);
    return success();
  });
}

LogicalResult PhaseEmitter::emitPhase(ArrayRef<Operation *> ops) {
  bool effects = llvm::any_of(ops, [](Operation *op) { return !isCheap(op); });
  if (!effects)
    return success(); // repeated where it is used
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  Block *block = ops.front()->getBlock();
  SmallVector<Value> kept;
  for (Operation *op : ops) {
    if (isCheap(op) || isa<dfg::ScratchOp>(op))
      continue;
    if (auto local = dyn_cast<memref::AllocaOp>(op)) {
      if (usedOutside(local, inside, block)) {
        if (!local.getType().hasStaticShape())
          return op->emitOpError("of dynamic size cannot be kept across a barrier; give it a static size");
        locals[local] = makeSlot(local.getType());
      }
      continue;
    }
    for (Value v : op->getResults())
      if (usedOutside(v, inside, block)) {
        auto shaped = dyn_cast<ShapedType>(v.getType());
        if (shaped && !(isa<RankedTensorType>(shaped) && shaped.hasStaticShape()))
          return op->emitOpError("yields a value of type ")
                 << v.getType() << " that is used after a barrier; keep it in memory";
        slots[v] = makeSlot(v.getType());
        kept.push_back(v);
      }
  }
  return forAll([&]() -> LogicalResult {
    for (Operation *op : ops) {
      if (auto extent = dyn_cast<dfg::ExtentOp>(op)) {
        phase.map(extent.getExtent(), ctx.grid[extent.getDim()]);
        continue;
      }
      if (isa<dfg::ScratchOp>(op) || (isa<memref::AllocaOp>(op) && locals.count(op->getResult(0))))
        continue;
      // Operands, also of nested operations, as this phase knows them.
      LogicalResult status = success();
      op->walk([&](Operation *nested) {
        for (Value v : nested->getOperands()) {
          Operation *def = v.getDefiningOp();
          Region *region = v.getParentRegion();
          bool nestedValue = op->isProperAncestor(region->getParentOp()) || region->getParentOp() == op;
          if (nestedValue || (def && inside.contains(def) && phase.contains(v)))
            continue;
          if (!inPhase(v))
            status = failure();
        }
      });
      if (failed(status))
        return failure();
      IRMapping map(phase);
      op->walk([&](Operation *nested) {
        for (Value v : nested->getOperands())
          if (!map.contains(v))
            if (Value known = shared.lookupOrNull(v))
              map.map(v, known);
      });
      Operation *copy = b.clone(*op, map);
      copy->walk([&](dfg::ExtentOp extent) {
        extent.getExtent().replaceAllUsesWith(ctx.grid[extent.getDim()]);
        extent.erase();
      });
      for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
        phase.map(from, to);
    }
    for (Value v : kept)
      store(phase.lookup(v), slots[v]);
    return success();
  });
}

LogicalResult PhaseEmitter::emitLoop(scf::ForOp loop) {
  // Carried values live in slots: the loop's own copy, and one for what comes out.
  SmallVector<std::pair<Value, Value>> inits;
  SmallVector<Value> carried;
  for (auto [arg, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs())) {
    carried.push_back(makeSlot(arg.getType()));
    inits.push_back({carried.back(), init});
  }
  if (failed(storeTo(inits)))
    return failure();
  Value lower = uniform(loop.getLowerBound()), upper = uniform(loop.getUpperBound()),
        step = uniform(loop.getStep());
  if (!lower || !upper || !step)
    return failure();
  auto outer = scf::ForOp::create(b, loop.getLoc(), lower, upper, step);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(outer.getBody());
    shared.map(loop.getInductionVar(), outer.getInductionVar());
    for (auto [arg, slot] : llvm::zip(loop.getRegionIterArgs(), carried))
      slots[arg] = slot;
    if (failed(emitBlock(*loop.getBody())))
      return failure();
    SmallVector<std::pair<Value, Value>> next;
    for (auto [slot, v] : llvm::zip(carried, loop.getBody()->getTerminator()->getOperands()))
      next.push_back({slot, v});
    if (failed(storeTo(next)))
      return failure();
  }
  for (auto [result, slot] : llvm::zip(loop.getResults(), carried))
    slots[result] = slot;
  return success();
}

LogicalResult PhaseEmitter::emitBranch(scf::IfOp branch) {
  Value condition = uniform(branch.getCondition());
  if (!condition)
    return failure();
  SmallVector<Value> results;
  for (Value r : branch.getResults())
    results.push_back(makeSlot(r.getType()));
  auto outer =
      scf::IfOp::create(b, branch.getLoc(), condition, /*withElseRegion=*/!branch.getElseRegion().empty());
  auto fill = [&](Region &from, Region &to) -> LogicalResult {
    if (from.empty())
      return success();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&to.front());
    if (failed(emitBlock(from.front())))
      return failure();
    SmallVector<std::pair<Value, Value>> yields;
    for (auto [slot, v] : llvm::zip(results, from.front().getTerminator()->getOperands()))
      yields.push_back({slot, v});
    return storeTo(yields);
  };
  if (failed(fill(branch.getThenRegion(), outer.getThenRegion())) ||
      failed(fill(branch.getElseRegion(), outer.getElseRegion())))
    return failure();
  for (auto [r, slot] : llvm::zip(branch.getResults(), results))
    slots[r] = slot;
  return success();
}

LogicalResult PhaseEmitter::emitBlock(Block &block) {
  SmallVector<Operation *> current;
  auto flush = [&]() -> LogicalResult {
    if (current.empty())
      return success();
    SmallVector<Operation *> ops = std::move(current);
    current.clear();
    return emitPhase(ops);
  };
  for (Operation &op : block.without_terminator()) {
    if (!holdsBarrier(&op)) {
      current.push_back(&op);
      continue;
    }
    if (failed(flush()))
      return failure();
    if (isa<dfg::BarrierOp>(op))
      continue;
    LogicalResult status = failure();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      status = emitLoop(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      status = emitBranch(branch);
    else
      op.emitOpError("cannot hold a barrier on this target; use scf.for or scf.if around it");
    if (failed(status))
      return failure();
  }
  return flush();
}

LogicalResult PhaseEmitter::run() {
  anchor = arith::ConstantIndexOp::create(b, loc, 0);
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    accumulates |= node.getPort(i).getMode() == dfg::PortMode::Acc;
    if (node.getPort(i).getMode() != dfg::PortMode::Each)
      shared.map(node.getInputArgs()[i], ctx.inputs[i]);
  }
  node.getBody().walk([&](dfg::ScratchOp scratch) {
    shared.map(scratch.getMemory(),
               memref::AllocOp::create(b, scratch.getLoc(), cast<MemRefType>(scratch.getMemory().getType())));
  });
  if (failed(emitBlock(*node.getBodyBlock())))
    return failure();
  if (accumulates)
    lowerAccumulate(ctx, b.getInsertionBlock()->getParentOp(), {});
  // What the instances yield, each into its place; reductions over the slots, in order.
  for (auto [r, v] : llvm::enumerate(node.getYieldOp().getValues())) {
    dfg::ResultAttr yield = node.getYield(r);
    auto tile = dyn_cast<RankedTensorType>(v.getType());
    if (tile && (yield.isReduction() || !tile.hasStaticShape()))
      return node.emitOpError("holds barriers and yields a tile that is reduced or of dynamic size; write it "
                              "through a memory port");
    Value out = ctx.dests[r];
    bool tiled = yield.getMode() == dfg::ResultMode::Tile;
    Value slot = yield.isReduction() || tiled || !out ? makeSlot(v.getType()) : out;
    if (failed(storeTo({{slot, v}})))
      return failure();
    Type type = node.getResult(r).getType();
    if (tiled) {
      // The parts side by side.
      auto shape = cast<RankedTensorType>(type);
      if (!out) {
        SmallVector<Value> dynamic;
        for (unsigned d = 0; d < shape.getRank(); ++d)
          if (shape.isDynamicDim(d))
            dynamic.push_back(arith::MulIOp::create(
                b, loc, ctx.grid[d], arith::ConstantIndexOp::create(b, loc, tile.getDimSize(d))));
        out = memref::AllocOp::create(b, loc, MemRefType::get(shape.getShape(), shape.getElementType()),
                                      dynamic);
      }
      LogicalResult copied = forAll([&] {
        SmallVector<OpFoldResult> offsets, sizes, strides(tile.getRank(), b.getIndexAttr(1));
        for (unsigned d = 0; d < tile.getRank(); ++d) {
          sizes.push_back(b.getIndexAttr(tile.getDimSize(d)));
          if (d < ids.size())
            offsets.push_back(arith::MulIOp::create(
                                  b, loc, ids[d], arith::ConstantIndexOp::create(b, loc, tile.getDimSize(d)))
                                  .getResult());
          else
            offsets.push_back(b.getIndexAttr(0));
        }
        Value to = memref::SubViewOp::create(b, loc, out, offsets, sizes, strides);
        memref::CopyOp::create(b, loc, ownPart(slot, tile.getShape()), to);
        return success();
      });
      if (failed(copied))
        return failure();
      if (!ctx.dests[r])
        ctx.results[r] = bufferization::ToTensorOp::create(b, loc, type, out, /*restrict=*/true);
      continue;
    }
    if (!yield.isReduction()) {
      if (!out)
        ctx.results[r] = bufferization::ToTensorOp::create(b, loc, type, slot, /*restrict=*/true);
      continue;
    }
    SmallVector<OpFoldResult> extents = getResultExtents(ctx, r, Value());
    Value init = getInit(ctx, r, extents);
    Value id = constantOf(b, loc, dfg::getIdentity(yield.getReduction(), v.getType(), node));
    init = linalg::FillOp::create(b, loc, ValueRange{id}, ValueRange{init}).getResult(0);
    auto slotType = cast<MemRefType>(slot.getType());
    Value all = bufferization::ToTensorOp::create(
        b, loc, RankedTensorType::get(slotType.getShape(), slotType.getElementType()), slot,
        /*restrict=*/true);
    SmallVector<AffineExpr> kept;
    SmallVector<utils::IteratorType> iterators;
    for (unsigned d = 0; d < node.getRank(); ++d) {
      iterators.push_back(yield.reduces(d) ? utils::IteratorType::reduction : utils::IteratorType::parallel);
      if (!yield.reduces(d))
        kept.push_back(b.getAffineDimExpr(d));
    }
    SmallVector<AffineMap> maps = {AffineMap::getMultiDimIdentityMap(node.getRank(), b.getContext()),
                                   AffineMap::get(node.getRank(), 0, kept, b.getContext())};
    auto reduce = linalg::GenericOp::create(
        b, loc, TypeRange{init.getType()}, ValueRange{all}, ValueRange{init}, maps, iterators,
        [&](OpBuilder &inner, Location l, ValueRange args) {
          Value c = dfg::buildCombine(inner, l, yield.getReduction(), args[1], args[0], node);
          linalg::YieldOp::create(inner, l, c);
        });
    finishResult(ctx, r, reduce.getResult(0));
  }
  return success();
}

} // namespace

LogicalResult leaf::emitPhases(EmitContext &ctx) { return PhaseEmitter(ctx).run(); }
