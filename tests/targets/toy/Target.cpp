// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compile-time half of the toy: leaves of plain arithmetic become bytecode by way of loops and branches,
// and nn.conv is an instruction. It shares nothing with any other target.
#include "tessera/targets/Target.h"

#include "Assembler.h"
#include "tessera/ir/nn/Nn.h"
#include "tessera/targets/common/Bufferize.h"
#include "tessera/transforms/nn/graph/Rewrites.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace tessera;

// Two spatial dimensions of f32, all extents known but the number of images.
static bool isConvolution(Operation *op) {
  auto conv = dyn_cast<nn::ConvOp>(op);
  if (!conv)
    return false;
  auto x = cast<RankedTensorType>(conv.getX().getType()), w = cast<RankedTensorType>(conv.getW().getType());
  return x.getRank() == 4 && x.getElementType().isF32() && w.hasStaticShape() &&
         llvm::none_of(x.getShape().drop_front(), ShapedType::isDynamic);
}

static bool isPlainLeaf(dfg::NodeOp node) {
  auto isKnown = [](mlir::Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !isa<MemRefType, VectorType>(type) && (!shaped || shaped.hasRank()) &&
           toy::typeOf(getElementTypeOrSelf(type));
  };
  if (node.isInternal() || !llvm::all_of(node->getOperandTypes(), isKnown) ||
      !llvm::all_of(node->getResultTypes(), isKnown))
    return false;
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (dfg::PortMode mode = node.getPort(i).getMode();
        mode != dfg::PortMode::Each && mode != dfg::PortMode::Whole)
      return false;
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    if (node.getYield(r).getMode() != dfg::ResultMode::Gather)
      return false;
  return !node.getBody()
              .walk([](Operation *op) {
                const bool isKnown =
                    toy::hasInstruction(op) ||
                    isa<dfg::YieldOp, scf::IfOp, scf::ForOp, scf::YieldOp, tensor::DimOp, tensor::ExtractOp>(
                        op);
                return isKnown ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

// nn.conv %x, %w, %b  →  call @toy.convolve(memory of %x, of %w, new memory, memory of %b)
static void callConvolution(nn::ConvOp conv, ModuleOp module) {
  OpBuilder b(conv);
  Location loc = conv.getLoc();
  auto memoryOf = [&](Value v) -> Value {
    auto type = cast<RankedTensorType>(v.getType());
    return bufferization::ToBufferOp::create(b, loc, MemRefType::get(type.getShape(), type.getElementType()),
                                             v,
                                             /*read_only=*/true);
  };
  auto x = cast<RankedTensorType>(conv.getX().getType()), w = cast<RankedTensorType>(conv.getW().getType()),
       y = cast<RankedTensorType>(conv.getY().getType());
  SmallVector<Value> open;
  if (y.isDynamicDim(0))
    open.push_back(tensor::DimOp::create(b, loc, conv.getX(), 0));
  Value made = memref::AllocOp::create(b, loc, MemRefType::get(y.getShape(), y.getElementType()), open);
  SmallVector<Value> operands = {memoryOf(conv.getX()), memoryOf(conv.getW()), made};
  if (conv.getBias())
    operands.push_back(memoryOf(conv.getBias()));
  SmallVector<int64_t> numbers = {x.getDimSize(1), x.getDimSize(2), x.getDimSize(3),
                                  w.getDimSize(0), w.getDimSize(2), w.getDimSize(3)};
  for (ArrayRef<int64_t> list : {conv.getStrides(), conv.getPads(), conv.getDilations()})
    llvm::append_range(numbers, list);
  numbers.push_back(conv.getGroups());
  // One declaration for each, since the types differ.
  auto callee = func::FuncOp::create(b.getUnknownLoc(), toy::convolutionName,
                                     b.getFunctionType(ValueRange(operands).getTypes(), {}));
  callee.setPrivate();
  SymbolTable(module).insert(callee);
  auto call = func::CallOp::create(b, loc, callee, operands);
  call->setAttr(toy::convolutionAttr, b.getDenseI64ArrayAttr(numbers));
  conv.getY().replaceAllUsesWith(bufferization::ToTensorOp::create(b, loc, y, made, /*restrict=*/true));
  conv.erase();
}

// What the kernel takes, as the plan knows it: the memory of a shaped value and its open extents, or a
// number.
static plan::Step describe(NodeLowering &node) {
  plan::Program &program = node.env.program;
  plan::ExprId one = program.constant(1), zero = program.constant(0);
  plan::Step step;
  step.kernel = node.payload.getName().str();
  step.grid = {one, one, one};
  step.scratch = step.flops = step.bytes = zero;
  for (BlockArgument arg : node.payload.getArguments()) {
    auto known = node.env.values.find(arg);
    if (known == node.env.values.end()) {
      step.args.push_back(plan::exprArg(*node.env.translate(arg)));
      continue;
    }
    step.args.push_back(plan::valueArg(known->second));
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type) {
      node.payload.setArgAttr(arg.getArgNumber(), toy::indirectAttr, UnitAttr::get(arg.getContext()));
      continue;
    }
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        step.args.push_back(plan::exprArg(program.dim(known->second, d)));
  }
  return step;
}

static LogicalResult lowerToBranches(ModuleOp module) {
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::CopyOp op : copies) {
    OpBuilder b(op);
    linalg::makeMemRefCopyOp(b, op.getLoc(), op.getSource(), op.getTarget());
    op.erase();
  }
  PassManager pm(module.getContext());
  OpPassManager &each = pm.nest<func::FuncOp>();
  each.addPass(createConvertLinalgToLoopsPass());
  each.addPass(createForallToForLoopPass());
  each.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  return pm.run(module);
}

namespace {

class ToyTarget : public Target {
public:
  TargetInfo info(const TargetOptions &) const override {
    return {.name = "toy",
            .summary = "an interpreter of a small bytecode, for tests",
            .flopsPerSecond = 1e8,
            .bytesPerSecond = 1e8};
  }

  bool supports(Operation *op, const TargetOptions &) const override {
    auto node = dyn_cast<dfg::NodeOp>(op);
    return node ? isPlainLeaf(node) : isConvolution(op);
  }

  // A node for each convolution, with its weights inside: they become constants of the image.
  LogicalResult prepare(dfg::NodeOp region, const RegionOptions &, const TargetOptions &) const override {
    SmallVector<SmallVector<Operation *>> parts;
    for (Operation &op : region.getBodyBlock()->without_terminator())
      if (isConvolution(&op))
        parts.push_back({&op});
    (void)nn::cutNetwork(region, parts);
    return success();
  }

  // A convolution stays what it is.
  LogicalResult lowerNetwork(dfg::NodeOp) const override { return success(); }

  LogicalResult lower(ModuleOp module, MutableArrayRef<NodeLowering> nodes,
                      const TargetOptions &) const override {
    SmallVector<nn::ConvOp> convolutions;
    module.walk([&](nn::ConvOp conv) { convolutions.push_back(conv); });
    for (nn::ConvOp conv : convolutions)
      callConvolution(conv, module);
    if (failed(bufferizePayloads(module)) || failed(lowerToBranches(module)))
      return failure();
    for (NodeLowering &node : nodes) {
      node.version.steps.push_back(describe(node));
      node.version.note = "bytecode";
    }
    return success();
  }

  FailureOr<TargetCode> emit(ModuleOp module, const TargetOptions &) const override {
    FailureOr<std::string> bytes = toy::assemble(module);
    if (failed(bytes))
      return failure();
    return TargetCode{std::move(*bytes), {}};
  }
};

} // namespace

namespace tessera {
std::unique_ptr<Target> createTarget_toy() { return std::make_unique<ToyTarget>(); }
} // namespace tessera
