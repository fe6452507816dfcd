// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `install --loss`: the configurations of a curve that keep a goal, compiled, measured on this machine and
// pruned to those worth having here. Each is a program of the installed file.
#include "InstallTuned.h"

#include "Commands.h"
#include "tessera/base/CpuInfo.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Json.h"
#include "tessera/driver/Components.h"
#include "tessera/driver/Knobs.h"
#include "tessera/ir/nn/Nn.h"
#include "tessera/transforms/nn/knobs/Knobs.h"
#include "tessera/tune/curve/CurveFile.h"
#include "tessera/tune/measure/Measurements.h"
#include "tessera/tune/metrics/Metrics.h"

#include "llvm/Support/FileSystem.h"
#include <nlohmann/json.hpp>

using namespace tessera;
using namespace tessera::cli;

void cli::setRanges(Portable &program, const tune::Ranges &ranges) {
  SmallVector<nn::TunableOp> ops = nn::tunableOps(*program.module);
  for (nn::TunableOp op : ops)
    if (auto it = ranges.find(nn::nameOf(op).str()); it != ranges.end() && !nn::rangeOf(op))
      nn::Notes::range.set(op, {it->second.first, it->second.second});
  // What a layer reads and a sum waits for is one activation.
  for (nn::TunableOp sum : ops)
    if (isa<nn::BinaryOp>(sum.getOperation()) && !nn::rangeOf(sum))
      for (nn::TunableOp op : ops)
        if (op.getRangedOperand() == sum.getRangedOperand() && nn::rangeOf(op)) {
          nn::Notes::range.copy(op, sum);
          break;
        }
}

static tune::Ranges rangesOf(const tune::Curve &curve) {
  tune::Ranges ranges;
  for (const tune::CurveOperation &op : curve.operations)
    if (op.range)
      ranges[op.name] = *op.range;
  return ranges;
}

Status cli::setTunedRanges(Portable &program, const std::string &path) {
  TESSERA_ASSIGN(Container file, Container::open(path));
  TESSERA_ASSIGN(std::optional<tune::Curve> curve, tune::readCurve(file));
  if (curve)
    setRanges(program, rangesOf(*curve));
  return Status();
}

// The program with a configuration's knobs and the ranges that tuning found, under the configuration's name.
static Result<Portable> applyConfiguration(const Portable &exact, const tune::Curve &curve,
                                           const tune::Configuration &configuration) {
  Portable program = copyAs(exact, curve.programName(configuration));
  setRanges(program, rangesOf(curve));
  Status applied = applyKnobMap(*program.module, configuration.knobs);
  if (!applied.ok())
    return applied.withContext(concat("configuration '", configuration.name, "'"));
  return program;
}

static Status compileConfigurations(Session &session, const Portable &exact, const tune::Curve &curve,
                                    ArrayRef<const tune::Configuration *> configurations,
                                    const InstallOptions &options, Installed &result) {
  std::vector<Portable> programs;
  for (const tune::Configuration *c : configurations) {
    TESSERA_ASSIGN(Portable program, applyConfiguration(exact, curve, *c));
    programs.push_back(std::move(program));
  }
  FailureOr<Installed> installed = failure();
  {
    TimeLimit limited(TimeLimit::Installing);
    installed = install(session, programs, options);
  }
  if (failed(installed))
    return Status::error(StatusCode::InvalidArgument, "nothing was installed");
  result = std::move(*installed);
  return Status();
}

static void printTable(const tune::Curve &curve, const std::string &path) {
  std::string inputs;
  for (const auto &[name, shape] : curve.shapes) {
    auto number = curve.numbers.find(name);
    inputs += concat(inputs.empty() ? "" : ", ", name);
    inputs +=
        number == curve.numbers.end() ? concat(" of ", formatShape(shape)) : concat(" ", number->second);
  }
  if (inputs.empty())
    inputs = concat("a batch of ", curve.tuning.batch);
  const unsigned threads = curve.configurations[0].installed->threads;
  std::printf("%s: %s of %s; times for %s here with %u thread%s\n", path.c_str(), curve.metric.c_str(),
              curve.network.c_str(), inputs.c_str(), threads, threads == 1 ? "" : "s");
  const bool isShare = curve.metric.starts_with("top-");
  const int digits = tune::metricDigits(curve.metric);
  for (const tune::Configuration &c : curve.configurations)
    if (c.shipped)
      std::printf("%s %-9s %9.1f us  %5.2f times  %8s (%s)  loss %.*f%s, below %.*f\n",
                  c.name == curve.chosen ? "*" : " ", c.name.c_str(), c.installed->microseconds,
                  c.installed->speedup.value, formatJoules(c.installed->joules.value).c_str(),
                  c.installed->energySource.c_str(), digits, c.measured ? c.measured->loss : 0,
                  isShare ? " points" : "", digits, c.measured ? c.measured->lossHigh : 0);
}

// Measures configurations in turns.
static Result<std::vector<tune::Cost>> measure(const Installed &installed, const tune::Curve &curve,
                                               ArrayRef<const tune::Configuration *> configurations,
                                               const std::string &out) {
  const std::string trial = out + ".trial";
  TESSERA_TRY(writeInstalled(installed, trial));
  auto module = Module::load(trial);
  llvm::sys::fs::remove(trial); // it stays mapped
  if (!module.ok())
    return module.status();
  std::vector<std::string> names;
  for (const tune::Configuration *c : configurations)
    names.push_back(curve.programName(*c));
  return tune::measureTogether(*module, names, curve, {}, 0.5 * double(configurations.size()));
}

// What machines must have in common to share measurements.
static std::string machineKind(const InstallOptions &options) {
  const HostMachine machine = hostTarget().host(options.target);
  return concat(machine.triple, " ", machine.cpu, " with ", cpuInfo().cores, " processors");
}

static tune::Measurements collect(const tune::Curve &curve, const InstallOptions &options,
                                  ArrayRef<const tune::Configuration *> configurations,
                                  ArrayRef<tune::Cost> costs) {
  tune::Measurements own{curve.program, machineKind(options), {}};
  for (size_t i = 0; i < costs.size(); ++i)
    own.costs[configurations[i]->name] = costs[i];
  return own;
}

// What others measured is not measured again.
static Result<std::vector<tune::Cost>> shareMeasuring(Session &session, const Portable &exact,
                                                      const tune::Curve &curve,
                                                      ArrayRef<const tune::Configuration *> within,
                                                      const InstallOptions &options, const Sharing &sharing,
                                                      const std::string &out, Installed &installed) {
  tune::Measurements all;
  for (const std::string &path : sharing.files) {
    TESSERA_ASSIGN(tune::Measurements other, tune::readMeasurements(path, curve, machineKind(options)));
    tune::addMeasurements(all, other);
  }
  SmallVector<const tune::Configuration *> missing = {within[0]};
  for (const tune::Configuration *c : within.drop_front())
    if (!all.costs.count(c->name))
      missing.push_back(c);
  if (all.costs.empty() || missing.size() > 1) {
    TESSERA_TRY(compileConfigurations(session, exact, curve, missing, options, installed));
    TESSERA_ASSIGN(std::vector<tune::Cost> costs, measure(installed, curve, missing, out));
    tune::addMeasurements(all, collect(curve, options, missing, costs));
  }
  std::vector<tune::Cost> costs;
  for (const tune::Configuration *c : within)
    costs.push_back(all.costs.at(c->name));
  return costs;
}

// Those that were not measured again keep their ratios to the exact program as it was `before`; in times and
// energies of another moment they would contradict the others.
static void rebase(tune::Curve &curve, ArrayRef<const tune::Configuration *> again,
                   const tune::Configuration::Installed &before) {
  const tune::Configuration::Installed &exact = *curve.configurations[0].installed;
  const double energy = before.joules.value > 0 ? exact.joules.value / before.joules.value : 1;
  for (tune::Configuration &c : curve.configurations)
    if (c.installed && !llvm::is_contained(again, &c)) {
      c.installed->microseconds = exact.microseconds / c.installed->speedup.value;
      for (double *joules : {&c.installed->joules.value, &c.installed->joules.low, &c.installed->joules.high})
        *joules *= energy;
    }
}

Status cli::installTuned(const std::string &in, const std::string &out, const InstallOptions &options,
                         const tune::Goal &goal, const Sharing &sharing) {
  TESSERA_ASSIGN(Container file, Container::open(in));
  TESSERA_ASSIGN(std::optional<tune::Curve> curve, tune::readCurve(file));
  if (!curve)
    return tessera::fail(StatusCode::InvalidArgument, "'", in,
                         "' has no curve, and so no known losses; run 'tessera tune' first");
  TESSERA_ASSIGN(std::vector<const tune::Configuration *> within, tune::withinGoal(*curve, goal));
  const std::string miss = tune::nearestMiss(*curve, goal);
  Session session;
  Portable exact;
  {
    TimeLimit limited(TimeLimit::Reading);
    TESSERA_ASSIGN(exact, readPortable(session, in));
  }
  Installed installed;
  if (sharing.parts) {
    const std::vector<const tune::Configuration *> part = tune::partOf(within, sharing.part, sharing.parts);
    TESSERA_TRY(compileConfigurations(session, exact, *curve, part, options, installed));
    TESSERA_ASSIGN(std::vector<tune::Cost> costs, measure(installed, *curve, part, out));
    const tune::Measurements own = collect(*curve, options, part, costs);
    TESSERA_TRY(writeFile(out, std::string_view(tune::measurementsJson(own))));
    std::printf("%s: %zu of %zu configurations measured on %s\n", out.c_str(), part.size(), within.size(),
                own.machine.c_str());
    return Status();
  }
  TESSERA_ASSIGN(std::vector<tune::Cost> costs,
                 shareMeasuring(session, exact, *curve, within, options, sharing, out, installed));
  std::vector<const tune::Configuration *> kept = within;
  auto prune = [&](ArrayRef<tune::Cost> known) -> Status {
    std::vector<const tune::Configuration *> front;
    for (size_t i : tune::trueFront(known))
      front.push_back(kept[i]);
    const bool isSame = front.size() == kept.size() && sharing.files.empty();
    kept = std::move(front);
    return isSame ? Status() : compileConfigurations(session, exact, *curve, kept, options, installed);
  };
  auto record = [&](ArrayRef<tune::Cost> known) {
    for (tune::Configuration &c : curve->configurations)
      if (auto at = llvm::find(kept, &c); at != kept.end()) {
        const tune::Cost &own = known[static_cast<size_t>(at - kept.begin())];
        c.installed = {own.microseconds, own.speedup, own.joules, curve->tuning.batch,
                       own.energySource, own.threads, own.shares};
      }
  };
  record(costs);
  TESSERA_TRY(prune(costs));
  // The fastest of many has also been the luckiest: what is claimed is measured once more, as it is shipped.
  if (sharing.files.empty()) {
    const tune::Configuration::Installed before = *curve->configurations[0].installed;
    TESSERA_ASSIGN(costs, measure(installed, *curve, kept, out));
    record(costs);
    rebase(*curve, kept, before);
    TESSERA_TRY(prune(costs));
  }
  for (tune::Configuration &c : curve->configurations)
    c.shipped = llvm::is_contained(kept, &c);
  curve->chosen = kept.back()->name;
  auto meta = parseJson(installed.meta);
  meta["default"] = curve->programName(*kept.back());
  installed.meta = dumpJson(meta);
  installed.curve = tune::curveJson(*curve);
  TESSERA_TRY(writeInstalled(installed, out));
  printTable(*curve, out);
  if (kept.size() == 1 && !miss.empty())
    std::printf("nothing faster keeps the goal; %s\n", miss.c_str());
  return Status();
}
