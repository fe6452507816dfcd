// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From loops over buffers to the LLVM dialect: a plain list of passes, then the wrapper that gives each
// kernel its ABI.
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace tessera;
using namespace tessera::cpu;

// The innermost dimensions of two buffers that lie behind each other in both as one, so that a copy runs over
// long pieces instead of a nest of short loops; all others stay.
static SmallVector<ReassociationIndices> joinInnermost(MemRefType a, MemRefType b) {
  SmallVector<ReassociationIndices> best;
  for (int64_t from = a.getRank() - 2; from >= 0; --from) {
    SmallVector<ReassociationIndices> groups;
    for (int64_t d = 0; d < a.getRank(); ++d)
      if (d > from)
        groups.back().push_back(d);
      else
        groups.push_back({d});
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(a, groups) ||
        !memref::CollapseShapeOp::isGuaranteedCollapsible(b, groups))
      break;
    best = std::move(groups);
  }
  return best;
}

// memref.copy → linalg.copy, hence loops: the LLVM lowering of a strided copy would call a library.
static void copiesToLinalg(ModuleOp module) {
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::CopyOp copy : copies) {
    OpBuilder b(copy);
    Value from = copy.getSource(), to = copy.getTarget();
    SmallVector<ReassociationIndices> groups =
        joinInnermost(cast<MemRefType>(from.getType()), cast<MemRefType>(to.getType()));
    if (!groups.empty()) {
      from = memref::CollapseShapeOp::create(b, copy.getLoc(), from, groups);
      to = memref::CollapseShapeOp::create(b, copy.getLoc(), to, groups);
    }
    linalg::CopyOp::create(b, copy.getLoc(), from, to);
    copy.erase();
  }
}

// Operations without an instruction: rounding divisions, and conversions of bf16. The pass of all expansions
// would also replace maximumf and minimumf, by code that takes -0.0 and +0.0 for equal.
static LogicalResult expandArithmetic(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns);
  return rewriteFunctions(module, std::move(patterns));
}

// LLVM compares and exchanges integers only: an update of a float is a loop over its bits.
static void exchangeBits(ModuleOp module) {
  SmallVector<memref::GenericAtomicRMWOp> updates;
  module.walk([&](memref::GenericAtomicRMWOp op) {
    MemRefType memory = op.getMemref().getType();
    if (isa<FloatType>(memory.getElementType()) && memory.getRank() == 1 && memory.getLayout().isIdentity())
      updates.push_back(op);
  });
  for (memref::GenericAtomicRMWOp op : updates) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Type real = op.getResult().getType(), bits = b.getIntegerType(real.getIntOrFloatBitWidth());
    Type ptr = LLVM::LLVMPointerType::get(module.getContext());
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, op.getMemref());
    Value size = arith::ConstantIndexOp::create(b, loc, real.getIntOrFloatBitWidth() / 8);
    Value offset = arith::MulIOp::create(b, loc, op.getIndices()[0], size);
    Value at = arith::AddIOp::create(b, loc, base, offset);
    at = arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
    at = LLVM::IntToPtrOp::create(b, loc, ptr, at);
    Value first = arith::BitcastOp::create(
        b, loc, bits, memref::LoadOp::create(b, loc, op.getMemref(), op.getIndices()).getResult());
    auto loop = scf::WhileOp::create(
        b, loc, TypeRange{bits}, ValueRange{first},
        [&](OpBuilder &b, Location loc, ValueRange args) {
          IRMapping map;
          map.map(op.getCurrentValue(), arith::BitcastOp::create(b, loc, real, args[0]).getResult());
          for (Operation &inner : op.getBody()->without_terminator())
            b.clone(inner, map);
          Value next = map.lookup(op.getBody()->getTerminator()->getOperand(0));
          next = arith::BitcastOp::create(b, loc, bits, next);
          Value pair = LLVM::AtomicCmpXchgOp::create(b, loc, at, args[0], next, LLVM::AtomicOrdering::acq_rel,
                                                     LLVM::AtomicOrdering::monotonic);
          Value seen = LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{0});
          Value done = LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{1});
          Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
          Value again = arith::XOrIOp::create(b, loc, done, yes);
          scf::ConditionOp::create(b, loc, again, seen);
        },
        [&](OpBuilder &b, Location loc, ValueRange args) { scf::YieldOp::create(b, loc, args); });
    op.replaceAllUsesWith(arith::BitcastOp::create(b, loc, real, loop.getResult(0)).getResult());
    op.erase();
  }
}

// Runs passes on each function, several at a time.
static LogicalResult runPasses(ModuleOp module, function_ref<void(OpPassManager &)> build) {
  PassManager pm(module.getContext());
  build(pm.nest<func::FuncOp>());
  return pm.run(module);
}

//===----------------------------------------------------------------------===//
// The kernel ABI
//===----------------------------------------------------------------------===//

namespace {
/// What a kernel took before its memrefs became pointers and extents.
struct Signature {
  SmallVector<Type> types;
  SmallVector<bool> indirect;
  int64_t align = 64; ///< of the memory behind its pointers
};
} // namespace

// kernel(args…, box…, scratch) → @name.body, and @name(ptr slots, ptr begin, ptr end, ptr scratch) that calls
// it.
static void wrapKernel(LLVM::LLVMFuncOp body, const Signature &signature) {
  MLIRContext *ctx = body.getContext();
  OpBuilder b(body);
  Location loc = body.getLoc();
  std::string name = body.getName().str();
  body.setSymName(name + kernelBodySuffix.str());
  body.setLinkage(LLVM::Linkage::Internal);
  body.setPassthroughAttr(b.getArrayAttr({b.getStringAttr("alwaysinline")}));
  Type ptr = LLVM::LLVMPointerType::get(ctx), i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(ctx), {ptr, ptr, ptr, ptr});
  auto wrapper = LLVM::LLVMFuncOp::create(b, loc, name, type);
  Block *entry = wrapper.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Value slots = entry->getArgument(0);
  auto constant = [&](int64_t v) -> Value {
    return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(v));
  };
  unsigned slot = 0;
  auto next = [&](Type t) -> Value {
    Value at = LLVM::GEPOp::create(b, loc, ptr, i64, slots, ArrayRef<LLVM::GEPArg>{int32_t(slot++)});
    return LLVM::LoadOp::create(b, loc, t, at);
  };
  SmallVector<Value> args;
  unsigned own = signature.types.size() - numBoxArgs - 1;
  for (unsigned i = 0; i < own; ++i) {
    auto memref = dyn_cast<MemRefType>(signature.types[i]);
    Type lowered = body.getArgument(args.size()).getType();
    if (!memref) {
      if (signature.indirect[i])
        args.push_back(LLVM::LoadOp::create(b, loc, lowered, next(ptr)));
      else if (lowered == i64)
        args.push_back(next(i64));
      else
        args.push_back(LLVM::TruncOp::create(b, loc, lowered, next(i64)));
      continue;
    }
    // Two buffers of one kernel never overlap where one is written: the plan gives each its own memory, and
    // an operand that is received twice is one argument.
    body.setArgAttr(args.size() + 1, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    body.setArgAttr(args.size() + 1, LLVM::LLVMDialect::getAlignAttrName(),
                    b.getI64IntegerAttr(signature.align));
    Value data = next(ptr);
    args.append({data, data, constant(0)});
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < memref.getRank(); ++d)
      sizes.push_back(memref.isDynamicDim(d) ? next(i64) : constant(memref.getDimSize(d)));
    SmallVector<Value> strides(memref.getRank());
    Value stride = constant(1);
    for (int64_t d = memref.getRank() - 1; d >= 0; --d) {
      strides[d] = stride;
      if (d)
        stride = LLVM::MulOp::create(b, loc, stride, sizes[d]);
    }
    args.append(sizes);
    args.append(strides);
  }
  for (unsigned box = 0; box < numBoxArgs; ++box) {
    Value base = entry->getArgument(box < 3 ? 1 : 2);
    Value at = LLVM::GEPOp::create(b, loc, ptr, i64, base, ArrayRef<LLVM::GEPArg>{int32_t(box % 3)});
    args.push_back(LLVM::LoadOp::create(b, loc, i64, at));
  }
  Value scratch = entry->getArgument(3);
  args.append({scratch, scratch, constant(0), constant(0), constant(1)});
  LLVM::CallOp::create(b, loc, body, args);
  // Tasks leave x86's tile registers set up for the next one (targets/cpu/packed/Amx.h).
  bool hasTiles = false;
  body.walk([&](LLVM::CallIntrinsicOp op) { hasTiles |= op.getIntrin() == "llvm.x86.ldtilecfg"; });
  if (hasTiles)
    LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.x86.tilerelease"), ValueRange{});
  LLVM::ReturnOp::create(b, loc, ValueRange{});
}

LogicalResult cpu::lowerToLoops(ModuleOp kernels) {
  copiesToLinalg(kernels);
  return runPasses(kernels, [](OpPassManager &pm) {
    pm.addPass(createConvertLinalgToLoopsPass());
    // A forall inside a task has no threads left to share it: plain loops.
    pm.addPass(createForallToForLoopPass());
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
    pm.addPass(createLoopInvariantCodeMotionPass());
  });
}

LogicalResult cpu::lowerToLLVM(ModuleOp kernels) {
  llvm::StringMap<Signature> signatures;
  for (auto func : kernels.getOps<func::FuncOp>()) {
    if (!cpu::Notes::kernel.isOn(func))
      continue;
    Signature &s = signatures[func.getName()];
    s.types.assign(func.getArgumentTypes().begin(), func.getArgumentTypes().end());
    for (unsigned i = 0; i < s.types.size(); ++i)
      s.indirect.push_back(cpu::Notes::indirect.getOf(func, i) != nullptr);
    if (IntegerAttr align = SharedNotes::align.get(func))
      s.align = align.getInt();
    SharedNotes::align.remove(func);
    cpu::Notes::faults.remove(func);
    func.removeArgAttrsAttr();
    cpu::Notes::kernel.remove(func);
  }
  lowerViews(kernels);
  if (failed(runPasses(kernels, [](OpPassManager &pm) {
        pm.addPass(createCanonicalizerPass());
        pm.addPass(createCSEPass());
        pm.addPass(createLoopInvariantCodeMotionPass());
        pm.addPass(memref::createExpandStridedMetadataPass());
        pm.addPass(createLowerAffinePass());
      })))
    return failure();
  if (failed(lowerVectors(kernels)) || failed(lowerMath(kernels)) || failed(expandArithmetic(kernels)))
    return failure();
  exchangeBits(kernels);
  if (failed(runPasses(kernels, [](OpPassManager &pm) {
        pm.addPass(createSCFToControlFlowPass());
        pm.addPass(memref::createExpandStridedMetadataPass());
        pm.addPass(createLowerAffinePass());
        ConvertVectorToLLVMPassOptions vector;
        vector.reassociateFPReductions = false;
        pm.addPass(createConvertVectorToLLVMPass(vector));
      })))
    return failure();
  PassManager toLLVM(kernels.getContext());
  toLLVM.addPass(createConvertToLLVMPass());
  toLLVM.addPass(createReconcileUnrealizedCastsPass());
  if (failed(toLLVM.run(kernels)))
    return failure();
  // An operation that nothing above knows would otherwise fail without its name in the translation.
  WalkResult left = kernels.walk([](Operation *op) {
    if (isa<ModuleOp>(op) || isa<LLVM::LLVMDialect>(op->getDialect()) || isa<UnrealizedConversionCastOp>(op))
      return WalkResult::advance();
    op->emitOpError("is not known to the CPU target");
    return WalkResult::interrupt();
  });
  if (left.wasInterrupted())
    return failure();
  SmallVector<LLVM::LLVMFuncOp> bodies;
  for (auto func : kernels.getOps<LLVM::LLVMFuncOp>())
    if (signatures.count(func.getName()))
      bodies.push_back(func);
  for (LLVM::LLVMFuncOp body : bodies) {
    Signature signature = signatures[body.getName()];
    wrapKernel(body, signature);
  }
  return success();
}
