// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors as values: building, cutting, permuting. Lanes may be undefined as long as nobody uses them.
#include "tessera/oracle/Tensors.h"
#include "tessera/oracle/Vectors.h"

using namespace tessera;
using namespace tessera::oracle;

const Val &oracle::operandValue(Exec &x, const Inst &inst, Value operand) {
  for (unsigned i = 0; i < inst.in.size(); ++i)
    if (inst.op->getOperand(i) == operand)
      return x.in(inst, i);
  static const Val none;
  return none;
}

LogicalResult oracle::isActive(Exec &x, const Inst &inst, const Val *mask, int64_t lane, bool &result) {
  result = true;
  if (!mask || mask->isUndef())
    return success();
  Val flag = mask->elements().load(lane);
  if (flag.isUndef())
    return x.undefined(inst, "the mask is undefined");
  result = flag.getBits();
  return success();
}

Combine oracle::toCombine(vector::CombiningKind kind, bool isFloat) {
  switch (kind) {
  case vector::CombiningKind::ADD:
    return isFloat ? Combine::AddF : Combine::AddI;
  case vector::CombiningKind::MUL:
    return isFloat ? Combine::MulF : Combine::MulI;
  case vector::CombiningKind::MINUI:
    return Combine::MinUI;
  case vector::CombiningKind::MINSI:
    return Combine::MinSI;
  case vector::CombiningKind::MINNUMF:
    return Combine::MinNumF;
  case vector::CombiningKind::MAXUI:
    return Combine::MaxUI;
  case vector::CombiningKind::MAXSI:
    return Combine::MaxSI;
  case vector::CombiningKind::MAXNUMF:
    return Combine::MaxNumF;
  case vector::CombiningKind::AND:
    return Combine::AndI;
  case vector::CombiningKind::OR:
    return Combine::OrI;
  case vector::CombiningKind::XOR:
    return Combine::XOrI;
  case vector::CombiningKind::MINIMUMF:
    return Combine::MinimumF;
  case vector::CombiningKind::MAXIMUMF:
    return Combine::MaximumF;
  }
  return Combine::AddI;
}

Ref<Elements> oracle::newVector(Type type) {
  return new Elements(ElementInfo::get(type), cast<VectorType>(type).getShape());
}

static Type resultType(const Inst &inst, unsigned i = 0) { return inst.op->getResult(i).getType(); }

// Sets the result, a vector, element by element from positions in the first operand.
static LogicalResult permute(Exec &x, const Inst &inst, function_ref<int64_t(ArrayRef<int64_t>)> source) {
  const Val &operand = x.in(inst, 0);
  if (operand.isUndef())
    return x.undefined(inst);
  const Elements &from = operand.elements();
  Ref<Elements> to = newVector(resultType(inst));
  SmallVector<int64_t, 4> index(to->shape.size());
  for (int64_t e = 0, count = to->size(); e < count; ++e, nextIndex(index, to->shape))
    to->copyElement(e, from, source(index));
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult broadcast(Exec &x, const Inst &inst) {
  const Val &operand = x.in(inst, 0);
  if (operand.getTag() != Val::Tensor) {
    Ref<Elements> to = newVector(resultType(inst));
    for (int64_t e = 0, count = to->size(); e < count; ++e)
      to->store(e, operand);
    x.out(inst) = Val::of(to.get());
    return success();
  }
  const Elements &from = operand.elements();
  SmallVector<int64_t, 4> at(from.shape.size());
  return permute(x, inst, [&](ArrayRef<int64_t> index) {
    ArrayRef<int64_t> inner = index.take_back(at.size());
    for (size_t d = 0; d < at.size(); ++d)
      at[d] = from.shape[d] == 1 ? 0 : inner[d];
    return from.linear(at);
  });
}

// The position that vector.extract and vector.insert name: the offset and number of the lanes under it.
static LogicalResult findPart(Exec &x, const Inst &inst, ArrayRef<int64_t> statics, unsigned firstDynamic,
                              ArrayRef<int64_t> shape, int64_t &offset, int64_t &count, bool &isPoison) {
  SmallVector<int64_t, 4> position;
  if (failed(x.mixed(inst, statics, firstDynamic, position)))
    return failure();
  isPoison = llvm::is_contained(position, -1);
  if (!isPoison && failed(x.checkBounds(inst, position, shape, "vector")))
    return failure();
  offset = 0;
  for (size_t d = 0; d < position.size(); ++d)
    offset = offset * shape[d] + position[d];
  count = countElements(shape.drop_front(position.size()));
  offset *= count;
  return success();
}

static LogicalResult extract(Exec &x, const Inst &inst) {
  const Val &source = x.in(inst, 0);
  if (source.isUndef())
    return x.undefined(inst);
  const Elements &from = source.elements();
  int64_t offset, count;
  bool isPoison;
  if (failed(findPart(x, inst, cast<vector::ExtractOp>(inst.op).getStaticPosition(), 1, from.shape, offset,
                      count, isPoison)))
    return failure();
  if (!inst.isShaped) {
    x.out(inst) = isPoison ? Val() : from.load(offset);
    return success();
  }
  Ref<Elements> to = newVector(resultType(inst));
  for (int64_t e = 0; e < count; ++e)
    to->store(e, isPoison ? Val() : from.load(offset + e));
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult insert(Exec &x, const Inst &inst) {
  Val value = x.in(inst, 0), target = x.take(inst, 1);
  if (target.isUndef())
    return x.undefined(inst);
  Elements &to = mutate(target);
  int64_t offset, count;
  bool isPoison;
  if (failed(findPart(x, inst, cast<vector::InsertOp>(inst.op).getStaticPosition(), 2, to.shape, offset,
                      count, isPoison)))
    return failure();
  if (isPoison) {
    for (int64_t e = 0, all = to.size(); e < all; ++e)
      to.store(e, Val());
  } else if (value.getTag() == Val::Tensor) {
    for (int64_t e = 0; e < count; ++e)
      to.copyElement(offset + e, value.elements(), e);
  } else {
    to.store(offset, value);
  }
  x.out(inst) = std::move(target);
  return success();
}

static LogicalResult shuffle(Exec &x, const Inst &inst) {
  if (x.in(inst, 0).isUndef() || x.in(inst, 1).isUndef())
    return x.undefined(inst);
  const Elements &a = x.in(inst, 0).elements(), &b = x.in(inst, 1).elements();
  int64_t rows = a.shape.empty() ? 1 : a.shape[0];
  int64_t part = a.size() / std::max<int64_t>(rows, 1);
  Ref<Elements> to = newVector(resultType(inst));
  for (auto [row, choice] : llvm::enumerate(cast<vector::ShuffleOp>(inst.op).getMask()))
    for (int64_t e = 0; e < part; ++e) {
      int64_t at = static_cast<int64_t>(row) * part + e;
      if (choice < 0)
        to->store(at, Val());
      else if (choice < rows)
        to->copyElement(at, a, choice * part + e);
      else
        to->copyElement(at, b, (choice - rows) * part + e);
    }
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult transpose(Exec &x, const Inst &inst) {
  ArrayRef<int64_t> permutation = cast<vector::TransposeOp>(inst.op).getPermutation();
  SmallVector<int64_t, 4> at(permutation.size());
  return permute(x, inst, [&](ArrayRef<int64_t> index) {
    for (size_t d = 0; d < at.size(); ++d)
      at[permutation[d]] = index[d];
    return x.in(inst, 0).elements().linear(at);
  });
}

static LogicalResult shapeCast(Exec &x, const Inst &inst) {
  int64_t next = 0;
  return permute(x, inst, [&](ArrayRef<int64_t>) { return next++; });
}

// Lane bits in order, the first lane in the lowest bits.
static LogicalResult bitcast(Exec &x, const Inst &inst) {
  if (x.in(inst, 0).isUndef())
    return x.undefined(inst);
  const Elements &from = x.in(inst, 0).elements();
  Ref<Elements> to = newVector(resultType(inst));
  unsigned fromWidth = from.info.width, toWidth = to->info.width;
  for (int64_t e = 0, count = to->size(); e < count; ++e) {
    APInt bits(toWidth, 0);
    bool isDefined = true;
    if (toWidth <= fromWidth) {
      int64_t ratio = fromWidth / toWidth;
      Val lane = from.load(e / ratio);
      isDefined = !lane.isUndef();
      if (isDefined)
        bits = lane.getInt(fromWidth).extractBits(toWidth, (e % ratio) * toWidth);
    } else {
      int64_t ratio = toWidth / fromWidth;
      for (int64_t k = 0; k < ratio; ++k) {
        Val lane = from.load(e * ratio + k);
        isDefined &= !lane.isUndef();
        if (!lane.isUndef())
          bits.insertBits(lane.getInt(fromWidth), k * fromWidth);
      }
    }
    to->store(e, isDefined ? Val::integer(bits) : Val());
  }
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult fillMask(Exec &x, const Inst &inst, ArrayRef<int64_t> sizes) {
  Ref<Elements> to = newVector(resultType(inst));
  SmallVector<int64_t, 4> index(to->shape.size());
  for (int64_t e = 0, count = to->size(); e < count; ++e, nextIndex(index, to->shape)) {
    bool isSet = true;
    for (size_t d = 0; d < sizes.size(); ++d)
      isSet &= (index.empty() ? 0 : index[d]) < sizes[d];
    to->store(e, Val::boolean(isSet));
  }
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult createMask(Exec &x, const Inst &inst) {
  SmallVector<int64_t, 4> sizes;
  if (failed(x.indices(inst, 0, inst.in.size(), sizes)))
    return failure();
  return fillMask(x, inst, sizes);
}

static LogicalResult constantMask(Exec &x, const Inst &inst) {
  return fillMask(x, inst, cast<vector::ConstantMaskOp>(inst.op).getMaskDimSizes());
}

static LogicalResult step(Exec &x, const Inst &inst) {
  Ref<Elements> to = newVector(resultType(inst));
  for (int64_t e = 0, count = to->size(); e < count; ++e)
    to->store(e, Val::index(e));
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult toElements(Exec &x, const Inst &inst) {
  if (x.in(inst, 0).isUndef())
    return x.undefined(inst);
  Val source = x.in(inst, 0);
  for (unsigned e = 0; e < inst.out.size(); ++e)
    x.out(inst, e) = source.elements().load(e);
  return success();
}

static SmallVector<int64_t, 4> integers(ArrayAttr attr) {
  SmallVector<int64_t, 4> values;
  for (Attribute a : attr)
    values.push_back(cast<IntegerAttr>(a).getInt());
  return values;
}

static LogicalResult extractStrided(Exec &x, const Inst &inst) {
  auto op = cast<vector::ExtractStridedSliceOp>(inst.op);
  SmallVector<int64_t, 4> offsets = integers(op.getOffsets()), strides = integers(op.getStrides()), at;
  return permute(x, inst, [&](ArrayRef<int64_t> index) {
    at.assign(index.begin(), index.end());
    for (size_t d = 0; d < offsets.size(); ++d)
      at[d] = offsets[d] + index[d] * strides[d];
    return x.in(inst, 0).elements().linear(at);
  });
}

static LogicalResult insertStrided(Exec &x, const Inst &inst) {
  auto op = cast<vector::InsertStridedSliceOp>(inst.op);
  Val source = x.in(inst, 0), target = x.take(inst, 1);
  if (source.isUndef() || target.isUndef())
    return x.undefined(inst);
  const Elements &from = source.elements();
  Elements &to = mutate(target);
  SmallVector<int64_t, 4> offsets = integers(op.getOffsets()), strides = integers(op.getStrides());
  SmallVector<int64_t, 4> index(from.shape.size());
  size_t lead = to.shape.size() - from.shape.size();
  for (int64_t e = 0, count = from.size(); e < count; ++e, nextIndex(index, from.shape)) {
    SmallVector<int64_t, 4> at(offsets);
    for (size_t d = 0; d < index.size(); ++d)
      at[lead + d] += index[d] * strides[d];
    to.copyElement(to.linear(at), from, e);
  }
  x.out(inst) = std::move(target);
  return success();
}

static LogicalResult interleave(Exec &x, const Inst &inst) {
  if (x.in(inst, 0).isUndef() || x.in(inst, 1).isUndef())
    return x.undefined(inst);
  const Elements &a = x.in(inst, 0).elements(), &b = x.in(inst, 1).elements();
  Ref<Elements> to = newVector(resultType(inst));
  for (int64_t e = 0, count = a.size(); e < count; ++e) {
    to->copyElement(2 * e, a, e);
    to->copyElement(2 * e + 1, b, e);
  }
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult deinterleave(Exec &x, const Inst &inst) {
  Val source = x.in(inst, 0);
  if (source.isUndef())
    return x.undefined(inst);
  for (unsigned r = 0; r < 2; ++r) {
    Ref<Elements> to = newVector(resultType(inst, r));
    for (int64_t e = 0, count = to->size(); e < count; ++e)
      to->copyElement(e, source.elements(), 2 * e + r);
    x.out(inst, r) = Val::of(to.get());
  }
  return success();
}

static LogicalResult fusedMultiplyAdd(Exec &x, const Inst &inst, const Val &a, const Val &b, const Val &c,
                                      Val &out) {
  out = fmaFloat(inst.operandInfo, a, b, c);
  return success();
}

// The operation inside sees the mask; lanes that are off take the pass-through value.
static LogicalResult mask(Exec &x, const Inst &inst) {
  auto op = cast<vector::MaskOp>(inst.op);
  Val flags = x.in(inst, 0);
  if (flags.isUndef())
    return x.undefined(inst, "the mask is undefined");
  const Val *saved = std::exchange(x.mask, &flags);
  Vals results;
  LogicalResult status = x.run(inst.regions[0], {}, results);
  x.mask = saved;
  if (failed(status))
    return failure();
  for (unsigned r = 0; r < inst.out.size(); ++r) {
    if (op.getPassthru() && results[r].getTag() == Val::Tensor &&
        results[r].elements().size() == flags.elements().size()) {
      Elements &to = mutate(results[r]);
      for (int64_t e = 0, count = to.size(); e < count; ++e)
        if (!flags.elements().load(e).getBits())
          to.copyElement(e, x.in(inst, 1).elements(), e);
    }
    x.out(inst, r) = std::move(results[r]);
  }
  return success();
}

void oracle::addVector(HandlerTable &table) {
  table.add("vector.broadcast", broadcast);
  table.add("vector.extract", extract);
  table.add("vector.insert", insert);
  table.add("vector.shuffle", shuffle);
  table.add("vector.transpose", transpose);
  table.add("vector.shape_cast", shapeCast);
  table.add("vector.bitcast", bitcast);
  table.add("vector.create_mask", createMask);
  table.add("vector.constant_mask", constantMask);
  table.add("vector.step", step);
  table.add("vector.to_elements", toElements);
  table.add("vector.extract_strided_slice", extractStrided);
  table.add("vector.insert_strided_slice", insertStrided);
  table.add("vector.interleave", interleave);
  table.add("vector.deinterleave", deinterleave);
  table.add("vector.fma", ternary<fusedMultiplyAdd>);
  table.add("vector.mask", mask);
}
