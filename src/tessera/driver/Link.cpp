// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stage `link`: plan, code, constants and what is said about them, and the file that holds it all.
#include "tessera/base/Container.h"
#include "tessera/base/Json.h"
#include "tessera/driver/Installation.h"
#include "tessera/driver/Prepare.h"

using namespace tessera;

// The steps that a version runs, from those that its target has made: of the node, or of each node of its
// form.
static plan::Version assemble(Installation &in, Job &job, dfg::NodeOp node, dfg::VersionAttr version) {
  const TargetChoice &maker = in.targets.makerOf(version.getTarget());
  plan::Version own;
  size_t parts = 0;
  Kernels &kernels = in.kernelsOf(maker);
  auto add = [](auto &to, const auto &from) { to.insert(to.end(), from.begin(), from.end()); };
  for (size_t i : kernels.madeFor.lookup(node)) {
    const plan::Version &made = kernels.nodes[i].version;
    add(own.steps, made.steps);
    add(own.temps, made.temps);
    own.note = parts++ ? std::to_string(parts) + " nodes" : made.note;
  }
  if (dfg::GraphOp form = formOf(node, version))
    add(own.temps, job.plan->forms[form]->temps);
  own.target = version.getTarget().str();
  own.expected = job.plan->expected.lookup({node, version.getTarget()});
  return own;
}

static void addVersions(Installation &in, Job &job, dfg::NodeOp node, int index) {
  plan::Node &planned = job.plan->program.nodes[index];
  for (auto version : node.getVersionsAttr().getAsRange<dfg::VersionAttr>()) {
    plan::Version own = assemble(in, job, node, version);
    if (plan::ExprId flops = job.plan->flops[index]; flops >= 0 && !own.steps.empty())
      own.steps.front().flops = flops;
    // Kernels add to their cells.
    for (const plan::Step &step : own.steps)
      if (step.faults >= 0 && !llvm::is_contained(planned.writes, step.faults)) {
        planned.reads.push_back(step.faults);
        planned.writes.push_back(step.faults);
      }
    planned.versions.push_back(std::move(own));
  }
}

static nlohmann::json describe(Installation &in) {
  std::string sources;
  for (Portable &program : in.programs)
    sources += (sources.empty() ? "" : ", ") + program.source;
  const TargetChoice &host = in.targets.host();
  HostMachine machine = host.target->host(host.options);
  nlohmann::json meta = {{"tessera", TESSERA_VERSION},
                         {"source", sources},
                         {"triple", machine.triple},
                         {"features", machine.features},
                         {"cpu", machine.cpu},
                         {"scripts", in.scripts},
                         {"mode", spellMode(in.options.target)},
                         {"savedBytes", in.result.savedBytes},
                         {"savedKernels", in.result.savedKernels}};
  if (in.options.portfolio)
    meta["portfolio"] = in.portfolio;
  if (!in.options.cacheKey.empty())
    meta["cacheKey"] = in.options.cacheKey;
  return meta;
}

LogicalResult tessera::linkProgram(Installation &in) {
  for (auto &kernels : in.kernels)
    for (auto [i, owner] : llvm::enumerate(kernels->owners))
      kernels->madeFor[owner.node].push_back(i);
  Plan plan;
  for (Job &job : in.jobs) {
    for (auto [op, index] : job.plan->nodes)
      addVersions(in, job, cast<dfg::NodeOp>(op), index);
    job.plan->program.reuse = in.options.memoryPlan;
  }
  for (Job &job : in.jobs)
    plan.programs.push_back(std::move(job.plan->program));
  in.result.plan = writePlan(plan);
  in.result.constants = in.constants.content();
  in.result.savedBytes += in.constants.savedBytes();
  in.result.meta = dumpJson(describe(in));
  return success();
}

static ContainerWriter containerOf(const Installed &program) {
  ContainerWriter writer(ContainerKind::InstalledProgram, 0);
  writer.add("plan", program.plan);
  writer.add("code", program.code);
  writer.add("const", program.constants);
  for (const auto &[section, bytes] : program.images)
    writer.add(section, bytes);
  writer.add("meta", program.meta);
  if (!program.curve.empty())
    writer.add("curve", program.curve);
  return writer;
}

Status tessera::writeInstalled(const Installed &program, const std::string &path) {
  return containerOf(program).write(path);
}

std::string tessera::installedBytes(const Installed &program) { return containerOf(program).bytes(); }
