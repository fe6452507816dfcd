// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of one operation's open extents (Checks.cpp). Only this folder's sources include this.
#pragma once

#include "tessera/ir/nn/Nn.h"
#include "tessera/transforms/nn/lower/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tessera::nn {

/// One extent of an operand.
struct Extent {
  Value of;
  int64_t dim;
};

/// Writes down, in front of an operation, what must be equal.
class Checker {
public:
  explicit Checker(Operation *op) : op(op), b(op) {}
  void run();
  /// Of an elementwise operation: dynamic extents that meet are equal, and nothing is broadcast along them.
  /// False when none do.
  bool forbidBroadcast();

private:
  bool isDynamic(const Extent &e) const { return typeOf(e.of).isDynamicDim(e.dim); }
  Value index(int64_t n) { return arith::ConstantIndexOp::create(b, op->getLoc(), n); }
  Value read(const Extent &e) {
    return isDynamic(e) ? Value(tensor::DimOp::create(b, op->getLoc(), e.of, e.dim))
                        : index(typeOf(e.of).getDimSize(e.dim));
  }
  std::string name(const Extent &e) const;
  void require(Value got, Value expected, const Twine &text);
  /// The extents are equal.
  void equal(ArrayRef<Extent> extents);
  /// They are equal, or 1.
  void broadcast(ArrayRef<Extent> extents);
  /// The extents that meet in dimensions of all operands, from the last one on, `skip` of them left out.
  SmallVector<SmallVector<Extent>> meeting(ValueRange operands, int64_t skip);
  /// They broadcast.
  void broadcastAll(ValueRange operands, int64_t skip);
  /// It broadcasts to x, which stays as it is.
  void broadcastTo(Value v, Value x);
  /// The extent is this one.
  void exactly(const Extent &e, Value expected);
  void exactly(const Extent &e, int64_t expected) { exactly(e, index(expected)); }
  /// The extent is at least, at most so much.
  void atLeast(const Extent &e, Value least);
  void atMost(const Extent &e, Value most);
  /// A dimension that indices count in has elements where there are any indices.
  void indexed(Value x, int64_t dim, Value indices);
  /// As many elements behind as in front.
  void sameCount(Value x, ArrayRef<Value> extents);
  /// A window fits into each spatial dimension of x.
  void fit(Value x, ArrayRef<Window> windows);
  /// The result of a layer that its target keeps has elements.
  void fitRules();
  Value product(Value x, int64_t y) { return b.createOrFold<arith::MulIOp>(op->getLoc(), x, index(y)); }

  void check(MatmulOp op);
  void check(EinsumOp op);
  void check(ConvOp op);
  void check(ConvTransposeOp op);
  void check(DeformConvOp op);
  void check(PoolOp op);
  void check(MaxPoolIndicesOp op);
  void check(BatchNormOp op);
  void check(GroupNormOp op);
  void check(LayerNormOp op);
  void check(RecurrentOp op);
  void check(AttentionOp op);
  void check(ConcatOp op);
  void check(PadOp op);
  void check(SliceOp op);
  void check(BroadcastOp op);
  void check(ReshapeOp op);
  void check(ReverseSequenceOp op);
  void check(GatherOp op) { indexed(op.getX(), int64_t(op.getAxis()), op.getIndices()); }
  void check(GatherElementsOp op);
  void check(GatherNdOp op);
  void check(ScatterElementsOp op);
  void check(ScatterNdOp op);
  void check(OneHotOp op);
  void check(TopKOp op);
  void check(ArgReduceOp op);
  void check(ColumnsToImageOp op);
  void check(MaxUnpoolOp op);
  void check(GridSampleOp op);
  void check(RoiAlignOp op);
  void check(InterpolateOp op);
  void check(QuantizeOp op) {
    checkScale(op.getX(), op.getScale(), op.getZero(), op.getAxis(), op.getBlock());
  }
  void check(DequantizeOp op) {
    checkScale(op.getX(), op.getScale(), op.getZero(), op.getAxis(), op.getBlock());
  }
  void checkScale(Value x, Value scale, Value zero, int64_t axis, int64_t block);
  void check(tensor::ExtractSliceOp op);
  void check(tensor::ExpandShapeOp op);
  void check(tensor::CastOp op);

  Operation *op;
  OpBuilder b;
};

} // namespace tessera::nn
