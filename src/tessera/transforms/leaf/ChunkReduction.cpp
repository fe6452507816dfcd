// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction as a fixed number of partial ones (Rewrites.h).
#include "tessera/transforms/leaf/Rewrites.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace tessera;

//   %r = linalg.generic {reduction} ins(%x) outs(%identity)
// → %p = scf.forall (%c) in (chunks) { the same over chunk c of the outermost dimension }
//   %r = linalg.generic {reduction} ins(%p) outs(%identity)
FailureOr<scf::ForallOp> leaf::chunkReduction(RewriterBase &b, linalg::GenericOp op, int64_t chunks,
                                              std::string &why) {
  ArrayAttr reductions = SharedNotes::reductions.get(op);
  if (!reductions) {
    why = "it is not a reduction of a leaf";
    return failure();
  }
  if (SharedNotes::ordered.isOn(op)) {
    why = "its order is part of its meaning (fold)";
    return failure();
  }
  if (op.getNumReductionLoops() != op.getNumLoops()) {
    why = "it has parallel dimensions; tile those instead";
    return failure();
  }
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  SmallVector<Range> domain = cast<TilingInterface>(op.getOperation()).getIterationDomain(b);
  SmallVector<Value> inits, identities;
  for (Value out : op.getOutputs()) {
    auto fill = out.getDefiningOp<linalg::FillOp>();
    if (!fill) {
      why = "its initial value is not a constant";
      return failure();
    }
    identities.push_back(fill.getInputs()[0]);
    auto type = cast<RankedTensorType>(out.getType());
    SmallVector<OpFoldResult> extents = tensor::getMixedSizes(b, loc, out);
    extents.insert(extents.begin(), b.getIndexAttr(chunks));
    inits.push_back(tensor::EmptyOp::create(b, loc, extents, type.getElementType()));
  }
  AffineExpr n, c;
  bindDims(b.getContext(), n, c);
  OpFoldResult extent = domain[0].size;
  OpFoldResult size = affine::makeComposedFoldedAffineApply(b, loc, n.ceilDiv(chunks), {extent});
  auto forall =
      scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{b.getIndexAttr(chunks)}, inits, std::nullopt);
  {
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(forall.getBody());
    Value chunk = forall.getInductionVars()[0];
    AffineExpr x, y, z;
    bindDims(b.getContext(), x, y, z);
    OpFoldResult start = affine::makeComposedFoldedAffineMin(
        b, loc, AffineMap::inferFromExprList({ArrayRef<AffineExpr>{x * y, z}}, b.getContext()).front(),
        {OpFoldResult(chunk), size, extent});
    OpFoldResult length = affine::makeComposedFoldedAffineMin(
        b, loc, AffineMap::inferFromExprList({ArrayRef<AffineExpr>{x, y - z}}, b.getContext()).front(),
        {size, extent, start});
    SmallVector<OpFoldResult> offsets, sizes;
    for (const Range &range : domain) {
      offsets.push_back(range.offset);
      sizes.push_back(range.size);
    }
    offsets[0] = start;
    sizes[0] = length;
    FailureOr<TilingResult> tiled =
        cast<TilingInterface>(op.getOperation()).getTiledImplementation(b, offsets, sizes);
    if (failed(tiled)) {
      why = "it cannot be tiled";
      b.eraseOp(forall);
      return failure();
    }
    auto part = cast<linalg::GenericOp>(tiled->tiledOps.front());
    scf::InParallelOp parallel = forall.getTerminator();
    for (unsigned r = 0; r < identities.size(); ++r) {
      auto type = cast<RankedTensorType>(op.getOutputs()[r].getType());
      SmallVector<OpFoldResult> at(type.getRank() + 1, b.getIndexAttr(0)),
          strides(type.getRank() + 1, b.getIndexAttr(1));
      SmallVector<OpFoldResult> extents = tensor::getMixedSizes(b, loc, op.getOutputs()[r]);
      extents.insert(extents.begin(), b.getIndexAttr(1));
      at[0] = chunk;
      b.setInsertionPoint(part);
      Value slice =
          tensor::ExtractSliceOp::create(b, loc, type, forall.getRegionIterArgs()[r], at, extents, strides);
      Value init = linalg::FillOp::create(b, loc, ValueRange{identities[r]}, ValueRange{slice}).getResult(0);
      part.getOutputsMutable()[r].set(init);
      part->getResult(r).setType(type);
      OpBuilder end = OpBuilder::atBlockEnd(parallel.getBody());
      tensor::ParallelInsertSliceOp::create(end, loc, part->getResult(r), forall.getRegionIterArgs()[r], at,
                                            extents, strides);
    }
  }
  b.setInsertionPointAfter(forall);
  for (unsigned r = 0; r < identities.size(); ++r) {
    auto type = cast<RankedTensorType>(op.getOutputs()[r].getType());
    unsigned rank = type.getRank();
    SmallVector<AffineExpr> kept;
    for (unsigned d = 0; d < rank; ++d)
      kept.push_back(b.getAffineDimExpr(d + 1));
    SmallVector<utils::IteratorType> iterators(rank + 1, utils::IteratorType::parallel);
    iterators[0] = utils::IteratorType::reduction;
    SmallVector<AffineMap> maps = {AffineMap::getMultiDimIdentityMap(rank + 1, b.getContext()),
                                   AffineMap::get(rank + 1, 0, kept, b.getContext())};
    auto merge = linalg::GenericOp::create(
        b, loc, TypeRange{type}, ValueRange{forall.getResult(r)}, ValueRange{op.getOutputs()[r]}, maps,
        iterators, [&](OpBuilder &inner, Location l, ValueRange args) {
          Value v =
              dfg::buildCombine(inner, l, cast<dfg::ReductionAttr>(reductions[r]), args[1], args[0], op);
          linalg::YieldOp::create(inner, l, v);
        });
    // Few values in a fixed order: part of the meaning.
    SharedNotes::ordered.set(merge);
    b.replaceAllUsesWith(op.getResult(r), merge.getResult(0));
  }
  b.eraseOp(op);
  return forall;
}
