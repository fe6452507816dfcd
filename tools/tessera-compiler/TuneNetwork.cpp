// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Networks for the tuner: cut into pieces, compiled under each knob.
#include "InstallTuned.h"
#include "Tune.h"

#include "tessera/base/CachePath.h"
#include "tessera/base/Diag.h"
#include "tessera/driver/Components.h"
#include "tessera/driver/Knobs.h"
#include "tessera/driver/Segments.h"
#include "tessera/ir/nn/Nn.h"
#include "tessera/transforms/nn/knobs/Knobs.h"
#include "tessera/tune/metrics/Statistics.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

using namespace tessera;
using namespace tessera::cli;

// A knob without code for a shape is left out by the tuner; that is no error to show.
static Status installTo(Session &session, MutableArrayRef<Portable> programs, const TargetOptions &target,
                        const std::string &path) {
  std::string reason;
  FailureOr<Installed> installed = failure();
  {
    ScopedDiagnosticHandler handler(&session.context(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && reason.empty())
        reason = diagnostic.str();
    });
    InstallOptions options;
    options.target = target;
    installed = install(session, programs, options);
  }
  if (failed(installed))
    return Status::error(StatusCode::Unsupported, reason);
  return writeInstalled(*installed, path);
}

static Status compilePieces(Session &session, Portable &program, ArrayRef<std::string> patterns,
                            std::span<const tune::PieceName> pieces, const tune::Ranges &ranges,
                            const TargetOptions &target, const std::string &path) {
  FailureOr<Portable> cut = cutNetwork(program, patterns, ArrayRef(pieces.data(), pieces.size()), ranges);
  if (failed(cut))
    return Status::error(StatusCode::InvalidArgument, "the network was not cut");
  return installTo(session, MutableArrayRef(&*cut, 1), target, path);
}

static tune::NetworkCompiler networksOf(Session &session, Portable &program, const TargetOptions &target) {
  return [&session, &program, target](std::span<const KnobMap> configurations, const tune::Ranges &ranges,
                                      const std::string &path) -> Status {
    std::vector<Portable> programs;
    for (const KnobMap &configuration : configurations) {
      programs.push_back(copyAs(program, concat("p", programs.size())));
      setRanges(programs.back(), ranges);
      TESSERA_TRY(applyKnobMap(*programs.back().module, configuration));
    }
    return installTo(session, programs, target, path);
  };
}

static tune::PieceCompiler piecesOf(Session &session, Portable &program, ArrayRef<std::string> patterns,
                                    const TargetOptions &target) {
  return [&session, &program, patterns = patterns.vec(), target](
             std::span<const tune::PieceName> pieces, const tune::Ranges &ranges, const std::string &path) {
    return compilePieces(session, program, patterns, pieces, ranges, target, path);
  };
}

// One offset for each rate; perforation in bytes alone, which every machine has and where it gains most.
std::vector<std::string> cli::defaultKnobs(const TargetOptions &target) {
  const std::string bytes = hostTarget().bytesKnob(target).str();
  return {"bf16", bytes, bytes + "+perforate-*@1", "sample:*@1", "low-rank:*"};
}

// The network of a program with the knobs that the patterns stand for.
static Result<tune::Network> networkOf(Portable &program, const std::string &in,
                                       ArrayRef<std::string> knobs) {
  FailureOr<tune::Network> network = describeNetwork(program, knobs);
  if (failed(network))
    return tessera::fail(StatusCode::InvalidArgument, "'", in, "' was not tuned");
  if (network->segments.empty() || network->segments.back().name.empty())
    return tessera::fail(StatusCode::InvalidArgument, "'", in, "' has no operation with one of the knobs ",
                         joinNames({knobs.data(), knobs.size()}),
                         "; 'tessera explain --knobs' lists what there is");
  return std::move(*network);
}

static Status fillOptions(TuneArgs &args, const std::vector<double> &goals) {
  tune::TuneOptions &options = args.options;
  TESSERA_ASSIGN(options.metric, tune::parseMetric(args.metric.empty() ? "top-1" : args.metric));
  if (options.metric.kind != tune::MetricKind::TopK)
    return tessera::fail(StatusCode::Unsupported, "--budgets: --metric: expected top-1 or top-K, but got '",
                         args.metric, "'");
  options.goals = args.losses.empty() ? goals : args.losses;
  options.images = args.images.value_or(options.images);
  TESSERA_ASSIGN(options.normalise, tune::parseNormalisation(args.normalise));
  TESSERA_TRY(openCacheFolder());
  options.costs = cacheFolder() + "/costs.jsonl";
  options.machine = args.target.cpu;
  if (args.knobs.empty())
    args.knobs = defaultKnobs(args.target);
  return Status();
}

Result<tune::Curve> cli::tuneNetwork(Session &session, Portable &program, const std::string &digest,
                                     TuneArgs &args) {
  TESSERA_TRY(fillOptions(args, {1, 2, 3}));
  TESSERA_ASSIGN(Dataset data, readDataset(args.data));
  TESSERA_ASSIGN(tune::Network network, networkOf(program, args.in, args.knobs));
  return tune::Tuner(std::move(network), digest, data, args.options,
                     piecesOf(session, program, args.knobs, args.target),
                     networksOf(session, program, args.target))
      .tune();
}

Status cli::tuneBudgets(Session &session, Portable &program, const std::string &digest, TuneArgs &args) {
  TESSERA_TRY(fillOptions(args, {1}));
  TESSERA_ASSIGN(Dataset data, readDataset(args.data));
  TESSERA_ASSIGN(tune::Network network, networkOf(program, args.in, args.knobs));
  tune::Tuner tuner(std::move(network), digest, data, args.options,
                    piecesOf(session, program, args.knobs, args.target));
  TESSERA_ASSIGN(tune::Tuner::FoundDemands found, tuner.findDemands(args.share));
  for (nn::TunableOp op : nn::tunableOps(*program.module)) {
    const std::string name = nn::nameOf(op).str();
    if (auto demand = found.demands.find(name); demand != found.demands.end()) {
      nn::Notes::demand.set(op, {float(demand->second.l1), float(demand->second.l2)});
      std::printf("  %-20s may be off by %.2f %% (L1), %.2f %% (L2)\n", name.c_str(), 100 * demand->second.l1,
                  100 * demand->second.l2);
    }
    if (auto range = found.ranges.find(name); range != found.ranges.end())
      nn::Notes::range.set(op, {float(range->second.first), float(range->second.second)});
  }
  std::printf(
      "%s: with errors of these sizes at most %g points were lost in %lld of %lld runs on samples that the "
      "search did not see\n",
      args.out.c_str(), args.options.maxLoss(), static_cast<long long>(found.held),
      static_cast<long long>(found.runs));
  return writePortable(program, args.out);
}

// Pictures of noise: what an operation's error is like without the program's data.
static Dataset noise(ArrayRef<int64_t> shape) {
  constexpr int64_t count = 32;
  Dataset data;
  data.name = "noise";
  std::vector<int64_t> extents(shape.begin(), shape.end());
  std::ranges::replace_if(extents, ShapedType::isDynamic, 32);
  extents[0] = count;
  std::byte *storage = nullptr;
  data.x = NpyArray::allocate(NpyType::F4, extents, &storage);
  tune::Stream random(1);
  auto *to = reinterpret_cast<float *>(storage);
  for (int64_t i = 0; i < data.x.elements(); ++i)
    to[i] = static_cast<float>(random.unit());
  for (int64_t i = 0; i < count; ++i)
    data.label.push_back(i % 2);
  return data;
}

Result<KnobMap> cli::chooseByDemands(Session &session, Portable &program, const std::string &path,
                                     const TargetOptions &target) {
  const std::vector<std::string> knobs = defaultKnobs(target);
  TESSERA_ASSIGN(tune::Network network, networkOf(program, path, knobs));
  if (llvm::none_of(network.segments, [](const tune::Segment &s) { return s.demand.has_value(); }))
    return tessera::fail(StatusCode::InvalidArgument, "'", path,
                         "' has no error budgets; 'tessera tune --budgets' finds them");
  ShapedType input;
  for (auto graph : program.module->getOps<dfg::GraphOp>())
    if (graph.getSymVisibility() != "private")
      input = cast<ShapedType>(graph.getArgumentTypes()[0]);
  Dataset data = noise(input.getShape());
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("tessera-demands", folder))
    return tessera::fail(StatusCode::Io, "cannot make a temporary folder: ", error.message());
  auto remove = llvm::scope_exit([&] { llvm::sys::fs::remove_directories(folder); });
  tune::TuneOptions options;
  options.images = 16;
  options.folder = folder.str().str();
  TESSERA_TRY(openCacheFolder());
  options.costs = cacheFolder() + "/costs.jsonl";
  options.machine = target.cpu;
  options.quiet = false;
  return tune::Tuner(std::move(network), "demands", data, options, piecesOf(session, program, knobs, target))
      .chooseByDemands();
}
