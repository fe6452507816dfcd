// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pools and their inverse, normalisation among neighbours, columns to images.
#include "tessera/oracle/nn/Nn.h"

#include "tessera/oracle/nn/Fold.h"
#include "tessera/oracle/nn/Knobs.h"

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;

template <typename OpT> static SmallVector<Window> windowsOf(OpT op) {
  return makeWindows(op.getKernel(), op.getStrides(), op.getPads(), op.getDilations(), op.getCeil());
}

static Shape poolShape(const Elements &x, ArrayRef<Window> windows) {
  Shape shape(ArrayRef(x.shape).take_front(2));
  for (auto [extent, window] : llvm::zip(ArrayRef(x.shape).drop_front(2), windows))
    shape.push_back(window.places(extent));
  return shape;
}

// Taps of the window at `place` that lie in the input or in the pads of the attribute.
static int64_t countPadded(const Spatial &s, int64_t place) {
  int64_t count = 1;
  for (size_t d = 3; d-- > 0; place /= s.places[d]) {
    const Window &w = s.window[d];
    int64_t start = place % s.places[d] * w.stride, inside = 0;
    for (int64_t k = 0; k < w.kernel; ++k)
      inside += start + k * w.dilation < w.low + s.extent[d] + w.high;
    count *= inside;
  }
  return count;
}

static LogicalResult runPool(Call &call, PoolOp op) {
  const Elements &x = call[op.getX()];
  SmallVector<Window> windows = windowsOf(op);
  if (failed(checkWindows(call, ArrayRef(x.shape).drop_front(2), windows)))
    return failure();
  Elements *y = call.make(poolShape(x, windows));
  if (!y)
    return failure();
  Spatial s(ArrayRef(x.shape).drop_front(2), windows);
  bool isUnsigned = op.getIsUnsigned();
  // A sampled pool leaves out rows of its window.
  Knob knob = knobOf(op);
  int64_t perRow = s.taps() / op.getKernel()[0], kept = 0;
  for (int64_t row = 0; row < op.getKernel()[0]; ++row)
    kept += !isLeftOut(knob, row);
  double scale = sampleScale(op.getKind(), op.getKernel()[0], kept);
  return withNumbers(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t plane = 0; plane < x.shape[0] * x.shape[1]; ++plane)
      for (int64_t place = 0; place < s.count(); ++place) {
        Fold<T> fold(op.getKind(), isUnsigned, x.info.width, op.getP());
        for (int pass = 0; pass < Fold<T>::passes(op.getKind()); ++pass)
          for (int64_t tap = 0; tap < s.taps(); ++tap)
            if (int64_t look = s.look(place, tap); look >= 0 && !isLeftOut(knob, tap / perRow))
              fold.add(at<T>(x, plane * s.size() + look, isUnsigned), pass);
        T value = fold.finish(op.getCountPad() && knob.isExact() ? countPadded(s, place) : 0);
        if (knob.isExact())
          put(*y, plane * s.count() + place, value);
        else
          put(*y, plane * s.count() + place, scale * static_cast<double>(value));
      }
    return success();
  });
}

static LogicalResult runMaxPoolIndices(Call &call, MaxPoolIndicesOp op) {
  const Elements &x = call[op.getX()];
  SmallVector<Window> windows = windowsOf(op);
  if (failed(checkWindows(call, ArrayRef(x.shape).drop_front(2), windows)))
    return failure();
  Shape shape = poolShape(x, windows);
  Elements *y = call.make(shape, 0), *indices = y ? call.make(shape, 1) : nullptr;
  if (!indices)
    return failure();
  Spatial s(ArrayRef(x.shape).drop_front(2), windows);
  return withNumbers(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t plane = 0; plane < x.shape[0] * x.shape[1]; ++plane)
      for (int64_t place = 0; place < s.count(); ++place) {
        int64_t best = -1;
        for (int64_t tap = 0; tap < s.taps(); ++tap) {
          int64_t look = s.look(place, tap);
          if (look < 0)
            continue;
          T now = at<T>(x, plane * s.size() + look, op.getIsUnsigned());
          T before = best < 0 ? T(0) : at<T>(x, plane * s.size() + best, op.getIsUnsigned());
          bool isUnsigned = std::is_same_v<T, int64_t> && op.getIsUnsigned();
          if (best < 0 || (isUnsigned ? static_cast<uint64_t>(now) > static_cast<uint64_t>(before)
                                      : now > before || (now != now && before == before)))
            best = look;
        }
        int64_t to = plane * s.count() + place;
        if (best < 0)
          return call.error("looks for an extreme among no elements");
        y->data[to] = x.data[plane * s.size() + best];
        // Column-major: the first spatial dimension is the innermost.
        int64_t flat = best;
        if (op.getColumnMajor()) {
          int64_t k = best % s.extent[2], j = best / s.extent[2] % s.extent[1],
                  i = best / s.extent[2] / s.extent[1];
          flat = (k * s.extent[1] + j) * s.extent[0] + i;
        }
        put(*indices, to, plane * s.size() + flat);
      }
    return success();
  });
}

static LogicalResult runMaxUnpool(Call &call, MaxUnpoolOp op) {
  const Elements &x = call[op.getX()], &indices = call[op.getIndices()];
  if (x.shape != indices.shape)
    return call.mismatch(x.shape, indices.shape);
  Shape from(op.getFrom());
  Elements *y = call.make(cast<ShapedType>(op.getY().getType()).getShape());
  if (!y)
    return failure();
  for (int64_t i = 0, count = x.size(); i < count; ++i) {
    int64_t flat = integerAt(indices, i), rest = flat;
    Shape index(from.size());
    for (size_t d = from.size(); d-- > 0; rest /= from[d])
      index[d] = rest % from[d];
    int64_t to = flat < 0 || rest != 0 ? -1 : y->linear(index);
    if (to < 0)
      return call.error("index " + Twine(flat) + " is out of bounds of a tensor with extents " +
                        formatIndex(y->shape));
    y->data[to] = x.data[i];
  }
  return success();
}

static LogicalResult runLrn(Call &call, LrnOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  double alpha = op.getAlpha().convertToDouble(), beta = op.getBeta().convertToDouble(),
         bias = op.getBias().convertToDouble();
  int64_t size = op.getSize(), before = (size - 1) / 2, after = size - 1 - before;
  Axis split(x.shape, 1);
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t e = 0; e < split.extent; ++e)
      for (int64_t i = 0; i < split.inner; ++i) {
        double sum = 0;
        for (int64_t k = std::max<int64_t>(0, e - before); k <= std::min(split.extent - 1, e + after); ++k) {
          double neighbour = numberAt(x, split.position(o, k, i));
          sum += neighbour * neighbour;
        }
        int64_t p = split.position(o, e, i);
        put(*y, p, numberAt(x, p) / std::pow(bias + alpha / static_cast<double>(size) * sum, beta));
      }
  return success();
}

static LogicalResult runColumnsToImage(Call &call, ColumnsToImageOp op) {
  const Elements &x = call[op.getX()];
  auto type = cast<ShapedType>(op.getY().getType());
  if (failed(checkSpatial(call, type.getRank() - 2)))
    return failure();
  SmallVector<Window> windows = makeWindows(op.getKernel(), op.getStrides(), op.getPads(), op.getDilations());
  Shape shape(type.getShape());
  Spatial s(ArrayRef(shape).drop_front(2), windows);
  shape[0] = x.shape[0];
  shape[1] = x.shape[1] / s.taps();
  if (x.shape[2] != s.count() || x.shape[1] % s.taps())
    return call.mismatch(x.shape, shape);
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  return withNumbers(x, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> sums(y->size());
    for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane)
      for (int64_t tap = 0; tap < s.taps(); ++tap)
        for (int64_t place = 0; place < s.count(); ++place)
          if (int64_t look = s.look(place, tap); look >= 0) {
            T &sum = sums[plane * s.size() + look];
            sum = multiplyAdd(at<T>(x, (plane * s.taps() + tap) * s.count() + place), T(1), sum);
          }
    putAll(*y, sums);
    return success();
  });
}

void oracle::addNnWindow(HandlerTable &table) {
  addNnOp<PoolOp, runPool>(table);
  addNnOp<MaxPoolIndicesOp, runMaxPoolIndices>(table);
  addNnOp<MaxUnpoolOp, runMaxUnpool>(table);
  addNnOp<LrnOp, runLrn>(table);
  addNnOp<ColumnsToImageOp, runColumnsToImage>(table);
}
