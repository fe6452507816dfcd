// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From portable objects to an installed program: the stages place, schedule, lower, emit and link.
#include "tessera/driver/Compiler.h"

#include "tessera/base/Container.h"
#include "tessera/base/Diag.h"
#include "tessera/base/Json.h"
#include "tessera/base/Progress.h"
#include "tessera/driver/Components.h"
#include "tessera/driver/GraphPlan.h"
#include "tessera/driver/Knobs.h"
#include "tessera/driver/Networks.h"
#include "tessera/driver/Portfolio.h"
#include "tessera/driver/Schedule.h"
#include "tessera/ir/dfg/DfgNames.h"
#include "tessera/transforms/graph/Rewrites.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include <nlohmann/json.hpp>

using namespace tessera;

// Which targets a node gets a version for: those asked for, that the node's hint allows and that support it.
static void place(dfg::GraphOp graph, const InstallOptions &options) {
  graph.walk([&](dfg::NodeOp node) {
    if (!isa<dfg::GraphOp>(node->getParentOp()))
      return;
    SmallVector<Attribute> versions;
    SmallVector<StringRef> allowed;
    if (ArrayAttr hints = node.getTargetsAttr())
      for (StringRef hint : hints.getAsValueRange<StringAttr>()) {
        // The program may have been compiled for another machine.
        if (!findTarget(hint)) {
          std::vector<std::string> names(getTargetNames());
          node.emitWarning() << unknownName("target", hint.str(), "built targets", names);
        }
        allowed.push_back(hint);
      }
    for (const std::string &name : options.targets) {
      if (!allowed.empty() && !llvm::is_contained(allowed, name))
        continue;
      if (findTarget(name)->supports(node))
        versions.push_back(dfg::VersionAttr::get(node.getContext(), name, StringAttr(), DictionaryAttr()));
    }
    if (versions.empty()) {
      // A hint is an allowed set, but a program that cannot run is of no use to anyone.
      node.emitWarning() << "none of the targets of " << dfg::describe(node)
                         << " is installed; it will run on the cpu";
      versions.push_back(dfg::VersionAttr::get(node.getContext(), "cpu", StringAttr(), DictionaryAttr()));
    }
    node.setVersionsAttr(ArrayAttr::get(node.getContext(), versions));
  });
}

namespace {

/// All that is needed to install one graph.
struct Job {
  dfg::GraphOp graph;
  Portable *portable;
  std::unique_ptr<GraphPlan> plan = std::make_unique<GraphPlan>();
};

/// The kernels that one target makes for all programs of the file.
struct Kernels {
  const Target *target;
  std::string name;
  OwningOpRef<ModuleOp> module;
  std::vector<NodeLowering> nodes;
  std::vector<std::pair<Job *, int>> owners; ///< of each lowering: its graph, and the plan's node
  TargetCode code;
};

} // namespace

static constexpr StringLiteral hostTarget = "cpu";

// Who makes the code for a target's versions.
static StringRef makerOf(StringRef target) {
  return findTarget(target)->runsHostCode() ? StringRef(hostTarget) : target;
}

static LogicalResult checkTargets(const InstallOptions &options, Location loc) {
  for (const std::string &name : options.targets)
    if (!findTarget(name)) {
      std::vector<std::string> names(getTargetNames());
      return emitError(loc) << unknownName("target", name, "built targets", names);
    }
  for (const std::string &name : options.targets)
    if (failed(findTarget(makerOf(name))->check(options.target, loc)))
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

static std::string symbolName(StringRef graph, StringRef node, unsigned unique) {
  std::string name = (graph + "_" + node).str();
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  return name + "_" + std::to_string(unique);
}

FailureOr<Installed> tessera::install(Session &session, MutableArrayRef<Portable> programs,
                                      const InstallOptions &options) {
  MLIRContext *ctx = &session.context();
  OpBuilder b(ctx);
  Installed result;
  ConstantPool constants;
  std::vector<Job> jobs;
  auto fail = [&](const Twine &text) -> FailureOr<Installed> {
    emitError(UnknownLoc::get(ctx)) << text;
    return failure();
  };
  if (failed(checkTargets(options, UnknownLoc::get(ctx))))
    return failure();
  noteStage(getInfo(Stage::Place).name);
  std::vector<OwningOpRef<ModuleOp>> ownScripts;
  nlohmann::json scripts = nlohmann::json::object(), portfolio = nlohmann::json::object();
  for (Portable &program : programs)
    if (Status s = applyKnobMap(*program.module, options.knobs); !s.ok())
      return fail(s.message());
  if (options.portfolio)
    portfolio = choosePortfolio(session, programs, options);
  for (Portable &program : programs) {
    IRRewriter rewriter(ctx);
    graph::Refusal no;
    if (failed(graph::applyNodeKnobs(rewriter, *program.module, no)))
      return no.emit();
    if (!options.prepared && failed(prepareNetworks(*program.module, options)))
      return failure();
    FailureOr<std::string> script = scheduleGraph(*program.module, program.scripts.get(), ownScripts);
    if (failed(script))
      return failure();
    for (auto graph : program.module->getOps<dfg::GraphOp>())
      if (graph.getSymVisibility() != "private")
        scripts[graph.getSymName().str()]["(graph)"] = *script;
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
  // Shows a stage to who asked for it; true when it was the last one.
  auto show = [&](Stage stage, ArrayRef<Operation *> ops) -> FailureOr<bool> {
    if (Status s = dumpStage(ops, stage, options.dumpDir); !s.ok())
      return emitError(UnknownLoc::get(ctx)) << s.message(), failure();
    if (options.stopAfter != stage)
      return false;
    result.ir = printStage(ops);
    return true;
  };
  SmallVector<Operation *> shown;
  for (Job &job : jobs) {
    if (failed(normaliseGraph(job.graph)))
      return failure();
    place(job.graph, options);
    shown.push_back(job.graph);
  }
  if (FailureOr<bool> last = show(Stage::Place, shown); failed(last))
    return failure();
  else if (*last)
    return result;
  noteStage(getInfo(Stage::Schedule).name);
  for (Job &job : jobs)
    if (failed(lowerNetworks(job.graph)))
      return failure();

  // One module of kernels for each target that makes code, in the order in which they are first needed.
  std::vector<std::unique_ptr<Kernels>> all;
  auto kernelsOf = [&](StringRef target) -> Kernels & {
    for (auto &kernels : all)
      if (kernels->name == target)
        return *kernels;
    all.push_back(std::make_unique<Kernels>());
    all.back()->target = findTarget(target);
    all.back()->name = target.str();
    all.back()->module = ModuleOp::create(UnknownLoc::get(ctx), target == hostTarget ? "kernels" : target);
    return *all.back();
  };
  // A file always has code for its machine, be it empty.
  kernelsOf(hostTarget);
  unsigned unique = 0;
  for (Job &job : jobs) {
    if (failed(planGraph(job.graph, constants, options.memoryPlan, *job.plan)))
      return failure();
    for (auto [op, index] : job.plan->nodes) {
      auto node = cast<dfg::NodeOp>(op);
      notePlace("node", node.getName());
      llvm::SmallSetVector<StringRef, 4> makers;
      for (auto version : node.getVersionsAttr().getAsRange<dfg::VersionAttr>())
        makers.insert(makerOf(version.getTarget()));
      for (StringRef maker : makers) {
        Kernels &kernels = kernelsOf(maker);
        std::string name = symbolName(job.graph.getSymName(), node.getName(), unique++);
        PayloadOptions payloadOptions;
        payloadOptions.contract = !options.target.strict;
        FailureOr<Payload> payload = buildPayload(node, name, *kernels.module, payloadOptions);
        if (failed(payload))
          return failure();
        NodeLowering lowering{node, payload->func, planPayload(*job.plan, node, *payload), {}, {}, {}};
        lowering.version.target = maker.str();
        if (failed(scheduleNode(lowering, *kernels.target, job.portable->scripts.get(), ownScripts,
                                options.target)))
          return failure();
        std::string key = node.getName().str() + (maker == hostTarget ? "" : " on " + maker.str());
        if (!lowering.version.script.empty())
          scripts[job.graph.getSymName().str()][key] = lowering.version.script;
        kernels.nodes.push_back(std::move(lowering));
        kernels.owners.push_back({&job, index});
      }
    }
  }
  shown.clear();
  for (auto &kernels : all) {
    if (failed(verify(*kernels->module)))
      return failure();
    shown.push_back(*kernels->module);
  }
  if (FailureOr<bool> last = show(Stage::Schedule, shown); failed(last))
    return failure();
  else if (*last)
    return result;
  noteStage(getInfo(Stage::Lower).name);
  for (auto &kernels : all)
    if (failed(kernels->target->lower(*kernels->module, kernels->nodes, options.target)))
      return failure();
  if (FailureOr<bool> last = show(Stage::Lower, shown); failed(last))
    return failure();
  else if (*last)
    return result;
  noteStage(getInfo(Stage::Emit).name);
  for (auto &kernels : all) {
    FailureOr<TargetCode> code = kernels->target->emit(*kernels->module, options.target);
    if (failed(code))
      return failure();
    kernels->code = std::move(*code);
    countShared(*kernels, result);
    if (kernels->name == hostTarget)
      result.code = kernels->code.bytes;
    else
      result.images.push_back({"code." + kernels->name, kernels->code.bytes});
  }
  noteStage(getInfo(Stage::Link).name);
  // The versions of a node in the order of placement, each with the steps of whoever made its code.
  llvm::DenseMap<Operation *, SmallVector<std::pair<Kernels *, size_t>>> made;
  for (auto &kernels : all)
    for (auto [i, lowering] : llvm::enumerate(kernels->nodes))
      made[lowering.node].push_back({kernels.get(), i});
  for (Job &job : jobs)
    for (auto [op, index] : job.plan->nodes)
      for (auto version : cast<dfg::NodeOp>(op).getVersionsAttr().getAsRange<dfg::VersionAttr>())
        for (auto [kernels, i] : made[op])
          if (kernels->name == makerOf(version.getTarget())) {
            plan::Version own = kernels->nodes[i].version;
            own.target = version.getTarget().str();
            plan::Node &planned = job.plan->program.nodes[index];
            // Kernels add to their cells.
            for (const plan::Step &step : own.steps)
              if (step.faults >= 0 && !llvm::is_contained(planned.writes, step.faults)) {
                planned.reads.push_back(step.faults);
                planned.writes.push_back(step.faults);
              }
            planned.versions.push_back(std::move(own));
          }
  std::vector<plan::Program> plans;
  std::string sources;
  for (Job &job : jobs) {
    job.plan->program.reuse = options.memoryPlan;
    plans.push_back(std::move(job.plan->program));
  }
  for (Portable &program : programs)
    sources += (sources.empty() ? "" : ", ") + program.source;
  result.plan = plan::planJson(plans);
  result.constants = constants.content();
  result.savedBytes += constants.savedBytes();
  TargetInfo machine = findTarget(hostTarget)->info(options.target);
  nlohmann::json meta = {{"tessera", TESSERA_VERSION},
                         {"source", sources},
                         {"triple", machine.triple},
                         {"features", machine.features},
                         {"cpu", machine.cpu},
                         {"scripts", scripts},
                         {"mode", spellMode(options.target)},
                         {"savedBytes", result.savedBytes},
                         {"savedKernels", result.savedKernels}};
  if (options.portfolio)
    meta["portfolio"] = portfolio;
  if (!options.cacheKey.empty())
    meta["cacheKey"] = options.cacheKey;
  result.meta = dumpJson(meta);
  return result;
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
