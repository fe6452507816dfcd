// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of products: matrix products and convolutions.
#include "tessera/oracle/nn/Nn.h"

#include "tessera/oracle/nn/Bilinear.h"
#include "tessera/oracle/nn/Knobs.h"

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static LogicalResult runMatmul(Call &call, MatmulOp op) {
  if (!knobOf(op).isExact())
    return runKnobMatmul(call, op);
  const Elements &a = call[op.getA()], &b = call[op.getB()];
  ArrayRef<int64_t> p = a.shape, q = b.shape;
  int64_t rows = p[p.size() - 2], inner = p.back(), innerB = q[q.size() - 2], columns = q.back();
  if (op.getTransposeA())
    std::swap(rows, inner);
  if (op.getTransposeB())
    std::swap(innerB, columns);
  if (inner != innerB)
    return call.mismatch(p, q);
  FailureOr<SmallVector<int64_t>> lead = broadcastShapes(p.drop_back(2), q.drop_back(2));
  if (failed(lead))
    return call.mismatch(p, q);
  Shape shape(lead->begin(), lead->end());
  shape.append({rows, columns});
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  int64_t stepA = op.getTransposeA() ? 1 : inner, stepAK = op.getTransposeA() ? rows : 1;
  int64_t stepB = op.getTransposeB() ? inner : 1, stepBK = op.getTransposeB() ? 1 : columns;
  return withNumbers(a, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> left = numbers<T>(a), right = numbers<T>(b), row(columns);
    Walk walk(*lead, {broadcastStrides(p.drop_back(2), *lead), broadcastStrides(q.drop_back(2), *lead)});
    int64_t to = 0;
    for (int64_t batch = 0, batches = countElements(*lead); batch < batches; ++batch, walk.next())
      for (int64_t i = 0; i < rows; ++i) {
        std::fill(row.begin(), row.end(), T(0));
        for (int64_t k = 0; k < inner; ++k) {
          T factor = left[walk[0] * rows * inner + i * stepA + k * stepAK];
          const T *other = right.data() + walk[1] * inner * columns + k * stepBK;
          for (int64_t j = 0; j < columns; ++j)
            row[j] = multiplyAdd(factor, other[j * stepB], row[j]);
        }
        for (T value : row)
          put(*y, to++, value);
      }
    return success();
  });
}

static LogicalResult runEinsum(Call &call, EinsumOp op) {
  Einsum einsum = *parseEinsum(op.getEquation());
  std::map<char, int64_t> extents;
  SmallVector<const Elements *> inputs;
  for (auto [value, labels] : llvm::zip(op.getInputs(), einsum.operands)) {
    const Elements &input = call[value];
    inputs.push_back(&input);
    std::map<char, int64_t> own;
    for (auto [label, extent] : llvm::zip(labels, input.shape)) {
      // There is no diagonal of what is broadcast.
      if (int64_t first = own.try_emplace(label, extent).first->second; first != extent)
        return call.mismatch({first}, {extent});
      int64_t &common = extents.try_emplace(label, 1).first->second;
      if (common != 1 && extent != 1 && common != extent)
        return call.mismatch(inputs[0]->shape, input.shape);
      common = common == 1 ? extent : common;
    }
  }
  // All labels as dimensions, those of the result first.
  std::string labels = einsum.result.str();
  for (auto [label, extent] : extents)
    if (!einsum.result.contains(label))
      labels += label;
  Shape all, shape;
  for (char label : labels)
    all.push_back(extents[label]);
  shape.assign(all.begin(), all.begin() + einsum.result.size());
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  // A label that an operand repeats walks its diagonal: the strides add up.
  SmallVector<Shape> strides;
  for (auto [input, own] : llvm::zip(inputs, einsum.operands)) {
    Shape dense = denseStrides(input->shape);
    strides.emplace_back(labels.size(), 0);
    for (auto [d, label] : llvm::enumerate(own))
      if (input->shape[d] != 1)
        strides.back()[labels.find(label)] += dense[d];
  }
  return withNumbers(*inputs[0], [&](auto zero) {
    using T = decltype(zero);
    Shape index(labels.size());
    int64_t inner = countElements(ArrayRef(all).drop_front(shape.size()));
    for (int64_t i = 0, count = y->size(); i < count; ++i) {
      T sum = 0;
      for (int64_t k = 0; k < inner; ++k, nextIndex(index, all)) {
        T product = 1;
        for (auto [input, stride] : llvm::zip(inputs, strides)) {
          int64_t position = 0;
          for (size_t d = 0; d < index.size(); ++d)
            position += index[d] * stride[d];
          product = multiplyAdd(product, at<T>(*input, position), T(0));
        }
        sum = multiplyAdd(product, T(1), sum);
      }
      put(*y, i, sum);
    }
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static LogicalResult runConv(Call &call, ConvOp op) {
  if (!knobOf(op).isExact())
    return runKnobConv(call, op);
  const Elements &x = call[op.getX()], &w = call[op.getW()], *bias = call.find(op.getBias());
  ArrayRef<int64_t> spatial = ArrayRef(x.shape).drop_front(2);
  SmallVector<Window> windows =
      makeWindows(ArrayRef(w.shape).drop_front(2), op.getStrides(), op.getPads(), op.getDilations());
  if (failed(checkWindows(call, spatial, windows)))
    return failure();
  Shape shape = {x.shape[0], w.shape[0]};
  for (auto [extent, window] : llvm::zip(spatial, windows))
    shape.push_back(window.places(extent));
  int64_t groups = op.getGroups(), channels = w.shape[1], features = w.shape[0];
  if (channels * groups != x.shape[1] || features % groups || (bias && bias->size() != features))
    return call.mismatch(x.shape, w.shape);
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  Spatial s(spatial, windows);
  return withNumbers(x, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> in = numbers<T>(x), weights = numbers<T>(w), sums(s.count());
    std::vector<int64_t> looks(s.taps() * s.count());
    for (int64_t tap = 0; tap < s.taps(); ++tap)
      for (int64_t place = 0; place < s.count(); ++place)
        looks[tap * s.count() + place] = s.look(place, tap);
    for (int64_t n = 0; n < x.shape[0]; ++n)
      for (int64_t f = 0; f < features; ++f) {
        std::fill(sums.begin(), sums.end(), bias ? at<T>(*bias, f) : T(0));
        int64_t first = f / (features / groups) * channels;
        for (int64_t c = 0; c < channels; ++c) {
          const T *plane = in.data() + (n * x.shape[1] + first + c) * s.size();
          for (int64_t tap = 0; tap < s.taps(); ++tap) {
            T weight = weights[(f * channels + c) * s.taps() + tap];
            const int64_t *look = looks.data() + tap * s.count();
            for (int64_t place = 0; place < s.count(); ++place)
              if (look[place] >= 0)
                sums[place] = multiplyAdd(weight, plane[look[place]], sums[place]);
          }
        }
        for (int64_t place = 0; place < s.count(); ++place)
          put(*y, (n * features + f) * s.count() + place, sums[place]);
      }
    return success();
  });
}

// Each element of x is spread over the window that it would have come from: the result's extents are the
// operand's of the convolution that this is the transpose of.
static LogicalResult runConvTranspose(Call &call, ConvTransposeOp op) {
  const Elements &x = call[op.getX()], &w = call[op.getW()], *bias = call.find(op.getBias());
  ArrayRef<int64_t> spatial = ArrayRef(x.shape).drop_front(2);
  if (failed(checkSpatial(call, spatial.size())))
    return failure();
  SmallVector<Window> windows =
      makeWindows(ArrayRef(w.shape).drop_front(2), op.getStrides(), op.getPads(), op.getDilations());
  int64_t groups = op.getGroups(), channels = x.shape[1], each = w.shape[1], features = each * groups;
  if (w.shape[0] != channels || channels % groups || (bias && bias->size() != features))
    return call.mismatch(x.shape, w.shape);
  Shape shape = {x.shape[0], features};
  for (auto [d, extent, window] : llvm::enumerate(spatial, windows))
    shape.push_back((extent - 1) * window.stride - window.low - window.high + window.span() +
                    op.getOutputPadding()[d]);
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  Spatial s(ArrayRef(shape).drop_front(2), windows);
  // The places are those of x, whatever would fit beside them.
  std::copy(spatial.begin(), spatial.end(), s.places + 3 - spatial.size());
  return withNumbers(x, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> in = numbers<T>(x), weights = numbers<T>(w), sums(y->size());
    for (int64_t n = 0; n < x.shape[0]; ++n)
      for (int64_t f = 0; f < features; ++f) {
        T *plane = sums.data() + (n * features + f) * s.size();
        std::fill(plane, plane + s.size(), bias ? at<T>(*bias, f) : T(0));
        int64_t group = f / each;
        for (int64_t c = group * (channels / groups); c < (group + 1) * (channels / groups); ++c)
          for (int64_t tap = 0; tap < s.taps(); ++tap) {
            T weight = weights[(c * each + f % each) * s.taps() + tap];
            for (int64_t place = 0; place < s.count(); ++place)
              if (int64_t look = s.look(place, tap); look >= 0)
                plane[look] = multiplyAdd(weight, in[(n * channels + c) * s.count() + place], plane[look]);
          }
      }
    putAll(*y, sums);
    return success();
  });
}

static LogicalResult runDeformConv(Call &call, DeformConvOp op) {
  const Elements &x = call[op.getX()], &w = call[op.getW()], &offset = call[op.getOffset()];
  const Elements *bias = call.find(op.getBias()), *mask = call.find(op.getMask());
  SmallVector<Window> windows =
      makeWindows(ArrayRef(w.shape).drop_front(2), op.getStrides(), op.getPads(), op.getDilations());
  int64_t height = x.shape[2], width = x.shape[3], rows = windows[0].places(height),
          columns = windows[1].places(width);
  int64_t taps = w.shape[2] * w.shape[3], features = w.shape[0], channels = w.shape[1];
  int64_t groups = op.getGroups(), offsetGroups = op.getOffsetGroups();
  Shape moves = {x.shape[0], offsetGroups * taps * 2, rows, columns};
  Shape masks = {x.shape[0], offsetGroups * taps, rows, columns};
  if (channels * groups != x.shape[1] || features % groups || x.shape[1] % offsetGroups)
    return call.mismatch(x.shape, w.shape);
  if (offset.shape != moves || (mask && mask->shape != masks))
    return call.mismatch(offset.shape, moves);
  Elements *y = call.make({x.shape[0], features, rows, columns});
  if (!y)
    return failure();
  std::vector<double> in = numbers<double>(x);
  int64_t to = 0;
  for (int64_t n = 0; n < x.shape[0]; ++n)
    for (int64_t f = 0; f < features; ++f)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          double sum = bias ? numberAt(*bias, f) : 0;
          for (int64_t c = 0; c < channels; ++c) {
            int64_t channel = f / (features / groups) * channels + c;
            int64_t group = channel / (x.shape[1] / offsetGroups);
            const double *plane = in.data() + (n * x.shape[1] + channel) * height * width;
            for (int64_t tap = 0; tap < taps; ++tap) {
              int64_t m = group * taps + tap;
              double moveY = numberAt(offset, offset.linear({n, 2 * m, i, j}));
              double moveX = numberAt(offset, offset.linear({n, 2 * m + 1, i, j}));
              double py = static_cast<double>(i * windows[0].stride - windows[0].low +
                                              tap / w.shape[3] * windows[0].dilation) +
                          moveY;
              double px = static_cast<double>(j * windows[1].stride - windows[1].low +
                                              tap % w.shape[3] * windows[1].dilation) +
                          moveX;
              double weight = numberAt(w, (f * channels + c) * taps + tap);
              if (mask)
                weight *= numberAt(*mask, mask->linear({n, m, i, j}));
              sum += weight * sampleZeros(plane, height, width, py, px);
            }
          }
          put(*y, to++, sum);
        }
  return success();
}

void oracle::addNnContract(HandlerTable &table) {
  addNnOp<MatmulOp, runMatmul>(table);
  addNnOp<EinsumOp, runEinsum>(table);
  addNnOp<ConvOp, runConv>(table);
  addNnOp<ConvTransposeOp, runConvTranspose>(table);
  addNnOp<DeformConvOp, runDeformConv>(table);
}
