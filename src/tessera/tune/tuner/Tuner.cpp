// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/tuner/Tuner.h"

#include "tessera/base/CpuInfo.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/runtime/trace/Trace.h"

#include <algorithm>
#include <cmath>

namespace tessera::tune {

using Json = nlohmann::json;

void Tuner::tell(const std::string &text) const {
  if (!options.quiet)
    std::fprintf(stderr, "%s\n", text.c_str());
}

Result<Curve> Tuner::tune() {
  budget = Budget(options.budget);
  TESSERA_TRY(prepare());
  uint64_t start = nowNanoseconds();
  TESSERA_TRY(profile());
  TESSERA_TRY(measureInBytes());
  cost.profileSeconds = secondsSince(start);
  TESSERA_TRY(search());
  start = nowNanoseconds();
  TESSERA_TRY(validate());
  cost.validateSeconds = secondsSince(start);
  tellCut();
  return curve();
}

static bool isFinite(const Scores &scores) {
  return std::ranges::all_of(scores.values, [](float score) { return std::isfinite(score); });
}

std::vector<int32_t> Tuner::labelsOf(std::span<const int64_t> items) const {
  std::vector<int32_t> labels;
  for (int64_t item : items)
    labels.push_back(static_cast<int32_t>(data.label[static_cast<size_t>(item)]));
  return labels;
}

// Samples dealt out, the exact pieces compiled and run.
Status Tuner::prepare() {
  const int64_t end = options.limit ? std::min(data.size(), options.skip + options.limit) : data.size();
  if (options.skip >= end)
    return fail(StatusCode::InvalidArgument, "--skip: ", data.name, " has ", data.size(),
                " samples, but got ", options.skip);
  const int64_t count = end - options.skip;
  if (options.images >= count)
    return fail(StatusCode::InvalidArgument, "--images: expected fewer than the ", count,
                " samples of the data, so that some are left to validate with, but got ", options.images);
  DealtItems dealt = dealItems(data, options.skip, end, options.images, options.seed);
  searchItems = std::move(dealt.search);
  heldBack = std::move(dealt.heldBack);
  cost.seed = options.seed;
  cost.images = static_cast<int64_t>(searchItems.size());
  cost.validated = static_cast<int64_t>(heldBack.size());
  cost.batch = options.batch;
  cost.skip = options.skip;

  std::string key =
      concat(program, " ", options.machine, " ", TESSERA_VERSION, " ", data.name, " ", options.skip, " ", end,
             " ", options.images, " ", options.batch, " ", options.seed, " ", options.metric.k);
  for (float v : options.normalise.mean)
    key += concat(" ", v);
  for (const Segment &segment : network.segments)
    for (const std::string &knob : segment.knobs)
      key += " " + knob;
  TESSERA_ASSIGN(journal, Journal::open(options.folder + "/journal.jsonl", key));
  if (journal->size())
    tell(concat("going on with ", journal->size(), " results of an earlier run in '", options.folder, "'"));
  TESSERA_ASSIGN(costs, Journal::open(options.costs, concat("costs ", TESSERA_VERSION, " ", cpuInfo().name,
                                                            " ", cpuFeatureString())));

  std::vector<PieceName> pieces;
  for (size_t s = 0; s < network.segments.size(); ++s)
    pieces.push_back({s, 0, network.segments[s].knobs[0]});
  TESSERA_ASSIGN(std::shared_ptr<const Module> module, compile(pieces, "exact"));
  TESSERA_ASSIGN(feed, Feed::match(data, module->plan().programs[0], options.normalise));
  TESSERA_ASSIGN(runner, Runner::create(network, *feed, module, options.batch, options.threads));
  TESSERA_ASSIGN(Runner::Exact found, runner->runExact(searchItems));
  if (!isFinite(found.scores))
    return fail(StatusCode::InvalidArgument, "'", network.name,
                "' gives scores that are NaN or infinite without any knob; approximations cannot be compared "
                "with them");
  exact = std::move(found.scores);
  for (size_t s = 0; s < network.segments.size(); ++s)
    if (network.segments[s].activation >= 0)
      ranges[network.segments[s].name] = network.segments[s].range.value_or(found.ranges[s]);
  model.emplace(exact, labelsOf(searchItems), options.metric.k);
  return Status();
}

Result<std::shared_ptr<const Module>> Tuner::compile(std::span<const PieceName> pieces,
                                                     const std::string &name) {
  const std::string path = concat(options.folder, "/", name, ".tsx");
  if (!journal->find("compiled " + name) || !fileExists(path)) {
    TESSERA_TRY(compiler(pieces, ranges, path));
    TESSERA_TRY(journal->add("compiled " + name, true));
  }
  return Module::load(path);
}

// Which share of profiling is done when this segment is: each profile runs the network from its operation on.
double Tuner::profiledShare(size_t segment) const {
  double rest = 0, done = 0, all = 0;
  for (size_t s = network.segments.size(); s-- > 0;) {
    rest += network.segments[s].flops;
    const double work = rest * static_cast<double>(network.segments[s].knobs.size() - 1);
    all += work;
    done += s <= segment ? work : 0;
  }
  return all > 0 ? done / all : 1;
}

static bool isPlain(std::string_view knob) { return knob.find(':') == std::string_view::npos; }

// Before all others. What an earlier run did is in the journal and takes no time; and each run does
// something, so that the same command gets on however small its budget is.
Tuner::Effort Tuner::effortAtFirst(size_t segment) const {
  const Segment &info = network.segments[segment];
  if (std::ranges::count_if(info.knobs, isPlain) < 2) // the exact one
    return Effort::None;
  if (const Json *before = journal->find("profiled " + info.name))
    return *before == true ? Effort::None : Effort::Plain; // all of it comes later
  return cost.evaluations == 0 || !budget.isUsed(profileShare) ? Effort::Plain : Effort::None;
}

// All its knobs, unless it should be done by now.
Tuner::Effort Tuner::effortFor(size_t segment, double from) const {
  const Json *before = journal->find("profiled " + network.segments[segment].name);
  const double due = from + (profileShare - from) * profiledShare(segment);
  if (!budget.isUsed(due) || (before && *before == true))
    return Effort::All;
  return before ? Effort::Plain : Effort::None;
}

// Remembers whether a segment was tried under all its knobs.
Status Tuner::noteEffort(size_t segment, Effort effort) {
  const Segment &info = network.segments[segment];
  if (info.name.empty() || effort == Effort::None)
    return Status();
  const bool isWhole = effort == Effort::All || std::ranges::all_of(info.knobs, isPlain);
  ++(isWhole ? wholeProfiles : plainProfiles);
  const std::string id = "profiled " + info.name;
  const Json *before = journal->find(id);
  return before && *before == isWhole ? Status() : journal->add(id, isWhole);
}

// Says what a budget left out.
void Tuner::tellCut() {
  const auto all = static_cast<size_t>(
      std::ranges::count_if(network.segments, [](const Segment &s) { return !s.name.empty(); }));
  const auto cut = std::ranges::count_if(candidates, &Candidate::isCut);
  cost.isCut |= cut > 0 || wholeProfiles < all;
  if (!cost.isCut)
    return;
  tell(concat("the budget is used up: ", wholeProfiles, " of ", all, " operations profiled",
              plainProfiles ? concat(", ", plainProfiles, " more under plain conversions alone") : "", ", ",
              static_cast<int64_t>(candidates.size()) - cut, " of ", candidates.size(),
              " configurations validated; the same command goes on from here"));
}

Status Tuner::profile() {
  auto profileAll = [&](auto &&effortOf) -> Status {
    TESSERA_TRY(runner->start(searchItems));
    for (size_t s = 0; s < network.segments.size(); ++s) {
      TESSERA_TRY(profileSegment(s, effortOf(s)));
      TESSERA_TRY(runner->advance());
    }
    return Status();
  };
  // With a budget plain conversions come first, since they gain most; the journal hands on what was found.
  if (options.budget > 0) {
    TESSERA_TRY(profileAll([&](size_t s) { return effortAtFirst(s); }));
    input = {};
    records.clear();
    knobs.clear();
    exactMicroseconds.clear();
    wholeProfiles = plainProfiles = 0;
  }
  const double from = std::min(budget.used(), profileShare);
  return profileAll([&](size_t s) { return effortFor(s, from); });
}

std::string Tuner::measuredHow() const {
  return concat("batch ", options.batch, ", one thread",
                options.machine.empty() ? "" : ", " + options.machine);
}

// Measured times, from the table of this machine where they are known.
Status Tuner::costsOf(size_t segment, std::span<const uint16_t> available,
                      std::vector<double> &microseconds) {
  const Segment &info = network.segments[segment];
  if (options.portable) {
    std::copy(info.work.begin(), info.work.end(), microseconds.begin());
    return Status();
  }
  auto key = [&](size_t k) {
    return concat(info.name.empty() ? network.name : info.shape, " | ", info.knobs[k], " | ", measuredHow());
  };
  std::vector<uint16_t> missing;
  for (uint16_t k : available)
    if (const Json *known = costs->find(key(k)); known && *known > 0)
      microseconds[k] = known->get<double>();
    else
      missing.push_back(k);
  if (missing.empty())
    return Status();
  // Whoever is measured anew is compared with the exact piece under the same load.
  if (missing[0] != 0)
    missing.insert(missing.begin(), 0);
  TESSERA_ASSIGN(std::vector<double> times, runner->measure(missing));
  const double known = microseconds[0] > 0 ? microseconds[0] : times[0];
  for (size_t i = 0; i < missing.size(); ++i) {
    if (missing[i] == 0 && microseconds[0] > 0)
      continue;
    microseconds[missing[i]] = times[0] > 0 ? times[i] / times[0] * known : times[i];
    TESSERA_TRY(costs->add(key(missing[i]), microseconds[missing[i]]));
  }
  return Status();
}

// The knobs of a segment for which there is code, the exact one first.
Result<std::vector<uint16_t>> Tuner::compileVariants(size_t segment, Effort effort) {
  const Segment &info = network.segments[segment];
  std::vector<uint16_t> available = {0};
  std::vector<PieceName> pieces;
  for (size_t k = 1; k < info.knobs.size(); ++k)
    if (effort == Effort::All || (effort == Effort::Plain && isPlain(info.knobs[k])))
      pieces.push_back({segment, k, info.knobs[k]});
  if (pieces.empty())
    return available;
  Result<std::shared_ptr<const Module>> all =
      compile(pieces, concat(pieces.size() + 1 == info.knobs.size() ? "piece" : "plain", segment));
  for (const PieceName &piece : pieces) {
    // When they do not compile together, each is tried alone.
    Result<std::shared_ptr<const Module>> module =
        all.ok() ? all : compile({&piece, 1}, concat("piece", segment, "-", piece.index));
    if (!module.ok() && module.status().code() != StatusCode::Unsupported)
      return module.status();
    if (!module.ok()) {
      tell(concat("left out: ", info.name, " with ", piece.knob, ": ", module.status().message()));
      continue;
    }
    runner->add(segment, piece.index, *module);
    available.push_back(static_cast<uint16_t>(piece.index));
  }
  return available;
}

static bool isPlainBytes(std::string_view knob) { return isBytes(knob) && knob.size() == 4; }

const Choice *plainBytes(const Operation &op) {
  auto found = std::ranges::find_if(op.choices, [](const Choice &c) { return isPlainBytes(c.knob); });
  return found == op.choices.end() ? nullptr : &*found;
}

Status Tuner::profileSegment(size_t segment, Effort effort) {
  const Segment &info = network.segments[segment];
  const int64_t runsBefore = cost.evaluations;
  TESSERA_ASSIGN(const std::vector<uint16_t> available, compileVariants(segment, effort));
  std::vector<double> microseconds(info.knobs.size());
  TESSERA_TRY(costsOf(segment, available, microseconds));
  exactMicroseconds.push_back(microseconds[0]);
  Operation op;
  op.name = info.name;
  op.choices = {{info.knobs[0], microseconds[0], 0}};
  input.noise.push_back({0});
  knobs.push_back({0});
  records.emplace_back();
  for (uint16_t k : available) {
    // What is not faster is of no use, however good it is. A piece in bytes alone quantises and scales back,
    // which it does not between others of its kind.
    if (k == 0 || (microseconds[k] > 0.97 * microseconds[0] && !isPlainBytes(info.knobs[k])))
      continue;
    const std::string id = concat("profile ", info.name, " ", info.knobs[k]);
    Scores scores;
    scores.items = exact.items;
    scores.classes = exact.classes;
    double error = 0;
    if (const Json *old = journal->find(id)) {
      scores.values = old->at("scores").get<std::vector<float>>();
      error = old->at("error").get<double>();
    } else {
      TESSERA_ASSIGN(Runner::Profiled profiled, runner->profile(k));
      scores = std::move(profiled.scores);
      error = profiled.error;
      ++cost.evaluations;
      // JSON has no others.
      if (isFinite(scores))
        TESSERA_TRY(journal->add(id, {{"error", error}, {"scores", scores.values}}));
    }
    if (!isFinite(scores))
      continue;
    const auto choice = op.choices.size();
    model->add(segment, choice, scores);
    std::vector<uint16_t> alone(network.segments.size(), 0);
    alone[segment] = static_cast<uint16_t>(choice);
    const double loss = model->predict(alone).loss();
    op.choices.push_back({info.knobs[k], microseconds[k], loss});
    input.noise.back().push_back(meanSquaredChange(scores.values, exact.values));
    knobs.back().push_back(k);
    records.back().push_back({info.knobs[k], -100 * loss, error, microseconds[k]});
  }
  if (!info.name.empty() && (effort == Effort::All || cost.evaluations > runsBefore))
    tell(concat("profiled ", info.name, effort == Effort::Plain ? " under plain conversions: " : ": ",
                op.choices.size() - 1, " of ", info.knobs.size() - 1, " knobs are faster here"));
  input.operations.push_back(std::move(op));
  return noteEffort(segment, effort);
}

double Tuner::costOf(std::span<const uint16_t> picks) const {
  const SearchInput &costs = isInBytes(picks) ? preferring : input;
  double own = 0, all = 0;
  for (size_t i = 0; i < picks.size(); ++i) {
    own += costs.operations[i].choices[picks[i]].cost;
    all += exactMicroseconds[i];
  }
  return all > 0 ? own / all : 1;
}

std::string Tuner::spell(std::span<const uint16_t> picks) const {
  std::string text;
  for (size_t i = 0; i < picks.size(); ++i)
    if (picks[i])
      text += concat(text.empty() ? "" : ",", network.segments[i].name, "=",
                     input.operations[i].choices[picks[i]].knob);
  return text;
}

Picks Tuner::piecesOf(std::span<const uint16_t> picks) const {
  Picks pieces;
  for (size_t i = 0; i < picks.size(); ++i)
    pieces.push_back(knobs[i][picks[i]]);
  return pieces;
}

// Whether a configuration is run to learn from it; late in a budget the time is kept for validation.
bool Tuner::hasTimeFor(std::span<const uint16_t> picks) {
  const bool isLate = budget.isUsed(searchShare) && !journal->find("search " + spell(picks));
  cost.isCut |= isLate;
  return !isLate;
}

// The scores on the samples of the search, by running it.
Result<Scores> Tuner::measureOnProfile(std::span<const uint16_t> picks) {
  const std::string id = "search " + spell(picks);
  if (const Json *old = journal->find(id)) {
    Scores scores = exact;
    scores.values = old->get<std::vector<float>>();
    return scores;
  }
  const Picks pieces = piecesOf(picks);
  TESSERA_ASSIGN(std::vector<Scores> scores, runner->run({&pieces, 1}, searchItems));
  ++cost.evaluations;
  if (isFinite(scores[0]))
    TESSERA_TRY(journal->add(id, scores[0].values));
  return std::move(scores[0]);
}

static int64_t countApproximated(std::span<const uint16_t> picks) {
  return static_cast<int64_t>(picks.size()) - std::count(picks.begin(), picks.end(), 0);
}

bool Tuner::isInBytes(std::span<const uint16_t> picks) const {
  int64_t all = 0, others = 0;
  for (size_t i = 0; i < picks.size(); ++i)
    if (const Operation &op = input.operations[i]; plainBytes(op)) {
      ++all;
      others += !isBytes(op.choices[picks[i]].knob);
    }
  return all > 0 && 8 * others <= all;
}

// Some of all parts of a list come first: when not all are run, those are as different as they can be.
template <typename T> static void mix(std::span<T> list) {
  constexpr size_t stride = 4;
  std::vector<T> mixed;
  for (size_t first : {3, 1, 0, 2})
    for (size_t i = first; i < list.size(); i += stride)
      mixed.push_back(std::move(list[i]));
  std::ranges::move(mixed, list.begin());
}

Status Tuner::search() {
  auto plain = [&](auto &&isThis) {
    std::vector<uint16_t> picks(input.operations.size(), 0);
    for (size_t i = 0; i < picks.size(); ++i)
      for (size_t c = 1; c < input.operations[i].choices.size(); ++c)
        if (isThis(input.operations[i].choices[c].knob))
          picks[i] = static_cast<uint16_t>(c);
    return picks;
  };
  input.model = &*model;
  input.uncertainty = &uncertainty;
  SearchOptions search;
  search.maxLoss = options.maxLoss() / 100;
  search.seed = options.seed;
  auto timed = [&](const SearchInput &in) {
    const uint64_t start = nowNanoseconds();
    std::vector<Point> front = searchFront(in, search);
    cost.searchSeconds += secondsSince(start);
    return front;
  };
  // A few measured configurations say by how much changes of outputs add up.
  std::vector<std::vector<uint16_t>> tried;
  std::vector<Scores> found;
  std::vector<double> losses;
  for (const Point &p : spread(timed(input), 6)) {
    if (countApproximated(p.picks) == 0 || !hasTimeFor(p.picks))
      continue;
    TESSERA_ASSIGN(Scores scores, measureOnProfile(p.picks));
    tried.push_back(p.picks);
    losses.push_back(model->lossOf(scores).loss());
    found.push_back(std::move(scores));
  }
  model->fitScale(tried, losses);
  cost.scale = model->scale();
  // From here on predictions start from the nearest configuration that was run.
  auto learn = [&](double predicted, const std::vector<uint16_t> &picks, Scores scores) {
    uncertainty.observe(predicted, model->lossOf(scores).loss());
    if (isFinite(scores))
      model->observe(picks, std::move(scores));
  };
  model->observe(std::vector<uint16_t>(input.operations.size(), 0), exact);
  for (size_t i = 0; i < tried.size(); ++i)
    learn(model->predict(tried[i]).loss(), tried[i], std::move(found[i]));
  tell(concat("predicted errors add linearly (scale ", formatFixed(model->scale(), 2), ")"));

  double error = 0;
  int64_t predicted = 0; // on the front: plain conversions may be far beyond it
  auto consider = [&](const std::vector<uint16_t> &picks) -> Status {
    auto same = [&](const Candidate &c) { return c.picks == picks; };
    if (countApproximated(picks) == 0 || std::ranges::any_of(candidates, same))
      return Status();
    candidates.push_back(candidateOf(picks));
    if (std::ranges::find(tried, picks) != tried.end() || !hasTimeFor(picks))
      return Status();
    const double expected = candidates.back().predicted.loss;
    TESSERA_ASSIGN(Scores scores, measureOnProfile(picks));
    if (expected <= search.maxLoss) {
      error += std::fabs(expected - model->lossOf(scores).loss());
      ++predicted;
    }
    learn(expected, picks, std::move(scores));
    return Status();
  };
  auto considerSome = [&](const std::vector<Point> &points, int64_t share) -> Status {
    for (const Point &p :
         spread(points, static_cast<size_t>(std::max<int64_t>(1, options.candidates / share))))
      TESSERA_TRY(consider(p.picks));
    return Status();
  };
  // Plain conversions first, since others are near them: one precision for all, as other tools make them.
  preferring = preferBytes();
  const std::vector<uint16_t> bytes = plain([](std::string_view knob) { return isPlainBytes(knob); });
  TESSERA_TRY(consider(bytes));
  TESSERA_TRY(consider(plain([](std::string_view knob) { return knob == "bf16"; })));
  const size_t plainCount = candidates.size();
  // Of what prefers bytes, only what is faster than bytes alone: slower ones with more exact operations are
  // among the others.
  double most = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    most += preferring.operations[i].choices[bytes[i]].cost;
  front = timed(preferring);
  std::erase_if(front, [&](const Point &p) { return p.cost > 1.001 * most; });
  TESSERA_TRY(considerSome(front, 1));
  TESSERA_TRY(considerSome(timed(input), 2));
  // The same with costs that know no machine, for those that this one is not.
  SearchInput portable = input;
  for (size_t i = 0; i < portable.operations.size(); ++i)
    for (size_t c = 0; c < portable.operations[i].choices.size(); ++c)
      portable.operations[i].choices[c].cost =
          network.segments[i].work.empty() ? 0 : network.segments[i].work[knobs[i][c]];
  TESSERA_TRY(considerSome(timed(portable), 4));
  if (options.budget > 0)
    mix(std::span(candidates).subspan(plainCount));
  cost.predictionError = predicted ? 100 * error / static_cast<double>(predicted) : 0;
  tell(concat("search: ", candidates.size(), " candidates in ", formatFixed(cost.searchSeconds, 2),
              " s, mean error of prediction ", formatFixed(cost.predictionError, 2), " points"));
  return Status();
}

Tuner::Candidate Tuner::candidateOf(const std::vector<uint16_t> &picks) const {
  Candidate candidate;
  candidate.picks = picks;
  candidate.cost = costOf(picks);
  candidate.inBytes = isInBytes(picks);
  candidate.predicted = predict(input, picks);
  return candidate;
}

} // namespace tessera::tune
