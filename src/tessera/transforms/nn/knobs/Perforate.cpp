// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Perforation: convolutions with larger strides compute the rows and columns that stay, one for each
// remainder modulo the rate; nn.interpolate puts them together and fills in the others.
#include "tessera/transforms/nn/knobs/Apply.h"

using namespace tessera;
using namespace tessera::nn;

namespace {

/// One dimension of a part: every `rate`-th place from `first` on, as stride and pads of a convolution.
struct Part {
  int64_t stride, low, high;
};

} // namespace

// The parts of one dimension of a convolution; one that is the whole if it is not perforated.
static SmallVector<Part> partsOf(bool perforated, const Knob &knob, const Window &window, int64_t in,
                                 int64_t places) {
  if (!perforated)
    return {{window.stride, window.low, window.high}};
  SmallVector<Part> parts;
  for (int64_t first = 0; first < knob.rate; ++first) {
    if (first == knob.offset)
      continue;
    // The first window starts so many elements later; the last one ends where it ends. Negative pads cut off.
    int64_t count = (places - first + knob.rate - 1) / knob.rate, stride = window.stride * knob.rate,
            low = window.low - first * window.stride;
    parts.push_back({stride, low, (count - 1) * stride + window.span() - in - low});
  }
  return parts;
}

LogicalResult nn::applyPerforation(RewriterBase &rewriter, ConvOp op, const Knob &knob) {
  auto x = cast<RankedTensorType>(op.getX().getType()), y = cast<RankedTensorType>(op.getY().getType()),
       w = cast<RankedTensorType>(op.getW().getType());
  if (llvm::any_of(x.getShape().drop_front(), ShapedType::isDynamic))
    return op.emitOpError("'") << nameOf(op) << "' has the knob '" << knob.str()
                               << "', which needs an input of known extents, but got " << x;
  SmallVector<Window> windows =
      makeWindows(w.getShape().drop_front(2), op.getStrides(), op.getPads(), op.getDilations());
  SmallVector<Part> rows = partsOf(knob.perforatesRows(), knob, windows[0], x.getDimSize(2), y.getDimSize(2)),
                    columns =
                        partsOf(knob.perforatesCols(), knob, windows[1], x.getDimSize(3), y.getDimSize(3));
  SmallVector<Value> parts;
  for (const Part &row : rows)
    for (const Part &column : columns) {
      auto part = ConvOp::create(rewriter, op.getLoc(), op.getX(), op.getW(), op.getBias(),
                                 ArrayRef<int64_t>{row.stride, column.stride},
                                 ArrayRef<int64_t>{row.low, column.low, row.high, column.high},
                                 op.getDilations(), op.getGroups());
      keepPrecision(part, knob, op);
      parts.push_back(part.getY());
    }
  auto whole = InterpolateOp::create(rewriter, op.getLoc(), y, parts, knob.rate, knob.offset,
                                     knob.perforatesRows(), knob.perforatesCols());
  rewriter.replaceOp(op, whole);
  return success();
}
