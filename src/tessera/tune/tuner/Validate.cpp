// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tuner's last steps: candidates are run on samples that the search did not see, and become a curve.
#include "tessera/tune/metrics/Statistics.h"
#include "tessera/tune/tuner/Tuner.h"

#include <algorithm>
#include <cmath>

namespace tessera::tune {

using Json = nlohmann::json;

// Adds what those of `some` that are not dropped do on `items`. What the journal does not know is run: eight
// at a time, so that few are lost with an interrupted run, and those together that begin alike. A budget
// takes few at a time in their order, and cuts those off that come too late; the first candidates never do,
// so that there is a curve and the same command gets on.
Status Tuner::validateOn(std::vector<Candidate> &some, const Items &items, const std::string &stage,
                         std::span<const uint8_t> before) {
  auto idOf = [&](const Candidate &c) { return concat("validate ", stage, " ", spell(c.picks)); };
  auto find = [&](const Candidate &c) {
    const Json *old = journal->find(idOf(c));
    return old && old->is_array() && old->size() == 3 ? old : nullptr;
  };
  const std::vector<int32_t> labels = labelsOf(items);
  std::vector<Candidate *> unknown;
  for (Candidate &c : some)
    if (!c.dropped && !find(c))
      unknown.push_back(&c);
  const bool isLimited = options.budget > 0;
  if (!isLimited)
    std::ranges::sort(unknown, {}, &Candidate::picks);
  const size_t together = isLimited ? 2 : 8;
  for (size_t begin = 0; begin < unknown.size(); begin += together) {
    const auto now = std::span(unknown).subspan(begin, std::min(together, unknown.size() - begin));
    if (budget.isUsed() && (begin || &some != &candidates)) {
      for (Candidate *c : now)
        c->isCut = true;
      continue;
    }
    std::vector<Picks> pieces;
    for (const Candidate *c : now)
      pieces.push_back(piecesOf(c->picks));
    TESSERA_ASSIGN(std::vector<Scores> scores, runner->run(pieces, items));
    for (size_t i = 0; i < now.size(); ++i) {
      ++cost.evaluations;
      const std::vector<uint8_t> after = correctItems(scores[i], labels, options.metric.k);
      const PairedLoss loss = pairedLoss(before, after);
      const int64_t right = std::count(after.begin(), after.end(), 1);
      TESSERA_TRY(journal->add(idOf(*now[i]), Json::array({loss.lost, loss.won, right})));
    }
  }
  for (Candidate &c : some) {
    // With a part of the samples less can be promised; without any, nothing.
    c.dropped |= c.isCut && !c.measured.count;
    if (c.dropped || c.isCut)
      continue;
    const Json &found = *find(c);
    c.measured.count += static_cast<int64_t>(items.size());
    c.measured.lost += found[0].get<int64_t>();
    c.measured.won += found[1].get<int64_t>();
    c.right += found[2].get<int64_t>();
  }
  return Status();
}

// Another candidate takes less than this share of its time and has no larger loss. Costs of pieces do not
// compare precisions, so that only candidates of the same kind are asked.
bool Tuner::isBeaten(const Candidate &candidate, double share,
                     const std::function<bool(const Candidate &)> &isNoWorse) const {
  return std::ranges::any_of(candidates, [&](const Candidate &other) {
    return &other != &candidate && other.measured.count && other.cost < share * candidate.cost &&
           other.inBytes == candidate.inBytes && isNoWorse(other);
  });
}

// Races: a quarter of the samples decides which candidates run on the rest.
Status Tuner::validate() {
  const Json *old = journal->find("validate exact");
  if (old && old->is_array()) {
    exactRight = old->get<std::vector<uint8_t>>();
  } else {
    TESSERA_ASSIGN(Runner::Exact found, runner->runExact(heldBack));
    exactRight = correctItems(found.scores, labelsOf(heldBack), options.metric.k);
    TESSERA_TRY(journal->add("validate exact", exactRight));
  }
  // Samples are ordered by number; every fourth is as good as any quarter.
  Items first, rest;
  std::vector<uint8_t> firstRight, restRight;
  for (size_t i = 0; i < heldBack.size(); ++i) {
    (i % 4 ? rest : first).push_back(heldBack[i]);
    (i % 4 ? restRight : firstRight).push_back(exactRight[i]);
  }
  TESSERA_TRY(validateOn(candidates, first, "first", firstRight));
  const double z = normalQuantile(options.confidence);
  auto deviationOf = [](const PairedLoss &m) {
    return std::sqrt(double(m.lost + m.won) + 1) / double(m.count);
  };
  for (Candidate &c : candidates) {
    const PairedLoss &m = c.measured;
    const double deviation = deviationOf(m);
    auto isBetter = [&](const Candidate &other) { return other.measured.loss() + deviation <= m.loss(); };
    c.dropped |= m.loss() - z * deviation > options.maxLoss() / 100 || isBeaten(c, 0.9, isBetter);
  }
  TESSERA_TRY(validateOn(candidates, rest, "rest", restRight));
  // The candidates are spread over all losses; users ask for some.
  for (double points : options.goals) {
    const double goal = points / 100;
    std::vector<Candidate> near = nearGoal(goal);
    TESSERA_TRY(validateOn(near, first, "first", firstRight));
    for (Candidate &c : near)
      c.dropped |= c.measured.loss() - z * deviationOf(c.measured) > goal;
    TESSERA_TRY(validateOn(near, rest, "rest", restRight));
    std::ranges::move(near, std::back_inserter(candidates));
  }
  return Status();
}

// Configurations of the predicted front that are faster than the fastest one found to keep the goal, and may
// keep it too by what validation has shown of predictions so far.
std::vector<Tuner::Candidate> Tuner::nearGoal(double goal) const {
  double fastest[2] = {1, 1}, predicted = 0, measured = 0, changed = 0; // fastest: of either kind
  int64_t count = 0;
  for (const Candidate &c : candidates) {
    if (c.dropped)
      continue;
    if (c.measured.upperBound(options.confidence) <= goal)
      fastest[c.inBytes] = std::min(fastest[c.inBytes], c.cost);
    predicted += std::max(0.0, c.predicted.loss);
    measured += std::max(0.0, c.measured.loss());
    changed += double(c.measured.lost + c.measured.won) / double(c.measured.count);
    ++count;
  }
  if (!count)
    return {};
  const double scale = predicted > 0 ? std::clamp(measured / predicted, 0.5, 2.0) : 1;
  const double most = spendable(goal, static_cast<int64_t>(heldBack.size()),
                                std::max(goal, changed / double(count)), options.confidence);
  std::vector<Candidate> found;
  for (const Point &p : front) {
    Candidate c = candidateOf(p.picks);
    auto same = [&](const Candidate &other) { return other.picks == c.picks; };
    if (c.cost < 0.98 * fastest[c.inBytes] && scale * c.predicted.loss <= most &&
        std::none_of(candidates.begin(), candidates.end(), same) &&
        std::none_of(found.begin(), found.end(), same))
      found.push_back(std::move(c));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate &a, const Candidate &b) { return a.cost < b.cost; });
  // The fastest one, and one that will keep the goal more surely.
  auto sure =
      std::ranges::find_if(found, [&](const Candidate &c) { return scale * c.predicted.loss <= most / 2; });
  if (sure != found.end() && sure != found.begin())
    std::iter_swap(found.begin() + 1, sure);
  constexpr size_t tries = 2;
  if (found.size() > tries)
    found.resize(tries);
  return found;
}

Configuration Tuner::describe(const Candidate &candidate) const {
  Configuration c;
  for (size_t i = 0; i < candidate.picks.size(); ++i)
    if (candidate.picks[i])
      network.segments[i].give(c.knobs, input.operations[i].choices[candidate.picks[i]].knob);
  const double z = normalQuantile(0.5 + options.confidence / 2);
  const double before = 100 * share(model->exactCorrect());
  c.predicted.quality = before - 100 * candidate.predicted.loss;
  c.predicted.low = c.predicted.quality - 100 * z * candidate.predicted.deviation;
  c.predicted.high = c.predicted.quality + 100 * z * candidate.predicted.deviation;
  c.predicted.cost = candidate.cost;
  const PairedLoss &m = candidate.measured;
  const Interval interval = wilson(candidate.right, m.count, options.confidence);
  c.measured = {100 * double(candidate.right) / double(m.count),
                100 * interval.low,
                100 * interval.high,
                100 * m.loss(),
                100 * m.upperBound(options.confidence),
                m.count,
                100 * m.lowerBound(options.confidence)};
  return c;
}

Curve Tuner::curve() const {
  Curve curve;
  curve.program = program;
  curve.network = network.name;
  curve.metric = options.metric.name();
  curve.data = data.name;
  curve.confidence = options.confidence;
  curve.tuning = cost;
  const int64_t right = std::count(exactRight.begin(), exactRight.end(), 1);
  const auto count = static_cast<int64_t>(exactRight.size());
  curve.baselineQuality = 100 * double(right) / double(count);
  curve.baselineCount = count;
  for (size_t s = 0; s < network.segments.size(); ++s) {
    const Segment &info = network.segments[s];
    if (info.name.empty())
      continue;
    CurveOperation op{info.name, info.kind, info.shape, info.flops, exactMicroseconds[s], {}, records[s]};
    if (auto it = ranges.find(info.name); it != ranges.end())
      op.range = it->second;
    curve.operations.push_back(std::move(op));
  }
  Configuration baseline;
  baseline.name = "baseline";
  const Interval interval = wilson(right, count, options.confidence);
  baseline.predicted = {100 * share(model->exactCorrect()), 100 * share(model->exactCorrect()),
                        100 * share(model->exactCorrect()), 1};
  baseline.measured = {curve.baselineQuality, 100 * interval.low, 100 * interval.high, 0, 0, count};
  curve.configurations.push_back(std::move(baseline));
  // What another one beats clearly in both is not shipped; costs are estimates, so near ones stay.
  std::vector<const Candidate *> kept;
  for (const Candidate &c : candidates) {
    if (c.dropped || c.measured.loss() > options.maxLoss() / 100)
      continue;
    const double most = c.measured.upperBound(options.confidence);
    auto isSafer = [&](const Candidate &other) {
      return !other.dropped && other.measured.upperBound(options.confidence) <= most;
    };
    if (!isBeaten(c, 0.93, isSafer))
      kept.push_back(&c);
  }
  std::sort(kept.begin(), kept.end(), [](const Candidate *a, const Candidate *b) {
    return std::tuple(a->measured.loss(), -a->cost, a->picks) <
           std::tuple(b->measured.loss(), -b->cost, b->picks);
  });
  for (const Candidate *c : kept) {
    curve.configurations.push_back(describe(*c));
    curve.configurations.back().name = concat("c", curve.configurations.size() - 1);
  }
  curve.chosen = "baseline";
  return curve;
}

} // namespace tessera::tune
