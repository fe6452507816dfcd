// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape and data movement. Elements are moved as bits.
#include "tessera/oracle/nn/Nn.h"

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;

// y, whose element at a walk's position is that of x; `first` is the position of the first.
static void gatherStrided(const Elements &x, Elements &y, Shape strides, int64_t first = 0) {
  Walk walk(y.shape, {std::move(strides)});
  for (int64_t i = 0, count = y.size(); i < count; ++i, walk.next())
    y.data[i] = x.data[first + walk[0]];
}

static LogicalResult runReshape(Call &call, ReshapeOp op) {
  const Elements &x = call[op.getX()];
  Shape shape;
  if (failed(call.shapeFrom(op.getExtents(), shape)))
    return failure();
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }) || countElements(shape) != x.size())
    return call.mismatch(x.shape, shape);
  return call.reuse(x, shape);
}

static LogicalResult runTranspose(Call &call, TransposeOp op) {
  const Elements &x = call[op.getX()];
  Shape shape, dense = denseStrides(x.shape), strides;
  for (int64_t d : op.getPermutation()) {
    shape.push_back(x.shape[d]);
    strides.push_back(dense[d]);
  }
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  gatherStrided(x, *y, strides);
  return success();
}

static LogicalResult runBroadcast(Call &call, BroadcastOp op) {
  const Elements &x = call[op.getX()];
  Shape shape;
  if (failed(call.shapeFrom(op.getExtents(), shape)))
    return failure();
  size_t lead = shape.size() - x.shape.size();
  for (auto [d, extent] : llvm::enumerate(x.shape))
    if (extent != 1 && extent != shape[lead + d])
      return call.mismatch(x.shape, shape);
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  gatherStrided(x, *y, broadcastStrides(x.shape, shape));
  return success();
}

// Each element comes from the index that `source(dimension, index)` gives; -1 for the value `otherwise`.
static LogicalResult moveByIndex(Call &call, const Elements &x, ArrayRef<int64_t> shape, uint64_t otherwise,
                                 function_ref<int64_t(size_t, int64_t)> source) {
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  // The sources of each dimension, as parts of positions.
  Shape dense = denseStrides(x.shape);
  SmallVector<std::vector<int64_t>> parts(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    for (int64_t i = 0; i < shape[d]; ++i) {
      int64_t from = source(d, i);
      parts[d].push_back(from < 0 ? -1 : from * dense[d]);
    }
  Shape index(shape.size());
  for (int64_t i = 0, count = y->size(); i < count; ++i, nextIndex(index, shape)) {
    int64_t position = 0;
    bool isInside = true;
    for (size_t d = 0; d < shape.size(); ++d) {
      isInside &= parts[d][index[d]] >= 0;
      position += parts[d][index[d]];
    }
    y->data[i] = isInside ? x.data[position] : otherwise;
  }
  return success();
}

static LogicalResult runTile(Call &call, TileOp op) {
  const Elements &x = call[op.getX()];
  Shape shape;
  for (auto [extent, repeat] : llvm::zip(x.shape, op.getRepeats()))
    shape.push_back(extent * repeat);
  return moveByIndex(call, x, shape, 0, [&](size_t d, int64_t i) { return i % x.shape[d]; });
}

static LogicalResult runConcat(Call &call, ConcatOp op) {
  int64_t axis = op.getAxis();
  Shape shape = call[op.getInputs()[0]].shape;
  for (Value value : op.getInputs().drop_front()) {
    Shape other = call[value].shape;
    int64_t extent = other[axis];
    other[axis] = shape[axis];
    if (other != shape)
      return call.mismatch(shape, call[value].shape);
    shape[axis] += extent;
  }
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  Axis to(shape, axis);
  int64_t start = 0;
  for (Value value : op.getInputs()) {
    const Elements &x = call[value];
    int64_t run = x.shape[axis] * to.inner;
    for (int64_t o = 0; o < to.outer; ++o)
      std::copy_n(x.data.begin() + o * run, run, y->data.begin() + to.position(o, start, 0));
    start += x.shape[axis];
  }
  return success();
}

static LogicalResult runSlice(Call &call, SliceOp op) {
  const Elements &x = call[op.getX()];
  Shape shape(cast<ShapedType>(op.getY().getType()).getShape()), dense = denseStrides(x.shape), strides;
  int64_t first = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t start = op.getStarts()[d], step = op.getSteps()[d];
    if (ShapedType::isDynamic(shape[d]))
      shape[d] = x.shape[d];
    int64_t last = start + (shape[d] - 1) * step;
    if (shape[d] > 0 && (start < 0 || start >= x.shape[d] || last < 0 || last >= x.shape[d]))
      return call.error("takes elements " + Twine(start) + " to " + Twine(last) + " of dimension " +
                        Twine(d) + ", which has " + Twine(x.shape[d]));
    strides.push_back(step * dense[d]);
    first += start * dense[d];
  }
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  gatherStrided(x, *y, strides, first);
  return success();
}

// The element that a place at index i of a border stands for; -1 for none.
static int64_t padSource(PadMode mode, int64_t i, int64_t extent) {
  if (i >= 0 && i < extent)
    return i;
  switch (mode) {
  case PadMode::constant:
    return -1;
  case PadMode::edge:
    return i < 0 ? 0 : extent - 1;
  case PadMode::reflect: {
    // The outermost elements are not repeated.
    int64_t period = std::max<int64_t>(1, 2 * (extent - 1));
    i = (i % period + period) % period;
    return i < extent ? i : period - i;
  }
  case PadMode::wrap:
    return (i % extent + extent) % extent;
  }
  return -1;
}

// Negative borders are cut off first: what is repeated is what stays, as ONNX Runtime has it.
static LogicalResult runPad(Call &call, PadOp op) {
  const Elements &x = call[op.getX()], *value = call.find(op.getValue());
  Shape shape, kept;
  for (auto [extent, low, high] : llvm::zip(x.shape, op.getLows(), op.getHighs())) {
    shape.push_back(extent + low + high);
    kept.push_back(extent + std::min<int64_t>(low, 0) + std::min<int64_t>(high, 0));
    if (kept.back() <= 0 && shape.back() > 0 && op.getMode() != PadMode::constant)
      return call.error("repeats elements of a dimension that has none");
  }
  return moveByIndex(call, x, shape, value ? value->data[0] : 0, [&](size_t d, int64_t i) {
    int64_t low = op.getLows()[d], source = padSource(op.getMode(), i - std::max<int64_t>(low, 0), kept[d]);
    return source < 0 ? source : source - std::min<int64_t>(low, 0);
  });
}

static LogicalResult runTrilu(Call &call, TriluOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  int64_t columns = x.shape.back(), rows = x.shape[x.shape.size() - 2], k = op.getK();
  for (int64_t i = 0, count = x.size(); i < count; ++i) {
    int64_t off = i % columns - i / columns % rows - k;
    if (op.getUpper() ? off >= 0 : off <= 0)
      y->data[i] = x.data[i];
  }
  return success();
}

static LogicalResult runReverseSequence(Call &call, ReverseSequenceOp op) {
  const Elements &x = call[op.getX()], &lengths = call[op.getLengths()];
  size_t time = op.getTimeAxis(), batch = op.getBatchAxis();
  if (lengths.size() != x.shape[batch])
    return call.mismatch(x.shape, lengths.shape);
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  Shape index(x.shape.size()), dense = denseStrides(x.shape);
  for (int64_t i = 0, count = x.size(); i < count; ++i, nextIndex(index, x.shape)) {
    int64_t length = integerAt(lengths, index[batch]);
    if (length < 0 || length > x.shape[time])
      return call.error("reverses " + Twine(length) + " of " + Twine(x.shape[time]) + " elements");
    int64_t move = index[time] < length ? length - 1 - 2 * index[time] : 0;
    y->data[i] = x.data[i + move * dense[time]];
  }
  return success();
}

static LogicalResult runIota(Call &call, IotaOp op) {
  const Elements &start = call[op.getStart()], &step = call[op.getStep()];
  Shape shape;
  if (failed(call.shapeFrom(op.getExtents(), shape)))
    return failure();
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  Axis split(shape, op.getAxis());
  return withNumbers(*y, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0, count = y->size(); i < count; ++i)
      put(*y, i,
          multiplyAdd(static_cast<T>(i / split.inner % split.extent), at<T>(step, 0), at<T>(start, 0)));
    return success();
  });
}

void oracle::addNnMove(HandlerTable &table) {
  addNnOp<ReshapeOp, runReshape>(table);
  addNnOp<TransposeOp, runTranspose>(table);
  addNnOp<BroadcastOp, runBroadcast>(table);
  addNnOp<TileOp, runTile>(table);
  addNnOp<ConcatOp, runConcat>(table);
  addNnOp<SliceOp, runSlice>(table);
  addNnOp<PadOp, runPad>(table);
  addNnOp<TriluOp, runTrilu>(table);
  addNnOp<ReverseSequenceOp, runReverseSequence>(table);
  addNnOp<IotaOp, runIota>(table);
}
