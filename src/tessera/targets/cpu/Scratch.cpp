// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of one call of a kernel. Nothing is allocated while a program runs: small buffers are on the stack,
// the others have a place in the scratch that the runtime hands to each call.
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::cpu;

/// Buffers up to this size, in bytes, go on the stack, as long as all of them stay below the second figure.
static constexpr int64_t maxStackBuffer = 16 << 10, maxStack = 128 << 10;
static constexpr int64_t alignment = 64;

// The buffer leaves the region that makes it (a loop swaps it with another): its place cannot be reused by
// the next iteration.
static bool escapes(memref::AllocOp alloc) {
  SmallVector<Value> aliases = {alloc.getResult()};
  for (size_t i = 0; i < aliases.size(); ++i)
    for (Operation *user : aliases[i].getUsers()) {
      if (user->hasTrait<OpTrait::IsTerminator>())
        return true;
      if (isa<ViewLikeOpInterface>(user))
        llvm::append_range(aliases, user->getResults());
    }
  return false;
}

// A copy at the builder's place, in the entry block, of what computes `v` from the kernel's arguments.
static Value computeEarly(OpBuilder &b, Value v, IRMapping &map) {
  if (Value known = map.lookupOrNull(v))
    return known;
  Operation *def = v.getDefiningOp();
  if (!def)
    return v;
  for (Value operand : def->getOperands())
    computeEarly(b, operand, map);
  b.clone(*def, map);
  return map.lookup(v);
}

// A number that `v` never exceeds: a tile at the end of a loop is as large as the others at most.
static std::optional<int64_t> boundOf(Value v) {
  std::optional<int64_t> bound;
  auto take = [&](std::optional<int64_t> n) {
    if (n)
      bound = bound ? std::min(*bound, *n) : *n;
  };
  if (auto least = v.getDefiningOp<affine::AffineMinOp>()) {
    for (AffineExpr expr : least.getMap().getResults())
      if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        take(constant.getValue());
  } else if (auto least = v.getDefiningOp<arith::MinSIOp>()) {
    take(getConstantIntValue(least.getLhs()));
    take(getConstantIntValue(least.getRhs()));
  }
  return bound;
}

// The offset behind a buffer of dynamic size that starts at `at`, rounded up for the next one; computed after
// `at`, before anything else. The plan knows the extents, or `bounds` has what they are at most, so it
// depends on arguments alone.
static Value endOf(OpBuilder &b, memref::AllocOp alloc, Value at, ArrayRef<std::optional<int64_t>> bounds) {
  Location loc = alloc.getLoc();
  if (Operation *def = at.getDefiningOp())
    b.setInsertionPointAfter(def);
  MemRefType type = alloc.getType();
  int64_t known = plan::typeBytes(type.getElementType());
  for (int64_t extent : type.getShape())
    known *= ShapedType::isDynamic(extent) ? 1 : extent;
  Value bytes = arith::ConstantIndexOp::create(b, loc, known);
  IRMapping map;
  for (auto [extent, bound] : llvm::zip(alloc.getDynamicSizes(), bounds)) {
    Value most =
        bound ? arith::ConstantIndexOp::create(b, loc, *bound).getResult() : computeEarly(b, extent, map);
    bytes = arith::MulIOp::create(b, loc, bytes, most);
  }
  Value unit = arith::ConstantIndexOp::create(b, loc, alignment);
  Value units = arith::CeilDivUIOp::create(b, loc, bytes, unit);
  return arith::AddIOp::create(b, loc, at, arith::MulIOp::create(b, loc, units, unit));
}

LogicalResult cpu::placeScratch(func::FuncOp kernel, plan::Env &env, plan::Step &step) {
  SmallVector<memref::AllocOp> allocs;
  kernel.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  kernel.walk([](memref::DeallocOp dealloc) { dealloc.erase(); });
  Block *entry = &kernel.getBody().front();
  Value scratch = entry->getArguments().back();
  OpBuilder b(kernel);
  b.setInsertionPointToStart(entry);
  int64_t stack = 0;
  plan::ExprId total = env.program.constant(0); // bytes of scratch used so far
  Value end;                                    // the same, computed in the kernel, once it is not constant
  // Buffers of static size come first, so that their places are constants in the code.
  llvm::stable_sort(allocs, [](memref::AllocOp a, memref::AllocOp b) {
    return a.getType().hasStaticShape() > b.getType().hasStaticShape();
  });
  for (memref::AllocOp alloc : allocs) {
    MemRefType type = alloc.getType();
    bool loops = alloc->getBlock() != entry;
    if (loops && escapes(alloc))
      return alloc.emitOpError(
          "is carried out of the loop that makes it, so it cannot be given a fixed place; "
          "write into a buffer made outside of the loop");
    if (type.hasStaticShape()) {
      int64_t bytes = type.getNumElements() * plan::typeBytes(type.getElementType());
      if (bytes <= maxStackBuffer && stack + bytes <= maxStack) {
        stack += bytes;
        b.setInsertionPointToStart(entry);
        auto local = memref::AllocaOp::create(b, alloc.getLoc(), type, b.getI64IntegerAttr(alignment));
        alloc.replaceAllUsesWith(local.getResult());
        alloc.erase();
        continue;
      }
    }
    // Bytes of this buffer, rounded up so that the next one is aligned.
    plan::ExprId bytes = env.program.constant(plan::typeBytes(type.getElementType()));
    SmallVector<std::optional<int64_t>> bounds; // of the dynamic sizes that the plan does not know
    for (int64_t d = 0; d < type.getRank(); ++d) {
      std::optional<plan::ExprId> extent = env.translateDim(alloc, d);
      if (type.isDynamicDim(d)) {
        bounds.push_back(extent ? std::nullopt : boundOf(alloc.getDynamicSizes()[bounds.size()]));
        if (bounds.back())
          extent = env.program.constant(*bounds.back());
      }
      if (!extent)
        return alloc.emitOpError(
            "has an extent that is not known when the kernel starts; bound it by a constant");
      bytes = env.program.binary(ExprOp::Mul, bytes, *extent);
    }
    plan::ExprId unit = env.program.constant(alignment);
    bytes = env.program.binary(ExprOp::Mul, env.program.binary(ExprOp::CeilDiv, bytes, unit), unit);
    Location loc = alloc.getLoc();
    std::optional<int64_t> before = env.program.getConstant(total);
    b.setInsertionPointToStart(entry);
    Value at = before ? arith::ConstantIndexOp::create(b, loc, *before).getResult() : end;
    // Where the next one starts, should there be one.
    if (alloc != allocs.back() && !type.hasStaticShape())
      end = endOf(b, alloc, at, bounds);
    b.setInsertionPoint(alloc);
    Value view = memref::ViewOp::create(b, loc, type, scratch, at, alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
    total = env.program.binary(ExprOp::Add, total, bytes);
  }
  step.scratch = total;
  return success();
}
