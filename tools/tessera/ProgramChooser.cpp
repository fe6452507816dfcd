// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ProgramChooser.h"

#include "Tool.h"
#include "tessera/runtime/trace/Trace.h"
#include "tessera/tune/curve/CurveFile.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace tessera::tool {

Result<ProgramChooser> ProgramChooser::create(const std::shared_ptr<Program> &opened,
                                              const std::string &goalText, int64_t batch,
                                              const std::string &log) {
  TESSERA_ASSIGN(std::optional<tune::Curve> curve, tune::readCurve(opened->module().file()));
  if (!curve)
    return fail(StatusCode::InvalidArgument, "--goal: '", opened->module().name(),
                "' has no configurations to choose from; tune the program and install it with --loss");
  if (!curve->shapes.empty())
    batch = 1; // no network: a launch is one sample
  ProgramChooser chooser;
  TESSERA_ASSIGN(chooser.goal, parseGoal(goalText, batch));
  std::vector<const tune::Configuration *> shipped;
  for (const tune::Configuration &c : curve->configurations)
    if (c.shipped && c.installed)
      shipped.push_back(&c);
  // From the most exact to the fastest.
  std::stable_sort(shipped.begin(), shipped.end(), [](const auto *a, const auto *b) {
    return a->installed->microseconds > b->installed->microseconds;
  });
  double loss = 0;
  for (const tune::Configuration *c : shipped) {
    const double share = static_cast<double>(batch) / static_cast<double>(c->installed->batch);
    // A faster one that lost less on the samples has only been luckier.
    loss = std::max(loss, c->measured ? c->measured->loss : 0);
    chooser.points.push_back(
        {loss, share * c->installed->microseconds / 1e3, share * c->installed->joules.value});
    chooser.names.push_back(c->name);
    TESSERA_ASSIGN(std::shared_ptr<Program> program,
                   Program::open(opened->sharedModule(), curve->programName(*c), opened->options()));
    chooser.programs.push_back(std::move(program));
  }
  TESSERA_ASSIGN(chooser.controller, Controller::create(chooser.points, chooser.goal));
  chooser.monitor = std::make_unique<Monitor>();
  if (!log.empty()) {
    chooser.file.reset(std::fopen(log.c_str(), "w"));
    chooser.logName = log;
    if (!chooser.file)
      return fail(StatusCode::Io, "cannot write '", log, "': ", std::strerror(errno));
  }
  return chooser;
}

// What a device says of its own time goes before the clock: a simulator's clock is not ours.
static uint64_t timeOf(const Program &program, uint64_t clock) {
  const uint64_t own = program.ownNanoseconds();
  return own ? own : clock;
}

Result<uint64_t> ProgramChooser::launch(std::span<Buffer *const> inputs, std::span<BufferRef> outputs) {
  if (!controller) {
    const uint64_t start = nowNanoseconds();
    TESSERA_TRY(programs[0]->launch(inputs, outputs));
    return timeOf(*programs[0], nowNanoseconds() - start);
  }
  // The first launch of a program plans its memory; no goal is about that.
  for (size_t i = 0; !warm && i < programs.size(); ++i)
    TESSERA_TRY(programs[i]->launch(inputs, outputs));
  warm = true;
  monitor->inform(*controller, nowNanoseconds());
  const size_t point = controller->choose();
  // With a quota, batches take even times only where no more threads run than it pays for.
  if (std::optional<double> quota = monitor->sample(nowNanoseconds()).quota)
    programs[point]->limitThreads(static_cast<unsigned>(std::ceil(*quota - 0.05)));
  const uint64_t start = nowNanoseconds();
  TESSERA_TRY(programs[point]->launch(inputs, outputs));
  const uint64_t taken = timeOf(*programs[point], nowNanoseconds() - start);
  const double ms = static_cast<double>(taken) / 1e6;
  monitor->batch(ms);
  // Energy by the installed figures: a counter of the whole machine says little of one batch.
  controller->observe(point, ms, points[point].joules * ms / points[point].ms);
  TESSERA_TRY(note(ms, point));
  return taken;
}

Status ProgramChooser::note(double ms, size_t point) {
  const bool timed = goal.kind != ControlGoal::MeanEnergy;
  met += timed && ms <= goal.value;
  adaptations += controller->adapted();
  ++batches;
  if (!file)
    return Status();
  char text[160];
  std::snprintf(text, sizeof text, "{\"batch\": %lld, \"ms\": %.4f, \"scale\": %.4f",
                static_cast<long long>(batches - 1), ms, controller->scale());
  std::string line = concat(text, ", \"configuration\": ", quoteJson(names[point]));
  if (timed) {
    std::snprintf(text, sizeof text, ", \"goal_ms\": %.4f", goal.value);
    line += text;
  }
  if (controller->adapted())
    line += concat(", \"cause\": ", quoteJson(controller->adaptations().back().cause),
                   ", \"conditions\": ", monitor->sample(nowNanoseconds()).json());
  line += "}\n";
  if (std::fwrite(line.data(), 1, line.size(), file.get()) != line.size() || std::fflush(file.get()) != 0)
    return fail(StatusCode::Io, "cannot write '", logName, "': ", std::strerror(errno));
  return Status();
}

std::string ProgramChooser::summary() const {
  if (!controller)
    return "";
  char text[256];
  const double share = batches ? 100.0 * static_cast<double>(met) / static_cast<double>(batches) : 0;
  std::snprintf(text, sizeof text, "%lld batches, %lld adaptations, mean loss by the curve %.2f points",
                static_cast<long long>(batches), static_cast<long long>(adaptations), controller->meanLoss());
  std::string line = text;
  if (goal.kind == ControlGoal::Deadline) {
    std::snprintf(text, sizeof text, ", %.1f %% within %.3f ms", share, goal.value);
    line += text;
  }
  if (!controller->reachable())
    line += "; even the fastest configuration is expected to miss the goal now";
  return line + "\n";
}

} // namespace tessera::tool
