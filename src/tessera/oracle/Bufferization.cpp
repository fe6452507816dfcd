// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Between tensors and memory. A tensor taken from memory is a copy of what it holds at that time.
#include "tessera/oracle/Interpreter.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace tessera;
using namespace tessera::oracle;

static LogicalResult toTensor(Exec &x, const Inst &inst) {
  Val elements;
  if (failed(x.loadAll(inst, x.in(inst, 0).memory(), elements)))
    return failure();
  x.out(inst) = std::move(elements);
  return success();
}

static LogicalResult toBuffer(Exec &x, const Inst &inst) {
  if (x.in(inst, 0).isUndef())
    return x.undefined(inst);
  const Elements &elements = x.in(inst, 0).elements();
  Val memory;
  if (failed(x.allocateMemory(inst, elements.info, elements.shape, memory, "a tensor's buffer")) ||
      failed(x.storeAll(inst, memory.memory(), elements)))
    return failure();
  x.out(inst) = std::move(memory);
  return success();
}

static LogicalResult allocTensor(Exec &x, const Inst &inst) {
  auto op = cast<bufferization::AllocTensorOp>(inst.op);
  if (op.getCopy()) {
    x.out(inst) = x.in(inst, op.getDynamicSizes().size());
    return success();
  }
  SmallVector<int64_t, 4> shape;
  unsigned first = 0;
  if (failed(x.mixed(inst, op.getType().getShape(), first, shape)))
    return failure();
  return x.allocate(inst, inst.resultInfo, shape, x.out(inst), /*isDefined=*/false);
}

static LogicalResult clone(Exec &x, const Inst &inst) {
  Val elements, memory;
  const MemRef &source = x.in(inst, 0).memory();
  if (failed(x.loadAll(inst, source, elements)) ||
      failed(x.allocateMemory(inst, source.buffer->info, source.sizes, memory, "a clone")) ||
      failed(x.storeAll(inst, memory.memory(), elements.elements())))
    return failure();
  x.out(inst) = std::move(memory);
  return success();
}

static LogicalResult materialize(Exec &x, const Inst &inst) {
  if (x.in(inst, 0).isUndef())
    return x.undefined(inst);
  if (x.in(inst, 1).getTag() == Val::Memory)
    return x.storeAll(inst, x.in(inst, 1).memory(), x.in(inst, 0).elements());
  x.out(inst) = x.in(inst, 0);
  return success();
}

static LogicalResult ignore(Exec &, const Inst &) { return success(); }

void oracle::addBufferization(HandlerTable &table) {
  table.add("bufferization.to_tensor", toTensor);
  table.add("bufferization.to_buffer", toBuffer);
  table.add("bufferization.alloc_tensor", allocTensor);
  table.add("bufferization.clone", clone);
  table.add("bufferization.materialize_in_destination", materialize);
  table.add("bufferization.dealloc_tensor", ignore);
}
