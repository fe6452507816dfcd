// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU as a target: replicated leaves become kernels over tasks that the runtime's threads share out.
#include "tessera/targets/Target.h"

#include "tessera/base/CpuInfo.h"
#include "tessera/targets/common/Bufferize.h"
#include "tessera/targets/cpu/Cpu.h"
#include "tessera/targets/cpu/Networks.h"
#include "tessera/targets/cpu/Schedule.h"
#include "tessera/targets/cpu/ScheduleOps.h"
#include "tessera/targets/cpu/WideVectors.h"
#include "tessera/targets/cpu/ir/CpuOps.h"
#include "tessera/targets/cpu/layout/Passes.h"
#include "tessera/transforms/schedule/Script.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

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
    // As the device estimates itself: two operations a lane of f32, at an ordinary clock. How many processors
    // another machine has is not known.
    const double lanes = figures(options).vectorBytes / 4, cores = isHere(options) ? cpuInfo().cores : 1;
    return {.name = "cpu",
            .summary = "the machine's own processor",
            .flopsPerSecond = lanes * 2 * 2e9 * cores,
            .bytesPerSecond = 1e10 * cores};
  }

  LogicalResult check(const TargetOptions &options, Location loc) const override {
    return cpu::checkMachine(options, loc);
  }

  std::string machineName(const TargetOptions &options) const override {
    return cpu::getMachine(options).cpu;
  }
  std::string machineKey(const TargetOptions &options) const override {
    cpu::Machine machine = cpu::getMachine(options);
    return cpuInfo().name + "\n" + machine.triple + " " + machine.cpu + " " +
           llvm::join(machine.required, ",");
  }
  bool isHere(const TargetOptions &options) const override {
    cpu::Machine wanted = cpu::getMachine(options), here = cpu::getMachine({});
    return wanted.triple == here.triple && wanted.cpu == here.cpu &&
           cpuInfo().missing(wanted.required).empty();
  }
  bool isHost() const override { return true; }
  HostMachine host(const TargetOptions &options) const override {
    cpu::Machine machine = cpu::getMachine(options);
    return {machine.triple, machine.cpu, machine.required};
  }

  bool supports(Operation *, const TargetOptions &) const override { return true; }

  LogicalResult prepare(dfg::NodeOp region, const RegionOptions &how,
                        const TargetOptions &options) const override {
    return cpu::prepareRegion(region, how, figures(options), options.strict);
  }
  SmallVector<SmallVector<Candidate>> candidates(Operation *layer, Operation *prepared,
                                                 const TargetOptions &options) const override {
    return cpu::candidatesFor(layer, prepared, figures(options), options.strict);
  }
  StringRef bytesKnob(const TargetOptions &options) const override {
    // Without an instruction for bytes as such, those with small weights are the fast ones.
    return figures(options).dotBytes == cpu::packed::Dot::MaddBytes ? "int7" : "int8";
  }
  std::string describeLayout(dfg::NodeOp node) const override { return cpu::layoutOf(node); }
  bool mayTakeOver(dfg::NodeOp node, unsigned operand) const override {
    return cpu::readsInPlace(node, operand);
  }

  LogicalResult lowerNetwork(dfg::NodeOp node) const override { return cpu::lowerNetwork(node); }
  schedule::Script writeSchedule(func::FuncOp payload, const TargetOptions &options) const override {
    return cpu::writeDefaultSchedule(payload, figures(options), options.strict);
  }

  LogicalResult lower(ModuleOp module, MutableArrayRef<NodeLowering> nodes,
                      const TargetOptions &options) const override {
    for (auto combiner : llvm::make_early_inc_range(module.getOps<dfg::CombinerOp>()))
      combiner.erase();
    if (failed(bufferizePayloads(module)))
      return failure();
    for (NodeLowering &node : nodes) {
      cpu::mergeInPlace(node.payload, node.env);
      cpu::legaliseWideVectors(node.payload);
      cpu::shareCopies(node.payload);
    }
    for (NodeLowering &node : nodes)
      if (failed(cpu::splitKernels(node.payload, node.env, node.version, options.checks)))
        return failure();
    // Sites of accesses have the places of one node.
    if (options.checks != Checks::All)
      cpu::shareKernels(module, nodes);
    cpu::Figures machine = figures(options);
    cpu::tileProducts(module, machine.vectorBytes / 4, machine.registers);
    if (failed(cpu::lowerToLoops(module)))
      return failure();
    llvm::StringSet<> done;
    for (NodeLowering &node : nodes)
      for (const plan::Step &step : node.version.steps)
        if (node.loops && done.insert(step.kernel).second &&
            failed(schedule::applySequence(module.lookupSymbol(step.kernel), node.loops)))
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
    return cpu::emitImage(module, cpu::getMachine(options), options.store);
  }

private:
  static cpu::Figures figures(const TargetOptions &options) {
    return cpu::figuresOf(cpu::getMachine(options));
  }
};

} // namespace

namespace tessera {
std::unique_ptr<Target> createTarget_cpu() { return std::make_unique<CpuTarget>(); }
} // namespace tessera
