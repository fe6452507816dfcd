// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/Measure.h"

#include "tessera/base/Diag.h"
#include "tessera/runtime/Energy.h"
#include "tessera/runtime/Trace.h"
#include "tessera/tune/Statistics.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <limits>

namespace tessera::tune {

// The loss that may be counted on.
static double safeLoss(const Configuration &c) { return c.measured ? c.measured->lossHigh : 0; }

static double limitOf(const Curve &curve, const Goal &goal) {
  double limit = goal.loss ? *goal.loss : std::numeric_limits<double>::infinity();
  if (goal.minQuality)
    limit = std::min(limit, curve.baselineQuality - *goal.minQuality);
  return limit;
}

Result<std::vector<const Configuration *>> withinGoal(const Curve &curve, const Goal &goal) {
  const double limit = limitOf(curve, goal);
  if (limit < 0)
    return fail(StatusCode::InvalidArgument, "--min-quality: expected at most ",
                formatFixed(curve.baselineQuality, 2), ", the ", curve.metric, " of the exact program on ",
                curve.baselineCount, " samples, but got ", formatFixed(*goal.minQuality, 2));
  std::vector<const Configuration *> within;
  for (const Configuration &c : curve.configurations)
    if (c.knobs.empty() || (c.measured && safeLoss(c) <= limit))
      within.push_back(&c);
  std::stable_sort(within.begin(), within.end(), [](const Configuration *a, const Configuration *b) {
    return std::pair(!a->knobs.empty(), safeLoss(*a)) < std::pair(!b->knobs.empty(), safeLoss(*b));
  });
  return within;
}

std::string nearestMiss(const Curve &curve, const Goal &goal) {
  const double limit = limitOf(curve, goal);
  const Configuration *nearest = nullptr;
  for (const Configuration &c : curve.configurations)
    if (c.measured && safeLoss(c) > limit && (!nearest || safeLoss(c) < safeLoss(*nearest)))
      nearest = &c;
  if (!nearest)
    return "";
  return concat("'", nearest->name, "' comes nearest to the goal: ", formatFixed(nearest->measured->loss, 2),
                " points lost on ", nearest->measured->count, " samples, below ",
                formatFixed(safeLoss(*nearest), 2), " with ", static_cast<int64_t>(100 * curve.confidence),
                " % confidence");
}

static Result<std::vector<BufferRef>> randomInputs(const ProgramPlan &plan, const Curve &curve) {
  std::vector<BufferRef> inputs;
  Stream random(1);
  for (const Port &port : plan.inputs) {
    const ValueInfo &value = plan.values[static_cast<size_t>(port.value)];
    std::vector<int64_t> shape = value.shape;
    std::replace(shape.begin(), shape.end(), int64_t(-1), curve.tuning.batch);
    if (auto known = curve.shapes.find(port.name); known != curve.shapes.end())
      shape = known->second;
    TESSERA_ASSIGN(BufferRef buffer, Buffer::create(value.type, shape));
    TESSERA_ASSIGN(std::byte * memory, buffer->hostWrite());
    if (value.type == ElementType::F32)
      for (size_t i = 0; i < buffer->bytes() / 4; ++i) {
        const auto x = static_cast<float>(random.unit());
        std::memcpy(memory + 4 * i, &x, 4);
      }
    if (auto number = curve.numbers.find(port.name);
        number != curve.numbers.end() && shape.empty() && value.type <= ElementType::Index)
      std::memcpy(memory, &number->second, buffer->bytes()); // the low bytes come first
    inputs.push_back(std::move(buffer));
  }
  return inputs;
}

// A stretch of launches long enough for a counter to advance.
static Status measureEnergy(const std::shared_ptr<const Module> &module, const std::string &name,
                            std::span<Buffer *const> inputs, ProgramOptions options, Cost &cost) {
  options.profile = true;
  TESSERA_ASSIGN(std::shared_ptr<Program> program, Program::open(module, name, options));
  std::vector<BufferRef> outputs(program->plan().outputs.size());
  TESSERA_TRY(program->launch(inputs, outputs));
  double flops = 0, bytes = 0, runs = 0;
  for (const NodeProfile &node : program->profile()->snapshot()) {
    flops += node.flops;
    bytes += node.bytes;
  }
  EnergyMeter meter;
  meter.begin();
  const uint64_t begin = nowNanoseconds();
  for (; runs < 3 || static_cast<double>(nowNanoseconds() - begin) < 5e7; ++runs)
    TESSERA_TRY(program->launch(inputs, outputs));
  // The model takes the time that was measured at best, not what a busy machine made of it.
  const EnergyReading reading =
      meter.end(runs * flops, runs * bytes, runs * cost.microseconds / 1e6, program->threads());
  cost.joules = reading.joules / runs;
  cost.energySource = reading.source();
  return Status();
}

uint64_t launchClock(const Program &program) {
  if (program.threads() != 1)
    return nowNanoseconds();
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

Result<std::vector<Cost>> measureTogether(const std::shared_ptr<const Module> &module,
                                          std::span<const std::string> names, const Curve &curve,
                                          const ProgramOptions &options, double seconds) {
  std::vector<std::shared_ptr<Program>> programs;
  for (const std::string &name : names) {
    TESSERA_ASSIGN(std::shared_ptr<Program> program, Program::open(module, name, options));
    programs.push_back(std::move(program));
  }
  TESSERA_ASSIGN(std::vector<BufferRef> inputs, randomInputs(programs[0]->plan(), curve));
  std::vector<Buffer *> raw;
  for (const BufferRef &input : inputs)
    raw.push_back(input.get());
  std::vector<Cost> costs(programs.size(), {std::numeric_limits<double>::infinity(), 0, ""});
  std::vector<std::vector<BufferRef>> outputs(
      programs.size()); // kept: to make them is no work of the programs
  // Each twice in its turn: one in use finds its own data in the caches, not that of others.
  const uint64_t begin = nowNanoseconds();
  for (int round = 0; round < 30 || static_cast<double>(nowNanoseconds() - begin) < 1e9 * seconds; ++round)
    for (size_t turn = 0; turn < 2 * programs.size(); ++turn) {
      const size_t i = turn / 2;
      outputs[i].resize(programs[i]->plan().outputs.size());
      const uint64_t start = launchClock(*programs[i]);
      TESSERA_TRY(programs[i]->launch(raw, outputs[i]));
      // The first round warms up.
      if (round)
        costs[i].microseconds =
            std::min(costs[i].microseconds, static_cast<double>(launchClock(*programs[i]) - start) / 1e3);
    }
  for (size_t i = 0; i < programs.size(); ++i)
    TESSERA_TRY(measureEnergy(module, names[i], raw, options, costs[i]));
  return costs;
}

std::vector<size_t> trueFront(std::span<const Cost> costs) {
  std::vector<size_t> kept;
  double fastest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < costs.size(); ++i)
    if (i == 0 || costs[i].microseconds < 0.98 * fastest) {
      kept.push_back(i);
      fastest = costs[i].microseconds;
    }
  auto isFaster = [](const Cost &a, const Cost &b) { return a.microseconds < b.microseconds; };
  const auto best = static_cast<size_t>(std::ranges::min_element(costs, isFaster) - costs.begin());
  if (costs[best].microseconds < fastest)
    kept.push_back(best);
  return kept;
}

} // namespace tessera::tune
