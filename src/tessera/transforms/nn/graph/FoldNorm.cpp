// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales and offsets of channels go into the weights of the convolution or matrix product beside them, once,
// at compile time. In front of a convolution that pads this would also scale the border, so there it is left
// alone.
#include "tessera/transforms/nn/graph/Patterns.h"

using namespace tessera;
using namespace tessera::nn;

namespace {

/// y = scale[c] * x + offset[c], c along one dimension of x. One element means all channels alike.
struct Affine {
  SmallVector<double> scale, offset;
  double scaleAt(int64_t c) const { return scale.size() == 1 ? scale[0] : scale[c]; }
  double offsetAt(int64_t c) const { return offset.size() == 1 ? offset[0] : offset[c]; }
  bool hasOffset() const {
    return llvm::any_of(offset, [](double d) { return d != 0; });
  }
};

} // namespace

// The elements of a constant that varies along dimension `channel` of a tensor of rank `rank` at most.
static std::optional<SmallVector<double>> readChannels(Value v, int64_t rank, int64_t channel,
                                                       int64_t channels) {
  auto type = cast<RankedTensorType>(v.getType());
  if (!type.hasStaticShape() || !elementsOf(v))
    return std::nullopt;
  if (std::optional<double> one = readScalar(v))
    return type.getRank() <= rank ? std::optional(SmallVector<double>{*one}) : std::nullopt;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    int64_t of = d + rank - type.getRank();
    if (of < 0 || (type.getDimSize(d) != 1 && (of != channel || type.getDimSize(d) != channels)))
      return std::nullopt;
  }
  return readDoubles(v);
}

// The operation as a scale and an offset of each channel of `x`; sets x.
static std::optional<Affine> matchAffine(Operation *op, int64_t channel, Value &x) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!isa<FloatType>(type.getElementType()) || channel < 0 || channel >= type.getRank())
    return std::nullopt;
  int64_t channels = type.getDimSize(channel);
  if (ShapedType::isDynamic(channels))
    return std::nullopt;
  if (auto norm = dyn_cast<BatchNormOp>(op)) {
    if (channel != 1)
      return std::nullopt;
    auto scale = readDoubles(norm.getScale()), bias = readDoubles(norm.getBias()),
         mean = readDoubles(norm.getMean()), variance = readDoubles(norm.getVariance());
    if (!scale || !bias || !mean || !variance)
      return std::nullopt;
    x = norm.getX();
    Affine result;
    double epsilon = norm.getEpsilon().convertToDouble();
    for (int64_t c = 0; c < channels; ++c) {
      result.scale.push_back((*scale)[c] / std::sqrt((*variance)[c] + epsilon));
      result.offset.push_back((*bias)[c] - (*mean)[c] * result.scale[c]);
    }
    return result;
  }
  auto binary = dyn_cast<BinaryOp>(op);
  if (!binary)
    return std::nullopt;
  bool left = elementsOf(binary.getA()) && !elementsOf(binary.getB());
  x = left ? binary.getB() : binary.getA();
  // The constant must not make the result larger than x.
  if (x.getType() != type)
    return std::nullopt;
  auto constant = readChannels(left ? binary.getA() : binary.getB(), type.getRank(), channel, channels);
  if (!constant)
    return std::nullopt;
  SmallVector<double> one = {1}, zero = {0}, inverse = *constant, negated = *constant;
  for (double &d : inverse)
    d = 1 / d;
  for (double &d : negated)
    d = -d;
  switch (binary.getKind()) {
  case BinaryKind::add:
    return Affine{one, *constant};
  case BinaryKind::sub:
    return left ? Affine{{-1}, *constant} : Affine{one, negated};
  case BinaryKind::mul:
    return Affine{*constant, zero};
  case BinaryKind::div:
    if (left || llvm::any_of(inverse, [](double d) { return !std::isfinite(d); }))
      return std::nullopt;
    return Affine{inverse, zero};
  default:
    return std::nullopt;
  }
}

// Weights whose element at `index(i)` of the channels is scaled; sums of products are not rounded in between.
static ElementsAttr scaleWeights(ElementsAttr attr, RankedTensorType type,
                                 function_ref<double(int64_t)> factor) {
  Bytes bytes(attr);
  if (!bytes)
    return {};
  if (type.getElementType().isF32()) {
    std::vector<char> out(bytes.data().size());
    ArrayRef<float> from = bytes.as<float>();
    float *to = reinterpret_cast<float *>(out.data());
    for (int64_t i = 0, e = from.size(); i < e; ++i)
      to[i] = float(double(from[i]) * factor(i));
    return makeElements(type, std::move(out));
  }
  if (!type.getElementType().isF64())
    return {};
  std::vector<char> out(bytes.data().size());
  double *to = reinterpret_cast<double *>(out.data());
  for (auto [i, d] : llvm::enumerate(bytes.as<double>()))
    to[i] = d * factor(i);
  return makeElements(type, std::move(out));
}

static bool isAll(ArrayRef<double> values, double v) {
  return llvm::all_of(values, [&](double d) { return d == v; });
}

static std::optional<SmallVector<double>> readBias(Value bias, int64_t channels) {
  if (!bias)
    return SmallVector<double>(channels, 0);
  return readDoubles(bias);
}

namespace {

/// Where the channels of the result stand in the weights.
template <typename ConvT> struct OutChannels;
template <> struct OutChannels<ConvOp> {
  static int64_t count(ConvOp, RankedTensorType w) { return w.getDimSize(0); }
  static int64_t of(ConvOp, RankedTensorType w, int64_t i) {
    return i / (w.getNumElements() / w.getDimSize(0));
  }
};
template <> struct OutChannels<ConvTransposeOp> {
  static int64_t count(ConvTransposeOp op, RankedTensorType w) { return w.getDimSize(1) * op.getGroups(); }
  static int64_t of(ConvTransposeOp op, RankedTensorType w, int64_t i) {
    int64_t taps = w.getNumElements() / w.getDimSize(0) / w.getDimSize(1),
            perGroup = w.getDimSize(0) / op.getGroups();
    int64_t in = i / taps / w.getDimSize(1), out = i / taps % w.getDimSize(1);
    return in / perGroup * w.getDimSize(1) + out;
  }
};

/// affine(conv(x, w, b)) → conv(x, scale * w, scale * b + offset)
template <typename ConvT> struct FoldBehind : RewritePattern {
  explicit FoldBehind(MLIRContext *ctx) : RewritePattern(MatchAnyOpTypeTag(), 2, ctx) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<BatchNormOp, BinaryOp>(op))
      return failure();
    Value x;
    std::optional<Affine> affine = matchAffine(op, 1, x);
    auto conv = affine ? x.getDefiningOp<ConvT>() : ConvT();
    if (!conv || !hasOneUser(x))
      return failure();
    ElementsAttr weights = elementsOf(conv.getW());
    auto type = dyn_cast<RankedTensorType>(conv.getW().getType());
    if (!weights || !type.hasStaticShape() || x.getType() != op->getResult(0).getType())
      return failure();
    int64_t channels = OutChannels<ConvT>::count(conv, type);
    std::optional<SmallVector<double>> bias = readBias(conv.getBias(), channels);
    if (!bias)
      return failure();
    bool scales = !isAll(affine->scale, 1);
    if (scales) {
      weights = scaleWeights(
          weights, type, [&](int64_t i) { return affine->scaleAt(OutChannels<ConvT>::of(conv, type, i)); });
      if (!weights)
        return failure();
    }
    for (int64_t c = 0; c < channels; ++c)
      (*bias)[c] = affine->scaleAt(c) * (*bias)[c] + affine->offsetAt(c);
    Location loc = op->getLoc();
    Value w = scales ? makeConstant(rewriter, conv.getW().getLoc(), weights) : conv.getW();
    Value b = makeConstant(rewriter, loc,
                           makeFloats(RankedTensorType::get({channels}, type.getElementType()), *bias));
    auto made = cast<ConvT>(rewriter.clone(*conv));
    made.getWMutable().assign(w);
    made.getBiasMutable().assign(b);
    rewriter.replaceOp(op, made);
    return success();
  }
};

/// conv(affine(x), w, b) → conv(x, scale * w, b + sum of w * offset); only a window that never sees the
/// border may take an offset.
struct FoldInFront : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp conv, PatternRewriter &rewriter) const override {
    Operation *def = conv.getX().getDefiningOp();
    if (!def || !isa<BatchNormOp, BinaryOp>(def) || !hasOneUser(conv.getX()))
      return failure();
    Value x;
    std::optional<Affine> affine = matchAffine(def, 1, x);
    if (!affine || x.getType() != conv.getX().getType())
      return failure();
    bool pads = llvm::any_of(conv.getPads(), [](int64_t p) { return p != 0; });
    if (pads && affine->hasOffset())
      return failure();
    ElementsAttr weights = elementsOf(conv.getW());
    auto type = cast<RankedTensorType>(conv.getW().getType());
    std::optional<SmallVector<double>> all = weights ? readDoubles(conv.getW()) : std::nullopt;
    if (!all || !type.hasStaticShape())
      return failure();
    int64_t out = type.getDimSize(0), in = type.getDimSize(1), taps = type.getNumElements() / out / in;
    std::optional<SmallVector<double>> bias = readBias(conv.getBias(), out);
    if (!bias)
      return failure();
    auto inputChannel = [&](int64_t i) {
      int64_t group = i / taps / in / (out / conv.getGroups());
      return group * in + i / taps % in;
    };
    for (int64_t i = 0, e = all->size(); i < e; ++i)
      (*bias)[i / taps / in] += (*all)[i] * affine->offsetAt(inputChannel(i));
    Value w = conv.getW();
    if (!isAll(affine->scale, 1)) {
      weights = scaleWeights(weights, type, [&](int64_t i) { return affine->scaleAt(inputChannel(i)); });
      if (!weights)
        return failure();
      w = makeConstant(rewriter, w.getLoc(), weights);
    }
    Value b = conv.getBias();
    if (affine->hasOffset())
      b = makeConstant(rewriter, conv.getLoc(),
                       makeFloats(RankedTensorType::get({out}, type.getElementType()), *bias));
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getXMutable().assign(x);
      conv.getWMutable().assign(w);
      if (b)
        conv.getBiasMutable().assign(b);
    });
    return success();
  }
};

/// affine(matmul(x, w)) → matmul(x, w * scale) + offset, for scales of columns
struct FoldBehindMatmul : RewritePattern {
  explicit FoldBehindMatmul(MLIRContext *ctx) : RewritePattern(MatchAnyOpTypeTag(), 2, ctx) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<BatchNormOp, BinaryOp>(op))
      return failure();
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    Value x;
    std::optional<Affine> affine = matchAffine(op, type.getRank() - 1, x);
    if (!affine || isAll(affine->scale, 1) || !hasOneUser(x) || x.getType() != type)
      return failure();
    // An offset may stand between: affine(matmul + b).
    Value sum = x;
    auto add = x.getDefiningOp<BinaryOp>();
    Affine offset{{1}, {0}};
    if (add) {
      Value inner;
      std::optional<Affine> first = matchAffine(add, type.getRank() - 1, inner);
      if (!first || !isAll(first->scale, 1))
        return failure();
      offset = *first;
      sum = inner;
    }
    auto matmul = sum.getDefiningOp<MatmulOp>();
    if (!matmul || !hasOneUser(sum) || sum.getType() != type)
      return failure();
    ElementsAttr weights = elementsOf(matmul.getB());
    auto weightType = cast<RankedTensorType>(matmul.getB().getType());
    if (!weights || weightType.getRank() != 2)
      return failure();
    int64_t columns = type.getShape().back(), inner = weightType.getDimSize(1);
    ElementsAttr scaled = scaleWeights(weights, weightType, [&](int64_t i) {
      return affine->scaleAt(matmul.getTransposeB() ? i / inner : i % inner);
    });
    if (!scaled)
      return failure();
    SmallVector<double> sums;
    for (int64_t c = 0; c < columns; ++c)
      sums.push_back(affine->scaleAt(c) * offset.offsetAt(c) + affine->offsetAt(c));
    auto made = cast<MatmulOp>(rewriter.clone(*matmul));
    made.getBMutable().assign(makeConstant(rewriter, matmul.getB().getLoc(), scaled));
    Value y = made;
    if (!isAll(sums, 0)) {
      Value b = makeConstant(rewriter, op->getLoc(),
                             makeFloats(RankedTensorType::get({columns}, type.getElementType()), sums));
      y = BinaryOp::create(rewriter, op->getLoc(), BinaryKind::add, y, b);
    }
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// batch_norm(x, constants) → x * scale + offset: two operands instead of five, and nothing left to divide
struct ExpandNorm : OpRewritePattern<BatchNormOp> {
  explicit ExpandNorm(MLIRContext *ctx) : OpRewritePattern(ctx, 0) {}
  LogicalResult matchAndRewrite(BatchNormOp norm, PatternRewriter &rewriter) const override {
    Value x;
    std::optional<Affine> affine = matchAffine(norm, 1, x);
    if (!affine)
      return failure();
    auto type = cast<RankedTensorType>(norm.getX().getType());
    // The convolution behind it may still take it.
    SmallVector<int64_t> shape(type.getRank() - 1, 1);
    shape[0] = type.getDimSize(1);
    auto channels = RankedTensorType::get(shape, type.getElementType());
    Location loc = norm.getLoc();
    Value scale = makeConstant(rewriter, loc, makeFloats(channels, affine->scale));
    Value offset = makeConstant(rewriter, loc, makeFloats(channels, affine->offset));
    Value scaled = BinaryOp::create(rewriter, loc, BinaryKind::mul, x, scale);
    rewriter.replaceOpWithNewOp<BinaryOp>(norm, BinaryKind::add, scaled, offset);
    return success();
  }
};

} // namespace

void nn::populateFoldNorm(RewritePatternSet &patterns) {
  patterns.add<FoldBehind<ConvOp>, FoldBehind<ConvTransposeOp>, FoldBehindMatmul, FoldInFront, ExpandNorm>(
      patterns.getContext());
}
