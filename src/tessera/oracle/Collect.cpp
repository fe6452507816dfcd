// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathered, tiled, reduced and folded results.
#include "tessera/oracle/Nodes.h"
#include "tessera/oracle/Tensors.h"

using namespace tessera;
using namespace tessera::oracle;

Combine oracle::toCombine(dfg::ReductionKind kind) {
  switch (kind) {
  case dfg::ReductionKind::AddF:
    return Combine::AddF;
  case dfg::ReductionKind::AddI:
    return Combine::AddI;
  case dfg::ReductionKind::MulF:
    return Combine::MulF;
  case dfg::ReductionKind::MulI:
    return Combine::MulI;
  case dfg::ReductionKind::MinimumF:
    return Combine::MinimumF;
  case dfg::ReductionKind::MaximumF:
    return Combine::MaximumF;
  case dfg::ReductionKind::MinNumF:
    return Combine::MinNumF;
  case dfg::ReductionKind::MaxNumF:
    return Combine::MaxNumF;
  case dfg::ReductionKind::MinSI:
    return Combine::MinSI;
  case dfg::ReductionKind::MaxSI:
    return Combine::MaxSI;
  case dfg::ReductionKind::MinUI:
    return Combine::MinUI;
  case dfg::ReductionKind::MaxUI:
    return Combine::MaxUI;
  case dfg::ReductionKind::AndI:
    return Combine::AndI;
  case dfg::ReductionKind::OrI:
    return Combine::OrI;
  case dfg::ReductionKind::XOrI:
    return Combine::XOrI;
  }
  return Combine::AddI;
}

bool oracle::isPrecise(dfg::ReductionAttr reduction, const ElementInfo &info) {
  std::optional<dfg::ReductionKind> kind = reduction.getKind();
  return info.isFloat() && !info.isWide() && kind &&
         (*kind == dfg::ReductionKind::AddF || *kind == dfg::ReductionKind::MulF);
}

long double oracle::combinePrecise(dfg::ReductionKind kind, const ElementInfo &info, long double a,
                                   long double b) {
  bool isSum = kind == dfg::ReductionKind::AddF;
  if (info.kind == ElementInfo::F64)
    return isSum ? a + b : a * b;
  auto p = static_cast<double>(a), q = static_cast<double>(b);
  return isSum ? p + q : p * q;
}

Val oracle::roundPrecise(const ElementInfo &info, long double value) {
  // The partial values of types narrower than f64 are doubles: this rounds once.
  return info.kind == ElementInfo::F64 ? fromLongDouble(info, value)
                                       : fromDouble(info, static_cast<double>(value));
}

// Runs a combiner's body on two values.
static LogicalResult callCombiner(Exec &x, const Inst &inst, dfg::CombinerOp combiner, const Val &a,
                                  const Val &b, Val &result) {
  const Code &code = x.interpreter.getCode(combiner);
  std::vector<Val> frame(code.slots);
  Val *saved = std::exchange(x.frame, frame.data());
  Val args[] = {a, b};
  Vals results;
  LogicalResult status = x.run(code.region, args, results);
  x.frame = saved;
  if (failed(status))
    return failure();
  result = std::move(results.front());
  return success();
}

static dfg::CombinerOp findCombiner(Exec &x, const Inst &inst, dfg::ReductionAttr reduction) {
  return dyn_cast_or_null<dfg::CombinerOp>(x.interpreter.lookup(inst.op, reduction.getCombiner()));
}

LogicalResult oracle::combineValues(Exec &x, const Inst &inst, dfg::ReductionAttr reduction,
                                    const ElementInfo &info, const Val &a, const Val &b, Val &result) {
  if (a.isUndef() || b.isUndef())
    return x.undefined(inst, "an undefined value is reduced");
  dfg::CombinerOp combiner;
  if (!reduction.getKind()) {
    combiner = findCombiner(x, inst, reduction);
    if (!combiner)
      return x.error(inst,
                     "names the combiner '" + reduction.getCombiner().getValue() + "', which does not exist");
    bool isWhole = isa<ShapedType>(combiner.getBody().getArgument(0).getType());
    if (isWhole || a.getTag() != Val::Tensor)
      return callCombiner(x, inst, combiner, a, b, result);
  }
  if (a.getTag() != Val::Tensor) {
    result = combineScalars(toCombine(*reduction.getKind()), info, a, b);
    return success();
  }
  const Elements &p = a.elements(), &q = b.elements();
  if (p.shape != q.shape)
    return x.error(inst, "reduces tensors of different extents " + formatIndex(p.shape) + " and " +
                             formatIndex(q.shape));
  Ref<Elements> to = new Elements(p.info, p.shape);
  for (int64_t e = 0, count = p.size(); e < count; ++e) {
    Val u = p.load(e), v = q.load(e), combined;
    if (u.isUndef() || v.isUndef())
      return x.undefined(inst, "an undefined value is reduced");
    if (!combiner)
      combined = combineScalars(toCombine(*reduction.getKind()), p.info, u, v);
    else if (failed(callCombiner(x, inst, combiner, u, v, combined)))
      return failure();
    to->store(e, combined);
  }
  result = Val::of(to.get());
  return success();
}

//===----------------------------------------------------------------------===//
// Collector
//===----------------------------------------------------------------------===//

Collector::Collector(dfg::NodeOp node, unsigned result, ArrayRef<int64_t> extents)
    : node(node), attr(node.getYield(result)), type(node.getResult(result).getType()),
      info(ElementInfo::get(type)), extents(extents) {
  for (size_t d = 0; d < extents.size(); ++d)
    if (!attr.reduces(d))
      kept.push_back(extents[d]);
  isPreciseSum = attr.getMode() == dfg::ResultMode::Reduce && isPrecise(attr.getReduction(), info);
}

// Allocates for instances that yield tensors (or, with no extents, scalars) of this shape.
LogicalResult Collector::start(Exec &x, const Inst &inst, ArrayRef<int64_t> shape) {
  isStarted = true;
  tile.assign(shape.begin(), shape.end());
  int64_t places = countElements(kept);
  if (attr.isReduction()) {
    if (isPreciseSum)
      precise.assign(places * countElements(tile), 0);
    else
      partial.assign(places, Val());
    return success();
  }
  SmallVector<int64_t, 6> all;
  if (attr.getMode() == dfg::ResultMode::Tile) {
    all.assign(tile.begin(), tile.end());
    for (size_t d = 0; d < extents.size(); ++d)
      all[d] *= extents[d];
  } else {
    all.assign(extents.begin(), extents.end());
    all.append(tile.begin(), tile.end());
  }
  return x.allocate(inst, info, all, gathered, /*isDefined=*/false);
}

LogicalResult Collector::add(Exec &x, const Inst &inst, ArrayRef<int64_t> ids, const Val &value) {
  // A node without a grid hands its values on, whatever they are.
  if (extents.empty() && !attr.isReduction()) {
    gathered = value;
    isStarted = true;
    return success();
  }
  ArrayRef<int64_t> shape;
  if (value.getTag() == Val::Tensor)
    shape = value.elements().shape;
  if (!isStarted && failed(start(x, inst, shape)))
    return failure();
  if (shape != ArrayRef<int64_t>(tile))
    return x.error(inst, "expected each instance to yield extents " + formatIndex(tile) + ", but got " +
                             formatIndex(shape));
  return attr.isReduction() ? addReduced(x, inst, ids, value) : addGathered(x, inst, ids, value);
}

LogicalResult Collector::addGathered(Exec &, const Inst &, ArrayRef<int64_t> ids, const Val &value) {
  Elements &to = gathered.elements();
  if (attr.getMode() == dfg::ResultMode::Gather) {
    int64_t place = 0, size = countElements(tile);
    for (size_t d = 0; d < ids.size(); ++d)
      place = place * extents[d] + ids[d];
    if (value.getTag() != Val::Tensor) {
      to.store(place, value);
      return success();
    }
    for (int64_t e = 0; e < size; ++e)
      to.copyElement(place * size + e, value.elements(), e);
    return success();
  }
  Slice slice;
  slice.offsets.assign(tile.size(), 0);
  slice.strides.assign(tile.size(), 1);
  slice.sizes = tile;
  for (size_t d = 0; d < ids.size(); ++d)
    slice.offsets[d] = ids[d] * tile[d];
  int64_t e = 0;
  return slice.forEach(to.shape, [&](int64_t at) {
    to.copyElement(at, value.elements(), e++);
    return success();
  });
}

LogicalResult Collector::identity(Exec &x, const Inst &inst, Val &value) const {
  dfg::ReductionAttr reduction = attr.getReduction();
  Val scalar;
  if (reduction.getKind()) {
    scalar = combineIdentity(toCombine(*reduction.getKind()), info);
  } else {
    dfg::CombinerOp combiner = findCombiner(x, inst, reduction);
    if (!combiner)
      return x.error(inst,
                     "names the combiner '" + reduction.getCombiner().getValue() + "', which does not exist");
    std::optional<Val> constant = constantValue(combiner.getIdentity(), combiner.getIdentity().getType());
    if (!constant)
      return x.error(inst, "has an identity that the oracle cannot represent");
    scalar = *constant;
  }
  auto shaped = dyn_cast<ShapedType>(type);
  bool isTile = shaped && shaped.getRank() > static_cast<int64_t>(kept.size());
  if (scalar.getTag() == Val::Tensor || !isTile) {
    value = scalar;
    return success();
  }
  Ref<Elements> all = new Elements(info, tile);
  for (int64_t e = 0, count = all->size(); e < count; ++e)
    all->store(e, scalar);
  value = Val::of(all.get());
  return success();
}

LogicalResult Collector::addReduced(Exec &x, const Inst &inst, ArrayRef<int64_t> ids, const Val &value) {
  int64_t place = 0;
  bool isFirst = true;
  for (size_t d = 0; d < ids.size(); ++d) {
    if (attr.reduces(d))
      isFirst &= ids[d] == 0;
    else
      place = place * extents[d] + ids[d];
  }
  if (!isPreciseSum) {
    // The identity comes first, so that a combiner sees even a single value; a knob may leave out the first.
    Val &sum = partial[place];
    if (sum.isUndef() && failed(identity(x, inst, sum)))
      return failure();
    return combineValues(x, inst, attr.getReduction(), info, Val(sum), value, sum);
  }
  int64_t size = countElements(tile);
  dfg::ReductionKind kind = *attr.getReduction().getKind();
  for (int64_t e = 0; e < size; ++e) {
    Val element = value.getTag() == Val::Tensor ? value.elements().load(e) : value;
    if (element.isUndef())
      return x.undefined(inst, "an undefined value is reduced");
    long double number = toDouble(info, element), &sum = precise[place * size + e];
    sum = isFirst ? number : combinePrecise(kind, info, sum, number);
  }
  return success();
}

LogicalResult Collector::finish(Exec &x, const Inst &inst, Val &result) {
  bool hasInstances = isStarted;
  if (!isStarted) {
    // No instance ran: the extents of a tile are those the type states, and none where it does not.
    SmallVector<int64_t, 4> shape;
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      size_t lead = attr.getMode() == dfg::ResultMode::Tile ? 0 : kept.size();
      for (int64_t extent : tensor.getShape().drop_front(lead))
        shape.push_back(ShapedType::isDynamic(extent) ? 0 : extent);
    }
    if (failed(start(x, inst, shape)))
      return failure();
  }
  if (!attr.isReduction()) {
    result = std::move(gathered);
  } else if (!isa<ShapedType>(type)) {
    if (!hasInstances)
      return identity(x, inst, result);
    result = isPreciseSum ? roundPrecise(info, precise[0]) : partial[0];
    return success();
  } else {
    int64_t size = countElements(tile);
    SmallVector<int64_t, 6> all(kept.begin(), kept.end());
    all.append(tile.begin(), tile.end());
    if (failed(x.allocate(inst, info, all, result, /*isDefined=*/true)))
      return failure();
    Elements &to = result.elements();
    Val unit;
    if (!hasInstances && failed(identity(x, inst, unit)))
      return failure();
    for (int64_t e = 0, count = to.size(); e < count; ++e) {
      if (hasInstances && isPreciseSum) {
        to.store(e, roundPrecise(info, precise[e]));
        continue;
      }
      const Val &sum = hasInstances ? partial[e / size] : unit;
      to.store(e, sum.getTag() == Val::Tensor ? sum.elements().load(e % size) : sum);
    }
  }
  if (result.getTag() == Val::Tensor)
    return checkType(x, inst, type, result.elements().shape);
  return success();
}
