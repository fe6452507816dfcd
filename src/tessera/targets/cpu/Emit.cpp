// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The LLVM dialect to one fully linked ELF image: LLVM's optimiser for the machine asked for, then lld in
// process.
#include "tessera/targets/cpu/Cpu.h"
#include "tessera/targets/cpu/Divisions.h"

#include "tessera/base/Check.h"
#include "tessera/base/ThreadPool.h"
#include "tessera/targets/cpu/builtins/Builtins.h"

#include "lld/Common/Driver.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/SplitModule.h"

#include <atomic>
#include <fcntl.h>

LLD_HAS_DRIVER(elf)

using namespace tessera;
using namespace tessera::cpu;

static std::unique_ptr<llvm::TargetMachine> createMachine(const Machine &machine, std::string &error) {
  const llvm::Target *target = findCodeGenerator(machine, error);
  if (!target)
    return nullptr;
  llvm::Triple triple(machine.triple);
  llvm::TargetOptions options;
  // Contraction is asked for by the flags on the operations, never by the back end on its own.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.FunctionSections = true;
  if (triple.isRISCV())
    options.MCOptions.ABIName = "lp64d";
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, machine.cpu, machine.features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
}

static void linkBuiltins(llvm::Module &module) {
  std::string_view bitcode = builtinsBitcode(module.getTargetTriple().getArchName().str());
  auto buffer =
      llvm::MemoryBuffer::getMemBuffer(StringRef(bitcode.data(), bitcode.size()), "builtins", false);
  auto builtins = llvm::parseBitcodeFile(buffer->getMemBufferRef(), module.getContext());
  TESSERA_CHECK(builtins) << llvm::toString(builtins.takeError());
  (*builtins)->setDataLayout(module.getDataLayout());
  (*builtins)->setTargetTriple(module.getTargetTriple());
  bool failed = llvm::Linker::linkModules(module, std::move(*builtins), llvm::Linker::Flags::LinkOnlyNeeded);
  TESSERA_CHECK(!failed) << "the builtins do not fit the kernels";
}

// Whether a function, or one that it calls, has an instruction like this.
static bool hasInstruction(const llvm::Function &f, function_ref<bool(const llvm::Instruction &)> like) {
  for (const llvm::BasicBlock &block : f)
    for (const llvm::Instruction &i : block) {
      if (like(i))
        return true;
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&i))
        if (const llvm::Function *callee = call->getCalledFunction();
            callee && !callee->isDeclaration() && hasInstruction(*callee, like))
          return true;
    }
  return false;
}

// Machine.cpp leaves the instruction set for bf16 out because its conversions flush what is denormal. What
// multiplies bf16 needs it, and without it a choice between vectors of bf16 is made element by element: where
// bf16 is only moved, LLVM has nothing to convert. Whom a function may be inlined into has it, too.
static bool mayHaveBf16(const llvm::Function &f, const Machine &machine) {
  auto isBf16 = [](const llvm::Type *type) { return type->getScalarType()->isBFloatTy(); };
  auto multiplies = [](const llvm::Instruction &i) {
    auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    return call && call->getCalledFunction()->getName().starts_with("llvm.x86.avx512bf16.");
  };
  auto touches = [&](const llvm::Instruction &i) {
    return isBf16(i.getType()) ||
           llvm::any_of(i.operands(), [&](const llvm::Use &use) { return isBf16(use->getType()); });
  };
  auto computes = [&](const llvm::Instruction &i) {
    return isBf16(i.getType()) &&
           !llvm::isa<llvm::LoadInst, llvm::PHINode, llvm::SelectInst, llvm::BitCastInst, llvm::FreezeInst,
                      llvm::ShuffleVectorInst, llvm::InsertElementInst, llvm::ExtractElementInst>(i) &&
           !(llvm::isa<llvm::IntrinsicInst>(i) &&
             llvm::cast<llvm::IntrinsicInst>(i).getIntrinsicID() == llvm::Intrinsic::masked_load);
  };
  return machine.has("avx512bf16") &&
         (hasInstruction(f, multiplies) || (hasInstruction(f, touches) && !hasInstruction(f, computes)));
}

// Everything for the machine's CPU; nothing is visible but the kernels.
static void prepare(llvm::Module &module, const Machine &machine, const llvm::StringSet<> &kernels) {
  for (llvm::Function &f : module) {
    if (f.isDeclaration())
      continue;
    f.addFnAttr("target-cpu", machine.cpu);
    f.addFnAttr("target-features", machine.features + (mayHaveBf16(f, machine) ? ",+avx512bf16" : ""));
    f.addFnAttr(llvm::Attribute::NoUnwind);
    // Builtins that were not inlined must not meet those of the object that is linked later.
    if (!kernels.contains(f.getName())) {
      f.setVisibility(llvm::GlobalValue::DefaultVisibility);
      f.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  }
}

static void optimise(llvm::Module &module, llvm::TargetMachine &tm) {
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  llvm::PassBuilder pb(&tm, tuning);
  pb.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager &passes, llvm::OptimizationLevel) { passes.addPass(HoistDivisions()); });
  pb.registerModuleAnalyses(mam);
  pb.registerCGSCCAnalyses(cgam);
  pb.registerFunctionAnalyses(fam);
  pb.registerLoopAnalyses(lam);
  pb.crossRegisterProxies(lam, fam, cgam, mam);
  pb.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, mam);
}

// Register tiles come in an order that needs the fewest registers. LLVM's machine scheduler, which moves
// loads far ahead, makes it spill for many shapes of tiles (measured on Zen 4: half the speed), and a
// processor that reorders on its own does not need it.
static void keepOrderOfInstructions(const llvm::Triple &triple) {
  static constexpr llvm::StringLiteral name = "enable-misched";
  auto &options = llvm::cl::getRegisteredOptions();
  auto option = options.find(name);
  if (!triple.isX86() || option == options.end() || option->second->getNumOccurrences())
    return;
  (void)option->second->addOccurrence(0, name, "false");
}

// A vector that does not fit the registers goes to the stack, which callers align to 16 bytes: a longer one
// then lies across two lines of the cache in most processes, by where the stack happens to begin. LLVM can
// align the stack only when it knows before it assigns registers, hence this. Measured on Zen 4: without it
// kernels take up to 1.9 times as long in one process as in another.
static void alignStack(llvm::Module &module) {
  constexpr uint64_t callers = 16, line = 64;
  for (llvm::Function &f : module) {
    uint64_t longest = 0;
    for (const llvm::Instruction &i : llvm::instructions(f))
      if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(i.getType()))
        longest = std::max<uint64_t>(longest, vector->getPrimitiveSizeInBits().getFixedValue() / 8);
    if (longest > callers)
      f.addFnAttr(llvm::Attribute::getWithStackAlignment(
          f.getContext(), llvm::Align(llvm::PowerOf2Ceil(std::min(longest, line)))));
  }
}

using Object = SmallVector<char, 0>;

static Object emitObject(llvm::Module &module, const Machine &machine, const llvm::StringSet<> &kernels) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> tm = createMachine(machine, error);
  TESSERA_CHECK(tm) << error;
  linkBuiltins(module);
  prepare(module, machine, kernels);
  optimise(module, *tm);
  if (tm->getTargetTriple().isX86())
    alignStack(module);
  Object object;
  llvm::raw_svector_ostream os(object);
  llvm::legacy::PassManager codegen;
  bool failed = tm->addPassesToEmitFile(codegen, os, nullptr, llvm::CodeGenFileType::ObjectFile);
  TESSERA_CHECK(!failed) << "the code generator for " << machine.triple << " writes no objects";
  codegen.run(module);
  return object;
}

// Kernels do not call each other: parts of the module are compiled side by side, each in a context of its
// own. How many depends on the kernels alone, so that the image is the same wherever it is made.
static std::vector<Object> emitObjects(llvm::Module &module, const Machine &machine,
                                       const llvm::StringSet<> &kernels) {
  constexpr unsigned kernelsOfPart = 3, mostParts = 16;
  unsigned count = std::clamp<unsigned>(kernels.size() / kernelsOfPart, 1, mostParts);
  if (count == 1)
    return {emitObject(module, machine, kernels)};
  std::vector<Object> parts;
  llvm::SplitModule(
      module, count,
      [&](std::unique_ptr<llvm::Module> part) {
        llvm::raw_svector_ostream os(parts.emplace_back());
        llvm::WriteBitcodeToFile(*part, os);
      },
      /*PreserveLocals=*/true);
  std::atomic<unsigned> next = 0;
  ThreadPool::shared().parallel(ThreadPool::defaultThreads(), [&](unsigned, unsigned) {
    for (unsigned i; (i = next++) < parts.size();) {
      llvm::LLVMContext context;
      auto part = llvm::parseBitcodeFile({StringRef(parts[i].data(), parts[i].size()), "part"}, context);
      TESSERA_CHECK(part) << llvm::toString(part.takeError());
      parts[i] = emitObject(**part, machine, kernels);
    }
  });
  return parts;
}

// lld works on files; they are removed again. What code generation calls on its own (memcpy, conversions of
// half types) comes from the builtins' object; sections that nobody needs are dropped.
static FailureOr<std::string> link(ArrayRef<StringRef> objects, Location loc) {
  std::vector<SmallString<128>> paths; // the last one is the image
  llvm::scope_exit remove([&] {
    for (const auto &path : paths)
      (void)llvm::sys::fs::remove(path);
  });
  size_t size = 0;
  // Writes a file; more space than its content needs is only asked for.
  auto write = [&](StringRef path, StringRef content, size_t space) -> LogicalResult {
    int fd = -1;
    std::error_code ec = llvm::sys::fs::openFileForWrite(path, fd);
    if (!ec) {
      llvm::raw_fd_ostream file(fd, /*shouldClose=*/true, /*unbuffered=*/true);
      file << content;
      ec = file.error();
      file.clear_error();
      if (!ec && space > content.size() && posix_fallocate(fd, 0, space) == ENOSPC)
        ec = std::make_error_code(std::errc::no_space_on_device);
    }
    if (ec)
      return emitError(loc, "cannot write '")
             << path << "': " << ec.message() << "; set TMPDIR to a folder with space";
    return success();
  };
  for (size_t i = 0; i <= objects.size(); ++i) {
    bool last = i == objects.size();
    SmallString<128> path;
    if (llvm::sys::fs::createTemporaryFile("tessera", last ? "elf" : "o", path))
      return emitError(loc, "cannot create a temporary file; set TMPDIR to a folder with space"), failure();
    paths.push_back(path);
    // lld maps its output, where a full disk would end the process: the space is asked for before.
    if (failed(write(path, last ? "" : objects[i], last ? size : 0)))
      return failure();
    size += last ? 0 : objects[i].size();
  }
  std::string messages;
  llvm::raw_string_ostream os(messages);
  std::vector<const char *> args = {
      "ld.lld",  "-shared",           "-Bsymbolic",    "--no-undefined", "-z", "max-page-size=4096", "-z",
      "norelro", "--hash-style=sysv", "--gc-sections", "--strip-debug",  "-o", paths.back().c_str()};
  for (size_t i = 0; i < objects.size(); ++i)
    args.push_back(paths[i].c_str());
  lld::Result result = lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}});
  TESSERA_CHECK(!result.retCode) << os.str();
  auto file = llvm::MemoryBuffer::getFile(paths.back(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  TESSERA_CHECK(file) << "the linked image is gone: " << file.getError().message();
  return (*file)->getBuffer().str();
}

// How large the code of each kernel is.
static llvm::StringMap<uint64_t> measureKernels(StringRef image, const llvm::StringSet<> &kernels) {
  llvm::StringMap<uint64_t> sizes;
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(image, "kernels"));
  if (!object) {
    llvm::consumeError(object.takeError());
    return sizes;
  }
  for (llvm::object::ELFSymbolRef symbol :
       cast<llvm::object::ELFObjectFileBase>(**object).getDynamicSymbolIterators()) {
    llvm::Expected<StringRef> name = symbol.getName();
    if (name && kernels.contains(*name))
      sizes[*name] = symbol.getSize();
    llvm::consumeError(name.takeError());
  }
  return sizes;
}

FailureOr<TargetCode> cpu::emitImage(ModuleOp kernels, const Machine &machine) {
  Location loc = kernels.getLoc();
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  kernels.getContext()->appendDialectRegistry(registry);
  std::string error;
  std::unique_ptr<llvm::TargetMachine> tm = createMachine(machine, error);
  if (!tm)
    return emitError(loc, "no code generator for '") << machine.triple << "': " << error, failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(kernels, context, "kernels");
  if (!module)
    return failure();
  module->setDataLayout(tm->createDataLayout());
  module->setTargetTriple(tm->getTargetTriple());
  llvm::StringSet<> names;
  for (llvm::Function &f : *module)
    if (!f.isDeclaration() && !f.hasLocalLinkage())
      names.insert(f.getName());
  std::string arch = tm->getTargetTriple().getArchName().str();
  if (builtinsBitcode(arch).empty())
    return emitError(loc, "no builtins for the architecture '") << arch << "'", failure();
  keepOrderOfInstructions(tm->getTargetTriple());
  std::vector<Object> parts = emitObjects(*module, machine, names);
  SmallVector<StringRef> objects;
  for (const Object &part : parts)
    objects.push_back({part.data(), part.size()});
  objects.push_back(builtinsObject(arch));
  FailureOr<std::string> image = link(objects, loc);
  if (failed(image))
    return failure();
  TargetCode code;
  code.kernelBytes = measureKernels(*image, names);
  code.bytes = std::move(*image);
  return code;
}
