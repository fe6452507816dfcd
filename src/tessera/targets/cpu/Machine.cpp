// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The machine that code is made for: from what the user said, or from the one we run on, to the names that
// LLVM's code generator wants and the features that the loader will ask for.
#include "tessera/base/CpuInfo.h"
#include "tessera/base/Diag.h"
#include "tessera/targets/cpu/Cpu.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace tessera;
using namespace tessera::cpu;

static void initialiseLLVM() {
  static const bool once = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)once;
}

const llvm::Target *cpu::findCodeGenerator(const Machine &machine, std::string &error) {
  initialiseLLVM();
  return llvm::TargetRegistry::lookupTarget(llvm::Triple(machine.triple), error);
}

// Instruction sets that base/CpuInfo.cpp can detect. A CPU's name implies more than these: tuning, and what
// no kernel uses; asking for those would refuse programs that run.
static ArrayRef<StringRef> detectable(const llvm::Triple &triple) {
  static const StringRef x86[] = {"sse3",       "ssse3",      "sse4.1",       "sse4.2",
                                  "popcnt",     "avx",        "fma",          "f16c",
                                  "avx2",       "bmi",        "bmi2",         "lzcnt",
                                  "movbe",      "avxvnni",    "gfni",         "avx512f",
                                  "avx512dq",   "avx512ifma", "avx512cd",     "avx512bw",
                                  "avx512vl",   "avx512vbmi", "avx512vbmi2",  "avx512vnni",
                                  "avx512bf16", "avx512fp16", "avx512bitalg", "avx512vpopcntdq",
                                  "amx-tile",   "amx-int8",   "amx-bf16",     "amx-fp16"};
  static const StringRef arm[] = {"neon", "lse",     "fullfp16", "rdm",  "dotprod",
                                  "sve",  "fp16fml", "sve2",     "i8mm", "bf16"};
  static const StringRef riscv[] = {"a", "c", "d", "f", "m", "v", "zba", "zbb", "zbs", "zfh", "zvfh"};
  if (triple.isX86())
    return x86;
  if (triple.isAArch64())
    return arm;
  if (triple.isRISCV())
    return riscv;
  return {};
}

static std::unique_ptr<llvm::MCSubtargetInfo> describe(const Machine &machine) {
  std::string error;
  const llvm::Target *target = findCodeGenerator(machine, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target->createMCSubtargetInfo(llvm::Triple(machine.triple), machine.cpu, machine.features));
}

static Machine nameMachine(const TargetOptions &options) {
  Machine machine;
  machine.triple = options.triple.empty() ? hostTriple() : options.triple;
  machine.cpu = options.machine.empty() ? options.cpu : options.machine;
  machine.features = options.features;
  llvm::Triple triple(machine.triple);
  if (options.triple.empty() && machine.cpu.empty()) {
    machine.cpu = llvm::sys::getHostCPUName().str();
    // With what is missing, too: a virtual machine may hide features that the CPU's name implies. What the
    // user asks for comes last and wins.
    std::string host;
    for (auto &feature : llvm::sys::getHostCPUFeatures())
      host += (host.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
    machine.features = host + (options.features.empty() ? "" : ",") + options.features;
  }
  if (!machine.cpu.empty())
    return machine;
  machine.cpu = triple.isX86() ? "x86-64" : triple.isRISCV() ? "generic-rv64" : "generic";
  // Without these there is no floating point in registers; every machine that runs Linux has them.
  if (triple.isRISCV())
    machine.features = "+m,+a,+f,+d,+c" + std::string(machine.features.empty() ? "" : ",") + machine.features;
  return machine;
}

LogicalResult cpu::checkMachine(const TargetOptions &options, Location loc) {
  if (!options.machine.empty() && !options.cpu.empty() && options.machine != options.cpu)
    return emitError(loc) << "expected one CPU, but got 'cpu:" << options.machine << "' and --cpu "
                          << options.cpu;
  Machine machine = nameMachine(options);
  std::string error;
  const llvm::Target *target = findCodeGenerator(machine, error);
  if (!target)
    return emitError(loc, "no code generator for '") << machine.triple << "': " << error;
  // Asked with no CPU: an unknown one would be warned of and then ignored.
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(llvm::Triple(machine.triple), "", ""));
  if (!info->isCPUStringValid(machine.cpu)) {
    std::vector<std::string> names;
    for (const llvm::SubtargetSubTypeKV &known : info->getAllProcessorDescriptions())
      names.push_back(known.Key);
    return emitError(loc) << unknownName("CPU", machine.cpu, "CPUs of this architecture", names);
  }
  if (options.features.empty())
    return success();
  std::vector<std::string> names;
  for (const llvm::SubtargetFeatureKV &known : info->getAllProcessorFeatures())
    names.push_back(known.Key);
  SmallVector<StringRef> words;
  StringRef(options.features).split(words, ',');
  for (StringRef word : words) {
    if (!word.starts_with("+") && !word.starts_with("-"))
      return emitError(loc, "CPU feature '") << word << "': expected '+' or '-' before its name";
    if (llvm::is_contained(names, word.drop_front()))
      continue;
    std::string nearest = nearestName(word.drop_front().str(), names);
    return emitError(loc, "unknown CPU feature '")
           << word.drop_front() << "'" << (nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
  }
  return success();
}

Machine cpu::getMachine(const TargetOptions &options) {
  Machine machine = nameMachine(options);
  if (std::unique_ptr<llvm::MCSubtargetInfo> info = describe(machine)) {
    llvm::StringSet<> enabled;
    for (const llvm::SubtargetFeatureKV &feature : info->getEnabledProcessorFeatures())
      enabled.insert(feature.Key);
    for (StringRef feature : detectable(llvm::Triple(machine.triple)))
      if (enabled.contains(feature))
        machine.required.push_back(feature.str());
  }
  // x86's conversions to bf16 take denormal numbers for zero, whatever the mode; our results are to be the
  // same everywhere, so LLVM may not choose these instructions. Kernels that multiply bf16 ask for them.
  if (llvm::Triple(machine.triple).isX86())
    machine.features += std::string(machine.features.empty() ? "" : ",") + "-avx512bf16,-avxneconvert";
  return machine;
}
