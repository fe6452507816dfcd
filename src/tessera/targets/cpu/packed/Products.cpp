// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Products.h. Instructions that multiply several narrow elements and add them into a wide one have no
// form in the vector dialect: they are called by their LLVM names.
#include "tessera/targets/cpu/packed/Products.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace tessera;
using namespace tessera::cpu;
using namespace tessera::cpu::packed;

Products Products::of(Value x, Value w, Value y, Dot dot) {
  Products p;
  p.element = typeOf(x).getElementType();
  p.wide = typeOf(y).getElementType();
  ArrayRef<int64_t> shape = typeOf(w).getShape();
  if (p.isNarrow()) {
    p.together = shape.back();
    p.lanes = shape[shape.size() - 2];
    p.dot = stepOf(dot) == p.together ? dot : Dot::Plain;
  } else {
    p.lanes = shape.back();
  }
  return p;
}

static Value call(Gen &g, StringRef name, Type type, ValueRange args) {
  return LLVM::CallIntrinsicOp::create(g.b, g.loc, type, g.b.getStringAttr(name), args).getResult(0);
}

// Bytes of x are unsigned, those of weights signed.
static Value widen(Gen &g, Value v, Type element, bool isUnsigned) {
  VectorType type = vectorOf(element, cast<VectorType>(v.getType()).getNumElements());
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(g.b, g.loc, type, v);
  return isUnsigned ? Value(arith::ExtUIOp::create(g.b, g.loc, type, v))
                    : Value(arith::ExtSIOp::create(g.b, g.loc, type, v));
}

// The bits of a few elements in all lanes.
static Value spreadBits(Gen &g, Value few, int64_t lanes) {
  auto type = cast<VectorType>(few.getType());
  Type bits = g.b.getIntegerType(type.getNumElements() * type.getElementTypeBitWidth());
  Value scalar =
      vector::ExtractOp::create(g.b, g.loc, vector::BitCastOp::create(g.b, g.loc, vectorOf(bits, 1), few), 0);
  Value all = vector::BroadcastOp::create(g.b, g.loc, vectorOf(bits, lanes), scalar);
  return vector::BitCastOp::create(g.b, g.loc, vectorOf(type.getElementType(), type.getNumElements() * lanes),
                                   all);
}

Value Products::spread(Gen &g, const Cursor &from, int64_t distance) const {
  if (!isNarrow())
    return vector::BroadcastOp::create(g.b, g.loc, sumType(), from.scalar(g, distance));
  Value few = from.load(g, distance, together);
  if (dot == Dot::Madd)
    return spreadBits(g, widen(g, few, g.b.getI16Type(), true), lanes);
  if (dot != Dot::Plain)
    return spreadBits(g, few, lanes);
  // Wide already: the plain way multiplies them one by one.
  return widen(g, few, wide, true);
}

Value Products::weights(Gen &g, const Cursor &from, int64_t distance) const {
  Value v = from.load(g, distance, width());
  return dot == Dot::Madd ? widen(g, v, g.b.getI16Type(), false) : v;
}

// Pairs of products of 16 bits, added to sums of 32.
static Value addPairs(Gen &g, Value x, Value w, Value sum, int64_t lanes) {
  StringRef name = lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                   : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                : "llvm.x86.sse2.pmadd.wd";
  return arith::AddIOp::create(g.b, g.loc, sum, call(g, name, sum.getType(), {x, w}));
}

Value Products::add(Gen &g, Value x, Value w, Value sum) const {
  if (!isNarrow())
    return g.fma(x, w, sum);
  std::string bits = std::to_string(lanes * 32);
  switch (dot) {
  case Dot::Vnni:
    return call(g, "llvm.x86.avx512.vpdpbusd." + bits, sumType(), {sum, x, w});
  case Dot::Bf16:
    return call(g, "llvm.x86.avx512bf16.dpbf16ps." + bits, sumType(), {sum, x, w});
  case Dot::Madd:
    return addPairs(g, x, w, sum, lanes);
  case Dot::MaddBytes: {
    StringRef name = lanes == 16  ? "llvm.x86.avx512.pmaddubs.w.512"
                     : lanes == 8 ? "llvm.x86.avx2.pmadd.ub.sw"
                                  : "llvm.x86.ssse3.pmadd.ub.sw.128";
    VectorType halves = vectorOf(g.b.getI16Type(), 2 * lanes);
    Value one =
        arith::ConstantOp::create(g.b, g.loc, DenseElementsAttr::get(halves, g.b.getI16IntegerAttr(1)));
    return addPairs(g, call(g, name, halves, {x, w}), one, sum, lanes);
  }
  case Dot::Usdot:
    return call(g, "llvm.aarch64.neon.usdot", sumType(), {sum, x, w});
  case Dot::Plain:
  case Dot::AmxBytes:
  case Dot::AmxHalves:
    break; // the last two multiply no vectors
  }
  for (int64_t k = 0; k < together; ++k) {
    SmallVector<int64_t> own;
    for (int64_t lane = 0; lane < lanes; ++lane)
      own.push_back(lane * together + k);
    Value part = together == 1 ? w : Value(vector::ShuffleOp::create(g.b, g.loc, w, w, own));
    part = widen(g, part, wide, false);
    Value factor =
        vector::BroadcastOp::create(g.b, g.loc, sumType(), vector::ExtractOp::create(g.b, g.loc, x, k));
    sum =
        isa<FloatType>(wide)
            ? g.fma(factor, part, sum)
            : Value(arith::AddIOp::create(g.b, g.loc, arith::MulIOp::create(g.b, g.loc, factor, part), sum));
  }
  return sum;
}
