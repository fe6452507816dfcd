// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the dialect and its operations.
#include "tessera/ir/nn/NnExtents.h"
#include "tessera/targets/cpu/ir/CpuOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace tessera;
using namespace tessera::cpu;

#include "tessera/targets/cpu/ir/CpuDialect.cpp.inc"

#define GET_OP_CLASSES
#include "tessera/targets/cpu/ir/CpuOps.cpp.inc"

namespace {
// Rows and columns of planes; rows of products, in any number of dimensions.
class CpuExtentRules : public nn::ExtentRules {
public:
  using ExtentRules::ExtentRules;
  std::optional<nn::ExtentRule> ruleOf(Operation *op, int64_t dim) const override {
    if (auto product = dyn_cast<PackedMatmulOp>(op)) {
      bool isRow = dim + 1 < cast<RankedTensorType>(product.getY().getType()).getRank();
      return isRow ? std::optional(nn::ExtentRule{product.getX(), dim, 0, 1, 0, true}) : std::nullopt;
    }
    if (dim != 2 && dim != 3)
      return std::nullopt;
    const int64_t d = dim - 2;
    auto shifted = [&](Value x, ArrayRef<int64_t> pads, int64_t sign) {
      return nn::ExtentRule{x, dim, sign * (pads[d] + pads[d + 2]), 1, 0};
    };
    auto window = [&](Value x, int64_t kernel, int64_t stride, int64_t dilation, int64_t low = 0,
                      int64_t high = 0) {
      return nn::ExtentRule::ofWindow(x, dim, {kernel, stride, low, high, dilation});
    };
    auto extent = [](Value v, int64_t at) { return cast<RankedTensorType>(v.getType()).getDimSize(at); };
    return llvm::TypeSwitch<Operation *, std::optional<nn::ExtentRule>>(op)
        .Case<PackOp, UnpackOp>([&](auto own) { return nn::ExtentRule{own.getX(), dim}; })
        .Case([&](HaloOp own) { return shifted(own.getX(), own.getPads(), 1); })
        .Case([&](CropOp own) { return shifted(own.getX(), own.getPads(), -1); })
        .Case([&](PackedConvOp own) {
          return window(own.getX(), extent(own.getW(), dim), own.getStrides()[d], own.getDilations()[d]);
        })
        .Case([&](PackedDepthwiseOp own) {
          return window(own.getX(), extent(own.getW(), d + 1), own.getStrides()[d], own.getDilations()[d]);
        })
        .Case([&](PackedWinogradOp own) { return window(own.getX(), own.getWindow(), 1, 1); })
        .Case([&](PackedPoolOp own) {
          return window(own.getX(), own.getKernel()[d], own.getStrides()[d], own.getDilations()[d],
                        own.getPads()[d], own.getPads()[d + 2]);
        })
        .Default([](Operation *) { return std::nullopt; });
  }
};
} // namespace

void CpuDialect::initialize() {
  addInterfaces<CpuExtentRules>();
  addOperations<
#define GET_OP_LIST
#include "tessera/targets/cpu/ir/CpuOps.cpp.inc"
      >();
}
