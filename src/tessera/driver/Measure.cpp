// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Measure.h.
#include "tessera/driver/Measure.h"

#include "tessera/driver/Place.h"
#include "tessera/driver/Prepare.h"
#include "tessera/ir/nn/Nn.h"
#include "tessera/runtime/program/Program.h"
#include "tessera/transforms/nn/knobs/Apply.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Regex.h"
#include <chrono>
#include <cstring>
#include <random>

using namespace tessera;

// Weights from this size on are worth a place in the memory of their own.
static constexpr int64_t largeWeights = 1024;

// The constant that a value of a leaf is: in the leaf, or outside, passed to it.
static arith::ConstantOp constantOf(Value v) {
  if (auto arg = dyn_cast<BlockArgument>(v))
    if (auto node = dyn_cast<dfg::NodeOp>(arg.getOwner()->getParentOp()))
      for (auto [inner, outer] : llvm::zip(node.getInputArgs(), node.getInputs()))
        if (inner == v)
          return outer.getDefiningOp<arith::ConstantOp>();
  return v.getDefiningOp<arith::ConstantOp>();
}

OwningOpRef<ModuleOp> tessera::isolate(ArrayRef<Operation *> ops, StringRef name) {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  llvm::SetVector<Value> inputs, constants, results;
  Block *leaf = ops.front()->getBlock();
  for (Operation *op : ops) {
    op->walk([&](Operation *nested) {
      for (Value v : nested->getOperands()) {
        Operation *def = v.getDefiningOp();
        // What an operation's own regions define, or one of the others.
        if (v.getParentBlock() != leaf || (def && inside.contains(def)))
          continue;
        (constantOf(v) ? constants : inputs).insert(v);
      }
    });
    for (Value v : op->getResults())
      if (llvm::any_of(v.getUsers(),
                       [&](Operation *user) { return !inside.contains(leaf->findAncestorOpInBlock(*user)); }))
        results.insert(v);
  }
  if (results.empty() || !llvm::all_of(inputs, [](Value v) { return isa<RankedTensorType>(v.getType()); }))
    return nullptr;
  Location loc = ops.front()->getLoc();
  OpBuilder b(loc.getContext());
  SmallVector<Attribute> inputNames, resultNames;
  SmallVector<Type> inputTypes, resultTypes;
  for (Value v : inputs) {
    inputNames.push_back(b.getStringAttr("x" + Twine(inputTypes.size())));
    inputTypes.push_back(v.getType());
  }
  for (Value v : results) {
    resultNames.push_back(b.getStringAttr("y" + Twine(resultTypes.size())));
    resultTypes.push_back(v.getType());
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  auto graph = dfg::GraphOp::create(b, loc, name, b.getFunctionType(inputTypes, resultTypes),
                                    b.getArrayAttr(inputNames), b.getArrayAttr(resultNames), StringAttr());
  Block *body = graph.getBody().empty() ? &graph.getBody().emplaceBlock() : graph.getBodyBlock();
  if (!body->getNumArguments())
    body->addArguments(inputTypes, SmallVector<Location>(inputTypes.size(), loc));
  b.setInsertionPointToEnd(body);
  SmallVector<dfg::PortAttr> ports(inputTypes.size(),
                                   dfg::PortAttr::get(b.getContext(), dfg::PortMode::Whole, {}));
  SmallVector<dfg::ResultAttr> yields(resultTypes.size(),
                                      dfg::ResultAttr::get(b.getContext(), dfg::ResultMode::Gather, {}, {}));
  auto node =
      dfg::NodeOp::create(b, loc, "net", ValueRange(), body->getArguments(), ports, resultTypes, yields);
  dfg::ReturnOp::create(b, loc, node.getResults());
  b.setInsertionPointToStart(node.getBodyBlock());
  IRMapping map;
  for (auto [v, arg] : llvm::zip(inputs, node.getInputArgs()))
    map.map(v, arg);
  for (Value v : constants)
    map.map(v, b.clone(*constantOf(v))->getResult(0));
  for (Operation *op : ops)
    b.clone(*op, map);
  SmallVector<Value> yielded;
  for (Value v : results)
    yielded.push_back(map.lookup(v));
  dfg::YieldOp::create(b, loc, yielded);
  return module;
}

std::string tessera::signatureOf(ModuleOp program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(program->clone());
  copy->walk([](Operation *op) { nn::Notes::name.remove(op); });
  (*copy)->print(os,
                 OpPrintingFlags().elideLargeElementsAttrs(16).elideLargeResourceString(0).useLocalScope());
  // A resource has a name that only this process knows.
  static const llvm::Regex resource("dense_resource<[^>]*>");
  for (std::string next; (next = resource.sub("dense<_>", text)) != text;)
    text = std::move(next);
  return text;
}

// Large constants of a graph become its last inputs: what they hold does not matter to a measurement, and
// their memory can change from run to run. Integers may be places, and stay. Returns how many there are.
static unsigned makeWeightsInputs(dfg::GraphOp graph) {
  SmallVector<arith::ConstantOp> weights;
  for (auto op : graph.getBodyBlock()->getOps<arith::ConstantOp>())
    if (auto type = dyn_cast<RankedTensorType>(op.getType());
        type && isa<FloatType>(type.getElementType()) && type.getNumElements() >= largeWeights)
      weights.push_back(op);
  OpBuilder b(graph.getContext());
  SmallVector<Type> types(graph.getArgumentTypes());
  SmallVector<Attribute> names(graph.getArgNames().getValue());
  for (auto [i, op] : llvm::enumerate(weights)) {
    types.push_back(op.getType());
    names.push_back(b.getStringAttr("w" + Twine(i)));
    op.replaceAllUsesWith(Value(graph.getBodyBlock()->addArgument(op.getType(), op.getLoc())));
    op.erase();
  }
  graph.setFunctionType(b.getFunctionType(types, graph.getResultTypes()));
  graph.setArgNamesAttr(b.getArrayAttr(names));
  return weights.size();
}

namespace {

/// One program at one point.
struct Runner {
  std::shared_ptr<Program> program;
  std::vector<std::vector<BufferRef>> inputs; ///< sets of them, which take turns
  std::vector<BufferRef> outputs;
  unsigned runs = 0;
  double best = 0, spent = 0; ///< nanoseconds

  Status run();
};

} // namespace

Status Runner::run() {
  std::vector<Buffer *> raw;
  for (const BufferRef &buffer : inputs[runs % inputs.size()])
    raw.push_back(buffer.get());
  auto begin = std::chrono::steady_clock::now();
  TESSERA_TRY(program->launch(raw, outputs));
  double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  // The first run prepares the shapes and faults pages in.
  if (runs++) {
    best = best ? std::min(best, ns) : ns;
    spent += ns;
  }
  return Status();
}

// Reals between -1 and 1; integers may be places, and are zero.
static Result<BufferRef> makeInput(const ValueInfo &value, int64_t batch) {
  std::vector<int64_t> shape = value.shape;
  for (int64_t &extent : shape)
    if (extent < 0)
      extent = batch;
  TESSERA_ASSIGN(BufferRef buffer, Buffer::create(value.type, std::move(shape)));
  TESSERA_ASSIGN(std::byte * memory, buffer->hostWrite());
  std::memset(memory, 0, buffer->bytes());
  if (value.type == ElementType::F32) {
    std::minstd_rand random(1);
    auto *reals = reinterpret_cast<float *>(memory);
    for (size_t i = 0; i < buffer->bytes() / 4; ++i)
      reals[i] = static_cast<float>(random()) * 0x1p-30f - 1.0f;
  }
  return buffer;
}

static Result<Runner> makeRunner(const std::shared_ptr<const Module> &module, const std::string &name,
                                 unsigned weights, const MeasurePoint &point, uint64_t weightBytes) {
  Runner runner;
  ProgramOptions options;
  options.threads = point.threads;
  options.devices = {hostTargetName().str()};
  TESSERA_ASSIGN(runner.program, Program::open(module, name, options));
  const ProgramPlan &plan = runner.program->plan();
  std::vector<BufferRef> inputs;
  for (const Port &port : plan.inputs) {
    TESSERA_ASSIGN(BufferRef buffer, makeInput(plan.values[static_cast<size_t>(port.value)], point.batch));
    inputs.push_back(std::move(buffer));
  }
  runner.outputs.resize(plan.outputs.size());
  size_t first = inputs.size() - weights;
  uint64_t own = 0;
  for (size_t i = first; i < inputs.size(); ++i)
    own += inputs[i]->bytes();
  uint64_t sets = own ? std::clamp<uint64_t>(weightBytes / own, 1, 64) : 1;
  runner.inputs.push_back(inputs);
  while (runner.inputs.size() < sets) {
    for (size_t i = first; i < inputs.size(); ++i) {
      TESSERA_ASSIGN(inputs[i], alignedCopy(*inputs[i]));
    }
    runner.inputs.push_back(inputs);
  }
  return runner;
}

Result<std::vector<std::vector<double>>> tessera::measurePrograms(Session &session,
                                                                  MutableArrayRef<Portable> programs,
                                                                  const InstallOptions &options,
                                                                  const MeasureOptions &measure) {
  std::string first;
  ScopedDiagnosticHandler quiet(&session.context(), [&](Diagnostic &d) {
    if (d.getSeverity() == DiagnosticSeverity::Error && first.empty())
      first = d.str();
    return success();
  });
  auto refused = [&] { return Status::error(StatusCode::InvalidArgument, "cannot measure: " + first); };
  InstallOptions own = options;
  own.targets = {hostTargetName().str()};
  own.portfolio = false;
  own.knobs.clear();
  own.prepared = true;
  own.dumpDir.clear();
  own.stopAfter.reset();
  SmallVector<unsigned> weights;
  std::vector<std::string> names;
  FailureOr<TargetList> targets =
      TargetList::parse(own.targets, own.target, UnknownLoc::get(&session.context()));
  if (failed(targets))
    return refused();
  for (Portable &program : programs) {
    auto graph = *program.module->getOps<dfg::GraphOp>().begin();
    if (failed(nn::forEachNetwork(graph, [](dfg::NodeOp node) { return nn::applyKnobs(node); })))
      return refused();
    placeGraph(graph, *targets);
    if (failed(prepareGraph(graph, *targets, {options.fusion, options.layout})))
      return refused();
    names.push_back(graph.getSymName().str());
    weights.push_back(makeWeightsInputs(graph));
  }
  FailureOr<Installed> installed = install(session, programs, own);
  if (failed(installed))
    return refused();
  std::string bytes = installedBytes(*installed);
  TESSERA_ASSIGN(Container container, Container::parse(std::as_bytes(std::span(bytes)), "measured"));
  TESSERA_ASSIGN(std::shared_ptr<const Module> module, Module::load(std::move(container)));
  std::vector<Runner> runners;
  for (size_t i = 0; i < names.size(); ++i)
    for (const MeasurePoint &point : measure.points) {
      TESSERA_ASSIGN(Runner runner, makeRunner(module, names[i], weights[i], point, measure.weightBytes));
      runners.push_back(std::move(runner));
    }
  // All take turns, so that whatever else the machine does hits all of them.
  for (bool more = true; more;) {
    more = false;
    for (Runner &runner : runners) {
      if (runner.runs > 7 && runner.spent >= measure.seconds * 1e9)
        continue;
      TESSERA_TRY(runner.run());
      more = true;
    }
  }
  std::vector<std::vector<double>> best(names.size());
  for (size_t i = 0; i < runners.size(); ++i)
    best[i / measure.points.size()].push_back(runners[i].best);
  return best;
}
