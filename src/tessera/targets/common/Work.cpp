// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Work.h.
#include "tessera/targets/common/Work.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace tessera;
using namespace tessera::plan;

static constexpr int64_t unknownRounds = 16, functionFlops = 10;

static Expr countBlock(Block &block, Env &env);

static Expr times(Env &env, ArrayRef<Expr> factors) {
  Expr product = env.program.constant(1);
  for (Expr f : factors)
    product = env.program.binary("mul", product, f);
  return product;
}

static int64_t lanes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

static Expr countOp(Operation &op, Env &env) {
  Program &p = env.program;
  if (auto node = dyn_cast<dfg::NodeOp>(op)) {
    SmallVector<Expr> factors = {countBlock(*node.getBodyBlock(), env)};
    for (mlir::Value extent : node.getGrid())
      factors.push_back(env.translate(extent).value_or(p.constant(unknownRounds)));
    return times(env, factors);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    std::optional<APInt> trip = loop.getStaticTripCount();
    return times(env,
                 {countBlock(*loop.getBody(), env), p.constant(trip ? trip->getSExtValue() : unknownRounds)});
  }
  if (isa<scf::WhileOp>(op)) {
    Expr sum = p.constant(0);
    for (Region &region : op.getRegions())
      sum = p.binary("add", sum, countBlock(region.front(), env));
    return times(env, {sum, p.constant(unknownRounds)});
  }
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
    SmallVector<Expr> factors = {countBlock(*linalg.getBlock(), env)};
    for (auto [i, extent] : llvm::enumerate(linalg.getStaticLoopRanges()))
      factors.push_back(p.constant(ShapedType::isDynamic(extent) ? unknownRounds : extent));
    return times(env, factors);
  }
  Expr sum = p.constant(0);
  for (Region &region : op.getRegions())
    for (Block &block : region)
      sum = p.binary("add", sum, countBlock(block, env));
  if (op.getNumResults() && isa<FloatType>(getElementTypeOrSelf(op.getResult(0).getType()))) {
    int64_t each = 0;
    if (isa<vector::FMAOp, math::FmaOp>(op))
      each = 2;
    else if (op.getDialect() && op.getDialect()->getNamespace() == "math")
      each = isa<math::SqrtOp, math::AbsFOp>(op) ? 1 : functionFlops;
    else if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::MaximumFOp,
                 arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::NegFOp, arith::RemFOp>(op))
      each = 1;
    sum = p.binary("add", sum, p.constant(each * lanes(op.getResult(0).getType())));
  }
  return sum;
}

static Expr countBlock(Block &block, Env &env) {
  Expr sum = env.program.constant(0);
  for (Operation &op : block)
    sum = env.program.binary("add", sum, countOp(op, env));
  return sum;
}

Expr plan::countFlops(dfg::NodeOp node, Env &env) { return countOp(*node, env); }
