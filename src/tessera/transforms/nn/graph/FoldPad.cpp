// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A border in front of a window becomes the window's own.
#include "tessera/transforms/nn/graph/Patterns.h"

using namespace tessera;
using namespace tessera::nn;

// The border's rows and columns as a window's pads, lows first; none unless it is a border of one number
// around the spatial dimensions.
static std::optional<SmallVector<int64_t>> borderOf(PadOp pad, double &value) {
  if (!pad || pad.getMode() != PadMode::constant)
    return std::nullopt;
  value = 0;
  if (pad.getValue()) {
    std::optional<double> scalar = readScalar(pad.getValue());
    if (!scalar)
      return std::nullopt;
    value = *scalar;
  }
  ArrayRef<int64_t> lows = pad.getLows(), highs = pad.getHighs();
  if (lows.size() < 3 || lows[0] || lows[1] || highs[0] || highs[1])
    return std::nullopt;
  SmallVector<int64_t> border(lows.drop_front(2));
  llvm::append_range(border, highs.drop_front(2));
  if (llvm::any_of(border, [](int64_t b) { return b < 0; }))
    return std::nullopt;
  return border;
}

static SmallVector<int64_t> sum(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> result;
  for (auto [x, y] : llvm::zip(a, b))
    result.push_back(x + y);
  return result;
}

namespace {

/// conv(pad(x, 0)) → conv(x) {pads + border}
struct PadIntoConv : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getX().getDefiningOp<PadOp>();
    double value;
    std::optional<SmallVector<int64_t>> border = borderOf(pad, value);
    if (!border || value != 0)
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(pad.getX());
      op.setPads(sum(op.getPads(), *border));
    });
    return success();
  }
};

/// pool max(pad(x, -inf)) → pool max(x) {pads + border}; pool mean or sum(pad(x, 0)) → the same with
/// `count_pad`
struct PadIntoPool : OpRewritePattern<PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getX().getDefiningOp<PadOp>();
    double value;
    std::optional<SmallVector<int64_t>> border = borderOf(pad, value);
    if (!border || op.getCeil())
      return failure();
    bool counts = op.getKind() == ReduceKind::mean || op.getKind() == ReduceKind::sum;
    bool own = llvm::any_of(op.getPads(), [](int64_t p) { return p != 0; });
    if (op.getKind() == ReduceKind::max) {
      // A window that lies in the border alone would have no maximum.
      bool alone = false;
      for (auto [i, k] : llvm::enumerate(op.getKernel()))
        alone |= op.getPads()[i] + (*border)[i] >= k ||
                 op.getPads()[i + op.getKernel().size()] + (*border)[i + op.getKernel().size()] >= k;
      if (value != -std::numeric_limits<double>::infinity() || alone)
        return failure();
    } else if (!counts || value != 0 || (own && !op.getCountPad())) {
      return failure();
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(pad.getX());
      op.setPads(sum(op.getPads(), *border));
      if (counts)
        op.setCountPad(true);
    });
    return success();
  }
};

} // namespace

void nn::populateFoldPad(RewritePatternSet &patterns) {
  patterns.add<PadIntoConv, PadIntoPool>(patterns.getContext());
}
