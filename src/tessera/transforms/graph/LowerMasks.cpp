// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See LowerMasks.h.
#include "tessera/transforms/graph/LowerMasks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace tessera;

static TypedAttr neutralFor(OpBuilder &b, vector::CombiningKind kind, Type type) {
  using Kind = vector::CombiningKind;
  if (auto number = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = number.getFloatSemantics();
    bool low = kind == Kind::MAXIMUMF || kind == Kind::MAXNUMF;
    // -0.0 + x is x for every x, 0.0 + x is not.
    APFloat value = kind == Kind::ADD   ? APFloat::getZero(semantics, /*Negative=*/true)
                    : kind == Kind::MUL ? APFloat::getOne(semantics)
                                        : APFloat::getInf(semantics, /*Negative=*/low);
    return b.getFloatAttr(type, value);
  }
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  APInt value = APInt::getZero(width);
  if (kind == Kind::MUL)
    value = APInt(width, 1);
  else if (kind == Kind::AND || kind == Kind::MINUI)
    value = APInt::getAllOnes(width);
  else if (kind == Kind::MINSI)
    value = APInt::getSignedMaxValue(width);
  else if (kind == Kind::MAXSI)
    value = APInt::getSignedMinValue(width);
  return b.getIntegerAttr(type, value);
}

// vector.mask %m { vector.reduction <k>, %v } → vector.reduction <k>, select(%m, %v, neutral).
static void lowerMaskedReductions(ModuleOp kernels) {
  SmallVector<vector::MaskOp> masks;
  kernels.walk([&](vector::MaskOp mask) {
    if (isa_and_nonnull<vector::ReductionOp>(mask.getMaskableOp()))
      masks.push_back(mask);
  });
  for (vector::MaskOp mask : masks) {
    auto reduction = cast<vector::ReductionOp>(mask.getMaskableOp());
    OpBuilder b(mask);
    VectorType type = reduction.getSourceVectorType();
    TypedAttr neutral = neutralFor(b, reduction.getKind(), type.getElementType());
    Value other =
        arith::ConstantOp::create(b, mask.getLoc(), DenseElementsAttr::get(type, cast<Attribute>(neutral)));
    Value chosen = arith::SelectOp::create(b, mask.getLoc(), mask.getMask(), reduction.getVector(), other);
    auto plain = cast<vector::ReductionOp>(b.clone(*reduction));
    plain.getVectorMutable().assign(chosen);
    mask.getResult(0).replaceAllUsesWith(plain.getResult());
    mask.erase();
  }
}

LogicalResult graph::lowerMasks(ModuleOp module) {
  bool any = false;
  module.walk([&](vector::MaskOp) { any = true; });
  if (!any)
    return success();
  lowerMaskedReductions(module);
  RewritePatternSet patterns(module.getContext());
  vector::populateVectorMaskLoweringPatternsForSideEffectingOps(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}
