// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/metrics/Judge.h"

#include <algorithm>
#include <cmath>

namespace tessera::tune {

static Result<std::vector<OutputArray>> answerTo(Program &program, const Sample &sample) {
  TESSERA_ASSIGN(const LaunchInputs inputs, LaunchInputs::of(sample, program.plan()));
  std::vector<BufferRef> outputs(program.plan().outputs.size());
  TESSERA_TRY(program.launch(inputs.raw, outputs).withContext(concat("'", sample.name, "'")));
  return readOutputs(program.plan(), outputs);
}

static Status checkBounds(const MetricSet &metrics, std::span<const double> exact) {
  for (size_t i = 0; i < exact.size(); ++i)
    if (const MetricSet::Item &item = metrics.items()[i];
        item.bound && (item.higherIsBetter() ? *item.bound >= exact[i] : *item.bound <= exact[i]))
      return fail(StatusCode::InvalidArgument, "--metric: the bound of '", item.name,
                  "' leaves no room for errors: an exact answer is no better");
  return Status();
}

Result<Judge> Judge::create(const ProgramPlan &plan, const std::string &metric) {
  Judge judge;
  std::vector<std::string> outputs;
  for (const Port &port : plan.outputs)
    outputs.push_back(port.name);
  TESSERA_ASSIGN(judge.metrics, MetricSet::parse(metric, outputs));
  const auto items = judge.metrics->items();
  judge.isShare = std::ranges::any_of(items, [](const auto &item) { return item.bound.has_value(); });
  if (items.size() != 1 || judge.isShare)
    for (const MetricSet::Item &item : items)
      if (!item.bound)
        return fail(StatusCode::InvalidArgument,
                    "--metric: of several metrics each needs the bound that it must keep, but '", item.name,
                    "' has none; for example ", item.name, "@30");
  return judge;
}

Status Judge::learn(Program &exact, std::vector<Sample> samples) {
  for (const Sample &sample : samples) {
    TESSERA_ASSIGN(std::vector<OutputArray> answer, answerTo(exact, sample));
    golden.push_back(std::move(answer));
  }
  list = std::move(samples);
  // What the metric says of an exact answer.
  TESSERA_ASSIGN(exactFigures, metrics->evaluate(golden[0], golden[0]));
  quality = isShare ? 0 : std::isfinite(exactFigures[0]) ? exactFigures[0] : exactDecibels;
  return checkBounds(*metrics, exactFigures);
}

const Sample &Judge::largest() const {
  return *std::ranges::max_element(list, {}, [](const Sample &sample) { return sample.bytes(); });
}

bool Judge::isPsnr() const {
  return !isShare && metrics->items()[0].kind.kind == MetricKind::Psnr && !metrics->items()[0].user;
}

// Numbers left their range where the exact program's did not, such as those of f16.
static bool isBroken(std::span<const OutputArray> got, std::span<const OutputArray> golden) {
  for (size_t a = 0; a < got.size(); ++a)
    for (size_t e = 0; e < got[a].values.size(); ++e)
      if (!std::isfinite(got[a].values[e]) && std::isfinite(golden[a].values[e]))
        return true;
  return false;
}

Result<std::vector<double>> Judge::judge(Program &program) const {
  std::vector<double> qualities;
  for (size_t i = 0; i < list.size(); ++i) {
    TESSERA_ASSIGN(const std::vector<OutputArray> answer, answerTo(program, list[i]));
    if (isBroken(answer, golden[i])) {
      qualities.push_back(higherIsBetter() ? -exactDecibels : exactDecibels);
      continue;
    }
    TESSERA_ASSIGN(const std::vector<double> figures, metrics->evaluate(answer, golden[i]));
    if (isShare)
      qualities.push_back(metrics->usedShare(figures, exactFigures));
    else // an infinite PSNR is an exact picture
      qualities.push_back(std::isfinite(figures[0]) ? figures[0]
                          : figures[0] > 0          ? exactDecibels
                                                    : -exactDecibels);
  }
  return qualities;
}

Configuration::Measured Judge::summarise(std::span<const double> qualities, double confidence) const {
  const Estimate both = meanEstimate(qualities, confidence);
  // Of a loss only one side matters.
  const Estimate one = meanEstimate(qualities, 2 * confidence - 1);
  return {both.value,
          both.low,
          both.high,
          lossOf(both.value),
          lossOf(higherIsBetter() ? one.low : one.high),
          static_cast<int64_t>(qualities.size()),
          lossOf(higherIsBetter() ? one.high : one.low)};
}

} // namespace tessera::tune
