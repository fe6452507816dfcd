// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera verify`: all that a tuned and installed file claims of its configurations, quality, loss, speed
// and energy, measured again and compared.
#include "DataOptions.h"
#include "Tool.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Json.h"
#include "tessera/base/Output.h"
#include "tessera/tune/curve/Claims.h"
#include "tessera/tune/curve/CurveFile.h"
#include "tessera/tune/metrics/Judge.h"
#include "tessera/tune/samples/Feed.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tessera::tool {

namespace {
struct VerifyOptions {
  OpenOptions open;
  DataOptions data;
  std::string json;
  double seconds = 1, tolerance = 5;
};

/// Programs of a tuned file, the exact one first, and what is known of them.
struct Verified {
  tune::Curve curve;
  std::vector<const tune::Configuration *> configurations;
  std::vector<std::shared_ptr<Program>> programs;
  std::string samples; ///< which they were, in words
  std::vector<tune::Configuration::Measured> qualities;
  bool higherIsBetter = true;
};
} // namespace

static void showProgress(const std::string &text) {
  if (isatty(STDERR_FILENO))
    std::fprintf(stderr, "\r%-60s\r", text.c_str());
}

// The exact one, and those that were asked for: all that are shipped, or one.
static Result<Verified> openShipped(const VerifyOptions &options) {
  TESSERA_ASSIGN(const std::shared_ptr<Program> opened, options.open.open(/*profile=*/false));
  Verified verified;
  TESSERA_ASSIGN(std::optional<tune::Curve> curve, tune::readCurve(opened->module().file()));
  if (!curve)
    return fail(StatusCode::InvalidArgument, "'", options.open.file,
                "' holds no claims to verify; tune the program and install it with --loss");
  verified.curve = std::move(*curve);
  for (const tune::Configuration &c : verified.curve.configurations) {
    const bool isAsked = options.open.configuration.empty() || c.name == options.open.configuration;
    if (!c.shipped || (!c.knobs.empty() && !isAsked))
      continue;
    TESSERA_ASSIGN(std::shared_ptr<Program> program,
                   Program::open(opened->sharedModule(), verified.curve.programName(c), opened->options()));
    verified.configurations.push_back(&c);
    verified.programs.push_back(std::move(program));
  }
  return verified;
}

// Without a choice of the user's: those that the claims were made on.
static bool areClaimed(const VerifyOptions &options, const Verified &verified, const std::string &name,
                       size_t count) {
  const tune::Curve::Tuning &t = verified.curve.tuning;
  return !options.data.skip && !options.data.limit && name == verified.curve.data &&
         static_cast<int64_t>(count) >= t.skip + t.images + t.validated;
}

static std::string describeSamples(const std::string &name, size_t count, bool claimed) {
  return concat(count, " samples of ", name, claimed ? ", which the claims were made on" : "");
}

static Result<std::vector<uint8_t>> answersOf(Program &program, const LabelledSamples &samples,
                                              const tune::Feed &feed, int k) {
  const ProgramPlan &plan = program.plan();
  TESSERA_ASSIGN(const size_t out, tune::chooseOutput(plan, ""));
  const size_t batch = feed.fixedBatch() >= 0 ? static_cast<size_t>(feed.fixedBatch()) : 64;
  tune::Scores scores;
  for (size_t begin = 0; begin < samples.items.size(); begin += batch) {
    const size_t now = std::min(batch, samples.items.size() - begin);
    TESSERA_ASSIGN(const BufferRef input, feed.batch(std::span(samples.items).subspan(begin, now)));
    std::vector<BufferRef> outputs(plan.outputs.size());
    Buffer *raw = input.get();
    TESSERA_TRY(program.launch({&raw, 1}, outputs));
    TESSERA_TRY(tune::appendScores(*outputs[out], plan.outputs[out].name,
                                   static_cast<int64_t>(feed.fixedBatch() >= 0 ? batch : now),
                                   static_cast<int64_t>(now), scores));
  }
  return tune::correctItems(scores, samples.labels, k);
}

static Status judgeByLabels(const VerifyOptions &options, Verified &verified) {
  const tune::Curve &curve = verified.curve;
  TESSERA_ASSIGN(LabelledSamples samples, options.data.labelled());
  const bool claimed = areClaimed(options, verified, samples.data.name, samples.items.size());
  if (claimed) {
    const tune::Curve::Tuning &t = curve.tuning;
    samples.items =
        tune::dealItems(samples.data, t.skip, t.skip + t.images + t.validated, t.images, t.seed).heldBack;
    samples.labels.clear();
    for (int64_t item : samples.items)
      samples.labels.push_back(static_cast<int32_t>(samples.data.label[static_cast<size_t>(item)]));
  }
  verified.samples = describeSamples(samples.data.name, samples.items.size(), claimed);
  TESSERA_ASSIGN(tune::Normalisation norm, tune::parseNormalisation(options.data.normalise));
  TESSERA_ASSIGN(const tune::Feed feed,
                 tune::Feed::match(samples.data, verified.programs[0]->plan(), std::move(norm)));
  TESSERA_ASSIGN(const tune::MetricKind metric, tune::parseMetric(curve.metric));
  std::vector<uint8_t> exact;
  for (size_t i = 0; i < verified.programs.size(); ++i) {
    showProgress(concat("samples: ", i + 1, " of ", verified.programs.size(), " configurations"));
    TESSERA_ASSIGN(const std::vector<uint8_t> right,
                   answersOf(*verified.programs[i], samples, feed, metric.k));
    if (i == 0)
      exact = right;
    const auto count = static_cast<int64_t>(right.size()), hits = std::count(right.begin(), right.end(), 1);
    const tune::Interval interval = tune::wilson(hits, count, curve.confidence);
    const tune::PairedLoss loss = tune::pairedLoss(exact, right);
    verified.qualities.push_back({100 * tune::share(right), 100 * interval.low, 100 * interval.high,
                                  100 * loss.loss(), i ? 100 * loss.upperBound(curve.confidence) : 0, count,
                                  i ? 100 * loss.lowerBound(curve.confidence) : 0});
  }
  return Status();
}

static Status judgeByExact(const VerifyOptions &options, Verified &verified) {
  const tune::Curve &curve = verified.curve;
  TESSERA_ASSIGN(std::vector<tune::Sample> samples, options.data.files(verified.programs[0]->plan()));
  const bool claimed = areClaimed(options, verified, options.data.data, samples.size());
  if (claimed) {
    tune::dealOut(samples, curve.tuning.seed);
    samples.erase(samples.begin(), samples.begin() + curve.tuning.images);
  }
  verified.samples = describeSamples(options.data.data, samples.size(), claimed);
  TESSERA_ASSIGN(tune::Judge judge, tune::Judge::create(verified.programs[0]->plan(), curve.metric));
  TESSERA_TRY(judge.learn(*verified.programs[0], std::move(samples)));
  verified.higherIsBetter = judge.higherIsBetter();
  for (size_t i = 0; i < verified.programs.size(); ++i) {
    showProgress(concat("samples: ", i + 1, " of ", verified.programs.size(), " configurations"));
    TESSERA_ASSIGN(const std::vector<double> qualities, judge.judge(*verified.programs[i]));
    verified.qualities.push_back(judge.summarise(qualities, curve.confidence));
  }
  return Status();
}

static std::string spell(const tune::Claim &claim, const tune::Estimate &figure, int digits) {
  auto number = [&](double value) {
    return claim.figure == "energy" ? formatJoules(value)
                                    : formatFixed(value, claim.figure == "speedup" ? 2 : digits);
  };
  return concat(number(figure.value), " (", number(figure.low), " to ", number(figure.high), ")");
}

using Claims = std::vector<std::vector<tune::Claim>>;

static void printClaims(const Verified &verified, const Claims &claims, const std::string &energySource,
                        unsigned threads) {
  const tune::Curve &curve = verified.curve;
  const int digits = tune::metricDigits(curve.metric);
  std::printf("%s on %s; speed and energy of %s with %u thread%s, energy %s; %.0f %% intervals\n",
              curve.network.c_str(), verified.samples.c_str(),
              isJudgedByExact(curve) ? "a launch" : concat("a batch of ", curve.tuning.batch).c_str(),
              threads, threads == 1 ? "" : "s", energySource.c_str(), 100 * curve.confidence);
  std::vector<std::vector<std::string>> rows = {{"", "", curve.metric, "loss", "times as fast", "energy"}};
  for (size_t i = 0; i < claims.size(); ++i) {
    std::vector<std::string> claimed = {verified.configurations[i]->name, "claimed"}, found = {"", "found"},
                             verdict = {"", ""};
    for (const tune::Claim &claim : claims[i]) {
      claimed.push_back(spell(claim, claim.claimed, digits));
      found.push_back(spell(claim, claim.found, digits));
      verdict.push_back(tune::verdictName(claim.verdict));
    }
    for (auto *row : {&claimed, &found, &verdict})
      rows.push_back(std::move(*row));
  }
  std::printf("%s", formatTable(rows).c_str());
}

static nlohmann::ordered_json claimsJson(const Verified &verified, const Claims &claims,
                                         std::span<const tune::Cost> costs, unsigned threads) {
  using Json = nlohmann::ordered_json;
  auto estimate = [](const tune::Estimate &e) {
    return Json{{"value", e.value}, {"lo", e.low}, {"hi", e.high}};
  };
  Json configurations = Json::array();
  for (size_t i = 0; i < claims.size(); ++i) {
    Json item = {{"name", verified.configurations[i]->name}, {"energy_source", costs[i].energySource}};
    for (const tune::Claim &claim : claims[i])
      item[claim.figure] = {{"claimed", estimate(claim.claimed)},
                            {"found", estimate(claim.found)},
                            {"verdict", tune::verdictName(claim.verdict)}};
    configurations.push_back(std::move(item));
  }
  return {{"program", verified.curve.network},
          {"metric", verified.curve.metric},
          {"samples", verified.samples},
          {"count", verified.qualities[0].count},
          {"confidence", verified.curve.confidence},
          {"threads", threads},
          {"configurations", configurations}};
}

// What holds, in words; a claim that is broken is a failure.
static Status conclude(const Verified &verified, const Claims &claims, bool isQuiet) {
  size_t all = 0, broken = 0, doubtful = 0;
  std::string first;
  const int digits = tune::metricDigits(verified.curve.metric);
  for (size_t i = 0; i < claims.size(); ++i)
    for (const tune::Claim &claim : claims[i]) {
      ++all;
      doubtful += claim.verdict == tune::Verdict::Doubtful;
      if (claim.verdict == tune::Verdict::Broken && !broken++)
        first = concat("the ", claim.figure, " of '", verified.configurations[i]->name, "' is ",
                       spell(claim, claim.found, digits), ", but ", spell(claim, claim.claimed, digits),
                       " was claimed");
    }
  if (broken)
    return fail(StatusCode::InvalidArgument, broken, " of ", all,
                broken == 1 ? " claims is broken: " : " claims are broken: ", first,
                broken > 1 ? "; the others are in the table" : "");
  if (isQuiet)
    return Status();
  std::printf("%zu of %zu claims hold", all - doubtful, all);
  if (doubtful)
    std::printf("; the others are missed by no more than such measurements scatter by");
  std::printf("\n");
  return Status();
}

static Status verifyCommand(const VerifyOptions &options) {
  TESSERA_TRY(checkOutputs({options.open.file, options.data.data}, {options.json}));
  TESSERA_ASSIGN(Verified verified, openShipped(options));
  TESSERA_TRY(isJudgedByExact(verified.curve) ? judgeByExact(options, verified)
                                              : judgeByLabels(options, verified));
  std::vector<std::string> names;
  for (const tune::Configuration *c : verified.configurations)
    names.push_back(verified.curve.programName(*c));
  showProgress("times and energy");
  const Program &exact = *verified.programs[0];
  TESSERA_ASSIGN(const std::vector<tune::Cost> costs,
                 tune::measureTogether(exact.sharedModule(), names, verified.curve, exact.options(),
                                       options.seconds * static_cast<double>(names.size())));
  showProgress("");
  Claims claims;
  for (size_t i = 0; i < names.size(); ++i)
    claims.push_back(tune::checkClaims(*verified.configurations[i], verified.qualities[i],
                                       verified.higherIsBetter, costs[i], options.tolerance / 100));
  const bool isJsonAlone = options.json == "-";
  if (!isJsonAlone)
    printClaims(verified, claims, costs[0].energySource, exact.threads());
  if (!options.json.empty()) {
    const std::string text = dumpJson(claimsJson(verified, claims, costs, exact.threads()), 1) + "\n";
    if (isJsonAlone)
      std::printf("%s", text.c_str());
    else
      TESSERA_TRY(writeFile(options.json, std::string_view(text)));
  }
  return conclude(verified, claims, isJsonAlone);
}

void addVerify(CLI::App &app, Action &action) {
  auto *command =
      app.add_subcommand("verify", "measure a tuned program again, and compare with what it claims");
  auto options = std::make_shared<VerifyOptions>();
  options->open.add(*command);
  command->get_option("--configuration")->description("measure only this configuration and the exact one");
  options->data.add(*command);
  command
      ->add_option("--seconds", options->seconds,
                   "how long to measure each configuration's speed (default 1)")
      ->check(CLI::Range(0.0, 3600.0));
  command
      ->add_option("--tolerance", options->tolerance,
                   "percent by which speed and energy may be worse than claimed (default 5)")
      ->check(CLI::Range(0.0, 100.0));
  command->add_option("--json", options->json, "write the result to this file ('-': standard output)");
  command->footer(
      "With the data of the tuning run, and without --skip and --limit, the samples are those that the "
      "claims were made on. The command fails when a claim is broken by more than chance.\n"
      "example: tessera verify lenet.tsx --data mnist:data/mnist --skip 5000");
  command->callback([options, &action] { action = [options] { return verifyCommand(*options); }; });
}

} // namespace tessera::tool
