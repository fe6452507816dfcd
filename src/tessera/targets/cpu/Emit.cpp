// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The LLVM dialect to one fully linked ELF image. Each kernel is compiled by itself, so that its code can be
// kept: a program that needs the same kernel later, or another program, takes it from the store.
#include "tessera/targets/cpu/ObjectCode.h"

#include "tessera/base/Check.h"
#include "tessera/base/Sha256.h"
#include "tessera/base/Store.h"
#include "tessera/base/ThreadPool.h"
#include "tessera/targets/cpu/builtins/Builtins.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"

#include <atomic>

using namespace tessera;
using namespace tessera::cpu;

namespace {
/// A kernel with what it needs, on its way to machine code.
struct Piece {
  OwningOpRef<ModuleOp> source;
  SmallVector<StringRef, 1> names; ///< the kernels of the plan whose code it is
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = {};
  std::string key, symbol; ///< what the code depends on, and what it is called in the image
  Object object;
};
} // namespace

// A module with one kernel and all symbols that it uses, directly or not.
static OwningOpRef<ModuleOp> cutOut(LLVM::LLVMFuncOp kernel, ModuleOp kernels, SymbolTable &symbols) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernels.getLoc());
  (*module)->setAttrs(kernels->getDiscardableAttrDictionary());
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  llvm::SetVector<Operation *> needed;
  needed.insert(kernel);
  for (size_t i = 0; i < needed.size(); ++i) {
    b.clone(*needed[i]);
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(needed[i]);
    TESSERA_CHECK(uses) << "a kernel holds an operation that nobody knows";
    for (SymbolTable::SymbolUse use : *uses)
      if (Operation *symbol = symbols.lookup(use.getSymbolRef().getRootReference()))
        needed.insert(symbol);
  }
  return module;
}

// Names that do not depend on the program: the kernel, what belongs to it, and its constants by their order.
static void nameNeutrally(llvm::Module &module, StringRef kernel) {
  module.setModuleIdentifier("kernel");
  module.setSourceFileName("kernel");
  for (llvm::Function &f : module)
    if (!f.isDeclaration())
      f.setName(f.getName() == kernel ? "kernel" : "kernel.part");
  for (llvm::GlobalVariable &global : module.globals())
    global.setName("constant");
}

// Hashes all that the code depends on. The build of the compiler stands for how code is generated.
static std::string keyOf(const llvm::Module &module, const Machine &machine) {
  static const std::string build = compilerBuild();
  SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream os(bitcode);
  llvm::WriteBitcodeToFile(module, os);
  return build + "\n" + machine.triple + "\n" + machine.cpu + "\n" + machine.features + "\n" +
         toHex(sha256(std::as_bytes(std::span(bitcode.data(), bitcode.size()))));
}

static LogicalResult translate(Piece &piece, const llvm::TargetMachine &tm, const Machine &machine) {
  piece.module = translateModuleToLLVMIR(*piece.source, *piece.context, "kernel");
  piece.source = {};
  if (!piece.module)
    return failure();
  piece.module->setDataLayout(tm.createDataLayout());
  piece.module->setTargetTriple(tm.getTargetTriple());
  nameNeutrally(*piece.module, piece.names.front());
  piece.key = keyOf(*piece.module, machine);
  piece.symbol = "k" + toHex(sha256(std::as_bytes(std::span(piece.key)))).substr(0, 32);
  llvm::Function *kernel = piece.module->getFunction("kernel");
  kernel->setName(piece.symbol);
  kernel->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return success();
}

static void compile(Piece &piece, const Machine &machine, Store *store) {
  if (store)
    if (std::optional<std::string> kept = store->find(piece.key)) {
      piece.object.assign(kept->begin(), kept->end());
      return;
    }
  piece.object = compileObject(*piece.module, machine, piece.symbol);
  if (store)
    store->keep(piece.key, {piece.object.data(), piece.object.size()});
}

// Calls `work` for 0 to `count` - 1, on all threads.
static void onAllThreads(size_t count, function_ref<void(size_t)> work) {
  std::atomic<size_t> next = 0;
  ThreadPool::shared().parallel(ThreadPool::defaultThreads(), [&](unsigned, unsigned) {
    for (size_t i; (i = next++) < count;)
      work(i);
  });
}

// How large a kernel's code is; 0 where its object does not say.
static uint64_t measureKernel(const Piece &piece) {
  StringRef bytes(piece.object.data(), piece.object.size());
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "kernel"));
  if (!object) {
    llvm::consumeError(object.takeError());
    return 0;
  }
  for (llvm::object::ELFSymbolRef symbol : cast<llvm::object::ELFObjectFileBase>(**object).symbols()) {
    llvm::Expected<StringRef> name = symbol.getName();
    if (name && *name == piece.symbol)
      return symbol.getSize();
    llvm::consumeError(name.takeError());
  }
  return 0;
}

// Kernels that are the same but for their names become one piece.
static void joinEqual(std::vector<Piece> &pieces) {
  llvm::StringMap<size_t> known;
  size_t kept = 0;
  for (Piece &piece : pieces) {
    auto [it, isNew] = known.try_emplace(piece.symbol, kept);
    if (!isNew)
      llvm::append_range(pieces[it->second].names, piece.names);
    else if (&pieces[kept++] != &piece)
      std::swap(pieces[kept - 1], piece); // no context goes before the module in it
  }
  pieces.resize(kept);
}

FailureOr<TargetCode> cpu::emitImage(ModuleOp kernels, const Machine &machine, Store *store) {
  Location loc = kernels.getLoc();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  kernels.getContext()->appendDialectRegistry(registry);
  std::string error;
  std::unique_ptr<llvm::TargetMachine> tm = createMachine(machine, error);
  if (!tm)
    return emitError(loc, "no code generator for '") << machine.triple << "': " << error, failure();
  std::string arch = tm->getTargetTriple().getArchName().str();
  if (builtinsBitcode(arch).empty())
    return emitError(loc, "no builtins for the architecture '") << arch << "'", failure();

  std::vector<Piece> pieces;
  SymbolTable symbols(kernels);
  for (auto f : kernels.getOps<LLVM::LLVMFuncOp>())
    if (!f.isExternal() && f.getLinkage() == LLVM::Linkage::External)
      pieces.push_back({cutOut(f, kernels, symbols), {f.getName()}});
  std::atomic<bool> isWrong = false;
  onAllThreads(pieces.size(), [&](size_t i) {
    if (failed(translate(pieces[i], *tm, machine)))
      isWrong = true;
  });
  if (isWrong)
    return failure();
  joinEqual(pieces);
  // The long ones first, so that no thread is left with one at the end.
  std::vector<Piece *> order;
  for (Piece &piece : pieces)
    order.push_back(&piece);
  llvm::stable_sort(order, [](const Piece *a, const Piece *b) {
    return a->module->getInstructionCount() > b->module->getInstructionCount();
  });
  onAllThreads(order.size(), [&](size_t i) { compile(*order[i], machine, store); });

  SmallVector<StringRef> objects;
  SmallVector<Alias> names;
  TargetCode code;
  for (const Piece &piece : pieces) {
    objects.push_back({piece.object.data(), piece.object.size()});
    uint64_t bytes = measureKernel(piece);
    for (StringRef name : piece.names) {
      names.push_back({name, piece.symbol});
      code.kernelBytes[name] = bytes;
    }
  }
  objects.push_back(builtinsObject(arch));
  FailureOr<std::string> image = linkImage(objects, names, loc);
  if (failed(image))
    return failure();
  code.bytes = std::move(*image);
  return code;
}
