// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera run` and `tessera bench`.
#include "ProgramChooser.h"
#include "Tool.h"
#include "tessera/base/CpuInfo.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Output.h"
#include "tessera/base/ThreadPool.h"
#include "tessera/runtime/control/Energy.h"
#include "tessera/runtime/memory/Arrays.h"
#include "tessera/runtime/trace/Trace.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tessera::tool {

static std::string formatNumber(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

static Result<std::string> summarise(const std::string &name, Buffer &buffer) {
  TESSERA_ASSIGN(std::byte * memory, buffer.hostRead());
  size_t count = buffer.bytes() / elementSize(buffer.type());
  std::string out = concat(name, ": ", elementTypeName(buffer.type()), " ", formatShape(buffer.shape()));
  if (count == 0)
    return out + " (empty)";
  double low = INFINITY, high = -INFINITY, sum = 0;
  size_t nans = 0;
  for (size_t i = 0; i < count; ++i) {
    double x = elementAsDouble(buffer, memory, i);
    if (std::isnan(x)) {
      ++nans;
      continue;
    }
    low = std::min(low, x);
    high = std::max(high, x);
    sum += x;
  }
  if (count == 1)
    return concat(out, " = ", formatNumber(elementAsDouble(buffer, memory, 0)));
  if (nans < count)
    out += concat(" min ", formatNumber(low), " max ", formatNumber(high), " mean ",
                  formatNumber(sum / static_cast<double>(count - nans)));
  if (nans)
    out += concat(" nan ", nans);
  out += " [";
  for (size_t i = 0; i < std::min<size_t>(count, 6); ++i)
    out += concat(i ? ", " : "", formatNumber(elementAsDouble(buffer, memory, i)));
  return out + (count > 6 ? ", …]" : "]");
}

static std::string profileTable(Program &program) {
  std::vector<std::vector<std::string>> rows = {
      {"node", "source", "device", "runs", "mean", "best", "GFLOP/s", "GB/s", "moved"}};
  auto profile = program.profile()->snapshot();
  for (size_t n = 0; n < profile.size(); ++n) {
    const NodeProfile &p = profile[n];
    double best = static_cast<double>(p.minNs);
    auto rate = [&](double amount) {
      return amount > 0 && best > 0 ? formatFixed(amount / best, 2) : std::string("-");
    };
    std::string source = shortSource(program.plan().nodes[n].loc);
    rows.push_back(
        {program.plan().nodes[n].name, source.empty() ? "-" : source, p.device.empty() ? "-" : p.device,
         std::to_string(p.count),
         p.count ? formatNanoseconds(static_cast<double>(p.totalNs) / static_cast<double>(p.count)) : "-",
         p.count ? formatNanoseconds(best) : "-", rate(p.flops), rate(p.bytes),
         p.bytesMoved ? formatBytes(p.bytesMoved) : "-"});
  }
  std::string out = formatTable(rows);
  for (size_t n = 0; n < profile.size(); ++n)
    for (auto &[name, number] : profile[n].counters)
      out += concat(program.plan().nodes[n].name, ": ", number, " ", name, "\n");
  for (Device *device : program.devices())
    if (device->lost())
      out += concat("device ", device->name(), " was lost: ", device->lossReason(), "\n");
  return out;
}

static std::string profileJson(Program &program) {
  std::string out = "[";
  auto profile = program.profile()->snapshot();
  for (size_t n = 0; n < profile.size(); ++n) {
    const NodeProfile &p = profile[n];
    out +=
        concat(n ? ", " : "", "{\"node\": ", quoteJson(program.plan().nodes[n].name),
               ", \"loc\": ", quoteJson(program.plan().nodes[n].loc), ", \"device\": ", quoteJson(p.device),
               ", \"count\": ", p.count, ", \"total_ns\": ", p.totalNs, ", \"min_ns\": ", p.minNs,
               ", \"flops\": ", formatNumber(p.flops), ", \"bytes\": ", formatNumber(p.bytes),
               ", \"bytes_moved\": ", p.bytesMoved, ", \"retries\": ", p.retries);
    std::string counters;
    for (auto &[name, number] : p.counters)
      counters += concat(counters.empty() ? "" : ", ", quoteJson(name), ": ", number);
    out += counters.empty() ? std::string("}") : concat(", \"counters\": {", counters, "}}");
  }
  return out + "]";
}

Work workOf(Program &program) {
  Work work;
  for (const NodeProfile &node : program.profile()->snapshot()) {
    work.flops += node.flops;
    work.bytes += node.bytes;
  }
  return work;
}

namespace {
struct RunOptions {
  OpenOptions open;
  Inputs inputs;
  std::vector<std::string> outputs;
  unsigned repeat = 1;
  std::string trace, goal, log;
  bool profile = false, json = false;
};
} // namespace

static Status launchAll(ProgramChooser &chooser, std::span<const BufferRef> inputs,
                        std::vector<BufferRef> &outputs, unsigned repeat, std::vector<double> *times) {
  std::vector<Buffer *> raw;
  for (const BufferRef &buffer : inputs)
    raw.push_back(buffer.get());
  for (unsigned r = 0; r < repeat; ++r) {
    TESSERA_ASSIGN(const uint64_t taken, chooser.launch(raw, outputs));
    if (times)
      times->push_back(static_cast<double>(taken));
  }
  return Status();
}

// Who runs the launches: the program, or with a goal whatever the controller picks.
static Result<ProgramChooser> choosePilot(const RunOptions &options, const std::shared_ptr<Program> &program,
                                          std::span<const BufferRef> inputs) {
  if (options.goal.empty()) {
    if (!options.log.empty())
      return fail(StatusCode::InvalidArgument,
                  "--log: expected --goal beside it; without a goal there are no decisions to write down");
    return ProgramChooser(program);
  }
  const bool hasRows = !inputs.empty() && !inputs[0]->shape().empty();
  return ProgramChooser::create(program, options.goal, hasRows ? inputs[0]->shape()[0] : 1, options.log);
}

static Status writeOutputs(const ProgramPlan &plan, const std::vector<std::string> &wanted,
                           std::vector<BufferRef> &outputs) {
  std::vector<std::string> names;
  for (const Port &port : plan.outputs)
    names.push_back(port.name);
  for (const std::string &text : wanted) {
    TESSERA_ASSIGN(auto pair, splitPair(text, "--output"));
    int32_t index = plan.findOutput(pair.first);
    if (index < 0)
      return Status::error(StatusCode::NotFound, unknownName("output", pair.first, "outputs", names));
    if (outputs.empty())
      continue; // Names are checked before the launch, files written after it.
    Buffer &buffer = *outputs[static_cast<size_t>(index)];
    TESSERA_ASSIGN(std::byte * memory, buffer.hostRead());
    const Port &port = plan.outputs[static_cast<size_t>(index)];
    if (!port.words.empty()) {
      std::span places(reinterpret_cast<const int64_t *>(memory), buffer.bytes() / sizeof(int64_t));
      TESSERA_TRY(writeNpyWords(pair.second, buffer.shape(), places, port.words));
      continue;
    }
    const NpyType type = npyTypeFor(buffer.type(), port.isUnsigned);
    TESSERA_TRY(writeNpy(pair.second, type, buffer.shape(), {memory, buffer.bytes()}));
  }
  return Status();
}

static Status runCommand(RunOptions &options) {
  TESSERA_TRY(checkOutputs(fileNames(options.inputs.files, {options.open.file}),
                           fileNames(options.outputs, {options.trace, options.log})));
  TESSERA_ASSIGN(std::shared_ptr<Program> program, options.open.open(options.profile));
  const ProgramPlan &plan = program->plan();
  std::vector<BufferRef> outputs;
  TESSERA_TRY(writeOutputs(plan, options.outputs, outputs));
  TESSERA_ASSIGN(std::vector<BufferRef> inputs, options.inputs.load(plan, /*random=*/false));
  outputs.resize(plan.outputs.size());
  if (!options.trace.empty())
    trace::start();
  std::vector<double> times;
  TESSERA_ASSIGN(ProgramChooser chooser, choosePilot(options, program, inputs));
  Status status = launchAll(chooser, inputs, outputs, options.repeat, &times);
  if (!options.trace.empty()) {
    trace::stop();
    TESSERA_TRY(trace::write(options.trace));
  }
  TESSERA_TRY(status);
  TESSERA_TRY(writeOutputs(plan, options.outputs, outputs));
  double best = *std::min_element(times.begin(), times.end());
  if (options.json) {
    std::string lost;
    std::string out = concat("{\"program\": ", quoteJson(plan.name), ", \"runs\": ", times.size(),
                             ", \"best_ms\": ", formatNumber(best / 1e6), ", \"outputs\": [");
    for (size_t i = 0; i < outputs.size(); ++i) {
      out += concat(i ? ", " : "", "{\"name\": ", quoteJson(plan.outputs[i].name),
                    ", \"type\": ", quoteJson(std::string(elementTypeName(outputs[i]->type()))),
                    ", \"shape\": [");
      for (size_t d = 0; d < outputs[i]->shape().size(); ++d)
        out += concat(d ? ", " : "", outputs[i]->shape()[d]);
      out += "]}";
    }
    out += "]";
    if (options.profile)
      out += ", \"profile\": " + profileJson(*program);
    for (Device *device : program->devices())
      if (device->lost())
        lost += concat(lost.empty() ? "" : ", ", "{\"device\": ", quoteJson(device->name()),
                       ", \"reason\": ", quoteJson(device->lossReason()), "}");
    if (!lost.empty())
      out += concat(", \"lost\": [", lost, "]");
    std::printf("%s}\n", out.c_str());
    return Status();
  }
  if (options.outputs.empty())
    for (size_t i = 0; i < outputs.size(); ++i) {
      TESSERA_ASSIGN(std::string line, summarise(plan.outputs[i].name, *outputs[i]));
      std::printf("%s\n", line.c_str());
    }
  if (options.repeat > 1)
    std::printf("%u runs, best %s\n", options.repeat, formatNanoseconds(best).c_str());
  std::printf("%s", chooser.summary().c_str());
  if (options.profile)
    std::printf("%s", profileTable(*program).c_str());
  return Status();
}

void addRun(CLI::App &app, Action &action) {
  auto *command = app.add_subcommand("run", "run an installed program");
  auto options = std::make_shared<RunOptions>();
  options->open.add(*command);
  options->inputs.add(*command, /*random=*/false);
  command->add_option("--output", options->outputs, "name=file.npy; without any, a summary is printed");
  command->add_option("--repeat", options->repeat, "number of launches")->check(CLI::Range(1u, 1000000000u));
  command->add_option("--goal", options->goal,
                      "for a tuned program, with --repeat: switch between its configurations so that this "
                      "goal holds, as for 'tessera eval'");
  command->add_option("--log", options->log, "with --goal: as for 'tessera eval'");
  command->add_option("--trace", options->trace, "write a timeline in Chrome's format");
  command->add_flag("--profile", options->profile, "print the cost of each node");
  command->add_flag("--json", options->json, "print results as JSON");
  command->footer("example: tessera run edges.tsx --input image=photo.npy --output edges=out.npy");
  command->callback([options, &action] { action = [options] { return runCommand(*options); }; });
}

namespace {
struct BenchOptions {
  OpenOptions open;
  Inputs inputs;
  double seconds = 1;
  unsigned repeat = 0;
  std::string json;
  int64_t batch = 0;
};
} // namespace

static Status benchCommand(BenchOptions &options) {
  TESSERA_TRY(checkOutputs(fileNames(options.inputs.files, {options.open.file}), {options.json}));
  TESSERA_ASSIGN(std::shared_ptr<Program> program, options.open.open(false));
  const ProgramPlan &plan = program->plan();
  if (options.batch > 0)
    for (const Port &port : plan.inputs) {
      const ValueInfo &value = plan.values[static_cast<size_t>(port.value)];
      if (!value.shape.empty() && value.shape[0] < 0)
        options.inputs.dims.push_back(concat(port.name, ":0=", options.batch));
    }
  TESSERA_ASSIGN(std::vector<BufferRef> inputs, options.inputs.load(plan, /*random=*/true));
  std::vector<BufferRef> outputs(plan.outputs.size());
  std::vector<double> times;
  ProgramChooser chooser(program);
  TESSERA_TRY(launchAll(chooser, inputs, outputs, 3, nullptr));
  EnergyMeter meter;
  meter.begin();
  uint64_t begin = nowNanoseconds();
  do {
    TESSERA_TRY(launchAll(chooser, inputs, outputs, 1, &times));
  } while (options.repeat ? times.size() < options.repeat
                          : times.size() < 1000000 &&
                                static_cast<double>(nowNanoseconds() - begin) < options.seconds * 1e9);
  const double runs = static_cast<double>(times.size());
  std::sort(times.begin(), times.end());
  double best = times.front(), median = times[times.size() / 2];
  EnergyReading energy = meter.end(0, 0, runs * median * 1e-9, program->threads());
  if (!energy.measured) {
    // The model wants to know the work; timed launches do not count it.
    TESSERA_ASSIGN(std::shared_ptr<Program> counted, options.open.open(true));
    ProgramChooser once(counted);
    TESSERA_TRY(launchAll(once, inputs, outputs, 1, nullptr));
    const Work work = workOf(*counted);
    energy.joules += EnergyModel().joules(runs * work.flops, runs * work.bytes, 0, 0);
  }
  double low = times[times.size() / 4], high = times[times.size() * 3 / 4];
  if (!options.json.empty()) {
    std::string text = concat(
        "{\"program\": ", quoteJson(plan.name), ", \"threads\": ", program->threads(),
        ", \"runs\": ", times.size(), ", \"best_ms\": ", formatNumber(best / 1e6),
        ", \"median_ms\": ", formatNumber(median / 1e6), ", \"q1_ms\": ", formatNumber(low / 1e6),
        ", \"q3_ms\": ", formatNumber(high / 1e6), ", \"joules\": ", formatNumber(energy.joules / runs),
        ", \"energy_source\": \"", energy.source(), "\", \"energy_note\": ", quoteJson(energy.note),
        ", \"cpu\": ", quoteJson(cpuInfo().name), "}\n");
    if (options.json == "-") {
      std::printf("%s", text.c_str());
      return Status();
    }
    TESSERA_TRY(writeFile(options.json, std::string_view(text)));
  }
  std::printf("%s: %zu runs on %u thread%s, best %s, median %s, quartiles %s to %s; %s a run (%s)\n",
              plan.name.c_str(), times.size(), program->threads(), program->threads() == 1 ? "" : "s",
              formatNanoseconds(best).c_str(), formatNanoseconds(median).c_str(),
              formatNanoseconds(low).c_str(), formatNanoseconds(high).c_str(),
              formatJoules(energy.joules / runs).c_str(), energy.source());
  return Status();
}

void addBench(CLI::App &app, Action &action) {
  auto *command = app.add_subcommand("bench", "measure an installed program");
  auto options = std::make_shared<BenchOptions>();
  options->open.add(*command);
  options->inputs.add(*command, /*random=*/true);
  command->add_option("--batch", options->batch, "first extent of all inputs where it is open");
  command->add_option("--seconds", options->seconds, "how long to measure (default 1)")
      ->check(CLI::Range(0.0, 3600.0));
  command->add_option("--repeat", options->repeat, "number of launches, instead of a time");
  command->add_option("--json", options->json, "write the result to this file ('-': standard output)");
  command->footer("example: tessera bench edges.tsx --dim image:0=1080 --dim image:1=1920 --threads 2");
  command->callback([options, &action] { action = [options] { return benchCommand(*options); }; });
}

} // namespace tessera::tool
