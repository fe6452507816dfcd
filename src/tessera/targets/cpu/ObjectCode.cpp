// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's optimiser and code generator for one kernel. The store keeps what comes of it (Emit.cpp): whoever
// changes the code that is made here does not meet old code, since keys name the build of the compiler.
#include "tessera/targets/cpu/ObjectCode.h"

#include "tessera/base/Check.h"
#include "tessera/targets/cpu/Divisions.h"
#include "tessera/targets/cpu/builtins/Builtins.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/TargetParser/Triple.h"

#include <dlfcn.h>
#include <sys/stat.h>

using namespace tessera;
using namespace tessera::cpu;

std::unique_ptr<llvm::TargetMachine> cpu::createMachine(const Machine &machine, std::string &error) {
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

// A file is named by what changes whenever it is built or installed anew.
static std::string describeFileOf(void *function) {
  Dl_info info;
  struct stat file;
  if (!dladdr(function, &info) || stat(info.dli_fname, &file) != 0)
    return "";
  return std::to_string(file.st_size) + " " + std::to_string(file.st_mtim.tv_sec) + "." +
         std::to_string(file.st_mtim.tv_nsec) + "\n";
}

std::string cpu::compilerBuild() {
  return "tessera " TESSERA_VERSION ", llvm " LLVM_VERSION_STRING "\n" +
         describeFileOf(reinterpret_cast<void *>(&compileObject)) +
         describeFileOf(reinterpret_cast<void *>(&llvm::parseBitcodeFile));
}

// What a kernel calls of the builtins is read and linked; most kernels call nothing.
static void linkBuiltins(llvm::Module &module) {
  if (llvm::none_of(module, [](const llvm::Function &f) { return f.isDeclaration() && !f.isIntrinsic(); }))
    return;
  std::string_view bitcode = builtinsBitcode(module.getTargetTriple().getArchName().str());
  auto builtins = llvm::getOwningLazyBitcodeModule(
      llvm::MemoryBuffer::getMemBuffer(StringRef(bitcode.data(), bitcode.size()), "builtins", false),
      module.getContext());
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

// Everything for the machine's CPU; nothing is visible but the kernel.
static void prepare(llvm::Module &module, const Machine &machine, StringRef kernel) {
  for (llvm::Function &f : module) {
    if (f.isDeclaration())
      continue;
    f.addFnAttr("target-cpu", machine.cpu);
    f.addFnAttr("target-features", machine.features + (mayHaveBf16(f, machine) ? ",+avx512bf16" : ""));
    f.addFnAttr(llvm::Attribute::NoUnwind);
    // Builtins that were not inlined must not meet those of the object that is linked later.
    if (f.getName() != kernel) {
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

cpu::Object cpu::compileObject(llvm::Module &module, const Machine &machine, StringRef kernel) {
  std::string error;
  std::unique_ptr<llvm::TargetMachine> tm = createMachine(machine, error);
  TESSERA_CHECK(tm) << error;
  keepOrderOfInstructions(tm->getTargetTriple());
  linkBuiltins(module);
  prepare(module, machine, kernel);
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
