// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A leaf with memory ports, or one whose results are reduced over different dimensions: loops over its
// instances that store what they yield. Reductions go through one partial value for each chunk of the grid.
#include "tessera/transforms/leaf/Emit.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace tessera;
using namespace tessera::leaf;

namespace {
struct Loops {
  EmitContext &ctx;
  dfg::NodeOp node;
  OpBuilder &b;
  Location loc;
  SmallVector<Value> outs; ///< memory of each result
  explicit Loops(EmitContext &ctx) : ctx(ctx), node(ctx.node), b(ctx.b), loc(ctx.loc) {}

  void makeOutputs();
  /// Runs one instance; stores gathered results, returns all that it yields.
  SmallVector<Value> instance(OpBuilder &inner, ValueRange ids, ArrayRef<Value> accumulators);
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
      auto memory = tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType()) : MemRefType::get({}, type);
      SmallVector<Value> dynamic;
      for (auto [d, extent] : llvm::enumerate(getResultExtents(ctx, r, Value())))
        if (memory.isDynamicDim(d))
          dynamic.push_back(getValueOrCreateConstantIndexOp(b, loc, extent));
      dest = memref::AllocOp::create(b, loc, memory, dynamic);
    }
    outs.push_back(dest);
  }
}

SmallVector<Value> Loops::instance(OpBuilder &inner, ValueRange ids, ArrayRef<Value> accumulators) {
  IRMapping map;
  for (auto [id, value] : llvm::zip(node.getIds(), ids))
    map.map(id, value);
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    Value in = ctx.inputs[i];
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
    auto flags =
        yield.getMode() == dfg::ResultMode::Reduce ? arith::FastMathFlags::reassoc : arith::FastMathFlags::none;
    yielded[r] = dfg::buildCombine(inner, loc, yield.getReduction(), accumulators[r], yielded[r], node, flags);
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
  if (reduced.empty()) {
    auto forall = scf::ForallOp::create(b, loc, getAsOpFoldResult(ctx.grid), ValueRange{}, std::nullopt);
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
    loops.finish();
    return success();
  }
  // Each chunk of the outermost dimension has its own partial values; they are combined in the order of the chunks.
  int64_t chunks = ordered ? 1 : ctx.options.reductionChunks;
  SmallVector<Value> partials(node.getNumYields());
  for (unsigned r : reduced)
    partials[r] = memref::AllocOp::create(
        b, loc, MemRefType::get({chunks}, node.getYieldOp().getValues()[r].getType()));
  AffineExpr n, c;
  bindDims(b.getContext(), n, c);
  OpFoldResult size = affine::makeComposedFoldedAffineApply(b, loc, n.ceilDiv(chunks), getAsOpFoldResult(ctx.grid[0]));
  auto forall =
      scf::ForallOp::create(b, loc, ArrayRef<OpFoldResult>{b.getIndexAttr(chunks)}, ValueRange{}, std::nullopt);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forall.getBody());
    Value chunk = forall.getInductionVars()[0];
    Value length = getValueOrCreateConstantIndexOp(b, loc, size);
    Value begin = arith::MulIOp::create(b, loc, chunk, length);
    Value end = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, begin, length), ctx.grid[0]);
    SmallVector<Value> lower = zeros, upper(ctx.grid);
    lower[0] = begin;
    upper[0] = end;
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
