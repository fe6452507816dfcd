// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tune`: finds the trade-off curve of a network and stores it with the program. The tuner itself knows no
// MLIR (src/tessera/tune/Tuner.h); here it gets its pieces of the network.
#include "Commands.h"

#include "tessera/base/CachePath.h"
#include "tessera/base/Dataset.h"
#include "tessera/base/Diag.h"
#include "tessera/driver/Segments.h"
#include "tessera/tune/CurveFile.h"
#include "tessera/tune/Tuner.h"

#include "llvm/Support/FileSystem.h"

using namespace tessera;
using namespace tessera::cli;

namespace {
struct TuneArgs {
  std::string in, out, data, normalise, metric = "top-1";
  std::vector<std::string> knobs = {"bf16",      "int8",      "perforate-*@1", "int8+perforate-*@1",
                                    "sample*@1", "low-rank:*"};
  tune::TuneOptions options;
  bool keep = false;
};
} // namespace

static Status compilePieces(Session &session, Portable &program, ArrayRef<std::string> patterns,
                            std::span<const tune::PieceName> pieces, const tune::Ranges &ranges,
                            const std::string &path) {
  FailureOr<Portable> cut = cutNetwork(program, patterns, ArrayRef(pieces.data(), pieces.size()), ranges);
  if (failed(cut))
    return Status::error(StatusCode::InvalidArgument, "the network was not cut");
  // A knob without code for a shape is left out by the tuner; that is no error to show.
  std::string reason;
  FailureOr<Installed> installed = failure();
  {
    ScopedDiagnosticHandler handler(&session.context(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && reason.empty())
        reason = diagnostic.str();
    });
    installed = install(session, MutableArrayRef(&*cut, 1), InstallOptions());
  }
  if (failed(installed))
    return Status::error(StatusCode::Unsupported, reason);
  return writeInstalled(*installed, path);
}

static std::string percent(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

static void printCurve(const tune::Curve &curve, const std::string &path) {
  std::printf("%s: %s %s %% on %lld samples of %s that the search did not see\n", path.c_str(),
              curve.metric.c_str(), percent(curve.baselineQuality).c_str(),
              static_cast<long long>(curve.baselineCount), curve.data.c_str());
  for (const tune::Configuration &c : curve.configurations)
    std::printf("  %-9s cost %.3f  loss %6s points, below %s with %.0f %% confidence  (%zu operations)\n",
                c.name.c_str(), c.predicted.cost, percent(c.measured->loss).c_str(),
                percent(c.measured->lossHigh).c_str(), 100 * curve.confidence, c.knobs.size());
  std::printf(
      "  profiles %.1f s, search %.2f s, validation %.1f s, %lld runs; predictions off by %.2f points\n",
      curve.tuning.profileSeconds, curve.tuning.searchSeconds, curve.tuning.validateSeconds,
      static_cast<long long>(curve.tuning.evaluations), curve.tuning.predictionError);
}

static Status tuneFile(TuneArgs &args) {
  TESSERA_ASSIGN(args.options.metric, tune::parseMetric(args.metric));
  if (args.options.metric.kind != tune::MetricKind::TopK)
    return fail(StatusCode::Unsupported, "--metric: networks are tuned for top-1 or top-K, but got '",
                args.metric, "'");
  TESSERA_ASSIGN(args.options.normalise, tune::parseNormalisation(args.normalise));
  TESSERA_ASSIGN(Container file, Container::open(args.in));
  TESSERA_ASSIGN(std::string digest, tune::programDigest(file));
  TESSERA_ASSIGN(Dataset data, readDataset(args.data));
  Session session;
  Portable program;
  {
    ReadTime limited;
    TESSERA_ASSIGN(program, readPortable(session, args.in));
  }
  FailureOr<tune::Network> network = describeNetwork(program, args.knobs);
  if (failed(network))
    return fail(StatusCode::InvalidArgument, "'", args.in, "' was not tuned");
  if (network->segments.empty() || network->segments.back().name.empty())
    return fail(StatusCode::InvalidArgument, "'", args.in, "' has no operation with one of the knobs ",
                joinNames(args.knobs), "; 'tessera explain --knobs' lists what there is");
  args.options.folder = args.out + ".tune";
  args.options.costs = cacheFolder() + "/costs.jsonl";
  tune::Tuner tuner(
      std::move(*network), digest, data, args.options,
      [&](std::span<const tune::PieceName> pieces, const tune::Ranges &ranges, const std::string &path) {
        return compilePieces(session, program, args.knobs, pieces, ranges, path);
      });
  TESSERA_ASSIGN(tune::Curve curve, tuner.tune());
  TESSERA_TRY(tune::writeCurve(file, curve, args.out));
  if (!args.keep)
    llvm::sys::fs::remove_directories(args.options.folder);
  printCurve(curve, args.out);
  return Status();
}

void cli::addTune(CLI::App &app, Action &action) {
  CLI::App *sub =
      app.add_subcommand("tune", "find what a network's accuracy can be traded for, and store the curve");
  auto args = std::make_shared<TuneArgs>();
  tune::TuneOptions &o = args->options;
  o.quiet = false;
  sub->add_option("input", args->in, "portable object (.tsr) of a network")->required();
  sub->add_option("-o,--output", args->out,
                  "the portable object with the curve; default: the input is written again");
  sub->add_option("--data", args->data, "labelled samples, as for 'tessera eval'")->required();
  sub->add_option("--skip", o.skip, "leave out the first N samples")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 40));
  sub->add_option("--limit", o.limit, "use so many samples only: keep others to test the result with")
      ->check(CLI::Range(int64_t(2), int64_t(1) << 40));
  sub->add_option("--images", o.images, "samples for the search; the others validate (default 256)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 30));
  sub->add_option("--batch", o.batch, "samples in one launch (default 16)")
      ->check(CLI::Range(int64_t(1), int64_t(4096)));
  sub->add_option("--metric", args->metric, "top-1 (default) or top-K");
  sub->add_option("--normalise", args->normalise, "as for 'tessera eval'");
  sub->add_option("--max-loss", o.maxLoss, "points of the metric that the curve goes down to (default 3)")
      ->check(CLI::Range(0.0, 100.0));
  sub->add_option("--knobs", args->knobs,
                  "knobs to try, separated by commas; '*' stands for any characters (default: bf16, int8, "
                  "perforation, sampling and low rank, one offset for each rate)")
      ->delimiter(',');
  sub->add_option("--candidates", o.candidates, "configurations to validate (default 16)")
      ->check(CLI::Range(int64_t(1), int64_t(1000)));
  sub->add_option("--confidence", o.confidence, "of the bounds on losses (default 0.95)")
      ->check(CLI::Range(0.5, 0.9999));
  sub->add_option("--seed", o.seed, "decides how samples are dealt out and where the search looks");
  sub->add_option("--threads", o.threads, "number of threads (default: one for each processor)")
      ->check(CLI::Range(1, 256));
  sub->add_flag("--keep", args->keep, "keep the folder OUTPUT.tune with all that was measured");
  sub->footer("An interrupted run goes on where it was: what was measured is in the folder OUTPUT.tune.\n"
              "example: tessera tune lenet.tsr --data mnist:data/mnist --limit 5000");
  sub->callback([args, &action] {
    action = [args] {
      if (args->out.empty())
        args->out = args->in;
      return supervise(
          [&] {
            Status status = tuneFile(*args);
            return status.ok() ? 0 : cli::fail(status.message());
          },
          "interrupted; what was measured is kept, and the same command goes on from it");
    };
  });
}
