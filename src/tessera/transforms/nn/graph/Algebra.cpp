// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Neutral elements, functions that undo or repeat each other, and chains that are one activation.
#include "tessera/transforms/nn/graph/Patterns.h"

using namespace tessera;
using namespace tessera::nn;

static bool isFloat(Value v) { return isa<FloatType>(getElementTypeOrSelf(v.getType())); }

namespace {

/// x * 1, x + 0, x - 0, x / 1, x ^ 1 → x
struct NeutralElement : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    auto isNeutral = [&](Value v, double neutral) {
      std::optional<double> scalar = readScalar(v);
      // Adding +0 turns -0 into +0; adding -0 changes nothing, and neither does subtracting +0. A difference
      // in the sign of zero is no difference of value.
      return scalar && *scalar == neutral;
    };
    bool commutes = op.getKind() == BinaryKind::add || op.getKind() == BinaryKind::mul;
    double neutral;
    switch (op.getKind()) {
    case BinaryKind::add:
    case BinaryKind::sub:
      neutral = 0;
      break;
    case BinaryKind::mul:
    case BinaryKind::div:
    case BinaryKind::pow:
      neutral = 1;
      break;
    default:
      return failure();
    }
    Value kept;
    if (isNeutral(op.getB(), neutral))
      kept = op.getA();
    else if (commutes && isNeutral(op.getA(), neutral))
      kept = op.getB();
    if (!kept || kept.getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, kept);
    return success();
  }
};

/// The range [low, high] that an operation clips its operand to.
struct Clip {
  Value x;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

} // namespace

static std::optional<Clip> matchClip(Operation *op) {
  Clip clip;
  if (auto unary = dyn_cast_or_null<UnaryOp>(op); unary && unary.getKind() == UnaryKind::relu) {
    clip.x = unary.getX();
    clip.low = 0;
    return clip;
  }
  if (auto activation = dyn_cast_or_null<ActivationOp>(op);
      activation && activation.getKind() == ActivationKind::clip) {
    clip.x = activation.getX();
    clip.low = activation.getAlpha().convertToDouble();
    clip.high = activation.getBeta().convertToDouble();
    return clip;
  }
  auto binary = dyn_cast_or_null<BinaryOp>(op);
  if (!binary || (binary.getKind() != BinaryKind::max && binary.getKind() != BinaryKind::min))
    return std::nullopt;
  bool left = readScalar(binary.getA()).has_value();
  std::optional<double> bound = readScalar(left ? binary.getA() : binary.getB());
  clip.x = left ? binary.getB() : binary.getA();
  if (!bound || std::isnan(*bound) || clip.x.getType() != binary.getType())
    return std::nullopt;
  (binary.getKind() == BinaryKind::max ? clip.low : clip.high) = *bound;
  return clip;
}

namespace {

/// clip(clip(x)) → clip(x), also for relu and for min and max with a number
struct MergeClips : RewritePattern {
  explicit MergeClips(MLIRContext *ctx) : RewritePattern(MatchAnyOpTypeTag(), 1, ctx) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<UnaryOp, ActivationOp, BinaryOp>(op) || !isFloat(op->getResult(0)))
      return failure();
    std::optional<Clip> outer = matchClip(op);
    if (!outer)
      return failure();
    std::optional<Clip> inner = matchClip(outer->x.getDefiningOp());
    if (!inner || outer->low > outer->high || inner->low > inner->high)
      return failure();
    // First into [inner], then into [outer]: each end of the inner range is clipped, too.
    double low = std::clamp(inner->low, outer->low, outer->high),
           high = std::clamp(inner->high, outer->low, outer->high);
    if (low == 0 && std::isinf(high) && high > 0)
      rewriter.replaceOpWithNewOp<UnaryOp>(op, UnaryKind::relu, inner->x, false);
    else
      rewriter.replaceOpWithNewOp<ActivationOp>(op, ActivationKind::clip, inner->x, APFloat(low),
                                                APFloat(high), false);
    return success();
  }
};

/// clip(x, 0, inf) → relu(x); clip(x, -inf, inf) → x; max(x, 0) → relu(x)
struct NameClip : RewritePattern {
  explicit NameClip(MLIRContext *ctx) : RewritePattern(MatchAnyOpTypeTag(), 1, ctx) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<ActivationOp, BinaryOp>(op) || !isFloat(op->getResult(0)))
      return failure();
    std::optional<Clip> clip = matchClip(op);
    if (!clip || clip->high != std::numeric_limits<double>::infinity())
      return failure();
    if (clip->low == 0)
      rewriter.replaceOpWithNewOp<UnaryOp>(op, UnaryKind::relu, clip->x, false);
    else if (clip->low == -std::numeric_limits<double>::infinity())
      rewriter.replaceOp(op, clip->x);
    else
      return failure();
    return success();
  }
};

/// neg(neg(x)) → x, abs(abs(x)) → abs(x), and the like
struct UnaryPair : OpRewritePattern<UnaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnaryOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<UnaryOp>();
    if (!inner || inner.getKind() != op.getKind())
      return failure();
    switch (op.getKind()) {
    case UnaryKind::neg:
    case UnaryKind::not_:
      rewriter.replaceOp(op, inner.getX());
      return success();
    case UnaryKind::abs:
    case UnaryKind::floor:
    case UnaryKind::ceil:
    case UnaryKind::round:
    case UnaryKind::sign:
      rewriter.replaceOp(op, inner.getY());
      return success();
    default:
      return failure();
    }
  }
};

/// x * sigmoid(x) → swish(x)
struct NameSwish : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::mul || !isFloat(op))
      return failure();
    for (auto [x, s] : {std::pair(op.getA(), op.getB()), std::pair(op.getB(), op.getA())}) {
      auto sigmoid = s.getDefiningOp<UnaryOp>();
      if (!sigmoid || sigmoid.getKind() != UnaryKind::sigmoid || sigmoid.getX() != x || !hasOneUser(s))
        continue;
      rewriter.replaceOpWithNewOp<ActivationOp>(op, ActivationKind::swish, x, APFloat(1.0), APFloat(0.0),
                                                false);
      return success();
    }
    return failure();
  }
};

/// pool max(f(x)) → f(pool max(x)) for functions that never fall and cost more than a comparison: fewer of
/// them
struct PoolFirst : OpRewritePattern<PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    auto function = op.getX().getDefiningOp<UnaryOp>();
    if (op.getKind() != ReduceKind::max || !function || !hasOneUser(op.getX()) || !isFloat(op) ||
        countElements(op.getType()) >= countElements(op.getX().getType()))
      return failure();
    switch (function.getKind()) {
    case UnaryKind::tanh:
    case UnaryKind::sigmoid:
    case UnaryKind::exp:
    case UnaryKind::softplus:
    case UnaryKind::softsign:
    case UnaryKind::erf:
    case UnaryKind::atan:
      break;
    default:
      return failure();
    }
    auto pool = cast<PoolOp>(rewriter.clone(*op));
    pool.getXMutable().assign(function.getX());
    auto after = cast<UnaryOp>(rewriter.clone(*function));
    after.getXMutable().assign(pool.getY());
    after.getY().setType(cast<RankedTensorType>(op.getType()));
    rewriter.replaceOp(op, after);
    return success();
  }
};

/// cast to the type and format that it has → x
struct CastOfNothing : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    if (op.getX().getType() != op.getType() || op.getFrom() != op.getTo())
      return failure();
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

/// (x + c) + d → x + (c + d), for numbers; the same for products
struct MergeScalars : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    bool sum = op.getKind() == BinaryKind::add;
    if ((!sum && op.getKind() != BinaryKind::mul) || !isFloat(op))
      return failure();
    auto inner = op.getA().getDefiningOp<BinaryOp>();
    std::optional<double> d = readScalar(op.getB());
    if (!inner || inner.getKind() != op.getKind() || !d || !hasOneUser(op.getA()))
      return failure();
    std::optional<double> c = readScalar(inner.getB());
    if (!c || inner.getA().getType() != op.getType() || op.getB().getType() != inner.getB().getType())
      return failure();
    double merged = sum ? *c + *d : *c * *d;
    auto type = RankedTensorType::get({}, getElementTypeOrSelf(op.getType()));
    Value constant = makeConstant(rewriter, op.getLoc(), makeFloats(type, merged));
    rewriter.replaceOpWithNewOp<BinaryOp>(op, op.getKind(), inner.getA(), constant, false);
    return success();
  }
};

} // namespace

void nn::populateAlgebra(RewritePatternSet &patterns) {
  patterns.add<NeutralElement, MergeClips, NameClip, UnaryPair, NameSwish, PoolFirst, CastOfNothing,
               MergeScalars>(patterns.getContext());
}
