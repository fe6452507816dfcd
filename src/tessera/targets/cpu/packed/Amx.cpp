// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Amx.h. Instructions are called by their LLVM names, with numbers of registers: which tile stands where
// is decided here, so there is nothing that a register allocator could spill.
#include "tessera/targets/cpu/packed/Amx.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

int64_t packed::partOf(int64_t bytes) {
  int64_t parts = ceilDiv(bytes, 64);
  while (bytes % (4 * parts))
    ++parts;
  return bytes / parts;
}

bool packed::canMultiply(Dot dot, Value x, Value w) {
  Type element = typeOf(x).getElementType();
  ArrayRef<int64_t> shape = typeOf(w).getShape();
  int64_t lanes = shape[shape.size() - 2];
  return (dot == Dot::AmxBytes ? element.isInteger(8) : element.isBF16()) && shape.back() == stepOf(dot) &&
         (lanes <= mostLanes || lanes % mostLanes == 0);
}

static void call(Gen &g, StringRef name, ValueRange args) {
  LLVM::CallIntrinsicOp::create(g.b, g.loc, g.b.getStringAttr(name), args);
}

static Value integer(Gen &g, Type type, int64_t v) {
  return arith::ConstantOp::create(g.b, g.loc, g.b.getIntegerAttr(type, v));
}
static Value tile(Gen &g, int64_t number) { return integer(g, g.b.getI8Type(), number); }
static Value stride(Gen &g, int64_t bytes) { return integer(g, g.b.getI64Type(), bytes); }

Value packed::pointerTo(Gen &g, const Memory &memory) {
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(g.b, g.loc, memory.buffer);
  address = arith::IndexCastOp::create(g.b, g.loc, g.b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(g.b, g.loc, LLVM::LLVMPointerType::get(g.b.getContext()), address);
}
Value packed::pointerBehind(Gen &g, Value pointer, Value bytes) {
  Value distance = arith::IndexCastOp::create(g.b, g.loc, g.b.getI64Type(), bytes);
  return LLVM::GEPOp::create(g.b, g.loc, pointer.getType(), g.b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{distance});
}
Value packed::pointerBehind(Gen &g, Value pointer, int64_t bytes) {
  return bytes ? pointerBehind(g, pointer, g.index(bytes)) : pointer;
}

void TileProduct::configure(Gen &g, Value rows) const {
  // Palette 1; from byte 16 on the bytes of each tile's rows, in 16 bits; from byte 48 on how many there are.
  SmallVector<int8_t> shapes(64);
  shapes[0] = 1;
  auto shape = [&](int64_t number, int64_t count, int64_t width) {
    shapes[16 + 2 * number] = static_cast<int8_t>(width);
    shapes[48 + number] = static_cast<int8_t>(count);
  };
  for (int64_t i = 0; i < xs; ++i) {
    shape(xTile(i), places, bytes);
    for (int64_t k = 0; k < ws; ++k) {
      shape(wTile(k), bytes / 4, 4 * lanes);
      shape(sum(i, k), places, 4 * lanes);
    }
  }
  Type i8 = g.b.getI8Type();
  Memory memory = allocate(g, {64}, i8);
  Value config = arith::ConstantOp::create(
      g.b, g.loc, DenseElementsAttr::get(vectorOf(i8, 64), ArrayRef<int8_t>(shapes)));
  vector::StoreOp::create(g.b, g.loc, config, memory.buffer, ValueRange{g.index(0)});
  if (rows) {
    Value count = arith::IndexCastOp::create(g.b, g.loc, i8, rows);
    auto set = [&](int64_t number) {
      memref::StoreOp::create(g.b, g.loc, count, memory.buffer, ValueRange{g.index(48 + number)});
    };
    for (int64_t i = 0; i < xs * ws; ++i)
      set(i);
    for (int64_t i = 0; i < (xs < ws ? xs : 1); ++i)
      set(xTile(i));
  }
  // To set them up takes as long as ten products; to ask how they are, as one.
  Memory known = allocate(g, {64}, i8);
  call(g, "llvm.x86.sttilecfg", {pointerTo(g, known)});
  auto wordsOf = [&](const Memory &from) -> Value {
    Value bytes = vector::LoadOp::create(g.b, g.loc, vectorOf(i8, 64), from.buffer, ValueRange{g.index(0)});
    return vector::BitCastOp::create(g.b, g.loc, vectorOf(g.b.getI64Type(), 8), bytes);
  };
  Value differences = arith::XOrIOp::create(g.b, g.loc, wordsOf(memory), wordsOf(known));
  Value any = vector::ReductionOp::create(g.b, g.loc, vector::CombiningKind::OR, differences);
  Value isOther =
      arith::CmpIOp::create(g.b, g.loc, arith::CmpIPredicate::ne, any, integer(g, any.getType(), 0));
  g.when(isOther, [&] { call(g, "llvm.x86.ldtilecfg", {pointerTo(g, memory)}); });
}

void TileProduct::begin(Gen &g, int64_t used, Value bias) const {
  for (int64_t i = 0; i < used; ++i)
    for (int64_t k = 0; k < ws; ++k) {
      // A distance of zero puts the same elements in all rows.
      if (bias)
        call(g, "llvm.x86.tileloadd64",
             {tile(g, sum(i, k)), pointerBehind(g, bias, 4 * k * lanes), stride(g, 0)});
      else
        call(g, "llvm.x86.tilezero", {tile(g, sum(i, k))});
    }
}

void TileProduct::step(Gen &g, ValueRange x, int64_t xStride, ValueRange w, int64_t wStride,
                       int64_t prefetched) const {
  int64_t used = x.size();
  if (prefetched)
    for (Value from : w)
      for (int64_t row = 0; row < bytes / 4; ++row)
        LLVM::Prefetch::create(g.b, g.loc, pointerBehind(g, from, prefetched + row * wStride), /*rw=*/0,
                               /*hint=*/3, /*cache=*/1);
  StringRef name = dot == Dot::AmxBytes ? "llvm.x86.tdpbusd" : "llvm.x86.tdpbf16ps";
  auto loadX = [&](int64_t i) {
    call(g, "llvm.x86.tileloadd64", {tile(g, xTile(i)), x[i], stride(g, xStride)});
  };
  auto loadW = [&](int64_t k) {
    call(g, "llvm.x86.tileloadd64", {tile(g, wTile(k)), w[k], stride(g, wStride)});
  };
  auto add = [&](int64_t i, int64_t k) {
    call(g, name, {tile(g, sum(i, k)), tile(g, xTile(i)), tile(g, wTile(k))});
  };
  // The operand with fewer tiles stays; those of the other come one by one.
  if (xs < ws) {
    for (int64_t i = 0; i < used; ++i)
      loadX(i);
    for (int64_t k = 0; k < ws; ++k) {
      loadW(k);
      for (int64_t i = 0; i < used; ++i)
        add(i, k);
    }
    return;
  }
  for (int64_t k = 0; k < ws; ++k)
    loadW(k);
  for (int64_t i = 0; i < used; ++i) {
    loadX(i);
    for (int64_t k = 0; k < ws; ++k)
      add(i, k);
  }
}

Memory TileProduct::allocateSums(Gen &g, Type wide) const {
  return allocate(g, {xs, mostPlaces, width()}, wide);
}

void TileProduct::collect(Gen &g, int64_t used, const Memory &sums) const {
  Value to = pointerTo(g, sums);
  for (int64_t i = 0; i < used; ++i)
    for (int64_t k = 0; k < ws; ++k)
      call(g, "llvm.x86.tilestored64",
           {tile(g, sum(i, k)), pointerBehind(g, to, 4 * (i * mostPlaces * width() + k * lanes)),
            stride(g, 4 * width())});
}
