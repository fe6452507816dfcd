// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors to and from memory and tensors: transfers, masked and indexed accesses. Lanes that are masked off
// touch nothing.
#include "tessera/oracle/Vectors.h"

using namespace tessera;
using namespace tessera::oracle;

namespace {
// A tensor or memref to read vectors from and write them to.
struct Place {
  Exec &x;
  const Inst &inst;
  const Val &base;

  ArrayRef<int64_t> shape() const {
    return base.getTag() == Val::Memory ? ArrayRef<int64_t>(base.memory().sizes)
                                        : ArrayRef<int64_t>(base.elements().shape);
  }
  LogicalResult load(ArrayRef<int64_t> index, Val &value) const {
    // A lane may be undefined; whoever uses it reports that.
    if (base.getTag() == Val::Memory)
      return x.load(inst, base.memory(), index, value, /*allowUndef=*/true);
    if (failed(x.checkBounds(inst, index, shape(), "tensor")))
      return failure();
    value = base.elements().load(base.elements().linear(index));
    return success();
  }
  LogicalResult store(Val &target, ArrayRef<int64_t> index, const Val &value) const {
    if (base.getTag() == Val::Memory)
      return x.store(inst, base.memory(), index, value);
    if (failed(x.checkBounds(inst, index, shape(), "tensor")))
      return failure();
    mutate(target).store(target.elements().linear(index), value);
    return success();
  }
};

// Where the lanes of a transfer go.
struct Transfer {
  SmallVector<int64_t, 4> start;
  AffineMap map;
  SmallVector<bool> inBounds;
  // For each dimension of the mask, the vector's dimension that it goes with.
  SmallVector<unsigned> maskDims;
  SmallVector<int64_t, 4> maskShape;

  template <typename Op> LogicalResult init(Exec &x, const Inst &inst, Op op, ArrayRef<int64_t> vectorShape) {
    for (Value index : op.getIndices()) {
      const Val &v = operandValue(x, inst, index);
      if (v.isUndef())
        return x.undefined(inst);
      start.push_back(v.getIndex());
    }
    map = op.getPermutationMap();
    for (Attribute flag : op.getInBounds())
      inBounds.push_back(cast<BoolAttr>(flag).getValue());
    // The mask covers the memory's dimensions in their order, before they are permuted and broadcast.
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      for (unsigned v = 0; v < map.getNumResults(); ++v)
        if (auto dim = dyn_cast<AffineDimExpr>(map.getResult(v)); dim && dim.getPosition() == d) {
          maskDims.push_back(v);
          maskShape.push_back(vectorShape[v]);
        }
    return success();
  }
  // The element for a lane; false when it lies outside in a dimension that may.
  LogicalResult locate(Exec &x, const Inst &inst, ArrayRef<int64_t> lane, ArrayRef<int64_t> shape,
                       SmallVectorImpl<int64_t> &index, bool &isInside) const {
    index.assign(start.begin(), start.end());
    isInside = true;
    for (unsigned v = 0; v < map.getNumResults(); ++v) {
      auto dim = dyn_cast<AffineDimExpr>(map.getResult(v));
      if (!dim)
        continue;
      unsigned d = dim.getPosition();
      index[d] += lane[v];
      if (index[d] >= 0 && index[d] < shape[d])
        continue;
      if (v < inBounds.size() && inBounds[v])
        return x.error(inst, "is out of bounds at " + formatIndex(index) + " of " + formatIndex(shape) +
                                 " although it is marked 'in_bounds'");
      isInside = false;
    }
    return success();
  }
  int64_t maskLane(ArrayRef<int64_t> lane) const {
    int64_t at = 0;
    for (size_t d = 0; d < maskDims.size(); ++d)
      at = at * maskShape[d] + lane[maskDims[d]];
    return at;
  }
};
} // namespace

static const Val *maskOf(Exec &x, const Inst &inst, Value mask) {
  return mask ? &operandValue(x, inst, mask) : x.mask;
}

static LogicalResult transferRead(Exec &x, const Inst &inst) {
  auto op = cast<vector::TransferReadOp>(inst.op);
  if (x.in(inst, 0).isUndef())
    return x.undefined(inst);
  Place place{x, inst, x.in(inst, 0)};
  Ref<Elements> to = newVector(op.getVectorType());
  Transfer transfer;
  if (failed(transfer.init(x, inst, op, to->shape)))
    return failure();
  const Val *mask = maskOf(x, inst, op.getMask());
  const Val &padding = operandValue(x, inst, op.getPadding());
  SmallVector<int64_t, 4> lane(to->shape.size()), index;
  for (int64_t e = 0, count = to->size(); e < count; ++e, nextIndex(lane, to->shape)) {
    bool isOn, isInside = false;
    Val value = padding;
    if (failed(isActive(x, inst, mask, transfer.maskLane(lane), isOn)) ||
        (isOn && failed(transfer.locate(x, inst, lane, place.shape(), index, isInside))) ||
        (isOn && isInside && failed(place.load(index, value))))
      return failure();
    to->store(e, value);
  }
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult transferWrite(Exec &x, const Inst &inst) {
  auto op = cast<vector::TransferWriteOp>(inst.op);
  if (x.in(inst, 0).isUndef() || x.in(inst, 1).isUndef())
    return x.undefined(inst);
  Place place{x, inst, x.in(inst, 1)};
  Val target = x.in(inst, 1);
  const Elements &from = x.in(inst, 0).elements();
  Transfer transfer;
  if (failed(transfer.init(x, inst, op, from.shape)))
    return failure();
  const Val *mask = maskOf(x, inst, op.getMask());
  SmallVector<int64_t, 4> lane(from.shape.size()), index;
  for (int64_t e = 0, count = from.size(); e < count; ++e, nextIndex(lane, from.shape)) {
    bool isOn, isInside = false;
    if (failed(isActive(x, inst, mask, transfer.maskLane(lane), isOn)) ||
        (isOn && failed(transfer.locate(x, inst, lane, place.shape(), index, isInside))) ||
        (isOn && isInside && failed(place.store(target, index, from.load(e)))))
      return failure();
  }
  if (!inst.out.empty())
    x.out(inst) = std::move(target);
  return success();
}

//===----------------------------------------------------------------------===//
// Contiguous accesses
//===----------------------------------------------------------------------===//

// Calls `f` with each lane and its element: the vector's dimensions are the memory's last ones.
static LogicalResult forLanes(Exec &x, const Inst &inst, ValueRange indices, ArrayRef<int64_t> shape,
                              function_ref<LogicalResult(int64_t, ArrayRef<int64_t>)> f) {
  SmallVector<int64_t, 4> start, lane(shape.size());
  for (Value index : indices) {
    const Val &v = operandValue(x, inst, index);
    if (v.isUndef())
      return x.undefined(inst);
    start.push_back(v.getIndex());
  }
  for (int64_t e = 0, count = countElements(shape); e < count; ++e, nextIndex(lane, shape)) {
    SmallVector<int64_t, 4> at(start);
    for (size_t d = 0; d < shape.size(); ++d)
      at[start.size() - shape.size() + d] += lane[d];
    if (failed(f(e, at)))
      return failure();
  }
  return success();
}

template <typename Op> static LogicalResult load(Exec &x, const Inst &inst) {
  auto op = cast<Op>(inst.op);
  Place place{x, inst, x.in(inst, 0)};
  Ref<Elements> to = newVector(op.getVectorType());
  const Val *mask = nullptr, *passThrough = nullptr;
  if constexpr (std::is_same_v<Op, vector::MaskedLoadOp>) {
    mask = &operandValue(x, inst, op.getMask());
    passThrough = &operandValue(x, inst, op.getPassThru());
  }
  if (failed(forLanes(x, inst, op.getIndices(), to->shape,
                      [&](int64_t e, ArrayRef<int64_t> at) -> LogicalResult {
                        bool isOn;
                        Val value;
                        if (failed(isActive(x, inst, mask, e, isOn)))
                          return failure();
                        if (!isOn)
                          value = passThrough->elements().load(e);
                        else if (failed(place.load(at, value)))
                          return failure();
                        to->store(e, value);
                        return success();
                      })))
    return failure();
  x.out(inst) = Val::of(to.get());
  return success();
}

template <typename Op> static LogicalResult store(Exec &x, const Inst &inst) {
  auto op = cast<Op>(inst.op);
  const Val &value = operandValue(x, inst, op.getValueToStore());
  if (value.isUndef())
    return x.undefined(inst);
  Place place{x, inst, operandValue(x, inst, op.getBase())};
  Val target = place.base;
  const Val *mask = nullptr;
  if constexpr (std::is_same_v<Op, vector::MaskedStoreOp>)
    mask = &operandValue(x, inst, op.getMask());
  const Elements &from = value.elements();
  return forLanes(x, inst, op.getIndices(), from.shape,
                  [&](int64_t e, ArrayRef<int64_t> at) -> LogicalResult {
                    bool isOn;
                    if (failed(isActive(x, inst, mask, e, isOn)))
                      return failure();
                    return isOn ? place.store(target, at, from.load(e)) : success();
                  });
}

// Lanes that are on take the next elements in turn.
static LogicalResult expandLoad(Exec &x, const Inst &inst) {
  auto op = cast<vector::ExpandLoadOp>(inst.op);
  Place place{x, inst, x.in(inst, 0)};
  Ref<Elements> to = newVector(op.getVectorType());
  const Val &mask = operandValue(x, inst, op.getMask()),
            &passThrough = operandValue(x, inst, op.getPassThru());
  SmallVector<int64_t, 4> at;
  if (failed(x.indices(inst, 1, op.getIndices().size(), at)))
    return failure();
  for (int64_t e = 0, count = to->size(); e < count; ++e) {
    bool isOn;
    Val value = passThrough.elements().load(e);
    if (failed(isActive(x, inst, &mask, e, isOn)) || (isOn && failed(place.load(at, value))))
      return failure();
    at.back() += isOn;
    to->store(e, value);
  }
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult compressStore(Exec &x, const Inst &inst) {
  auto op = cast<vector::CompressStoreOp>(inst.op);
  Place place{x, inst, x.in(inst, 0)};
  Val target = place.base;
  const Val &mask = operandValue(x, inst, op.getMask());
  const Elements &from = operandValue(x, inst, op.getValueToStore()).elements();
  SmallVector<int64_t, 4> at;
  if (failed(x.indices(inst, 1, op.getIndices().size(), at)))
    return failure();
  for (int64_t e = 0, count = from.size(); e < count; ++e) {
    bool isOn;
    if (failed(isActive(x, inst, &mask, e, isOn)) || (isOn && failed(place.store(target, at, from.load(e)))))
      return failure();
    at.back() += isOn;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Indexed accesses
//===----------------------------------------------------------------------===//

// The element of one lane: the offsets, moved along the last dimension by the lane's index.
static LogicalResult indexedElement(Exec &x, const Inst &inst, ArrayRef<int64_t> start,
                                    const Elements &indices, int64_t lane, SmallVectorImpl<int64_t> &at) {
  Val index = indices.load(lane);
  if (index.isUndef())
    return x.undefined(inst);
  at.assign(start.begin(), start.end());
  at.back() += index.getInt(indices.info.width).getSExtValue();
  return success();
}

static LogicalResult gather(Exec &x, const Inst &inst) {
  auto op = cast<vector::GatherOp>(inst.op);
  Place place{x, inst, x.in(inst, 0)};
  Ref<Elements> to = newVector(op.getVectorType());
  const Val &mask = operandValue(x, inst, op.getMask()),
            &passThrough = operandValue(x, inst, op.getPassThru());
  const Elements &indices = operandValue(x, inst, op.getIndices()).elements();
  SmallVector<int64_t, 4> start, at;
  if (failed(x.indices(inst, 1, op.getOffsets().size(), start)))
    return failure();
  for (int64_t e = 0, count = to->size(); e < count; ++e) {
    bool isOn;
    Val value = passThrough.elements().load(e);
    if (failed(isActive(x, inst, &mask, e, isOn)) ||
        (isOn && (failed(indexedElement(x, inst, start, indices, e, at)) || failed(place.load(at, value)))))
      return failure();
    to->store(e, value);
  }
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult scatter(Exec &x, const Inst &inst) {
  auto op = cast<vector::ScatterOp>(inst.op);
  Place place{x, inst, x.in(inst, 0)};
  Val target = place.base;
  const Val &mask = operandValue(x, inst, op.getMask());
  const Elements &indices = operandValue(x, inst, op.getIndices()).elements();
  const Elements &from = operandValue(x, inst, op.getValueToStore()).elements();
  SmallVector<int64_t, 4> start, at;
  if (failed(x.indices(inst, 1, op.getOffsets().size(), start)))
    return failure();
  for (int64_t e = 0, count = from.size(); e < count; ++e) {
    bool isOn;
    if (failed(isActive(x, inst, &mask, e, isOn)) ||
        (isOn && (failed(indexedElement(x, inst, start, indices, e, at)) ||
                  failed(place.store(target, at, from.load(e))))))
      return failure();
  }
  if (!inst.out.empty())
    x.out(inst) = std::move(target);
  return success();
}

void oracle::addVectorMemory(HandlerTable &table) {
  table.add("vector.transfer_read", transferRead);
  table.add("vector.transfer_write", transferWrite);
  table.add("vector.load", load<vector::LoadOp>);
  table.add("vector.store", store<vector::StoreOp>);
  table.add("vector.maskedload", load<vector::MaskedLoadOp>);
  table.add("vector.maskedstore", store<vector::MaskedStoreOp>);
  table.add("vector.expandload", expandLoad);
  table.add("vector.compressstore", compressStore);
  table.add("vector.gather", gather);
  table.add("vector.scatter", scatter);
}
