// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builders of NodeContext: one for each operation of `nn` that many conversions use.
#include "tessera/base/Check.h"
#include "tessera/frontends/onnx/Importer.h"

using namespace tessera;
using namespace tessera::onnximport;

RankedTensorType NodeContext::typeFor(ArrayRef<Ext> shape, Type element) {
  SmallVector<int64_t> sizes(llvm::map_range(shape, [](const Ext &e) { return e.size; }));
  for (int64_t size : sizes)
    if (size < 0 && !ShapedType::isDynamic(size))
      return fail("an extent is negative: " + Twine(size)), RankedTensorType();
  auto type = RankedTensorType::get(sizes, element);
  return sane(type) ? type : RankedTensorType();
}

static SmallVector<Value> dynamicOf(ArrayRef<Ext> shape) {
  SmallVector<Value> values;
  for (const Ext &e : shape)
    if (!e.isStatic())
      values.push_back(e.value);
  return values;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value NodeContext::constant(DataType type, ArrayRef<int64_t> dims, ArrayRef<double> values) {
  Known known;
  known.type = type;
  known.dims.assign(dims.begin(), dims.end());
  for (double value : values) {
    Scalar s;
    if (isFloat(type))
      s.f = value;
    else
      s.i = static_cast<int64_t>(value);
    known.elements.push_back(s);
  }
  return importer.materialise(importer.fromKnown(std::move(known)), this);
}

Value NodeContext::materialise(const Known &known) {
  return importer.materialise(importer.fromKnown(known), this);
}

Value NodeContext::scalar(double value, DataType type) { return constant(type, {}, {value}); }

Value NodeContext::scalar(double value, Type type) {
  if (!type)
    return {};
  auto tensor = RankedTensorType::get({}, type);
  TypedAttr attr;
  if (auto floating = dyn_cast<FloatType>(type))
    attr = DenseElementsAttr::get(tensor, b.getFloatAttr(floating, value));
  else
    attr = DenseElementsAttr::get(tensor, b.getIntegerAttr(type, static_cast<int64_t>(value)));
  return importer.constant(attr, loc);
}

Value NodeContext::constInts(ArrayRef<int64_t> dims, ArrayRef<int64_t> values, DataType type) {
  Known known;
  known.type = type;
  known.dims.assign(dims.begin(), dims.end());
  for (int64_t value : values)
    known.elements.push_back({value, double(value), {}});
  return importer.materialise(importer.fromKnown(std::move(known)), this);
}
Value NodeContext::constInts(ArrayRef<int64_t> values, DataType type) {
  return constInts({int64_t(values.size())}, values, type);
}

Value NodeContext::full(ArrayRef<Ext> shape, double value, DataType type) {
  return broadcast(scalar(value, type), shape);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

Value NodeContext::unary(nn::UnaryKind kind, Value x, bool isUnsigned) {
  return x ? one<nn::UnaryOp>(kind, x, isUnsigned) : Value();
}
Value NodeContext::activation(nn::ActivationKind kind, Value x, double alpha, double beta, bool isUnsigned) {
  return x ? one<nn::ActivationOp>(kind, x, llvm::APFloat(alpha), llvm::APFloat(beta), isUnsigned) : Value();
}
Value NodeContext::binary(nn::BinaryKind kind, Value a, Value b, bool isUnsigned) {
  return a && b ? one<nn::BinaryOp>(kind, a, b, isUnsigned) : Value();
}
Value NodeContext::select(Value condition, Value a, Value b) {
  return condition && a && b ? one<nn::SelectOp>(condition, a, b) : Value();
}

Value NodeContext::castTo(Value x, DataType from, DataType to, bool saturate, StringRef round) {
  if (!x || bad || from == to)
    return x;
  Type element = elem(to);
  if (!element)
    return fail("casts to " + Twine(std::string(::tessera::onnx::dataTypeName(to))) + " are not supported"),
           Value();
  nn::Format f = format(from), t = format(to);
  bool plain = f == nn::Format::plain && t == nn::Format::plain;
  if (plain && element == elem(x))
    return x;
  return nn::CastOp::create(b, loc, tt(x).clone(element), x, f, t, !saturate, round);
}
Value NodeContext::castFloat(Value x, Type to) {
  if (!x || bad || elem(x) == to)
    return x;
  return nn::CastOp::create(b, loc, tt(x).clone(to), x, nn::Format::plain, nn::Format::plain, false,
                            "nearest");
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Value NodeContext::reshape(Value x, ArrayRef<Ext> shape) {
  if (!x || bad)
    return {};
  RankedTensorType type = typeFor(shape, elem(x));
  if (!type)
    return {};
  if (type == x.getType() && type.hasStaticShape())
    return x;
  if (type.hasStaticShape() && allStatic(x) && type.getNumElements() != tt(x).getNumElements())
    return fail("cannot reshape " + Twine(tt(x).getNumElements()) + " elements to " +
                Twine(type.getNumElements())),
           Value();
  return nn::ReshapeOp::create(b, loc, type, x, dynamicOf(shape));
}

Value NodeContext::transpose(Value x, ArrayRef<int64_t> permutation) {
  if (!x)
    return {};
  bool identity = true;
  for (auto [i, p] : llvm::enumerate(permutation))
    identity &= int64_t(i) == p;
  return identity ? x : one<nn::TransposeOp>(x, permutation);
}
Value NodeContext::swapInner(Value x) {
  if (!x)
    return {};
  TESSERA_CHECK(rank(x) >= 2) << "node '" << node.name << "' swaps two of " << rank(x) << " dimensions";
  Ints permutation = range(0, rank(x));
  std::swap(permutation[rank(x) - 1], permutation[rank(x) - 2]);
  return transpose(x, permutation);
}

Value NodeContext::broadcast(Value x, ArrayRef<Ext> shape) {
  if (!x || bad)
    return {};
  RankedTensorType type = typeFor(shape, elem(x));
  if (!type)
    return {};
  if (type == x.getType() && type.hasStaticShape())
    return x;
  int64_t offset = type.getRank() - rank(x);
  for (int64_t i = 0; i < rank(x); ++i) {
    int64_t from = tt(x).getDimSize(i), to = offset < 0 ? 0 : type.getDimSize(offset + i);
    if (offset < 0 ||
        (from != 1 && !ShapedType::isDynamic(from) && !ShapedType::isDynamic(to) && from != to)) {
      std::string text;
      llvm::raw_string_ostream(text) << x.getType() << " to " << type;
      return fail("cannot broadcast " + Twine(text)), Value();
    }
  }
  return nn::BroadcastOp::create(b, loc, type, x, dynamicOf(shape));
}

Value NodeContext::concat(ArrayRef<Value> values, int64_t axis) {
  if (llvm::any_of(values, [](Value v) { return !v; }))
    return {};
  return values.size() == 1 ? values[0] : one<nn::ConcatOp>(ValueRange(values), uint64_t(axis));
}

Value NodeContext::slice(Value x, int64_t axis, int64_t start, int64_t size, int64_t step) {
  if (!x || bad)
    return {};
  int64_t extent = dim(x, axis);
  if (bad)
    return {};
  // Of a dynamic extent only what lies at its beginning is known to be there.
  if (ShapedType::isDynamic(extent))
    extent = step > 0 && start >= 0 ? std::numeric_limits<int64_t>::max() : 0;
  int64_t last = start + (size - 1) * step;
  if (size < 0 || (size > 0 && (start < 0 || start >= extent || last < 0 || last >= extent)))
    return fail("a slice reaches beyond its tensor"), Value();
  if (start == 0 && size == extent && step == 1)
    return x;
  Ints starts(rank(x), 0), steps(rank(x), 1);
  SmallVector<int64_t> shape(tt(x).getShape());
  starts[axis] = size ? start : 0;
  steps[axis] = step;
  shape[axis] = size;
  return nn::SliceOp::create(b, loc, RankedTensorType::get(shape, elem(x)), x, starts, steps);
}

Value NodeContext::part(Value x, int64_t axis, Ext start, Ext size) {
  if (!x || bad)
    return {};
  Exts whole = exts(x);
  if (start.is(0) && same(size, whole[axis]))
    return x;
  SmallVector<OpFoldResult> offsets(rank(x), b.getIndexAttr(0)), sizes, strides(rank(x), b.getIndexAttr(1));
  auto fold = [&](const Ext &e) -> OpFoldResult {
    return e.isStatic() ? OpFoldResult(b.getIndexAttr(e.size)) : OpFoldResult(e.value);
  };
  for (const Ext &e : whole)
    sizes.push_back(fold(e));
  offsets[axis] = fold(start);
  sizes[axis] = fold(size);
  return tensor::ExtractSliceOp::create(b, loc, x, offsets, sizes, strides);
}

Value NodeContext::pad(Value x, ArrayRef<int64_t> lows, ArrayRef<int64_t> highs, Value value,
                       nn::PadMode mode) {
  if (!x)
    return {};
  auto zero = [](int64_t n) { return n == 0; };
  if (llvm::all_of(lows, zero) && llvm::all_of(highs, zero))
    return x;
  return one<nn::PadOp>(mode, x, value, lows, highs);
}

Value NodeContext::gather(Value x, Value indices, int64_t axis) {
  return x && indices ? one<nn::GatherOp>(x, indices, uint64_t(axis)) : Value();
}

Value NodeContext::iota(Ext n, DataType type, double start, double step) {
  RankedTensorType result = typeFor({n}, elem(type));
  Value from = scalar(start, type), by = scalar(step, type);
  if (!result || bad)
    return {};
  return nn::IotaOp::create(b, loc, result, from, by, uint64_t(0), dynamicOf({n}));
}

Value NodeContext::number(Ext e) {
  Known known;
  known.type = DataType::I64;
  known.elements.push_back({e.isStatic() ? e.size : 0, 0, e.value});
  return materialise(known);
}
Value NodeContext::places(Ext n, Ext start, int64_t step) {
  RankedTensorType result = typeFor({n}, elem(DataType::I64));
  Value from = number(start), by = number(Ext(step));
  if (!result || bad)
    return {};
  return nn::IotaOp::create(b, loc, result, from, by, uint64_t(0), dynamicOf({n}));
}

Value NodeContext::unsqueeze(Value x, ArrayRef<int64_t> axes) {
  if (!x)
    return {};
  Exts shape, old = exts(x);
  size_t next = 0;
  for (int64_t i = 0, n = rank(x) + axes.size(); i < n; ++i)
    shape.push_back(llvm::is_contained(axes, i) ? Ext(1) : next < old.size() ? old[next++] : Ext(1));
  return reshape(x, shape);
}
Value NodeContext::squeeze(Value x, ArrayRef<int64_t> axes) {
  if (!x)
    return {};
  Exts shape;
  for (int64_t i = 0; i < rank(x); ++i) {
    if (!llvm::is_contained(axes, i))
      shape.push_back(ext(x, i));
    else if (dim(x, i) != 1 && !ShapedType::isDynamic(dim(x, i)))
      return fail("cannot squeeze dimension " + Twine(i) + " of extent " + Twine(dim(x, i))), Value();
  }
  return reshape(x, shape);
}
Value NodeContext::collapse(Value x, int64_t from, int64_t to) {
  if (!x)
    return {};
  Exts shape;
  for (int64_t i = 0; i < from; ++i)
    shape.push_back(ext(x, i));
  shape.push_back(product(x, from, to));
  for (int64_t i = to; i < rank(x); ++i)
    shape.push_back(ext(x, i));
  return reshape(x, shape);
}
Value NodeContext::lead(Value x, int64_t to) {
  if (!x || rank(x) >= to)
    return x;
  Ints axes = range(0, to - rank(x));
  return unsqueeze(x, axes);
}
Value NodeContext::along(Value vector, int64_t axis, int64_t to) {
  if (!vector)
    return {};
  if (rank(vector) == 0)
    return vector;
  if (rank(vector) != 1)
    return fail("expected a vector, but got " + Twine(rank(vector)) + " dimensions"), Value();
  Exts shape(to - axis, Ext(1));
  shape[0] = ext(vector, 0);
  return reshape(vector, shape);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Value NodeContext::reduce(nn::ReduceKind kind, Value x, ArrayRef<int64_t> axes, bool keep, bool isUnsigned) {
  return x ? one<nn::ReduceOp>(kind, x, axes, keep, isUnsigned) : Value();
}
Value NodeContext::matmul(Value a, Value b, bool transposeA, bool transposeB) {
  return a && b ? one<nn::MatmulOp>(a, b, transposeA, transposeB) : Value();
}
Value NodeContext::softmax(Value x, int64_t axis, bool log) {
  return x ? one<nn::SoftmaxOp>(x, uint64_t(axis), log) : Value();
}
