// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera compare`: two programs on the same inputs: how good the second one's answers are against the
// first one's, and how much faster it is.
#include "Tool.h"
#include "tessera/base/Diag.h"
#include "tessera/runtime/control/Energy.h"
#include "tessera/runtime/trace/Trace.h"
#include "tessera/tune/metrics/MetricSet.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

namespace tessera::tool {

namespace {
struct CompareOptions {
  OpenOptions golden;
  std::string other, otherProgram, metric;
  Inputs inputs;
  double seconds = 1, atLeast = 0, atMost = 0;
  bool hasLeast = false, hasMost = false, json = false;
};

/// A program and what it was found to take.
struct Side {
  std::shared_ptr<Program> program;
  std::vector<BufferRef> outputs;
  std::vector<double> times;
  double joules = 0;
};
} // namespace

static Status launch(Side &side, std::span<Buffer *const> inputs) {
  const uint64_t begin = nowNanoseconds();
  TESSERA_TRY(side.program->launch(inputs, side.outputs));
  side.times.push_back(static_cast<double>(nowNanoseconds() - begin));
  return Status();
}

static Status open(Side &side, const OpenOptions &options, std::span<Buffer *const> inputs) {
  TESSERA_ASSIGN(side.program, options.open(true));
  side.outputs.resize(side.program->plan().outputs.size());
  TESSERA_TRY(side.program->launch(inputs, side.outputs).withContext(options.file));
  return Status();
}

static Status compareCommand(CompareOptions &options) {
  TESSERA_ASSIGN(std::shared_ptr<Program> first, options.golden.open(false));
  TESSERA_ASSIGN(std::vector<BufferRef> inputs, options.inputs.load(first->plan(), /*random=*/false));
  std::vector<Buffer *> raw;
  for (const BufferRef &buffer : inputs)
    raw.push_back(buffer.get());
  std::vector<std::string> names;
  for (const Port &port : first->plan().outputs)
    names.push_back(port.name);
  TESSERA_ASSIGN(tune::MetricSet metrics, tune::MetricSet::parse(options.metric, names));
  OpenOptions second = options.golden;
  second.file = options.other;
  if (!options.otherProgram.empty())
    second.program = options.otherProgram;
  Side golden, other;
  TESSERA_TRY(open(golden, options.golden, raw));
  TESSERA_TRY(open(other, second, raw));
  TESSERA_ASSIGN(std::vector<tune::OutputArray> exact,
                 tune::readOutputs(golden.program->plan(), golden.outputs));
  TESSERA_ASSIGN(std::vector<tune::OutputArray> got, tune::readOutputs(other.program->plan(), other.outputs));
  TESSERA_ASSIGN(std::vector<double> figures, metrics.evaluate(got, exact));

  // In turn, so that what the machine does meanwhile meets both alike; each twice, since the first launch
  // finds in the caches what the other one left.
  const uint64_t begin = nowNanoseconds();
  do {
    for (Side *side : {&golden, &golden, &other, &other})
      TESSERA_TRY(launch(*side, raw));
  } while (static_cast<double>(nowNanoseconds() - begin) < options.seconds * 1e9);
  for (Side *side : {&golden, &other}) {
    std::sort(side->times.begin(), side->times.end());
    const Work work = workOf(*side->program);
    side->joules = EnergyModel().joules(work.flops, work.bytes, side->times[side->times.size() / 2] * 1e-9,
                                        side->program->threads());
  }
  const double speedup = golden.times.front() / other.times.front();
  std::string json = "{\"metrics\": {", text;
  for (size_t i = 0; i < figures.size(); ++i) {
    char figure[32];
    std::snprintf(figure, sizeof figure, std::isinf(figures[i]) ? "\"%g\"" : "%g", figures[i]);
    json += concat(i ? ", " : "", quoteJson(metrics.items()[i].name), ": ", figure);
    std::snprintf(figure, sizeof figure, "%g", figures[i]);
    text += concat(metrics.items()[i].name, " ", figure, ", ");
  }
  if (options.json)
    std::printf("%s}, \"golden_ms\": %.6g, \"ms\": %.6g, \"speedup\": %.4g, \"golden_joules\": %.6g, "
                "\"joules\": %.6g, \"energy_source\": \"modelled\"}\n",
                json.c_str(), golden.times.front() / 1e6, other.times.front() / 1e6, speedup, golden.joules,
                other.joules);
  else
    std::printf("%s%s instead of %s (%.2f times as fast), %s instead of %s (modelled)\n", text.c_str(),
                formatNanoseconds(other.times.front()).c_str(),
                formatNanoseconds(golden.times.front()).c_str(), speedup, formatJoules(other.joules).c_str(),
                formatJoules(golden.joules).c_str());
  char bound[96];
  for (size_t i = 0; i < figures.size(); ++i) {
    const tune::MetricSet::Item &item = metrics.items()[i];
    const bool broken = item.bound &&
                        (item.higherIsBetter() ? figures[i] < *item.bound : figures[i] > *item.bound),
               low = options.hasLeast && figures[i] < options.atLeast,
               high = options.hasMost && figures[i] > options.atMost;
    if (!broken && !low && !high)
      continue;
    std::snprintf(bound, sizeof bound, "%s: expected %g, but %s is %g",
                  broken ? "--metric"
                  : low  ? "--at-least"
                         : "--at-most",
                  broken ? *item.bound
                  : low  ? options.atLeast
                         : options.atMost,
                  item.name.c_str(), figures[i]);
    return Status::error(StatusCode::InvalidArgument, bound);
  }
  return Status();
}

void addCompare(CLI::App &app, Action &action) {
  auto *command =
      app.add_subcommand("compare", "compare two programs: their answers by a metric, and their speed");
  auto options = std::make_shared<CompareOptions>();
  options->golden.add(*command);
  command->add_option("other", options->other, "installed program to judge")->required();
  command->add_option("--other-program", options->otherProgram,
                      "the program to judge, when it has another name");
  options->inputs.add(*command, /*random=*/false);
  command
      ->add_option(
          "--metric", options->metric,
          "top-1 (or top-5, …), l1, l2, relative, psnr, ssim; output=metric,output=metric for several "
          "outputs; psnr:255 for values up to 255; psnr@30 for a bound that must be kept; or a file of your "
          "own: .so (tessera/metric.h) or "
          ".py with a function metric(got, golden)")
      ->required();
  command->add_option("--seconds", options->seconds, "how long to measure (default 1)")
      ->check(CLI::Range(0.0, 3600.0));
  auto *least = command->add_option("--at-least", options->atLeast, "fail when a figure is below this");
  auto *most = command->add_option("--at-most", options->atMost, "fail when a figure is above this");
  command->add_flag("--json", options->json, "print as JSON");
  command->footer(
      "example: tessera compare exact.tsx fast.tsx --program gsm --input image=photo.npy --metric "
      "psnr --at-least 30");
  command->callback([options, least, most, &action] {
    options->hasLeast = least->count() > 0;
    options->hasMost = most->count() > 0;
    action = [options] { return compareCommand(*options); };
  });
}

} // namespace tessera::tool
