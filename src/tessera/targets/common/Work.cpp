// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Work.h.
#include "tessera/targets/common/Work.h"

#include "tessera/ir/nn/Nn.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace tessera;
using namespace tessera::plan;

static constexpr int64_t functionFlops = 10;

static ExprId countBlock(Block &block, Env &env);

static ExprId times(Env &env, ArrayRef<ExprId> factors) {
  ExprId product = env.program.constant(1);
  for (ExprId f : factors)
    product = env.program.binary(ExprOp::Mul, product, f);
  return product;
}

static int64_t lanes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

// The extent of a loop whose operands do not say it statically.
static ExprId loopExtent(linalg::LinalgOp op, unsigned loop, Env &env) {
  AffineMap map = op.getShapesToLoopsMap();
  auto dim = map ? dyn_cast<AffineDimExpr>(map.getResult(loop)) : AffineDimExpr(nullptr);
  unsigned position = dim ? dim.getPosition() : 0;
  for (mlir::Value v : op->getOperands()) {
    auto type = dyn_cast<ShapedType>(v.getType());
    unsigned rank = type ? type.getRank() : 0;
    if (dim && position < rank)
      if (std::optional<ExprId> extent = env.translateDim(v, position))
        return *extent;
    if (position < rank)
      break;
    position -= rank;
  }
  return env.program.constant(env.unknownRounds);
}

static ExprId countOp(Operation &op, Env &env) {
  Program &p = env.program;
  if (auto node = dyn_cast<dfg::NodeOp>(op)) {
    // Whole operands have inside the extents that they have outside.
    for (auto [i, arg] : llvm::enumerate(node.getInputArgs()))
      if (auto it = env.values.find(node.getInputs()[i]);
          it != env.values.end() && arg.getType() == node.getInputs()[i].getType())
        env.values[arg] = it->second;
    SmallVector<ExprId> factors = {countBlock(*node.getBodyBlock(), env)};
    for (mlir::Value extent : node.getGrid())
      factors.push_back(env.translate(extent).value_or(p.constant(env.unknownRounds)));
    return times(env, factors);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    std::optional<APInt> trip = loop.getStaticTripCount();
    return times(
        env, {countBlock(*loop.getBody(), env), p.constant(trip ? trip->getSExtValue() : env.unknownRounds)});
  }
  if (isa<scf::WhileOp>(op)) {
    ExprId sum = p.constant(0);
    for (Region &region : op.getRegions())
      sum = p.binary(ExprOp::Add, sum, countBlock(region.front(), env));
    return times(env, {sum, p.constant(env.unknownRounds)});
  }
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
    SmallVector<ExprId> factors = {countBlock(*linalg.getBlock(), env)};
    for (auto [i, extent] : llvm::enumerate(linalg.getStaticLoopRanges()))
      factors.push_back(ShapedType::isDynamic(extent) ? loopExtent(linalg, i, env) : p.constant(extent));
    return times(env, factors);
  }
  // A layer that a schedule will make loops of knows its own work, for a batch of one where that is dynamic.
  if (auto layer = dyn_cast<nn::NnOp>(op)) {
    auto type = cast<ShapedType>(op.getResult(0).getType());
    SmallVector<ExprId> factors = {p.constant(layer.getFlops())};
    if (type.getRank() && type.isDynamicDim(0))
      factors.push_back(env.translateDim(op.getResult(0), 0).value_or(p.constant(env.unknownRounds)));
    return times(env, factors);
  }
  ExprId sum = p.constant(0);
  for (Region &region : op.getRegions())
    for (Block &block : region)
      sum = p.binary(ExprOp::Add, sum, countBlock(block, env));
  if (op.getNumResults() && isa<FloatType>(getElementTypeOrSelf(op.getResult(0).getType()))) {
    int64_t each = 0;
    if (isa<vector::FMAOp, math::FmaOp>(op))
      each = 2;
    else if (op.getDialect() && op.getDialect()->getNamespace() == "math")
      each = isa<math::SqrtOp, math::AbsFOp>(op) ? 1 : functionFlops;
    else if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::MaximumFOp,
                 arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::NegFOp, arith::RemFOp>(op))
      each = 1;
    sum = p.binary(ExprOp::Add, sum, p.constant(each * lanes(op.getResult(0).getType())));
  }
  return sum;
}

static ExprId countBlock(Block &block, Env &env) {
  ExprId sum = env.program.constant(0);
  for (Operation &op : block)
    sum = env.program.binary(ExprOp::Add, sum, countOp(op, env));
  return sum;
}

ExprId plan::countFlops(dfg::NodeOp node, Env &env) { return countOp(*node, env); }

double plan::countFlopsOnce(Operation *op) {
  Program program;
  Env env(program);
  env.unknownRounds = 1;
  ExprId count = countOp(*op, env);
  // Only a number that is too large for 64 bits is no constant here.
  return double(program.getConstant(count).value_or(INT64_MAX));
}

std::optional<ExprId> plan::countOpen(dfg::NodeOp node, Env &env) {
  std::optional<ExprId> product;
  auto multiply = [&](std::optional<ExprId> extent) {
    if (extent && !env.program.getConstant(*extent))
      product = product ? env.program.binary(ExprOp::Mul, *product, *extent) : *extent;
  };
  for (mlir::Value extent : node.getGrid())
    multiply(env.translate(extent));
  if (!node.getGrid().empty())
    return product;
  auto open = [](mlir::Value v) -> int64_t {
    auto type = dyn_cast<ShapedType>(v.getType());
    return type && type.hasRank() ? type.getNumDynamicDims() : 0;
  };
  mlir::Value most;
  for (ValueRange list : {ValueRange(node.getResults()), ValueRange(node.getInputs())})
    for (mlir::Value v : list)
      if (open(v) > (most ? open(most) : 0))
        most = v;
  if (most)
    for (int64_t d = 0; d < cast<ShapedType>(most.getType()).getRank(); ++d)
      if (cast<ShapedType>(most.getType()).isDynamicDim(d))
        multiply(env.translateDim(most, d));
  return product;
}
