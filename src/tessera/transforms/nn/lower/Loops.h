// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the families with windows, sums and samples build their loops: a linalg.generic piece by piece,
// formulas on scalars that read as such, and the border around a tensor.
#pragma once

#include "tessera/transforms/nn/lower/Elements.h"

namespace tessera::nn {

/// A formula on scalars. Operands of a binary operator have one type: floats, integers or indices; a number
/// in C++ takes the type of the other side.
class Term {
public:
  Term(OpBuilder &b, Location loc, Value v) : b(&b), loc(loc), v(v) {}
  operator Value() const { return v; }
  Type type() const { return v.getType(); }
  bool isFloat() const { return isa<FloatType>(v.getType()); }
  Term with(Value other) const { return {*b, loc, other}; }
  /// A constant of this term's type.
  Term number(double other) const { return with(constantOf(*b, loc, type(), other)); }

  Term operator+(Value o) const;
  Term operator-(Value o) const;
  Term operator*(Value o) const;
  /// Of floats; integers are divided by floorDiv.
  Term operator/(Value o) const;
  Term operator+(double o) const { return *this + number(o).v; }
  Term operator-(double o) const { return *this - number(o).v; }
  Term operator*(double o) const { return *this * number(o).v; }
  Term operator/(double o) const { return *this / number(o).v; }
  Term operator+(Term o) const { return *this + o.v; }
  Term operator-(Term o) const { return *this - o.v; }
  Term operator*(Term o) const { return *this * o.v; }
  Term operator/(Term o) const { return *this / o.v; }
  Term floorDiv(int64_t o) const;
  Term ceilDiv(int64_t o) const;
  /// The remainder of what is not negative.
  Term modulo(int64_t o) const;

  /// Conditions (i1); false where one is NaN.
  Term less(Value o) const;
  Term lessEqual(Value o) const;
  Term equal(Value o) const;
  Term less(double o) const { return less(number(o)); }
  Term lessEqual(double o) const { return lessEqual(number(o)); }
  Term equal(double o) const { return equal(number(o)); }
  Term isNan() const;
  Term operator&&(Term o) const;
  Term operator||(Term o) const;
  /// This condition decides.
  Term select(Value a, Value b) const;

  /// Hand on NaN.
  Term max(Value o) const;
  Term min(Value o) const;
  Term max(double o) const { return max(number(o)); }
  Term min(double o) const { return min(number(o)); }
  /// Within [low, high]; NaN becomes low.
  Term clamp(Value low, Value high) const;
  Term clamp(double low, double high) const { return clamp(number(low), number(high)); }
  Term apply(UnaryKind kind) const { return with(emitUnary(*b, loc, kind, v)); }
  Term floor() const;
  /// To the nearest, halves to even.
  Term round() const;
  /// An integer or index as a float; a float (which must fit) as an index, truncated.
  Term toFloat(Type to) const;
  Term toIndex() const;

private:
  OpBuilder *b;
  Location loc;
  Value v;
};

/// The type in which an element type is summed: f32 for the half types, otherwise itself.
Type accumulatorOf(Type element);
/// A float as another float type.
Value floatTo(OpBuilder &b, Location loc, Value v, Type to);
/// A tensor with its elements converted, itself when the type is the same.
Value tensorTo(OpBuilder &b, Location loc, Value tensor, Type element);

/// A linalg.generic, operand by operand.
class LoopNest {
public:
  /// The order of the dimensions is that of the loops.
  LoopNest(OpBuilder &b, Location loc, unsigned loops)
      : b(b), loc(loc), iterators(loops, utils::IteratorType::parallel) {}
  AffineExpr dim(unsigned d) const { return getAffineDimExpr(d, b.getContext()); }
  AffineExpr at(int64_t c) const { return getAffineConstantExpr(c, b.getContext()); }
  SmallVector<AffineExpr> dims(ArrayRef<unsigned> ds) const;
  void reduce(unsigned d) { iterators[d] = utils::IteratorType::reduction; }
  /// An operand, read at these places.
  void read(Value tensor, ArrayRef<AffineExpr> at);
  /// An operand without content that gives loops their extents.
  void shape(ArrayRef<OpFoldResult> extents, ArrayRef<AffineExpr> at);
  /// A result that starts as `init`.
  void write(Value init, ArrayRef<AffineExpr> at);
  using Body = function_ref<SmallVector<Value>(OpBuilder &b, Location loc, ValueRange args)>;
  SmallVector<Value> build(Body body);

private:
  OpBuilder &b;
  Location loc;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<Value> ins, outs;
  SmallVector<AffineMap> inMaps, outMaps;
};

/// The tensor within a border of `value`; negative numbers cut off. `steps` puts the elements that far apart
/// (empty: 1), with `value` between.
Value withBorder(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> lows, ArrayRef<int64_t> highs,
                 Value value, ArrayRef<int64_t> steps = {});

/// The extents that floor((in + low + high - dilation * (kernel - 1) - 1) / stride) + 1 gives.
OpFoldResult windowExtent(OpBuilder &b, Location loc, OpFoldResult in, int64_t pads, int64_t kernel,
                          int64_t stride, int64_t dilation);

/// Dimensions merged: each entry of `groups` lists neighbours of x that become one.
Value collapse(OpBuilder &b, Location loc, Value x, ArrayRef<SmallVector<int64_t, 2>> groups);
/// The opposite: dimension d of x becomes the next entries of `extents`, as `groups` says.
Value expand(OpBuilder &b, Location loc, Value x, ArrayRef<SmallVector<int64_t, 2>> groups,
             ArrayRef<OpFoldResult> extents);

/// x with its dimensions in another order, written to memory.
Value transposed(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> permutation);

/// a * b for the two innermost dimensions; the leading ones of both broadcast. Element type: the
/// accumulator's.
Value product(OpBuilder &b, Location loc, Value x, Value y, bool transposeX, bool transposeY);

/// Replaces an operation by what a function builds for it; an empty list means that it cannot.
template <typename Op> class BuildPattern : public OpRewritePattern<Op> {
public:
  using Function = SmallVector<Value> (*)(OpBuilder &b, Op op);
  BuildPattern(MLIRContext *ctx, Function function) : OpRewritePattern<Op>(ctx), function(function) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    SmallVector<Value> results = function(rewriter, op);
    if (results.empty())
      return failure();
    for (auto [result, type] : llvm::zip(results, op->getResultTypes()))
      result = castTo(rewriter, op.getLoc(), result, type);
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  Function function;
};

template <typename Op>
void addBuilder(RewritePatternSet &patterns, SmallVector<Value> (*function)(OpBuilder &b, Op op)) {
  patterns.add<BuildPattern<Op>>(patterns.getContext(), function);
}

/// Families that have files of their own within those of Lower.h.
void populateConvolution(RewritePatternSet &patterns); ///< conv, conv_transpose, deform_conv
void populateSample(RewritePatternSet &patterns);      ///< resize, grid_sample, roi_align
void populateRecurrent(RewritePatternSet &patterns);

} // namespace tessera::nn
