// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations.
#include "tessera/oracle/nn/Nn.h"

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;

static LogicalResult runBatchNorm(Call &call, BatchNormOp op) {
  const Elements &x = call[op.getX()], &scale = call[op.getScale()], &bias = call[op.getBias()];
  const Elements &mean = call[op.getMean()], &variance = call[op.getVariance()];
  Axis split(x.shape, 1);
  for (const Elements *vector : {&scale, &bias, &mean, &variance})
    if (vector->size() != split.extent)
      return call.mismatch(x.shape, vector->shape);
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  double epsilon = op.getEpsilon().convertToDouble();
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t c = 0; c < split.extent; ++c) {
      double factor = numberAt(scale, c) / std::sqrt(numberAt(variance, c) + epsilon);
      for (int64_t i = 0; i < split.inner; ++i) {
        int64_t p = split.position(o, c, i);
        put(*y, p, factor * (numberAt(x, p) - numberAt(mean, c)) + numberAt(bias, c));
      }
    }
  return success();
}

namespace {
struct Statistics {
  double mean = 0, inverse = 0;
};
} // namespace

// Of elements [first, first + count).
static Statistics measure(const Elements &x, int64_t first, int64_t count, double epsilon, bool isRms) {
  Statistics s;
  double squares = 0;
  if (!isRms)
    for (int64_t i = 0; i < count; ++i)
      s.mean += numberAt(x, first + i) / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    double off = numberAt(x, first + i) - s.mean;
    squares += off * off;
  }
  s.inverse = 1 / std::sqrt(squares / static_cast<double>(count) + epsilon);
  return s;
}

static LogicalResult runLayerNorm(Call &call, LayerNormOp op) {
  const Elements &x = call[op.getX()], *scale = call.find(op.getScale()), *bias = call.find(op.getBias());
  int64_t axis = op.getAxis(), count = countElements(ArrayRef(x.shape).drop_front(axis));
  Shape outer = x.shape;
  std::fill(outer.begin() + axis, outer.end(), 1);
  for (const Elements *operand : {scale, bias}) {
    Shape common;
    if (operand && (failed(broadcast(call, {&x, operand}, common)) || common != x.shape))
      return call.mismatch(x.shape, operand->shape);
  }
  Elements *y = call.make(x.shape, 0), *mean = y ? call.make(outer, 1) : nullptr;
  Elements *inverse = mean ? call.make(outer, 2) : nullptr;
  if (!inverse)
    return failure();
  Shape none(x.shape.size(), 0);
  Walk walk(x.shape, {scale ? broadcastStrides(scale->shape, x.shape) : none,
                      bias ? broadcastStrides(bias->shape, x.shape) : none});
  double epsilon = op.getEpsilon().convertToDouble();
  for (int64_t row = 0, rows = mean->size(); row < rows; ++row) {
    Statistics s = measure(x, row * count, count, epsilon, op.getRms());
    put(*mean, row, s.mean);
    put(*inverse, row, s.inverse);
    for (int64_t i = row * count; i < (row + 1) * count; ++i, walk.next())
      put(*y, i,
          (numberAt(x, i) - s.mean) * s.inverse * (scale ? numberAt(*scale, walk[0]) : 1) +
              (bias ? numberAt(*bias, walk[1]) : 0));
  }
  return success();
}

static LogicalResult runGroupNorm(Call &call, GroupNormOp op) {
  const Elements &x = call[op.getX()], &scale = call[op.getScale()], &bias = call[op.getBias()];
  int64_t groups = op.getGroups();
  Axis split(x.shape, 1);
  if (scale.size() != split.extent || bias.size() != split.extent || split.extent % groups)
    return call.mismatch(x.shape, scale.shape);
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  int64_t each = split.extent / groups, count = each * split.inner;
  for (int64_t g = 0; g < split.outer * groups; ++g) {
    Statistics s = measure(x, g * count, count, op.getEpsilon().convertToDouble(), /*isRms=*/false);
    for (int64_t i = 0; i < count; ++i) {
      int64_t channel = g % groups * each + i / split.inner;
      put(*y, g * count + i,
          (numberAt(x, g * count + i) - s.mean) * s.inverse * numberAt(scale, channel) +
              numberAt(bias, channel));
    }
  }
  return success();
}

void oracle::addNnNorm(HandlerTable &table) {
  addNnOp<BatchNormOp, runBatchNorm>(table);
  addNnOp<LayerNormOp, runLayerNorm>(table);
  addNnOp<GroupNormOp, runGroupNorm>(table);
}
