// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of what computes one element from one element of each operand.
#include "tessera/transforms/nn/lower/Elements.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace tessera;
using namespace tessera::nn;

namespace {

struct LowerUnary : OpRewritePattern<UnaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnaryOp op, PatternRewriter &rewriter) const override {
    Value y = mapBroadcast(rewriter, op.getLoc(), op.getX(), typeOf(op.getY()),
                           [&](OpBuilder &b, Location loc, ValueRange args) {
                             return emitUnary(b, loc, op.getKind(), args[0], op.getIsUnsigned());
                           });
    rewriter.replaceOp(op, y);
    return success();
  }
};

struct LowerActivation : OpRewritePattern<ActivationOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ActivationOp op, PatternRewriter &rewriter) const override {
    Value y =
        mapBroadcast(rewriter, op.getLoc(), op.getX(), typeOf(op.getY()),
                     [&](OpBuilder &b, Location loc, ValueRange args) {
                       return emitActivation(b, loc, op.getKind(), args[0], op.getAlpha().convertToDouble(),
                                             op.getBeta().convertToDouble(), op.getIsUnsigned());
                     });
    rewriter.replaceOp(op, y);
    return success();
  }
};

struct LowerBinary : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    Value y = mapBroadcast(rewriter, op.getLoc(), {op.getA(), op.getB()}, typeOf(op.getY()),
                           [&](OpBuilder &b, Location loc, ValueRange args) {
                             return emitBinary(b, loc, op.getKind(), args[0], args[1], op.getIsUnsigned());
                           });
    rewriter.replaceOp(op, y);
    return success();
  }
};

struct LowerSelect : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    Value y = mapBroadcast(rewriter, op.getLoc(), op.getOperands(), typeOf(op.getY()),
                           [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                             return arith::SelectOp::create(b, loc, args[0], args[1], args[2]);
                           });
    rewriter.replaceOp(op, y);
    return success();
  }
};

// batch_norm → factor = scale / sqrt(variance + epsilon) for each channel, then (x - mean) * factor + bias
struct LowerBatchNorm : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getX());
    Type computed = type.getElementType().isF64() ? type.getElementType() : Type(rewriter.getF32Type());
    double epsilon = op.getEpsilon().convertToDouble();
    RankedTensorType channel = RankedTensorType::get(typeOf(op.getScale()).getShape(), computed);
    Value factor = mapBroadcast(
        rewriter, loc, {op.getScale(), op.getVariance()}, channel,
        [&](OpBuilder &b, Location at, ValueRange args) -> Value {
          Value scale = emitCast(b, at, args[0], computed), variance = emitCast(b, at, args[1], computed);
          variance = arith::AddFOp::create(b, at, variance, constantOf(b, at, computed, epsilon));
          return arith::DivFOp::create(b, at, scale, math::SqrtOp::create(b, at, variance));
        });
    unsigned rank = type.getRank();
    AffineMap byChannel = AffineMap::get(rank, 0, rewriter.getAffineDimExpr(rank > 1 ? 1 : 0));
    SmallVector<AffineMap> maps(4, byChannel);
    maps[0] = rewriter.getMultiDimIdentityMap(rank);
    Value y = mapElements(rewriter, loc, extentsOf(rewriter, loc, op.getX()),
                          typeOf(op.getY()).getElementType(), {op.getX(), op.getMean(), factor, op.getBias()},
                          maps, [&](OpBuilder &b, Location at, ValueRange args) {
                            Value x = emitCast(b, at, args[0], computed),
                                  mean = emitCast(b, at, args[1], computed),
                                  bias = emitCast(b, at, args[3], computed);
                            Value centred = arith::SubFOp::create(b, at, x, mean);
                            Value scaled = arith::MulFOp::create(b, at, centred, args[2]);
                            Value sum = arith::AddFOp::create(b, at, scaled, bias);
                            return emitCast(b, at, sum, typeOf(op.getY()).getElementType());
                          });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, op.getY().getType()));
    return success();
  }
};

} // namespace

void nn::populateElementwise(RewritePatternSet &patterns) {
  patterns.add<LowerUnary, LowerActivation, LowerBinary, LowerSelect, LowerBatchNorm>(patterns.getContext());
}
