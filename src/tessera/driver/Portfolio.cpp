// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Portfolio.h.
#include "tessera/driver/Portfolio.h"

#include "tessera/base/CpuInfo.h"
#include "tessera/driver/Measure.h"
#include "tessera/driver/MeasureCache.h"
#include "tessera/driver/Prepare.h"
#include "tessera/ir/nn/Nn.h"

#include <cmath>
#include <ctime>
#include <map>

using namespace tessera;
using Json = nlohmann::json;

// Layers that are not measured by then keep the default; the next installation goes on with them. Those with
// most work come first.
static constexpr double mostSeconds = 12;
// How much faster a candidate must be, and how much slower it may be at a single point: noise.
static constexpr double clearlyFaster = 0.97, notSlower = 1.02;

// By this process: what others do on the machine takes no layer's turn away.
static double secondsUsed() { return double(std::clock()) / CLOCKS_PER_SEC; }

namespace {

using Candidates = SmallVector<SmallVector<Candidate>>; ///< by algorithm

/// A fusion group around a layer that has candidates, and all other groups that do the same work.
struct Layer {
  OwningOpRef<ModuleOp> part; ///< the group with the default layer, as a program
  Candidates candidates;
  std::string signature;
  SmallVector<std::pair<std::string, std::string>> places; ///< program and node
  SmallVector<Operation *> all;                            ///< layers that get the choice
  double flops = 0;
};

struct Measured {
  Candidate candidate;
  std::vector<double> ns; ///< by point
};

class Portfolio {
public:
  explicit Portfolio(Installation &in);
  Json run();

private:
  void collect();
  void collect(dfg::NodeOp node, ArrayRef<Operation *> numbered);
  /// Times of the candidates.
  Result<std::vector<Measured>> measure(const Layer &layer, ArrayRef<Candidate> candidates, double seconds);
  /// The first, unless another one is clearly faster.
  static const Measured &best(ArrayRef<Measured> measured);
  Json decide(const Layer &layer);
  static void mark(const Layer &layer, const Candidate &choice);

  Installation &in;
  const TargetChoice &host;
  InstallOptions options;
  MeasureOptions how;
  MeasureCache cache;
  std::map<std::string, Layer> layers; ///< by signature
  double begin = secondsUsed();
};

} // namespace

// The layer in a program that was made from it.
static Operation *findLayer(ModuleOp part) {
  Operation *found = nullptr;
  part.walk([&](Operation *op) {
    if (nn::Notes::layer.isOn(op))
      found = op;
  });
  return found;
}

Portfolio::Portfolio(Installation &in)
    : in(in), host(in.targets.host()), options(in.options), cache(*host.target, host.options) {
  // A group is laid out already.
  options.layout = false;
  // One sample as fast as possible, and many on all that the machine has.
  how.points = {{1, 1}, {8, std::max(1u, cpuInfo().cores)}};
}

// `numbered`: the layers of the networks, by nn.layer.
void Portfolio::collect(dfg::NodeOp node, ArrayRef<Operation *> numbered) {
  SmallVector<const TargetChoice *> makers = in.targets.makersOf(node);
  if (makers.size() != 1 || makers.front() != &host)
    return;
  SmallVector<Operation *> ops, found;
  for (Operation &op : node.getBodyBlock()->without_terminator()) {
    if (nn::Notes::layer.isOn(&op))
      found.push_back(&op);
    if (!isa<arith::ConstantOp>(op))
      ops.push_back(&op);
  }
  if (found.size() != 1)
    return;
  Operation *original = numbered[nn::Notes::layer.get(found[0]).getInt()];
  nn::Notes::layer.set(found[0], 0);
  OwningOpRef<ModuleOp> part = isolate(ops, "layer");
  if (!part)
    return;
  std::string signature = signatureOf(*part);
  Layer &layer = layers[signature];
  if (layer.signature.empty()) {
    layer.part = std::move(part);
    layer.candidates = host.target->candidates(original, findLayer(*layer.part), host.options);
    layer.signature = signature;
  }
  layer.all.push_back(original);
  auto graph = node->getParentOfType<dfg::GraphOp>();
  layer.places.push_back({graph.getSymName().str(), node.getName().str()});
  layer.flops += double(cast<nn::NnOp>(found[0]).getFlops());
}

void Portfolio::collect() {
  SmallVector<Operation *> numbered;
  uint64_t weights = 0;
  for (Portable &program : in.programs)
    program.module->walk([&](Operation *op) {
      if (!isa<nn::ConvOp, nn::MatmulOp>(op))
        return;
      nn::Notes::layer.set(op, numbered.size());
      numbered.push_back(op);
      if (auto type = cast<RankedTensorType>(op->getOperand(1).getType()); type.hasStaticShape())
        weights += 4 * uint64_t(type.getNumElements());
    });
  how.weightBytes = std::min<uint64_t>(weights, 2 * cpuInfo().l3);
  for (Portable &program : in.programs) {
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>((*program.module)->clone());
    for (auto graph : llvm::to_vector(copy->getOps<dfg::GraphOp>()))
      if (graph.getSymVisibility() != "private")
        (void)prepareGraph(graph, in.targets, {options.fusion, /*layout=*/true});
    copy->walk([&](dfg::NodeOp node) {
      if (node.getVersionsAttr() && !node.getRank() && !node.isInternal())
        collect(node, numbered);
    });
  }
  for (Operation *op : numbered)
    nn::Notes::layer.remove(op);
}

Result<std::vector<Measured>> Portfolio::measure(const Layer &layer, ArrayRef<Candidate> candidates,
                                                 double seconds) {
  how.seconds = seconds;
  std::vector<Portable> programs;
  for (auto [i, candidate] : llvm::enumerate(candidates)) {
    programs.emplace_back();
    programs.back().module = cast<ModuleOp>((*layer.part)->clone());
    candidate.apply(findLayer(*programs.back().module));
    for (auto graph : programs.back().module->getOps<dfg::GraphOp>())
      graph.setSymName("c" + std::to_string(i));
  }
  Result<std::vector<std::vector<double>>> times = measurePrograms(in.session, programs, options, how);
  if (!times.ok())
    return times.status();
  std::vector<Measured> measured;
  for (auto [candidate, ns] : llvm::zip(candidates, *times))
    measured.push_back({candidate, ns});
  return measured;
}

const Measured &Portfolio::best(ArrayRef<Measured> measured) {
  const Measured *best = &measured.front();
  double least = clearlyFaster;
  for (const Measured &each : measured.drop_front()) {
    double product = 1;
    bool slower = false;
    for (auto [ns, reference] : llvm::zip(each.ns, measured.front().ns)) {
      product *= ns / reference;
      slower |= ns > notSlower * reference;
    }
    double ratio = std::pow(product, 1.0 / double(each.ns.size()));
    if (!slower && ratio < least) {
      least = ratio;
      best = &each;
    }
  }
  return *best;
}

void Portfolio::mark(const Layer &layer, const Candidate &choice) {
  for (Operation *op : layer.all)
    choice.choose(op);
}

static Json jsonOf(ArrayRef<Measured> measured) {
  Json list = Json::array();
  for (const Measured &each : measured)
    list.push_back({{"candidate", each.candidate.text}, {"ns", each.ns}});
  return list;
}

Json Portfolio::decide(const Layer &layer) {
  const Candidates &byAlgorithm = layer.candidates;
  if (std::optional<Json> kept = cache.find(layer.signature)) {
    // Of another list of candidates it would be worth nothing.
    std::string chosen = kept->is_object() ? kept->value("chosen", "") : "";
    for (const auto &list : byAlgorithm)
      for (const Candidate &candidate : list)
        if (candidate.text == chosen) {
          if (chosen != byAlgorithm[0][0].text)
            mark(layer, candidate);
          (*kept)["source"] = "cache";
          return *kept;
        }
  }
  Json report = {{"chosen", byAlgorithm[0][0].text}, {"default", byAlgorithm[0][0].text}};
  if (secondsUsed() - begin > mostSeconds) {
    report["source"] = "default: no time was left to measure it";
    return report;
  }
  // All algorithms, and other tiles for the first.
  SmallVector<Candidate> first(byAlgorithm[0]);
  for (const auto &list : ArrayRef(byAlgorithm).drop_front())
    first.push_back(list[0]);
  Result<std::vector<Measured>> measured = measure(layer, first, 0.02);
  if (!measured.ok()) {
    report["source"] = "default: " + measured.status().message();
    return report;
  }
  Measured winner = best(*measured);
  report["candidates"] = jsonOf(*measured);
  if (winner.candidate.text != first[0].text) {
    // Once more, against the default, with other tiles of another algorithm.
    SmallVector<Candidate> second = {first[0], winner.candidate};
    for (const auto &list : ArrayRef(byAlgorithm).drop_front())
      if (list[0].text == winner.candidate.text)
        second.append(list.begin() + 1, list.end());
    measured = measure(layer, second, 0.06);
    if (measured.ok()) {
      winner = best(*measured);
      report["final"] = jsonOf(*measured);
      report["chosen"] = winner.candidate.text;
      if (winner.candidate.text != first[0].text)
        mark(layer, winner.candidate);
    }
  }
  Json points = Json::array();
  for (const MeasurePoint &point : how.points)
    points.push_back({{"batch", point.batch}, {"threads", point.threads}});
  report["points"] = points;
  cache.keep(layer.signature, report);
  report["source"] = "measured";
  return report;
}

Json Portfolio::run() {
  collect();
  SmallVector<Layer *> order;
  for (auto &[signature, layer] : layers)
    if (!layer.candidates.empty())
      order.push_back(&layer);
  llvm::stable_sort(order, [](Layer *x, Layer *y) { return x->flops > y->flops; });
  Json result = Json::object();
  for (Layer *layer : order) {
    Json report = decide(*layer);
    for (auto &[program, node] : layer->places)
      result[program][node] = report;
  }
  return result;
}

Json tessera::choosePortfolio(Installation &in) {
  const TargetChoice &host = in.targets.host();
  if (!host.target->isHere(host.options)) {
    emitWarning(UnknownLoc::get(in.context))
        << "the portfolio is not measured: '" << host.target->machineName(host.options)
        << "' is not this machine's CPU ('" << host.target->machineName({})
        << "'); layers keep their defaults. Install with --portfolio on a machine that has it";
    return Json::object();
  }
  return Portfolio(in).run();
}
