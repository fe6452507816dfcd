// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views that MLIR 22 does not lower: it works out the one open extent of a group from the others, and follows
// a null pointer where a dimension becomes several open ones (ExpandStridedMetadata).
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace tessera;
using namespace tessera::cpu;

static bool splitsIntoOpen(memref::ExpandShapeOp op) {
  return llvm::any_of(op.getReassociationIndices(), [&](ArrayRef<int64_t> group) {
    return llvm::count_if(group, [&](int64_t d) { return op.getResultType().isDynamicDim(d); }) > 1;
  });
}

// expand_shape → reinterpret_cast: each dimension steps over those behind it in its group, the last one as
// the whole did.
static void writeOut(memref::ExpandShapeOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto source = memref::ExtractStridedMetadataOp::create(b, loc, op.getSrc());
  auto [steps, offset] = op.getResultType().getStridesAndOffset();
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape(), strides(sizes.size());
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value step = source.getStrides()[d];
    for (int64_t g : llvm::reverse(group)) {
      strides[g] = ShapedType::isDynamic(steps[g]) ? OpFoldResult(step) : b.getIndexAttr(steps[g]);
      step = arith::MulIOp::create(b, loc, step, getValueOrCreateConstantIndexOp(b, loc, sizes[g]));
    }
  }
  OpFoldResult start =
      ShapedType::isDynamic(offset) ? OpFoldResult(source.getOffset()) : b.getIndexAttr(offset);
  Value view = memref::ReinterpretCastOp::create(b, loc, op.getResultType(), source.getBaseBuffer(), start,
                                                 sizes, strides);
  op.replaceAllUsesWith(view);
  op.erase();
}

void cpu::lowerViews(ModuleOp kernels) {
  SmallVector<memref::ExpandShapeOp> views;
  kernels.walk([&](memref::ExpandShapeOp op) {
    if (splitsIntoOpen(op))
      views.push_back(op);
  });
  for (memref::ExpandShapeOp op : views)
    writeOut(op);
}
