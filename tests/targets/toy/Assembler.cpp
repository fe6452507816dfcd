// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Assembler.h.
#include "Assembler.h"

#include "tessera/transforms/nn/graph/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tessera;
using namespace tessera::toy;

std::optional<toy::Element> toy::typeOf(mlir::Type type) {
  if (type.isIndex() || type.isInteger(64))
    return Element::I64;
  if (type.isF32())
    return Element::F32;
  if (type.isF64())
    return Element::F64;
  for (auto [bits, own] :
       {std::pair(1, Element::I1), {8, Element::I8}, {16, Element::I16}, {32, Element::I32}})
    if (type.isInteger(bits))
      return own;
  return std::nullopt;
}

static std::optional<Opcode> opcodeOf(Operation *op) {
  return llvm::StringSwitch<std::optional<Opcode>>(op->getName().getStringRef())
      .Cases({"arith.addi", "arith.addf"}, Opcode::Add)
      .Cases({"arith.subi", "arith.subf"}, Opcode::Sub)
      .Cases({"arith.muli", "arith.mulf"}, Opcode::Mul)
      .Cases({"arith.divsi", "arith.divf"}, Opcode::Div)
      .Case("arith.divui", Opcode::DivUnsigned)
      .Cases({"arith.remsi", "arith.remf"}, Opcode::Rem)
      .Case("arith.remui", Opcode::RemUnsigned)
      .Case("arith.andi", Opcode::And)
      .Case("arith.ori", Opcode::Or)
      .Case("arith.xori", Opcode::Xor)
      .Case("arith.shli", Opcode::Shl)
      .Case("arith.shrsi", Opcode::Shr)
      .Case("arith.shrui", Opcode::ShrUnsigned)
      .Cases({"arith.maxsi", "arith.maximumf"}, Opcode::Max)
      .Cases({"arith.minsi", "arith.minimumf"}, Opcode::Min)
      .Case("arith.maxui", Opcode::MaxUnsigned)
      .Case("arith.minui", Opcode::MinUnsigned)
      .Case("arith.maxnumf", Opcode::MaxNumber)
      .Case("arith.minnumf", Opcode::MinNumber)
      .Case("arith.cmpi", Opcode::CompareInt)
      .Case("arith.cmpf", Opcode::CompareFloat)
      .Case("arith.negf", Opcode::Negate)
      .Cases({"math.absi", "math.absf"}, Opcode::Abs)
      .Case("math.sqrt", Opcode::Sqrt)
      .Case("math.floor", Opcode::Floor)
      .Case("math.ceil", Opcode::Ceil)
      .Cases({"arith.extsi", "arith.extf", "arith.index_cast"}, Opcode::Extend)
      .Cases({"arith.extui", "arith.index_castui"}, Opcode::ExtendUnsigned)
      .Cases({"arith.trunci", "arith.truncf"}, Opcode::Truncate)
      .Case("arith.sitofp", Opcode::ToFloat)
      .Case("arith.uitofp", Opcode::ToFloatUnsigned)
      .Case("arith.fptosi", Opcode::ToInt)
      .Case("arith.fptoui", Opcode::ToIntUnsigned)
      .Case("arith.bitcast", Opcode::Bits)
      .Case("arith.select", Opcode::Select)
      .Default(std::nullopt);
}

bool toy::hasInstruction(Operation *op) {
  auto isKnown = [](mlir::Type type) { return typeOf(type).has_value(); };
  return (opcodeOf(op) || isa<arith::ConstantOp>(op)) && op->getNumResults() == 1 &&
         llvm::all_of(op->getOperandTypes(), isKnown) && llvm::all_of(op->getResultTypes(), isKnown);
}

namespace {

/// Numbers and lists as Bytecode.h says.
class Writer {
public:
  template <typename T> void put(const T &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
  }
  template <typename T> void list(ArrayRef<T> values) {
    put(uint32_t(values.size()));
    bytes.append(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  }
  std::string bytes;
};

/// Memory as a kernel sees it: its register, and one for each extent.
struct Memory {
  uint32_t base = 0;
  SmallVector<uint32_t> extents;
};

class Assembler {
public:
  Assembler(func::FuncOp kernel, const llvm::StringMap<uint32_t> &globals)
      : kernel(kernel), globals(globals) {}
  LogicalResult run();
  void write(Writer &out) const;

private:
  uint32_t fresh() { return registers++; }
  uint32_t of(Value v) { return values.try_emplace(v, registers).second ? registers++ : values[v]; }
  void emit(Opcode op, Element type, uint32_t d, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0,
            uint8_t sub = 0) {
    code.push_back({op, type, sub, 0, d, a, b, c});
  }
  uint32_t word(uint64_t value) {
    uint32_t r = fresh();
    emit(Opcode::Word, Element::I64, r, words.size());
    words.push_back(value);
    return r;
  }
  uint32_t times(uint32_t a, uint32_t b) {
    uint32_t r = fresh();
    emit(Opcode::Mul, Element::I64, r, a, b);
    return r;
  }
  void addArguments();
  Memory newMemory(MemRefType type, uint32_t base, ValueRange open);
  uint32_t indexOf(const Memory &memory, ValueRange indices);
  LogicalResult visit(Operation &op);
  LogicalResult visitMemory(Operation &op);
  void visitArithmetic(Operation &op);
  void visitConvolution(func::CallOp call);
  /// Values for a block's arguments, all at once, and a jump there.
  void jump(Block *to, ValueRange operands);

  func::FuncOp kernel;
  const llvm::StringMap<uint32_t> &globals;
  uint32_t registers = 0, arguments = 0;
  std::vector<Instruction> code;
  std::vector<uint64_t> words;
  std::vector<Convolution> convolutions;
  DenseMap<Value, uint32_t> values;
  DenseMap<Value, Memory> memories;
  DenseMap<Block *, uint32_t> starts;
  std::vector<std::pair<uint32_t, Block *>> jumps; ///< where the target is filled in at the end
};

} // namespace

void Assembler::addArguments() {
  SmallVector<BlockArgument> indirect;
  for (BlockArgument arg : kernel.getArguments()) {
    uint32_t r = of(arg);
    if (kernel.getArgAttr(arg.getArgNumber(), indirectAttr))
      indirect.push_back(arg);
    auto type = dyn_cast<MemRefType>(arg.getType());
    if (!type)
      continue;
    memories[arg].base = r;
    for (int64_t extent : type.getShape())
      memories[arg].extents.push_back(ShapedType::isDynamic(extent) ? fresh() : ~0u);
  }
  arguments = registers;
  for (auto &[value, memory] : memories)
    for (auto [d, extent] : llvm::enumerate(memory.extents))
      if (extent == ~0u)
        extent = word(cast<MemRefType>(value.getType()).getDimSize(d));
  for (BlockArgument arg : indirect) {
    uint32_t zero = word(0), loaded = fresh();
    emit(Opcode::Load, *typeOf(arg.getType()), loaded, of(arg), zero);
    values[arg] = loaded;
  }
}

Memory Assembler::newMemory(MemRefType type, uint32_t base, ValueRange open) {
  Memory memory{base, {}};
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent)) {
      memory.extents.push_back(of(open.front()));
      open = open.drop_front();
    } else {
      memory.extents.push_back(word(extent));
    }
  }
  return memory;
}

uint32_t Assembler::indexOf(const Memory &memory, ValueRange indices) {
  uint32_t index = word(0);
  for (auto [extent, i] : llvm::zip(memory.extents, indices)) {
    uint32_t scaled = times(index, extent), sum = fresh();
    emit(Opcode::Add, Element::I64, sum, scaled, of(i));
    index = sum;
  }
  return index;
}

void Assembler::jump(Block *to, ValueRange operands) {
  SmallVector<uint32_t> copies;
  for (Value v : operands) {
    copies.push_back(fresh());
    emit(Opcode::Move, Element::I64, copies.back(), of(v));
  }
  for (auto [arg, copy] : llvm::zip(to->getArguments(), copies))
    emit(Opcode::Move, Element::I64, of(arg), copy);
  jumps.push_back({uint32_t(code.size()), to});
  emit(Opcode::Jump, Element::I64, 0);
}

void Assembler::visitArithmetic(Operation &op) {
  uint32_t d = of(op.getResult(0));
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    uint64_t bits = 0;
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      bits = number.getValue().sextOrTrunc(64).getZExtValue();
    else
      bits = cast<FloatAttr>(constant.getValue()).getValue().bitcastToAPInt().getZExtValue();
    emit(Opcode::Word, Element::I64, d, words.size());
    words.push_back(bits);
    return;
  }
  SmallVector<uint32_t, 3> operands;
  for (Value v : op.getOperands())
    operands.push_back(of(v));
  operands.resize(3);
  // A comparison is of its operands' type, a conversion knows both.
  Opcode opcode = *opcodeOf(&op);
  Element type = *typeOf(op.getResult(0).getType()), from = *typeOf(op.getOperand(0).getType());
  uint8_t sub = opcode >= Opcode::Extend ? uint8_t(from) : 0;
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    type = from;
    sub = uint8_t(compare.getPredicate());
  } else if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    type = from;
    sub = uint8_t(compare.getPredicate());
  } else if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && bytesOf(type) < bytesOf(from)) {
    opcode = Opcode::Truncate;
  }
  emit(opcode, type, d, operands[0], operands[1], operands[2], sub);
}

void Assembler::visitConvolution(func::CallOp call) {
  auto numbers = cast<DenseI64ArrayAttr>(call->getAttr(convolutionAttr)).asArrayRef();
  const Memory &x = memories[call.getOperand(0)];
  Convolution c{x.base,
                memories[call.getOperand(1)].base,
                call.getNumOperands() > 3 ? memories[call.getOperand(3)].base : ~0u,
                memories[call.getOperand(2)].base,
                x.extents[0],
                numbers[0],
                numbers[1],
                numbers[2],
                numbers[3],
                {numbers[4], numbers[5]},
                {numbers[6], numbers[7]},
                {numbers[8], numbers[9], numbers[10], numbers[11]},
                {numbers[12], numbers[13]},
                numbers[14]};
  emit(Opcode::Convolve, Element::F32, 0, convolutions.size());
  convolutions.push_back(c);
}

LogicalResult Assembler::visitMemory(Operation &op) {
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    const Memory memory = memories[load.getMemRef()];
    uint32_t index = indexOf(memory, load.getIndices());
    emit(Opcode::Load, *typeOf(load.getType()), of(load), memory.base, index);
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    const Memory memory = memories[store.getMemRef()];
    uint32_t index = indexOf(memory, store.getIndices());
    emit(Opcode::Store, *typeOf(store.getValue().getType()), 0, memory.base, index, of(store.getValue()));
  } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    Memory memory = newMemory(alloc.getType(), fresh(), alloc.getDynamicSizes());
    uint32_t bytes = word(bytesOf(*typeOf(alloc.getType().getElementType())));
    for (uint32_t extent : memory.extents)
      bytes = times(bytes, extent);
    emit(Opcode::Take, Element::I64, memory.base, bytes);
    memories[alloc] = memory;
  } else if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
    Memory memory = newMemory(global.getType(), fresh(), {});
    emit(Opcode::Constant, Element::I64, memory.base, globals.lookup(global.getName()));
    memories[global.getResult()] = memory;
  } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
    emit(Opcode::Move, Element::I64, of(dim), memories[dim.getSource()].extents[*dim.getConstantIndex()]);
  } else if (auto cast = dyn_cast<memref::CastOp>(op)) {
    memories[cast.getResult()] = Memory(memories[cast.getSource()]);
  } else if (!isa<memref::DeallocOp>(op)) {
    return op.emitOpError("is nothing that the toy can do with memory");
  }
  return success();
}

LogicalResult Assembler::visit(Operation &op) {
  if (hasInstruction(&op)) {
    visitArithmetic(op);
  } else if (auto branch = dyn_cast<cf::BranchOp>(op)) {
    jump(branch.getDest(), branch.getDestOperands());
  } else if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
    uint32_t at = code.size();
    emit(Opcode::Branch, Element::I64, 0, of(branch.getCondition()), at + 1);
    jump(branch.getTrueDest(), branch.getTrueDestOperands());
    code[at].c = code.size();
    jump(branch.getFalseDest(), branch.getFalseDestOperands());
  } else if (isa<func::ReturnOp>(op)) {
    emit(Opcode::Return, Element::I64, 0);
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    visitConvolution(call);
  } else if (isa<memref::MemRefDialect>(op.getDialect())) {
    return visitMemory(op);
  } else {
    return op.emitOpError("has no instruction of the toy's");
  }
  return success();
}

LogicalResult Assembler::run() {
  addArguments();
  for (Block &block : kernel.getBody()) {
    starts[&block] = code.size();
    for (Operation &op : block)
      if (failed(visit(op)))
        return failure();
  }
  for (auto [at, block] : jumps)
    code[at].a = starts[block];
  return success();
}

void Assembler::write(Writer &out) const {
  StringRef name = func::FuncOp(kernel).getName();
  out.list(ArrayRef(name.data(), name.size()));
  out.put(registers);
  out.put(arguments);
  out.list(ArrayRef(code));
  out.list(ArrayRef(words));
  out.list(ArrayRef(convolutions));
}

FailureOr<std::string> toy::assemble(ModuleOp module) {
  Writer out;
  out.put(imageMagic);
  llvm::StringMap<uint32_t> globals;
  auto all = llvm::to_vector(module.getOps<memref::GlobalOp>());
  out.put(uint32_t(all.size()));
  for (memref::GlobalOp global : all) {
    globals[global.getSymName()] = globals.size();
    nn::Bytes bytes(cast<ElementsAttr>(*global.getInitialValue()));
    if (!bytes)
      return global.emitOpError("is a constant that the toy cannot read"), failure();
    out.put(uint64_t(bytes.data().size()));
    out.bytes.append(bytes.data().data(), bytes.data().size());
  }
  SmallVector<func::FuncOp> kernels;
  for (auto kernel : module.getOps<func::FuncOp>())
    if (!kernel.isDeclaration())
      kernels.push_back(kernel);
  out.put(uint32_t(kernels.size()));
  for (func::FuncOp kernel : kernels) {
    Assembler assembler(kernel, globals);
    if (failed(assembler.run()))
      return failure();
    assembler.write(out);
  }
  return std::move(out.bytes);
}
