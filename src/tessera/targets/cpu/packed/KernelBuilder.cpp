// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See KernelBuilder.h; Output.cpp has the stores.
#include "tessera/targets/cpu/packed/KernelBuilder.h"

#include "tessera/base/Check.h"
#include "tessera/ir/nn/NnExtents.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

//===----------------------------------------------------------------------===//
// Loops and numbers
//===----------------------------------------------------------------------===//

Value Gen::splat(Type type, double v) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = isa<FloatType>(element) ? TypedAttr(b.getFloatAttr(element, v))
                                           : TypedAttr(b.getIntegerAttr(element, static_cast<int64_t>(v)));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, cast<Attribute>(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

SmallVector<Value> Gen::loop(Value from, Value to, int64_t step, ValueRange init, Body body) {
  std::optional<int64_t> lo = getConstantIntValue(from), hi = getConstantIntValue(to);
  if (lo && hi && *hi <= *lo)
    return SmallVector<Value>(init);
  if (lo && hi && *hi - *lo <= step)
    return body(from, init);
  auto loop = scf::ForOp::create(b, loc, from, to, index(step), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty()) {
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, loc, next);
  }
  return SmallVector<Value>(loop.getResults());
}

void Gen::each(Value from, Value to, int64_t step, function_ref<void(Value)> body) {
  loop(from, to, step, {}, [&](Value iv, ValueRange) {
    body(iv);
    return SmallVector<Value>();
  });
}

void Gen::when(Value condition, function_ref<void()> then) {
  if (matchPattern(condition, m_One()))
    return then();
  if (matchPattern(condition, m_Zero()))
    return;
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  then();
}

void Gen::tasks(ArrayRef<OpFoldResult> extents, function_ref<void(ValueRange)> body) {
  auto forall = scf::ForallOp::create(b, loc, extents, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  body(forall.getInductionVars());
}

void Gen::cover(Value from, Value to, int64_t size, function_ref<void(Value at, int64_t size)> body) {
  Value count = sub(to, from), done = from, one = index(1), none = index(0);
  for (int64_t each = size; each; each /= 2) {
    Value left = sub(to, done), tiles = div(left, each);
    if (each > 1) {
      // What is left may overlap what is there, if that is large enough.
      Value overlaps = both(less(index(each / 2), rem(left, each)), less(index(each - 1), count));
      tiles = add(tiles, b.createOrFold<arith::SelectOp>(loc, overlaps, one, none));
    }
    Value last = sub(to, each), end = add(done, mul(tiles, each));
    this->each(done, end, each, [&](Value at) { body(each > 1 ? min(at, last) : at, each); });
    done = min(end, to);
  }
}

void Gen::tasks(int64_t split, Value images, int64_t channels, OpFoldResult parts,
                function_ref<void(Value image, Value channel, Value part)> body) {
  OpFoldResult n = getAsOpFoldResult(images), f = b.getIndexAttr(channels), r = parts;
  if (split == 1)
    tasks({f, n, r}, [&](ValueRange ids) { body(ids[1], ids[0], ids[2]); });
  else if (split == 2)
    tasks({n, f, r}, [&](ValueRange ids) { body(ids[0], ids[1], ids[2]); });
  else
    tasks({n, r, f}, [&](ValueRange ids) { body(ids[0], ids[2], ids[1]); });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t Memory::stride(unsigned dim) const {
  int64_t stride = 1;
  for (int64_t extent : ArrayRef(shape).drop_front(dim + 1)) {
    TESSERA_CHECK(!ShapedType::isDynamic(extent)) << "a stride over an open extent";
    stride *= extent;
  }
  return stride;
}

Value Memory::extent(Gen &g, unsigned dim) const {
  return ShapedType::isDynamic(shape[dim]) ? extents[dim] : g.index(shape[dim]);
}

Value Memory::strideAt(Gen &g, unsigned dim) const {
  int64_t known = 1;
  Value open;
  for (unsigned d = dim + 1; d < shape.size(); ++d) {
    if (!ShapedType::isDynamic(shape[d]))
      known *= shape[d];
    else
      open = open ? g.mul(open, extents[d]) : extents[d];
  }
  return open ? g.mul(open, known) : g.index(known);
}

Value Memory::offset(Gen &g, ValueRange at) const {
  Value sum = g.index(0);
  for (auto [d, v] : llvm::enumerate(at)) {
    bool known = llvm::none_of(ArrayRef(shape).drop_front(d + 1), ShapedType::isDynamic);
    sum = g.add(sum, known ? g.mul(v, stride(d)) : g.mul(v, strideAt(g, d)));
  }
  return sum;
}

Cursor packed::cursorAt(Gen &g, const Memory &memory, Value offset) {
  // The extent says how far distances may go, not how much memory there is.
  auto type = cast<MemRefType>(memory.buffer.getType());
  bool open = memory.isOpen();
  int64_t extent = open ? ShapedType::kDynamic : std::max<int64_t>(memory.stride(0), 1);
  OpFoldResult size = open ? OpFoldResult(memory.strideAt(g, 0)) : g.b.getIndexAttr(extent);
  auto view = MemRefType::get({extent}, type.getElementType(),
                              StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, {1}));
  Value v = memref::ReinterpretCastOp::create(g.b, g.loc, view, memory.buffer, OpFoldResult(offset),
                                              SmallVector<OpFoldResult>{size},
                                              SmallVector<OpFoldResult>{g.b.getIndexAttr(1)});
  return {v};
}
Cursor packed::cursorAt(Gen &g, const Memory &memory, ValueRange at) {
  return cursorAt(g, memory, memory.offset(g, at));
}

Value Cursor::load(Gen &g, int64_t distance, int64_t lanes) const {
  Type element = cast<MemRefType>(view.getType()).getElementType();
  return vector::LoadOp::create(g.b, g.loc, vectorOf(element, lanes), view, ValueRange{g.index(distance)});
}
Value Cursor::scalar(Gen &g, int64_t distance) const {
  return memref::LoadOp::create(g.b, g.loc, view, ValueRange{g.index(distance)});
}
void Cursor::store(Gen &g, Value v, int64_t distance) const {
  vector::StoreOp::create(g.b, g.loc, v, view, ValueRange{g.index(distance)});
}

Memory packed::allocate(Gen &g, ArrayRef<int64_t> shape, Type element, Value first, ArrayRef<Value> extents) {
  SmallVector<Value> dynamic;
  if (ShapedType::isDynamic(shape.front()))
    dynamic.push_back(first);
  for (Value extent : extents)
    if (extent)
      dynamic.push_back(extent);
  Value buffer = memref::AllocOp::create(g.b, g.loc, MemRefType::get(shape, element), dynamic,
                                         g.b.getI64IntegerAttr(64));
  return {buffer, SmallVector<int64_t>(shape), SmallVector<Value>(extents)};
}

Value packed::batchOf(Gen &g, const Memory &memory) {
  if (!ShapedType::isDynamic(memory.shape.front()))
    return g.index(memory.shape.front());
  return memref::DimOp::create(g.b, g.loc, memory.buffer, 0);
}

Value packed::extentOf(Gen &g, Value buffer, int64_t dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return g.index(type.getDimSize(dim));
  return memref::DimOp::create(g.b, g.loc, buffer, dim);
}

static Value skipCasts(Value tensor) {
  while (auto cast = tensor.getDefiningOp<tensor::CastOp>())
    tensor = cast.getSource();
  return tensor;
}

Input packed::inputOf(RewriterBase &rewriter, Value tensor) {
  Input input;
  RankedTensorType type = typeOf(tensor);
  tensor = skipCasts(tensor);
  while (auto crop = tensor.getDefiningOp<CropOp>()) {
    input.top += crop.getPads()[0];
    input.left += crop.getPads()[1];
    for (int64_t d : {0, 1})
      input.cropped[d] += crop.getPads()[d] + crop.getPads()[d + 2];
    tensor = skipCasts(crop.getX());
    type = typeOf(crop.getX());
  }
  if (auto known = tensor.getDefiningOp<bufferization::ToTensorOp>()) {
    input.memory.buffer = known.getBuffer();
  } else {
    auto buffer = MemRefType::get(typeOf(tensor).getShape(), type.getElementType());
    input.memory.buffer =
        bufferization::ToBufferOp::create(rewriter, tensor.getLoc(), buffer, tensor, /*readOnly=*/true);
  }
  input.memory.shape.assign(type.getShape().begin(), type.getShape().end());
  if (input.memory.isOpen())
    for (int64_t d = 0; d < type.getRank(); ++d)
      input.memory.extents.push_back(d && type.isDynamicDim(d) ? rewriter.createOrFold<memref::DimOp>(
                                                                     tensor.getLoc(), input.memory.buffer, d)
                                                               : Value());
  return input;
}

Value packed::placesOf(Gen &g, Operation *op, const Input &x, unsigned dim) {
  std::optional<ExtentRule> rule = ruleOfExtent(op, dim);
  TESSERA_CHECK(rule) << op->getName().getStringRef().str() << " has no rows and columns";
  Value extent = dim == 2 ? x.rows(g) : x.columns(g);
  return g.add(g.div(g.add(extent, rule->add), rule->divisor), rule->offset);
}

// Operations that compute one element from one: of networks as they are, and as they are lowered.
static bool isByElement(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getNumParallelLoops() == generic.getNumLoops() && generic.getNumResults() == 1;
  auto nnOp = dyn_cast<NnOp>(op);
  return isa<tensor::CastOp>(op) || (nnOp && nnOp.getOpClass() == OpClass::Elementwise);
}

Operation *packed::findReader(Operation *op, Value &v) {
  for (v = op->getResult(0);;) {
    Operation *reader = nullptr;
    for (Operation *user : v.getUsers()) {
      if (isa<tensor::DimOp>(user) || user == reader)
        continue;
      if (reader || user->getBlock() != op->getBlock())
        return nullptr;
      reader = user;
    }
    if (!reader || !isByElement(reader) || reader->getNumResults() != 1)
      return reader;
    v = reader->getResult(0);
  }
}
