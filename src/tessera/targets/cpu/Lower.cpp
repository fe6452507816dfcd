// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From loops over buffers to the LLVM dialect: a plain list of passes, then the wrapper that gives each kernel
// its ABI.
#include "tessera/targets/cpu/Cpu.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
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

// memref.copy → linalg.copy, hence loops: the LLVM lowering of a strided copy would call a library.
static void copiesToLinalg(ModuleOp module) {
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::CopyOp copy : copies) {
    OpBuilder b(copy);
    linalg::CopyOp::create(b, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  }
}

// math.exp on a scalar → a call of our own expf or exp, which is linked as bitcode, inlined and vectorised with
// the loop around it. Operations with an instruction of their own (sqrt, fma, floor, …) stay.
static LogicalResult mathToCalls(ModuleOp module) {
  static const llvm::StringMap<const char *> names = {
      {"math.exp", "exp"},     {"math.exp2", "exp2"},   {"math.expm1", "expm1"}, {"math.log", "log"},
      {"math.log2", "log2"},   {"math.log10", "log10"}, {"math.log1p", "log1p"}, {"math.powf", "pow"},
      {"math.sin", "sin"},     {"math.cos", "cos"},     {"math.tan", "tan"},     {"math.asin", "asin"},
      {"math.acos", "acos"},   {"math.atan", "atan"},   {"math.atan2", "atan2"}, {"math.sinh", "sinh"},
      {"math.cosh", "cosh"},   {"math.tanh", "tanh"},   {"math.asinh", "asinh"}, {"math.acosh", "acosh"},
      {"math.atanh", "atanh"}, {"math.erf", "erf"},     {"math.erfc", "erfc"},   {"math.cbrt", "cbrt"}};
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (names.count(op->getName().getStringRef()) || isa<arith::RemFOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    Type type = op->getResult(0).getType();
    Type element = getElementTypeOrSelf(type);
    // Half types compute in f32 and round once; only f32 and f64 have functions.
    Type computed = element.isF64() ? element : Type(b.getF32Type());
    std::string name = isa<arith::RemFOp>(op) ? "fmod" : names.lookup(op->getName().getStringRef());
    if (!computed.isF64())
      name += "f";
    auto callee = module.lookupSymbol<func::FuncOp>(name);
    if (!callee) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      SmallVector<Type> inputs(op->getNumOperands(), computed);
      callee = func::FuncOp::create(top, loc, name, top.getFunctionType(inputs, {computed}));
      callee.setPrivate();
    }
    auto call = [&](OpBuilder &b, ValueRange scalars) -> Value {
      SmallVector<Value> args;
      for (Value v : scalars)
        args.push_back(v.getType() == computed ? v : arith::ExtFOp::create(b, loc, computed, v).getResult());
      Value r = func::CallOp::create(b, loc, callee, args).getResult(0);
      return element == computed ? r : arith::TruncFOp::create(b, loc, element, r).getResult();
    };
    Value result;
    if (auto vector = dyn_cast<VectorType>(type)) {
      // Lane by lane; the back end joins the lanes again where it can.
      if (vector.isScalable())
        return op->emitOpError("on a scalable vector is not supported; use a fixed width");
      SmallVector<Value> lanes;
      SmallVector<SmallVector<Value>> inputs;
      for (Value operand : op->getOperands())
        inputs.push_back(SmallVector<Value>(vector::ToElementsOp::create(b, loc, operand).getResults()));
      for (int64_t i = 0; i < vector.getNumElements(); ++i) {
        SmallVector<Value> scalars;
        for (auto &list : inputs)
          scalars.push_back(list[i]);
        lanes.push_back(call(b, scalars));
      }
      result = vector::FromElementsOp::create(b, loc, vector, lanes);
    } else {
      result = call(b, op->getOperands());
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
  return success();
}

// Operations without an instruction: rounding divisions, and conversions of bf16. The pass of all expansions would
// also replace maximumf and minimumf, by code that takes -0.0 and +0.0 for equal.
static LogicalResult expandArithmetic(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

static LogicalResult runPasses(ModuleOp module, function_ref<void(OpPassManager &)> build) {
  PassManager pm(module.getContext());
  build(pm);
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
};
} // namespace

// kernel(args…, box…, scratch) → @name.body, and @name(ptr slots, ptr begin, ptr end, ptr scratch) that calls it.
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
  auto constant = [&](int64_t v) -> Value { return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(v)); };
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
    // Two buffers of one kernel never overlap where one is written: the plan gives each its own memory, and an
    // operand that is received twice is one argument.
    body.setArgAttr(args.size() + 1, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    body.setArgAttr(args.size() + 1, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
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
  LLVM::ReturnOp::create(b, loc, ValueRange{});
}

LogicalResult cpu::lowerToLoops(ModuleOp kernels) {
  copiesToLinalg(kernels);
  return runPasses(kernels, [](OpPassManager &pm) {
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
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
    if (!func->hasAttr(kernelAttr))
      continue;
    Signature &s = signatures[func.getName()];
    s.types.assign(func.getArgumentTypes().begin(), func.getArgumentTypes().end());
    for (unsigned i = 0; i < s.types.size(); ++i)
      s.indirect.push_back(func.getArgAttr(i, indirectAttr) != nullptr);
    func.removeArgAttrsAttr();
    func->removeAttr(kernelAttr);
  }
  if (failed(runPasses(kernels, [](OpPassManager &pm) {
        pm.addPass(createCanonicalizerPass());
        pm.addPass(createCSEPass());
        pm.addPass(createLoopInvariantCodeMotionPass());
        pm.addPass(memref::createExpandStridedMetadataPass());
        pm.addPass(createLowerAffinePass());
        pm.addPass(createConvertVectorToSCFPass(VectorTransferToSCFOptions().enableFullUnroll()));
        pm.addPass(createLowerAffinePass());
        pm.addPass(createCanonicalizerPass());
      })))
    return failure();
  if (failed(mathToCalls(kernels)) || failed(expandArithmetic(kernels)))
    return failure();
  if (failed(runPasses(kernels, [](OpPassManager &pm) {
        pm.addPass(createSCFToControlFlowPass());
        pm.addPass(memref::createExpandStridedMetadataPass());
        pm.addPass(createLowerAffinePass());
        ConvertVectorToLLVMPassOptions vector;
        vector.reassociateFPReductions = false;
        pm.addPass(createConvertVectorToLLVMPass(vector));
        pm.addPass(createConvertToLLVMPass());
        pm.addPass(createReconcileUnrealizedCastsPass());
      })))
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
