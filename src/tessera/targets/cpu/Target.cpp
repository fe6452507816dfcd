// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU as a target: replicated leaves become kernels over tasks that the runtime's threads share out.
#include "tessera/targets/Target.h"

#include "tessera/base/CpuInfo.h"
#include "tessera/targets/cpu/Cpu.h"
#include "tessera/targets/cpu/Schedule.h"
#include "tessera/targets/cpu/ScheduleOps.h"
#include "tessera/targets/cpu/ir/CpuOps.h"
#include "tessera/targets/cpu/layout/Passes.h"
#include "tessera/transforms/schedule/Script.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Triple.h"

using namespace tessera;

namespace {

class CpuTarget : public Target {
public:
  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<cpu::CpuDialect>();
    cpu::registerMeaning(registry);
    cpu::registerScheduleOps(registry);
  }
  void registerPasses() const override { cpu::registerTesseraCpuLayoutPasses(); }

  TargetInfo info(const TargetOptions &options) const override {
    TargetInfo info;
    info.name = "cpu";
    info.summary = "the machine's own processor";
    cpu::Machine machine = cpu::getMachine(options);
    info.triple = machine.triple;
    info.cpu = machine.cpu;
    info.features = machine.required;
    if (machine.has("avx512f")) {
      info.vectorBytes = 64;
      info.registers = 32;
    } else if (machine.has("avx")) {
      info.vectorBytes = 32;
    } else if (!llvm::Triple(machine.triple).isX86()) {
      info.registers = 32;
    }
    if (machine.has("avx512vnni") || machine.has("avxvnni"))
      info.dotBytes = "vnni";
    else if (llvm::Triple(machine.triple).isX86())
      info.dotBytes = machine.has("ssse3") ? "maddubs" : "madd";
    else if (machine.has("i8mm"))
      info.dotBytes = "usdot";
    // Intel's is slower than f32.
    if (machine.has("avx512bf16") && StringRef(machine.cpu).starts_with("znver"))
      info.dotHalves = "bf16";
    // Vectors are what they fall back on.
    if (machine.has("amx-int8") && machine.has("avx512vnni"))
      info.dotBytes = "amx-int8";
    if (machine.has("amx-bf16") && machine.has("avx512bf16"))
      info.dotHalves = "amx-bf16";
    const CpuInfo &host = cpuInfo();
    if (host.l1d)
      info.l1 = host.l1d;
    if (host.l2)
      info.l2 = host.l2;
    info.l3 = host.l3;
    return info;
  }

  LogicalResult check(const TargetOptions &options, Location loc) const override {
    return cpu::checkMachine(options, loc);
  }

  bool supports(dfg::NodeOp) const override { return true; }

  std::string writeSchedule(func::FuncOp payload, const TargetOptions &options) const override {
    return cpu::writeDefaultSchedule(payload, info(options), options.strict);
  }

  LogicalResult lower(ModuleOp module, MutableArrayRef<NodeLowering> nodes,
                      const TargetOptions &options) const override {
    for (auto combiner : llvm::make_early_inc_range(module.getOps<dfg::CombinerOp>()))
      combiner.erase();
    if (failed(cpu::bufferize(module)))
      return failure();
    for (NodeLowering &node : nodes) {
      cpu::mergeInPlace(node.payload, node.env);
      cpu::shareCopies(node.payload);
    }
    for (NodeLowering &node : nodes)
      if (failed(cpu::splitKernels(node.payload, node.env, node.version, options.checks)))
        return failure();
    // Sites of accesses have the places of one node.
    if (options.checks != Checks::All)
      cpu::shareKernels(module, nodes);
    TargetInfo machine = info(options);
    cpu::tileProducts(module, machine.vectorBytes / 4, machine.registers);
    if (failed(cpu::lowerToLoops(module)))
      return failure();
    llvm::StringSet<> done;
    for (NodeLowering &node : nodes)
      for (const plan::Step &step : node.version.steps)
        if (cpu::loopScript(node) && done.insert(step.kernel).second &&
            failed(schedule::applyScript(module.lookupSymbol(step.kernel), node.script,
                                         node.sequence + "_loops")))
          return failure();
    placeFaults(module, nodes, options.checks);
    return cpu::lowerToLLVM(module);
  }

  static void placeFaults(ModuleOp module, MutableArrayRef<NodeLowering> nodes, Checks checks) {
    if (checks == Checks::All)
      for (NodeLowering &node : nodes)
        for (plan::Step &step : node.version.steps) {
          cpu::checkAccesses(module.lookupSymbol<func::FuncOp>(step.kernel), step.sites);
          node.env.program.resizeFaults(step.faults, step.sites.size());
        }
    for (auto kernel : module.getOps<func::FuncOp>())
      cpu::placeFaults(kernel, checks);
  }

  FailureOr<TargetCode> emit(ModuleOp module, const TargetOptions &options) const override {
    return cpu::emitImage(module, cpu::getMachine(options));
  }
};

} // namespace

namespace tessera {
std::unique_ptr<Target> createTarget_cpu() { return std::make_unique<CpuTarget>(); }
} // namespace tessera
