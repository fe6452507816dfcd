// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memref dialect: allocation, accesses and views. A memref is a reference: views share their buffer.
#include "tessera/oracle/Tensors.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace tessera;
using namespace tessera::oracle;

template <bool isStack> static LogicalResult alloc(Exec &x, const Inst &inst) {
  auto type = cast<MemRefType>(inst.op->getResult(0).getType());
  SmallVector<int64_t, 4> shape;
  unsigned first = 0;
  if (failed(x.mixed(inst, type.getShape(), first, shape)))
    return failure();
  return x.allocateMemory(inst, inst.resultInfo, shape, x.out(inst), isStack ? "an 'alloca'" : "an 'alloc'");
}

static LogicalResult dealloc(Exec &x, const Inst &inst) {
  Buffer &buffer = *x.in(inst, 0).memory().buffer;
  if (buffer.isFreed)
    return x.error(inst, "frees " + Twine(buffer.name) + " a second time");
  buffer.isFreed = true;
  return success();
}

static LogicalResult load(Exec &x, const Inst &inst) {
  SmallVector<int64_t, 4> index;
  if (failed(x.indices(inst, 1, inst.in.size() - 1, index)))
    return failure();
  return x.load(inst, x.in(inst, 0).memory(), index, x.out(inst));
}

static LogicalResult store(Exec &x, const Inst &inst) {
  SmallVector<int64_t, 4> index;
  if (x.in(inst, 0).isUndef())
    return x.undefined(inst);
  if (failed(x.indices(inst, 2, inst.in.size() - 2, index)))
    return failure();
  if (x.capture)
    if (auto number = x.capture->numbers.find(inst.op); number != x.capture->numbers.end()) {
      x.capture->kept[number->second] = {&inst, x.in(inst, 1), x.in(inst, 0), index};
      return success();
    }
  return x.store(inst, x.in(inst, 1).memory(), index, x.in(inst, 0));
}

static LogicalResult copy(Exec &x, const Inst &inst) {
  Val elements;
  if (failed(x.loadAll(inst, x.in(inst, 0).memory(), elements)))
    return failure();
  return x.storeAll(inst, x.in(inst, 1).memory(), elements.elements());
}

static LogicalResult pass(Exec &x, const Inst &inst) {
  x.out(inst) = x.in(inst, 0);
  return success();
}

static LogicalResult ignore(Exec &, const Inst &) { return success(); }

static LogicalResult distinct(Exec &x, const Inst &inst) {
  for (unsigned i = 0; i < inst.in.size(); ++i) {
    for (unsigned k = 0; k < i; ++k)
      if (x.in(inst, i).memory().buffer.get() == x.in(inst, k).memory().buffer.get())
        return x.error(inst, "names one buffer twice");
    x.out(inst, i) = x.in(inst, i);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

// A view of the same buffer with the same rights, to be given its extents.
static MemRef *viewOf(const MemRef &source) {
  auto *view = new MemRef();
  view->buffer = source.buffer;
  view->offset = source.offset;
  view->access = source.access;
  return view;
}

static LogicalResult castView(Exec &x, const Inst &inst) {
  const MemRef &source = x.in(inst, 0).memory();
  Type type = inst.op->getResult(0).getType();
  if (failed(checkType(x, inst, type, source.sizes)))
    return failure();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (auto ranked = dyn_cast<MemRefType>(type);
      ranked && succeeded(ranked.getStridesAndOffset(strides, offset))) {
    bool fits = ShapedType::isDynamic(offset) || offset == source.offset;
    for (size_t d = 0; d < strides.size(); ++d)
      fits &= ShapedType::isDynamic(strides[d]) || strides[d] == source.strides[d] || source.sizes[d] == 1;
    if (!fits)
      return x.error(inst, "casts to a layout that the memory does not have");
  }
  x.out(inst) = x.in(inst, 0);
  return success();
}

static LogicalResult subview(Exec &x, const Inst &inst) {
  auto op = cast<memref::SubViewOp>(inst.op);
  const MemRef &source = x.in(inst, 0).memory();
  Slice slice;
  if (failed(slice.read(x, inst, op.getStaticOffsets(), op.getStaticSizes(), op.getStaticStrides(), 1)) ||
      failed(slice.check(x, inst, source.sizes)))
    return failure();
  Ref<MemRef> view = viewOf(source);
  view->offset = source.position(slice.offsets);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (size_t d = 0; d < slice.sizes.size(); ++d) {
    if (dropped.test(d))
      continue;
    view->sizes.push_back(slice.sizes[d]);
    view->strides.push_back(slice.strides[d] * source.strides[d]);
  }
  x.out(inst) = Val::of(view.get());
  return success();
}

static LogicalResult reinterpret(Exec &x, const Inst &inst) {
  auto op = cast<memref::ReinterpretCastOp>(inst.op);
  Slice slice;
  if (failed(slice.read(x, inst, op.getStaticOffsets(), op.getStaticSizes(), op.getStaticStrides(), 1)))
    return failure();
  Ref<MemRef> view = viewOf(x.in(inst, 0).memory());
  view->offset = slice.offsets[0];
  view->sizes = slice.sizes;
  view->strides = slice.strides;
  x.out(inst) = Val::of(view.get());
  return success();
}

static LogicalResult expand(Exec &x, const Inst &inst) {
  auto op = cast<memref::ExpandShapeOp>(inst.op);
  const MemRef &source = x.in(inst, 0).memory();
  unsigned first = 1;
  SmallVector<int64_t, 4> shape;
  if (failed(x.mixed(inst, op.getStaticOutputShape(), first, shape)))
    return failure();
  Ref<MemRef> view = viewOf(source);
  view->sizes = shape;
  view->strides.resize(shape.size());
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t stride = source.strides[d], product = 1;
    for (int64_t g : llvm::reverse(group)) {
      view->strides[g] = stride;
      stride *= shape[g];
      product *= shape[g];
    }
    if (product != source.sizes[d])
      return x.error(inst, "expands extent " + Twine(source.sizes[d]) + " to " + Twine(product));
  }
  x.out(inst) = Val::of(view.get());
  return success();
}

static LogicalResult collapse(Exec &x, const Inst &inst) {
  const MemRef &source = x.in(inst, 0).memory();
  Ref<MemRef> view = viewOf(source);
  for (ArrayRef<int64_t> group : cast<memref::CollapseShapeOp>(inst.op).getReassociationIndices()) {
    int64_t product = 1, stride = 1;
    bool isFirst = true;
    // Extents of one have any stride; the others must lie one after the other.
    for (int64_t g : llvm::reverse(group)) {
      if (source.sizes[g] != 1) {
        if (isFirst)
          stride = source.strides[g];
        else if (source.strides[g] != stride * product)
          return x.error(inst, "collapses dimensions that are not contiguous");
        isFirst = false;
      }
      product *= source.sizes[g];
    }
    view->sizes.push_back(product);
    view->strides.push_back(stride);
  }
  x.out(inst) = Val::of(view.get());
  return success();
}

static LogicalResult reshape(Exec &x, const Inst &inst) {
  const MemRef &source = x.in(inst, 0).memory();
  const MemRef &extents = x.in(inst, 1).memory();
  Ref<MemRef> view = viewOf(source);
  for (int64_t e = 0; e < extents.sizes[0]; ++e) {
    Val value;
    if (failed(x.load(inst, extents, {e}, value)))
      return failure();
    view->sizes.push_back(value.getInt(extents.buffer->info.width).getSExtValue());
  }
  view->strides = denseStrides(view->sizes);
  if (countElements(view->sizes) != countElements(source.sizes))
    return x.error(inst, "reshapes " + formatIndex(source.sizes) + " to " + formatIndex(view->sizes) +
                             ", which has another number of elements");
  x.out(inst) = Val::of(view.get());
  return success();
}

static LogicalResult transpose(Exec &x, const Inst &inst) {
  const MemRef &source = x.in(inst, 0).memory();
  Ref<MemRef> view = viewOf(source);
  for (AffineExpr expr : cast<memref::TransposeOp>(inst.op).getPermutation().getResults()) {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    view->sizes.push_back(source.sizes[d]);
    view->strides.push_back(source.strides[d]);
  }
  x.out(inst) = Val::of(view.get());
  return success();
}

static LogicalResult metadata(Exec &x, const Inst &inst) {
  const MemRef &source = x.in(inst, 0).memory();
  Ref<MemRef> base = viewOf(source);
  base->offset = 0;
  x.out(inst, 0) = Val::of(base.get());
  x.out(inst, 1) = Val::index(source.offset);
  unsigned rank = source.sizes.size();
  for (unsigned d = 0; d < rank; ++d) {
    x.out(inst, 2 + d) = Val::index(source.sizes[d]);
    x.out(inst, 2 + rank + d) = Val::index(source.strides[d]);
  }
  return success();
}

static LogicalResult global(Exec &x, const Inst &inst) {
  auto op = cast<memref::GetGlobalOp>(inst.op);
  auto symbol = dyn_cast_or_null<memref::GlobalOp>(x.interpreter.lookup(op, op.getNameAttr()));
  if (!symbol)
    return x.error(inst, "names '" + op.getName() + "', which is no global");
  Val &value = x.interpreter.globals[symbol];
  if (value.isUndef()) {
    MemRefType type = symbol.getType();
    if (failed(x.allocateMemory(inst, ElementInfo::get(type), type.getShape(), value,
                                ("global '" + op.getName() + "'").str())))
      return failure();
    Buffer &buffer = *value.memory().buffer;
    // Globals exist before any instance does.
    buffer.level = 0;
    if (auto initial = symbol.getInitialValue(); initial && !isa<UnitAttr>(*initial)) {
      std::optional<Val> content =
          constantValue(*initial, RankedTensorType::get(type.getShape(), type.getElementType()));
      if (!content)
        return x.error(inst, "has an initial value that the oracle cannot represent");
      for (int64_t e = 0; e < buffer.count; ++e)
        buffer.store(e, content->elements().load(e));
    }
    buffer.isConstant = symbol.getConstant();
  }
  x.out(inst) = value;
  return success();
}

void oracle::addMemRef(HandlerTable &table) {
  table.add("memref.alloc", alloc<false>);
  table.add("memref.alloca", alloc<true>);
  table.add("memref.dealloc", dealloc);
  table.add("memref.load", load);
  table.add("memref.store", store);
  table.add("memref.copy", copy);
  table.add("memref.assume_alignment", pass);
  table.add("memref.memory_space_cast", pass);
  table.add("memref.distinct_objects", distinct);
  table.add("memref.prefetch", ignore);
  table.add("memref.cast", castView);
  table.add("memref.subview", subview);
  table.add("memref.reinterpret_cast", reinterpret);
  table.add("memref.expand_shape", expand);
  table.add("memref.collapse_shape", collapse);
  table.add("memref.reshape", reshape);
  table.add("memref.transpose", transpose);
  table.add("memref.extract_strided_metadata", metadata);
  table.add("memref.get_global", global);
}
