// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on wide vectors that are more than lanes of others (WideVectors.cpp), as loops: accesses to
// memory, reductions, products, scans, and what changes parts of a vector.
#include "tessera/targets/cpu/WideLegaliser.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace tessera;
using namespace tessera::cpu;

void WideLegaliser::emit(vector::TransferWriteOp op) {
  forLanes(b, op.getLoc(), shapeOf(op.getVector()), [&](OpBuilder &inner, Lane lane) {
    Location loc = op.getLoc();
    SmallVector<Value> place;
    Value element = lanes.at(inner, op.getVector(), lane),
          isSet = locate(inner, op, op.getBase(), lane, place);
    if (op.getMask()) {
      Value on = lanes.at(inner, op.getMask(), maskLane(op, lane));
      isSet = isSet ? arith::AndIOp::create(inner, loc, isSet, on).getResult() : on;
    }
    OpBuilder then = inner;
    if (isSet)
      then = scf::IfOp::create(inner, loc, isSet, /*withElseRegion=*/false).getThenBodyBuilder();
    memref::StoreOp::create(then, loc, element, op.getBase(), place);
  });
}

void WideLegaliser::emit(vector::StoreOp op) {
  forLanes(b, op.getLoc(), shapeOf(op.getValueToStore()), [&](OpBuilder &inner, Lane lane) {
    memref::StoreOp::create(inner, op.getLoc(), lanes.at(inner, op.getValueToStore(), lane), op.getBase(),
                            placeOf(inner, op.getLoc(), op.getIndices(), lane));
  });
}

void WideLegaliser::emit(vector::MaskedStoreOp op) {
  forLanes(b, op.getLoc(), shapeOf(op.getValueToStore()), [&](OpBuilder &inner, Lane lane) {
    Value element = lanes.at(inner, op.getValueToStore(), lane), isSet = lanes.at(inner, op.getMask(), lane);
    auto place = placeOf(inner, op.getLoc(), op.getIndices(), lane);
    OpBuilder then = scf::IfOp::create(inner, op.getLoc(), isSet, false).getThenBodyBuilder();
    memref::StoreOp::create(then, op.getLoc(), element, op.getBase(), place);
  });
}

void WideLegaliser::emit(vector::ScatterOp op) {
  forLanes(b, op.getLoc(), shapeOf(op.getValueToStore()), [&](OpBuilder &inner, Lane lane) {
    Location loc = op.getLoc();
    Value element = lanes.at(inner, op.getValueToStore(), lane), isSet = lanes.at(inner, op.getMask(), lane),
          index = lanes.at(inner, op.getIndices(), lane);
    if (!index.getType().isIndex())
      index = arith::IndexCastOp::create(inner, loc, inner.getIndexType(), index);
    SmallVector<Value> place(op.getOffsets());
    place.back() = arith::AddIOp::create(inner, loc, place.back(), index);
    OpBuilder then = scf::IfOp::create(inner, loc, isSet, false).getThenBodyBuilder();
    memref::StoreOp::create(then, loc, element, op.getBase(), place);
  });
}

// Lanes that are on take the next elements in turn.
void WideLegaliser::emit(vector::CompressStoreOp op) {
  Location loc = op.getLoc();
  foldLanes(b, loc, shapeOf(op.getValueToStore()), constantIndex(b, loc, 0),
            [&](OpBuilder &inner, Lane lane, Value next) -> Value {
              Value element = lanes.at(inner, op.getValueToStore(), lane),
                    isSet = lanes.at(inner, op.getMask(), lane);
              OpBuilder then = scf::IfOp::create(inner, loc, isSet, false).getThenBodyBuilder();
              SmallVector<Value> place(op.getIndices());
              place.back() = arith::AddIOp::create(then, loc, place.back(), next);
              memref::StoreOp::create(then, loc, element, op.getBase(), place);
              Value one = arith::IndexCastUIOp::create(inner, loc, inner.getIndexType(), isSet);
              return arith::AddIOp::create(inner, loc, next, one);
            });
}

void WideLegaliser::emit(vector::ExpandLoadOp op) {
  Location loc = op.getLoc();
  Value buffer = lanes.allocate(b, loc, lanes.typeOf(op.getResult()));
  foldLanes(b, loc, shapeOf(op.getResult()), constantIndex(b, loc, 0),
            [&](OpBuilder &inner, Lane lane, Value next) -> Value {
              Value isSet = lanes.at(inner, op.getMask(), lane),
                    other = lanes.at(inner, op.getPassThru(), lane);
              auto choice = scf::IfOp::create(inner, loc, other.getType(), isSet, true);
              OpBuilder then = OpBuilder::atBlockBegin(choice.thenBlock()),
                        otherwise = OpBuilder::atBlockBegin(choice.elseBlock());
              SmallVector<Value> place(op.getIndices());
              place.back() = arith::AddIOp::create(then, loc, place.back(), next);
              Value loaded = memref::LoadOp::create(then, loc, op.getBase(), place);
              scf::YieldOp::create(then, loc, loaded);
              scf::YieldOp::create(otherwise, loc, other);
              lanes.store(inner, loc, choice.getResult(0), buffer, lane);
              Value one = arith::IndexCastUIOp::create(inner, loc, inner.getIndexType(), isSet);
              return arith::AddIOp::create(inner, loc, next, one);
            });
  finish(op.getResult(), buffer);
}

// In order, so that strict means strict.
void WideLegaliser::emit(vector::ReductionOp op) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = shapeOf(op.getVector());
  Value first = op.getAcc() ? op.getAcc() : lanes.at(b, op.getVector(), {constantIndex(b, loc, 0)});
  int64_t skip = op.getAcc() ? 0 : 1;
  Value sum =
      foldLanes(b, loc, {shape[0] - skip}, first, [&](OpBuilder &inner, Lane lane, Value carried) -> Value {
        Value i =
            skip ? arith::AddIOp::create(inner, loc, lane[0], constantIndex(inner, loc, skip)).getResult()
                 : lane[0];
        return vector::makeArithReduction(inner, loc, op.getKind(), carried,
                                          lanes.at(inner, op.getVector(), {i}), op.getFastmathAttr());
      });
  op.getResult().replaceAllUsesWith(sum);
}

void WideLegaliser::emit(vector::MultiDimReductionOp op) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = shapeOf(op.getSource());
  SmallVector<bool> mask = op.getReductionMask();
  SmallVector<int64_t> reduced, kept;
  for (auto [d, isReduced] : llvm::enumerate(mask))
    (isReduced ? reduced : kept).push_back(shape[d]);
  auto sum = [&](OpBuilder &at, Lane outer, Value first) {
    return foldLanes(at, loc, reduced, first, [&](OpBuilder &inner, Lane within, Value carried) -> Value {
      SmallVector<Value> lane;
      size_t o = 0, w = 0;
      for (bool isReduced : mask)
        lane.push_back(isReduced ? within[w++] : outer[o++]);
      return vector::makeArithReduction(inner, loc, op.getKind(), carried,
                                        lanes.at(inner, op.getSource(), lane));
    });
  };
  if (!isa<VectorType>(op.getDestType()))
    return op.getResult().replaceAllUsesWith(sum(b, {}, op.getAcc()));
  Value buffer = lanes.allocate(b, loc, cast<VectorType>(op.getDestType()));
  forLanes(b, loc, kept, [&](OpBuilder &inner, Lane lane) {
    lanes.store(inner, loc, sum(inner, lane, lanes.at(inner, op.getAcc(), lane)), buffer, lane);
  });
  finish(op.getResult(), buffer);
}

void WideLegaliser::emit(vector::ContractionOp op) {
  Location loc = op.getLoc();
  SmallVector<AffineMap, 4> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> extents(maps[0].getNumDims(), 1), reduced, kept;
  for (unsigned i = 0; i < 2; ++i)
    for (auto [d, expr] : llvm::enumerate(maps[i].getResults()))
      extents[cast<AffineDimExpr>(expr).getPosition()] = shapeOf(op->getOperand(i))[d];
  SmallVector<unsigned> reducedDims, keptDims;
  for (AffineExpr expr : maps[2].getResults())
    keptDims.push_back(cast<AffineDimExpr>(expr).getPosition());
  for (unsigned d = 0; d < extents.size(); ++d)
    if (!llvm::is_contained(keptDims, d))
      reducedDims.push_back(d);
  for (unsigned d : reducedDims)
    reduced.push_back(extents[d]);
  for (unsigned d : keptDims)
    kept.push_back(extents[d]);
  auto sum = [&](OpBuilder &at, Lane outer, Value first) {
    return foldLanes(at, loc, reduced, first, [&](OpBuilder &inner, Lane within, Value carried) -> Value {
      SmallVector<Value> point(extents.size());
      for (auto [d, i] : llvm::zip(keptDims, outer))
        point[d] = i;
      for (auto [d, i] : llvm::zip(reducedDims, within))
        point[d] = i;
      auto operand = [&](unsigned i) {
        SmallVector<Value> lane;
        for (AffineExpr expr : maps[i].getResults())
          lane.push_back(point[cast<AffineDimExpr>(expr).getPosition()]);
        return lanes.at(inner, op->getOperand(i), lane);
      };
      Value x = operand(0), y = operand(1), product = makeProduct(inner, loc, x, y, carried.getType());
      return vector::makeArithReduction(inner, loc, op.getKind(), carried, product);
    });
  };
  if (!isa<VectorType>(op.getResultType()))
    return op.getResult().replaceAllUsesWith(sum(b, {}, op.getAcc()));
  Value buffer = lanes.allocate(b, loc, cast<VectorType>(op.getResultType()));
  forLanes(b, loc, kept, [&](OpBuilder &inner, Lane lane) {
    lanes.store(inner, loc, sum(inner, lane, lanes.at(inner, op.getAcc(), lane)), buffer, lane);
  });
  finish(op.getResult(), buffer);
}

void WideLegaliser::emit(vector::ScanOp op) {
  Location loc = op.getLoc();
  SmallVector<int64_t> outer(shapeOf(op.getSource()));
  unsigned along = op.getReductionDim();
  int64_t length = outer[along];
  outer.erase(outer.begin() + along);
  Value all = lanes.allocate(b, loc, lanes.typeOf(op.getDest())),
        last = lanes.allocate(b, loc, lanes.typeOf(op.getAccumulatedValue()));
  forLanes(b, loc, outer, [&](OpBuilder &inner, Lane place) {
    auto at = [&](Value i) {
      SmallVector<Value> lane(place);
      lane.insert(lane.begin() + along, i);
      return lane;
    };
    Value zero = constantIndex(inner, loc, 0);
    Value sum = foldLanes(inner, loc, {length}, lanes.at(inner, op.getInitialValue(), place),
                          [&](OpBuilder &step, Lane i, Value old) -> Value {
                            SmallVector<Value> lane = at(i[0]);
                            Value x = lanes.at(step, op.getSource(), lane);
                            Value next = vector::makeArithReduction(step, loc, op.getKind(), old, x);
                            if (op.getInclusive()) {
                              // It starts with the first element itself.
                              Value isFirst =
                                  arith::CmpIOp::create(step, loc, arith::CmpIPredicate::eq, i[0], zero);
                              next = arith::SelectOp::create(step, loc, isFirst, x, next);
                            }
                            lanes.store(step, loc, op.getInclusive() ? next : old, all, lane);
                            return next;
                          });
    if (!op.getInclusive())
      sum = memref::LoadOp::create(inner, loc, all, at(constantIndex(inner, loc, length - 1)));
    if (sum.getType() == cast<MemRefType>(last.getType()).getElementType())
      memref::StoreOp::create(inner, loc, sum, last, place);
    else
      lanes.store(inner, loc, sum, last, place);
  });
  finish(op.getDest(), all);
  finish(op.getAccumulatedValue(), last);
}

// Which row is taken is looked up in a table.
void WideLegaliser::emit(vector::ShuffleOp op) {
  Location loc = op.getLoc();
  auto type = RankedTensorType::get({int64_t(op.getMask().size())}, b.getI64Type());
  Value table = makeTable(b, op, DenseElementsAttr::get(type, op.getMask()));
  int64_t rows[2];
  for (auto [count, v] : llvm::zip(rows, op->getOperands())) {
    count = shapeOf(v).front();
    if (!lanes.memory.count(v))
      keep(v);
  }
  Value buffer = lanes.allocate(b, loc, lanes.typeOf(op.getResult()));
  forLanes(b, loc, shapeOf(op.getResult()), [&](OpBuilder &inner, Lane lane) {
    Value row = memref::LoadOp::create(inner, loc, table, lane.take_front(1));
    row = arith::IndexCastOp::create(inner, loc, inner.getIndexType(), row);
    // Nobody uses what is at -1.
    auto from = [&](Value v, Value at, int64_t count) {
      at = arith::MaxSIOp::create(inner, loc, at, constantIndex(inner, loc, 0));
      at = arith::MinSIOp::create(inner, loc, at, constantIndex(inner, loc, count - 1));
      SmallVector<Value> place(lane);
      place[0] = at;
      return lanes.load(inner, v, place);
    };
    Value end = constantIndex(inner, loc, rows[0]);
    Value isFirst = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt, row, end);
    Value first = from(op.getV1(), row, rows[0]),
          second = from(op.getV2(), arith::SubIOp::create(inner, loc, row, end), rows[1]);
    lanes.store(inner, loc, arith::SelectOp::create(inner, loc, isFirst, first, second), buffer, lane);
  });
  finish(op.getResult(), buffer);
}

Value WideLegaliser::takeOver(Value v, Operation *user) {
  Operation *def = v.getDefiningOp();
  Value buffer = lanes.memory.lookup(v);
  if (buffer && v.hasOneUse() && def && def->getBlock() == user->getBlock() && !def->getNumRegions() &&
      buffer.getDefiningOp<memref::AllocOp>())
    return buffer;
  return copyOf(v);
}

void WideLegaliser::emit(vector::InsertOp op) {
  Location loc = op.getLoc();
  SmallVector<Value> place;
  for (OpFoldResult i : op.getMixedPosition()) {
    auto known = getConstantIntValue(i);
    place.push_back(known ? constantIndex(b, loc, std::max<int64_t>(*known, 0)) : cast<Value>(i));
  }
  Value buffer = takeOver(op.getDest(), op);
  ArrayRef<int64_t> shape;
  if (VectorType type = lanes.typeOf(op.getValueToStore()))
    shape = type.getShape();
  forLanes(b, loc, shape, [&](OpBuilder &inner, Lane lane) {
    SmallVector<Value> to(place);
    to.append(lane.begin(), lane.end());
    lanes.store(inner, loc, lanes.at(inner, op.getValueToStore(), lane), buffer, to);
  });
  finish(op.getResult(), buffer);
}

void WideLegaliser::emit(vector::InsertStridedSliceOp op) {
  Location loc = op.getLoc();
  Value buffer = takeOver(op.getDest(), op);
  ArrayRef<int64_t> shape = shapeOf(op.getValueToStore());
  forLanes(b, loc, shape, [&](OpBuilder &inner, Lane lane) {
    SmallVector<Value> to;
    size_t lead = op.getOffsets().size() - lane.size();
    for (auto [d, offset] : llvm::enumerate(op.getOffsets())) {
      Value at = constantIndex(inner, loc, cast<IntegerAttr>(offset).getInt());
      if (d >= lead) {
        Value by = constantIndex(inner, loc, cast<IntegerAttr>(op.getStrides()[d - lead]).getInt());
        at = arith::AddIOp::create(inner, loc, at, arith::MulIOp::create(inner, loc, lane[d - lead], by));
      }
      to.push_back(at);
    }
    lanes.store(inner, loc, lanes.at(inner, op.getValueToStore(), lane), buffer, to);
  });
  finish(op.getResult(), buffer);
}

static SmallVector<Value> laneOf(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, int64_t number) {
  SmallVector<Value> lane(shape.size());
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; number /= shape[d--])
    lane[d] = constantIndex(b, loc, number % shape[d]);
  return lane;
}

void WideLegaliser::emit(vector::FromElementsOp op) {
  VectorType type = lanes.typeOf(op.getResult());
  Value buffer = lanes.allocate(b, op.getLoc(), type);
  for (auto [i, element] : llvm::enumerate(op.getElements()))
    lanes.store(b, op.getLoc(), element, buffer, laneOf(b, op.getLoc(), type.getShape(), i));
  finish(op.getResult(), buffer);
}

void WideLegaliser::emit(vector::ToElementsOp op) {
  if (!lanes.memory.count(op.getSource()))
    keep(op.getSource());
  for (auto [i, element] : llvm::enumerate(op.getElements()))
    if (!element.use_empty())
      element.replaceAllUsesWith(
          lanes.load(b, op.getSource(), laneOf(b, op.getLoc(), shapeOf(op.getSource()), i)));
}

// What nothing here knows takes its vectors whole, as slow as that may be.
void WideLegaliser::emitWhole(Operation *op) {
  for (OpOperand &use : op->getOpOperands()) {
    Value v = use.get();
    if (!lanes.wide.count(v))
      continue;
    b.setInsertionPoint(op);
    if (!lanes.memory.count(v))
      keep(v);
    use.set(lanes.readWhole(b, op->getLoc(), lanes.memory[v], lanes.typeOf(v).getElementType()));
  }
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    if (lanes.wide.count(result)) {
      Value buffer = lanes.allocate(b, op->getLoc(), lanes.typeOf(result));
      lanes.writeWhole(b, op->getLoc(), result, buffer);
      lanes.memory[result] = buffer;
    }
}
