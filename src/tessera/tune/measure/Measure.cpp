// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/measure/Measure.h"

#include "tessera/base/Diag.h"
#include "tessera/runtime/control/Energy.h"
#include "tessera/runtime/trace/Trace.h"
#include "tessera/tune/metrics/Statistics.h"

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

uint64_t launchClock(const Program &program) {
  if (program.threads() != 1)
    return nowNanoseconds();
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

namespace {
/// Programs of one module on the same inputs, opened for one repetition.
struct Contest {
  std::vector<std::shared_ptr<Program>> programs;
  std::vector<std::vector<BufferRef>> outputs; ///< kept: to make them is no work of the programs
  std::vector<Buffer *> inputs;

  Status launch(size_t i) { return programs[i]->launch(inputs, outputs[i]); }
};

/// What repetitions found of one program.
struct Found {
  std::vector<double> microseconds, speedups, joules;
  double flops = 0, bytes = 0; ///< of a launch
  std::string energySource;
  std::map<std::string, double> shares;
};
} // namespace

static Result<Contest> openAll(const std::shared_ptr<const Module> &module,
                               std::span<const std::string> names, std::span<const BufferRef> inputs,
                               const ProgramOptions &options) {
  Contest contest;
  for (const std::string &name : names) {
    TESSERA_ASSIGN(std::shared_ptr<Program> program, Program::open(module, name, options));
    contest.outputs.emplace_back(program->plan().outputs.size());
    contest.programs.push_back(std::move(program));
  }
  for (const BufferRef &input : inputs)
    contest.inputs.push_back(input.get());
  return contest;
}

// The best time of each in several rounds. Each is launched twice in its turn: one in use finds its own data
// in the caches, not that of others.
static Result<std::vector<double>> bestOfRounds(Contest &contest, double seconds) {
  constexpr int leastRounds = 4;
  std::vector<double> best(contest.programs.size(), std::numeric_limits<double>::infinity());
  const uint64_t begin = nowNanoseconds();
  for (int round = 0; round < leastRounds || secondsSince(begin) < seconds; ++round)
    for (size_t turn = 0; turn < 2 * best.size(); ++turn) {
      const size_t i = turn / 2;
      const uint64_t start = launchClock(*contest.programs[i]);
      TESSERA_TRY(contest.launch(i));
      if (round) // the first one warms up
        best[i] = std::min(best[i], static_cast<double>(launchClock(*contest.programs[i]) - start) / 1e3);
    }
  return best;
}

// The energy of a launch, by a stretch of them that is long enough for a counter to advance. The model takes
// the time that was measured at best, not what a busy machine made of it.
static Status measureEnergy(Contest &contest, size_t i, double microseconds, Found &found) {
  EnergyMeter meter;
  meter.begin();
  const uint64_t begin = nowNanoseconds();
  double runs = 0;
  for (; runs < 1 || secondsSince(begin) < 0.01; ++runs)
    TESSERA_TRY(contest.launch(i));
  const EnergyReading reading = meter.end(runs * found.flops, runs * found.bytes, runs * microseconds / 1e6,
                                          contest.programs[i]->threads());
  found.joules.push_back(reading.joules / runs);
  found.energySource = reading.source();
  return Status();
}

std::string_view operationOf(std::string_view node) {
  const size_t end = node.find_last_not_of("0123456789");
  return end != std::string_view::npos && end + 1 < node.size() && node[end] == '_' ? node.substr(0, end)
                                                                                    : node;
}

// What nodes called as operations take of the time of all nodes; each at best, as often as a launch runs it.
static std::map<std::string, double> sharesOf(Program &program, const Curve &curve) {
  std::map<std::string, double> shares;
  double all = 0;
  auto isOperation = [&](std::string_view name) {
    return std::ranges::find(curve.operations, name, &CurveOperation::name) != curve.operations.end();
  };
  const std::vector<NodeProfile> nodes = program.profile()->snapshot();
  for (size_t n = 0; n < nodes.size(); ++n) {
    const std::string &node = program.plan().nodes[n].name;
    const double ns = static_cast<double>(nodes[n].minNs) * static_cast<double>(nodes[n].count);
    const std::string_view operation = isOperation(node) ? node : operationOf(node);
    if (isOperation(operation))
      shares[std::string(operation)] += ns;
    all += ns;
  }
  for (auto &[name, share] : shares)
    share = all > 0 ? share / all : 0;
  return shares;
}

// The work of a launch, which the model of energy asks for, and the nodes' shares of its time: only profiles
// know them.
static Status profileAll(const std::shared_ptr<const Module> &module, std::span<const std::string> names,
                         std::span<const BufferRef> inputs, ProgramOptions options, const Curve &curve,
                         std::vector<Found> &found) {
  constexpr int rounds = 4;
  options.profile = true;
  TESSERA_ASSIGN(Contest contest, openAll(module, names, inputs, options));
  for (size_t i = 0; i < names.size(); ++i) {
    TESSERA_TRY(contest.launch(i));
    for (const NodeProfile &node : contest.programs[i]->profile()->snapshot()) {
      found[i].flops += node.flops;
      found[i].bytes += node.bytes;
    }
  }
  for (size_t turn = 0; turn < 2 * rounds * names.size(); ++turn)
    TESSERA_TRY(contest.launch(turn / 2 % names.size()));
  for (size_t i = 0; i < names.size(); ++i)
    found[i].shares = sharesOf(*contest.programs[i], curve);
  return Status();
}

Result<std::vector<Cost>> measureTogether(const std::shared_ptr<const Module> &module,
                                          std::span<const std::string> names, const Curve &curve,
                                          const ProgramOptions &options, double seconds) {
  constexpr int repetitions = 10;
  TESSERA_ASSIGN(std::shared_ptr<Program> first, Program::open(module, names[0], options));
  TESSERA_ASSIGN(const std::vector<BufferRef> inputs, randomInputs(first->plan(), curve));
  std::vector<Found> found(names.size());
  TESSERA_TRY(profileAll(module, names, inputs, options, curve, found));
  for (int r = 0; r < repetitions; ++r) {
    TESSERA_ASSIGN(Contest contest, openAll(module, names, inputs, options));
    TESSERA_ASSIGN(const std::vector<double> best, bestOfRounds(contest, seconds / repetitions));
    for (size_t i = 0; i < names.size(); ++i) {
      found[i].microseconds.push_back(best[i]);
      found[i].speedups.push_back(best[0] / best[i]);
      TESSERA_TRY(measureEnergy(contest, i, best[i], found[i]));
    }
  }
  // One basis: a time and how many times as fast that is never disagree.
  const double exact = std::ranges::min(found[0].microseconds);
  std::vector<Cost> costs;
  for (Found &own : found) {
    const Estimate speedup = medianEstimate(own.speedups, curve.confidence);
    costs.push_back({exact / speedup.value, speedup, medianEstimate(own.joules, curve.confidence),
                     own.energySource, first->threads(), std::move(own.shares)});
  }
  return costs;
}

std::vector<size_t> trueFront(std::span<const Cost> costs) {
  std::vector<size_t> kept;
  double fastest = 0;
  for (size_t i = 0; i < costs.size(); ++i)
    if (i == 0 || 0.98 * costs[i].speedup.value > fastest) {
      kept.push_back(i);
      fastest = costs[i].speedup.value;
    }
  auto speedupOf = [](const Cost &cost) { return cost.speedup.value; };
  const auto best = static_cast<size_t>(std::ranges::max_element(costs, {}, speedupOf) - costs.begin());
  if (costs[best].speedup.value > fastest)
    kept.push_back(best);
  return kept;
}

} // namespace tessera::tune
