// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements at places that other elements name.
#include "tessera/oracle/nn/Nn.h"

using namespace tessera;
using namespace tessera::oracle;
using namespace tessera::nn;

// An index into `extent` elements, negative ones from the end; an error when there is no such element.
static LogicalResult readIndex(const Call &call, const Elements &indices, int64_t i, int64_t extent,
                               int64_t &index) {
  int64_t given = integerAt(indices, i);
  index = given < 0 ? given + extent : given;
  if (index < 0 || index >= extent)
    return call.error("index " + Twine(given) + " is out of bounds of a dimension with " + Twine(extent) +
                      " elements");
  return success();
}

static LogicalResult runGather(Call &call, GatherOp op) {
  const Elements &x = call[op.getX()], &indices = call[op.getIndices()];
  int64_t axis = op.getAxis();
  Axis split(x.shape, axis);
  Shape shape(ArrayRef(x.shape).take_front(axis));
  llvm::append_range(shape, indices.shape);
  llvm::append_range(shape, ArrayRef(x.shape).drop_front(axis + 1));
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  int64_t to = 0;
  for (int64_t o = 0; o < split.outer; ++o)
    for (int64_t i = 0, count = indices.size(); i < count; ++i, to += split.inner) {
      int64_t e;
      if (failed(readIndex(call, indices, i, split.extent, e)))
        return failure();
      std::copy_n(x.data.begin() + split.position(o, e, 0), split.inner, y->data.begin() + to);
    }
  return success();
}

// The position in x that the element i of `indices` names along the axis.
static LogicalResult elementPosition(const Call &call, const Elements &x, const Elements &indices,
                                     int64_t axis, ArrayRef<int64_t> index, int64_t i, int64_t &position) {
  Shape place(index);
  if (failed(readIndex(call, indices, i, x.shape[axis], place[axis])))
    return failure();
  position = x.linear(place);
  return position < 0 ? call.mismatch(x.shape, indices.shape) : success();
}

static LogicalResult runGatherElements(Call &call, GatherElementsOp op) {
  const Elements &x = call[op.getX()], &indices = call[op.getIndices()];
  Elements *y = call.make(indices.shape);
  if (!y)
    return failure();
  Shape index(indices.shape.size());
  for (int64_t i = 0, count = indices.size(); i < count; ++i, nextIndex(index, indices.shape)) {
    int64_t position;
    if (failed(elementPosition(call, x, indices, op.getAxis(), index, i, position)))
      return failure();
    y->data[i] = x.data[position];
  }
  return success();
}

// The position of the slice of x that tuple `i` of `indices` names behind `batch` dimensions, in slices.
static LogicalResult slicePosition(const Call &call, const Elements &x, const Elements &indices, int64_t i,
                                   int64_t batch, int64_t start, int64_t &position) {
  int64_t tuple = indices.shape.back();
  position = start;
  for (int64_t k = 0; k < tuple; ++k) {
    int64_t e;
    if (failed(readIndex(call, indices, i * tuple + k, x.shape[batch + k], e)))
      return failure();
    position = position * x.shape[batch + k] + e;
  }
  return success();
}

static LogicalResult runGatherNd(Call &call, GatherNdOp op) {
  const Elements &x = call[op.getX()], &indices = call[op.getIndices()];
  int64_t batch = op.getBatchDims(), tuple = indices.shape.back();
  ArrayRef<int64_t> inner = ArrayRef(x.shape).drop_front(batch + tuple);
  Shape shape(ArrayRef(indices.shape).drop_back());
  llvm::append_range(shape, inner);
  for (int64_t d = 0; d < batch; ++d)
    if (x.shape[d] != indices.shape[d])
      return call.mismatch(x.shape, indices.shape);
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  int64_t size = countElements(inner), tuples = countElements(ArrayRef(indices.shape).drop_back());
  int64_t batches = countElements(ArrayRef(x.shape).take_front(batch));
  for (int64_t i = 0; i < tuples; ++i) {
    int64_t position;
    if (failed(slicePosition(call, x, indices, i, batch, i / (tuples / batches), position)))
      return failure();
    std::copy_n(x.data.begin() + position * size, size, y->data.begin() + i * size);
  }
  return success();
}

// What becomes of an element of y that an update meets.
static void update(Elements &y, int64_t to, const Elements &updates, int64_t from, ScatterKind kind,
                   bool isUnsigned) {
  if (kind == ScatterKind::set) {
    y.data[to] = updates.data[from];
    return;
  }
  withNumbers(y, [&](auto zero) {
    using T = decltype(zero);
    T old = at<T>(y, to, isUnsigned), now = at<T>(updates, from, isUnsigned);
    bool isLess = old < now;
    if constexpr (std::is_same_v<T, int64_t>)
      if (isUnsigned)
        isLess = static_cast<uint64_t>(old) < static_cast<uint64_t>(now);
    if (kind == ScatterKind::add)
      put(y, to, multiplyAdd(old, T(1), now));
    else if (kind == ScatterKind::mul)
      put(y, to, multiplyAdd(old, now, T(0)));
    else if (now != now || (old == old && isLess == (kind == ScatterKind::max)))
      put(y, to, now);
  });
}

static LogicalResult runScatterElements(Call &call, ScatterElementsOp op) {
  const Elements &x = call[op.getX()], &indices = call[op.getIndices()], &updates = call[op.getUpdates()];
  if (indices.shape != updates.shape)
    return call.mismatch(indices.shape, updates.shape);
  if (failed(call.reuse(x, x.shape)))
    return failure();
  Elements &y = call.x.out(call.inst).elements();
  Shape index(indices.shape.size());
  for (int64_t i = 0, count = indices.size(); i < count; ++i, nextIndex(index, indices.shape)) {
    int64_t position;
    if (failed(elementPosition(call, y, indices, op.getAxis(), index, i, position)))
      return failure();
    update(y, position, updates, i, op.getKind(), op.getIsUnsigned());
  }
  return success();
}

static LogicalResult runScatterNd(Call &call, ScatterNdOp op) {
  const Elements &x = call[op.getX()], &indices = call[op.getIndices()], &updates = call[op.getUpdates()];
  Shape expected(ArrayRef(indices.shape).drop_back());
  llvm::append_range(expected, ArrayRef(x.shape).drop_front(indices.shape.back()));
  if (updates.shape != expected)
    return call.mismatch(updates.shape, expected);
  if (failed(call.reuse(x, x.shape)))
    return failure();
  Elements &y = call.x.out(call.inst).elements();
  int64_t size = countElements(ArrayRef(x.shape).drop_front(indices.shape.back()));
  for (int64_t i = 0, tuples = countElements(ArrayRef(indices.shape).drop_back()); i < tuples; ++i) {
    int64_t position;
    if (failed(slicePosition(call, y, indices, i, 0, 0, position)))
      return failure();
    for (int64_t e = 0; e < size; ++e)
      update(y, position * size + e, updates, i * size + e, op.getKind(), op.getIsUnsigned());
  }
  return success();
}

static LogicalResult runOneHot(Call &call, OneHotOp op) {
  const Elements &indices = call[op.getIndices()], &values = call[op.getValues()];
  int64_t depth = op.getDepth();
  Shape shape = indices.shape;
  shape.insert(shape.begin() + op.getAxis(), depth);
  Elements *y = call.make(shape);
  if (!y)
    return failure();
  std::fill(y->data.begin(), y->data.end(), values.data[0]);
  Axis split(shape, op.getAxis());
  for (int64_t i = 0, count = indices.size(); i < count; ++i) {
    int64_t hot = integerAt(indices, i);
    hot = hot < 0 ? hot + depth : hot;
    if (hot >= 0 && hot < depth)
      y->data[split.position(i / split.inner, hot, i % split.inner)] = values.data[1];
  }
  return success();
}

void oracle::addNnGather(HandlerTable &table) {
  addNnOp<GatherOp, runGather>(table);
  addNnOp<GatherElementsOp, runGatherElements>(table);
  addNnOp<GatherNdOp, runGatherNd>(table);
  addNnOp<ScatterElementsOp, runScatterElements>(table);
  addNnOp<ScatterNdOp, runScatterNd>(table);
  addNnOp<OneHotOp, runOneHot>(table);
}
