// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages that make kernels of nodes: payload, schedule, lower, emit.
#include "tessera/base/Progress.h"
#include "tessera/driver/Installation.h"
#include "tessera/driver/Networks.h"
#include "tessera/driver/Place.h"
#include "tessera/driver/Prepare.h"
#include "tessera/driver/Schedule.h"
#include "tessera/targets/common/Work.h"

using namespace tessera;

Kernels &Installation::kernelsOf(const TargetChoice &target) {
  for (auto &each : kernels)
    if (each->target == &target)
      return *each;
  kernels.push_back(std::make_unique<Kernels>());
  kernels.back()->target = &target;
  StringRef name = &target == &targets.host() ? StringRef("kernels") : StringRef(target.name);
  kernels.back()->module = ModuleOp::create(UnknownLoc::get(context), name);
  return *kernels.back();
}

static void showKernels(Installation &in) {
  in.shown.clear();
  for (auto &kernels : in.kernels)
    in.shown.push_back(*kernels->module);
}

//===----------------------------------------------------------------------===//
// payload
//===----------------------------------------------------------------------===//

static std::string symbolName(StringRef graph, StringRef node, unsigned unique) {
  std::string name = (graph + "_" + node).str();
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  return name + "_" + std::to_string(unique);
}

namespace {
/// The payloads of one graph and of its forms.
class PayloadBuilder {
public:
  PayloadBuilder(Installation &in, Job &job, unsigned &unique) : in(in), job(job), unique(unique) {}
  LogicalResult run();

private:
  /// Graphs without networks and views, with all nodes placed.
  LogicalResult normalise();
  LogicalResult build(dfg::NodeOp node, GraphPlan &plan, const TargetChoice &maker, Operation *owner);
  void expect(dfg::NodeOp node, StringRef target);

  Installation &in;
  Job &job;
  unsigned &unique;
};
} // namespace

LogicalResult PayloadBuilder::normalise() {
  if (failed(normaliseGraph(job.graph)))
    return failure();
  placeNew(job.graph, in.targets);
  if (failed(lowerNetworks(job.graph, in.targets)))
    return failure();
  return forEachForm(job.graph, [&](dfg::NodeOp node, dfg::GraphOp form) {
    return failed(normaliseForm(node, form)) ? failure() : lowerNetworks(form, in.targets);
  });
}

LogicalResult PayloadBuilder::build(dfg::NodeOp node, GraphPlan &plan, const TargetChoice &maker,
                                    Operation *owner) {
  Kernels &kernels = in.kernelsOf(maker);
  std::string name = symbolName(job.graph.getSymName(), node.getName(), unique++);
  FailureOr<Payload> payload =
      buildPayload(node, name, *kernels.module, maker.target->payloadForm(maker.options));
  if (failed(payload))
    return failure();
  NodeLowering lowering{node, payload->func, planPayload(plan, node, *payload), {}, {}, {}};
  lowering.version.target = maker.name;
  kernels.nodes.push_back(std::move(lowering));
  kernels.owners.push_back({&job, owner});
  return success();
}

// What the target thinks that its version takes, before anything was measured.
void PayloadBuilder::expect(dfg::NodeOp node, StringRef target) {
  const TargetChoice &choice = in.targets.choiceOf(target);
  const double launch = choice.target->info(choice.options).launchSeconds,
               all = choice.target->cost(node, choice.options).seconds;
  plan::Expected expected{1e6 * launch, 1e6 * std::max(all - launch, 0.0)};
  expected.times = plan::countOpen(node, job.plan->env).value_or(-1);
  job.plan->expected[{node, target}] = expected;
}

LogicalResult PayloadBuilder::run() {
  if (failed(normalise()) ||
      failed(planGraph(job.graph, in.constants, in.targets, in.options.memoryPlan, *job.plan)))
    return failure();
  for (auto [op, index] : job.plan->nodes) {
    auto node = cast<dfg::NodeOp>(op);
    notePlace("node", node.getName());
    llvm::SmallSetVector<const TargetChoice *, 4> whole;
    DenseSet<Operation *> done;
    for (auto version : node.getVersionsAttr().getAsRange<dfg::VersionAttr>()) {
      const TargetChoice &maker = in.targets.makerOf(version.getTarget());
      expect(node, version.getTarget());
      dfg::GraphOp form = formOf(node, version);
      if (!form && whole.insert(&maker) && failed(build(node, *job.plan, maker, node)))
        return failure();
      if (!form || !done.insert(form).second)
        continue;
      FailureOr<FormPlan *> plan =
          planForm(node, form, in.constants, in.targets, in.options.memoryPlan, *job.plan);
      if (failed(plan))
        return failure();
      for (auto [part, number] : (*plan)->plan.nodes)
        if (failed(build(cast<dfg::NodeOp>(part), (*plan)->plan, maker, node)))
          return failure();
    }
  }
  return success();
}

LogicalResult tessera::buildPayloads(Installation &in) {
  // A file always has code for its machine, and for each target that it was asked for, be it empty.
  in.kernelsOf(in.targets.host());
  for (const TargetChoice &choice : in.targets.asked())
    if (!choice.target->runsHostCode())
      in.kernelsOf(choice);
  unsigned unique = 0;
  for (Job &job : in.jobs)
    if (failed(PayloadBuilder(in, job, unique).run()))
      return failure();
  showKernels(in);
  return success();
}

//===----------------------------------------------------------------------===//
// schedule, lower, emit
//===----------------------------------------------------------------------===//

LogicalResult tessera::scheduleNodes(Installation &in) {
  for (auto &kernels : in.kernels)
    for (auto [lowering, owner] : llvm::zip(kernels->nodes, kernels->owners)) {
      const TargetChoice &maker = *kernels->target;
      notePlace("node", lowering.node.getName());
      if (failed(scheduleNode(lowering, *maker.target, owner.job->portable->scripts.get(), in.ownScripts,
                              maker.options)))
        return failure();
      std::string key = lowering.node.getName().str();
      if (&maker != &in.targets.host())
        key += " on " + maker.name;
      if (!lowering.scriptText.empty())
        in.scripts[owner.job->graph.getSymName().str()][key] = lowering.scriptText;
    }
  return success();
}

LogicalResult tessera::lowerKernels(Installation &in) {
  for (auto &kernels : in.kernels)
    if (failed(kernels->target->target->lower(*kernels->module, kernels->nodes, kernels->target->options)))
      return failure();
  return success();
}

// Steps that name a kernel which another step names too.
static void countShared(const Kernels &kernels, Installed &result) {
  llvm::StringMap<unsigned> uses;
  for (const NodeLowering &node : kernels.nodes)
    for (const plan::Step &step : node.version.steps)
      ++uses[step.kernel];
  for (auto &[kernel, count] : uses) {
    result.savedKernels += count - 1;
    result.savedBytes += (count - 1) * kernels.code.kernelBytes.lookup(kernel);
  }
}

LogicalResult tessera::emitKernels(Installation &in) {
  // What a target has emitted is no longer a program that one could read.
  in.shown.clear();
  for (auto &kernels : in.kernels) {
    FailureOr<TargetCode> code = kernels->target->target->emit(*kernels->module, kernels->target->options);
    if (failed(code))
      return failure();
    kernels->code = std::move(*code);
    countShared(*kernels, in.result);
    if (kernels->target == &in.targets.host())
      in.result.code = kernels->code.bytes;
    else
      in.result.images.push_back({"code." + kernels->target->name, kernels->code.bytes});
  }
  return success();
}
