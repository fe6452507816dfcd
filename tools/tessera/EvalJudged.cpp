// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera eval` of tuned programs that no labels judge, such as chains of image filters: how near their
// answers are to the exact program's, by the metric that they were tuned under.
#include "EvalJudged.h"

#include "Tool.h"
#include "tessera/base/Diag.h"
#include "tessera/runtime/control/Energy.h"
#include "tessera/runtime/trace/Trace.h"
#include "tessera/tune/metrics/Judge.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace tessera::tool {

namespace {
struct Taken {
  double nanoseconds = 0; ///< of a sample
  EnergyReading energy;   ///< of all
};
} // namespace

// All samples once more, for their times.
static Result<Taken> timeOn(Program &program, std::span<const tune::Sample> samples) {
  Taken taken;
  Work work;
  EnergyMeter meter;
  meter.begin();
  for (const tune::Sample &sample : samples) {
    TESSERA_ASSIGN(const tune::LaunchInputs inputs, tune::LaunchInputs::of(sample, program.plan()));
    std::vector<BufferRef> outputs(program.plan().outputs.size());
    const uint64_t start = nowNanoseconds();
    TESSERA_TRY(program.launch(inputs.raw, outputs));
    taken.nanoseconds += static_cast<double>(nowNanoseconds() - start);
    const Work launch = workOf(program);
    work.flops += launch.flops;
    work.bytes += launch.bytes;
  }
  taken.energy = meter.end(work.flops, work.bytes, taken.nanoseconds * 1e-9, program.threads());
  taken.nanoseconds /= static_cast<double>(samples.size());
  return taken;
}

Status evalJudged(Program &program, const tune::Curve &curve, const DataOptions &options, double atLeast,
                  bool asJson) {
  TESSERA_ASSIGN(std::shared_ptr<Program> exact,
                 Program::open(program.sharedModule(), curve.network, program.options()));
  TESSERA_ASSIGN(tune::Judge judge, tune::Judge::create(program.plan(), curve.metric));
  if (atLeast >= 0 && !judge.higherIsBetter())
    return fail(StatusCode::InvalidArgument, "--at-least: less is better of '", curve.metric,
                "'; 'tessera compare --at-most' takes a bound for it");
  TESSERA_ASSIGN(std::vector<tune::Sample> samples, options.files(program.plan()));
  TESSERA_TRY(judge.learn(*exact, std::move(samples)));
  TESSERA_ASSIGN(const std::vector<double> qualities, judge.judge(program));
  const tune::Configuration::Measured m = judge.summarise(qualities, curve.confidence);
  TESSERA_ASSIGN(const Taken taken, timeOn(program, judge.samples()));
  const double joules = taken.energy.joules / static_cast<double>(m.count);
  const int digits = tune::metricDigits(curve.metric);
  auto number = [&](double value) { return formatFixed(value, digits); };
  if (asJson)
    std::printf("%s\n", dumpJson(nlohmann::ordered_json{{"program", program.plan().name},
                                                        {"data", options.data},
                                                        {"metric", curve.metric},
                                                        {"count", m.count},
                                                        {"quality", m.quality},
                                                        {"low", m.low},
                                                        {"high", m.high},
                                                        {"loss", m.loss},
                                                        {"loss_hi", m.lossHigh},
                                                        {"ms_per_sample", taken.nanoseconds / 1e6},
                                                        {"joules_per_sample", joules},
                                                        {"energy_source", taken.energy.source()},
                                                        {"energy_note", taken.energy.note}})
                            .c_str());
  else
    std::printf("%s on %s: %s %s on %lld samples (%.0f %% interval %s to %s), %s and %s each (energy %s)\n"
                "loss against the exact program: %s (with %.0f %% confidence below %s)\n",
                program.plan().name.c_str(), options.data.c_str(), curve.metric.c_str(),
                number(m.quality).c_str(), static_cast<long long>(m.count), 100 * curve.confidence,
                number(m.low).c_str(), number(m.high).c_str(), formatNanoseconds(taken.nanoseconds).c_str(),
                formatJoules(joules).c_str(), taken.energy.source(), number(m.loss).c_str(),
                100 * curve.confidence, number(m.lossHigh).c_str());
  if (m.quality < atLeast)
    return fail(StatusCode::InvalidArgument, "--at-least: expected ", number(atLeast), ", but got ",
                number(m.quality));
  return Status();
}

} // namespace tessera::tool
