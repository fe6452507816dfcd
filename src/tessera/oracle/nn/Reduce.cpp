// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, prefixes, extremes, order and softmax.
#include "tessera/oracle/nn/Nn.h"

#include "tessera/oracle/nn/Fold.h"
#include "tessera/oracle/nn/Knobs.h"

#include <numeric>

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;

static LogicalResult runReduce(Call &call, ReduceOp op) {
  const Elements &x = call[op.getX()];
  Shape kept, shape;
  for (auto [d, extent] : llvm::enumerate(x.shape)) {
    bool isGone = llvm::is_contained(op.getAxes(), static_cast<int64_t>(d));
    kept.push_back(isGone ? 1 : extent);
    if (!isGone || op.getKeep())
      shape.push_back(kept.back());
  }
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  Knob knob = knobOf(op);
  return withNumbers(x, [&](auto zero) {
    using T = decltype(zero);
    bool isUnsigned = op.getIsUnsigned() || x.info.width == 1;
    std::vector<Fold<T>> folds(y->size(), Fold<T>(op.getKind(), isUnsigned, x.info.width));
    // The exponentials of log_sum_exp are taken relative to the largest, which needs a pass of its own.
    for (int pass = 0; pass < Fold<T>::passes(op.getKind()); ++pass) {
      Walk walk(x.shape, {broadcastStrides(kept, x.shape)});
      for (int64_t i = 0, count = x.size(); i < count; ++i, walk.next())
        if (knob.isExact() || !isLeftOut(knob, walk.getIndex()[op.getAxes()[0]]))
          folds[walk[0]].add(at<T>(x, i, isUnsigned), pass);
    }
    double scale = 1;
    if (!knob.isExact()) {
      int64_t all = x.shape[op.getAxes()[0]], kept = 0;
      for (int64_t i = 0; i < all; ++i)
        kept += !isLeftOut(knob, i);
      scale = sampleScale(op.getKind(), all, kept);
    }
    for (int64_t i = 0, count = y->size(); i < count; ++i)
      if (T value = folds[i].finish(); scale == 1)
        put(*y, i, value);
      else
        put(*y, i, scale * static_cast<double>(value));
    return success();
  });
}

// a comes before b in the order of the extreme that is looked for. NaN comes first.
template <typename T> static bool precedes(T a, T b, bool isSmallest, bool isUnsigned) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && !std::isnan(b);
  } else if (isUnsigned) {
    return isSmallest ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b)
                      : static_cast<uint64_t>(a) > static_cast<uint64_t>(b);
  }
  return isSmallest ? a < b : a > b;
}

static LogicalResult runArgReduce(Call &call, ArgReduceOp op) {
  const Elements &x = call[op.getX()];
  int64_t axis = op.getAxis();
  Axis split(x.shape, axis);
  Shape shape = x.shape;
  if (op.getKeep())
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + axis);
  if (split.extent == 0)
    return call.error("looks for an extreme among no elements");
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  return withNumbers(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t o = 0; o < split.outer; ++o)
      for (int64_t i = 0; i < split.inner; ++i) {
        int64_t best = 0;
        for (int64_t e = 1; e < split.extent; ++e) {
          T now = at<T>(x, split.position(o, e, i), op.getIsUnsigned());
          T before = at<T>(x, split.position(o, best, i), op.getIsUnsigned());
          if (precedes(now, before, op.getMin(), op.getIsUnsigned()) ||
              (op.getLast() && !precedes(before, now, op.getMin(), op.getIsUnsigned())))
            best = e;
        }
        put(*y, o * split.inner + i, best);
      }
    return success();
  });
}

static LogicalResult runCumulative(Call &call, CumulativeOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  Axis split(x.shape, op.getAxis());
  bool isSum = op.getKind() == ReduceKind::sum;
  return withNumbers(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t o = 0; o < split.outer; ++o)
      for (int64_t i = 0; i < split.inner; ++i) {
        T running = isSum ? 0 : 1;
        for (int64_t e = 0; e < split.extent; ++e) {
          int64_t p = split.position(o, op.getReverse() ? split.extent - 1 - e : e, i);
          T now = at<T>(x, p);
          if (op.getExclusive())
            put(*y, p, running);
          running = isSum ? multiplyAdd(now, T(1), running) : multiplyAdd(running, now, T(0));
          if (!op.getExclusive())
            put(*y, p, running);
        }
      }
    return success();
  });
}

static LogicalResult runTopK(Call &call, TopKOp op) {
  const Elements &x = call[op.getX()];
  int64_t axis = op.getAxis(), k = op.getK();
  Axis from(x.shape, axis);
  if (k > from.extent)
    return call.error("asks for " + Twine(k) + " of " + Twine(from.extent) + " elements");
  Shape shape = x.shape;
  shape[axis] = k;
  Axis to(shape, axis);
  Elements *values = call.make(shape, 0), *indices = values ? call.make(shape, 1) : nullptr;
  if (!indices)
    return failure();
  return withNumbers(x, [&](auto zero) {
    using T = decltype(zero);
    std::vector<int64_t> order(from.extent);
    for (int64_t o = 0; o < from.outer; ++o)
      for (int64_t i = 0; i < from.inner; ++i) {
        std::iota(order.begin(), order.end(), 0);
        auto value = [&](int64_t e) { return at<T>(x, from.position(o, e, i), op.getIsUnsigned()); };
        llvm::sort(order, [&](int64_t p, int64_t q) {
          bool isFirst = precedes(value(p), value(q), op.getSmallest(), op.getIsUnsigned());
          return isFirst || (p < q && !precedes(value(q), value(p), op.getSmallest(), op.getIsUnsigned()));
        });
        for (int64_t e = 0; e < k; ++e) {
          values->data[to.position(o, e, i)] = x.data[from.position(o, order[e], i)];
          put(*indices, to.position(o, e, i), order[e]);
        }
      }
    return success();
  });
}

static LogicalResult runSoftmax(Call &call, SoftmaxOp op) {
  const Elements &x = call[op.getX()];
  Elements *y = call.make(x.shape);
  if (!y)
    return failure();
  Axis split(x.shape, op.getAxis());
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t i = 0; i < split.inner; ++i) {
      double most = -HUGE_VAL, sum = 0;
      for (int64_t e = 0; e < split.extent; ++e)
        most = largest(most, numberAt(x, split.position(o, e, i)));
      for (int64_t e = 0; e < split.extent; ++e)
        sum += std::exp(numberAt(x, split.position(o, e, i)) - most);
      for (int64_t e = 0; e < split.extent; ++e) {
        int64_t p = split.position(o, e, i);
        double relative = numberAt(x, p) - most;
        put(*y, p, op.getLog() ? relative - std::log(sum) : std::exp(relative) / sum);
      }
    }
  return success();
}

void oracle::addNnReduce(HandlerTable &table) {
  addNnOp<ReduceOp, runReduce>(table);
  addNnOp<ArgReduceOp, runArgReduce>(table);
  addNnOp<CumulativeOp, runCumulative>(table);
  addNnOp<TopKOp, runTopK>(table);
  addNnOp<SoftmaxOp, runSoftmax>(table);
}
