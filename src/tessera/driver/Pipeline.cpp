// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From portable objects to an installed program: the stages from `knobs` on, in one table. Between two of
// them the program is verified, and shown to who asked for it.
#include "tessera/base/Progress.h"
#include "tessera/driver/Installation.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

using namespace tessera;

namespace {
struct StageStep {
  Stage stage;
  LogicalResult (*run)(Installation &in);
};
} // namespace

static constexpr StageStep steps[] = {
    {Stage::Knobs, applyKnobs},      {Stage::Place, placeAll},
    {Stage::Prepare, prepareAll},    {Stage::GraphSchedule, scheduleGraphs},
    {Stage::Payload, buildPayloads}, {Stage::Schedule, scheduleNodes},
    {Stage::Lower, lowerKernels},    {Stage::Emit, emitKernels},
    {Stage::Link, linkProgram},
};

// Private graphs are parts of others; they have been flattened into them.
static LogicalResult findJobs(Installation &in) {
  llvm::StringSet<> names;
  for (Portable &program : in.programs)
    for (auto graph : program.module->getOps<dfg::GraphOp>()) {
      if (graph.getSymVisibility() == "private")
        continue;
      if (!names.insert(graph.getSymName()).second)
        return emitError(UnknownLoc::get(in.context))
               << "two programs have a graph '" << graph.getSymName() << "'; rename one of them";
      in.jobs.emplace_back();
      in.jobs.back().graph = graph;
      in.jobs.back().portable = &program;
      in.shown.push_back(graph);
    }
  return success();
}

FailureOr<Installed> tessera::install(Session &session, MutableArrayRef<Portable> programs,
                                      const InstallOptions &given) {
  MLIRContext *context = &session.context();
  InstallOptions options = given;
  if (llvm::any_of(programs,
                   [](const Portable &each) { return dfg::Notes::checkAccesses.isOn(*each.module); }))
    options.target.checks = Checks::All;
  FailureOr<TargetList> targets =
      TargetList::parse(options.targets, options.target, UnknownLoc::get(context));
  if (failed(targets))
    return failure();
  Installation in{session, programs, options, context, std::move(*targets)};
  if (failed(findJobs(in)))
    return failure();
  for (const StageStep &step : steps) {
    if (options.prepared && step.stage < Stage::GraphSchedule)
      continue;
    const bool isLast = options.stopAfter == step.stage;
    noteStage(getInfo(step.stage).name);
    if (failed(step.run(in)))
      return failure();
    for (Operation *op : in.shown)
      if (failed(verify(op)))
        return failure();
    if (Status s = dumpStage(in.shown, step.stage, options.dumpDir); !s.ok())
      return emitError(UnknownLoc::get(context)) << s.message(), failure();
    if (isLast && step.stage < Stage::Link) {
      in.result.ir = printStage(in.shown);
      break;
    }
  }
  return std::move(in.result);
}
