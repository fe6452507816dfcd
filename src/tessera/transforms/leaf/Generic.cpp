// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A leaf that gathers or reduces scalars, as one linalg.generic over its grid.
#include "tessera/transforms/leaf/Emit.h"
#include "tessera/transforms/leaf/Rewrites.h"

using namespace tessera;
using namespace tessera::leaf;

// dfg.node grid(n, m) (each %e, %whole) -> tensor | scalar reduce<…>
//   → linalg.generic ins(%e) outs(%init) { ids by linalg.index; the body; combined with the output where
//   reduced }
LogicalResult leaf::emitGeneric(EmitContext &ctx) {
  dfg::NodeOp node = ctx.node;
  OpBuilder &b = ctx.b;
  unsigned rank = node.getRank();
  MLIRContext *context = node.getContext();
  SmallVector<Value> ins, outs;
  SmallVector<AffineMap> maps;
  SmallVector<int> eachOf(node.getInputs().size(), -1);
  AffineMap identity = AffineMap::getMultiDimIdentityMap(rank, context);
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (node.getPort(i).getMode() == dfg::PortMode::Each) {
      eachOf[i] = ins.size();
      ins.push_back(ctx.inputs[i]);
      maps.push_back(identity);
    }
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  bool coversGrid = !ins.empty();
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    dfg::ResultAttr yield = node.getYield(r);
    SmallVector<AffineExpr> exprs;
    for (unsigned d = 0; d < rank; ++d) {
      if (yield.reduces(d))
        iterators[d] = utils::IteratorType::reduction;
      else
        exprs.push_back(b.getAffineDimExpr(d));
    }
    coversGrid |= exprs.size() == rank;
  }
  // linalg takes its loop bounds from its operands; a reduction that reads nothing by element needs one that
  // has the grid's shape and is never read.
  if (!coversGrid) {
    SmallVector<OpFoldResult> extents = getAsOpFoldResult(ctx.grid);
    ins.push_back(tensor::EmptyOp::create(b, ctx.loc, extents, b.getI8Type()));
    maps.push_back(identity);
  }
  for (unsigned r = 0; r < node.getNumYields(); ++r) {
    dfg::ResultAttr yield = node.getYield(r);
    SmallVector<AffineExpr> exprs;
    for (unsigned d = 0; d < rank; ++d)
      if (!yield.reduces(d))
        exprs.push_back(b.getAffineDimExpr(d));
    Value init = getInit(ctx, r, getResultExtents(ctx, r, Value()));
    if (yield.isReduction()) {
      Type element = cast<RankedTensorType>(init.getType()).getElementType();
      Value id = constantOf(b, ctx.loc, dfg::getIdentity(yield.getReduction(), element, node));
      init = linalg::FillOp::create(b, ctx.loc, ValueRange{id}, ValueRange{init}).getResult(0);
    }
    outs.push_back(init);
    maps.push_back(AffineMap::get(rank, 0, exprs, context));
  }
  SmallVector<Type> types;
  for (Value out : outs)
    types.push_back(out.getType());
  auto generic = linalg::GenericOp::create(
      b, ctx.loc, types, ins, outs, maps, iterators, [&](OpBuilder &inner, Location loc, ValueRange args) {
        IRMapping map;
        for (unsigned d = 0; d < rank; ++d)
          map.map(node.getIds()[d], linalg::IndexOp::create(inner, loc, d));
        for (unsigned i = 0; i < node.getInputs().size(); ++i)
          map.map(node.getInputArgs()[i], eachOf[i] >= 0 ? args[eachOf[i]] : ctx.inputs[i]);
        EmitContext body{inner, ctx.options, node, ctx.grid, ctx.inputs, {}, {}, loc};
        SmallVector<Value> yielded = cloneBody(body, map);
        for (unsigned r = 0; r < yielded.size(); ++r) {
          dfg::ResultAttr yield = node.getYield(r);
          if (!yield.isReduction())
            continue;
          // Only a reduction may be regrouped; a fold keeps its order.
          auto flags = yield.getMode() == dfg::ResultMode::Reduce ? arith::FastMathFlags::reassoc
                                                                  : arith::FastMathFlags::none;
          yielded[r] = dfg::buildCombine(inner, loc, yield.getReduction(), args[ins.size() + r], yielded[r],
                                         node, flags);
        }
        linalg::YieldOp::create(inner, loc, yielded);
      });
  // What scripts and the scheduler ask: may the order of the combination change?
  bool ordered = llvm::any_of(node.getYields().getAsRange<dfg::ResultAttr>(),
                              [](dfg::ResultAttr y) { return y.getMode() == dfg::ResultMode::Fold; });
  if (ordered)
    SharedNotes::ordered.set(generic);
  SmallVector<Attribute> reductions;
  for (auto yield : node.getYields().getAsRange<dfg::ResultAttr>())
    if (yield.isReduction())
      reductions.push_back(yield.getReduction());
  if (reductions.size() == node.getNumYields() && !reductions.empty())
    SharedNotes::reductions.set(generic, b.getArrayAttr(reductions));
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    finishResult(ctx, r, generic.getResult(r));
  return success();
}
