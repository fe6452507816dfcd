// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Loops.h.
#include "tessera/transforms/nn/lower/Loops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace tessera;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntOp>
static Value arithmetic(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return FloatOp::create(b, loc, x, y);
  return IntOp::create(b, loc, x, y);
}

Term Term::operator+(Value o) const { return with(arithmetic<arith::AddFOp, arith::AddIOp>(*b, loc, v, o)); }
Term Term::operator-(Value o) const { return with(arithmetic<arith::SubFOp, arith::SubIOp>(*b, loc, v, o)); }
Term Term::operator*(Value o) const { return with(arithmetic<arith::MulFOp, arith::MulIOp>(*b, loc, v, o)); }
Term Term::operator/(Value o) const { return with(arith::DivFOp::create(*b, loc, v, o)); }
Term Term::floorDiv(int64_t o) const {
  return o == 1 ? *this : with(arith::FloorDivSIOp::create(*b, loc, v, integerOf(*b, loc, type(), o)));
}
Term Term::ceilDiv(int64_t o) const {
  return o == 1 ? *this : with(arith::CeilDivSIOp::create(*b, loc, v, integerOf(*b, loc, type(), o)));
}
Term Term::modulo(int64_t o) const {
  return with(arith::RemUIOp::create(*b, loc, v, integerOf(*b, loc, type(), o)));
}

static Value compare(OpBuilder &b, Location loc, Value x, Value y, arith::CmpFPredicate f,
                     arith::CmpIPredicate i) {
  if (isa<FloatType>(x.getType()))
    return arith::CmpFOp::create(b, loc, f, x, y);
  return arith::CmpIOp::create(b, loc, i, x, y);
}

Term Term::less(Value o) const {
  return with(compare(*b, loc, v, o, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt));
}
Term Term::lessEqual(Value o) const {
  return with(compare(*b, loc, v, o, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle));
}
Term Term::equal(Value o) const {
  return with(compare(*b, loc, v, o, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq));
}
Term Term::isNan() const { return with(arith::CmpFOp::create(*b, loc, arith::CmpFPredicate::UNO, v, v)); }
Term Term::operator&&(Term o) const { return with(arith::AndIOp::create(*b, loc, v, o.v)); }
Term Term::operator||(Term o) const { return with(arith::OrIOp::create(*b, loc, v, o.v)); }
Term Term::select(Value x, Value y) const { return with(arith::SelectOp::create(*b, loc, v, x, y)); }
Term Term::max(Value o) const { return with(arithmetic<arith::MaximumFOp, arith::MaxSIOp>(*b, loc, v, o)); }
Term Term::min(Value o) const { return with(arithmetic<arith::MinimumFOp, arith::MinSIOp>(*b, loc, v, o)); }
Term Term::clamp(Value low, Value high) const {
  Term raised = with(arithmetic<arith::MaxNumFOp, arith::MaxSIOp>(*b, loc, v, low));
  return with(arithmetic<arith::MinNumFOp, arith::MinSIOp>(*b, loc, raised, high));
}
Term Term::floor() const { return with(math::FloorOp::create(*b, loc, v)); }
Term Term::round() const { return with(math::RoundEvenOp::create(*b, loc, v)); }
Term Term::toFloat(Type to) const {
  if (isFloat())
    return with(floatTo(*b, loc, v, to));
  Value integer = v;
  if (v.getType().isIndex())
    integer = arith::IndexCastOp::create(*b, loc, b->getI64Type(), v);
  return with(arith::SIToFPOp::create(*b, loc, to, integer));
}
Term Term::toIndex() const {
  Value integer = v;
  if (isFloat())
    integer = arith::FPToSIOp::create(*b, loc, b->getI64Type(), v);
  if (integer.getType().isIndex())
    return with(integer);
  return with(arith::IndexCastOp::create(*b, loc, b->getIndexType(), integer));
}

Type nn::accumulatorOf(Type element) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(element.getContext());
  return element;
}

Value nn::floatTo(OpBuilder &b, Location loc, Value v, Type to) {
  unsigned from = v.getType().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (v.getType() == to)
    return v;
  if (from < width)
    return arith::ExtFOp::create(b, loc, to, v);
  if (from > width)
    return arith::TruncFOp::create(b, loc, to, v);
  Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), v);
  return arith::TruncFOp::create(b, loc, to, wide);
}

Value nn::tensorTo(OpBuilder &b, Location loc, Value tensor, Type element) {
  RankedTensorType type = typeOf(tensor);
  if (type.getElementType() == element)
    return tensor;
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  return mapElements(
      b, loc, extentsOf(b, loc, tensor), element, tensor, identity,
      [&](OpBuilder &b, Location loc, ValueRange args) { return floatTo(b, loc, args[0], element); });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<AffineExpr> LoopNest::dims(ArrayRef<unsigned> ds) const {
  return llvm::map_to_vector(ds, [&](unsigned d) { return dim(d); });
}

void LoopNest::read(Value tensor, ArrayRef<AffineExpr> at) {
  ins.push_back(tensor);
  inMaps.push_back(AffineMap::get(iterators.size(), 0, at, b.getContext()));
}

void LoopNest::shape(ArrayRef<OpFoldResult> extents, ArrayRef<AffineExpr> at) {
  read(tensor::EmptyOp::create(b, loc, extents, b.getI1Type()), at);
}

void LoopNest::write(Value init, ArrayRef<AffineExpr> at) {
  outs.push_back(init);
  outMaps.push_back(AffineMap::get(iterators.size(), 0, at, b.getContext()));
}

SmallVector<Value> LoopNest::build(Body body) {
  // Without elements there is nothing to do; MLIR 22 does not tile loops that never run.
  for (Value in : ins)
    if (llvm::is_contained(typeOf(in).getShape(), 0))
      return outs;
  SmallVector<AffineMap> maps = inMaps;
  llvm::append_range(maps, outMaps);
  SmallVector<Type> types;
  for (Value out : outs)
    types.push_back(out.getType());
  auto generic = linalg::GenericOp::create(b, loc, types, ins, outs, maps, iterators,
                                           [&](OpBuilder &b, Location loc, ValueRange args) {
                                             linalg::YieldOp::create(b, loc, body(b, loc, args));
                                           });
  return SmallVector<Value>(generic->getResults());
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value nn::withBorder(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> lows, ArrayRef<int64_t> highs,
                     Value value, ArrayRef<int64_t> steps) {
  SmallVector<OpFoldResult> inner = extentsOf(b, loc, x), outer;
  AffineExpr d0 = getAffineDimExpr(0, b.getContext());
  unsigned rank = inner.size();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), ones(rank, b.getIndexAttr(1)),
      strides(rank, b.getIndexAttr(1));
  // What is cut off goes first.
  bool cut = false, border = false;
  SmallVector<OpFoldResult> cutOffsets(rank, b.getIndexAttr(0));
  for (unsigned d = 0; d < rank; ++d) {
    int64_t low = lows[d], high = highs[d], step = steps.empty() ? 1 : steps[d];
    border |= low > 0 || high > 0 || step > 1;
    if (low >= 0 && high >= 0)
      continue;
    assert(step == 1 && "elements apart cannot be cut");
    cut = true;
    cutOffsets[d] = b.getIndexAttr(std::max<int64_t>(0, -low));
    inner[d] = applyExpr(b, loc, d0 + (std::min<int64_t>(low, 0) + std::min<int64_t>(high, 0)), {inner[d]});
  }
  if (cut)
    x = tensor::ExtractSliceOp::create(b, loc, x, cutOffsets, inner, ones);
  if (!border)
    return x;
  for (unsigned d = 0; d < rank; ++d) {
    int64_t low = std::max<int64_t>(0, lows[d]), high = std::max<int64_t>(0, highs[d]),
            step = steps.empty() ? 1 : steps[d];
    offsets[d] = b.getIndexAttr(low);
    strides[d] = b.getIndexAttr(step);
    AffineExpr extent = step == 1 ? d0 : (d0 - 1) * step + 1;
    outer.push_back(applyExpr(b, loc, extent + (low + high), {inner[d]}));
  }
  Value filled = filledWith(b, loc, outer, value);
  return tensor::InsertSliceOp::create(b, loc, x, filled, offsets, inner, strides);
}

OpFoldResult nn::windowExtent(OpBuilder &b, Location loc, OpFoldResult in, int64_t pads, int64_t kernel,
                              int64_t stride, int64_t dilation) {
  AffineExpr d0 = getAffineDimExpr(0, b.getContext());
  return applyExpr(b, loc, (d0 + (pads - dilation * (kernel - 1) - 1)).floorDiv(stride) + 1, {in});
}

static SmallVector<ReassociationIndices> toReassociation(ArrayRef<SmallVector<int64_t, 2>> groups) {
  return SmallVector<ReassociationIndices>(groups.begin(), groups.end());
}

Value nn::collapse(OpBuilder &b, Location loc, Value x, ArrayRef<SmallVector<int64_t, 2>> groups) {
  return tensor::CollapseShapeOp::create(b, loc, x, toReassociation(groups));
}

Value nn::expand(OpBuilder &b, Location loc, Value x, ArrayRef<SmallVector<int64_t, 2>> groups,
                 ArrayRef<OpFoldResult> extents) {
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : extents)
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  // The operation wants a static extent to come from static ones, and a dynamic one to make a dynamic one.
  RankedTensorType type = typeOf(x);
  SmallVector<int64_t> known(type.getShape());
  for (auto [d, group] : llvm::enumerate(groups)) {
    int64_t merged = 1;
    for (int64_t i : group)
      merged = mulExtents(merged, shape[i]);
    known[d] = merged;
  }
  x = castTo(b, loc, x, type.clone(known));
  return tensor::ExpandShapeOp::create(b, loc, type.clone(shape), x, toReassociation(groups), extents);
}

Value nn::transposed(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> from = extentsOf(b, loc, x), to;
  for (int64_t d : permutation)
    to.push_back(from[d]);
  LoopNest nest(b, loc, permutation.size());
  SmallVector<AffineExpr> at(permutation.size()), out;
  for (auto [i, d] : llvm::enumerate(permutation)) {
    at[d] = nest.dim(i);
    out.push_back(nest.dim(i));
  }
  nest.read(x, at);
  nest.write(emptyOf(b, loc, to, typeOf(x).getElementType()), out);
  return nest.build([](OpBuilder &, Location, ValueRange args) { return SmallVector<Value>{args[0]}; })[0];
}
