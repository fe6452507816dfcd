// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensor dialect. Tensors are values: an operation that changes one takes the elements when it is their
// last user, and copies them otherwise. Elements of `tensor.empty` are undefined until they are written.
#include "tessera/oracle/Tensors.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace tessera;
using namespace tessera::oracle;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

LogicalResult Slice::read(Exec &x, const Inst &inst, ArrayRef<int64_t> staticOffsets,
                          ArrayRef<int64_t> staticSizes, ArrayRef<int64_t> staticStrides, unsigned first) {
  if (failed(x.mixed(inst, staticOffsets, first, offsets)) ||
      failed(x.mixed(inst, staticSizes, first, sizes)) ||
      failed(x.mixed(inst, staticStrides, first, strides)))
    return failure();
  return success();
}

LogicalResult Slice::check(Exec &x, const Inst &inst, ArrayRef<int64_t> shape) const {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (sizes[d] < 0)
      return x.error(inst, "makes a negative extent in " + formatIndex(sizes));
    int64_t last = offsets[d] + (sizes[d] - 1) * strides[d];
    if (sizes[d] > 0 && (offsets[d] < 0 || offsets[d] >= shape[d] || last < 0 || last >= shape[d]))
      return x.error(inst, "takes the slice " + formatIndex(offsets) + formatIndex(sizes) +
                               formatIndex(strides) + ", which leaves the extents " + formatIndex(shape));
  }
  return success();
}

LogicalResult Slice::forEach(ArrayRef<int64_t> shape, function_ref<LogicalResult(int64_t)> f) const {
  if (llvm::is_contained(sizes, 0))
    return success();
  SmallVector<int64_t, 4> dense = denseStrides(shape), at(sizes.size());
  do {
    int64_t position = 0;
    for (size_t d = 0; d < at.size(); ++d)
      position += (offsets[d] + at[d] * strides[d]) * dense[d];
    if (failed(f(position)))
      return failure();
  } while (nextIndex(at, sizes));
  return success();
}

// Drops extents of one, as a rank-reducing slice does, to fit the type.
SmallVector<int64_t, 4> oracle::slicedShape(ShapedType type, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t, 4> shape;
  size_t drop = sizes.size() - type.getRank();
  for (int64_t size : sizes) {
    bool fits = shape.size() < static_cast<size_t>(type.getRank()) &&
                (type.isDynamicDim(shape.size()) || type.getDimSize(shape.size()) == size);
    if (size == 1 && drop > 0 && (!fits || type.isDynamicDim(shape.size()))) {
      --drop;
      continue;
    }
    shape.push_back(size);
  }
  // Only ones may be left over.
  while (shape.size() > static_cast<size_t>(type.getRank()))
    shape.erase(llvm::find(shape, 1));
  return shape;
}

LogicalResult oracle::checkType(Exec &x, const Inst &inst, Type type, ArrayRef<int64_t> shape) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return success();
  bool fits = shaped.getRank() == static_cast<int64_t>(shape.size());
  for (size_t d = 0; fits && d < shape.size(); ++d)
    fits = shaped.isDynamicDim(d) || shaped.getDimSize(d) == shape[d];
  if (fits)
    return success();
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return x.error(inst, "expected extents of '" + text + "', but got " + formatIndex(shape));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static LogicalResult extract(Exec &x, const Inst &inst) {
  const Val &source = x.in(inst, 0);
  if (source.isUndef())
    return x.undefined(inst);
  const Elements &elements = source.elements();
  int64_t index[8];
  unsigned rank = inst.in.size() - 1;
  if (rank > 8)
    return x.error(inst, "has more than 8 indices");
  for (unsigned d = 0; d < rank; ++d)
    if (failed(x.index(inst, d + 1, index[d])))
      return failure();
  int64_t at = elements.linear(ArrayRef(index, rank));
  if (at < 0)
    return x.checkBounds(inst, ArrayRef(index, rank), elements.shape, "tensor");
  if (!elements.isDefined(at))
    return x.error(inst, "reads element " + formatIndex(ArrayRef(index, rank)) +
                             " of a tensor before it was written");
  if (elements.info.isWide())
    x.out(inst) = elements.load(at);
  else
    x.out(inst).setScalar(elements.data[at]);
  return success();
}

static LogicalResult insert(Exec &x, const Inst &inst) {
  Val value = x.in(inst, 0), target = x.take(inst, 1);
  if (value.isUndef() || target.isUndef())
    return x.undefined(inst);
  SmallVector<int64_t, 4> index;
  if (failed(x.indices(inst, 2, inst.in.size() - 2, index)))
    return failure();
  Elements &elements = mutate(target);
  int64_t at = elements.linear(index);
  if (at < 0)
    return x.checkBounds(inst, index, elements.shape, "tensor");
  elements.store(at, value);
  x.out(inst) = std::move(target);
  return success();
}

static LogicalResult dim(Exec &x, const Inst &inst) {
  int64_t d;
  if (failed(x.index(inst, 1, d)))
    return failure();
  const Val &source = x.in(inst, 0);
  if (source.isUndef())
    return x.undefined(inst);
  ArrayRef<int64_t> shape = source.getTag() == Val::Memory ? ArrayRef<int64_t>(source.memory().sizes)
                                                           : ArrayRef<int64_t>(source.elements().shape);
  if (d < 0 || d >= static_cast<int64_t>(shape.size()))
    return x.error(inst, "asks for dimension " + Twine(d) + " of " + Twine(shape.size()));
  x.out(inst).setScalar(shape[d]);
  return success();
}

static LogicalResult rank(Exec &x, const Inst &inst) {
  const Val &source = x.in(inst, 0);
  if (source.isUndef())
    return x.undefined(inst);
  x.out(inst) = Val::index(source.getTag() == Val::Memory ? source.memory().sizes.size()
                                                          : source.elements().shape.size());
  return success();
}

// The result type's extents, the dynamic ones from the operands.
static LogicalResult resultShape(Exec &x, const Inst &inst, unsigned first, SmallVectorImpl<int64_t> &shape) {
  return x.mixed(inst, cast<ShapedType>(inst.op->getResult(0).getType()).getShape(), first, shape);
}

static LogicalResult empty(Exec &x, const Inst &inst) {
  SmallVector<int64_t, 4> shape;
  if (failed(resultShape(x, inst, 0, shape)))
    return failure();
  return x.allocate(inst, inst.resultInfo, shape, x.out(inst), /*isDefined=*/false);
}

static LogicalResult splat(Exec &x, const Inst &inst) {
  SmallVector<int64_t, 4> shape;
  Val result;
  if (failed(resultShape(x, inst, 1, shape)) ||
      failed(x.allocate(inst, inst.resultInfo, shape, result, /*isDefined=*/true)))
    return failure();
  Elements &elements = result.elements();
  for (int64_t e = 0, count = elements.size(); e < count; ++e)
    elements.store(e, x.in(inst, 0));
  x.out(inst) = std::move(result);
  return success();
}

static LogicalResult fromElements(Exec &x, const Inst &inst) {
  auto type = cast<ShapedType>(inst.op->getResult(0).getType());
  Ref<Elements> elements = new Elements(inst.resultInfo, type.getShape());
  for (unsigned i = 0; i < inst.in.size(); ++i)
    elements->store(i, x.in(inst, i));
  x.out(inst) = Val::of(elements.get());
  return success();
}

static LogicalResult generate(Exec &x, const Inst &inst) {
  SmallVector<int64_t, 4> shape;
  Val result;
  if (failed(resultShape(x, inst, 0, shape)) ||
      failed(x.allocate(inst, inst.resultInfo, shape, result, /*isDefined=*/true)))
    return failure();
  Elements &elements = result.elements();
  SmallVector<int64_t, 4> index(shape.size());
  Vals args, yielded;
  for (int64_t e = 0, count = elements.size(); e < count; ++e) {
    args.clear();
    for (int64_t i : index)
      args.push_back(Val::index(i));
    if (failed(x.run(inst.regions[0], args, yielded)))
      return failure();
    elements.store(e, yielded.front());
    nextIndex(index, shape);
  }
  x.out(inst) = std::move(result);
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static LogicalResult cast(Exec &x, const Inst &inst) {
  const Val &source = x.in(inst, 0);
  if (!source.isUndef() &&
      failed(checkType(x, inst, inst.op->getResult(0).getType(), source.elements().shape)))
    return failure();
  x.out(inst) = source;
  return success();
}

// The same elements in row-major order under other extents.
static LogicalResult reshapeTo(Exec &x, const Inst &inst, ArrayRef<int64_t> shape) {
  Val value = x.take(inst, 0);
  if (value.isUndef())
    return x.undefined(inst);
  if (llvm::any_of(shape, [](int64_t extent) { return extent < 0; }) ||
      countElements(shape) != value.elements().size())
    return x.error(inst, "reshapes " + formatIndex(value.elements().shape) + " to " + formatIndex(shape) +
                             ", which has another number of elements");
  mutate(value).shape.assign(shape.begin(), shape.end());
  x.out(inst) = std::move(value);
  return success();
}

static LogicalResult expand(Exec &x, const Inst &inst) {
  unsigned first = 1;
  SmallVector<int64_t, 4> shape;
  if (failed(x.mixed(inst, mlir::cast<tensor::ExpandShapeOp>(inst.op).getStaticOutputShape(), first, shape)))
    return failure();
  const Val &source = x.in(inst, 0);
  if (source.isUndef())
    return x.undefined(inst);
  // Each group must make up the extent it came from.
  for (auto [d, group] :
       llvm::enumerate(mlir::cast<tensor::ExpandShapeOp>(inst.op).getReassociationIndices())) {
    int64_t product = 1;
    for (int64_t g : group)
      product *= shape[g];
    if (product != source.elements().shape[d])
      return x.error(inst, "expands extent " + Twine(source.elements().shape[d]) + " to " + Twine(product));
  }
  return reshapeTo(x, inst, shape);
}

static LogicalResult collapse(Exec &x, const Inst &inst) {
  const Val &source = x.in(inst, 0);
  if (source.isUndef())
    return x.undefined(inst);
  SmallVector<int64_t, 4> shape;
  for (ArrayRef<int64_t> group : mlir::cast<tensor::CollapseShapeOp>(inst.op).getReassociationIndices()) {
    int64_t product = 1;
    for (int64_t g : group)
      product *= source.elements().shape[g];
    shape.push_back(product);
  }
  return reshapeTo(x, inst, shape);
}

static LogicalResult reshape(Exec &x, const Inst &inst) {
  const Elements &extents = x.in(inst, 1).elements();
  SmallVector<int64_t, 4> shape;
  for (int64_t e = 0; e < extents.size(); ++e)
    shape.push_back(extents.load(e).getInt(extents.info.width).getSExtValue());
  return reshapeTo(x, inst, shape);
}

static LogicalResult extractSlice(Exec &x, const Inst &inst) {
  auto op = mlir::cast<tensor::ExtractSliceOp>(inst.op);
  const Val &source = x.in(inst, 0);
  if (source.isUndef())
    return x.undefined(inst);
  const Elements &from = source.elements();
  Slice slice;
  Val result;
  if (failed(slice.read(x, inst, op.getStaticOffsets(), op.getStaticSizes(), op.getStaticStrides(), 1)) ||
      failed(slice.check(x, inst, from.shape)) ||
      failed(x.allocate(inst, inst.resultInfo, slicedShape(op.getType(), slice.sizes), result,
                        /*isDefined=*/true)))
    return failure();
  Elements &to = result.elements();
  int64_t e = 0;
  (void)slice.forEach(from.shape, [&](int64_t at) {
    to.copyElement(e++, from, at);
    return success();
  });
  x.out(inst) = std::move(result);
  return success();
}

static LogicalResult insertSlice(Exec &x, const Inst &inst) {
  auto op = mlir::cast<tensor::InsertSliceOp>(inst.op);
  Val source = x.in(inst, 0), target = x.take(inst, 1);
  if (source.isUndef() || target.isUndef())
    return x.undefined(inst);
  const Elements &from = source.elements();
  Elements &to = mutate(target);
  Slice slice;
  if (failed(slice.read(x, inst, op.getStaticOffsets(), op.getStaticSizes(), op.getStaticStrides(), 2)) ||
      failed(slice.check(x, inst, to.shape)))
    return failure();
  if (countElements(slice.sizes) != from.size())
    return x.error(inst, "expected " + Twine(countElements(slice.sizes)) + " elements, but got " +
                             Twine(from.size()));
  int64_t e = 0;
  (void)slice.forEach(to.shape, [&](int64_t at) {
    to.copyElement(at, from, e++);
    return success();
  });
  x.out(inst) = std::move(target);
  return success();
}

static LogicalResult pad(Exec &x, const Inst &inst) {
  auto op = mlir::cast<tensor::PadOp>(inst.op);
  const Val &source = x.in(inst, 0);
  if (source.isUndef())
    return x.undefined(inst);
  const Elements &from = source.elements();
  unsigned first = 1;
  SmallVector<int64_t, 4> low, high, shape(from.shape);
  if (failed(x.mixed(inst, op.getStaticLow(), first, low)) ||
      failed(x.mixed(inst, op.getStaticHigh(), first, high)))
    return failure();
  for (size_t d = 0; d < shape.size(); ++d) {
    if (low[d] < 0 || high[d] < 0)
      return x.error(inst, "pads by a negative number of elements");
    shape[d] += low[d] + high[d];
  }
  Val result;
  if (failed(x.allocate(inst, inst.resultInfo, shape, result, /*isDefined=*/true)))
    return failure();
  Elements &to = result.elements();
  SmallVector<int64_t, 4> index(shape.size()), inner(shape.size());
  Vals args, yielded;
  for (int64_t e = 0, count = to.size(); e < count; ++e, nextIndex(index, shape)) {
    for (size_t d = 0; d < shape.size(); ++d)
      inner[d] = index[d] - low[d];
    int64_t at = from.linear(inner);
    if (at >= 0) {
      to.copyElement(e, from, at);
      continue;
    }
    args.clear();
    for (int64_t i : index)
      args.push_back(Val::index(i));
    if (failed(x.run(inst.regions[0], args, yielded)))
      return failure();
    to.store(e, yielded.front());
  }
  x.out(inst) = std::move(result);
  return success();
}

static LogicalResult concat(Exec &x, const Inst &inst) {
  int64_t along = mlir::cast<tensor::ConcatOp>(inst.op).getDim();
  SmallVector<int64_t, 4> shape;
  for (unsigned i = 0; i < inst.in.size(); ++i) {
    if (x.in(inst, i).isUndef())
      return x.undefined(inst);
    ArrayRef<int64_t> part = x.in(inst, i).elements().shape;
    if (i == 0) {
      shape.assign(part.begin(), part.end());
      continue;
    }
    for (size_t d = 0; d < shape.size(); ++d)
      if (static_cast<int64_t>(d) != along && shape[d] != part[d])
        return x.error(inst, "joins extents " + formatIndex(shape) + " and " + formatIndex(part));
    shape[along] += part[along];
  }
  Val result;
  if (failed(x.allocate(inst, inst.resultInfo, shape, result, /*isDefined=*/true)))
    return failure();
  Elements &to = result.elements();
  Slice slice;
  slice.offsets.assign(shape.size(), 0);
  slice.strides.assign(shape.size(), 1);
  for (unsigned i = 0; i < inst.in.size(); ++i) {
    const Elements &from = x.in(inst, i).elements();
    slice.sizes = from.shape;
    int64_t e = 0;
    (void)slice.forEach(shape, [&](int64_t at) {
      to.copyElement(at, from, e++);
      return success();
    });
    slice.offsets[along] += from.shape[along];
  }
  x.out(inst) = std::move(result);
  return success();
}

// Slices of the source at coordinates that the last dimension of the indices holds.
static LogicalResult gather(Exec &x, const Inst &inst) {
  auto op = mlir::cast<tensor::GatherOp>(inst.op);
  if (x.in(inst, 0).isUndef() || x.in(inst, 1).isUndef())
    return x.undefined(inst);
  const Elements &from = x.in(inst, 0).elements(), &where = x.in(inst, 1).elements();
  ArrayRef<int64_t> dims = op.getGatherDims();
  Slice slice;
  slice.offsets.assign(from.shape.size(), 0);
  slice.strides.assign(from.shape.size(), 1);
  slice.sizes = from.shape;
  for (int64_t d : dims)
    slice.sizes[d] = 1;
  auto type = mlir::cast<ShapedType>(inst.op->getResult(0).getType());
  SmallVector<int64_t, 4> shape(ArrayRef<int64_t>(where.shape).drop_back());
  bool isReduced = type.getRank() < static_cast<int64_t>(shape.size() + from.shape.size());
  for (size_t d = 0; d < from.shape.size(); ++d)
    if (!isReduced || !llvm::is_contained(dims, static_cast<int64_t>(d)))
      shape.push_back(slice.sizes[d]);
  Val result;
  if (failed(x.allocate(inst, inst.resultInfo, shape, result, /*isDefined=*/true)))
    return failure();
  Elements &to = result.elements();
  int64_t e = 0, depth = dims.size();
  for (int64_t row = 0; depth && row < where.size() / depth; ++row) {
    for (int64_t k = 0; k < depth; ++k) {
      Val coordinate = where.load(row * depth + k);
      if (coordinate.isUndef())
        return x.undefined(inst);
      slice.offsets[dims[k]] = coordinate.getInt(where.info.width).getSExtValue();
    }
    if (failed(slice.check(x, inst, from.shape)))
      return failure();
    (void)slice.forEach(from.shape, [&](int64_t at) {
      to.copyElement(e++, from, at);
      return success();
    });
  }
  x.out(inst) = std::move(result);
  return success();
}

void oracle::addTensor(HandlerTable &table) {
  table.add("tensor.extract", extract);
  table.add("tensor.insert", insert);
  table.add("tensor.dim", dim);
  table.add("tensor.rank", rank);
  table.add("memref.dim", dim);
  table.add("memref.rank", rank);
  table.add("tensor.empty", empty);
  table.add("tensor.splat", splat);
  table.add("tensor.from_elements", fromElements);
  table.add("vector.from_elements", fromElements);
  table.add("tensor.generate", generate);
  table.add("tensor.cast", cast);
  table.add("tensor.expand_shape", expand);
  table.add("tensor.collapse_shape", collapse);
  table.add("tensor.reshape", reshape);
  table.add("tensor.extract_slice", extractSlice);
  table.add("tensor.insert_slice", insertSlice);
  table.add("tensor.pad", pad);
  table.add("tensor.concat", concat);
  table.add("tensor.gather", gather);
}
