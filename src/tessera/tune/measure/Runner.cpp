// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/measure/Runner.h"

#include "tessera/runtime/trace/Trace.h"
#include "tessera/tune/metrics/Statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::tune {

static Result<std::span<const float>> floats(Buffer &buffer) {
  if (buffer.type() != ElementType::F32)
    return fail(StatusCode::Unsupported, "a value between two operations is ", buffer.describe(),
                "; only networks in f32 can be tuned");
  TESSERA_ASSIGN(const std::byte *memory, buffer.hostRead());
  return std::span(reinterpret_cast<const float *>(memory), buffer.bytes() / sizeof(float));
}

Result<Runner> Runner::create(const Network &network, const Feed &feed, std::shared_ptr<const Module> exact,
                              int64_t batch, unsigned threads) {
  Runner runner;
  runner.network = &network;
  runner.feed = &feed;
  runner.batch = feed.fixedBatch() >= 0 ? feed.fixedBatch() : batch;
  runner.threads = threads;
  runner.exactModule = std::move(exact);
  runner.modules.resize(network.segments.size());
  runner.lastUse.assign(static_cast<size_t>(network.values), 0);
  for (size_t s = 0; s < network.segments.size(); ++s) {
    runner.modules[s].resize(network.segments[s].knobs.size());
    for (int32_t v : network.segments[s].inputs)
      runner.lastUse[static_cast<size_t>(v)] = s;
    TESSERA_ASSIGN(std::shared_ptr<Program> program, runner.open(s, 0));
    runner.programs.push_back(std::move(program));
  }
  runner.lastUse[static_cast<size_t>(network.output)] = network.segments.size();
  return runner;
}

Result<std::shared_ptr<Program>> Runner::open(size_t segment, uint16_t knob, bool measured) const {
  ProgramOptions options;
  // Shares of time are what counts, and one thread meets less of what else the machine does.
  options.threads = measured ? 1 : threads;
  options.profile = measured;
  return Program::open(knob ? modules[segment][knob] : exactModule, Network::programName(segment, knob),
                       options);
}

Result<std::vector<Runner::Values>> Runner::feedAll(std::span<const int64_t> items,
                                                    std::vector<int64_t> &rows) const {
  std::vector<Values> all;
  for (size_t begin = 0; begin < items.size(); begin += static_cast<size_t>(batch)) {
    const size_t now = std::min(static_cast<size_t>(batch), items.size() - begin);
    TESSERA_ASSIGN(BufferRef input, feed->batch(items.subspan(begin, now)));
    all.emplace_back(static_cast<size_t>(network->values));
    all.back()[0] = std::move(input);
    rows.push_back(static_cast<int64_t>(now));
  }
  return all;
}

Status Runner::launch(Program &program, size_t segment, Values &values) const {
  const Segment &info = network->segments[segment];
  std::vector<Buffer *> inputs;
  for (int32_t v : info.inputs)
    inputs.push_back(values[static_cast<size_t>(v)].get());
  std::vector<BufferRef> outputs(info.outputs.size());
  TESSERA_TRY(program.launch(inputs, outputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    values[static_cast<size_t>(info.outputs[i])] = outputs[i];
  for (int32_t v : info.inputs)
    if (lastUse[static_cast<size_t>(v)] <= segment)
      values[static_cast<size_t>(v)] = nullptr;
  return Status();
}

Status Runner::finish(std::span<const std::shared_ptr<Program>> chain, size_t from, Values &values,
                      int64_t rows, Scores &scores) const {
  for (size_t s = from; s < network->segments.size(); ++s)
    TESSERA_TRY(launch(*chain[s], s, values));
  Buffer &output = *values[static_cast<size_t>(network->output)];
  const int64_t count = output.shape().empty() ? 0 : output.shape()[0];
  return appendScores(output, network->name, std::max(count, rows), rows, scores);
}

Result<Runner::Exact> Runner::runExact(const Items &items) const {
  Exact exact;
  const float inf = std::numeric_limits<float>::infinity();
  exact.ranges.assign(network->segments.size(), {inf, -inf});
  std::vector<int64_t> rows;
  TESSERA_ASSIGN(std::vector<Values> all, feedAll(items, rows));
  for (size_t b = 0; b < all.size(); ++b) {
    for (size_t s = 0; s < network->segments.size(); ++s) {
      if (int32_t v = network->segments[s].activation; v >= 0) {
        TESSERA_ASSIGN(std::span<const float> numbers, floats(*all[b][static_cast<size_t>(v)]));
        auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
        if (low != numbers.end()) {
          exact.ranges[s].first = std::min(exact.ranges[s].first, *low);
          exact.ranges[s].second = std::max(exact.ranges[s].second, *high);
        }
      }
      TESSERA_TRY(launch(*programs[s], s, all[b]));
    }
    TESSERA_TRY(finish(programs, network->segments.size(), all[b], rows[b], exact.scores));
    all[b].clear();
  }
  return exact;
}

/// Configurations that are alike up to some segment.
struct Runner::Alike {
  std::span<const Picks> configurations;
  std::span<Scores> scores;
  const std::vector<std::vector<std::shared_ptr<Program>>> *pieces; ///< of each segment, by knob
};

Status Runner::runAlike(Alike group, size_t from, Values values, int64_t rows) const {
  if (from == network->segments.size()) {
    for (Scores &scores : group.scores)
      TESSERA_TRY(finish({}, from, values, rows, scores));
    return Status();
  }
  while (!group.configurations.empty()) {
    const uint16_t knob = group.configurations[0][from];
    size_t count = 1;
    while (count < group.configurations.size() && group.configurations[count][from] == knob)
      ++count;
    const bool isLast = count == group.configurations.size();
    Values own = isLast ? std::move(values) : values;
    TESSERA_TRY(launch(*(*group.pieces)[from][knob], from, own));
    TESSERA_TRY(runAlike({group.configurations.first(count), group.scores.first(count), group.pieces},
                         from + 1, std::move(own), rows));
    group.configurations = group.configurations.subspan(count);
    group.scores = group.scores.subspan(count);
  }
  return Status();
}

Result<std::vector<Scores>> Runner::run(std::span<const Picks> configurations, const Items &items) const {
  std::vector<std::vector<std::shared_ptr<Program>>> pieces(network->segments.size());
  for (size_t s = 0; s < pieces.size(); ++s) {
    pieces[s].resize(network->segments[s].knobs.size());
    pieces[s][0] = programs[s];
    for (const Picks &picks : configurations)
      if (std::shared_ptr<Program> &piece = pieces[s][picks[s]]; !piece) {
        TESSERA_ASSIGN(piece, open(s, picks[s]));
      }
  }
  std::vector<Scores> scores(configurations.size());
  for (size_t begin = 0; begin < items.size(); begin += static_cast<size_t>(batch)) {
    const size_t count = std::min(items.size() - begin, static_cast<size_t>(batch));
    std::vector<int64_t> rows;
    TESSERA_ASSIGN(std::vector<Values> one, feedAll(std::span(items).subspan(begin, count), rows));
    TESSERA_TRY(runAlike({configurations, scores, &pieces}, 0, std::move(one[0]), rows[0]));
  }
  return scores;
}

Status Runner::start(const Items &items) {
  keptRows.clear();
  at = 0;
  TESSERA_ASSIGN(kept, feedAll(items, keptRows));
  return Status();
}

Status Runner::advance() {
  for (Values &values : kept)
    TESSERA_TRY(launch(*programs[at], at, values));
  ++at;
  return Status();
}

// The node does nothing else; a layer may copy an operand, too, before it begins.
static bool isCopy(Program &program, size_t node) {
  const int32_t version = program.staticVersions()[node];
  if (version < 0)
    return false;
  const std::string &note = program.plan().nodes[node].versions[static_cast<size_t>(version)].note;
  return note == "copy between layouts" || note == "copy between layouts; rows as tasks";
}

// The fastest run of each node, added up.
static double kernelMicroseconds(Program &program) {
  double ns = 0;
  std::vector<NodeProfile> nodes = program.profile()->snapshot();
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (!isCopy(program, n))
      ns += static_cast<double>(nodes[n].minNs);
  }
  return ns / 1e3;
}

MeasuredRounds::MeasuredRounds(size_t programs) : begin(nowNanoseconds()), budget(20'000'000 * programs) {}

bool MeasuredRounds::next() {
  const bool goesOn = round < 12 || (round < 200 && nowNanoseconds() - begin < budget);
  ++round;
  return goesOn;
}

Result<std::vector<double>> Runner::measure(std::span<const uint16_t> knobs) const {
  std::vector<std::shared_ptr<Program>> variants;
  for (uint16_t knob : knobs) {
    TESSERA_ASSIGN(std::shared_ptr<Program> program, open(at, knob, /*measured=*/true));
    variants.push_back(std::move(program));
  }
  for (MeasuredRounds rounds(variants.size()); rounds.next();)
    for (auto &program : variants) {
      Values values = kept[0];
      TESSERA_TRY(launch(*program, at, values));
    }
  std::vector<double> times;
  for (auto &program : variants)
    times.push_back(kernelMicroseconds(*program));
  return times;
}

Result<Demand> Runner::errorOf(uint16_t knob) const {
  TESSERA_ASSIGN(std::shared_ptr<Program> variant, open(at, knob));
  const auto watched = static_cast<size_t>(network->segments[at].outputs[0]);
  Values values = kept[0], golden = kept[0];
  TESSERA_TRY(launch(*variant, at, values));
  TESSERA_TRY(launch(*programs[at], at, golden));
  TESSERA_ASSIGN(std::span<const float> got, floats(*values[watched]));
  TESSERA_ASSIGN(std::span<const float> wanted, floats(*golden[watched]));
  auto bounded = [](double error) { return std::isfinite(error) ? error : 1; };
  return Demand{bounded(relativeError(got, wanted, 1)), bounded(relativeError(got, wanted, 2))};
}

Result<Runner::Profiled> Runner::profile(uint16_t knob) const {
  TESSERA_ASSIGN(std::shared_ptr<Program> variant, open(at, knob));
  Profiled result;
  for (size_t b = 0; b < kept.size(); ++b) {
    Values values = kept[b];
    TESSERA_TRY(launch(*variant, at, values));
    TESSERA_TRY(finish(programs, at + 1, values, keptRows[b], result.scores));
  }
  // One batch is enough to say how far off the operation itself is.
  TESSERA_ASSIGN(const Demand error, errorOf(knob));
  result.error = error.l2;
  return result;
}

// A table of normal numbers that is read from different places: noise for errors need not be better.
static const std::vector<float> &normals() {
  static const std::vector<float> table = [] {
    Stream random(0x7e55e7a);
    std::vector<float> values(65521);
    for (float &value : values)
      value = static_cast<float>(random.normal());
    return values;
  }();
  return table;
}

// A copy of `exact` with noise of the relative size `error`; returns its size in the norm 1.
static Result<double> addNoise(BufferRef &value, double error, uint64_t place) {
  TESSERA_ASSIGN(std::span<const float> exact, floats(*value));
  TESSERA_ASSIGN(BufferRef noisy, Buffer::create(ElementType::F32, value->shape()));
  TESSERA_ASSIGN(std::byte * memory, noisy->hostWrite());
  double squares = 0, size = 0, noise = 0;
  for (float x : exact) {
    squares += double(x) * double(x);
    size += std::fabs(double(x));
  }
  const auto scale =
      static_cast<float>(error * std::sqrt(squares / std::max<double>(1, double(exact.size()))));
  const std::vector<float> &table = normals();
  size_t from = place % table.size();
  auto *to = reinterpret_cast<float *>(memory);
  for (size_t i = 0; i < exact.size(); ++i) {
    const float change = scale * table[from];
    noise += std::fabs(double(change));
    to[i] = exact[i] + change;
    from = from + 1 == table.size() ? 0 : from + 1;
  }
  value = std::move(noisy);
  return size > 0 ? noise / size : 0;
}

Result<Scores> Runner::runInjected(std::span<const double> errors, const Items &items, uint64_t seed,
                                   std::vector<double> &l1) const {
  Scores scores;
  Stream places(seed);
  std::vector<int64_t> rows;
  l1.assign(errors.size(), 0);
  TESSERA_ASSIGN(std::vector<Values> all, feedAll(items, rows));
  for (size_t b = 0; b < all.size(); ++b) {
    for (size_t s = 0; s < network->segments.size(); ++s) {
      TESSERA_TRY(launch(*programs[s], s, all[b]));
      if (errors[s] <= 0)
        continue;
      TESSERA_ASSIGN(const double size, addNoise(all[b][static_cast<size_t>(network->segments[s].outputs[0])],
                                                 errors[s], places.next()));
      l1[s] += size / static_cast<double>(all.size());
    }
    TESSERA_TRY(finish(programs, network->segments.size(), all[b], rows[b], scores));
    all[b].clear();
  }
  return scores;
}

} // namespace tessera::tune
