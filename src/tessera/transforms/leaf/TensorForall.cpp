// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A replicated node whose instances receive or yield tiles, or which holds children (a group), as an
// scf.forall over tensors. Reductions of tiles are loops with the tile carried along.
#include "tessera/transforms/leaf/Emit.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace tessera;
using namespace tessera::leaf;

Value leaf::sliceEach(EmitContext &ctx, OpBuilder &b, Value whole, Type argType, ValueRange ids) {
  auto tile = dyn_cast<RankedTensorType>(argType);
  if (!tile)
    return tensor::ExtractOp::create(b, ctx.loc, whole, ids);
  SmallVector<OpFoldResult> offsets, sizes = tensor::getMixedSizes(b, ctx.loc, whole);
  auto rank = cast<RankedTensorType>(whole.getType()).getRank();
  SmallVector<OpFoldResult> strides(rank, b.getIndexAttr(1));
  for (int64_t d = 0; d < rank; ++d) {
    bool id = d < int64_t(ids.size());
    offsets.push_back(id ? OpFoldResult(ids[d]) : OpFoldResult(b.getIndexAttr(0)));
    if (id)
      sizes[d] = b.getIndexAttr(1);
  }
  return tensor::ExtractSliceOp::create(b, ctx.loc, tile, whole, offsets, sizes, strides);
}

static FailureOr<SmallVector<Value>> emitInstance(EmitContext &ctx, OpBuilder &b, ValueRange ids) {
  IRMapping map;
  dfg::NodeOp node = ctx.node;
  for (auto [id, value] : llvm::zip(node.getIds(), ids))
    map.map(id, value);
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    Value in = ctx.inputs[i];
    if (node.getPort(i).getMode() == dfg::PortMode::Each)
      in = sliceEach(ctx, b, in, node.getInputArgs()[i].getType(), ids);
    map.map(node.getInputArgs()[i], in);
  }
  EmitContext body{b, ctx.options, node, ctx.grid, ctx.inputs, {}, {}, ctx.loc};
  return emitBody(body, map);
}

// Extents of the tile that result `r` gathers, known before the instances run: from the type, or by dividing
// the result's extent by the grid's.
static FailureOr<SmallVector<OpFoldResult>> getTileExtents(EmitContext &ctx, unsigned r) {
  dfg::NodeOp node = ctx.node;
  SmallVector<OpFoldResult> extents;
  auto tile = dyn_cast_or_null<RankedTensorType>(node.getYieldOp().getValues()[r].getType());
  if (!tile)
    return extents;
  for (int64_t d = 0; d < tile.getRank(); ++d) {
    if (!tile.isDynamicDim(d)) {
      extents.push_back(ctx.b.getIndexAttr(tile.getDimSize(d)));
      continue;
    }
    Value dest = ctx.dests[r];
    if (!dest)
      return node.emitOpError("cannot be lowered: the extents of result #")
                 << r << "'s tile are not known before the node runs; give the tile static extents",
             failure();
    bool tiled = node.getYield(r).getMode() == dfg::ResultMode::Tile;
    unsigned gathered = 0;
    if (!tiled)
      for (unsigned g = 0; g < node.getRank(); ++g)
        gathered += !node.getYield(r).reduces(g);
    Value extent = memref::DimOp::create(ctx.b, ctx.loc, dest, d + gathered);
    if (tiled && d < int64_t(ctx.grid.size())) {
      AffineExpr x, y;
      bindDims(ctx.b.getContext(), x, y);
      extents.push_back(affine::makeComposedFoldedAffineApply(ctx.b, ctx.loc, x.floorDiv(y),
                                                              {extent, getAsOpFoldResult(ctx.grid[d])}));
    } else {
      extents.push_back(extent);
    }
  }
  return extents;
}

// Combines two tiles, or two scalars, element by element.
static Value combine(EmitContext &ctx, OpBuilder &b, dfg::ResultAttr yield, Value lhs, Value rhs) {
  auto flags =
      yield.getMode() == dfg::ResultMode::Reduce ? arith::FastMathFlags::reassoc : arith::FastMathFlags::none;
  auto type = dyn_cast<RankedTensorType>(lhs.getType());
  if (!type)
    return dfg::buildCombine(b, ctx.loc, yield.getReduction(), lhs, rhs, ctx.node, flags);
  AffineMap identity = AffineMap::getMultiDimIdentityMap(type.getRank(), b.getContext());
  SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, ctx.loc, TypeRange{type}, ValueRange{rhs}, ValueRange{lhs},
                                   ArrayRef<AffineMap>{identity, identity}, parallel,
                                   [&](OpBuilder &inner, Location loc, ValueRange args) {
                                     Value v = dfg::buildCombine(inner, loc, yield.getReduction(), args[1],
                                                                 args[0], ctx.node, flags);
                                     linalg::YieldOp::create(inner, loc, v);
                                   })
      .getResult(0);
}

// All instances one after the other: needed when a tile is reduced, since the tiles must meet.
static LogicalResult emitSerial(EmitContext &ctx, ArrayRef<SmallVector<OpFoldResult>> tiles) {
  dfg::NodeOp node = ctx.node;
  OpBuilder &b = ctx.b;
  SmallVector<Value> inits;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    dfg::ResultAttr yield = node.getYield(r);
    Type type = node.getYieldOp().getValues()[r].getType();
    bool scalar = yield.isReduction() && !isa<RankedTensorType>(node.getResult(r).getType());
    SmallVector<OpFoldResult> extents;
    for (unsigned d = 0; d < node.getRank() && yield.getMode() != dfg::ResultMode::Tile; ++d)
      if (!yield.reduces(d))
        extents.push_back(getAsOpFoldResult(ctx.grid[d]));
    AffineExpr x, y;
    bindDims(b.getContext(), x, y);
    for (auto [d, t] : llvm::enumerate(tiles[r]))
      extents.push_back(
          yield.getMode() == dfg::ResultMode::Tile && d < ctx.grid.size()
              ? affine::makeComposedFoldedAffineApply(b, ctx.loc, x * y, {t, getAsOpFoldResult(ctx.grid[d])})
              : t);
    Type element = getElementTypeOrSelf(type);
    if (scalar) {
      inits.push_back(constantOf(b, ctx.loc, dfg::getIdentity(yield.getReduction(), element, node)));
      continue;
    }
    Value init = getInit(ctx, r, extents);
    if (yield.isReduction()) {
      Value id = constantOf(b, ctx.loc, dfg::getIdentity(yield.getReduction(), element, node));
      init = linalg::FillOp::create(b, ctx.loc, ValueRange{id}, ValueRange{init}).getResult(0);
    }
    inits.push_back(init);
  }
  Value zero = arith::ConstantIndexOp::create(b, ctx.loc, 0),
        one = arith::ConstantIndexOp::create(b, ctx.loc, 1);
  SmallVector<Value> zeros(ctx.grid.size(), zero), ones(ctx.grid.size(), one);
  LogicalResult status = success();
  scf::LoopNest nest = scf::buildLoopNest(
      b, ctx.loc, zeros, ctx.grid, ones, inits,
      [&](OpBuilder &inner, Location loc, ValueRange ids, ValueRange carried) -> scf::ValueVector {
        FailureOr<SmallVector<Value>> yielded = emitInstance(ctx, inner, ids);
        if (failed(yielded)) {
          status = failure();
          return scf::ValueVector(carried.begin(), carried.end());
        }
        scf::ValueVector next;
        for (unsigned r = 0; r < yielded->size(); ++r) {
          dfg::ResultAttr yield = node.getYield(r);
          Value acc = carried[r], v = (*yielded)[r];
          if (!isa<RankedTensorType>(acc.getType())) {
            next.push_back(combine(ctx, inner, yield, acc, v));
            continue;
          }
          // The instance's place in the result.
          SmallVector<OpFoldResult> offsets, sizes;
          if (yield.getMode() == dfg::ResultMode::Tile) {
            AffineExpr x, y;
            bindDims(inner.getContext(), x, y);
            for (auto [d, t] : llvm::enumerate(tiles[r])) {
              offsets.push_back(d < ids.size() ? affine::makeComposedFoldedAffineApply(
                                                     inner, loc, x * y, {OpFoldResult(ids[d]), t})
                                               : OpFoldResult(inner.getIndexAttr(0)));
              sizes.push_back(t);
            }
          } else {
            for (unsigned d = 0; d < node.getRank(); ++d)
              if (!yield.reduces(d)) {
                offsets.push_back(ids[d]);
                sizes.push_back(inner.getIndexAttr(1));
              }
            for (OpFoldResult t : tiles[r]) {
              offsets.push_back(inner.getIndexAttr(0));
              sizes.push_back(t);
            }
          }
          SmallVector<OpFoldResult> strides(offsets.size(), inner.getIndexAttr(1));
          auto tile = dyn_cast<RankedTensorType>(v.getType());
          if (!tile) {
            SmallVector<Value> at = getValueOrCreateConstantIndexOp(inner, loc, offsets);
            if (yield.isReduction())
              v = combine(ctx, inner, yield, tensor::ExtractOp::create(inner, loc, acc, at), v);
            next.push_back(tensor::InsertOp::create(inner, loc, v, acc, at));
            continue;
          }
          if (yield.isReduction()) {
            Value old = tensor::ExtractSliceOp::create(inner, loc, tile, acc, offsets, sizes, strides);
            v = combine(ctx, inner, yield, old, v);
          }
          next.push_back(tensor::InsertSliceOp::create(inner, loc, v, acc, offsets, sizes, strides));
        }
        return next;
      });
  if (succeeded(status))
    lowerAccumulate(ctx, nest.loops.front(), {});
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    finishResult(ctx, r, nest.results[r]);
  return status;
}

LogicalResult leaf::emitTensorForall(EmitContext &ctx) {
  dfg::NodeOp node = ctx.node;
  OpBuilder &b = ctx.b;
  SmallVector<SmallVector<OpFoldResult>> tiles;
  bool reduces = false;
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    FailureOr<SmallVector<OpFoldResult>> t = getTileExtents(ctx, r);
    if (failed(t))
      return failure();
    tiles.push_back(*t);
    reduces |= node.getYield(r).isReduction();
  }
  // Instances that accumulate into the same memory must not meet, either.
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    reduces |= node.getPort(i).getMode() == dfg::PortMode::Acc;
  if (reduces)
    return emitSerial(ctx, tiles);

  SmallVector<Value> inits;
  AffineExpr x, y;
  bindDims(b.getContext(), x, y);
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    SmallVector<OpFoldResult> extents;
    bool tiled = node.getYield(r).getMode() == dfg::ResultMode::Tile;
    if (!tiled)
      extents = getAsOpFoldResult(ctx.grid);
    for (auto [d, t] : llvm::enumerate(tiles[r]))
      extents.push_back(
          tiled && d < ctx.grid.size()
              ? affine::makeComposedFoldedAffineApply(b, ctx.loc, x * y, {t, getAsOpFoldResult(ctx.grid[d])})
              : t);
    inits.push_back(getInit(ctx, r, extents));
  }
  SmallVector<OpFoldResult> bounds = getAsOpFoldResult(ctx.grid);
  auto forall = scf::ForallOp::create(b, ctx.loc, bounds, inits, std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forall.getBody());
    SmallVector<Value> ids(forall.getInductionVars());
    FailureOr<SmallVector<Value>> yielded = emitInstance(ctx, b, ids);
    if (failed(yielded))
      return failure();
    scf::InParallelOp parallel = forall.getTerminator();
    for (unsigned r = 0; r < yielded->size(); ++r) {
      Value v = (*yielded)[r];
      if (!isa<RankedTensorType>(v.getType()))
        v = tensor::FromElementsOp::create(b, ctx.loc, RankedTensorType::get({}, v.getType()), v);
      bool tiled = node.getYield(r).getMode() == dfg::ResultMode::Tile;
      SmallVector<OpFoldResult> offsets, sizes;
      if (!tiled)
        for (Value id : ids) {
          offsets.push_back(id);
          sizes.push_back(b.getIndexAttr(1));
        }
      for (auto [d, t] : llvm::enumerate(tiles[r])) {
        offsets.push_back(tiled && d < ids.size() ? affine::makeComposedFoldedAffineApply(
                                                        b, ctx.loc, x * y, {OpFoldResult(ids[d]), t})
                                                  : OpFoldResult(b.getIndexAttr(0)));
        sizes.push_back(t);
      }
      SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
      OpBuilder end = OpBuilder::atBlockEnd(parallel.getBody());
      tensor::ParallelInsertSliceOp::create(end, ctx.loc, v, forall.getRegionIterArgs()[r], offsets, sizes,
                                            strides);
    }
  }
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    finishResult(ctx, r, forall.getResult(r));
  return success();
}
