// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that are no networks, or are judged by no labels, for the tuner: configurations as whole programs.
#include "Tune.h"

#include "tessera/base/Diag.h"
#include "tessera/driver/Knobs.h"
#include "tessera/tune/tuner/GraphTuner.h"

using namespace tessera;
using namespace tessera::cli;

// The default bounds on the error of an answer.
static std::vector<double> defaultLosses(const std::string &metric) {
  const bool hasBounds = metric.find('@') != std::string::npos;
  if (!hasBounds && metric.find("psnr") != std::string::npos)
    return {60, 70, 80}; // 40, 30 and 20 dB

  // Of bounds, all that they leave.
  const double most = hasBounds ? 1 : metric.find("top-") != std::string::npos ? 0.03 : 0.1;
  return {most / 3, 2 * most / 3, most};
}

Result<tune::Curve> cli::tuneGraph(Session &session, Portable &program, const std::string &digest,
                                   const TuneArgs &args) {
  if (args.metric.empty())
    return tessera::fail(
        StatusCode::InvalidArgument, "'", args.in,
        "' is no network; choose how its outputs are compared, for example with --metric psnr");
  std::vector<std::string> knobs = args.knobs;
  std::vector<std::string> forNetworks = knobs;
  if (knobs.empty()) {
    knobs = {"f16*", "perforate-*", "cubic-*", "sample:*@0", "version:*"};
    forNetworks = defaultKnobs(args.target);
  }
  std::string name;
  for (auto graph : program.module->getOps<dfg::GraphOp>()) {
    if (graph.getSymVisibility() == "private")
      continue;
    if (!name.empty())
      return tessera::fail(StatusCode::InvalidArgument, "'", args.in, "' has several programs, '", name,
                           "' and '", graph.getSymName().str(), "' among them; choose one with --program");
    name = graph.getSymName().str();
  }
  std::vector<tune::TunableNode> nodes = describeNodes(*program.module, knobs);
  llvm::append_range(nodes, describeOperations(*program.module, forNetworks));
  if (nodes.empty())
    return tessera::fail(StatusCode::InvalidArgument, "'", args.in,
                         "' has no operation with one of the knobs ", joinNames(knobs),
                         "; 'tessera explain --knobs' lists what there is");
  const tune::TuneOptions &from = args.options;
  tune::GraphTuneOptions options;
  options.data = args.data;
  options.metric = args.metric;
  options.images = args.images.value_or(0);
  options.goals = args.losses.empty() ? defaultLosses(args.metric) : args.losses;
  options.budget = from.budget;
  options.candidates = from.candidates;
  options.confidence = from.confidence;
  options.seed = from.seed;
  options.threads = from.threads;
  options.machine = args.target.cpu;
  options.folder = from.folder;
  options.quiet = from.quiet;
  auto compile = [&](std::span<const KnobMap> configurations, const std::string &path) -> Status {
    std::vector<Portable> programs;
    for (const KnobMap &configuration : configurations) {
      programs.push_back(copyAs(program, concat("p", programs.size())));
      TESSERA_TRY(applyKnobMap(*programs.back().module, configuration));
    }
    InstallOptions install;
    install.target = args.target;
    FailureOr<Installed> installed = tessera::install(session, programs, install);
    if (failed(installed))
      return Status::error(StatusCode::InvalidArgument, "the program was not compiled");
    return writeInstalled(*installed, path);
  };
  return tune::GraphTuner(name, digest, std::move(nodes), options, compile).tune();
}
