// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera eval`: how many samples of a data set a classifier gets right, with the
// interval that so many samples leave.
#include "DataOptions.h"
#include "EvalJudged.h"
#include "ProgramChooser.h"
#include "Tool.h"
#include "tessera/base/Diag.h"
#include "tessera/base/Output.h"
#include "tessera/runtime/control/Energy.h"
#include "tessera/runtime/trace/Trace.h"
#include "tessera/tune/curve/CurveFile.h"
#include "tessera/tune/metrics/Statistics.h"
#include "tessera/tune/samples/Feed.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace tessera::tool {

namespace {
struct EvalOptions {
  OpenOptions open;
  DataOptions data;
  std::string output, goal, log, correct;
  int64_t batch = 0;
  double atLeast = -1, seconds = 0;
  bool json = false;
  tune::MetricKind metric; ///< top-k; that of the curve where there is one
};

struct Evaluated {
  std::vector<uint8_t> correct;
  size_t different = 0; ///< samples; the others are these again, in the same order
  uint64_t nanoseconds = 0;
  EnergyReading energy;
};
} // namespace

// Each sample once, or for so many seconds as often as that takes.
static Result<Evaluated> evaluate(ProgramChooser &chooser, const EvalOptions &options,
                                  const LabelledSamples &samples, double seconds) {
  Program &program = chooser.first();
  const ProgramPlan &plan = program.plan();
  TESSERA_ASSIGN(tune::Normalisation norm, tune::parseNormalisation(options.data.normalise));
  TESSERA_ASSIGN(tune::Feed feed, tune::Feed::match(samples.data, plan, std::move(norm)));
  TESSERA_ASSIGN(const size_t out, tune::chooseOutput(plan, options.output));
  const int64_t fixed = feed.fixedBatch(), count = static_cast<int64_t>(samples.items.size());
  if (fixed >= 0 && options.batch && options.batch != fixed)
    return fail(StatusCode::InvalidArgument, "--batch: the program takes batches of ", fixed,
                " only, but got ", options.batch);
  const int64_t batch = fixed >= 0 ? fixed : std::min(options.batch ? options.batch : 64, count);
  if (batch == 0)
    return fail(StatusCode::InvalidArgument, "input '", plan.inputs[0].name, "': takes batches of 0 samples");
  Evaluated result;
  tune::Scores scores;
  Work work;
  EnergyMeter meter;
  meter.begin();
  const bool progress = isatty(STDERR_FILENO);
  std::vector<int32_t> labels;
  const uint64_t start = nowNanoseconds();
  // What is repeated has whole batches only: one that is shorter says nothing about a goal.
  const int64_t pass = seconds > 0 && count > batch ? count - count % batch : count;
  auto goesOn = [&](int64_t done) {
    return seconds > 0 && done ? static_cast<double>(nowNanoseconds() - start) < 1e9 * seconds : done < pass;
  };
  int64_t done = 0;
  for (int64_t now = 0; goesOn(done); done += now) {
    const int64_t begin = done % pass;
    now = std::min(batch, pass - begin);
    TESSERA_ASSIGN(
        BufferRef input,
        feed.batch(std::span(samples.items).subspan(static_cast<size_t>(begin), static_cast<size_t>(now))));
    std::vector<BufferRef> outputs(plan.outputs.size());
    Buffer *raw = input.get();
    TESSERA_ASSIGN(const uint64_t taken, chooser.launch({&raw, 1}, outputs));
    result.nanoseconds += taken;
    const Work launch = workOf(program);
    work.flops += launch.flops;
    work.bytes += launch.bytes;
    TESSERA_TRY(
        tune::appendScores(*outputs[out], plan.outputs[out].name, fixed >= 0 ? fixed : now, now, scores));
    labels.insert(labels.end(), samples.labels.begin() + begin, samples.labels.begin() + begin + now);
    if (progress)
      std::fprintf(stderr, "\r%lld of %lld ", static_cast<long long>(begin + now),
                   static_cast<long long>(count));
  }
  result.different = static_cast<size_t>(std::min(done, pass));
  if (progress)
    std::fprintf(stderr, "\r%40s\r", "");
  result.energy =
      meter.end(work.flops, work.bytes, static_cast<double>(result.nanoseconds) * 1e-9, program.threads());
  result.correct = tune::correctItems(scores, labels, options.metric.k);
  return result;
}

// The same samples under the exact program of a tuned file; nothing where there is none, or it is the one.
static Result<std::optional<tune::PairedLoss>>
lossAgainstBaseline(Program &program, const std::optional<tune::Curve> &curve, const EvalOptions &options,
                    LabelledSamples &samples, const Evaluated &found) {
  if (!curve || (options.goal.empty() && program.plan().name == curve->network))
    return std::optional<tune::PairedLoss>();
  TESSERA_ASSIGN(std::shared_ptr<Program> exact,
                 Program::open(program.sharedModule(), curve->network, program.options()));
  ProgramChooser alone(exact);
  samples.items.resize(found.different);
  TESSERA_ASSIGN(Evaluated once, evaluate(alone, options, samples, /*seconds=*/0));
  std::vector<uint8_t> before(found.correct.size());
  for (size_t i = 0; i < before.size(); ++i)
    before[i] = once.correct[i % once.correct.size()];
  return std::optional(tune::pairedLoss(before, found.correct));
}

// What only classifiers have.
static Status refuseForJudged(const EvalOptions &options) {
  for (auto [name, isGiven] : {std::pair("--batch", options.batch > 0),
                               {"--output", !options.output.empty()},
                               {"--correct", !options.correct.empty()},
                               {"--normalise", !options.data.normalise.empty()}})
    if (isGiven)
      return fail(StatusCode::InvalidArgument, name,
                  ": the program was tuned by its exact answers, not by labels");
  if (!options.goal.empty() || !options.log.empty() || options.seconds > 0)
    return fail(
        StatusCode::InvalidArgument,
        "--goal: the program was tuned by its exact answers, not by labels; use 'tessera run --goal'");
  return Status();
}

static Status evalCommand(EvalOptions &options) {
  TESSERA_TRY(checkOutputs({options.open.file, options.data.data}, {options.log, options.correct}));
  TESSERA_ASSIGN(std::shared_ptr<Program> program, options.open.open(/*profile=*/true));
  const ProgramPlan &plan = program->plan();
  TESSERA_ASSIGN(const std::optional<tune::Curve> curve, tune::readCurve(program->module().file()));
  if (curve && isJudgedByExact(*curve)) {
    TESSERA_TRY(refuseForJudged(options));
    return evalJudged(*program, *curve, options.data, options.atLeast, options.json);
  }
  if (curve) {
    TESSERA_ASSIGN(options.metric, tune::parseMetric(curve->metric));
  }
  TESSERA_ASSIGN(LabelledSamples samples, options.data.labelled());
  ProgramChooser chooser(program);
  if (!options.goal.empty()) {
    TESSERA_ASSIGN(chooser, ProgramChooser::create(program, options.goal, options.batch ? options.batch : 64,
                                                   options.log));
  } else if (!options.log.empty()) {
    return fail(StatusCode::InvalidArgument,
                "--log: expected --goal beside it; without a goal there are no decisions to write down");
  }
  if (options.seconds > 0 && options.goal.empty())
    return fail(StatusCode::InvalidArgument,
                "--seconds: expected --goal beside it; without a goal each sample runs once");
  TESSERA_ASSIGN(Evaluated found, evaluate(chooser, options, samples, options.seconds));
  if (!options.correct.empty()) {
    const int64_t shape[] = {static_cast<int64_t>(found.correct.size())};
    TESSERA_TRY(writeNpy(options.correct, NpyType::U1, shape, std::as_bytes(std::span(found.correct))));
  }
  TESSERA_ASSIGN(std::optional<tune::PairedLoss> loss,
                 lossAgainstBaseline(*program, curve, options, samples, found));
  const auto count = static_cast<int64_t>(found.correct.size());
  const int64_t right = std::count(found.correct.begin(), found.correct.end(), 1);
  const double rate = 100.0 * static_cast<double>(right) / static_cast<double>(count);
  // A sample that is seen again says little more: intervals are those of so many different ones.
  const int64_t times = count / static_cast<int64_t>(found.different);
  const tune::Interval interval = tune::wilson(right / times, count / times);
  const double joules = found.energy.joules / static_cast<double>(count);
  char against[160] = "";
  if (loss)
    std::snprintf(
        against, sizeof against,
        options.json ? ", \"loss\": %.4f, \"loss_hi\": %.4f, \"lost\": %lld, \"won\": %lld"
                     : "loss against the exact program: %.2f points (with 95 %% confidence below %.2f): %lld "
                       "answers lost, %lld won\n",
        100 * loss->loss(),
        100 * tune::PairedLoss{loss->count / times, loss->lost / times, loss->won / times}.upperBound(),
        static_cast<long long>(loss->lost), static_cast<long long>(loss->won));
  if (options.json)
    std::printf("{\"program\": %s, \"data\": %s, \"metric\": \"top-%d\", \"count\": %lld, \"right\": %lld, "
                "\"percent\": %.4f, \"low\": %.4f, \"high\": %.4f, \"ms_per_sample\": %.6g, "
                "\"joules_per_sample\": %.6g, \"energy_source\": \"%s\", \"energy_note\": %s%s}\n",
                quoteJson(plan.name).c_str(), quoteJson(samples.data.name).c_str(), options.metric.k,
                static_cast<long long>(count), static_cast<long long>(right), rate, 100 * interval.low,
                100 * interval.high,
                static_cast<double>(found.nanoseconds) / 1e6 / static_cast<double>(count), joules,
                found.energy.source(), quoteJson(found.energy.note).c_str(), against);
  else
    std::printf(
        "%s on %s: %lld of %lld right, top-%d %.2f %% (95 %% interval %.2f to %.2f), %s and %s each (energy "
        "%s)\n%s",
        plan.name.c_str(), samples.data.name.c_str(), static_cast<long long>(right),
        static_cast<long long>(count), options.metric.k, rate, 100 * interval.low, 100 * interval.high,
        formatNanoseconds(static_cast<double>(found.nanoseconds) / static_cast<double>(count)).c_str(),
        formatJoules(joules).c_str(), found.energy.source(), against);
  if (!options.json)
    std::printf("%s", chooser.summary().c_str());
  if (rate < options.atLeast) {
    char text[96];
    std::snprintf(text, sizeof text, "--at-least: expected %.2f %%, but got %.2f %%", options.atLeast, rate);
    return Status::error(StatusCode::InvalidArgument, text);
  }
  return Status();
}

void addEval(CLI::App &app, Action &action) {
  auto *command =
      app.add_subcommand("eval", "measure accuracy: against labels, or against the exact program's answers");
  auto options = std::make_shared<EvalOptions>();
  options->open.add(*command);
  options->data.add(*command);
  command->add_option("--batch", options->batch, "samples in one launch (default 64)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 20));
  command->add_option("--output", options->output, "the output with the scores, when there are several");
  command->add_option("--goal", options->goal,
                      "for a tuned program: switch between its configurations so that this goal holds: "
                      "deadline:12ms a batch, throughput:500/s (samples) or energy:0.5J a batch");
  command->add_option(
      "--log", options->log,
      "with --goal: write the time of each batch and the reason for each change of configuration, as JSON");
  command
      ->add_option("--seconds", options->seconds,
                   "with --goal: run for this many seconds, and repeat the samples if necessary")
      ->check(CLI::Range(0.0, 1e6));
  command->add_option("--correct", options->correct,
                      "write 1 for each correct sample and 0 for each other one to this .npy file");
  command->add_option("--at-least", options->atLeast, "fail when the metric is below this")
      ->check(CLI::Range(0.0, 100.0));
  command->add_flag("--json", options->json, "print as JSON");
  command->footer("examples: tessera eval lenet.tsx --data mnist:data/mnist --limit 1000\n"
                  "          tessera eval blur.tsx --data pictures");
  command->callback([options, &action] { action = [options] { return evalCommand(*options); }; });
}

} // namespace tessera::tool
