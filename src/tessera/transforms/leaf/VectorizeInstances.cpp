// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several neighbouring instances of a leaf in the lanes of vectors, whatever control flow their bodies have:
// a value that is the same for all instances stays a scalar, others become vectors; a branch runs both sides
// and selects; a loop runs until the last lane is done, and lanes that are done keep their results. Bodies on
// tensors have no effects, so a lane that computes in vain does no harm; what it reads is masked.
#include "tessera/transforms/leaf/Lanes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"

using namespace tessera;
using namespace tessera::leaf;

bool leaf::isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
             arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

bool leaf::isElementwise(Operation *op) {
  auto isScalar = [](Type t) { return t.isIntOrIndexOrFloat(); };
  return llvm::all_of(op->getResultTypes(), isScalar) && llvm::all_of(op->getOperandTypes(), isScalar) &&
         OpTrait::hasElementwiseMappableTraits(op) && (isSpeculatable(op) || isDivision(op));
}

// The first operation of the body that has no form on vectors; null when all have one.
static Operation *findWithoutVectorForm(linalg::GenericOp op) {
  auto isScalar = [](Type t) { return t.isIntOrIndexOrFloat(); };
  Operation *found = nullptr;
  op.getBody()->walk([&](Operation *inner) {
    bool scalars = llvm::all_of(inner->getResultTypes(), isScalar);
    bool fine = false;
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
      fine = extract.getTensor().getParentRegion()->isProperAncestor(&op.getRegion());
    else if (isa<linalg::IndexOp, affine::AffineApplyOp, scf::YieldOp, scf::ConditionOp, linalg::YieldOp,
                 arith::ConstantOp, scf::IfOp, scf::ForOp, scf::WhileOp>(inner))
      fine = scalars;
    else
      fine = isElementwise(inner);
    if (!fine)
      found = inner;
    return fine ? WalkResult::advance() : WalkResult::interrupt();
  });
  return found;
}

// Sums and multiples of indices in steps are indices in steps.
std::optional<LaneEmitter::Sequence> LaneEmitter::sequenceOf(Operation &operation, ArrayRef<Value> operands) {
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(operation) ||
      !operation.getResult(0).getType().isIndex())
    return std::nullopt;
  Sequence parts[2];
  for (unsigned i = 0; i < 2; ++i) {
    auto it = sequences.find(operands[i]);
    if (it == sequences.end() && isVarying(operands[i]))
      return std::nullopt;
    parts[i] = it == sequences.end() ? Sequence{operands[i], 0} : it->second;
  }
  int64_t stride =
      isa<arith::SubIOp>(operation) ? parts[0].stride - parts[1].stride : parts[0].stride + parts[1].stride;
  if (isa<arith::MulIOp>(operation)) {
    unsigned moving = parts[0].stride ? 0 : 1;
    std::optional<int64_t> factor = getConstantIntValue(parts[1 - moving].first);
    if (parts[1 - moving].stride || !factor)
      return std::nullopt;
    stride = parts[moving].stride * *factor;
  }
  IRMapping scalars;
  Operation *copy = b.clone(operation, scalars);
  copy->setOperands({parts[0].first, parts[1].first});
  return Sequence{copy->getResult(0), stride};
}

void LaneEmitter::emitElementwise(Operation &operation, Value mask) {
  SmallVector<Value> operands;
  bool varying = false;
  for (Value v : operation.getOperands()) {
    operands.push_back(lookup(v));
    varying |= isVarying(operands.back());
  }
  if (!varying) {
    b.clone(operation, map);
    return;
  }
  std::optional<Sequence> sequence = sequenceOf(operation, operands);
  if (mask && isDivision(&operation)) {
    Value one =
        spread(arith::ConstantOp::create(b, loc, b.getIntegerAttr(operation.getResult(0).getType(), 1)));
    operands[1] = arith::SelectOp::create(b, loc, mask, spread(operands[1]), one);
  }
  OperationState state(operation.getLoc(), operation.getName());
  for (Value v : operands)
    state.addOperands(spread(v));
  for (Type type : operation.getResultTypes())
    state.addTypes(vectorOf(type));
  state.addAttributes(operation.getAttrs());
  Operation *made = b.create(state);
  map.map(operation.getResults(), made->getResults());
  if (sequence)
    sequences[made->getResult(0)] = *sequence;
}

void LaneEmitter::emitExtract(tensor::ExtractOp extract, Value mask) {
  SmallVector<Value> indices;
  for (Value v : extract.getIndices())
    indices.push_back(lookup(v));
  bool varying = llvm::any_of(indices, [&](Value v) { return isVarying(v); });
  if (!varying) {
    b.clone(*extract, map);
    return;
  }
  Type element = extract.getType();
  auto vector = vectorOf(element);
  bool outer = llvm::any_of(ArrayRef<Value>(indices).drop_back(), [&](Value v) { return isVarying(v); });
  Value first = indices.empty() ? Value() : firstOf(indices.back());
  Value padding = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  if (!outer && first && !mask) {
    indices.back() = first;
    bool inBounds = true;
    Value read = vector::TransferReadOp::create(b, loc, vector, extract.getTensor(), indices, padding,
                                                ArrayRef<bool>{inBounds});
    map.map(extract.getResult(), read);
    return;
  }
  if (!outer) {
    Value at = indices.back();
    indices.back() = arith::ConstantIndexOp::create(b, loc, 0);
    Value pass = spread(padding);
    Value gather = vector::GatherOp::create(b, loc, vector, extract.getTensor(), indices, at,
                                            mask ? mask : allLanes(), pass);
    map.map(extract.getResult(), gather);
    return;
  }
  // Lane by lane; a lane that does not run must not read.
  Value all = spread(padding);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    auto readLane = [&](OpBuilder &inner, Location) {
      SmallVector<Value> own;
      for (Value v : indices)
        own.push_back(isVarying(v) ? vector::ExtractOp::create(inner, loc, v, lane).getResult() : v);
      Value element = tensor::ExtractOp::create(inner, loc, extract.getTensor(), own);
      return vector::InsertOp::create(inner, loc, element, all, lane).getResult();
    };
    if (!mask) {
      all = readLane(b, loc);
      continue;
    }
    Value runs = vector::ExtractOp::create(b, loc, mask, lane);
    auto guarded = scf::IfOp::create(
        b, loc, runs,
        [&](OpBuilder &inner, Location l) { scf::YieldOp::create(inner, l, readLane(inner, l)); },
        [&](OpBuilder &inner, Location l) { scf::YieldOp::create(inner, l, all); });
    all = guarded.getResult(0);
  }
  map.map(extract.getResult(), all);
}

void LaneEmitter::emitIf(scf::IfOp branch, Value mask) {
  Value condition = lookup(branch.getCondition());
  if (!isVarying(condition)) {
    SmallVector<Type> types;
    for (Type type : branch.getResultTypes())
      types.push_back(vectorOf(type));
    auto made = scf::IfOp::create(b, loc, types, condition, /*addThenBlock=*/true,
                                  /*addElseBlock=*/!branch.getElseRegion().empty());
    auto fill = [&](Region &from, Region &to) {
      if (from.empty())
        return;
      OpBuilder::InsertionGuard guard(b);
      if (!to.front().empty())
        b.eraseOp(to.front().getTerminator());
      b.setInsertionPointToStart(&to.front());
      emitBlock(from.front(), mask);
      SmallVector<Value> yields;
      for (Value v : from.front().getTerminator()->getOperands())
        yields.push_back(spreadOf(v));
      scf::YieldOp::create(b, loc, yields);
    };
    fill(branch.getThenRegion(), made.getThenRegion());
    fill(branch.getElseRegion(), made.getElseRegion());
    map.map(branch.getResults(), made.getResults());
    return;
  }
  auto narrow = [&](Value c) { return mask ? arith::AndIOp::create(b, loc, mask, c).getResult() : c; };
  SmallVector<Value> yes = emitSide(branch.getThenRegion().front(), narrow(condition)), no;
  if (!branch.getElseRegion().empty()) {
    Value inverse = arith::XOrIOp::create(b, loc, condition, allLanes());
    no = emitSide(branch.getElseRegion().front(), narrow(inverse));
  }
  for (unsigned i = 0; i < branch.getNumResults(); ++i)
    map.map(branch.getResult(i), arith::SelectOp::create(b, loc, condition, yes[i], no[i]));
}

// One side of a branch. Where it reads, divides or loops it is skipped unless some lane takes it: what is the
// same for all lanes runs without a mask.
SmallVector<Value> LaneEmitter::emitSide(Block &block, Value mask) {
  auto emit = [&] {
    emitBlock(block, mask);
    SmallVector<Value> yields;
    for (Value v : block.getTerminator()->getOperands())
      yields.push_back(spreadOf(v));
    return yields;
  };
  bool careful =
      block
          .walk([](Operation *inner) {
            return isa<tensor::ExtractOp, memref::LoadOp, memref::StoreOp, scf::ForOp, scf::WhileOp>(inner) ||
                           isDivision(inner)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  if (!careful)
    return emit();
  SmallVector<Type> types;
  for (Value v : block.getTerminator()->getOperands())
    types.push_back(vectorOf(v.getType()));
  auto taken = scf::IfOp::create(b, loc, types, any(mask), /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (Region *region : {&taken.getThenRegion(), &taken.getElseRegion()})
    if (!region->front().empty())
      b.eraseOp(region->front().getTerminator());
  b.setInsertionPointToStart(&taken.getThenRegion().front());
  scf::YieldOp::create(b, loc, emit());
  b.setInsertionPointToStart(&taken.getElseRegion().front());
  SmallVector<Value> zeros;
  for (Type type : types)
    zeros.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
  scf::YieldOp::create(b, loc, zeros);
  return SmallVector<Value>(taken.getResults());
}

void LaneEmitter::emitFor(scf::ForOp loop, Value mask) {
  Value lower = lookup(loop.getLowerBound()), upper = lookup(loop.getUpperBound()),
        step = lookup(loop.getStep());
  SmallVector<Value> inits;
  for (Value v : loop.getInitArgs())
    inits.push_back(spreadOf(v));
  if (!isVarying(lower) && !isVarying(upper) && !isVarying(step)) {
    auto made = scf::ForOp::create(b, loc, lower, upper, step, inits);
    OpBuilder::InsertionGuard guard(b);
    if (!made.getBody()->empty())
      b.eraseOp(made.getBody()->getTerminator());
    b.setInsertionPointToStart(made.getBody());
    map.map(loop.getInductionVar(), made.getInductionVar());
    map.map(loop.getRegionIterArgs(), made.getRegionIterArgs());
    emitBlock(*loop.getBody(), mask);
    SmallVector<Value> yields;
    for (Value v : loop.getBody()->getTerminator()->getOperands())
      yields.push_back(spreadOf(v));
    scf::YieldOp::create(b, loc, yields);
    map.map(loop.getResults(), made.getResults());
    return;
  }
  // Each lane counts for itself; a lane that has reached its bound keeps what it has.
  SmallVector<Value> carried = {spread(lower)};
  llvm::append_range(carried, inits);
  Value limit = spread(upper), by = spread(step);
  auto made = scf::WhileOp::create(
      b, loc, TypeRange(ValueRange(carried)), carried,
      [&](OpBuilder &, Location l, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(args[0].getParentBlock());
        Value more = arith::CmpIOp::create(b, l, arith::CmpIPredicate::slt, args[0], limit);
        if (mask)
          more = arith::AndIOp::create(b, l, more, mask);
        scf::ConditionOp::create(b, l, any(more), args);
      },
      [&](OpBuilder &, Location l, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(args[0].getParentBlock());
        Value running = arith::CmpIOp::create(b, l, arith::CmpIPredicate::slt, args[0], limit);
        if (mask)
          running = arith::AndIOp::create(b, l, running, mask);
        map.map(loop.getInductionVar(), args[0]);
        map.map(loop.getRegionIterArgs(), args.drop_front());
        emitBlock(*loop.getBody(), running);
        SmallVector<Value> next = {
            arith::SelectOp::create(b, l, running, arith::AddIOp::create(b, l, args[0], by), args[0])};
        for (auto [v, old] : llvm::zip(loop.getBody()->getTerminator()->getOperands(), args.drop_front()))
          next.push_back(arith::SelectOp::create(b, l, running, spreadOf(v), old));
        scf::YieldOp::create(b, l, next);
      });
  map.map(loop.getResults(), made.getResults().drop_front());
}

void LaneEmitter::emitWhile(scf::WhileOp loop, Value mask) {
  // Carried: what the loop carries, the results of lanes that are done, and the lanes that still run.
  unsigned numArgs = loop.getInits().size(), numResults = loop.getNumResults();
  SmallVector<Value> carried;
  for (Value v : loop.getInits())
    carried.push_back(spreadOf(v));
  for (Type type : loop.getResultTypes())
    carried.push_back(arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorOf(type))));
  carried.push_back(mask ? mask : allLanes());
  // After the condition: its operands, the results so far, and the lanes.
  SmallVector<Type> passed;
  for (Type type : loop.getResultTypes())
    passed.push_back(vectorOf(type));
  for (Type type : loop.getResultTypes())
    passed.push_back(vectorOf(type));
  passed.push_back(vectorOf(b.getI1Type()));
  auto made = scf::WhileOp::create(
      b, loc, passed, carried,
      [&](OpBuilder &, Location l, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(args[0].getParentBlock());
        map.map(loop.getBeforeArguments(), args.take_front(numArgs));
        Value running = args.back();
        emitBlock(*loop.getBeforeBody(), running);
        scf::ConditionOp condition = loop.getConditionOp();
        SmallVector<Value> next;
        for (Value v : condition.getArgs())
          next.push_back(spreadOf(v));
        for (unsigned i = 0; i < numResults; ++i)
          next.push_back(arith::SelectOp::create(b, l, running, next[i], args[numArgs + i]));
        Value still = arith::AndIOp::create(b, l, running, spreadOf(condition.getCondition()));
        next.push_back(still);
        scf::ConditionOp::create(b, l, any(still), next);
      },
      [&](OpBuilder &, Location l, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(args[0].getParentBlock());
        map.map(loop.getAfterArguments(), args.take_front(numResults));
        emitBlock(*loop.getAfterBody(), args.back());
        SmallVector<Value> next;
        for (Value v : loop.getYieldOp().getOperands())
          next.push_back(spreadOf(v));
        llvm::append_range(next, args.drop_front(numResults));
        scf::YieldOp::create(b, l, next);
      });
  map.map(loop.getResults(), made.getResults().slice(numResults, numResults));
}

void LaneEmitter::emitOp(Operation &operation, Value mask) {
  if (auto index = dyn_cast<linalg::IndexOp>(operation)) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    if (index.getDim() + 1 < op.getNumLoops()) {
      map.map(index.getResult(), zero);
      return;
    }
    Value step = vector::StepOp::create(b, loc, vectorOf(b.getIndexType()));
    sequences[step] = {zero, 1};
    map.map(index.getResult(), step);
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(operation))
    return emitIf(branch, mask);
  if (auto loop = dyn_cast<scf::ForOp>(operation))
    return emitFor(loop, mask);
  if (auto loop = dyn_cast<scf::WhileOp>(operation))
    return emitWhile(loop, mask);
  if (auto extract = dyn_cast<tensor::ExtractOp>(operation))
    return emitExtract(extract, mask);
  if (auto load = dyn_cast<memref::LoadOp>(operation))
    return emitLoad(load, mask);
  if (auto store = dyn_cast<memref::StoreOp>(operation))
    return emitStore(store, mask);
  emitElementwise(operation, mask);
}

void LaneEmitter::emitBlock(Block &block, Value mask) {
  for (Operation &operation : block.without_terminator())
    emitOp(operation, mask);
}

LogicalResult LaneEmitter::run(linalg::GenericOp row) {
  op = row;
  if (!op.hasPureTensorSemantics() || op.getNumParallelLoops() != op.getNumLoops())
    return fail("it is not a gather over tensors");
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [d, range] : llvm::enumerate(ranges))
    if (range != (d + 1 == ranges.size() ? lanes : 1))
      return fail("its tile is not one row of " + Twine(lanes) + " instances");
  for (AffineMap m : op.getIndexingMapsArray())
    if (!m.isIdentity())
      return fail("an operand is not received element by element");
  // Index arithmetic as plain operations, so that it has a form on vectors.
  SmallVector<affine::AffineApplyOp> applies;
  op.walk([&](affine::AffineApplyOp apply) { applies.push_back(apply); });
  for (affine::AffineApplyOp apply : applies) {
    b.setInsertionPoint(apply);
    auto expanded = affine::expandAffineMap(b, apply.getLoc(), apply.getAffineMap(), apply.getOperands());
    if (!expanded)
      return fail("its index arithmetic cannot be expanded");
    b.replaceOp(apply, *expanded);
  }
  Block &body = *op.getBody();
  if (Operation *without = findWithoutVectorForm(op))
    return fail("'" + without->getName().getStringRef() + "' has no form on vectors");
  b.setInsertionPoint(op);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  SmallVector<Value> zeros(op.getNumLoops(), zero);
  for (unsigned i = 0; i < op.getNumDpsInputs() + op.getNumDpsInits(); ++i) {
    BlockArgument arg = body.getArgument(i);
    if (arg.use_empty())
      continue;
    Value padding = arith::ConstantOp::create(b, loc, b.getZeroAttr(arg.getType()));
    map.map(arg, vector::TransferReadOp::create(b, loc, vectorOf(arg.getType()), op->getOperand(i), zeros,
                                                padding, ArrayRef<bool>{true}));
  }
  emitBlock(body, Value());
  SmallVector<Value> results;
  for (auto [i, v] : llvm::enumerate(body.getTerminator()->getOperands()))
    results.push_back(
        vector::TransferWriteOp::create(b, loc, spreadOf(v), op.getOutputs()[i], zeros, ArrayRef<bool>{true})
            .getResult());
  b.replaceOp(op, results);
  return success();
}

// Values that differ between neighbouring instances, found conservatively in one walk.
static void findVarying(Block &block, unsigned lastDim, DenseSet<Value> &varying) {
  for (Operation &inner : block) {
    bool differs = llvm::any_of(inner.getOperands(), [&](Value v) { return varying.contains(v); });
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      differs = index.getDim() == lastDim;
    bool loop = isa<scf::ForOp, scf::WhileOp, scf::IfOp>(inner);
    for (Region &region : inner.getRegions())
      for (Block &nested : region) {
        // The counter of a loop with uniform bounds is uniform; everything carried counts as varying.
        auto counted = dyn_cast<scf::ForOp>(inner);
        for (BlockArgument arg : nested.getArguments())
          if (!(counted && arg == counted.getInductionVar() &&
                !llvm::any_of(ValueRange{counted.getLowerBound(), counted.getUpperBound(), counted.getStep()},
                              [&](Value v) { return varying.contains(v); })))
            varying.insert(arg);
        findVarying(nested, lastDim, varying);
      }
    if (differs || loop)
      varying.insert(inner.getResults().begin(), inner.getResults().end());
  }
}

bool leaf::wantsLanes(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumParallelLoops() != op.getNumLoops() || op.getNumLoops() == 0 ||
      !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap m) { return m.isIdentity(); }))
    return false;
  // Loops of a known short length are unrolled, and LLVM does the rest.
  bool loops = op.getBody()
                   ->walk([](Operation *inner) {
                     if (isa<scf::WhileOp>(inner))
                       return WalkResult::interrupt();
                     auto loop = dyn_cast<scf::ForOp>(inner);
                     std::optional<APInt> trip = loop ? loop.getStaticTripCount() : std::nullopt;
                     return loop && (!trip || trip->getSExtValue() > 16) ? WalkResult::interrupt()
                                                                         : WalkResult::advance();
                   })
                   .wasInterrupted();
  if (!loops)
    return false;
  if (findWithoutVectorForm(op))
    return false;
  DenseSet<Value> varying(op.getBody()->args_begin(), op.getBody()->args_end());
  findVarying(*op.getBody(), op.getNumLoops() - 1, varying);
  return !op.walk([&](tensor::ExtractOp extract) {
              ValueRange indices = extract.getIndices();
              bool row = indices.empty() ||
                         llvm::none_of(indices.drop_back(), [&](Value v) { return varying.contains(v); });
              return row ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

LogicalResult leaf::vectorizeInstances(RewriterBase &rewriter, linalg::GenericOp op, int64_t lanes,
                                       std::string &why) {
  return LaneEmitter(rewriter, op.getLoc(), lanes, why).run(op);
}
