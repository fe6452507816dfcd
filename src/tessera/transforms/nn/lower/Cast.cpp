// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowering of conversions: between element types and formats, and by scale and zero point.
#include "tessera/transforms/nn/lower/Formats.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace tessera;
using namespace tessera::nn;

namespace {

struct LowerCast : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    Type to = typeOf(op.getY()).getElementType();
    Value y = mapBroadcast(rewriter, op.getLoc(), op.getX(), typeOf(op.getY()),
                           [&](OpBuilder &b, Location loc, ValueRange args) {
                             Value v = emitDecode(b, loc, args[0], op.getFrom());
                             return emitEncode(b, loc, v, isUnsignedFormat(op.getFrom()), to, op.getTo(),
                                               op.getWrap(), op.getRoundMode());
                           });
    rewriter.replaceOp(op, y);
    return success();
  }
};

struct LowerBitcast : OpRewritePattern<BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BitcastOp op, PatternRewriter &rewriter) const override {
    Type to = typeOf(op.getY()).getElementType();
    Value y = mapBroadcast(rewriter, op.getLoc(), op.getX(), typeOf(op.getY()),
                           [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
                             // An i1 is a byte of 0 or 1.
                             if (args[0].getType().isInteger(1) && to.isInteger(8))
                               return arith::ExtUIOp::create(b, loc, to, args[0]);
                             if (args[0].getType().isInteger(8) && to.isInteger(1))
                               return arith::TruncIOp::create(b, loc, to, args[0]);
                             return arith::BitcastOp::create(b, loc, to, args[0]);
                           });
    rewriter.replaceOp(op, y);
    return success();
  }
};

/// How scale and zero point are read next to each element of x: as operands where a map says it, otherwise by
/// index.
struct Parameters {
  SmallVector<Value> operands; ///< x first
  SmallVector<AffineMap> maps;
  SmallVector<Value> blocked; ///< scale and zero, one for each block
  int64_t axis, block;

  Parameters(OpBuilder &b, Value x, Value scale, Value zero, int64_t axis, int64_t block)
      : axis(axis < 0 ? axis + typeOf(x).getRank() : axis), block(block) {
    unsigned rank = typeOf(x).getRank();
    operands.push_back(x);
    maps.push_back(b.getMultiDimIdentityMap(rank));
    for (Value v : {scale, zero}) {
      if (!v)
        continue;
      RankedTensorType type = typeOf(v);
      bool single = type.hasStaticShape() && type.getNumElements() == 1;
      if (block > 0 && !single) {
        blocked.push_back(v);
        continue;
      }
      SmallVector<AffineExpr> exprs(type.getRank(), b.getAffineConstantExpr(0));
      if (!single)
        exprs.assign({b.getAffineDimExpr(this->axis)});
      operands.push_back(v);
      maps.push_back(AffineMap::get(rank, 0, exprs, b.getContext()));
    }
  }

  /// Element of x, scale, and zero point where there is one.
  SmallVector<Value> elements(OpBuilder &b, Location loc, ValueRange args) const {
    SmallVector<Value> result(args);
    if (blocked.empty())
      return result;
    SmallVector<Value> ids = loopIndices(b, loc, maps[0].getNumDims());
    ids[axis] = arith::DivUIOp::create(b, loc, ids[axis], indexOf(b, loc, block));
    for (Value v : blocked)
      result.push_back(tensor::ExtractOp::create(b, loc, v, ids));
    return result;
  }
};

struct LowerQuantize : OpRewritePattern<QuantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(QuantizeOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    Parameters p(rewriter, op.getX(), op.getScale(), op.getZero(), op.getAxis(), op.getBlock());
    Value y = mapElements(rewriter, loc, extentsOf(rewriter, loc, op.getX()), type.getElementType(),
                          p.operands, p.maps, [&](OpBuilder &b, Location at, ValueRange args) {
                            return quantize(op, b, at, p.elements(b, at, args), type.getElementType());
                          });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }

  // The bounds are integers, so a number may be cut off before it is rounded. Then it is so small that the
  // sum with 1.5 * 2^23 has its nearest integer as the last bits of the mantissa. NaN becomes the zero point.
  static Value quantizeByte(OpBuilder &b, Location loc, Value q, Value zero, bool isUnsigned) {
    Value low = constantOf(b, loc, q.getType(), isUnsigned ? 0 : -128),
          high = constantOf(b, loc, q.getType(), isUnsigned ? 255 : 127);
    if (zero) {
      Value offset = emitCast(b, loc, zero, q.getType(), isUnsigned);
      low = arith::SubFOp::create(b, loc, low, offset);
      high = arith::SubFOp::create(b, loc, high, offset);
    }
    auto limit = [&](arith::CmpFPredicate outside, Value bound) {
      q = arith::SelectOp::create(b, loc, arith::CmpFOp::create(b, loc, outside, q, bound), bound, q);
    };
    limit(arith::CmpFPredicate::OLT, low);
    limit(arith::CmpFPredicate::OGT, high);
    q = arith::AddFOp::create(b, loc, q, constantOf(b, loc, q.getType(), 12582912.0));
    Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), q);
    Value n = arith::TruncIOp::create(b, loc, b.getI8Type(), bits);
    return zero ? arith::AddIOp::create(b, loc, n, zero).getResult() : n;
  }

  // x / scale. By a constant it takes a product and its correction, which rounds as the division does
  // (Markstein) and takes a fraction of the time; the bounds keep infinities out of the correction, and do
  // not change what is cut off later. Not so where the mantissa is all ones, or the reciprocal is no normal
  // number.
  static Value divide(QuantizeOp op, OpBuilder &b, Location loc, Value x, Value scale) {
    DenseElementsAttr constant;
    bool byte = typeOf(op.getY()).getElementType().isInteger(8) && x.getType().isF32() &&
                (op.getTo() == Format::plain || op.getTo() == Format::unsigned_);
    if (!byte || !matchPattern(op.getScale(), m_Constant(&constant)) || constant.getNumElements() != 1)
      return emitBinary(b, loc, BinaryKind::div, x, scale);
    float s = constant.getSplatValue<APFloat>().convertToFloat(), factor = 1 / s;
    int exponent;
    bool exact = std::frexp(s, &exponent) == 0.5f;
    if (!(s > 0x1p-60f && s < 0x1p60f) || (llvm::bit_cast<uint32_t>(s) & 0x7fffff) == 0x7fffff)
      return emitBinary(b, loc, BinaryKind::div, x, scale);
    Value inverse = constantOf(b, loc, x.getType(), factor);
    Value q = arith::MulFOp::create(b, loc, x, inverse);
    if (exact)
      return q;
    for (auto [outside, bound] :
         {std::pair(arith::CmpFPredicate::OLT, -512.0), {arith::CmpFPredicate::OGT, 512.0}}) {
      Value limit = constantOf(b, loc, x.getType(), bound);
      q = arith::SelectOp::create(b, loc, arith::CmpFOp::create(b, loc, outside, q, limit), limit, q);
    }
    Value rest = math::FmaOp::create(b, loc, arith::NegFOp::create(b, loc, q), scale, x);
    return math::FmaOp::create(b, loc, rest, inverse, q);
  }

  static Value quantize(QuantizeOp op, OpBuilder &b, Location loc, ArrayRef<Value> e, Type type) {
    Value x = e[0], scale = e[1];
    // In the operands' own type when they agree, which decides how the quotient is rounded.
    if (x.getType() != scale.getType() || !isa<FloatType>(x.getType())) {
      Type common =
          x.getType().isF64() || scale.getType().isF64() ? Type(b.getF64Type()) : Type(b.getF32Type());
      x = emitCast(b, loc, x, common);
      scale = emitCast(b, loc, scale, common);
    }
    Value q = divide(op, b, loc, x, scale);
    Format to = op.getTo();
    bool isUnsigned = isUnsignedFormat(to);
    if (isFloatFormat(to)) {
      if (e.size() > 2) {
        Value zero = emitCast(b, loc, emitDecode(b, loc, e[2], to), q.getType());
        q = emitBinary(b, loc, BinaryKind::add, q, zero);
      }
      return emitEncode(b, loc, q, false, type, to, op.getWrap(), "nearest");
    }
    if (q.getType().isF32() && type.isInteger(8) && (to == Format::plain || to == Format::unsigned_))
      return quantizeByte(b, loc, q, e.size() > 2 ? e[2] : Value(), isUnsigned);
    unsigned width = to == Format::i4 || to == Format::u4   ? 4
                     : to == Format::i2 || to == Format::u2 ? 2
                                                            : type.getIntOrFloatBitWidth();
    Type wide = width > 16 ? b.getI64Type() : b.getI32Type();
    Value n = emitCast(b, loc, emitUnary(b, loc, UnaryKind::round, q), wide);
    // Far outside of both, so that adding the zero point cannot wrap.
    int64_t far = width > 16 ? int64_t(1) << 40 : 1 << 24;
    n = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, n, integerOf(b, loc, wide, far)),
                               integerOf(b, loc, wide, -far));
    if (e.size() > 2) {
      Value zero = emitDecode(b, loc, e[2], to);
      n = arith::AddIOp::create(b, loc, n, emitCast(b, loc, zero, wide, isUnsigned));
    }
    int64_t low = isUnsigned ? 0 : -(int64_t(1) << (width - 1)),
            high = (int64_t(1) << (isUnsigned ? width : width - 1)) - 1;
    n = arith::MaxSIOp::create(b, loc, n, integerOf(b, loc, wide, low));
    n = arith::MinSIOp::create(b, loc, n, integerOf(b, loc, wide, high));
    return emitCast(b, loc, n, type);
  }
};

struct LowerDequantize : OpRewritePattern<DequantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DequantizeOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RankedTensorType type = typeOf(op.getY());
    Parameters p(rewriter, op.getX(), op.getScale(), op.getZero(), op.getAxis(), op.getBlock());
    Type result = type.getElementType();
    Type computed = result.isF64() ? result : Type(rewriter.getF32Type());
    bool isUnsigned = isUnsignedFormat(op.getFrom());
    Value y = mapElements(rewriter, loc, extentsOf(rewriter, loc, op.getX()), result, p.operands, p.maps,
                          [&](OpBuilder &b, Location at, ValueRange args) {
                            SmallVector<Value> e = p.elements(b, at, args);
                            Value x = number(b, at, e[0], op.getFrom(), isUnsigned);
                            if (e.size() > 2)
                              x = emitBinary(b, at, BinaryKind::sub, x,
                                             number(b, at, e[2], op.getFrom(), isUnsigned));
                            x = emitCast(b, at, x, computed);
                            x = emitBinary(b, at, BinaryKind::mul, x, emitCast(b, at, e[1], computed));
                            return emitCast(b, at, x, result);
                          });
    rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
    return success();
  }

  // A number in a type in which the difference of two is exact.
  static Value number(OpBuilder &b, Location loc, Value v, Format from, bool isUnsigned) {
    Value n = emitDecode(b, loc, v, from);
    if (isa<FloatType>(n.getType()))
      return n;
    unsigned width = n.getType().getIntOrFloatBitWidth();
    return emitCast(b, loc, n, width > 16 ? b.getI64Type() : b.getI32Type(), isUnsigned);
  }
};

} // namespace

void nn::populateCast(RewritePatternSet &patterns) {
  patterns.add<LowerCast, LowerBitcast, LowerQuantize, LowerDequantize>(patterns.getContext());
}
