// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes regions and runs them. What single operations do is in the files of their families.
#include "tessera/oracle/Interpreter.h"

#include "tessera/oracle/Meaning.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/SymbolTable.h"

using namespace tessera;
using namespace tessera::oracle;

Interpreter::Interpreter(const Options &options) : options(options) {
  addArith(table);
  addArithCasts(table);
  addMath(table);
  addScf(table);
  addControlFlow(table);
  addAffine(table);
  addTensor(table);
  addMemRef(table);
  addAtomics(table);
  addBufferization(table);
  addVector(table);
  addVectorMemory(table);
  addVectorReductions(table);
  addLinalg(table);
  addGraph(table);
  addHost(table);
  addNn(table);
}

Operation *Interpreter::lookup(Operation *from, SymbolRefAttr symbol) {
  return SymbolTable::lookupNearestSymbolFrom(from, symbol);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static LogicalResult runUnknown(Exec &x, const Inst &inst) {
  return x.error(inst, "has no meaning in the oracle");
}

// A target's dialect brings its meaning along, the first time that one of its operations is met.
Handler Interpreter::findHandler(Operation &op) {
  StringRef name = op.getName().getStringRef();
  if (Handler handler = table.lookup(name))
    return handler;
  Dialect *dialect = op.getDialect();
  auto *meaning = dialect ? dialect->getRegisteredInterface<Meaning>() : nullptr;
  if (!meaning)
    return nullptr;
  meaning->addTo(table);
  return table.lookup(name);
}

static uint32_t slotOf(Code &code, llvm::DenseMap<Value, uint32_t> &slots, Value value) {
  auto [it, isNew] = slots.try_emplace(value, code.slots);
  if (isNew)
    ++code.slots;
  return it->second;
}

// A tensor's last direct use in the block that defines it: from there its elements may be taken instead of
// copied. Without this a loop that carries a tensor would copy it in each iteration.
static bool isLastUse(Operation &op, unsigned operand) {
  Value value = op.getOperand(operand);
  if (!isa<RankedTensorType, VectorType>(value.getType()) || value.getParentBlock() != op.getBlock())
    return false;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (user == &op) {
      if (use.getOperandNumber() > operand)
        return false;
      continue;
    }
    Operation *ancestor = op.getBlock()->findAncestorOpInBlock(*user);
    if (!ancestor || ancestor == &op || op.isBeforeInBlock(ancestor))
      return false;
  }
  return true;
}

void Interpreter::decodeInst(Code &code, Operation &op, Inst &inst, llvm::DenseMap<Value, uint32_t> &slots,
                             llvm::DenseMap<Block *, const CodeBlock *> &blocks) {
  inst.op = &op;
  for (Value operand : op.getOperands())
    inst.in.push_back(slotOf(code, slots, operand));
  for (Value result : op.getResults())
    inst.out.push_back(slotOf(code, slots, result));
  for (unsigned i = 0; i < std::min(op.getNumOperands(), 64u); ++i)
    if (isLastUse(op, i))
      inst.lastUses |= uint64_t(1) << i;
  if (op.getNumOperands())
    inst.operandInfo = ElementInfo::get(op.getOperand(0).getType());
  if (op.getNumResults())
    inst.resultInfo = ElementInfo::get(op.getResult(0).getType());
  Type shaping = op.getNumResults()    ? op.getResult(0).getType()
                 : op.getNumOperands() ? op.getOperand(0).getType()
                                       : Type();
  inst.isShaped = shaping && isa<RankedTensorType, VectorType>(shaping);
  inst.isTerminator = op.hasTrait<OpTrait::IsTerminator>();
  for (Block *successor : op.getSuccessors())
    inst.successors.push_back(blocks.lookup(successor));
  inst.handler = findHandler(op);
  if (!inst.handler && isa<linalg::LinalgOp>(op))
    inst.handler = runStructured;
  if (!inst.handler)
    inst.handler = runUnknown;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (std::optional<Val> value = constantValue(constant.getValue(), constant.getType()))
      inst.constant = *value;
  // What arithmetic asks of its attributes each time it runs.
  if (auto flagged = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    inst.immediate = static_cast<int64_t>(flagged.getOverflowAttr().getValue());
  else if (auto compare = dyn_cast<arith::CmpIOp>(op))
    inst.immediate = static_cast<int64_t>(compare.getPredicate());
  else if (auto compare = dyn_cast<arith::CmpFOp>(op))
    inst.immediate = static_cast<int64_t>(compare.getPredicate());
  else if (auto extent = dyn_cast<dfg::ExtentOp>(op))
    inst.immediate = extent.getDim();
  else if (auto accumulate = dyn_cast<dfg::AccumulateOp>(op))
    inst.table = accumulate.getReduction().getAsOpaquePointer();
  if (isa<dfg::BarrierOp>(op))
    code.hasBarrier = true;
  if (op.hasTrait<OpTrait::IsIsolatedFromAbove>())
    return;
  inst.regions.resize(op.getNumRegions());
  for (auto [region, decoded] : llvm::zip(op.getRegions(), inst.regions))
    decodeRegion(code, region, decoded, slots);
}

void Interpreter::decodeRegion(Code &code, Region &region, CodeRegion &result,
                               llvm::DenseMap<Value, uint32_t> &slots) {
  llvm::DenseMap<Block *, const CodeBlock *> blocks;
  for (Block &block : region) {
    result.blocks.push_back(std::make_unique<CodeBlock>());
    blocks[&block] = result.blocks.back().get();
    for (Value arg : block.getArguments())
      result.blocks.back()->args.push_back(slotOf(code, slots, arg));
  }
  for (auto [block, decoded] : llvm::zip(region, result.blocks)) {
    decoded->insts.resize(block.getOperations().size());
    for (auto [op, inst] : llvm::zip(block, decoded->insts))
      decodeInst(code, op, inst, slots, blocks);
  }
}

const Code &Interpreter::getCode(Operation *op) {
  std::unique_ptr<Code> &code = codes[op];
  if (!code) {
    code = std::make_unique<Code>();
    llvm::DenseMap<Value, uint32_t> slots;
    decodeRegion(*code, op->getRegion(0), code->region, slots);
  }
  return *code;
}

LogicalResult Interpreter::runAlone(Operation *op, MutableArrayRef<Val> operands, Vals &results) {
  Code code;
  Inst inst;
  llvm::DenseMap<Value, uint32_t> slots;
  llvm::DenseMap<Block *, const CodeBlock *> blocks;
  decodeInst(code, *op, inst, slots, blocks);
  std::vector<Val> frame(code.slots);
  for (auto [slot, value] : llvm::zip_equal(inst.in, operands))
    frame[slot] = value;
  // Its operands are used elsewhere, as far as it can know.
  inst.lastUses = 0;
  Exec x(*this);
  x.frame = frame.data();
  if (failed(inst.handler(x, inst)))
    return failure();
  results.clear();
  for (uint32_t slot : inst.out)
    results.push_back(std::move(frame[slot]));
  return success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

// The block that a branch goes on with, and the values of its arguments.
static LogicalResult chooseSuccessor(Exec &x, const Inst &inst, const CodeBlock *&next, Vals &args) {
  auto branch = dyn_cast<BranchOpInterface>(inst.op);
  if (!branch)
    return runUnknown(x, inst);
  unsigned chosen = 0;
  if (inst.successors.size() > 1) {
    const Val &flag = x.in(inst, 0);
    if (flag.isUndef())
      return x.undefined(inst, "the branch depends on an undefined value");
    APInt value = flag.getInt(inst.operandInfo.width);
    StringRef name = inst.op->getName().getStringRef();
    if (name == "cf.cond_br") {
      chosen = value.isZero() ? 1 : 0;
    } else {
      // A switch: the first successor is the default, the others follow the order of the cases.
      if (auto cases = inst.op->getAttrOfType<DenseIntElementsAttr>("case_values"))
        for (auto [i, c] : llvm::enumerate(cases.getValues<APInt>()))
          if (c == value)
            chosen = i + 1;
    }
  }
  OperandRange forwarded = branch.getSuccessorOperands(chosen).getForwardedOperands();
  args.clear();
  for (unsigned i = 0; i < forwarded.size(); ++i)
    args.push_back(x.in(inst, forwarded.getBeginOperandIndex() + i));
  next = inst.successors[chosen];
  return success();
}

LogicalResult Exec::run(const CodeRegion &region, MutableArrayRef<Val> args, Vals &results,
                        const Inst **terminator) {
  const CodeBlock *block = &region.front();
  for (size_t i = 0; i < args.size(); ++i)
    frame[block->args[i]] = std::move(args[i]);
  uint64_t limit = interpreter.getOptions().maxSteps;
  while (true) {
    const CodeBlock *next = nullptr;
    for (const Inst &inst : block->insts) {
      if (++interpreter.steps == limit)
        return error(inst, "is beyond the limit of " + Twine(limit) + " operations");
      if (!inst.isTerminator) {
        if (failed(inst.handler(*this, inst)))
          return failure();
        if (makesHalves && inst.out.size() == 1) // several are those of a region, which made them
          roundToHalf(inst.resultInfo, out(inst));
        continue;
      }
      if (!inst.successors.empty()) {
        Vals passed;
        if (failed(chooseSuccessor(*this, inst, next, passed)))
          return failure();
        for (size_t i = 0; i < passed.size(); ++i)
          frame[next->args[i]] = std::move(passed[i]);
        break;
      }
      if (inst.op->getName().getStringRef() == "ub.unreachable")
        return error(inst, "is reached");
      results.clear();
      for (unsigned i = 0; i < inst.in.size(); ++i)
        results.push_back(take(inst, i));
      if (terminator)
        *terminator = &inst;
      return success();
    }
    if (!next) {
      // A block whose terminator is implied.
      results.clear();
      return success();
    }
    block = next;
  }
}

std::string Level::describe(uint64_t instance) const {
  std::string text = ")";
  uint64_t rest = instance - 1;
  for (size_t d = extents.size(); d-- > 0;) {
    auto extent = static_cast<uint64_t>(extents[d]);
    text = (d ? ", " : "") + std::to_string(rest % extent) + text;
    rest /= extent;
  }
  return "(" + text;
}

LogicalResult Exec::error(Operation *op, const Twine &message) const {
  InFlightDiagnostic diag = op->emitOpError(message);
  for (const Level &level : llvm::reverse(levels)) {
    if (auto node = dyn_cast<dfg::NodeOp>(level.op))
      diag.attachNote(level.op->getLoc())
          << "in instance " << level.describe(level.instance) << " of node '" << node.getName() << "'";
    else
      diag.attachNote(level.op->getLoc())
          << "in iteration " << level.describe(level.instance) << " of this loop";
  }
  return failure();
}

LogicalResult Exec::undefined(const Inst &inst, const Twine &what) const { return error(inst, what); }

LogicalResult Exec::index(const Inst &inst, unsigned operand, int64_t &value) const {
  const Val &v = in(inst, operand);
  if (v.isUndef())
    return undefined(inst);
  value = v.getIndex();
  return success();
}

LogicalResult Exec::indices(const Inst &inst, unsigned first, unsigned count,
                            SmallVectorImpl<int64_t> &values) const {
  values.resize(count);
  for (unsigned i = 0; i < count; ++i)
    if (failed(index(inst, first + i, values[i])))
      return failure();
  return success();
}

LogicalResult Exec::mixed(const Inst &inst, ArrayRef<int64_t> statics, unsigned &first,
                          SmallVectorImpl<int64_t> &values) const {
  values.assign(statics.begin(), statics.end());
  for (int64_t &value : values)
    if (ShapedType::isDynamic(value) && failed(index(inst, first++, value)))
      return failure();
  return success();
}

LogicalResult oracle::mapElements(Exec &x, const Inst &inst, ScalarFunction function) {
  SmallVector<const Val *, 4> in(inst.in.size());
  SmallVector<Val, 2> out(inst.out.size());
  if (!inst.isShaped) {
    for (unsigned i = 0; i < in.size(); ++i) {
      in[i] = &x.in(inst, i);
      if (in[i]->isUndef())
        return x.undefined(inst);
    }
    if (failed(function(x, inst, in.data(), out.data())))
      return failure();
    for (unsigned i = 0; i < out.size(); ++i)
      x.out(inst, i) = std::move(out[i]);
    return success();
  }
  // The first operand that has elements gives the extents; scalars among the operands are used for all of
  // them.
  const Elements *shape = nullptr;
  SmallVector<Val, 4> scalars(in.size());
  for (unsigned i = 0; i < in.size(); ++i) {
    const Val &operand = x.in(inst, i);
    if (operand.isUndef())
      return x.undefined(inst);
    if (operand.getTag() != Val::Tensor) {
      in[i] = &operand;
      continue;
    }
    in[i] = &scalars[i];
    if (shape && shape->shape != operand.elements().shape)
      return x.error(inst, "has operands of different extents " + formatIndex(shape->shape) + " and " +
                               formatIndex(operand.elements().shape));
    shape = &operand.elements();
  }
  SmallVector<Ref<Elements>, 2> results;
  for (Type type : inst.op->getResultTypes())
    results.push_back(new Elements(ElementInfo::get(type), shape->shape));
  int64_t count = shape->size();
  for (int64_t e = 0; e < count; ++e) {
    bool isDefined = true;
    for (unsigned i = 0; i < in.size(); ++i)
      if (in[i] == &scalars[i]) {
        scalars[i] = x.in(inst, i).elements().load(e);
        isDefined &= !scalars[i].isUndef();
      }
    for (Val &v : out)
      v = Val();
    if (isDefined && failed(function(x, inst, in.data(), out.data())))
      return failure();
    for (unsigned r = 0; r < out.size(); ++r)
      results[r]->store(e, out[r]);
  }
  for (unsigned r = 0; r < out.size(); ++r)
    x.out(inst, r) = Val::of(results[r].get());
  return success();
}
