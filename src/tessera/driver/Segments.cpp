// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Segments.h.
#include "tessera/driver/Segments.h"

#include "tessera/driver/Knobs.h"
#include "tessera/ir/nn/Nn.h"
#include "tessera/transforms/nn/graph/Rewrites.h"
#include "tessera/transforms/nn/knobs/Knobs.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace tessera;

namespace {

/// The body of a network, dealt out. Constants and what computes extents belong to no piece: each piece has
/// copies of those it needs.
struct Pieces {
  dfg::GraphOp graph;
  dfg::NodeOp node;
  std::vector<SmallVector<Operation *>> ops;
  std::vector<llvm::SetVector<Value>> inputs, outputs;
  std::vector<llvm::SetVector<Operation *>> copies;

  /// Cuts in front of each operation that has one of the knobs `patterns` stand for.
  LogicalResult divide(Portable &program, ArrayRef<std::string> patterns);

private:
  void collect(Value v, size_t piece, const DenseMap<Operation *, size_t> &pieceOf);
};

} // namespace

static SmallVector<Knob> selectKnobs(Operation *op, ArrayRef<std::string> patterns) {
  SmallVector<Knob> knobs;
  // A sum's knob shows in its neighbours, not in a piece of its own.
  if (auto tunable = dyn_cast<nn::TunableOp>(op); tunable && !isa<nn::BinaryOp>(op))
    for (const Knob &knob : nn::listKnobs(tunable))
      if (!knob.isExact() && matchesAny(knob, patterns))
        knobs.push_back(knob);
  return knobs;
}

namespace {

struct SumOfPiece {
  Operation *op;
  Operation *reader; ///< the layer that reads what waits for the sum, if it can do so in bytes
  tune::Segment::Sum knobs;
};

} // namespace

static Operation *findReader(nn::BinaryOp sum, ArrayRef<std::string> patterns) {
  Value waiting = sum.getRangedOperand();
  for (Operation *user : waiting.getUsers()) {
    auto layer = dyn_cast<nn::TunableOp>(user);
    if (layer && layer.getRangedOperand() == waiting &&
        llvm::any_of(selectKnobs(user, patterns), [](const Knob &knob) { return knob.isBytes(); }))
      return user;
  }
  return nullptr;
}

// Sums of activations, which follow the operation in front of them, as far as that is asked for. In bytes
// only where a layer reads the same bytes: stored twice, in two forms, they would cost more than they save.
static SmallVector<SumOfPiece> sumsOf(ArrayRef<Operation *> piece, ArrayRef<std::string> patterns) {
  SmallVector<SumOfPiece> sums;
  const Knob half{Knob::Precision::BF16}, bytes{Knob::Precision::Int8};
  for (Operation *op : piece.drop_front())
    if (auto sum = dyn_cast<nn::BinaryOp>(op); sum && sum.hasKnob(half)) {
      Operation *reader = matchesAny(bytes, patterns) ? findReader(sum, patterns) : nullptr;
      const std::string narrow = matchesAny(half, patterns) ? half.str() : "";
      sums.push_back({op, reader, {nn::nameOf(op).str(), narrow, reader ? bytes.str() : narrow}});
    }
  return sums;
}

static bool isFree(Operation &op) {
  return isa<arith::ConstantOp>(op) ||
         llvm::none_of(op.getResultTypes(), [](Type type) { return isa<TensorType>(type); });
}

void Pieces::collect(Value v, size_t piece, const DenseMap<Operation *, size_t> &pieceOf) {
  Operation *def = v.getDefiningOp();
  Block *body = node.getBodyBlock();
  if (!def) {
    if (cast<BlockArgument>(v).getOwner() == body)
      inputs[piece].insert(v);
    return;
  }
  if (def->getBlock() != body)
    return;
  if (isFree(*def)) {
    if (copies[piece].insert(def))
      for (Value operand : def->getOperands())
        collect(operand, piece, pieceOf);
    return;
  }
  if (size_t owner = pieceOf.lookup(def); owner != piece) {
    inputs[piece].insert(v);
    outputs[owner].insert(v);
  }
}

LogicalResult Pieces::divide(Portable &program, ArrayRef<std::string> patterns) {
  for (auto candidate : program.module->getOps<dfg::GraphOp>()) {
    if (candidate.getSymVisibility() == "private")
      continue;
    if (graph)
      return candidate.emitOpError("is a second program; tune files of one program");
    graph = candidate;
  }
  SmallVector<Operation *> body;
  for (Operation &op : graph.getBodyBlock()->without_terminator())
    body.push_back(&op);
  node = body.size() == 1 ? dyn_cast<dfg::NodeOp>(body[0]) : dfg::NodeOp();
  if (!node || !nn::isNetwork(node) || node.getInputs().size() != 1 || node.getNumResults() != 1 ||
      !node.getYieldOp().getValues()[0].getDefiningOp() ||
      isFree(*node.getYieldOp().getValues()[0].getDefiningOp()))
    return graph.emitOpError("cannot be tuned; expected a network with one input and one output");
  DenseMap<Operation *, size_t> pieceOf;
  for (Operation &op : node.getBodyBlock()->without_terminator()) {
    if (isFree(op))
      continue;
    if (ops.empty() || !selectKnobs(&op, patterns).empty())
      ops.emplace_back();
    ops.back().push_back(&op);
    pieceOf[&op] = ops.size() - 1;
  }
  inputs.resize(ops.size());
  outputs.resize(ops.size());
  copies.resize(ops.size());
  for (size_t piece = 0; piece < ops.size(); ++piece)
    for (Operation *op : ops[piece])
      op->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          collect(operand, piece, pieceOf);
      });
  // What does not depend on the input was folded, and is no network.
  Value result = node.getYieldOp().getValues()[0];
  outputs[pieceOf.lookup(result.getDefiningOp())].insert(result);
  return success();
}

static std::string spell(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

// What decides how long an operation takes: its types and attributes, not what it is called or holds.
static std::string spellShape(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  for (Value v : op->getOperands())
    text += " " + spell(v.getType());
  for (NamedAttribute attr : op->getAttrs())
    if (!attr.getName().getValue().starts_with("nn.")) {
      text += " " + attr.getName().str() + "=";
      llvm::raw_string_ostream(text) << attr.getValue();
    }
  return text;
}

FailureOr<tune::Network> tessera::describeNetwork(Portable &program, ArrayRef<std::string> patterns) {
  Pieces pieces;
  if (failed(pieces.divide(program, patterns)))
    return failure();
  tune::Network network;
  network.name = pieces.graph.getSymName().str();
  DenseMap<Value, int32_t> numbers = {{pieces.node.getInputArgs()[0], 0}};
  for (auto &values : pieces.outputs)
    for (Value v : values)
      numbers[v] = network.values++;
  network.output = numbers.lookup(pieces.node.getYieldOp().getValues()[0]);
  for (size_t piece = 0; piece < pieces.ops.size(); ++piece) {
    tune::Segment segment;
    for (Value v : pieces.inputs[piece])
      segment.inputs.push_back(numbers.lookup(v));
    for (Value v : pieces.outputs[piece])
      segment.outputs.push_back(numbers.lookup(v));
    segment.knobs = {Knob().str()};
    Operation *first = pieces.ops[piece].front();
    SmallVector<Knob> knobs = selectKnobs(first, patterns);
    if (!knobs.empty()) {
      auto op = cast<nn::TunableOp>(first);
      segment.name = nn::nameOf(first).str();
      segment.kind = first->getName().stripDialect().str();
      segment.shape = spellShape(first);
      segment.flops = double(cast<nn::NnOp>(first).getFlops());
      if (auto it = numbers.find(op.getRangedOperand()); it != numbers.end())
        segment.activation = it->second;
      segment.work = {op.getKnobCost(Knob())};
      segment.range = nn::rangeOf(first);
      if (DenseF32ArrayAttr demand = nn::Notes::demand.get(first))
        segment.demand = tune::Demand{demand[0], demand[1]};
      for (const Knob &knob : knobs)
        if (segment.activation >= 0 || !knob.isBytes()) {
          segment.knobs.push_back(knob.str());
          segment.work.push_back(op.getKnobCost(knob));
        }
      for (SumOfPiece &sum : sumsOf(pieces.ops[piece], patterns))
        segment.sums.push_back(std::move(sum.knobs));
    }
    network.segments.push_back(std::move(segment));
  }
  return network;
}

// A graph of one piece.
static void emitPiece(OpBuilder &b, Pieces &pieces, ArrayRef<std::string> patterns, size_t piece,
                      StringRef name, const std::string &knob, const tune::Ranges &ranges) {
  SmallVector<Type> inTypes, outTypes;
  SmallVector<Attribute> inNames, outNames;
  SmallVector<Location> locs;
  for (Value v : pieces.inputs[piece]) {
    inNames.push_back(b.getStringAttr("in" + Twine(inTypes.size())));
    inTypes.push_back(v.getType());
    locs.push_back(v.getLoc());
  }
  for (Value v : pieces.outputs[piece]) {
    outNames.push_back(b.getStringAttr("out" + Twine(outTypes.size())));
    outTypes.push_back(v.getType());
  }
  Location loc = pieces.node.getLoc();
  auto graph =
      dfg::GraphOp::create(b, loc, b.getStringAttr(name), TypeAttr::get(b.getFunctionType(inTypes, outTypes)),
                           b.getArrayAttr(inNames), b.getArrayAttr(outNames), StringAttr());
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&graph.getBody(), {}, inTypes, locs);
  SmallVector<dfg::PortAttr> ports(inTypes.size(),
                                   dfg::PortAttr::get(b.getContext(), dfg::PortMode::Whole, {}));
  SmallVector<dfg::ResultAttr> yields(outTypes.size(),
                                      dfg::ResultAttr::get(b.getContext(), dfg::ResultMode::Gather, {}, {}));
  auto node = dfg::NodeOp::create(b, loc, "net", ValueRange{}, body->getArguments(), ports, outTypes, yields);
  dfg::ReturnOp::create(b, loc, node.getResults());
  b.setInsertionPointToStart(node.getBodyBlock());
  IRMapping map;
  for (auto [v, arg] : llvm::zip(pieces.inputs[piece], node.getInputArgs()))
    map.map(v, arg);
  for (Operation &op : *pieces.node->getRegion(0).begin())
    if (pieces.copies[piece].contains(&op) || llvm::is_contained(pieces.ops[piece], &op))
      b.clone(op, map);
  SmallVector<Value> results;
  for (Value v : pieces.outputs[piece])
    results.push_back(map.lookup(v));
  dfg::YieldOp::create(b, loc, results);
  if (knob == Knob().str())
    return;
  auto give = [&](Operation *op, const std::string &own, Operation *ranged) {
    Operation *copy = map.lookup(op->getResult(0)).getDefiningOp();
    nn::Notes::knob.set(copy, own);
    if (auto it = ranges.find(ranged ? nn::nameOf(ranged).str() : ""); it != ranges.end())
      nn::Notes::range.set(copy, {it->second.first, it->second.second});
  };
  Operation *first = pieces.ops[piece].front();
  give(first, knob, first);
  for (const SumOfPiece &sum : sumsOf(pieces.ops[piece], patterns))
    if (const std::string &own = sum.knobs.knobBeside(knob); !own.empty())
      give(sum.op, own, sum.reader);
}

FailureOr<Portable> tessera::cutNetwork(Portable &program, ArrayRef<std::string> patterns,
                                        ArrayRef<tune::PieceName> names, const tune::Ranges &ranges) {
  Pieces pieces;
  if (failed(pieces.divide(program, patterns)))
    return failure();
  Portable cut;
  cut.source = program.source;
  cut.module = ModuleOp::create(program.module->getLoc());
  OpBuilder b = OpBuilder::atBlockBegin(cut.module->getBody());
  for (const tune::PieceName &name : names)
    emitPiece(b, pieces, patterns, name.segment, tune::Network::programName(name.segment, name.index),
              name.knob, ranges);
  return cut;
}
