// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Host.h.
#include "tessera/frontends/heterocpp/Host.h"

#include "tessera/frontends/heterocpp/HostMembers.h"
#include "tessera/frontends/heterocpp/Markers.h"

#include "llvm/IR/Dominators.h"
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
  Rewriter(Module &module, const std::string &object, const std::string &installer, bool checks,
           HostReport report)
      : checks(checks), report(report), module(module), context(module.getContext()),
        ptr(PointerType::getUnqual(context)), i64(Type::getInt64Ty(context)), objectBytes(object),
        installer(installer) {}

  void run(const HostCalls &calls);

private:
  /// How an argument of a launch is had: from a call of the marker, or from an item of a stream.
  using Arguments = function_ref<Value *(unsigned)>;
  void launch(CallBase *call, const HostLaunch &launch, CallBase *end);
  void fillSlots(IRBuilder<> &b, Arguments argument, const HostLaunch &launch, Value *slots,
                 HostMembers &members);
  AllocaInst *allocate(Function *function, unsigned count);
  AllocaInst *putWords(IRBuilder<> &b, CallBase *call, const std::vector<Word> &words, std::string &kinds);
  Function *makePlacer(const HostLaunch &launch);
  void openStream(CallBase *call, const HostLaunch &launch);
  void push(CallBase *call, const HostWords &push);
  void runHere(CallBase *call, const HostWords &part);
  void place(CallBase *call, unsigned number);
  void placeRegion(CallBase *end, unsigned number);
  CallBase *findBegin(CallBase *end, unsigned number);
  void placeAll(ArrayRef<Function *> numbered);
  void rewriteMarker(Function &marker, MarkerKind kind);
  GlobalVariable *record(const std::string &graph);
  GlobalVariable *text(const std::string &content, StringRef name);
  Value *asInteger(IRBuilder<> &b, Value *v) { return b.CreateZExtOrTrunc(v, i64); }
  Type *getType(const HostInput &input);
  Value *scalar(IRBuilder<> &b, Value *v, const HostInput &input);
  Function *getRuntime(MarkerKind kind);
  void check(IRBuilder<> &b, Arguments argument, const HostLaunch &launch, HostMembers &members);
  Value *extent(IRBuilder<> &b, Arguments argument, const HostInput::Extent &extent, HostMembers &members);
  Value *notNegative(IRBuilder<> &b, Value *v);

  bool checks;
  HostReport report;
  Module &module;
  LLVMContext &context;
  Type *ptr, *i64;
  const std::string &objectBytes, &installer;
  Constant *object = nullptr;
  GlobalVariable *tool = nullptr;
  std::map<std::string, GlobalVariable *> records;
  /// By the number of a marker's call.
  std::map<unsigned, const HostLaunch *> launches, ends;
  std::map<unsigned, const HostWords *> pushes, parts;
  std::set<Function *> cut; ///< functions with regions that were taken out
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
  if (input.isBool)
    return b.CreateZExt(b.CreateIsNotNull(v), wanted);
  if (type->isFloatingPointTy() && input.isFloat)
    return b.CreateFPCast(v, wanted);
  if (type->isFloatingPointTy())
    return input.isSigned ? b.CreateFPToSI(v, wanted) : b.CreateFPToUI(v, wanted);
  if (input.isFloat)
    return input.isFromSigned ? b.CreateSIToFP(v, wanted) : b.CreateUIToFP(v, wanted);
  return b.CreateIntCast(v, wanted, input.isFromSigned);
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
  if (!extent.number)
    return e;
  const HostInput &input = *extent.number;
  Value *number =
      input.member ? members.number(input, getType(input)) : scalar(b, argument(input.argument), input);
  return b.CreateMul(e, b.CreateIntCast(number, i64, input.isSigned));
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
    if (input.member && input.member->part != HostPlace::Whole)
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
AllocaInst *Rewriter::putWords(IRBuilder<> &b, CallBase *call, const std::vector<Word> &words,
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

void Rewriter::push(CallBase *call, const HostWords &push) {
  IRBuilder<> b(call);
  std::string kinds;
  AllocaInst *values = putWords(b, call, push.words, kinds);
  FunctionCallee run = module.getOrInsertFunction(
      "tsr_hetero_push", FunctionType::get(Type::getVoidTy(context), {ptr, ptr, ptr}, false));
  b.CreateCall(run, {call->getArgOperand(0), text(kinds, ".tessera.kinds"), values});
  call->eraseFromParent();
}

// A launch inside of a graph, in a function that the host may call as well: the host's version of the
// launched function runs here. A region runs as it stands.
void Rewriter::runHere(CallBase *call, const HostWords &part) {
  auto finish = [&] {
    if (!call->getType()->isVoidTy())
      call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
    call->eraseFromParent();
  };
  if (part.isRegion)
    return finish();
  auto *root = dyn_cast<Function>(call->getArgOperand(0)->stripPointerCasts());
  if (!root || root->arg_size() != part.words.size()) {
    report(part.number, call->getFunction(),
           "the function of a launch inside of a graph cannot be called on the host");
    return;
  }
  IRBuilder<> b(call);
  SmallVector<Value *> arguments;
  for (auto [word, parameter] : llvm::zip(part.words, root->args())) {
    Value *v = call->getArgOperand(word.argument);
    Type *wanted = parameter.getType();
    if (wanted->isFloatingPointTy())
      v = word.kind == 'f'   ? b.CreateFPCast(v, wanted)
          : word.kind == 'i' ? b.CreateSIToFP(v, wanted)
                             : b.CreateUIToFP(v, wanted);
    else if (wanted->isIntegerTy())
      v = word.kind == 'f' ? b.CreateFPToSI(v, wanted) : b.CreateIntCast(v, wanted, word.kind == 'i');
    arguments.push_back(v);
  }
  CallInst *made = b.CreateCall(root, arguments);
  made->setCallingConv(root->getCallingConv());
  made->setAttributes(root->getAttributes());
  finish();
}

// The begin of a region by its end. Where Clang has made two of one region (OpenMP's `if`), the begin that
// comes last before the end.
CallBase *Rewriter::findBegin(CallBase *end, unsigned number) {
  SmallVector<CallBase *> candidates;
  if (Function *marker = module.getFunction(getNumberedName(number)))
    for (User *user : marker->users())
      if (auto *call = dyn_cast<CallBase>(user); call && call->getFunction() == end->getFunction())
        candidates.push_back(call);
  if (candidates.size() < 2)
    return candidates.empty() ? nullptr : candidates.front();
  DominatorTree tree(*end->getFunction());
  CallBase *found = nullptr;
  for (CallBase *call : candidates)
    if (tree.dominates(call, end) && (!found || tree.dominates(found, call)))
      found = call;
  return found;
}

void Rewriter::placeRegion(CallBase *end, unsigned number) {
  const HostLaunch &region = *ends.at(number);
  CallBase *begin = findBegin(end, region.number);
  if (!begin)
    return report(number, end->getFunction(), "a launch ends here, but it does not begin on the way");
  cut.insert(end->getFunction());
  launch(begin, region, end);
  end->eraseFromParent();
}

// A call of a marker with a number, unless it begins or ends a region.
void Rewriter::place(CallBase *call, unsigned number) {
  if (auto part = parts.find(number); part != parts.end())
    return runHere(call, *part->second);
  if (auto item = pushes.find(number); item != pushes.end())
    return push(call, *item->second);
  auto data = launches.find(number);
  if (data == launches.end())
    return report(number, call->getFunction(), "the compiler has lost this launch");
  if (data->second->isStream)
    openStream(call, *data->second);
  else if (!data->second->end)
    launch(call, *data->second, nullptr);
}

void Rewriter::placeAll(ArrayRef<Function *> numbered) {
  // What a region holds is taken away with it, so regions come last.
  std::vector<std::pair<CallBase *, unsigned>> regions;
  for (Function *marker : numbered) {
    unsigned number = *getNumber(marker->getName());
    for (User *user : llvm::make_early_inc_range(marker->users())) {
      if (ends.count(number))
        regions.push_back({cast<CallBase>(user), number});
      else
        place(cast<CallBase>(user), number);
    }
  }
  for (auto [end, number] : regions)
    placeRegion(end, number);
  for (Function *function : cut)
    removeUnreachableBlocks(*function);
  for (Function *marker : numbered) {
    for (User *user : marker->users())
      report(getNumber(marker->getName()), cast<Instruction>(user)->getFunction(),
             "a launch begins here, but its end is never reached");
    if (marker->use_empty())
      marker->eraseFromParent();
  }
}

// What a marker is on the host, with arguments like the marker's; null when it is nothing.
Function *Rewriter::getRuntime(MarkerKind kind) {
  Type *none = Type::getVoidTy(context);
  auto get = [&](StringRef name, Type *result, ArrayRef<Type *> parameters) {
    return cast<Function>(
        module.getOrInsertFunction(name, FunctionType::get(result, parameters, false)).getCallee());
  };
  switch (kind) {
  case MarkerKind::Wait:
    return get("tsr_hetero_wait", none, {ptr});
  case MarkerKind::Pop:
    return get("tsr_hetero_pop", ptr, {ptr});
  case MarkerKind::Close:
    return get("tsr_hetero_close", none, {ptr});
  case MarkerKind::Malloc:
  case MarkerKind::Scratch:
    return get("tsr_hetero_malloc", ptr, {i64});
  case MarkerKind::Free:
    return get("tsr_hetero_free", none, {ptr});
  case MarkerKind::Copy:
    return get("tsr_hetero_copy", none, {ptr, ptr, i64});
  case MarkerKind::Request:
    return get("tsr_hetero_request", none, {ptr, i64});
  default:
    return nullptr;
  }
}

// Markers that are left stand in code that runs on the host: nothing, or the runtime's function.
void Rewriter::rewriteMarker(Function &marker, MarkerKind kind) {
  Function *runtime = getRuntime(kind);
  for (User *user : llvm::make_early_inc_range(marker.users())) {
    auto *call = dyn_cast<CallBase>(user);
    if (!call || call->getCalledOperand() != &marker)
      continue;
    IRBuilder<> b(call);
    if (runtime && call->arg_size() < runtime->arg_size()) {
      report(std::nullopt, call->getFunction(),
             "expected " + Twine(runtime->arg_size()) + " arguments of '" + marker.getName() + "', but got " +
                 Twine(call->arg_size()));
      continue;
    }
    SmallVector<Value *> arguments;
    for (unsigned i = 0; runtime && i < runtime->arg_size(); ++i) {
      Value *v = call->getArgOperand(i);
      arguments.push_back(v->getType()->isIntegerTy() ? asInteger(b, v) : v);
    }
    Value *result = runtime ? b.CreateCall(runtime, arguments) : nullptr;
    if (!call->getType()->isVoidTy())
      call->replaceAllUsesWith(
          result && result->getType() == call->getType() ? result : Constant::getNullValue(call->getType()));
    call->eraseFromParent();
  }
  if (marker.use_empty())
    return;
  // Its address is taken, as the function that frees what a pointer owns.
  if (!runtime) {
    runtime =
        Function::Create(marker.getFunctionType(), GlobalValue::InternalLinkage, "tessera.nothing", module);
    Type *result = marker.getReturnType();
    IRBuilder<> b(BasicBlock::Create(context, "", runtime));
    result->isVoidTy() ? b.CreateRetVoid() : b.CreateRet(Constant::getNullValue(result));
  }
  runtime->copyMetadata(&marker, 0); // its type, for checks of indirect calls
  marker.replaceAllUsesWith(runtime);
}

// A name as C++ mangles that of a plain function, if it does; markers may be declared without `extern "C"`.
static StringRef getPlainName(StringRef name) {
  StringRef rest = name;
  size_t length = 0;
  if (!rest.consume_front("_Z") || rest.consumeInteger(10, length))
    return name;
  return rest.take_front(length);
}

void Rewriter::run(const HostCalls &calls) {
  for (const HostLaunch &launch : calls.launches) {
    launches[launch.number] = &launch;
    if (launch.end)
      ends[*launch.end] = &launch;
  }
  for (const HostWords &item : calls.pushes)
    pushes[item.number] = &item;
  for (const HostWords &part : calls.parts)
    parts[part.number] = &part;
  std::vector<std::pair<Function *, MarkerKind>> markers;
  std::vector<Function *> numbered;
  for (Function &function : module) {
    std::optional<MarkerKind> kind = getMarkerKind(getPlainName(function.getName()));
    if (!function.isDeclaration() || (!kind && !getNumber(function.getName())))
      continue;
    if (kind)
      markers.push_back({&function, *kind});
    else
      numbered.push_back(&function);
    // None of our calls unwinds.
    for (User *user : llvm::make_early_inc_range(function.users()))
      if (auto *invoke = dyn_cast<InvokeInst>(user); invoke && invoke->getCalledOperand() == &function)
        changeToCall(invoke);
  }
  placeAll(numbered);
  for (auto [marker, kind] : markers) {
    if (!isNumbered(kind)) {
      rewriteMarker(*marker, kind);
      continue;
    }
    for (User *user : marker->users()) {
      auto *op = dyn_cast<Instruction>(user);
      report(std::nullopt, op ? op->getFunction() : nullptr,
             "'" + marker->getName() + "' stands where the compiler does not look for launches");
    }
  }
}

void tessera::heterocpp::rewriteHost(Module &module, const HostCalls &calls, const std::string &object,
                                     const std::string &installer, bool checks, HostReport report) {
  Rewriter(module, object, installer, checks, report).run(calls);
}
