// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/search/KnobMoves.h"

#include <algorithm>
#include <optional>

namespace tessera::tune {

static Knob parse(const std::string &text) { return *Knob::parse(text); }

static Knob knobOf(const KnobMap &knobs, const std::string &node) {
  auto at = knobs.find(node);
  return at == knobs.end() ? Knob() : parse(at->second);
}

static bool has(const TunableNode &node, const Knob &knob) {
  return std::find(node.knobs.begin(), node.knobs.end(), knob.str()) != node.knobs.end();
}

bool isVariant(const TunableNode &node, const std::string &text) {
  Knob plain = parse(text);
  if (!plain.skipsRows())
    return false;
  plain.precision = Knob::Precision::F32;
  plain.offset = 0;
  if (plain.str() != text && has(node, plain))
    return true;
  // Fewer rows of the same period.
  const bool fewer = plain.skip < plain.rate - 1 && plain.skip > 1;
  plain.skip = plain.rate - 1;
  return fewer && has(node, plain);
}

// The share of rows that is computed.
static double keptBy(const Knob &knob) {
  return knob.skipsRows() ? 1 - double(knob.skip) / double(knob.rate) : 1;
}

// The next knob of the same kind that computes fewer rows, or more.
static std::optional<Knob> onward(const TunableNode &node, const Knob &own, bool fewer) {
  std::optional<Knob> best;
  for (const std::string &text : node.knobs) {
    const Knob knob = parse(text);
    const bool sameKind = knob.precision == own.precision &&
                          (own.structure == Knob::Structure::None || knob.structure == own.structure ||
                           knob.structure == Knob::Structure::None) &&
                          (knob.offset == 0) == (own.offset == 0 || !knob.skipsRows());
    const bool onWay = fewer ? keptBy(knob) < keptBy(own) : keptBy(knob) > keptBy(own);
    const bool nearer = !best || (fewer ? keptBy(knob) > keptBy(*best) : keptBy(knob) < keptBy(*best));
    if (sameKind && onWay && nearer)
      best = knob;
  }
  return best;
}

// Knobs of one node that are worth a try next to its own, given those of the others.
static std::vector<Knob> stepsOf(const TunableNode &node, const Knob &own, std::span<const Knob> others) {
  std::vector<Knob> steps;
  for (bool fewer : {true, false})
    if (std::optional<Knob> next = onward(node, own, fewer))
      steps.push_back(*next);
  for (const std::string &text : node.knobs) {
    Knob knob = parse(text);
    const int differences =
        (knob.precision != own.precision) + (knob.structure != own.structure) + (knob.offset != own.offset);
    if (differences == 1 && knob.rate == own.rate && knob.skip == own.skip)
      steps.push_back(knob);
  }
  for (Knob other : others) {
    if (!other.skipsRows())
      continue;
    other.precision = own.precision;
    steps.push_back(other);
    // The rows that a reader with a window of three takes for those that it computes: nothing is lost.
    other.structure = Knob::Structure::PerforateRows;
    other.skip -= 2;
    other.offset = (other.offset + 1) % other.rate;
    if (other.skip >= 1)
      steps.push_back(other);
  }
  std::erase_if(steps, [&](const Knob &knob) { return knob == own || !has(node, knob); });
  return steps;
}

static void set(KnobMap &knobs, const std::string &node, const Knob &knob) {
  if (knob.isExact())
    knobs.erase(node);
  else
    knobs[node] = knob.str();
}

static std::vector<Knob> knobsOf(std::span<const TunableNode> nodes, const KnobMap &knobs) {
  std::vector<Knob> all;
  for (const TunableNode &node : nodes)
    all.push_back(knobOf(knobs, node.name));
  return all;
}

// Others than `knobs`, each once.
static void addTo(std::vector<KnobMap> &found, KnobMap next, const KnobMap &knobs) {
  if (next != knobs && std::find(found.begin(), found.end(), next) == found.end())
    found.push_back(std::move(next));
}

std::vector<KnobMap> jointStepsOf(std::span<const TunableNode> nodes, const KnobMap &knobs) {
  using enum Knob::Precision;
  std::vector<KnobMap> found;
  const std::vector<Knob> all = knobsOf(nodes, knobs);
  for (bool fewer : {true, false}) {
    KnobMap next = knobs;
    for (size_t n = 0; n < nodes.size(); ++n)
      if (std::optional<Knob> step = onward(nodes[n], all[n], fewer))
        set(next, nodes[n].name, *step);
    addTo(found, std::move(next), knobs);
  }
  // The same rows in another precision. The first node may read what is f32, which costs a conversion.
  for (auto [first, others] : {std::pair(F32, F32), {F16, F16}, {F16, F16Math}, {F16Math, F16Math}}) {
    KnobMap next = knobs;
    for (size_t n = 0; n < nodes.size(); ++n) {
      Knob own = all[n];
      own.precision = n ? others : first;
      if (has(nodes[n], own))
        set(next, nodes[n].name, own);
    }
    addTo(found, std::move(next), knobs);
  }
  for (const Knob &knob : all) {
    KnobMap next = knobs;
    for (const TunableNode &node : nodes)
      if (has(node, knob))
        set(next, node.name, knob);
    addTo(found, std::move(next), knobs);
  }
  return found;
}

std::vector<KnobMap> singleStepsOf(std::span<const TunableNode> nodes, const KnobMap &knobs) {
  std::vector<KnobMap> found;
  const std::vector<Knob> all = knobsOf(nodes, knobs);
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const Knob &step : stepsOf(nodes[n], all[n], all)) {
      KnobMap next = knobs;
      set(next, nodes[n].name, step);
      addTo(found, std::move(next), knobs);
    }
  return found;
}

} // namespace tessera::tune
