// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector operations, written by hand or by a schedule, down to those that LLVM has: vectors of one dimension
// in registers, loads and stores. Widths that the CPU does not have are LLVM's business: it splits them.
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/Threading.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace tessera;
using namespace tessera::cpu;

// An i1 in memory is a byte, but a vector of them is bits:
// vector.load %m : memref<…xi1>, vector<8xi1> → vector.load %bytes : memref<…xi8>, vector<8xi8>, then
// arith.trunci and the other way round for stores. The two memrefs are the same for LLVM, so the cast between
// them is nothing.
static void widenBits(Operation *op) {
  auto isBits = [](Type type) { return isa<VectorType>(type) && getElementTypeOrSelf(type).isInteger(1); };
  Value memory;
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType()); type && type.getElementType().isInteger(1))
      memory = operand;
  if (!memory)
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto type = cast<MemRefType>(memory.getType());
  auto bytes = MemRefType::get(type.getShape(), b.getI8Type(), type.getLayout(), type.getMemorySpace());
  Value mask;
  if (auto masked = dyn_cast<VectorTransferOpInterface>(op))
    mask = masked.getMask();
  else if (isa<vector::MaskedLoadOp, vector::MaskedStoreOp, vector::ExpandLoadOp, vector::CompressStoreOp,
               vector::GatherOp, vector::ScatterOp>(op))
    mask = op->getOperand(op->getNumOperands() - 2);
  for (OpOperand &use : op->getOpOperands()) {
    Value v = use.get();
    if (v == memory) {
      use.set(UnrealizedConversionCastOp::create(b, loc, TypeRange{bytes}, v).getResult(0));
      continue;
    }
    // The mask stays as it is, unless it is the value, too; then it is the last operand that is meant.
    bool isMask =
        v == mask && (!isa<VectorTransferOpInterface>(op) ? use.getOperandNumber() + 2 == op->getNumOperands()
                                                          : use.getOperandNumber() > 0);
    if (isMask || !getElementTypeOrSelf(v.getType()).isInteger(1))
      continue;
    Type wide = b.getI8Type();
    if (auto vector = dyn_cast<VectorType>(v.getType()))
      wide = vector.clone(b.getI8Type());
    use.set(arith::ExtUIOp::create(b, loc, wide, v));
  }
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    if (!isBits(result.getType()))
      continue;
    auto narrow = cast<VectorType>(result.getType());
    result.setType(narrow.clone(b.getI8Type()));
    auto bits = arith::TruncIOp::create(b, loc, narrow, result);
    result.replaceAllUsesExcept(bits, bits);
  }
}

LogicalResult cpu::rewriteFunctions(ModuleOp module, RewritePatternSet &&patterns) {
  const FrozenRewritePatternSet frozen(std::move(patterns));
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  return failableParallelForEach(module.getContext(), functions, [&](func::FuncOp function) {
    return applyPatternsGreedily(function, frozen);
  });
}

static LogicalResult apply(ModuleOp kernels, function_ref<void(RewritePatternSet &)> populate) {
  RewritePatternSet patterns(kernels.getContext());
  populate(patterns);
  return cpu::rewriteFunctions(kernels, std::move(patterns));
}

LogicalResult cpu::lowerVectors(ModuleOp kernels) {
  // Regions of vector.mask → masked operations; the stage `graph` has done this for what users wrote.
  if (failed(apply(kernels, [](RewritePatternSet &p) {
        vector::populateVectorMaskLoweringPatternsForSideEffectingOps(p);
      })))
    return failure();
  SmallVector<Operation *> accesses;
  kernels.walk([&](Operation *op) {
    if (isa<vector::VectorDialect>(op->getDialect()))
      accesses.push_back(op);
  });
  for (Operation *op : accesses)
    widenBits(op);
  // Products and reductions over several dimensions → arithmetic on rows. Sums are in order, so that strict
  // means strict.
  if (failed(apply(kernels, [](RewritePatternSet &p) {
        vector::populateVectorContractLoweringPatterns(p, vector::VectorContractLowering::OuterProduct);
        vector::populateVectorOuterProductLoweringPatterns(p);
        vector::populateVectorMultiReductionLoweringPatterns(
            p, vector::VectorMultiReductionLowering::InnerReduction);
        vector::populateVectorScanLoweringPatterns(p);
        vector::populateVectorGatherLoweringPatterns(p);
        vector::populateVectorTransferPermutationMapLoweringPatterns(p);
      })))
    return failure();
  // Transfers of several dimensions → transfers of rows, those that may leave the memory with a mask or a
  // branch.
  PassManager pm(kernels.getContext());
  OpPassManager &each = pm.nest<func::FuncOp>();
  each.addPass(createConvertVectorToSCFPass(VectorTransferToSCFOptions().enableFullUnroll()));
  each.addPass(createCanonicalizerPass());
  if (failed(pm.run(kernels)))
    return failure();
  return apply(kernels, [](RewritePatternSet &p) {
    vector::populateVectorTransferLoweringPatterns(p, /*maxTransferRank=*/1);
    vector::populateVectorMaskOpLoweringPatterns(p);
    vector::populateVectorBroadcastLoweringPatterns(p);
    vector::populateVectorShapeCastLoweringPatterns(p);
    vector::populateVectorTransposeLoweringPatterns(p, vector::VectorTransposeLowering::Shuffle16x16);
    vector::populateVectorInterleaveLoweringPatterns(p, /*targetRank=*/1);
    vector::populateVectorBitCastLoweringPatterns(p, /*targetRank=*/1);
    vector::populateVectorInsertExtractStridedSliceTransforms(p);
    vector::populateVectorRankReducingFMAPattern(p);
    vector::populateVectorFromElementsUnrollPatterns(p);
    vector::populateVectorToElementsUnrollPatterns(p);
  });
}
