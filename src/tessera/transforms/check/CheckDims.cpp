// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Error dfg-k1: an extent of a dimension that a shape does not have. Upstream leaves that undefined, and
// rewrites that ask for the type's extent would read past it.
#include "tessera/transforms/check/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_CHECKDIMSPASS
#include "tessera/transforms/check/Passes.h.inc"
} // namespace tessera

using namespace tessera;

namespace {
struct CheckDims : tessera::impl::CheckDimsPassBase<CheckDims> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (auto dim = dyn_cast<tensor::DimOp>(op))
        check(dim);
      else if (auto dim = dyn_cast<memref::DimOp>(op))
        check(dim);
    });
    markAllAnalysesPreserved();
  }

  template <typename Dim> void check(Dim dim) {
    auto type = dyn_cast<ShapedType>(dim.getSource().getType());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!type || !type.hasRank() || !index || (*index >= 0 && *index < type.getRank()))
      return;
    dim.emitOpError("asks for dimension ")
        << *index << " of a shape of rank " << type.getRank() << "; dimensions count from 0 (dfg-k1)";
    signalPassFailure();
  }
};
} // namespace
