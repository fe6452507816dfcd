// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations take in bytes between neighbours in bytes. A piece alone gives its result in f32, which
// costs as much as computing it in bytes does; so each knob is given to all operations at once, and the nodes
// of such networks are timed.
#include "tessera/runtime/trace/Profile.h"
#include "tessera/tune/measure/Measure.h"
#include "tessera/tune/tuner/Tuner.h"

#include <algorithm>

namespace tessera::tune {

// Those that an operation may get.
static std::vector<std::string> knobsInBytes(std::span<const Operation> operations) {
  std::vector<std::string> all;
  for (const Operation &op : operations)
    for (const Choice &choice : op.choices)
      if (isBytes(choice.knob) && std::ranges::find(all, choice.knob) == all.end())
        all.push_back(choice.knob);
  return all;
}

static bool has(const Segment &segment, std::string_view knob) {
  return std::ranges::find(segment.knobs, knob) != segment.knobs.end();
}

// One knob for all operations that have it; the others are plain.
static KnobMap everywhere(const Network &network, const std::string &knob) {
  const std::string plain = knob.substr(0, knob.find('+'));
  KnobMap map;
  for (const Segment &segment : network.segments)
    if (has(segment, knob) || has(segment, plain))
      segment.give(map, has(segment, knob) ? knob : plain);
  return map;
}

// The fastest run of each node, added up by segment. What stands between two operations in bytes belongs to
// the first: a pool is a part of a layer under some knobs, and a node of its own under others.
static std::vector<double> microsecondsOf(Program &program, const Network &network) {
  const std::vector<Segment> &segments = network.segments;
  std::vector<double> times(segments.size(), 0);
  auto named = [&](std::string_view name) {
    return std::ranges::find_if(segments, [&](const Segment &segment) {
      return segment.name == name && std::ranges::any_of(segment.knobs, isBytes);
    });
  };
  auto last = segments.end();
  const std::vector<NodeProfile> nodes = program.profile()->snapshot();
  for (size_t n = 0; n < nodes.size(); ++n) {
    const std::string_view node = program.plan().nodes[n].name;
    auto found = named(node);
    if (found == segments.end())
      found = named(operationOf(node));
    if (found != segments.end())
      last = found;
    if (last != segments.end())
      times[static_cast<size_t>(last - segments.begin())] += static_cast<double>(nodes[n].minNs) / 1e3;
  }
  return times;
}

Result<std::vector<std::vector<double>>> Tuner::runInBytes(std::span<const std::string> knobs) {
  std::vector<KnobMap> configurations;
  for (const std::string &knob : knobs)
    configurations.push_back(everywhere(network, knob));
  const std::string path = options.folder + "/bytes.tsx";
  TESSERA_TRY(whole(configurations, ranges, path));
  TESSERA_ASSIGN(std::shared_ptr<const Module> module, Module::load(path));
  ProgramOptions open;
  open.threads = 1;
  open.profile = true;
  std::vector<std::shared_ptr<Program>> programs;
  for (size_t i = 0; i < configurations.size(); ++i) {
    TESSERA_ASSIGN(std::shared_ptr<Program> program, Program::open(module, concat("p", i), open));
    programs.push_back(std::move(program));
  }
  const size_t batch = std::min(searchItems.size(), static_cast<size_t>(runner->batchSize()));
  TESSERA_ASSIGN(BufferRef input, feed->batch(std::span(searchItems).first(batch)));
  std::vector<Buffer *> inputs = {input.get()};
  for (MeasuredRounds rounds(programs.size()); rounds.next();)
    for (auto &program : programs) {
      std::vector<BufferRef> outputs(1);
      TESSERA_TRY(program->launch(inputs, outputs));
    }
  std::vector<std::vector<double>> times;
  for (auto &program : programs)
    times.push_back(microsecondsOf(*program, network));
  return times;
}

Status Tuner::measureInBytes() {
  const std::vector<std::string> knobs = knobsInBytes(input.operations);
  if (options.portable || knobs.empty())
    return Status();
  auto key = [&](const std::string &knob) {
    return concat(program, " | ", knob, " everywhere | ", measuredHow());
  };
  if (!std::ranges::all_of(knobs, [&](const std::string &knob) { return costs->find(key(knob)); })) {
    if (budget.isUsed(searchShare)) { // the pieces' times are left, too
      cost.isCut = true;
      return Status();
    }
    Result<std::vector<std::vector<double>>> times = runInBytes(knobs);
    // The pieces' times are left.
    if (!times.ok() && times.status().code() == StatusCode::Unsupported) {
      tell(concat("the network as a whole in int8 was not timed, the times of single operations are used: ",
                  times.status().message()));
      return Status();
    }
    TESSERA_TRY(times.status());
    for (size_t i = 0; i < knobs.size(); ++i)
      TESSERA_TRY(costs->add(key(knobs[i]), (*times)[i]));
    tell(concat("timed the whole network under ", knobs.size(), " int8 knob", knobs.size() == 1 ? "" : "s"));
  }
  for (const std::string &knob : knobs)
    amongBytes[knob] = costs->find(key(knob))->get<std::vector<double>>();
  return Status();
}

// Costs for the search of configurations in bytes. There anything else, which makes neighbours convert, costs
// twice of what it does alone.
SearchInput Tuner::preferBytes() const {
  SearchInput preferring = input;
  for (size_t i = 0; i < preferring.operations.size(); ++i) {
    Operation &op = preferring.operations[i];
    const Choice *plain = plainBytes(op);
    if (!plain)
      continue;
    // An operation that became a part of another one's node has no time of its own.
    auto timed = [&](const std::string &knob) {
      auto it = amongBytes.find(knob);
      return it == amongBytes.end() ? 0 : it->second[i];
    };
    const double known = timed(plain->knob), least = std::max(plain->cost, known);
    for (Choice &choice : op.choices)
      if (!isBytes(choice.knob))
        choice.cost = 2 * std::max(choice.cost, least);
      else if (known > 0)
        choice.cost = timed(choice.knob);
  }
  return preferring;
}

} // namespace tessera::tune
