// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Host.h.
#include "tessera/frontends/heterocpp/Host.h"

#include "tessera/frontends/heterocpp/HostMembers.h"
#include "tessera/frontends/heterocpp/Markers.h"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace tessera::heterocpp;

namespace {

class Rewriter {
public:
  Rewriter(Module &module, const std::string &object, const std::string &installer, bool checks)
      : checks(checks), module(module), context(module.getContext()), ptr(PointerType::getUnqual(context)),
        i64(Type::getInt64Ty(context)), objectBytes(object), installer(installer) {}

  void run(const std::vector<HostLaunch> &launches, const std::vector<HostPush> &pushes);

private:
  struct Site {
    CallBase *call;
    MarkerKind kind;
  };
  /// How an argument of a launch is had: from a call of the marker, or from an item of a stream.
  using Arguments = function_ref<Value *(unsigned)>;
  void launch(CallBase *call, const HostLaunch &launch, CallBase *end);
  void fillSlots(IRBuilder<> &b, Arguments argument, const HostLaunch &launch, Value *slots,
                 HostMembers &members);
  AllocaInst *allocate(Function *function, unsigned count);
  AllocaInst *putWords(IRBuilder<> &b, CallBase *call, const std::vector<HostWord> &words,
                       std::string &kinds);
  Function *makePlacer(const HostLaunch &launch);
  void openStream(CallBase *call, const HostLaunch &launch);
  void push(CallBase *call, const HostPush &push);
  GlobalVariable *record(const std::string &graph);
  GlobalVariable *text(const std::string &content, StringRef name);
  Value *asInteger(IRBuilder<> &b, Value *v) { return b.CreateZExtOrTrunc(v, i64); }
  Type *getType(const HostInput &input);
  Value *scalar(IRBuilder<> &b, Value *v, const HostInput &input);
  void remove(const Site &site);
  void check(IRBuilder<> &b, Arguments argument, const HostLaunch &launch, HostMembers &members);
  Value *extent(IRBuilder<> &b, Arguments argument, const HostInput::Extent &extent, HostMembers &members);
  Value *notNegative(IRBuilder<> &b, Value *v);

  bool checks;
  Module &module;
  LLVMContext &context;
  Type *ptr, *i64;
  const std::string &objectBytes, &installer;
  Constant *object = nullptr;
  GlobalVariable *tool = nullptr;
  std::map<std::string, GlobalVariable *> records;
};

} // namespace

GlobalVariable *Rewriter::text(const std::string &content, StringRef name) {
  Constant *data = ConstantDataArray::getString(context, content);
  auto *global = new GlobalVariable(module, data->getType(), true, GlobalValue::PrivateLinkage, data, name);
  return global;
}

GlobalVariable *Rewriter::record(const std::string &graph) {
  GlobalVariable *&known = records[graph];
  if (known)
    return known;
  if (!object) {
    Constant *data = ConstantDataArray::getRaw(objectBytes, objectBytes.size(), Type::getInt8Ty(context));
    auto *fill = ArrayType::get(Type::getInt8Ty(context), objectAlignment - 8);
    Constant *whole = ConstantStruct::getAnon(
        context, {ConstantInt::get(i64, objectBytes.size()), ConstantAggregateZero::get(fill), data}, true);
    auto *carrier = new GlobalVariable(module, whole->getType(), true, GlobalValue::PrivateLinkage, whole,
                                       ".tessera.object");
    carrier->setSection(objectSection);
    carrier->setAlignment(Align(objectAlignment));
    object = ConstantExpr::getInBoundsGetElementPtr(Type::getInt8Ty(context), carrier,
                                                    ConstantInt::get(i64, objectAlignment));
    tool = text(installer, ".tessera.installer");
  }
  auto *type = StructType::get(context, {ptr, ptr, i64, ptr, ptr});
  Constant *fields[] = {text(graph, ".tessera.name"), object, ConstantInt::get(i64, objectBytes.size()), tool,
                        ConstantPointerNull::get(cast<PointerType>(ptr))};
  known = new GlobalVariable(module, type, false, GlobalValue::InternalLinkage,
                             ConstantStruct::get(type, fields), ".tessera.graph");
  return known;
}

// A scalar as the graph takes it; a call with open arguments has promoted it.
Type *Rewriter::getType(const HostInput &input) {
  if (!input.isFloat)
    return Type::getIntNTy(context, input.bits);
  return input.bits == 64   ? Type::getDoubleTy(context)
         : input.bits == 32 ? Type::getFloatTy(context)
         : input.isBfloat   ? Type::getBFloatTy(context)
                            : Type::getHalfTy(context);
}

Value *Rewriter::scalar(IRBuilder<> &b, Value *v, const HostInput &input) {
  Type *wanted = getType(input);
  Type *type = v->getType();
  if (type->isFloatingPointTy() && input.isFloat)
    return b.CreateFPCast(v, wanted);
  if (type->isFloatingPointTy())
    return input.isSigned ? b.CreateFPToSI(v, wanted) : b.CreateFPToUI(v, wanted);
  if (input.isFloat)
    return input.isSigned ? b.CreateSIToFP(v, wanted) : b.CreateUIToFP(v, wanted);
  return b.CreateIntCast(v, wanted, input.isSigned);
}

// The host waits before it does anything else.
static bool isAwaited(Instruction *from) {
  for (Instruction *op = from->getNextNode(); op; op = op->getNextNode()) {
    if (isa<IntrinsicInst>(op))
      continue;
    if (auto *call = dyn_cast<CallBase>(op)) {
      Function *callee = call->getCalledFunction();
      return callee && getMarkerKind(callee->getName()) == MarkerKind::Wait;
    }
    if (op->isTerminator())
      return false;
  }
  return false;
}

Value *Rewriter::extent(IRBuilder<> &b, Arguments argument, const HostInput::Extent &extent,
                        HostMembers &members) {
  Value *e = ConstantInt::get(i64, extent.factor);
  for (unsigned i : extent.arguments)
    e = b.CreateMul(e, b.CreateSExtOrTrunc(argument(i), i64));
  if (extent.member)
    e = b.CreateMul(e, b.CreateIntCast(members.number(*extent.member, getType(*extent.member)), i64,
                                       extent.member->isSigned));
  return e;
}

Value *Rewriter::notNegative(IRBuilder<> &b, Value *v) {
  return b.CreateSelect(b.CreateICmpSGT(v, ConstantInt::get(i64, 0)), v, ConstantInt::get(i64, 0));
}

// What is declared against what is there, as far as the optimiser sees or the runtime knows, and against what
// the loops write.
void Rewriter::check(IRBuilder<> &b, Arguments argument, const HostLaunch &launch, HostMembers &members) {
  FunctionCallee compare = module.getOrInsertFunction(
      "tsr_hetero_check", FunctionType::get(Type::getVoidTy(context), {ptr, ptr, ptr, i64, i64, i64}, false));
  Type *types[] = {i64, ptr};
  Function *known = Intrinsic::getOrInsertDeclaration(&module, Intrinsic::objectsize, types);
  auto one = [&](const HostInput &input, Value *needed) {
    // What is gathered has the size that it is gathered with.
    if (input.member && input.member->part != Where::Whole)
      return;
    Value *address = members.address(input);
    Value *size = b.CreateCall(known, {address, b.getFalse(), b.getTrue(), b.getTrue()});
    b.CreateCall(compare, {record(launch.graph), text(input.name, ".tessera.buffer"), address,
                           members.bytes(input), size, needed});
  };
  for (const HostInput &input : launch.inputs)
    if (input.sizeArgument)
      one(input, ConstantInt::get(i64, 0));
  for (const HostInput &output : launch.outputs) {
    if (!output.sizeArgument)
      continue;
    Value *needed = ConstantInt::get(i64, output.unitBytes);
    for (const HostInput::Extent &each : output.inner)
      needed = b.CreateMul(needed, notNegative(b, extent(b, argument, each, members)));
    one(output, needed);
  }
}

static unsigned countSlots(const HostLaunch &launch) {
  unsigned count = 0;
  for (const HostInput &input : launch.inputs)
    count += input.sizeArgument ? 2 + input.inner.size() : 1;
  for (const HostInput &output : launch.outputs)
    count += 1 + output.inner.size();
  return count;
}

// For each input its value, or its address and extents; then the memory that only goes out.
void Rewriter::fillSlots(IRBuilder<> &b, Arguments argument, const HostLaunch &launch, Value *slots,
                         HostMembers &members) {
  unsigned slot = 0;
  auto put = [&](Value *v) { b.CreateStore(v, b.CreateConstInBoundsGEP1_64(i64, slots, slot++)); };
  for (const HostInput &input : launch.inputs) {
    if (!input.sizeArgument) {
      put(input.member ? members.number(input, getType(input)) : scalar(b, argument(input.argument), input));
      continue;
    }
    put(members.address(input));
    Value *elements = members.bytes(input);
    elements = b.CreateUDiv(elements, ConstantInt::get(i64, input.unitBytes));
    SmallVector<Value *> extents;
    Value *product = ConstantInt::get(i64, 1);
    for (const HostInput::Extent &each : input.inner) {
      extents.push_back(extent(b, argument, each, members));
      product = b.CreateMul(product, extents.back());
    }
    if (!extents.empty()) {
      // No division by an extent of zero.
      Value *one = ConstantInt::get(i64, 1);
      product = b.CreateSelect(b.CreateICmpSGT(product, ConstantInt::get(i64, 0)), product, one);
      elements = b.CreateUDiv(elements, product);
    }
    put(elements);
    for (Value *extent : extents)
      put(extent);
  }
  for (const HostInput &output : launch.outputs) {
    put(members.address(output));
    for (const HostInput::Extent &each : output.inner)
      put(notNegative(b, extent(b, argument, each, members)));
  }
  if (checks)
    check(b, argument, launch, members);
}

AllocaInst *Rewriter::allocate(Function *function, unsigned count) {
  auto *type = ArrayType::get(i64, std::max(1u, count));
  IRBuilder<> top(&function->getEntryBlock(), function->getEntryBlock().getFirstInsertionPt());
  AllocaInst *slots =
      top.CreateAlloca(type, module.getDataLayout().getAllocaAddrSpace(), nullptr, "tessera.slots");
  slots->setAlignment(Align(8));
  return slots;
}

void Rewriter::launch(CallBase *call, const HostLaunch &launch, CallBase *end) {
  unsigned count = countSlots(launch);
  AllocaInst *slots = allocate(call->getFunction(), count);
  IRBuilder<> b(call);
  auto argument = [&](unsigned i) { return call->getArgOperand(i); };
  HostMembers members(b, argument, module);
  fillSlots(b, argument, launch, slots, members);
  // Nobody can wait for a launch whose handle is thrown away.
  bool awaited = call->use_empty() || launch.isForgotten || members.isPacked() || isAwaited(end ? end : call);
  FunctionCallee run = module.getOrInsertFunction(awaited ? "tsr_hetero_launch" : "tsr_hetero_start",
                                                  FunctionType::get(ptr, {ptr, ptr, i64}, false));
  Value *handle = b.CreateCall(run, {record(launch.graph), slots, ConstantInt::get(i64, count)});
  members.finish(b, launch.inputs);
  call->replaceAllUsesWith(handle);
  if (!end) {
    call->eraseFromParent();
    return;
  }
  // From the begin of the region straight behind its end.
  BasicBlock *after = end->getParent()->splitBasicBlock(std::next(end->getIterator()), "tessera.after");
  BasicBlock *before = call->getParent();
  // The variable that keeps the handle is set before.
  Instruction *last = call;
  for (Instruction *op = call->getNextNode(); op && !op->isTerminator(); op = op->getNextNode())
    if (auto *store = dyn_cast<StoreInst>(op); store && store->getValueOperand() == handle) {
      last = store;
      break;
    }
  before->splitBasicBlock(std::next(last->getIterator()), "tessera.region");
  before->getTerminator()->eraseFromParent();
  IRBuilder<>(before).CreateBr(after);
  call->eraseFromParent();
}

// The values of a call as words: integers of 64 bits, and other numbers as the bits of a double.
AllocaInst *Rewriter::putWords(IRBuilder<> &b, CallBase *call, const std::vector<HostWord> &words,
                               std::string &kinds) {
  AllocaInst *values = allocate(call->getFunction(), words.size());
  for (auto [i, word] : llvm::enumerate(words)) {
    Value *v = call->getArgOperand(word.argument);
    if (word.kind == 'f')
      v = b.CreateFPCast(v, Type::getDoubleTy(context));
    else if (word.kind != 'p')
      v = b.CreateIntCast(v, i64, word.kind == 'i');
    b.CreateStore(v, b.CreateConstInBoundsGEP1_64(i64, values, i));
    kinds += word.kind;
  }
  return values;
}

// Pushes may stand anywhere, so how an item's words become slots is a function that goes with the stream.
Function *Rewriter::makePlacer(const HostLaunch &launch) {
  auto *type = FunctionType::get(Type::getVoidTy(context), {ptr, ptr}, false);
  Function *placer = Function::Create(type, GlobalValue::InternalLinkage, "tessera.place", module);
  IRBuilder<> b(BasicBlock::Create(context, "", placer));
  auto load = [&](unsigned argument) -> Value * {
    for (auto [i, word] : llvm::enumerate(launch.words))
      if (word.argument == argument) {
        Type *wanted = word.kind == 'p' ? ptr : word.kind == 'f' ? Type::getDoubleTy(context) : i64;
        return b.CreateLoad(wanted, b.CreateConstInBoundsGEP1_64(i64, placer->getArg(0), i));
      }
    llvm_unreachable("an input of a graph that its launch does not pass");
  };
  HostMembers members(b, load, module);
  fillSlots(b, load, launch, placer->getArg(1), members);
  b.CreateRetVoid();
  return placer;
}

void Rewriter::openStream(CallBase *call, const HostLaunch &launch) {
  IRBuilder<> b(call);
  std::string kinds;
  AllocaInst *values = putWords(b, call, launch.words, kinds);
  FunctionCallee open = module.getOrInsertFunction(
      "tsr_hetero_stream", FunctionType::get(ptr, {ptr, ptr, i64, ptr, ptr, i64}, false));
  Value *stream =
      b.CreateCall(open, {record(launch.graph), makePlacer(launch), ConstantInt::get(i64, countSlots(launch)),
                          text(kinds, ".tessera.kinds"), values, ConstantInt::get(i64, launch.output)});
  call->replaceAllUsesWith(stream);
  call->eraseFromParent();
}

void Rewriter::push(CallBase *call, const HostPush &push) {
  IRBuilder<> b(call);
  std::string kinds;
  AllocaInst *values = putWords(b, call, push.words, kinds);
  FunctionCallee run = module.getOrInsertFunction(
      "tsr_hetero_push", FunctionType::get(Type::getVoidTy(context), {ptr, ptr, ptr}, false));
  b.CreateCall(run, {call->getArgOperand(0), text(kinds, ".tessera.kinds"), values});
  call->eraseFromParent();
}

// Markers that are left stand in code that runs on the host: nothing, or the runtime's function.
void Rewriter::remove(const Site &site) {
  CallBase *call = site.call;
  IRBuilder<> b(call);
  Type *none = Type::getVoidTy(context);
  auto arg = [&](unsigned i) { return call->getArgOperand(i); };
  Value *result = nullptr;
  switch (site.kind) {
  case MarkerKind::Wait:
    b.CreateCall(module.getOrInsertFunction("tsr_hetero_wait", FunctionType::get(none, {ptr}, false)),
                 {arg(0)});
    break;
  case MarkerKind::Pop:
    result = b.CreateCall(module.getOrInsertFunction("tsr_hetero_pop", FunctionType::get(ptr, {ptr}, false)),
                          {arg(0)});
    break;
  case MarkerKind::Close:
    b.CreateCall(module.getOrInsertFunction("tsr_hetero_close", FunctionType::get(none, {ptr}, false)),
                 {arg(0)});
    break;
  case MarkerKind::Malloc:
  case MarkerKind::Scratch:
    result =
        b.CreateCall(module.getOrInsertFunction("tsr_hetero_malloc", FunctionType::get(ptr, {i64}, false)),
                     {asInteger(b, arg(0))});
    break;
  case MarkerKind::Free:
    b.CreateCall(module.getOrInsertFunction("tsr_hetero_free", FunctionType::get(none, {ptr}, false)),
                 {arg(0)});
    break;
  case MarkerKind::Copy:
    b.CreateCall(
        module.getOrInsertFunction("tsr_hetero_copy", FunctionType::get(none, {ptr, ptr, i64}, false)),
        {arg(0), arg(1), asInteger(b, arg(2))});
    break;
  case MarkerKind::Request:
    b.CreateCall(module.getOrInsertFunction("tsr_hetero_request", FunctionType::get(none, {ptr, i64}, false)),
                 {arg(0), asInteger(b, arg(1))});
    break;
  default:
    break;
  }
  if (!call->getType()->isVoidTy())
    call->replaceAllUsesWith(
        result && result->getType() == call->getType() ? result : Constant::getNullValue(call->getType()));
  call->eraseFromParent();
}

void Rewriter::run(const std::vector<HostLaunch> &launches, const std::vector<HostPush> &pushes) {
  std::vector<Site> sites;
  for (Function &function : module) {
    // None of our calls unwinds.
    std::vector<InvokeInst *> invokes;
    for (BasicBlock &block : function)
      if (auto *invoke = dyn_cast<InvokeInst>(block.getTerminator()))
        if (Function *callee = invoke->getCalledFunction(); callee && getMarkerKind(callee->getName()))
          invokes.push_back(invoke);
    for (InvokeInst *invoke : invokes)
      changeToCall(invoke);
    for (BasicBlock &block : function)
      for (Instruction &op : block)
        if (auto *call = dyn_cast<CallBase>(&op))
          if (Function *callee = call->getCalledFunction())
            if (std::optional<MarkerKind> kind = getMarkerKind(callee->getName()))
              sites.push_back({call, *kind});
  }
  auto isAt = [](CallBase *call, unsigned line, unsigned column) {
    const DILocation *loc = call->getDebugLoc();
    return loc && loc->getLine() == line && loc->getColumn() == column;
  };
  std::vector<Site> rest;
  std::vector<std::pair<Site, const HostLaunch *>> found;
  std::map<const HostLaunch *, CallBase *> ends;
  for (const Site &site : sites) {
    bool taken = false;
    for (const HostPush &item : pushes)
      if (!taken && site.kind == MarkerKind::Push && site.call->getFunction()->getName() == item.function &&
          isAt(site.call, item.line, item.column)) {
        push(site.call, item);
        taken = true;
      }
    if (taken)
      continue;
    for (const HostLaunch &launch : launches) {
      if (site.call->getFunction()->getName() != launch.function)
        continue;
      if ((site.kind == MarkerKind::Launch || site.kind == MarkerKind::LaunchStream ||
           site.kind == MarkerKind::LaunchBegin) &&
          isAt(site.call, launch.line, launch.column)) {
        found.push_back({site, &launch});
        taken = true;
      } else if (site.kind == MarkerKind::LaunchEnd && isAt(site.call, launch.endLine, launch.endColumn)) {
        ends[&launch] = site.call;
      }
    }
    if (!taken)
      rest.push_back(site);
  }
  std::set<Function *> cut;
  for (auto &[site, data] : found) {
    if (data->isStream) {
      openStream(site.call, *data);
      continue;
    }
    auto end = ends.find(data);
    if (end != ends.end())
      cut.insert(site.call->getFunction());
    launch(site.call, *data, end == ends.end() ? nullptr : end->second);
  }
  for (const Site &site : rest)
    remove(site);
  for (Function *function : cut)
    removeUnreachableBlocks(*function);
}

void tessera::heterocpp::rewriteHost(Module &module, const std::vector<HostLaunch> &launches,
                                     const std::vector<HostPush> &pushes, const std::string &object,
                                     const std::string &installer, bool checks) {
  Rewriter(module, object, installer, checks).run(launches, pushes);
}
