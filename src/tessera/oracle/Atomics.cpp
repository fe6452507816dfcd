// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic updates. They are ordered by when they run; two of them on one element do not race, one with a plain
// access does.
#include "tessera/oracle/Interpreter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace tessera;
using namespace tessera::oracle;

static std::optional<Combine> toCombine(arith::AtomicRMWKind kind) {
  switch (kind) {
  case arith::AtomicRMWKind::addf:
    return Combine::AddF;
  case arith::AtomicRMWKind::addi:
    return Combine::AddI;
  case arith::AtomicRMWKind::mulf:
    return Combine::MulF;
  case arith::AtomicRMWKind::muli:
    return Combine::MulI;
  case arith::AtomicRMWKind::minimumf:
    return Combine::MinimumF;
  case arith::AtomicRMWKind::maximumf:
    return Combine::MaximumF;
  case arith::AtomicRMWKind::minnumf:
    return Combine::MinNumF;
  case arith::AtomicRMWKind::maxnumf:
    return Combine::MaxNumF;
  case arith::AtomicRMWKind::mins:
    return Combine::MinSI;
  case arith::AtomicRMWKind::maxs:
    return Combine::MaxSI;
  case arith::AtomicRMWKind::minu:
    return Combine::MinUI;
  case arith::AtomicRMWKind::maxu:
    return Combine::MaxUI;
  case arith::AtomicRMWKind::andi:
    return Combine::AndI;
  case arith::AtomicRMWKind::ori:
    return Combine::OrI;
  case arith::AtomicRMWKind::xori:
    return Combine::XOrI;
  case arith::AtomicRMWKind::assign:
    return std::nullopt;
  }
  return std::nullopt;
}

// The position and old value of the element that an atomic operation updates.
static LogicalResult readElement(Exec &x, const Inst &inst, const MemRef &view, unsigned first,
                                 int64_t &position, Val &old) {
  SmallVector<int64_t, 4> index;
  if (failed(x.indices(inst, first, inst.in.size() - first, index)) ||
      failed(x.checkBounds(inst, index, view.sizes, "memref")))
    return failure();
  position = view.position(index);
  if (failed(x.touch(inst, view, position, Exec::Touching::Atomic)))
    return failure();
  if (!view.buffer->defined[position])
    return x.error(inst, "reads element " + formatIndex(index) + " of " + view.buffer->name +
                             " before it was written");
  old = view.buffer->load(position);
  return success();
}

static LogicalResult update(Exec &x, const Inst &inst) {
  auto op = cast<memref::AtomicRMWOp>(inst.op);
  const MemRef &view = x.in(inst, 1).memory();
  Val value = x.in(inst, 0), old;
  if (value.isUndef())
    return x.undefined(inst);
  int64_t position;
  if (failed(readElement(x, inst, view, 2, position, old)))
    return failure();
  std::optional<Combine> kind = toCombine(op.getKind());
  view.buffer->store(position, kind ? combineScalars(*kind, view.buffer->info, old, value) : value);
  x.out(inst) = std::move(old);
  return success();
}

static LogicalResult updateGeneric(Exec &x, const Inst &inst) {
  const MemRef &view = x.in(inst, 0).memory();
  Val old;
  int64_t position;
  if (failed(readElement(x, inst, view, 1, position, old)))
    return failure();
  Val args[] = {old};
  Vals results;
  if (failed(x.run(inst.regions[0], args, results)))
    return failure();
  if (results.front().isUndef())
    return x.undefined(inst);
  view.buffer->store(position, results.front());
  x.out(inst) = std::move(old);
  return success();
}

void oracle::addAtomics(HandlerTable &table) {
  table.add("memref.atomic_rmw", update);
  table.add("memref.generic_atomic_rmw", updateGeneric);
}
