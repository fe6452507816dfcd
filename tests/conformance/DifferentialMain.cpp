// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tessera-differential: random programs, or given ones with random inputs, on the oracle and on an installed
// program for any machine that can be run here; any difference is a bug.
#include "CpuBackend.h"
#include "RandomBody.h"
#include "RandomGraph.h"

#include "tessera/base/CpuInfo.h"
#include "tessera/base/Diag.h"
#include "tessera/driver/Components.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include <cmath>
#include <cstdlib>
#include <map>

using namespace tessera;
using namespace tessera::conformance;

namespace {
struct Options {
  uint64_t seed = 1, count = 1;
  std::vector<int64_t> extents = {21};
  double tolerance = 0;
  bool verbose = false;
  std::vector<std::string> files;
  BackendOptions backend;
};
} // namespace

static const char *usage = R"(usage: tessera-differential [options] [FILE.mlir…]
Without files: random programs.
  --seed=N --count=N       the first random program, and how many
  --extent=N,…             of files: what open extents and integer inputs are, one after another (default 21)
  --tolerance=X            of files: relative error allowed in float results (default 0: bit for bit)
  --threads=N --device=D --policy=P
  --triple=T --cpu=C --features=F    the machine to install for; default: this one
  --runner=COMMAND         runs 'COMMAND run X.tsx …' instead of the runtime in this process
  --check                  code that checks every access to memory
  --fast                   with contraction of float operations (default: strict)
  -v                       print each program's name
)";

static std::vector<int64_t> numbers(StringRef list) {
  std::vector<int64_t> result;
  for (StringRef word : llvm::split(list, ','))
    result.push_back(std::stoll(word.str()));
  return result;
}

// Not llvm::cl: lld, which runs in this process, resets all of its options.
static bool parse(int argc, char **argv, Options &options) {
  std::map<std::string, std::function<void(const std::string &)>> known = {
      {"seed", [&](auto &v) { options.seed = std::stoull(v); }},
      {"count", [&](auto &v) { options.count = std::stoull(v); }},
      {"extent", [&](auto &v) { options.extents = numbers(v); }},
      {"tolerance", [&](auto &v) { options.tolerance = std::stod(v); }},
      {"threads", [&](auto &v) { options.backend.threads = std::stoul(v); }},
      {"run-threads", [&](auto &v) { options.backend.threads = std::stoul(v); }},
      {"device", [&](auto &v) { options.backend.device = v; }},
      {"run-device", [&](auto &v) { options.backend.device = v; }},
      {"policy", [&](auto &v) { options.backend.policy = v; }},
      {"triple", [&](auto &v) { options.backend.machine.triple = v; }},
      {"cpu", [&](auto &v) { options.backend.machine.cpu = v; }},
      {"features", [&](auto &v) { options.backend.machine.features = v; }},
      {"runner", [&](auto &v) { options.backend.runner = v; }}};
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "-v") {
      options.verbose = true;
      continue;
    }
    if (word == "--check") {
      options.backend.machine.checks = Checks::All;
      continue;
    }
    if (word == "--fast") {
      options.backend.strict = false;
      continue;
    }
    if (!word.starts_with("-")) {
      options.files.push_back(word);
      continue;
    }
    size_t dashes = word.find_first_not_of('-'), equal = word.find('=');
    std::string name = word.substr(dashes, equal == std::string::npos ? equal : equal - dashes);
    auto it = known.find(name);
    if (it == known.end() || (equal == std::string::npos && i + 1 == argc))
      return false;
    it->second(equal == std::string::npos ? argv[++i] : word.substr(equal + 1));
  }
  return true;
}

// Inputs for a graph that nobody knows: open extents and integers are `open`, other elements are random.
static std::vector<oracle::Array> makeInputs(dfg::GraphOp graph, int64_t open, uint64_t seed) {
  Random random(seed);
  std::vector<oracle::Array> inputs;
  for (Type type : graph.getArgumentTypes()) {
    oracle::Array a;
    a.elementType = getElementTypeOrSelf(type);
    int64_t count = 1;
    if (auto shaped = dyn_cast<ShapedType>(type))
      for (int64_t extent : shaped.getShape()) {
        a.shape.push_back(ShapedType::isDynamic(extent) ? open : extent);
        count *= a.shape.back();
      }
    size_t size = oracle::elementBytes(a.elementType);
    a.bytes.resize(count * size);
    for (int64_t e = 0; e < count; ++e) {
      uint64_t bits = isa<ShapedType>(type) ? random.next() : open;
      if (a.elementType.isInteger(1))
        bits &= 1;
      if (auto number = dyn_cast<FloatType>(a.elementType)) {
        APFloat value(double(random.range(-4096, 4096)) / 1024);
        bool lost;
        value.convert(number.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
        bits = value.bitcastToAPInt().getZExtValue();
      }
      std::memcpy(&a.bytes[e * size], &bits, std::min<size_t>(size, 8));
    }
    inputs.push_back(std::move(a));
  }
  return inputs;
}

static double valueOf(const oracle::Array &a, size_t e) {
  size_t size = oracle::elementBytes(a.elementType);
  uint64_t bits = 0;
  std::memcpy(&bits, &a.bytes[e * size], size);
  APFloat value(cast<FloatType>(a.elementType).getFloatSemantics(), APInt(size * 8, bits));
  bool lost;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

static std::optional<std::string> compareWithin(dfg::GraphOp graph, ArrayRef<oracle::Array> expected,
                                                ArrayRef<oracle::Array> actual, double tolerance) {
  std::optional<std::string> difference = compareOutputs(graph, expected, actual);
  if (!difference || tolerance == 0)
    return difference;
  for (auto [a, b] : llvm::zip(expected, actual)) {
    if (!isa<FloatType>(a.elementType) || a.shape != b.shape) {
      if (a.bytes != b.bytes)
        return difference;
      continue;
    }
    for (size_t e = 0; e < a.bytes.size() / oracle::elementBytes(a.elementType); ++e) {
      double x = valueOf(a, e), y = valueOf(b, e);
      if (!(std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(x))) && !(std::isnan(x) && std::isnan(y)))
        return difference;
    }
  }
  return std::nullopt;
}

static std::optional<std::string> compareGraph(const std::string &installed, dfg::GraphOp graph,
                                               ArrayRef<oracle::Array> inputs, const Options &options,
                                               bool &stopped) {
  auto expected = oracle::runGraph(graph, inputs);
  if (failed(expected))
    return "the oracle stopped";
  auto actual = runProgram(installed, graph, inputs, options.backend, &stopped);
  if (stopped)
    return std::nullopt;
  if (failed(actual))
    return "was not run";
  return compareWithin(graph, *expected, *actual, options.tolerance);
}

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    llvm::errs() << usage;
    return 1;
  }
  if (options.backend.runner.empty()) {
    HostMachine machine = hostTarget().host(options.backend.machine);
    std::vector<std::string> missing = cpuInfo().missing(machine.features);
    if (!missing.empty()) {
      llvm::outs() << "SKIPPED: this machine lacks " << joinNames(missing) << "\n";
      return 77;
    }
  }
  if (const char *full = std::getenv("TESSERA_FULL"); full && *full == '1')
    options.count *= 10;
  uint64_t programs = 0, failures = 0, stops = 0;
  auto report = [&](const std::string &name, const std::optional<std::string> &difference,
                    bool stopped = false) {
    ++programs;
    stops += stopped;
    if (stopped)
      llvm::errs() << name << ": not run, the emulator met a fault of its own\n";
    else if (difference)
      llvm::errs() << name << ": " << *difference << "\n";
    else if (options.verbose)
      llvm::errs() << name << ": equal\n";
    failures += difference.has_value();
  };
  for (const std::string &path : options.files) {
    Session session;
    auto module = parseSourceFile<ModuleOp>(path, ParserConfig(&session.context()));
    if (!module) {
      report(path, "does not parse");
      continue;
    }
    auto installed = installModule(session, *module, options.backend);
    if (failed(installed)) {
      report(path, "was not installed");
      continue;
    }
    for (auto graph : module->getOps<dfg::GraphOp>()) {
      if (graph.getSymVisibility() == "private")
        continue;
      for (int64_t extent : options.extents) {
        bool stopped = false;
        auto difference =
            compareGraph(*installed, graph, makeInputs(graph, extent, options.seed), options, stopped);
        report(path + " @" + graph.getSymName().str() + ", extent " + std::to_string(extent), difference,
               stopped);
      }
    }
  }
  for (uint64_t s = options.seed; options.files.empty() && s < options.seed + options.count; ++s) {
    Session session;
    // Random programs earn many warnings; they are no concern of this test.
    session.context().getDiagEngine().registerHandler(
        [](Diagnostic &d) { return success(d.getSeverity() != DiagnosticSeverity::Error); });
    std::string name = "seed " + std::to_string(s);
    RandomProgram program = makeRandomProgram(session.context(), s);
    session.sources()->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(program.text, name),
                                          llvm::SMLoc());
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(program.text, ParserConfig(&session.context()), name);
    if (!module) {
      report(name, "does not parse");
      continue;
    }
    auto installed = installModule(session, *module, options.backend);
    if (failed(installed)) {
      report(name, "was not installed");
      continue;
    }
    bool stopped = false;
    auto graph = module->lookupSymbol<dfg::GraphOp>("main");
    auto difference = compareGraph(*installed, graph, program.inputs, options, stopped);
    report(name, difference, stopped);
  }
  llvm::outs() << programs << " programs, " << failures << " failures";
  if (stops)
    llvm::outs() << ", " << stops << " NOT RUN because of the emulator";
  llvm::outs() << "\n";
  // An emulator that runs hardly anything proves nothing.
  return failures != 0 || stops * 2 > programs;
}
