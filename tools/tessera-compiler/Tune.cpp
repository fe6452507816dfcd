// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tune`: finds the trade-off curve of a program and stores it with the program.
#include "Tune.h"
#include "Commands.h"

#include "tessera/base/CachePath.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Output.h"
#include "tessera/driver/Knobs.h"
#include "tessera/transforms/nn/knobs/Knobs.h"
#include "tessera/tune/curve/CurveFile.h"

#include "llvm/Support/FileSystem.h"

#include <charconv>
#include <cmath>

using namespace tessera;
using namespace tessera::cli;

// "90s", "5m", "1h" or a number of seconds; nothing for anything else.
static std::optional<double> parseSeconds(std::string_view text) {
  double value = 0;
  const char *last = text.data() + text.size();
  auto [end, error] = std::from_chars(text.data(), last, value);
  const std::string_view unit(end, static_cast<size_t>(last - end));
  const double scale = unit == "h" ? 3600 : unit == "m" ? 60 : unit == "s" || unit.empty() ? 1 : 0;
  if (error != std::errc() || !std::isfinite(value) || value <= 0 || scale == 0)
    return std::nullopt;
  return scale * value;
}

static std::string checkBudget(const std::string &text) {
  return parseSeconds(text) ? "" : concat("expected a time such as 90s, 5m or 1h, but got '", text, "'");
}

static std::string checkLoss(const std::string &text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0 && value <= 100)
    return "";
  return concat("expected losses above 0 and up to 100, such as 1,2,3, but got '", text, "'");
}

static void printCurve(const tune::Curve &curve, const std::string &path) {
  const bool isShare = curve.metric.starts_with("top-");
  auto number = [&](double value) { return formatFixed(value, tune::metricDigits(curve.metric)); };
  std::printf("%s: %s %s%s on %lld samples of %s that the search did not see\n", path.c_str(),
              curve.metric.c_str(), number(curve.baselineQuality).c_str(), isShare ? " %" : "",
              static_cast<long long>(curve.baselineCount), curve.data.c_str());
  for (const tune::Configuration &c : curve.configurations) {
    std::printf("  %-9s cost %.3f  loss %6s%s, below %s with %.0f %% confidence  (%zu operations)\n",
                c.name.c_str(), c.predicted.cost, number(c.measured->loss).c_str(), isShare ? " points" : "",
                number(c.measured->lossHigh).c_str(), 100 * curve.confidence, c.knobs.size());
  }
  std::printf("  cost: of the exact program's time, %s; 'tessera install --loss' measures what there is on a "
              "machine\n",
              curve.shapes.empty() ? "predicted from operations that were timed alone"
                                   : "as whole programs took while tuning");
  std::printf("  profiles %.1f s, search %.2f s, validation %.1f s, %lld runs; predictions off by %s%s\n",
              curve.tuning.profileSeconds, curve.tuning.searchSeconds, curve.tuning.validateSeconds,
              static_cast<long long>(curve.tuning.evaluations), number(curve.tuning.predictionError).c_str(),
              isShare ? " points" : "");
}

// A file of several programs becomes one of the program that was asked for.
static Status chooseProgram(Portable &program, const std::string &name, const std::string &path) {
  std::vector<std::string> names;
  for (auto graph : llvm::make_early_inc_range(program.module->getOps<dfg::GraphOp>()))
    if (graph.getSymVisibility() != "private") {
      names.push_back(graph.getSymName().str());
      if (graph.getSymName() != name)
        graph.erase();
    }
  if (!llvm::is_contained(names, name))
    return Status::error(StatusCode::NotFound, unknownName("program", name, "programs", names));
  return writePortable(program, path);
}

static Status tuneFile(TuneArgs &args) {
  Session session;
  Portable program;
  {
    TimeLimit limited(TimeLimit::Reading);
    TESSERA_ASSIGN(program, readPortable(session, args.in));
  }
  args.options.folder = args.out + ".tune";
  if (std::error_code error = llvm::sys::fs::create_directories(args.options.folder))
    return tessera::fail(StatusCode::Io, "cannot create the folder '", args.options.folder,
                         "': ", error.message());
  std::string source = args.in;
  if (!args.program.empty()) {
    source = args.options.folder + "/program.tsr";
    TESSERA_TRY(chooseProgram(program, args.program, source));
  }
  TESSERA_ASSIGN(Container file, Container::open(source));
  TESSERA_ASSIGN(std::string digest, tune::programDigest(file));
  const bool isNetwork =
      !nn::tunableOps(*program.module).empty() || describeNodes(*program.module, {"*"}).empty();
  // Labels say what is right; otherwise the exact program does.
  const bool hasLabels = isNetwork && (args.metric.empty() || StringRef(args.metric).starts_with("top-"));
  if (args.budgets) {
    if (!isNetwork)
      return tessera::fail(StatusCode::Unsupported, "--budgets: '", args.in, "' is no network");
    TESSERA_TRY(tuneBudgets(session, program, digest, args));
    if (!args.keep)
      llvm::sys::fs::remove_directories(args.options.folder);
    return Status();
  }
  if (args.options.portable && !hasLabels)
    return tessera::fail(StatusCode::Unsupported, "--portable: '", args.in,
                         isNetwork ? "' is not judged by labels" : "' is no network",
                         "; the times of other programs are measured");
  TESSERA_ASSIGN(tune::Curve curve, hasLabels ? tuneNetwork(session, program, digest, args)
                                              : tuneGraph(session, program, digest, args));
  TESSERA_TRY(tune::writeCurve(file, curve, args.out));
  if (!args.keep && !curve.tuning.isCut)
    llvm::sys::fs::remove_directories(args.options.folder);
  printCurve(curve, args.out);
  return Status();
}

void cli::addTune(CLI::App &app, Action &action) {
  CLI::App *sub =
      app.add_subcommand("tune", "measure the trade-off between accuracy and speed, and store the curve");
  auto args = std::make_shared<TuneArgs>();
  tune::TuneOptions &o = args->options;
  o.quiet = false;
  sub->add_option("input", args->in, "portable object (.tsr)")->required();
  sub->add_option("--program", args->program,
                  "the program to tune, when the file holds several; the output holds only this one");
  sub->add_option("-o,--output", args->out,
                  "the portable object with the curve; default: the input is written again");
  sub->add_option("--data", args->data,
                  "labelled samples, as for 'tessera eval'; without labels, or for a program that is no "
                  "network, a folder of .npz files, "
                  "whose arrays have the names of inputs, or of .npy files for its only input")
      ->required();
  sub->add_option("--skip", o.skip, "skip the first N samples")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 40));
  sub->add_option("--limit", o.limit, "use only this many samples, and keep the others to test the result")
      ->check(CLI::Range(int64_t(2), int64_t(1) << 40));
  sub->add_option("--images", args->images,
                  "samples for the search; the others validate its result (default 256, or half of a folder)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 30));
  sub->add_option("--batch", o.batch, "samples in one launch (default 16)")
      ->check(CLI::Range(int64_t(1), int64_t(4096)));
  sub->add_option(
      "--metric", args->metric,
      "for a network top-1 (default) or top-K by labels; otherwise, and for other programs, as for 'tessera "
      "compare'. Several metrics need a bound each, picture=psnr@30,scores=relative@0.05; a loss is then the "
      "share of the bounds that is used up");
  sub->add_option("--normalise", args->normalise, "as for 'tessera eval'");
  sub->add_option("--loss", args->losses,
                  "losses to tune for, in the metric's unit, separated by commas; the curve ends at the "
                  "largest (default: 1,2,3 points of accuracy; for PSNR, where an exact answer counts as "
                  "100, 60,70,80; for errors thirds of 0.1, and for bounds thirds of 1)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(checkLoss);
  CLI::Option *budget = sub->add_option("--budget", args->budget,
                                        "time limit, such as 90s, 5m or 1h; the best curve found in that "
                                        "time is stored, and the same command continues from there")
                            ->check(checkBudget);
  sub->add_option(
         "--knobs", args->knobs,
         "knobs to try, separated by commas; '*' stands for any characters (default: of networks "
         "bf16, int8, int8 with perforation, sampled pools and low rank, one offset for each rate; of others "
         "f16, rows left out, sampled sums and versions)")
      ->delimiter(',');
  sub->add_option("--candidates", o.candidates, "configurations to validate (default 16)")
      ->check(CLI::Range(int64_t(1), int64_t(1000)));
  sub->add_option("--confidence", o.confidence, "confidence of the bounds on losses (default 0.95)")
      ->check(CLI::Range(0.5, 0.9999));
  sub->add_option("--seed", o.seed, "seed for dealing out samples and for the search");
  sub->add_option("--threads", o.threads, "number of threads (default: one for each processor)")
      ->check(CLI::Range(1, 256));
  sub->add_flag(
         "--budgets", args->budgets,
         "instead of a curve, find an error budget for each operation, by injecting errors, such that the "
         "largest --loss (default 1) is kept on any machine; 'install --budgets' chooses knobs within the "
         "budgets")
      ->excludes(budget);
  sub->add_option("--share", args->share,
                  "with --budgets: the share of runs in which the loss must be kept (default 0.95)")
      ->check(CLI::Range(0.5, 1.0));
  sub->add_flag("--portable", o.portable,
                "for networks: rank configurations by counted arithmetic instead of times on this machine; "
                "'install --loss' then measures them");
  sub->add_option("--cpu", args->target.cpu,
                  "tune with code for this CPU (LLVM's name) instead of this machine's own; this machine "
                  "must be able to run it");
  sub->add_flag("--keep", args->keep, "keep the folder OUTPUT.tune with all measurements");
  sub->footer(
      "An interrupted run continues where it stopped: its measurements are in the folder OUTPUT.tune.\n"
      "example: tessera tune lenet.tsr --data mnist:data/mnist --limit 5000 --loss 1,2 --budget 5m");
  sub->callback([args, &action] {
    action = [args] {
      if (args->out.empty())
        args->out = args->in;
      if (Status places = checkOutputs({args->data, args->metric}, {args->out}); !places.ok())
        return cli::fail(places.message());
      std::ranges::sort(args->losses);
      args->losses.erase(std::ranges::unique(args->losses).begin(), args->losses.end());
      args->options.budget = parseSeconds(args->budget).value_or(0);
      (void)openCacheFolder(); // before the child is confined to it
      Confinement allowed = mayWrite({args->out, args->out + ".tune", cacheFolder()});
      // A metric that is a file is the user's own code and may do what it likes.
      allowed.programs = allowed.anyFile =
          StringRef(args->metric).contains(".py") || StringRef(args->metric).contains(".so");
      return supervise(
          allowed,
          [&] {
            Status status = tuneFile(*args);
            if (!status.ok() && !fileExists(args->options.folder + "/journal.jsonl"))
              llvm::sys::fs::remove_directories(args->options.folder); // nothing was found out yet
            return status.ok() ? 0 : cli::fail(status.message());
          },
          "interrupted; what was measured is kept, and the same command goes on from it");
    };
  });
}
