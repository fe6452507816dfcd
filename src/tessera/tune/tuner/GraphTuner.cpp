// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/tuner/GraphTuner.h"

#include "tessera/base/File.h"
#include "tessera/base/Json.h"
#include "tessera/runtime/program/Frame.h"
#include "tessera/runtime/trace/Trace.h"
#include "tessera/tune/measure/Measure.h"
#include "tessera/tune/search/KnobMoves.h"
#include "tessera/tune/search/Search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tessera::tune {

using Json = nlohmann::json;

// Rounds of steps from the best configurations so far, each with twice as many trials as the search proposed.
static constexpr int refineRounds = 10;

static double mean(std::span<const double> values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

void GraphTuner::tell(const std::string &text) const {
  if (!options.quiet)
    std::fprintf(stderr, "%s\n", text.c_str());
}

// Whether a share of the budget is used up, so that something is left out.
bool GraphTuner::isUsedUp(double share, const std::string &when) {
  if (!budget.isUsed(share))
    return false;
  if (!cost.isCut)
    tell(concat("the budget is used up ", when, "; the same command goes on from here"));
  return cost.isCut = true;
}

Result<Curve> GraphTuner::tune() {
  TESSERA_TRY(prepare());
  uint64_t start = nowNanoseconds();
  TESSERA_TRY(profile());
  cost.profileSeconds = secondsSince(start);
  start = nowNanoseconds();
  const std::vector<std::vector<uint16_t>> proposals = search();
  cost.searchSeconds = secondsSince(start);
  start = nowNanoseconds();
  TESSERA_TRY(validate(proposals));
  if (!isUsedUp(1, "before one knob for all nodes was tried")) {
    TESSERA_TRY(tryUniform());
    TESSERA_TRY(refine());
  }
  cost.validateSeconds = secondsSince(start);
  return curve();
}

// What a loss of quality adds up as: noise power for PSNR, otherwise the loss itself.
double GraphTuner::damageOf(double quality) const {
  if (judge->isPsnr())
    return quality >= exactDecibels ? 0 : std::pow(10, -quality / 10);
  return std::max(0.0, judge->lossOf(quality));
}

double GraphTuner::qualityOf(double damage) const {
  if (judge->isPsnr())
    return damage > 0 ? std::min(exactDecibels, -10 * std::log10(damage)) : exactDecibels;
  return judge->exactQuality() + (judge->higherIsBetter() ? -damage : damage);
}

double GraphTuner::damageOfLoss(double loss) const {
  return damageOf(judge->exactQuality() + (judge->higherIsBetter() ? -loss : loss));
}

// Samples dealt out, the exact program run on them.
Status GraphTuner::prepare() {
  const std::string path = options.folder + "/exact.tsx";
  const KnobMap none;
  TESSERA_TRY(compiler({&none, 1}, path));
  TESSERA_ASSIGN(std::shared_ptr<const Module> module, Module::load(path));
  ProgramOptions open;
  open.threads = options.threads;
  TESSERA_ASSIGN(exact, Program::open(module, "p0", open));
  TESSERA_ASSIGN(judge, Judge::create(exact->plan(), options.metric));
  TESSERA_ASSIGN(std::vector<Sample> samples, readSamples(options.data, exact->plan()));
  const auto count = static_cast<int64_t>(samples.size());
  if (count < 2)
    return fail(StatusCode::InvalidArgument, "--data: '", options.data, "' has ", count,
                " samples; tuning needs at least two, one of which the search does not see");
  searchCount = static_cast<size_t>(options.images > 0 ? options.images : count / 2);
  if (searchCount >= samples.size())
    return fail(StatusCode::InvalidArgument, "--images: expected fewer than the ", count,
                " samples of the data, so that some are left to validate with, but got ", options.images);
  dealOut(samples, options.seed);
  TESSERA_TRY(judge->learn(*exact, std::move(samples)));

  std::string key = concat(digest, " ", options.machine, " ", TESSERA_VERSION, " ", options.data, " ",
                           options.metric, " ", searchCount, " ", options.seed, " ", options.threads);
  for (const Sample &sample : judge->samples())
    key += concat(" ", sample.name, " ", sample.bytes());
  for (const TunableNode &node : nodes)
    for (const std::string &knob : node.knobs)
      key += " " + knob;
  TESSERA_ASSIGN(journal, Journal::open(options.folder + "/journal.jsonl", key));
  if (journal->size())
    tell(concat("going on with ", journal->size(), " results of an earlier run in '", options.folder, "'"));
  cost.seed = options.seed;
  cost.images = static_cast<int64_t>(searchCount);
  cost.validated = count - cost.images;
  cost.batch = 1;
  return Status();
}

// One of the shortest: the tenth part is shorter. A virtual machine's clock may lose what its host took, so
// that the shortest of all can be any.
static double shortOf(std::vector<double> &times) {
  const auto place = times.begin() + static_cast<ptrdiff_t>(times.size() / 10);
  std::nth_element(times.begin(), place, times.end());
  return *place;
}

// Times of programs measured in turns with the exact one; as shares of its time. Each is launched twice in
// its turn: one in use finds its own data in the caches, not that of all others.
static Result<std::vector<double>> measureShares(Program &exact,
                                                 std::span<const std::shared_ptr<Program>> programs,
                                                 const Sample &sample, double &exactNs) {
  std::vector<std::vector<double>> times(programs.size() + 1);
  const uint64_t begin = nowNanoseconds();
  std::vector<std::vector<BufferRef>> outputs(times.size());
  for (int round = 0; round < 8 || (round < 100 && secondsSince(begin) < 0.05 * double(times.size()));
       ++round)
    for (size_t turn = 0; turn < 2 * times.size(); ++turn) {
      const size_t i = turn / 2;
      Program &program = i ? *programs[i - 1] : exact;
      TESSERA_ASSIGN(const LaunchInputs inputs, LaunchInputs::of(sample, program.plan()));
      outputs[i].resize(program.plan().outputs.size());
      const uint64_t start = launchClock(program);
      TESSERA_TRY(program.launch(inputs.raw, outputs[i]));
      if (round) // the first one warms up
        times[i].push_back(static_cast<double>(launchClock(program) - start));
      // An input that comes back as a result belonged to this launch.
      for (BufferRef &output : outputs[i])
        if (std::find(inputs.copies.begin(), inputs.copies.end(), output) != inputs.copies.end())
          output = nullptr;
    }
  exactNs = shortOf(times[0]);
  std::vector<double> shares;
  for (size_t i = 1; i < times.size(); ++i)
    shares.push_back(shortOf(times[i]) / exactNs);
  return shares;
}

// What is in the journal is not run again.
Result<std::vector<GraphTuner::Found>> GraphTuner::tryAll(std::span<const KnobMap> configurations,
                                                          const std::string &file) {
  std::vector<Found> found(configurations.size());
  std::vector<KnobMap> missing;
  std::vector<size_t> places;
  auto idOf = [](const KnobMap &knobs) { return "try " + dumpJson(Json(knobs)); };
  for (size_t i = 0; i < configurations.size(); ++i)
    if (const Json *old = journal->find(idOf(configurations[i]))) {
      found[i] = {old->at("time_us").get<double>(), old->at("figures").get<std::vector<double>>()};
    } else {
      missing.push_back(configurations[i]);
      places.push_back(i);
    }
  if (missing.empty())
    return found;
  const std::string path = concat(options.folder, "/", file, ".tsx");
  TESSERA_TRY(compiler(missing, path));
  TESSERA_ASSIGN(std::shared_ptr<const Module> module, Module::load(path));
  std::vector<std::shared_ptr<Program>> programs;
  for (size_t i = 0; i < missing.size(); ++i) {
    TESSERA_ASSIGN(std::shared_ptr<Program> program, Program::open(module, concat("p", i), exact->options()));
    programs.push_back(std::move(program));
  }
  double exactNs = 0;
  TESSERA_ASSIGN(const std::vector<double> shares,
                 measureShares(*exact, programs, judge->largest(), exactNs));
  if (const Json *old = journal->find("exact"); old && old->is_number())
    exactMicroseconds = old->get<double>();
  else {
    exactMicroseconds = exactNs / 1e3;
    TESSERA_TRY(journal->add("exact", exactMicroseconds));
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    Found &own = found[places[i]];
    own.microseconds = shares[i] * exactMicroseconds;
    TESSERA_ASSIGN(own.figures, judge->judge(*programs[i]));
    ++cost.evaluations;
    TESSERA_TRY(journal->add(idOf(missing[i]), {{"time_us", own.microseconds}, {"figures", own.figures}}));
  }
  return found;
}

double GraphTuner::searched(const Found &found) const {
  return mean(std::span(found.figures).first(searchCount));
}

Status GraphTuner::profile() {
  for (size_t n = 0; n < nodes.size(); ++n) {
    std::vector<KnobMap> alone;
    std::vector<std::string> tried;
    // Half of the budget is for whole configurations. A node that is not profiled stays exact.
    const bool isLeftOut = n && isUsedUp(0.5, concat("with ", n, " of ", nodes.size(), " nodes profiled"));
    for (const std::string &knob : std::span(nodes[n].knobs).subspan(1))
      if (!isLeftOut && !isVariant(nodes[n], knob)) {
        alone.push_back({{nodes[n].name, knob}});
        tried.push_back(knob);
      }
    TESSERA_ASSIGN(const std::vector<Found> found, tryAll(alone, concat("node", n)));
    if (const Json *old = journal->find("exact"); old && old->is_number())
      exactMicroseconds = old->get<double>();
    Operation op{nodes[n].name, {{nodes[n].knobs[0], 0, 0}}};
    records.emplace_back();
    for (size_t k = 0; k < found.size(); ++k) {
      // What is not faster is of no use, however good it is.
      if (found[k].microseconds > 0.98 * exactMicroseconds)
        continue;
      const double quality = searched(found[k]);
      op.choices.push_back({tried[k], found[k].microseconds - exactMicroseconds, damageOf(quality)});
      records.back().push_back({tried[k], -judge->lossOf(quality), damageOf(quality), found[k].microseconds});
    }
    tell(concat("profiled ", nodes[n].name, ": ", op.choices.size() - 1, " of ", tried.size(),
                " knobs are faster here"));
    operations.push_back(std::move(op));
  }
  return Status();
}

double GraphTuner::costOf(std::span<const uint16_t> picks) const {
  double time = exactMicroseconds;
  for (size_t i = 0; i < picks.size(); ++i)
    time += operations[i].choices[picks[i]].cost;
  return std::max(0.02, time / exactMicroseconds);
}

double GraphTuner::damageSum(std::span<const uint16_t> picks) const {
  double damage = 0;
  for (size_t i = 0; i < picks.size(); ++i)
    damage += operations[i].choices[picks[i]].loss;
  return damage;
}

KnobMap GraphTuner::knobsOf(std::span<const uint16_t> picks) const {
  KnobMap knobs;
  for (size_t i = 0; i < picks.size(); ++i)
    if (picks[i])
      knobs[nodes[i].name] = operations[i].choices[picks[i]].knob;
  return knobs;
}

// The front of the additive model.
std::vector<std::vector<uint16_t>> GraphTuner::search() {
  // Errors of several nodes may cancel: look a little beyond.
  const double most = 2 * damageOfLoss(options.goals.back());
  std::vector<Point> front = solveFront(operations, most, most / 2000);
  for (Point &p : front)
    p.cost = costOf(p.picks);
  std::vector<std::vector<uint16_t>> proposals;
  auto propose = [&](const std::vector<uint16_t> &picks) {
    const bool isExact = std::all_of(picks.begin(), picks.end(), [](uint16_t p) { return p == 0; });
    if (!isExact && std::find(proposals.begin(), proposals.end(), picks) == proposals.end())
      proposals.push_back(picks);
  };
  for (const Point &p : spread(front, static_cast<size_t>(options.candidates)))
    propose(p.picks);
  return proposals;
}

Status GraphTuner::validate(const std::vector<std::vector<uint16_t>> &proposals) {
  std::vector<KnobMap> configurations;
  for (const std::vector<uint16_t> &picks : proposals)
    configurations.push_back(knobsOf(picks));
  TESSERA_ASSIGN(std::vector<Found> found, tryAll(configurations, "candidates"));
  double error = 0;
  for (size_t i = 0; i < proposals.size(); ++i) {
    Candidate candidate{configurations[i], qualityOf(damageSum(proposals[i])), std::move(found[i])};
    error += std::fabs(candidate.predicted - searched(candidate.found));
    candidates.push_back(std::move(candidate));
  }
  cost.predictionError = candidates.empty() ? 0 : error / double(candidates.size());
  tell(concat("tried ", candidates.size(), " configurations"));
  return Status();
}

// The candidates that no other one beats in both time and damage, ordered by damage.
std::vector<const GraphTuner::Candidate *> GraphTuner::front() const {
  std::vector<const Candidate *> all;
  for (const Candidate &c : candidates)
    all.push_back(&c);
  auto key = [&](const Candidate *c) {
    return std::pair(damageOf(searched(c->found)), c->found.microseconds);
  };
  std::stable_sort(all.begin(), all.end(), [&](auto *a, auto *b) { return key(a) < key(b); });
  double fastest = exactMicroseconds;
  std::erase_if(all, [&](const Candidate *c) {
    const bool slower = c->found.microseconds >= fastest;
    fastest = std::min(fastest, c->found.microseconds);
    return slower;
  });
  return all;
}

bool GraphTuner::isKnown(const KnobMap &knobs, std::span<const KnobMap> chosen) const {
  return std::find(chosen.begin(), chosen.end(), knobs) != chosen.end() ||
         std::any_of(candidates.begin(), candidates.end(),
                     [&](const Candidate &c) { return c.knobs == knobs; });
}

Status GraphTuner::tryTogether(std::vector<KnobMap> chosen, const std::string &file) {
  TESSERA_ASSIGN(std::vector<Found> found, tryAll(chosen, file));
  for (size_t i = 0; i < chosen.size(); ++i) {
    const double quality = searched(found[i]); // nothing had to be predicted
    candidates.push_back({std::move(chosen[i]), quality, std::move(found[i])});
  }
  return Status();
}

// One knob for all nodes, as a user would try it: rows that all of them leave out are missed but once, and a
// precision that they share spares the conversions that one alone pays for.
Status GraphTuner::tryUniform() {
  std::vector<KnobMap> uniform;
  for (const TunableNode &first : nodes)
    for (const std::string &knob : std::span(first.knobs).subspan(1)) {
      KnobMap knobs;
      for (const TunableNode &node : nodes)
        if (std::find(node.knobs.begin(), node.knobs.end(), knob) != node.knobs.end())
          knobs[node.name] = knob;
      if (knobs.size() > 1 && !isVariant(first, knob) && !isKnown(knobs, uniform))
        uniform.push_back(std::move(knobs));
    }
  return uniform.empty() ? Status() : tryTogether(std::move(uniform), "uniform");
}

// Where the next steps start: the exact program, and the front in an order by chance, since it may have more
// points than a round has trials; those next to a goal count for more.
std::vector<GraphTuner::Start> GraphTuner::startsOf(Stream &random) const {
  const double worst = damageOfLoss(options.goals.back());
  std::vector<Start> starts = {{KnobMap(), 1}};
  const std::vector<const Candidate *> points = front();
  auto damageAt = [&](size_t i) { return damageOf(searched(points[i]->found)); };
  for (size_t i = 0; i < points.size() && damageAt(i) <= worst; ++i) {
    const double before = i ? damageAt(i - 1) : 0,
                 behind = i + 2 < points.size() ? damageAt(i + 2) : std::numeric_limits<double>::infinity();
    const bool isNear = std::ranges::any_of(options.goals, [&](double loss) {
      const double goal = damageOfLoss(loss);
      return before <= goal && goal < behind;
    });
    starts.push_back({points[i]->knobs, isNear ? 3 : 1});
  }
  for (size_t i = starts.size(); i > 1; --i)
    std::swap(starts[i - 1], starts[random.below(i)]);
  return starts;
}

// Knobs of neighbouring nodes work together in ways that no sum of their single effects shows: steps from the
// front are tried in the whole program, those from each of its points in turn.
Status GraphTuner::refine() {
  Stream random(options.seed + 1);
  for (int round = 0; round < refineRounds; ++round) {
    if (isUsedUp(1, concat("after ", round, " of ", refineRounds, " rounds of steps")))
      break;
    const std::vector<Start> starts = startsOf(random);
    std::vector<std::vector<KnobMap>> steps;
    for (const Start &start : starts)
      steps.push_back(round % 2 ? singleStepsOf(nodes, start.knobs) : jointStepsOf(nodes, start.knobs));
    std::vector<KnobMap> chosen;
    const auto most = static_cast<size_t>(2 * options.candidates);
    // One that is new, by chance.
    auto choose = [&](std::vector<KnobMap> &own) {
      while (!own.empty() && chosen.size() < most) {
        std::swap(own.back(), own[random.below(own.size())]);
        KnobMap step = std::move(own.back());
        own.pop_back();
        if (!step.empty() && !isKnown(step, chosen)) {
          chosen.push_back(std::move(step));
          return true;
        }
      }
      return false;
    };
    for (bool some = true; some && chosen.size() < most;) {
      some = false;
      for (size_t s = 0; s < steps.size(); ++s)
        for (int turn = 0; turn < starts[s].turns; ++turn)
          some = choose(steps[s]) || some;
    }
    if (chosen.empty())
      break;
    TESSERA_TRY(tryTogether(std::move(chosen), concat("round", round)));
    tell(concat("round ", round + 1, " of ", refineRounds, ": ", front().size(),
                " configurations on the front"));
  }
  return Status();
}

Configuration GraphTuner::describe(const Candidate &candidate) const {
  Configuration c;
  c.knobs = candidate.knobs;
  c.predicted = {candidate.predicted, candidate.predicted, candidate.predicted,
                 candidate.found.microseconds / exactMicroseconds};
  const std::span<const double> held = std::span(candidate.found.figures).subspan(searchCount);
  c.measured = judge->summarise(held, options.confidence);
  return c;
}

Curve GraphTuner::curve() const {
  Curve curve;
  curve.program = digest;
  curve.network = name;
  curve.metric = options.metric;
  curve.data = options.data;
  curve.confidence = options.confidence;
  curve.tuning = cost;
  const double exactQuality = judge->exactQuality();
  curve.baselineQuality = exactQuality;
  curve.baselineCount = cost.validated;
  for (size_t i = 0; i < exact->plan().inputs.size(); ++i) {
    const std::string &input = exact->plan().inputs[i].name;
    Buffer &buffer = *judge->largest().inputs[i];
    curve.shapes[input] = buffer.shape();
    if (buffer.shape().empty() && buffer.type() <= ElementType::Index)
      if (Result<std::byte *> memory = buffer.hostRead(); memory.ok())
        curve.numbers[input] = loadScalar(buffer.type(), *memory);
  }
  for (size_t n = 0; n < nodes.size(); ++n)
    curve.operations.push_back(
        {nodes[n].name, nodes[n].kind, nodes[n].shape, nodes[n].flops, exactMicroseconds, {}, records[n]});
  Configuration baseline;
  baseline.name = "baseline";
  baseline.predicted = {exactQuality, exactQuality, exactQuality, 1};
  baseline.measured = {exactQuality, exactQuality, exactQuality, 0, 0, cost.validated};
  curve.configurations.push_back(std::move(baseline));
  std::vector<Configuration> all;
  for (const Candidate &candidate : candidates)
    all.push_back(describe(candidate));
  std::stable_sort(all.begin(), all.end(), [](const Configuration &a, const Configuration &b) {
    return std::tie(a.measured->lossHigh, a.predicted.cost) <
           std::tie(b.measured->lossHigh, b.predicted.cost);
  });
  // Whole programs were measured: what another one beats in both is left out.
  double fastest = 1;
  for (Configuration &c : all) {
    if (c.measured->loss > options.goals.back() || c.predicted.cost > fastest)
      continue;
    fastest = std::min(fastest, c.predicted.cost);
    c.name = concat("c", curve.configurations.size() - 1);
    curve.configurations.push_back(std::move(c));
  }
  curve.chosen = "baseline";
  return curve;
}

} // namespace tessera::tune
