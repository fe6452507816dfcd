// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A leaf with memory ports, or one whose results are reduced over different dimensions: loops over its
// instances that store what they yield. Reductions go through one partial value for each chunk of the grid.
#include "tessera/transforms/leaf/Emit.h"
#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace tessera;
using namespace tessera::leaf;

// dfg.accumulate %v, %m[%k] → %m[%k] = combine(%m[%k], %v)
void leaf::lowerAccumulate(EmitContext &ctx, Operation *root, ArrayRef<Value> ports) {
  SmallVector<dfg::AccumulateOp> ops;
  root->walk([&](dfg::AccumulateOp op) { ops.push_back(op); });
  for (dfg::AccumulateOp op : ops) {
    dfg::ReductionAttr reduction;
    for (unsigned i = 0; i < ctx.node.getInputs().size(); ++i)
      if (op.getMemory() == (i < ports.size() && ports[i] ? ports[i] : ctx.inputs[i]))
        reduction = ctx.node.getPort(i).getReduction();
    // One that belongs to a child of a group is lowered with the child.
    if (!reduction)
      continue;
    OpBuilder at(op);
    Value old = memref::LoadOp::create(at, op.getLoc(), op.getMemory(), op.getIndices());
    Value v = dfg::buildCombine(at, op.getLoc(), reduction, old, op.getValue(), ctx.node);
    memref::StoreOp::create(at, op.getLoc(), v, op.getMemory(), op.getIndices());
    op.erase();
  }
}

namespace {
struct Loops {
  EmitContext &ctx;
  dfg::NodeOp node;
  OpBuilder &b;
  Location loc;
  SmallVector<Value> outs;   ///< memory of each result
  SmallVector<Value> ports;  ///< of each input: the memory to use instead of it, or null
  SmallVector<Value> copies; ///< of each accumulated input: private copies of it, or null
  Value firstCopy;           ///< the chunk's first copy
  int64_t lanes = 1;         ///< copies of one chunk, taken in turn
  explicit Loops(EmitContext &ctx) : ctx(ctx), node(ctx.node), b(ctx.b), loc(ctx.loc) {}

  void makeOutputs();
  /// Runs one instance; stores gathered results, returns all that it yields.
  SmallVector<Value> instance(OpBuilder &inner, ValueRange ids, ArrayRef<Value> accumulators);
  /// One of several buffers that are laid one after the other.
  Value rowOf(OpBuilder &inner, Value buffers, Value row, MemRefType like);
  Value index(int64_t v) { return arith::ConstantIndexOp::create(b, loc, v); }
  void finish();
};
} // namespace

void Loops::makeOutputs() {
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    Value dest = ctx.dests[r];
    if (!dest) {
      Type type = node.getResult(r).getType();
      auto tensor = dyn_cast<RankedTensorType>(type);
      auto memory =
          tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType()) : MemRefType::get({}, type);
      SmallVector<Value> dynamic;
      for (auto [d, extent] : llvm::enumerate(getResultExtents(ctx, r, Value())))
        if (memory.isDynamicDim(d))
          dynamic.push_back(getValueOrCreateConstantIndexOp(b, loc, extent));
      dest = memref::AllocOp::create(b, loc, memory, dynamic);
    }
    outs.push_back(dest);
  }
}

Value Loops::rowOf(OpBuilder &inner, Value buffers, Value row, MemRefType like) {
  auto type = cast<MemRefType>(buffers.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), inner.getIndexAttr(0)),
      strides(type.getRank(), inner.getIndexAttr(1)), sizes = memref::getMixedSizes(inner, loc, buffers);
  offsets[0] = row;
  sizes[0] = inner.getIndexAttr(1);
  auto own = cast<MemRefType>(
      memref::SubViewOp::inferRankReducedResultType(like.getShape(), type, offsets, sizes, strides));
  return memref::SubViewOp::create(inner, loc, own, buffers, offsets, sizes, strides);
}

SmallVector<Value> Loops::instance(OpBuilder &inner, ValueRange ids, ArrayRef<Value> accumulators) {
  IRMapping map;
  for (auto [id, value] : llvm::zip(node.getIds(), ids))
    map.map(id, value);
  for (unsigned i = 0; i < copies.size(); ++i)
    if (copies[i]) {
      Value lane = arith::AndIOp::create(inner, loc, ids.back(),
                                         arith::ConstantIndexOp::create(inner, loc, lanes - 1));
      Value row = lanes > 1 ? arith::AddIOp::create(inner, loc, firstCopy, lane).getResult() : firstCopy;
      ports[i] = rowOf(inner, copies[i], row, cast<MemRefType>(ctx.inputs[i].getType()));
    }
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    Value in = i < ports.size() && ports[i] ? ports[i] : ctx.inputs[i];
    if (node.getPort(i).getMode() == dfg::PortMode::Each)
      in = tensor::ExtractOp::create(inner, loc, in, ids);
    map.map(node.getInputArgs()[i], in);
  }
  EmitContext body{inner, ctx.options, node, ctx.grid, ctx.inputs, {}, {}, loc};
  SmallVector<Value> yielded = cloneBody(body, map);
  for (unsigned r = 0; r < yielded.size(); ++r) {
    dfg::ResultAttr yield = node.getYield(r);
    if (!yield.isReduction()) {
      memref::StoreOp::create(inner, loc, yielded[r], outs[r], ids);
      continue;
    }
    auto flags = yield.getMode() == dfg::ResultMode::Reduce ? arith::FastMathFlags::reassoc
                                                            : arith::FastMathFlags::none;
    yielded[r] =
        dfg::buildCombine(inner, loc, yield.getReduction(), accumulators[r], yielded[r], node, flags);
  }
  return yielded;
}

void Loops::finish() {
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    if (ctx.dests[r])
      continue;
    Type type = node.getResult(r).getType();
    if (isa<RankedTensorType>(type))
      ctx.results[r] = bufferization::ToTensorOp::create(b, loc, type, outs[r], /*restrict=*/true);
    else
      ctx.results[r] = memref::LoadOp::create(b, loc, outs[r]);
  }
}

// Adds the private copies of port `i`, in their order, to its memory.
static void mergeCopies(EmitContext &ctx, unsigned i, Value copies, dfg::ReductionAttr reduction) {
  OpBuilder &b = ctx.b;
  auto type = cast<MemRefType>(ctx.inputs[i].getType());
  unsigned rank = type.getRank();
  SmallVector<AffineExpr> kept;
  for (unsigned d = 0; d < rank; ++d)
    kept.push_back(b.getAffineDimExpr(d + 1));
  SmallVector<AffineMap> maps = {AffineMap::getMultiDimIdentityMap(rank + 1, b.getContext()),
                                 AffineMap::get(rank + 1, 0, kept, b.getContext())};
  SmallVector<utils::IteratorType> iterators(rank + 1, utils::IteratorType::parallel);
  iterators[0] = utils::IteratorType::reduction;
  linalg::GenericOp::create(b, ctx.loc, TypeRange{}, ValueRange{copies}, ValueRange{ctx.inputs[i]}, maps,
                            iterators, [&](OpBuilder &inner, Location l, ValueRange args) {
                              Value v = dfg::buildCombine(inner, l, reduction, args[1], args[0], ctx.node);
                              linalg::YieldOp::create(inner, l, v);
                            });
}

// How atomic operations combine, where no order of them can be told from another.
static std::optional<dfg::ReductionKind> getCombination(arith::AtomicRMWKind kind) {
  using A = arith::AtomicRMWKind;
  using R = dfg::ReductionKind;
  switch (kind) {
  case A::addi:
    return R::AddI;
  case A::addf:
    return R::AddF;
  case A::maxs:
    return R::MaxSI;
  case A::mins:
    return R::MinSI;
  case A::maxu:
    return R::MaxUI;
  case A::minu:
    return R::MinUI;
  case A::ori:
    return R::OrI;
  case A::andi:
    return R::AndI;
  default:
    return std::nullopt;
  }
}

// What all instances do to memory that they only change by atomic operations of one kind, without a look at
// it; null where they do something else.
static dfg::ReductionAttr getAtomicReduction(dfg::NodeOp node, unsigned input) {
  auto type = dyn_cast<MemRefType>(node.getInputs()[input].getType());
  Value memory = node.getInputArgs()[input];
  if (!type || node.getPort(input).getMode() != dfg::PortMode::InOut || memory.use_empty())
    return {};
  std::optional<dfg::ReductionKind> found;
  for (Operation *user : memory.getUsers()) {
    auto atomic = dyn_cast<memref::AtomicRMWOp>(user);
    std::optional<dfg::ReductionKind> kind =
        atomic && atomic->use_empty() ? getCombination(atomic.getKind()) : std::nullopt;
    if (!kind || (found && *found != *kind))
      return {};
    found = kind;
  }
  return dfg::ReductionAttr::get(node.getContext(), *found, FlatSymbolRefAttr());
}

// Instances that count in shared memory: where there are many more of them than counters, each chunk of them
// counts in a copy of its own. Returns 1 where that happens and 0 where it does not, as the extents say when
// the program runs; null when there is nothing to count.
static Value emitPrivateCounters(Loops &loops) {
  EmitContext &ctx = loops.ctx;
  dfg::NodeOp node = ctx.node;
  OpBuilder &b = ctx.b;
  Location loc = ctx.loc;
  SmallVector<dfg::ReductionAttr> reductions;
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    reductions.push_back(getAtomicReduction(node, i));
  int64_t chunks = ctx.options.accumulateChunks;
  if (!node.getRank() || chunks < 2 ||
      llvm::none_of(reductions, [](dfg::ReductionAttr r) { return bool(r); }))
    return {};
  Value zero = loops.index(0), one = loops.index(1), instances = ctx.grid[0], counters = one;
  for (Value extent : ArrayRef<Value>(ctx.grid).drop_front())
    instances = arith::MulIOp::create(b, loc, instances, extent);
  SmallVector<SmallVector<Value>> extents(reductions.size());
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    if (!reduction)
      continue;
    auto type = cast<MemRefType>(ctx.inputs[i].getType());
    Value size = one;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      Value extent = memref::DimOp::create(b, loc, ctx.inputs[i], d);
      size = arith::MulIOp::create(b, loc, size, extent);
      if (type.isDynamicDim(d))
        extents[i].push_back(extent);
    }
    counters = arith::AddIOp::create(b, loc, counters, size);
  }
  // Copies that are cleared and added up cost as much as they have counters.
  Value worth =
      arith::DivUIOp::create(b, loc, instances, arith::MulIOp::create(b, loc, counters, loops.index(chunks)));
  Value pays = arith::MinSIOp::create(b, loc, worth, one);
  Value count = arith::MulIOp::create(b, loc, pays, loops.index(chunks));
  loops.ports.assign(reductions.size(), Value());
  loops.copies.assign(reductions.size(), Value());
  for (auto [i, reduction] : llvm::enumerate(reductions)) {
    if (!reduction)
      continue;
    auto type = cast<MemRefType>(ctx.inputs[i].getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), ShapedType::kDynamic);
    extents[i].insert(extents[i].begin(), count);
    loops.copies[i] =
        memref::AllocOp::create(b, loc, MemRefType::get(shape, type.getElementType()), extents[i]);
  }
  auto forall = scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{count}, ValueRange{}, std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forall.getBody());
    Value chunk = forall.getInductionVars()[0];
    Value step = arith::CeilDivUIOp::create(b, loc, ctx.grid[0], loops.index(chunks));
    Value begin = arith::MulIOp::create(b, loc, chunk, step);
    Value end = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, begin, step), ctx.grid[0]);
    SmallVector<Value> lower(node.getRank(), zero), upper(ctx.grid), ones(node.getRank(), one);
    lower[0] = begin;
    upper[0] = end;
    loops.firstCopy = chunk;
    for (auto [i, reduction] : llvm::enumerate(reductions))
      if (reduction) {
        auto type = cast<MemRefType>(ctx.inputs[i].getType());
        Value id = constantOf(b, loc, dfg::getIdentity(reduction, type.getElementType(), node));
        linalg::FillOp::create(b, loc, ValueRange{id},
                               ValueRange{loops.rowOf(b, loops.copies[i], chunk, type)});
      }
    scf::buildLoopNest(b, loc, lower, upper, ones,
                       [&](OpBuilder &inner, Location, ValueRange ids) { loops.instance(inner, ids, {}); });
    for (auto [i, reduction] : llvm::enumerate(reductions)) {
      if (!reduction)
        continue;
      for (Operation *user : llvm::make_early_inc_range(loops.ports[i].getUsers())) {
        auto atomic = cast<memref::AtomicRMWOp>(user);
        OpBuilder at(atomic);
        Value old = memref::LoadOp::create(at, loc, atomic.getMemref(), atomic.getIndices());
        Value v = dfg::buildCombine(at, loc, reduction, old, atomic.getValue(), node);
        memref::StoreOp::create(at, loc, v, atomic.getMemref(), atomic.getIndices());
        atomic.erase();
      }
    }
  }
  // Several at once keep the processor busy; loops of their own are for the code generator to vectorise.
  bool hasLoops =
      node.getBodyBlock()->walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!hasLoops)
    SharedNotes::lanes.set(forall, 2);
  for (auto [i, reduction] : llvm::enumerate(reductions))
    if (reduction)
      mergeCopies(ctx, i, loops.copies[i], reduction);
  loops.ports.clear();
  loops.copies.clear();
  return pays;
}

LogicalResult leaf::emitBufferLoops(EmitContext &ctx) {
  Loops loops(ctx);
  dfg::NodeOp node = ctx.node;
  OpBuilder &b = ctx.b;
  Location loc = ctx.loc;
  loops.makeOutputs();
  SmallVector<unsigned> reduced;
  bool partial = false, ordered = false;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    dfg::ResultAttr yield = node.getYield(r);
    if (!yield.isReduction())
      continue;
    reduced.push_back(r);
    ordered |= yield.getMode() == dfg::ResultMode::Fold;
    for (unsigned d = 0; d < node.getRank(); ++d)
      partial |= !yield.reduces(d);
  }
  SmallVector<unsigned> accumulated;
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).getMode() == dfg::PortMode::Acc)
      accumulated.push_back(i);
  if (reduced.empty() && accumulated.empty()) {
    SmallVector<Value> extents(ctx.grid);
    if (Value done = emitPrivateCounters(loops)) {
      Value left = arith::SubIOp::create(b, loc, loops.index(1), done);
      extents[0] = arith::MulIOp::create(b, loc, extents[0], left);
    }
    auto forall = scf::ForallOp::create(b, loc, getAsOpFoldResult(extents), ValueRange{}, std::nullopt);
    SharedNotes::instances.set(forall, -1);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forall.getBody());
    SmallVector<Value> ids(forall.getInductionVars());
    loops.instance(b, ids, {});
    b.setInsertionPointAfter(forall);
    loops.finish();
    return success();
  }
  Value zero = loops.index(0), one = loops.index(1);
  SmallVector<Value> zeros(node.getRank(), zero), ones(node.getRank(), one);
  auto identity = [&](OpBuilder &inner, unsigned r) {
    Type type = node.getYieldOp().getValues()[r].getType();
    return constantOf(inner, loc, dfg::getIdentity(node.getYield(r).getReduction(), type, node));
  };
  // Partly reduced results meet in memory element by element: one loop nest in order.
  if (partial) {
    for (unsigned r : reduced)
      linalg::FillOp::create(b, loc, ValueRange{identity(b, r)}, ValueRange{loops.outs[r]});
    scf::LoopNest nest =
        scf::buildLoopNest(b, loc, zeros, ctx.grid, ones, [&](OpBuilder &inner, Location, ValueRange ids) {
          SmallVector<Value> accumulators(node.getNumYields());
          SmallVector<SmallVector<Value>> places(node.getNumYields());
          for (unsigned r : reduced) {
            for (unsigned d = 0; d < node.getRank(); ++d)
              if (!node.getYield(r).reduces(d))
                places[r].push_back(ids[d]);
            accumulators[r] = memref::LoadOp::create(inner, loc, loops.outs[r], places[r]);
          }
          SmallVector<Value> yielded = loops.instance(inner, ids, accumulators);
          for (unsigned r : reduced)
            memref::StoreOp::create(inner, loc, yielded[r], loops.outs[r], places[r]);
        });
    lowerAccumulate(ctx, nest.loops.front(), {});
    loops.finish();
    return success();
  }
  // Each chunk of the outermost dimension has its own partial values; they are combined in the order of the
  // chunks. Private copies of an accumulated buffer cost memory: fewer chunks, and one, on the buffer itself,
  // when it is large.
  int64_t chunks = ordered               ? 1
                   : accumulated.empty() ? ctx.options.reductionChunks
                                         : ctx.options.accumulateChunks;
  for (unsigned i : accumulated) {
    auto type = cast<MemRefType>(ctx.inputs[i].getType());
    if (type.hasStaticShape() && type.getNumElements() > ctx.options.maxPrivateElements)
      chunks = 1;
  }
  if (chunks > 1 && !accumulated.empty()) {
    loops.ports.assign(node.getInputs().size(), Value());
    loops.copies.assign(node.getInputs().size(), Value());
    // Neighbours often hit the same element; with copies taken in turn, one need not wait for the other's
    // store.
    bool small = llvm::all_of(accumulated, [&](unsigned i) {
      auto type = cast<MemRefType>(ctx.inputs[i].getType());
      return type.hasStaticShape() && type.getNumElements() <= ctx.options.maxLaneElements;
    });
    loops.lanes = small ? ctx.options.accumulateLanes : 1;
    for (unsigned i : accumulated) {
      auto type = cast<MemRefType>(ctx.inputs[i].getType());
      SmallVector<int64_t> shape(type.getShape());
      shape.insert(shape.begin(), chunks * loops.lanes);
      SmallVector<Value> dynamic;
      for (int64_t d = 0; d < type.getRank(); ++d)
        if (type.isDynamicDim(d))
          dynamic.push_back(memref::DimOp::create(b, loc, ctx.inputs[i], d));
      loops.copies[i] =
          memref::AllocOp::create(b, loc, MemRefType::get(shape, type.getElementType()), dynamic);
    }
  }
  SmallVector<Value> partials(node.getNumYields());
  for (unsigned r : reduced)
    partials[r] = memref::AllocOp::create(
        b, loc, MemRefType::get({chunks}, node.getYieldOp().getValues()[r].getType()));
  AffineExpr n, c;
  bindDims(b.getContext(), n, c);
  // A chunk starts at a multiple of the lanes, so that an unrolled loop knows each instance's lane.
  AffineExpr length = n.ceilDiv(chunks * loops.lanes) * loops.lanes;
  OpFoldResult size = affine::makeComposedFoldedAffineApply(b, loc, length, getAsOpFoldResult(ctx.grid[0]));
  auto forall = scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{b.getIndexAttr(chunks)}, ValueRange{},
                                      std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forall.getBody());
    Value chunk = forall.getInductionVars()[0];
    Value step = getValueOrCreateConstantIndexOp(b, loc, size);
    Value begin = arith::MulIOp::create(b, loc, chunk, step);
    Value end = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, begin, step), ctx.grid[0]);
    SmallVector<Value> lower = zeros, upper(ctx.grid);
    lower[0] = begin;
    upper[0] = end;
    loops.firstCopy = arith::MulIOp::create(b, loc, chunk, loops.index(loops.lanes));
    for (unsigned i = 0; i < loops.copies.size(); ++i) {
      if (!loops.copies[i])
        continue;
      auto type = cast<MemRefType>(loops.copies[i].getType());
      SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
          strides(type.getRank(), b.getIndexAttr(1)), sizes = memref::getMixedSizes(b, loc, loops.copies[i]);
      offsets[0] = loops.firstCopy;
      sizes[0] = b.getIndexAttr(loops.lanes);
      Value own = memref::SubViewOp::create(b, loc, loops.copies[i], offsets, sizes, strides);
      Value id =
          constantOf(b, loc, dfg::getIdentity(node.getPort(i).getReduction(), type.getElementType(), node));
      linalg::FillOp::create(b, loc, ValueRange{id}, ValueRange{own});
    }
    SmallVector<Value> inits;
    for (unsigned r : reduced)
      inits.push_back(identity(b, r));
    scf::LoopNest nest = scf::buildLoopNest(
        b, loc, lower, upper, ones, inits,
        [&](OpBuilder &inner, Location, ValueRange ids, ValueRange carried) -> scf::ValueVector {
          SmallVector<Value> accumulators(node.getNumYields());
          for (auto [r, v] : llvm::zip(reduced, carried))
            accumulators[r] = v;
          SmallVector<Value> yielded = loops.instance(inner, ids, accumulators);
          scf::ValueVector next;
          for (unsigned r : reduced)
            next.push_back(yielded[r]);
          return next;
        });
    for (auto [r, v] : llvm::zip(reduced, nest.results))
      memref::StoreOp::create(b, loc, v, partials[r], chunk);
    lowerAccumulate(ctx, forall, loops.ports);
    if (loops.lanes > 1)
      SharedNotes::lanes.set(forall, loops.lanes);
  }
  for (unsigned i = 0; i < loops.copies.size(); ++i)
    if (loops.copies[i])
      mergeCopies(ctx, i, loops.copies[i], node.getPort(i).getReduction());
  if (reduced.empty()) {
    loops.finish();
    return success();
  }
  Value count = loops.index(chunks);
  SmallVector<Value> inits;
  for (unsigned r : reduced)
    inits.push_back(identity(b, r));
  auto combineLoop = scf::ForOp::create(
      b, loc, zero, count, one, inits, [&](OpBuilder &inner, Location, Value chunk, ValueRange carried) {
        SmallVector<Value> next;
        for (auto [r, v] : llvm::zip(reduced, carried)) {
          Value p = memref::LoadOp::create(inner, loc, partials[r], chunk);
          next.push_back(dfg::buildCombine(inner, loc, node.getYield(r).getReduction(), v, p, node));
        }
        scf::YieldOp::create(inner, loc, next);
      });
  for (auto [r, v] : llvm::zip(reduced, combineLoop.getResults()))
    memref::StoreOp::create(b, loc, v, loops.outs[r], ValueRange{});
  loops.finish();
  return success();
}
