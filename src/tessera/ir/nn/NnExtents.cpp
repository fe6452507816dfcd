// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See NnExtents.h.
#include "tessera/ir/nn/NnExtents.h"

#include "llvm/Support/MathExtras.h"

using namespace tessera;
using namespace tessera::nn;

int64_t ExtentRule::apply(int64_t extent) const {
  return llvm::divideFloorSigned(extent + add, divisor) + offset;
}

std::optional<ExtentRule> nn::ruleOfExtent(Operation *op, int64_t dim) {
  if (dim >= 2) {
    if (auto conv = dyn_cast<ConvOp>(op)) {
      auto w = cast<RankedTensorType>(conv.getW().getType());
      auto kernel = w.getShape().drop_front(2);
      if (llvm::any_of(kernel, ShapedType::isDynamic))
        return std::nullopt;
      return ExtentRule::ofWindow(
          conv.getX(), dim,
          makeWindows(kernel, conv.getStrides(), conv.getPads(), conv.getDilations())[dim - 2]);
    }
    if (auto pool = dyn_cast<PoolOp>(op)) {
      Window window =
          makeWindows(pool.getKernel(), pool.getStrides(), pool.getPads(), pool.getDilations())[dim - 2];
      if (pool.getCeil() && window.stride != 1)
        return std::nullopt;
      return ExtentRule::ofWindow(pool.getX(), dim, window);
    }
  }
  Dialect *dialect = op->getDialect();
  auto *rules = dialect ? dialect->getRegisteredInterface<ExtentRules>() : nullptr;
  return rules ? rules->ruleOf(op, dim) : std::nullopt;
}
