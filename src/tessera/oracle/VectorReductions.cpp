// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions and products of vectors. All combine in row-major order, the accumulator first, in the element's
// type.
#include "tessera/oracle/Tensors.h"
#include "tessera/oracle/Vectors.h"

using namespace tessera;
using namespace tessera::oracle;

// A product's operands may be narrower than the accumulator: they are extended before they are multiplied.
static Val extend(const Val &value, const ElementInfo &from, const ElementInfo &to) {
  if (from.width == to.width)
    return value;
  if (!from.isFloat())
    return Val::integer(value.getInt(from.width).sext(to.width));
  APFloat number = value.getFloat(*from.semantics);
  bool lost;
  number.convert(*to.semantics, APFloat::rmNearestTiesToEven, &lost);
  return Val::floating(number);
}

static LogicalResult reduction(Exec &x, const Inst &inst) {
  auto op = cast<vector::ReductionOp>(inst.op);
  if (x.in(inst, 0).isUndef())
    return x.undefined(inst);
  const Elements &from = x.in(inst, 0).elements();
  Combine kind = toCombine(op.getKind(), from.info.isFloat());
  Val result = op.getAcc() ? x.in(inst, 1) : combineIdentity(kind, from.info);
  for (int64_t e = 0, count = from.size(); e < count; ++e) {
    bool isOn;
    if (failed(isActive(x, inst, x.mask, e, isOn)))
      return failure();
    if (!isOn)
      continue;
    Val lane = from.load(e);
    if (lane.isUndef() || result.isUndef())
      return x.undefined(inst, "an undefined lane is used");
    result = combineScalars(kind, from.info, result, lane);
  }
  x.out(inst) = std::move(result);
  return success();
}

static LogicalResult multiReduction(Exec &x, const Inst &inst) {
  auto op = cast<vector::MultiDimReductionOp>(inst.op);
  if (x.in(inst, 0).isUndef() || x.in(inst, 1).isUndef())
    return x.undefined(inst);
  const Elements &from = x.in(inst, 0).elements();
  Combine kind = toCombine(op.getKind(), from.info.isFloat());
  SmallVector<bool> reduced = op.getReductionMask();
  Val accumulator = x.in(inst, 1);
  bool isVector = accumulator.getTag() == Val::Tensor;
  SmallVector<int64_t, 4> index(from.shape.size()), at;
  for (int64_t e = 0, count = from.size(); e < count; ++e, nextIndex(index, from.shape)) {
    bool isOn;
    if (failed(isActive(x, inst, x.mask, e, isOn)))
      return failure();
    if (!isOn)
      continue;
    at.clear();
    for (size_t d = 0; d < index.size(); ++d)
      if (!reduced[d])
        at.push_back(index[d]);
    int64_t place = isVector ? accumulator.elements().linear(at) : 0;
    Val lane = from.load(e), old = isVector ? accumulator.elements().load(place) : accumulator;
    if (lane.isUndef() || old.isUndef())
      return x.undefined(inst, "an undefined lane is used");
    Val result = combineScalars(kind, from.info, old, lane);
    if (isVector)
      mutate(accumulator).store(place, result);
    else
      accumulator = std::move(result);
  }
  x.out(inst) = std::move(accumulator);
  return success();
}

static LogicalResult contract(Exec &x, const Inst &inst) {
  auto op = cast<vector::ContractionOp>(inst.op);
  for (unsigned i = 0; i < 3; ++i)
    if (x.in(inst, i).isUndef())
      return x.undefined(inst);
  const Elements &a = x.in(inst, 0).elements(), &b = x.in(inst, 1).elements();
  Val accumulator = x.in(inst, 2);
  bool isVector = accumulator.getTag() == Val::Tensor;
  ElementInfo info = ElementInfo::get(op.getAccType());
  Combine kind = toCombine(op.getKind(), info.isFloat()),
          product = info.isFloat() ? Combine::MulF : Combine::MulI;
  SmallVector<AffineMap, 4> maps = op.getIndexingMapsArray();
  // The extent of each iteration dimension, from the operands that it indexes.
  SmallVector<int64_t, 4> extents(maps[0].getNumDims(), 0);
  for (unsigned i = 0; i < 2; ++i)
    for (auto [d, expr] : llvm::enumerate(maps[i].getResults()))
      extents[cast<AffineDimExpr>(expr).getPosition()] = (i ? b : a).shape[d];
  SmallVector<int64_t, 4> point(extents.size());
  auto locate = [&](unsigned i, const Elements &elements) {
    SmallVector<int64_t, 4> at;
    for (AffineExpr expr : maps[i].getResults())
      at.push_back(point[cast<AffineDimExpr>(expr).getPosition()]);
    return elements.linear(at);
  };
  for (int64_t e = 0, count = countElements(extents); e < count; ++e, nextIndex(point, extents)) {
    bool isOn;
    if (failed(isActive(x, inst, x.mask, e, isOn)))
      return failure();
    if (!isOn)
      continue;
    Val p = a.load(locate(0, a)), q = b.load(locate(1, b));
    int64_t place = isVector ? locate(2, accumulator.elements()) : 0;
    Val old = isVector ? accumulator.elements().load(place) : accumulator;
    if (p.isUndef() || q.isUndef() || old.isUndef())
      return x.undefined(inst, "an undefined lane is used");
    Val result = combineScalars(
        kind, info, old, combineScalars(product, info, extend(p, a.info, info), extend(q, b.info, info)));
    if (isVector)
      mutate(accumulator).store(place, result);
    else
      accumulator = std::move(result);
  }
  x.out(inst) = std::move(accumulator);
  return success();
}

static LogicalResult outerProduct(Exec &x, const Inst &inst) {
  auto op = cast<vector::OuterProductOp>(inst.op);
  if (x.in(inst, 0).isUndef() || x.in(inst, 1).isUndef())
    return x.undefined(inst);
  const Elements &a = x.in(inst, 0).elements();
  const Val &b = x.in(inst, 1);
  Ref<Elements> to = newVector(inst.op->getResult(0).getType());
  Combine kind = toCombine(op.getKind(), to->info.isFloat()),
          product = to->info.isFloat() ? Combine::MulF : Combine::MulI;
  int64_t columns = b.getTag() == Val::Tensor ? b.elements().size() : 1;
  for (int64_t e = 0, count = to->size(); e < count; ++e) {
    bool isOn;
    if (failed(isActive(x, inst, x.mask, e, isOn)))
      return failure();
    Val old = op.getAcc() ? x.in(inst, 2).elements().load(e) : Val();
    if (!isOn) {
      to->store(e, old);
      continue;
    }
    Val p = a.load(e / columns), q = b.getTag() == Val::Tensor ? b.elements().load(e % columns) : b;
    if (p.isUndef() || q.isUndef() || (op.getAcc() && old.isUndef()))
      return x.undefined(inst, "an undefined lane is used");
    Val result = combineScalars(product, to->info, p, q);
    to->store(e, op.getAcc() ? combineScalars(kind, to->info, old, result) : result);
  }
  x.out(inst) = Val::of(to.get());
  return success();
}

static LogicalResult scan(Exec &x, const Inst &inst) {
  auto op = cast<vector::ScanOp>(inst.op);
  if (x.in(inst, 0).isUndef() || x.in(inst, 1).isUndef())
    return x.undefined(inst);
  const Elements &from = x.in(inst, 0).elements();
  Combine kind = toCombine(op.getKind(), from.info.isFloat());
  int64_t along = op.getReductionDim();
  Ref<Elements> to = new Elements(from.info, from.shape);
  Val running = x.in(inst, 1);
  SmallVector<int64_t, 4> index(from.shape.size()), at;
  for (int64_t e = 0, count = from.size(); e < count; ++e, nextIndex(index, from.shape)) {
    at.clear();
    for (size_t d = 0; d < index.size(); ++d)
      if (static_cast<int64_t>(d) != along)
        at.push_back(index[d]);
    int64_t place = running.elements().linear(at);
    Val old = running.elements().load(place), lane = from.load(e);
    if (old.isUndef() || lane.isUndef())
      return x.undefined(inst, "an undefined lane is used");
    // An inclusive scan starts with the first element itself.
    bool isFirst = index[along] == 0;
    Val sum = isFirst && op.getInclusive() ? lane : combineScalars(kind, from.info, old, lane);
    to->store(e, op.getInclusive() ? sum : old);
    // The accumulated value of an exclusive scan is its last output.
    bool isLast = index[along] + 1 == from.shape[along];
    mutate(running).store(place, !op.getInclusive() && isLast ? old : sum);
  }
  x.out(inst, 0) = Val::of(to.get());
  x.out(inst, 1) = std::move(running);
  return success();
}

void oracle::addVectorReductions(HandlerTable &table) {
  table.add("vector.reduction", reduction);
  table.add("vector.multi_reduction", multiReduction);
  table.add("vector.contract", contract);
  table.add("vector.outerproduct", outerProduct);
  table.add("vector.scan", scan);
}
