// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Portfolio.h.
#include "tessera/driver/Portfolio.h"

#include "tessera/base/CpuInfo.h"
#include "tessera/driver/Components.h"
#include "tessera/driver/Measure.h"
#include "tessera/driver/MeasureCache.h"
#include "tessera/driver/Networks.h"
#include "tessera/targets/cpu/PackedMachine.h"
#include "tessera/targets/cpu/layout/Algorithm.h"
#include "tessera/targets/cpu/layout/Sparse.h"
#include "tessera/targets/cpu/packed/Packed.h"

#include <cmath>
#include <ctime>
#include <map>

using namespace tessera;
using Json = nlohmann::json;

// Tile sizes beside the chosen ones that are measured in one go: a candidate costs a tenth of a second.
static constexpr size_t mostTiles = 2;
// Layers that are not measured by then keep the default; the next installation goes on with them. Those with
// most work come first.
static constexpr double mostSeconds = 12;
// How much faster a candidate must be, and how much slower it may be at a single point: noise.
static constexpr double clearlyFaster = 0.97, notSlower = 1.02;

// By this process: what others do on the machine takes no layer's turn away.
static double secondsUsed() { return double(std::clock()) / CLOCKS_PER_SEC; }

namespace {

/// What a layer is made into.
struct Form {
  std::optional<cpu::Algorithm> algorithm; ///< none: as it is, a layer that has only one
  bool sparse = false;                     ///< without the zeros among its weights
};

struct Candidate {
  Form form;
  cpu::packed::Tiles tiles;
  std::string text; ///< names it in caches and reports
};

/// A fusion group around a layer that has candidates, and all other groups that do the same work.
struct Layer {
  Operation *op = nullptr;    ///< nn.conv or nn.matmul, as it was
  OwningOpRef<ModuleOp> part; ///< the group with the default layer, as a program
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
  Portfolio(Session &session, const InstallOptions &options);
  Json run(MutableArrayRef<Portable> programs);

private:
  void collect(MutableArrayRef<Portable> programs);
  /// The group with its layer in the form of a candidate; the layer is returned.
  Operation *make(const Layer &layer, const Form &form, Portable &program) const;
  SmallVector<Candidate> candidatesOf(const Layer &layer, const Form &form) const;
  /// Times of the candidates.
  Result<std::vector<Measured>> measure(const Layer &layer, ArrayRef<Candidate> candidates, double seconds);
  /// The first, unless another one is clearly faster.
  static const Measured &best(ArrayRef<Measured> measured);
  Json decide(const Layer &layer);
  static void mark(const Layer &layer, const Candidate &choice);

  Session &session;
  InstallOptions options;
  cpu::LayoutOptions layout;
  cpu::packed::Machine machine;
  MeasureOptions how;
  MeasureCache cache;
  SmallVector<Operation *> numbered;   ///< by nn.layer
  std::map<std::string, Layer> layers; ///< by signature
  double begin = secondsUsed();
};

} // namespace

static std::string textOf(const Form &form, const cpu::packed::Tiles &t) {
  std::string name = form.sparse      ? cpu::sparseName.str()
                     : form.algorithm ? cpu::nameOf(*form.algorithm).str()
                                      : "product";
  return name + cpu::packed::spellNumbers(t);
}

// The layer in a program that was made from it.
static Operation *findLayer(ModuleOp part) {
  Operation *found = nullptr;
  part.walk([&](Operation *op) {
    if (op->hasAttr(nn::layerAttr))
      found = op;
  });
  return found;
}

Portfolio::Portfolio(Session &session, const InstallOptions &given)
    : session(session), options(given), layout(layoutOptions(given)), cache(given) {
  machine = packedMachine(findTarget("cpu")->info(options.target));
  // A group is laid out already.
  options.layout = false;
  // One sample as fast as possible, and many on all that the machine has.
  how.points = {{1, 1}, {8, std::max(1u, cpuInfo().cores)}};
}

void Portfolio::collect(MutableArrayRef<Portable> programs) {
  uint64_t weights = 0;
  for (Portable &program : programs)
    program.module->walk([&](Operation *op) {
      if (!isa<nn::ConvOp, nn::MatmulOp>(op))
        return;
      op->setAttr(nn::layerAttr, IntegerAttr::get(IntegerType::get(op->getContext(), 64), numbered.size()));
      numbered.push_back(op);
      if (auto type = cast<RankedTensorType>(op->getOperand(1).getType()); type.hasStaticShape())
        weights += 4 * uint64_t(type.getNumElements());
    });
  how.weightBytes = std::min<uint64_t>(weights, 2 * cpuInfo().l3);
  InstallOptions own = options;
  own.layout = true;
  for (Portable &program : programs) {
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>((*program.module)->clone());
    if (failed(prepareNetworks(*copy, own)))
      continue;
    copy->walk([&](dfg::NodeOp node) {
      SmallVector<Operation *> ops, found;
      for (Operation &op : node.getBodyBlock()->without_terminator()) {
        if (op.hasAttr(nn::layerAttr) && nn::isPacked(&op))
          found.push_back(&op);
        if (!isa<arith::ConstantOp>(op))
          ops.push_back(&op);
      }
      if (found.size() != 1)
        return;
      Operation *original = numbered[found[0]->getAttrOfType<IntegerAttr>(nn::layerAttr).getInt()];
      found[0]->setAttr(nn::layerAttr, UnitAttr::get(node.getContext()));
      OwningOpRef<ModuleOp> part = isolate(ops, "layer");
      if (!part)
        return;
      std::string signature = signatureOf(*part);
      Layer &layer = layers[signature];
      if (!layer.op) {
        layer.op = original;
        layer.part = std::move(part);
        layer.signature = signature;
      }
      layer.all.push_back(original);
      auto graph = node->getParentOfType<dfg::GraphOp>();
      layer.places.push_back({graph.getSymName().str(), node.getName().str()});
      layer.flops += double(cast<nn::NnOp>(found[0]).getFlops());
    });
  }
  for (Operation *op : numbered)
    op->removeAttr(nn::layerAttr);
}

Operation *Portfolio::make(const Layer &layer, const Form &form, Portable &program) const {
  program.module = cast<ModuleOp>((*layer.part)->clone());
  Operation *op = findLayer(*program.module);
  auto conv = dyn_cast<nn::ConvOp>(layer.op);
  if (!form.sparse && (!conv || !form.algorithm || *form.algorithm == cpu::algorithmOf(conv, layout)))
    return op;
  OpBuilder b(op);
  auto emit = [&](cpu::Algorithm algorithm, bool contents) {
    return cpu::emitConv(b, conv, op->getOperand(0), op->getNumOperands() > 2 ? op->getOperand(2) : Value(),
                         cast<RankedTensorType>(op->getResult(0).getType()).getShape().back(), algorithm,
                         contents);
  };
  auto erase = [](Operation *layer) {
    Operation *weights = layer->getOperand(1).getDefiningOp();
    layer->erase();
    if (weights && weights->use_empty())
      weights->erase();
  };
  Value y;
  if (form.sparse && isa<cpu::PackedWinogradOp>(op)) {
    Operation *direct = emit(cpu::Algorithm::Direct, /*contents=*/true).getDefiningOp();
    y = cpu::emitSparse(b, direct);
    erase(direct);
  } else {
    y = form.sparse ? cpu::emitSparse(b, op) : emit(*form.algorithm, /*contents=*/false);
  }
  op->getResult(0).replaceAllUsesWith(y);
  erase(op);
  return y.getDefiningOp();
}

SmallVector<Candidate> Portfolio::candidatesOf(const Layer &layer, const Form &form) const {
  Portable program;
  Operation *op = make(layer, form, program);
  SmallVector<Candidate> candidates;
  for (const cpu::packed::Tiles &tiles : cpu::packed::tileCandidates(op, machine))
    if (candidates.size() <= mostTiles)
      candidates.push_back({form, tiles, textOf(form, tiles)});
  return candidates;
}

Result<std::vector<Measured>> Portfolio::measure(const Layer &layer, ArrayRef<Candidate> candidates,
                                                 double seconds) {
  how.seconds = seconds;
  std::vector<Portable> programs;
  for (auto [i, candidate] : llvm::enumerate(candidates)) {
    programs.emplace_back();
    cpu::packed::setTiles(make(layer, candidate.form, programs.back()), candidate.tiles);
    for (auto graph : programs.back().module->getOps<dfg::GraphOp>())
      graph.setSymName("c" + std::to_string(i));
  }
  Result<std::vector<std::vector<double>>> times = measurePrograms(session, programs, options, how);
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
  for (Operation *op : layer.all) {
    const Form &form = choice.form;
    if (form.sparse || form.algorithm)
      op->setAttr(nn::algorithmAttr,
                  StringAttr::get(op->getContext(),
                                  form.sparse ? StringRef(cpu::sparseName) : cpu::nameOf(*form.algorithm)));
    cpu::packed::setTiles(op, choice.tiles);
  }
}

static Json jsonOf(ArrayRef<Measured> measured) {
  Json list = Json::array();
  for (const Measured &each : measured)
    list.push_back({{"candidate", each.candidate.text}, {"ns", each.ns}});
  return list;
}

// The algorithms that are worth measuring, the default first. Where many tiles share the transformed weights,
// nothing comes near the larger one.
static SmallVector<cpu::Algorithm> algorithmsOf(nn::ConvOp conv, const cpu::LayoutOptions &layout) {
  SmallVector<cpu::Algorithm> algorithms = cpu::algorithmsFor(conv, layout);
  ArrayRef<int64_t> y = cast<RankedTensorType>(conv.getY().getType()).getShape();
  if (algorithms.front() == cpu::Algorithm::Winograd4 && y[2] * y[3] >= 256 &&
      cast<RankedTensorType>(conv.getW().getType()).getDimSize(1) >= 64)
    algorithms.truncate(1);
  return algorithms;
}

Json Portfolio::decide(const Layer &layer) {
  SmallVector<SmallVector<Candidate>> byAlgorithm;
  // Narrow elements have a form of their own.
  Operation *made = findLayer(*layer.part);
  bool narrow = getElementTypeOrSelf(made->getOperand(0)) != getElementTypeOrSelf(made->getResult(0));
  if (auto conv = dyn_cast<nn::ConvOp>(layer.op); conv && !narrow)
    for (cpu::Algorithm algorithm : algorithmsOf(conv, layout))
      byAlgorithm.push_back(candidatesOf(layer, {algorithm}));
  else
    byAlgorithm.push_back(candidatesOf(layer, {}));
  // Strict is strict about what a zero makes of infinity, too.
  if (!options.target.strict && made->hasAttr(nn::filledAttr))
    byAlgorithm.push_back(candidatesOf(layer, {{}, /*sparse=*/true}));
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

Json Portfolio::run(MutableArrayRef<Portable> programs) {
  collect(programs);
  SmallVector<Layer *> order;
  for (auto &[signature, layer] : layers)
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

nlohmann::json tessera::choosePortfolio(Session &session, MutableArrayRef<Portable> programs,
                                        const InstallOptions &options) {
  const Target *cpu = findTarget("cpu");
  TargetInfo wanted = cpu->info(options.target), here = cpu->info({});
  if (wanted.triple != here.triple || wanted.cpu != here.cpu || !cpuInfo().missing(wanted.features).empty()) {
    emitWarning(UnknownLoc::get(&session.context()))
        << "the portfolio is not measured: '" << wanted.cpu << "' is not this machine's CPU ('" << here.cpu
        << "'); layers keep their defaults. Install with --portfolio on a machine that has it";
    return Json::object();
  }
  return Portfolio(session, options).run(programs);
}
