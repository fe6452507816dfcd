// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches and loops. A branch whose condition is known, and a loop whose number of steps is known and small,
// are written out; others become operations of `scf`.
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/frontends/onnx/Loops.h"

using namespace tessera;
using namespace tessera::onnximport;
namespace ox = tessera::onnx;

/// Steps of a loop that are written out at most.
static constexpr int64_t maxUnrolled = 1024;

static const ox::Graph *body(NodeContext &c, StringRef name) {
  const ox::Attribute *a = c.attr(name);
  if (a && a->graphs.size() == 1)
    return &a->graphs[0];
  c.fail("attribute '" + name + "' is missing or no graph");
  return nullptr;
}

bool onnximport::poisoned(NodeContext &c, ArrayRef<Val> values) {
  for (const Val &v : values)
    if (!v || v->poison) {
      c.bad = true;
      return true;
    }
  return false;
}

Value onnximport::scalarOf(NodeContext &c, Value t) {
  Value single = c.reshape(t, {});
  return single ? Value(tensor::ExtractOp::create(c.b, c.loc, single, ValueRange())) : Value();
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

// The type of what is one or the other: extents that differ are dynamic. Null when the ranks do.
static Type joined(Value yes, Value no) {
  auto one = cast<RankedTensorType>(yes.getType()), other = cast<RankedTensorType>(no.getType());
  if (one.getRank() != other.getRank() || one.getElementType() != other.getElementType())
    return Type();
  SmallVector<int64_t> shape(one.getShape());
  for (auto [extent, too] : llvm::zip(shape, other.getShape()))
    if (extent != too)
      extent = ShapedType::kDynamic;
  return RankedTensorType::get(shape, one.getElementType());
}

// One side alone; a launch whose extents would take the other one is refused.
static void assume(NodeContext &c, Value condition, const ox::Graph &side, bool holds) {
  c.require(Ext(condition), Ext(holds),
            "the condition on extents (0 or 1) that this program was compiled for");
  std::vector<Val> values = c.importer.importBody(side, {}, c.scope);
  if (poisoned(c, values))
    return;
  for (size_t i = 0; i < values.size(); ++i)
    c.set(i, values[i]);
}

static void branch(NodeContext &c) {
  const ox::Graph *yes = body(c, "then_branch"), *no = body(c, "else_branch");
  if (!yes || !no)
    return;
  for (const ox::Graph *side : {yes, no})
    if (side->outputs.size() != c.numOutputs())
      return void(c.fail("expected " + Twine(c.numOutputs()) + " outputs of its branches, but the " +
                         (side == yes ? "then_branch" : "else_branch") + " has " +
                         Twine(side->outputs.size())));
  if (KnownPtr k = c.tryKnown(0); k && k->count() == 1 && k->isStatic()) {
    std::vector<Val> values = c.importer.importBody(k->elements[0].i ? *yes : *no, {}, c.scope);
    if (poisoned(c, values))
      return;
    for (size_t i = 0; i < values.size(); ++i)
      c.set(i, values[i]);
    return;
  }
  Value condition = c.v(0);
  if (!condition || !c.elem(condition).isInteger(1))
    return void(c.fail("expected a bool as condition"));
  Value flag = scalarOf(c, condition);
  if (!flag)
    return;
  // Of a condition on extents one side may be all that fits.
  KnownPtr known = c.tryKnown(0);
  Value onExtents = known && known->count() == 1 ? known->elements[0].dynamic : Value();
  // Both sides are built to learn the types; then they move below the operation.
  Block *blocks[2] = {new Block, new Block};
  SmallVector<Value> results[2];
  std::vector<Val> values[2];
  bool failed[2] = {false, false};
  size_t before = c.importer.problemCount;
  for (int side : {0, 1}) {
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToEnd(blocks[side]);
    values[side] = c.importer.importBody(side ? *no : *yes, {}, c.scope);
    if (!poisoned(c, values[side]))
      for (const Val &v : values[side])
        results[side].push_back(c.importer.materialise(v, &c));
    failed[side] = c.bad;
    c.bad = false;
    if (!failed[side])
      scf::YieldOp::create(c.b, c.loc, results[side]);
  }
  c.bad = failed[0] || failed[1];
  auto discard = [&] {
    c.importer.forgetExtents();
    for (Block *block : blocks) {
      block->dropAllReferences();
      block->clear();
      delete block;
    }
  };
  SmallVector<Type> types;
  bool fits = !c.bad;
  for (size_t i = 0; fits && i < results[0].size(); ++i) {
    types.push_back(results[0][i] && results[1][i] ? joined(results[0][i], results[1][i]) : Type());
    fits = types.back() != Type();
    if (values[0][i]->type != values[1][i]->type)
      c.fail("its branches give different element types for output " + Twine(i));
  }
  if (onExtents && !fits && !(failed[0] && failed[1])) {
    discard();
    c.bad = false;
    c.importer.forgive(before);
    bool elseSide = failed[0] || failed[1] ? failed[0] : c.importer.decide(2);
    return assume(c, onExtents, elseSide ? *no : *yes, !elseSide);
  }
  if (!fits || c.bad) {
    // There is only one side once the condition is known.
    if (!c.bad)
      c.known(0, "cond: its branches give tensors of different ranks, and the condition");
    return discard();
  }
  for (int side : {0, 1}) {
    OpBuilder::InsertionGuard guard(c.b);
    Operation *yield = blocks[side]->getTerminator();
    c.b.setInsertionPoint(yield);
    for (auto [i, type] : llvm::enumerate(types))
      if (results[side][i].getType() != type)
        yield->setOperand(i, tensor::CastOp::create(c.b, c.loc, type, results[side][i]));
  }
  auto op = scf::IfOp::create(c.b, c.loc, types, flag, /*withElseRegion=*/true);
  for (int side : {0, 1}) {
    Region &region = side ? op.getElseRegion() : op.getThenRegion();
    while (!region.empty())
      region.front().erase();
    region.push_back(blocks[side]);
  }
  for (size_t i = 0; i < types.size(); ++i)
    c.set(i, op.getResult(i), values[0][i]->type);
}

//===----------------------------------------------------------------------===//
// Loops that are written out
//===----------------------------------------------------------------------===//

// Values side by side along a new first dimension, or along `axis`.
static Val stack(NodeContext &c, ArrayRef<Val> values, int64_t axis) {
  bool known = llvm::all_of(
      values, [&](const Val &v) { return c.importer.known(v) && c.importer.known(v)->isStatic(); });
  if (known && axis == 0) {
    Known k = *c.importer.known(values[0]);
    SmallVector<int64_t> dims = k.dims;
    k.elements.clear();
    bool same = true;
    for (const Val &v : values) {
      KnownPtr part = c.importer.known(v);
      same &= part->dims == dims && part->type == k.type;
      k.elements.insert(k.elements.end(), part->elements.begin(), part->elements.end());
    }
    k.dims.insert(k.dims.begin(), values.size());
    if (same && k.count() <= maxKnown)
      return c.importer.fromKnown(std::move(k));
  }
  SmallVector<Value> parts;
  for (const Val &v : values)
    parts.push_back(c.unsqueeze(c.importer.materialise(v, &c), {axis}));
  Value all = c.concat(parts, axis);
  return all ? c.importer.fromValue(all, values[0]->type) : nullptr;
}

// What a scan output is when there was no step: its declared type, with no elements.
static Val nothing(NodeContext &c, const ox::ValueInfo &info) {
  Exts shape = {Ext(0)};
  if (!info.type.shape || !elementType(info.type.element, c.b.getContext()))
    return c.fail("a loop without steps needs the types of its outputs"), nullptr;
  for (const ox::Dim &dim : *info.type.shape) {
    if (!dim.value)
      return c.fail("a loop without steps needs the types of its outputs"), nullptr;
    shape.push_back(Ext(*dim.value));
  }
  Value empty = c.full(shape, 0, info.type.element);
  return empty ? c.importer.fromValue(empty, info.type.element) : nullptr;
}

static Val knownInt(NodeContext &c, int64_t value, DataType type = DataType::I64) {
  Known k;
  k.type = type;
  k.elements.push_back({value, 0, {}});
  return c.importer.fromKnown(std::move(k));
}

// False when the condition of a further step is not known; nothing is set then.
static bool unroll(NodeContext &c, const ox::Graph &graph, int64_t trips, bool limited) {
  size_t carried = c.numInputs() > 2 ? c.numInputs() - 2 : 0, scans = graph.outputs.size() - 1 - carried;
  std::vector<Val> state(c.in.begin() + std::min<size_t>(2, c.in.size()), c.in.end());
  std::vector<std::vector<Val>> collected(scans);
  Val going = c.has(1) ? c.val(1) : knownInt(c, 1, DataType::Bool);
  for (int64_t i = 0; !limited || i < trips; ++i) {
    KnownPtr k = c.importer.known(going);
    if (!k || k->count() != 1 || !k->isStatic())
      return false;
    if (!k->elements[0].i)
      break;
    if (i >= maxUnrolled) {
      c.fail("runs for more than " + Twine(maxUnrolled) + " steps that must be written out");
      return true;
    }
    std::vector<Val> inputs{knownInt(c, i), going};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<Val> outputs = c.importer.importBody(graph, inputs, c.scope);
    if (poisoned(c, outputs))
      return true;
    going = outputs[0];
    for (size_t s = 0; s < carried; ++s)
      state[s] = outputs[1 + s];
    for (size_t s = 0; s < scans; ++s)
      collected[s].push_back(outputs[1 + carried + s]);
  }
  for (size_t s = 0; s < carried; ++s)
    c.set(s, state[s]);
  for (size_t s = 0; s < scans; ++s)
    if (c.wants(carried + s))
      c.set(carried + s,
            collected[s].empty() ? nothing(c, graph.outputs[1 + carried + s]) : stack(c, collected[s], 0));
  return true;
}

static void loop(NodeContext &c) {
  const ox::Graph *graph = body(c, "body");
  if (!graph)
    return;
  size_t carried = c.numInputs() > 2 ? c.numInputs() - 2 : 0;
  if (graph->outputs.size() < 1 + carried || graph->inputs.size() != 2 + carried)
    return void(c.fail("its body does not take and give what the loop carries"));
  bool scans = graph->outputs.size() > 1 + carried;
  KnownPtr trips = c.tryKnown(0), going = c.tryKnown(1);
  bool limited = c.has(0), knownTrips = !limited || (trips && trips->count() == 1 && trips->isStatic()),
       knownStart = !c.has(1) || (going && going->count() == 1 && going->isStatic());
  int64_t count = limited && knownTrips && trips ? trips->elements[0].i : 0;
  bool small = !limited || count <= maxUnrolled || scans;
  size_t before = c.importer.problemCount;
  if (knownTrips && knownStart && small && unroll(c, *graph, count, limited))
    return;
  if (c.importer.problemCount != before) {
    c.bad = true;
    return;
  }
  whileLoop(c, *graph);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

// One scan over `inputs` (states, then sequences); gives states, then stacked outputs.
static std::vector<Val> scanOnce(NodeContext &c, const ox::Graph &graph, std::vector<Val> inputs,
                                 const ScanShape &s) {
  std::vector<Val> state(inputs.begin(), inputs.begin() + s.states);
  SmallVector<Value> sequences;
  int64_t steps = -1;
  for (size_t i = 0; i < s.inputs; ++i) {
    Value x = c.importer.materialise(inputs[s.states + i], &c);
    std::optional<int64_t> axis = x ? c.axis(s.inputAxes[i], c.rank(x)) : std::nullopt;
    if (!axis)
      return {};
    int64_t extent = c.dim(x, *axis);
    if (ShapedType::isDynamic(extent) || extent > maxUnrolled || (steps >= 0 && extent != steps))
      return scanLoop(c, graph, inputs, s);
    steps = extent;
    sequences.push_back(x);
  }
  std::vector<std::vector<Val>> collected(s.outputs);
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<Val> arguments = state;
    for (size_t i = 0; i < s.inputs; ++i) {
      int64_t axis = *c.axis(s.inputAxes[i], c.rank(sequences[i]));
      int64_t at = s.inputDirections[i] ? steps - 1 - t : t;
      Value part = c.squeeze(c.slice(sequences[i], axis, at, 1), {axis});
      if (!part)
        return {};
      arguments.push_back(c.importer.fromValue(part, inputs[s.states + i]->type));
    }
    std::vector<Val> results = c.importer.importBody(graph, arguments, c.scope);
    if (poisoned(c, results))
      return {};
    for (size_t i = 0; i < s.states; ++i)
      state[i] = results[i];
    for (size_t i = 0; i < s.outputs; ++i)
      collected[i].push_back(results[s.states + i]);
  }
  std::vector<Val> all = state;
  for (size_t i = 0; i < s.outputs; ++i) {
    if (collected[i].empty())
      return c.fail("expected sequences that are not empty"), std::vector<Val>();
    if (s.outputDirections[i])
      std::reverse(collected[i].begin(), collected[i].end());
    int64_t rank = collected[i][0]->rank() + 1;
    std::optional<int64_t> axis = c.axis(s.outputAxes[i], rank);
    Val whole = axis ? stack(c, collected[i], *axis) : nullptr;
    if (!whole)
      return {};
    all.push_back(whole);
  }
  return all;
}

static void scan(NodeContext &c) {
  const ox::Graph *graph = body(c, "body");
  if (!graph)
    return;
  bool batched = c.opset < 9;
  size_t first = batched ? 1 : 0;
  ScanShape s;
  int64_t given = c.attrInt("num_scan_inputs", 0);
  if (given < 1 || size_t(given) + first > c.numInputs() || graph->inputs.size() != c.numInputs() - first)
    return void(c.fail("'num_scan_inputs' does not fit its inputs"));
  s.inputs = given;
  s.states = c.numInputs() - first - s.inputs;
  if (graph->outputs.size() < s.states)
    return void(c.fail("its body does not give what the scan carries"));
  s.outputs = graph->outputs.size() - s.states;
  auto list = [&](const char *name, size_t n) {
    Ints values = c.attrInts(name);
    values.resize(n, 0);
    return values;
  };
  s.inputAxes = list("scan_input_axes", s.inputs);
  s.outputAxes = list("scan_output_axes", s.outputs);
  s.inputDirections = list(batched ? "directions" : "scan_input_directions", s.inputs);
  s.outputDirections = list("scan_output_directions", s.outputs);
  for (size_t i = first; i < c.numInputs(); ++i)
    if (!c.has(i))
      return void(c.fail("input " + Twine(i) + " is missing"));
  std::vector<Val> inputs(c.in.begin() + first, c.in.end());
  std::vector<Val> results;
  if (!batched) {
    results = scanOnce(c, *graph, inputs, s);
  } else {
    if (c.has(0))
      return void(c.fail("lengths of sequences are not supported"));
    Value x = c.importer.materialise(inputs[0], &c);
    int64_t batches = c.dim(x, 0);
    if (ShapedType::isDynamic(batches) || batches < 1 || batches > maxUnrolled)
      return void(c.fail("expected a static batch"));
    std::vector<std::vector<Val>> items(s.states + s.outputs);
    for (int64_t n = 0; n < batches && !c.bad; ++n) {
      std::vector<Val> item;
      for (const Val &v : inputs) {
        Value part = c.squeeze(c.slice(c.importer.materialise(v, &c), 0, n, 1), {0});
        if (!part)
          return;
        item.push_back(c.importer.fromValue(part, v->type));
      }
      std::vector<Val> one = scanOnce(c, *graph, item, s);
      for (size_t i = 0; i < one.size(); ++i)
        items[i].push_back(one[i]);
    }
    for (const std::vector<Val> &list : items)
      if (!c.bad && !list.empty())
        results.push_back(stack(c, list, 0));
  }
  if (c.bad || poisoned(c, results))
    return;
  for (size_t i = 0; i < results.size(); ++i)
    c.set(i, results[i]);
}

ArrayRef<OperatorEntry> onnximport::controlOperators() {
  static const OperatorEntry entries[] = {
      {"If", 1, lastOpset, branch},
      {"Loop", 1, lastOpset, loop},
      {"Scan", 8, lastOpset, scan},
  };
  return entries;
}
