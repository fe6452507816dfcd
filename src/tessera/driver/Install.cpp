// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From portable objects to an installed program: the stages place, schedule, lower, emit and link.
#include "tessera/driver/Compiler.h"

#include "tessera/base/Container.h"
#include "tessera/base/CpuInfo.h"
#include "tessera/base/Diag.h"
#include "tessera/base/Sha256.h"
#include "tessera/driver/Components.h"
#include "tessera/driver/GraphPlan.h"
#include "tessera/driver/Schedule.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"
#include <nlohmann/json.hpp>

using namespace tessera;

// Which targets a node gets a version for: those asked for, that the node's hint allows and that support it.
static LogicalResult place(dfg::GraphOp graph, const InstallOptions &options) {
  LogicalResult status = success();
  graph.walk([&](dfg::NodeOp node) {
    if (!isa<dfg::GraphOp>(node->getParentOp()))
      return;
    SmallVector<Attribute> versions;
    SmallVector<StringRef> allowed;
    if (ArrayAttr hints = node.getTargetsAttr())
      for (StringRef hint : hints.getAsValueRange<StringAttr>()) {
        if (!findTarget(hint)) {
          std::vector<std::string> names(getTargetNames());
          node.emitOpError() << unknownName("target", hint.str(), "built targets", names);
          status = failure();
        }
        allowed.push_back(hint);
      }
    for (const std::string &name : options.targets) {
      if (!allowed.empty() && !llvm::is_contained(allowed, name))
        continue;
      if (findTarget(name)->supports(node))
        versions.push_back(dfg::VersionAttr::get(node.getContext(), name, StringAttr(), DictionaryAttr()));
    }
    if (versions.empty() && succeeded(status)) {
      // A hint is an allowed set, but a program that cannot run is of no use to anyone.
      node.emitWarning("none of the node's targets is installed; it will run on the cpu");
      versions.push_back(dfg::VersionAttr::get(node.getContext(), "cpu", StringAttr(), DictionaryAttr()));
    }
    node.setVersionsAttr(ArrayAttr::get(node.getContext(), versions));
  });
  return status;
}

namespace {

/// All that is needed to install one graph.
struct Job {
  dfg::GraphOp graph;
  Portable *portable;
  std::unique_ptr<GraphPlan> plan = std::make_unique<GraphPlan>();
};

} // namespace

static std::string symbolName(StringRef graph, StringRef node, unsigned unique) {
  std::string name = (graph + "_" + node).str();
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  return name + "_" + std::to_string(unique);
}

FailureOr<Installed> tessera::install(Session &session, MutableArrayRef<Portable> programs, const InstallOptions &options) {
  MLIRContext *ctx = &session.context();
  OpBuilder b(ctx);
  Installed result;
  ConstantPool constants;
  std::vector<Job> jobs;
  auto fail = [&](const Twine &text) -> FailureOr<Installed> {
    emitError(UnknownLoc::get(ctx)) << text;
    return failure();
  };
  std::vector<OwningOpRef<ModuleOp>> ownScripts;
  nlohmann::json scripts = nlohmann::json::object();
  for (Portable &program : programs) {
    FailureOr<std::string> script = scheduleGraph(*program.module, program.scripts.get(), ownScripts);
    if (failed(script))
      return failure();
    for (auto graph : program.module->getOps<dfg::GraphOp>())
      scripts[graph.getSymName().str()] = *script;
  }
  llvm::StringSet<> names;
  for (Portable &program : programs)
    for (auto graph : program.module->getOps<dfg::GraphOp>()) {
      // Private graphs are parts of others; they have been flattened into them.
      if (graph.getSymVisibility() == "private")
        continue;
      if (!names.insert(graph.getSymName()).second)
        return fail("two programs have a graph '" + graph.getSymName() + "'; rename one of them");
      jobs.emplace_back();
      jobs.back().graph = graph;
      jobs.back().portable = &program;
    }
  for (Job &job : jobs) {
    if (failed(normaliseGraph(job.graph)) || failed(place(job.graph, options)))
      return failure();
    if (Status s = dumpStage(job.graph, Stage::Place, options.dumpDir); !s.ok())
      return fail(s.message());
  }
  if (options.stopAfter == Stage::Place)
    return result;

  const Target *cpu = findTarget("cpu");
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(UnknownLoc::get(ctx), "kernels");
  std::vector<NodeLowering> nodes;
  std::vector<std::pair<Job *, int>> owners;
  unsigned unique = 0;
  for (Job &job : jobs) {
    if (failed(planGraph(job.graph, constants, *job.plan)))
      return failure();
    for (auto [op, index] : job.plan->nodes) {
      auto node = cast<dfg::NodeOp>(op);
      std::string name = symbolName(job.graph.getSymName(), node.getName(), unique++);
      PayloadOptions payloadOptions;
      payloadOptions.contract = !options.target.strict;
      FailureOr<Payload> payload = buildPayload(node, name, *kernels, payloadOptions);
      if (failed(payload))
        return failure();
      NodeLowering lowering{node, payload->func, planPayload(*job.plan, node, *payload), {}, {}, {}};
      lowering.version.target = "cpu";
      if (failed(scheduleNode(lowering, *cpu, job.portable->scripts.get(), ownScripts, options.target)))
        return failure();
      scripts[(job.graph.getSymName() + "." + node.getName()).str()] = lowering.version.script;
      nodes.push_back(std::move(lowering));
      owners.push_back({&job, index});
    }
  }
  if (failed(verify(*kernels)))
    return failure();
  if (Status s = dumpStage(*kernels, Stage::Schedule, options.dumpDir); !s.ok())
    return fail(s.message());
  if (options.stopAfter == Stage::Schedule)
    return result;
  if (failed(cpu->lower(*kernels, nodes, options.target)))
    return failure();
  if (Status s = dumpStage(*kernels, Stage::Lower, options.dumpDir); !s.ok())
    return fail(s.message());
  if (options.stopAfter == Stage::Lower)
    return result;
  FailureOr<std::string> code = cpu->emit(*kernels, options.target);
  if (failed(code))
    return failure();
  result.code = *code;
  for (auto [lowering, owner] : llvm::zip(nodes, owners)) {
    plan::Node &node = owner.first->plan->program.nodes[owner.second];
    for (Attribute version : lowering.node.getVersionsAttr()) {
      // Devices that run the host's code on memory of their own take the CPU's steps.
      lowering.version.target = cast<dfg::VersionAttr>(version).getTarget().str();
      node.versions.push_back(lowering.version);
    }
  }
  std::vector<plan::Program> plans;
  std::string sources;
  for (Job &job : jobs)
    plans.push_back(std::move(job.plan->program));
  for (Portable &program : programs)
    sources += (sources.empty() ? "" : ", ") + program.source;
  result.plan = plan::planJson(plans);
  result.constants = constants.content();
  result.savedBytes = constants.savedBytes();
  TargetOptions machine = options.target;
  std::string triple = machine.triple.empty() ? hostTriple() : machine.triple;
  nlohmann::json features = nlohmann::json::array();
  if (machine.triple.empty()) {
    for (const std::string &f : cpuInfo().features)
      features.push_back(f);
  } else {
    SmallVector<StringRef> list;
    StringRef(machine.features).split(list, ',', -1, false);
    for (StringRef f : list)
      if (f.consume_front("+"))
        features.push_back(f.str());
  }
  nlohmann::json meta = {{"tessera", TESSERA_VERSION},       {"source", sources},
                         {"triple", triple},                 {"features", features},
                         {"cpu", machine.cpu},               {"scripts", scripts},
                         {"mode", machine.strict ? "strict" : "fast"}, {"savedBytes", result.savedBytes}};
  result.meta = meta.dump();
  return result;
}

Status tessera::writeInstalled(const Installed &program, const std::string &path) {
  ContainerWriter writer(ContainerKind::InstalledProgram, 0);
  writer.add("plan", program.plan);
  writer.add("code", program.code);
  writer.add("const", program.constants);
  writer.add("meta", program.meta);
  return writer.write(path);
}
