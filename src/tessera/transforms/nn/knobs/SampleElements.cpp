// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sampled reductions and pools: the same over fewer elements.
#include "tessera/transforms/nn/knobs/Apply.h"
#include "tessera/transforms/nn/knobs/Emit.h"

using namespace tessera;
using namespace tessera::nn;

// Multiplied by what makes up for the elements that are missing.
static Value scaled(OpBuilder &b, Location loc, Value y, double factor) {
  if (factor == 1)
    return y;
  return binary(b, loc, BinaryKind::mul, y, scalar(b, loc, static_cast<float>(factor)));
}

LogicalResult nn::applySample(RewriterBase &rewriter, ReduceOp op, const Knob &knob) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getX().getType());
  int64_t axis = op.getAxes()[0], all = type.getDimSize(axis), kept = 0, rest = 1;
  for (int64_t i = 0; i < all; ++i)
    kept += i % knob.rate != knob.offset;
  for (int64_t other : op.getAxes().drop_front())
    rest *= type.getDimSize(other);
  bool isMean = op.getKind() == ReduceKind::mean, isSum = op.getKind() == ReduceKind::sum;
  if (isMean && rest < 0)
    return op.emitOpError("'") << nameOf(op) << "' has the knob '" << knob.str()
                               << "', which needs an input of known extents, but got " << type;
  // A mean is a sum; every remainder modulo the rate is a slice of its own.
  ReduceKind kind = isMean ? ReduceKind::sum : op.getKind();
  BinaryKind combine = kind == ReduceKind::sum   ? BinaryKind::add
                       : kind == ReduceKind::max ? BinaryKind::max
                                                 : BinaryKind::min;
  Value y;
  for (int64_t first = 0; first < std::min(knob.rate, all); ++first) {
    if (first == knob.offset)
      continue;
    SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1), shape(type.getShape());
    starts[axis] = first;
    strides[axis] = knob.rate;
    shape[axis] = (all - first + knob.rate - 1) / knob.rate;
    Value slice = SliceOp::create(rewriter, loc, type.clone(shape), op.getX(), starts, strides);
    Value part = ReduceOp::create(rewriter, loc, kind, slice, op.getAxes(), op.getKeep(), op.getIsUnsigned());
    y = y ? binary(rewriter, loc, combine, y, part) : part;
  }
  double factor = isMean  ? 1.0 / static_cast<double>(kept * rest)
                  : isSum ? static_cast<double>(all) / static_cast<double>(kept)
                          : 1;
  rewriter.replaceOp(op, scaled(rewriter, loc, y, factor));
  return success();
}

LogicalResult nn::applySample(RewriterBase &rewriter, PoolOp op, const Knob &knob) {
  // The rows that stay are evenly spaced: a smaller window, perhaps with a larger dilation, that starts
  // later.
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < op.getKernel()[0]; ++i)
    if (i % knob.rate != knob.offset)
      kept.push_back(i);
  auto x = cast<RankedTensorType>(op.getX().getType()), y = cast<RankedTensorType>(op.getY().getType());
  int64_t rows = x.getDimSize(2), places = y.getDimSize(2);
  if (ShapedType::isDynamic(rows))
    return op.emitOpError("'") << nameOf(op) << "' has the knob '" << knob.str()
                               << "', which needs an input of known extents, but got " << x;
  SmallVector<int64_t> kernel(op.getKernel()), dilations(op.getDilations()), pads(op.getPads());
  int64_t dilation = dilations[0];
  dilations[0] = dilation * (kept.size() > 1 ? kept[1] - kept[0] : 1);
  kernel[0] = static_cast<int64_t>(kept.size());
  pads[0] -= kept[0] * dilation;
  int64_t needed = (places - 1) * op.getStrides()[0] + dilations[0] * (kernel[0] - 1) + 1;
  pads[kernel.size()] = needed - rows - pads[0];
  auto pool = PoolOp::create(rewriter, op.getLoc(), op.getKind(), op.getX(), kernel, op.getStrides(), pads,
                             dilations, /*count_pad=*/false, op.getCeil(), op.getP(), op.getIsUnsigned());
  double factor = op.getKind() == ReduceKind::sum
                      ? static_cast<double>(op.getKernel()[0]) / static_cast<double>(kept.size())
                      : 1;
  rewriter.replaceOp(op, scaled(rewriter, op.getLoc(), pool.getY(), factor));
  return success();
}
