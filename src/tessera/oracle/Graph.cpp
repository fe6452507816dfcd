// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs: nodes and their instances, ports, calls, buffers, states, and what stands only inside a leaf.
#include "tessera/oracle/Nodes.h"
#include "tessera/oracle/Tensors.h"

using namespace tessera;
using namespace tessera::oracle;

//===----------------------------------------------------------------------===//
// Ports
//===----------------------------------------------------------------------===//

// The memref an instance gets: the same memory, with the rights of the port.
static Val portView(const Val &value, dfg::PortMode mode) {
  Ref<MemRef> view = new MemRef(value.memory());
  if (mode == dfg::PortMode::Acc)
    view->access = Access::Accumulate;
  else if (mode == dfg::PortMode::In && view->access == Access::Any)
    view->access = Access::Read;
  return Val::of(view.get());
}

// The element or tile of an `each` operand that belongs to an instance.
static Val ownPart(const Elements &all, uint64_t instance, unsigned rank) {
  if (all.shape.size() == rank)
    return all.load(instance);
  ArrayRef<int64_t> shape = ArrayRef<int64_t>(all.shape).drop_front(rank);
  Ref<Elements> part = new Elements(all.info, shape);
  for (int64_t e = 0, count = part->size(); e < count; ++e)
    part->copyElement(e, all, instance * count + e);
  return Val::of(part.get());
}

namespace {
// One execution of a node.
struct NodeRun {
  Exec &x;
  const Inst &inst;
  dfg::NodeOp node;
  SmallVector<int64_t, 3> extents;
  std::vector<Val> inputs;
  std::vector<Collector> collectors;
  NodeKnob knob;
  // Memory of the `acc` ports whose sums are kept more precisely while the node runs.
  SmallVector<Buffer *, 1> preciseBuffers;

  // Of a node that stores (dfg::storesOf) and has a knob: what each instance stores, and where.
  StoreCapture stores;
  std::vector<std::vector<StoreCapture::Kept>> stored;

  LogicalResult init();
  void instanceArgs(uint64_t instance, ArrayRef<int64_t> ids, Vals &args);
  LogicalResult collect(Exec &at, ArrayRef<int64_t> ids, Vals &results);
  LogicalResult runInstances(const Code &code, bool isInternal);
  LogicalResult runFibers(const Code &code, LeafRun &leaf);
  LogicalResult storeAll();
  LogicalResult finish();
};
} // namespace

LogicalResult NodeRun::init() {
  unsigned rank = node.getRank();
  if (failed(x.indices(inst, 0, rank, extents)))
    return failure();
  for (int64_t extent : extents)
    if (extent < 0)
      return x.error(inst, "has a grid with a negative extent: " + formatIndex(extents));
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    dfg::PortAttr port = node.getPort(i);
    const Val &value = x.in(inst, rank + i);
    if (port.isMemory()) {
      inputs.push_back(portView(value, port.getMode()));
      Buffer &buffer = *value.memory().buffer;
      if (port.getMode() == dfg::PortMode::Acc && buffer.precise.empty() &&
          isPrecise(port.getReduction(), buffer.info)) {
        buffer.precise.assign(buffer.count, 0);
        buffer.hasPrecise.assign(buffer.count, 0);
        preciseBuffers.push_back(&buffer);
      }
      continue;
    }
    inputs.push_back(value);
    if (port.getMode() != dfg::PortMode::Each)
      continue;
    if (value.isUndef())
      return x.undefined(inst);
    ArrayRef<int64_t> lead = ArrayRef<int64_t>(value.elements().shape).take_front(rank);
    if (lead != ArrayRef<int64_t>(extents))
      return x.error(inst, "expected the leading extents of 'each' operand " + Twine(i) +
                               " to be the grid's " + formatIndex(extents) + ", but got " +
                               formatIndex(lead));
  }
  for (unsigned r = 0; r < node.getNumYields(); ++r)
    collectors.emplace_back(node, r, extents);
  knob = NodeKnob(node, extents);
  if (!dfg::knobOf(node).isExact())
    if (auto list = dfg::storesOf(node)) {
      for (auto [i, store] : llvm::enumerate(*list))
        stores.numbers[store] = i;
      stores.kept.resize(list->size());
    }
  return success();
}

void NodeRun::instanceArgs(uint64_t instance, ArrayRef<int64_t> ids, Vals &args) {
  args.clear();
  for (int64_t id : ids)
    args.push_back(Val::index(id));
  for (unsigned i = 0; i < inputs.size(); ++i) {
    if (node.getPort(i).getMode() == dfg::PortMode::Each)
      args.push_back(ownPart(inputs[i].elements(), instance, ids.size()));
    else
      args.push_back(inputs[i]);
    if (knob.isMath())
      roundToHalf(ElementInfo::get(node.getInputs()[i].getType()), args.back());
  }
}

LogicalResult NodeRun::collect(Exec &at, ArrayRef<int64_t> ids, Vals &results) {
  for (unsigned r = 0; r < collectors.size(); ++r) {
    if (knob.samples())
      knob.weigh(results[r], node, r);
    if (failed(collectors[r].add(at, inst, ids, results[r])))
      return failure();
  }
  return success();
}

LogicalResult NodeRun::runInstances(const Code &code, bool isInternal) {
  std::vector<Val> frame(code.slots);
  Val *savedFrame = std::exchange(x.frame, frame.data());
  const int64_t *savedPoint = std::exchange(x.point, nullptr);
  const bool savedHalves = std::exchange(x.makesHalves, knob.isMath());
  std::string savedPath = x.path;
  SmallVector<int64_t, 3> ids(extents.size());
  Vals args, results;
  LogicalResult status = success();
  for (uint64_t instance = 0, count = countElements(extents); instance < count && succeeded(status);
       ++instance) {
    // Where an instance stores is known when it has run.
    if (knob.skips(ids) && stores.kept.empty()) {
      nextIndex(ids, extents);
      continue;
    }
    if (!extents.empty())
      x.levels.back().instance = instance + 1;
    if (isInternal)
      x.path = savedPath + "/" + node.getName().str() + formatIndex(ids);
    instanceArgs(instance, ids, args);
    status = x.run(code.region, args, results);
    // What instances yield is combined by the node, not by the body.
    x.frame = savedFrame;
    if (succeeded(status))
      status = collect(x, ids, results);
    if (!stores.kept.empty())
      stored.push_back(stores.kept);
    x.frame = frame.data();
    nextIndex(ids, extents);
  }
  x.frame = savedFrame;
  x.point = savedPoint;
  x.makesHalves = savedHalves;
  x.path = std::move(savedPath);
  return status;
}

LogicalResult NodeRun::runFibers(const Code &code, LeafRun &leaf) {
  // Each instance needs a stack, of which the system maps only so many.
  constexpr int64_t limit = 16384;
  if (countElements(extents) > limit)
    return x.error(inst, "has " + Twine(countElements(extents)) +
                             " instances that meet at barriers; the oracle runs " + Twine(limit) +
                             " at most");
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<SmallVector<int64_t, 3>> ids;
  SmallVector<int64_t, 3> id(extents.size());
  for (uint64_t instance = 0, count = countElements(extents); instance < count; ++instance) {
    if (!extents.empty())
      x.levels.back().instance = instance + 1;
    fibers.push_back(std::make_unique<Fiber>(x, code));
    instanceArgs(instance, id, fibers.back()->args);
    ids.push_back(id);
    nextIndex(id, extents);
  }
  if (failed(runPhases(x, inst, leaf, fibers)))
    return failure();
  for (size_t i = 0; i < fibers.size(); ++i)
    if (failed(collect(fibers[i]->exec, ids[i], fibers[i]->results)))
      return failure();
  return success();
}

// What a knob makes of the elements goes where they would have gone.
LogicalResult NodeRun::storeAll() {
  for (size_t s = 0; s < stores.kept.size() && !stored.empty(); ++s) {
    const ElementInfo info = stored[0][s].memory.memory().buffer->info;
    Val all = Val::of(new Elements(info, extents));
    for (size_t i = 0; i < stored.size(); ++i)
      all.elements().store(i, stored[i][s].value);
    knob.approximate(all, node, s);
    for (size_t i = 0; i < stored.size(); ++i) {
      const StoreCapture::Kept &kept = stored[i][s];
      if (!extents.empty())
        x.levels.back().instance = i + 1;
      if (failed(x.store(*kept.inst, kept.memory.memory(), kept.index, all.elements().load(i))))
        return failure();
    }
  }
  return success();
}

LogicalResult NodeRun::finish() {
  for (Buffer *buffer : preciseBuffers) {
    for (int64_t e = 0; e < buffer->count; ++e)
      if (buffer->hasPrecise[e])
        buffer->store(e, roundPrecise(buffer->info, buffer->precise[e]));
    buffer->precise.clear();
    buffer->hasPrecise.clear();
  }
  for (unsigned r = 0; r < collectors.size(); ++r) {
    Val result;
    if (failed(collectors[r].finish(x, inst, result)))
      return failure();
    knob.approximate(result, node, r);
    x.out(inst, r) = std::move(result);
  }
  unsigned next = collectors.size(), rank = extents.size();
  for (unsigned i = 0; i < inputs.size(); ++i)
    if (node.getPort(i).isWritable())
      x.out(inst, next++) = x.in(inst, rank + i);
  return success();
}

// In some activations a node's last results serve again. Its states: the number of the next activation in its
// period, and each result.
static bool reuseResults(Exec &x, const Inst &inst, const Knob &knob) {
  const std::pair turn(x.path + "#turn", inst.op);
  auto known = x.states->values.find(turn);
  const int64_t number = known == x.states->values.end() ? 0 : known->second.getIndex();
  x.states->next[turn] = Val::index((number + 1) % knob.rate);
  if (number < knob.offset || number >= knob.offset + knob.skip)
    return false;
  for (unsigned r = 0; r < inst.op->getNumResults(); ++r)
    x.out(inst, r) = x.states->values[{x.path + "#" + std::to_string(r), inst.op}];
  return true;
}

static LogicalResult computeNode(Exec &x, const Inst &inst);

// Results become those of `age` activations before: each stage of a queue is a state.
static LogicalResult delayResults(Exec &x, const Inst &inst, dfg::NodeOp node, int64_t age) {
  for (unsigned r = 0; r < inst.op->getNumResults(); ++r) {
    const TypedAttr first = dfg::firstOf(node, r);
    std::optional<Val> initial = constantValue(first, first.getType());
    if (!initial)
      return x.error(inst, "has a 'dfg.first' that the oracle cannot represent");
    Val value = x.out(inst, r);
    for (int64_t stage = 0; stage < age; ++stage) {
      const std::pair key(x.path + "#" + std::to_string(r) + "." + std::to_string(stage), inst.op);
      auto known = x.states->values.find(key);
      Val before = known == x.states->values.end() ? *initial : known->second;
      x.states->next[key] = std::exchange(value, std::move(before));
    }
    x.out(inst, r) = std::move(value);
  }
  return success();
}

// A call, or a node whose knob names a version: `first` is the first operand that the graph takes.
static LogicalResult callInstead(Exec &x, const Inst &inst, dfg::GraphOp graph, unsigned first);

static LogicalResult runVersion(Exec &x, const Inst &inst, dfg::NodeOp node, int64_t number) {
  auto graph = dyn_cast_or_null<dfg::GraphOp>(x.interpreter.lookup(node, dfg::versionOf(node, number)));
  if (!graph)
    return x.error(inst, "has a version that is no graph");
  return callInstead(x, inst, graph, node.getRank());
}

static LogicalResult runNode(Exec &x, const Inst &inst) {
  auto node = cast<dfg::NodeOp>(inst.op);
  const Knob knob = dfg::knobOf(node);
  if (knob.structure == Knob::Structure::Version)
    return runVersion(x, inst, node, knob.value);
  if (knob.structure == Knob::Structure::Reuse && reuseResults(x, inst, knob))
    return success();
  if (failed(computeNode(x, inst)))
    return failure();
  if (knob.structure == Knob::Structure::Stale)
    return delayResults(x, inst, node, knob.value);
  if (knob.structure == Knob::Structure::Reuse)
    for (unsigned r = 0; r < inst.op->getNumResults(); ++r)
      x.states->next[{x.path + "#" + std::to_string(r), inst.op}] = x.out(inst, r);
  return success();
}

static LogicalResult computeNode(Exec &x, const Inst &inst) {
  NodeRun run{x, inst, cast<dfg::NodeOp>(inst.op), {}, {}, {}, {}, {}, StoreCapture(), {}};
  if (failed(run.init()))
    return failure();
  const Code &code = x.interpreter.getCode(inst.op);
  bool isInternal = run.node.isInternal();
  LeafRun leaf;
  leaf.node = run.node;
  leaf.extents = run.extents;
  leaf.level = x.levels.size();
  LeafRun *savedLeaf = std::exchange(x.leaf, isInternal ? nullptr : &leaf);
  if (!run.extents.empty())
    x.levels.push_back(Level{inst.op, x.interpreter.nextEpoch(), 1, run.extents});
  StoreCapture *savedCapture = std::exchange(x.capture, run.stores.kept.empty() ? nullptr : &run.stores);
  LogicalResult status = code.hasBarrier && !run.extents.empty() ? run.runFibers(code, leaf)
                                                                 : run.runInstances(code, isInternal);
  x.capture = savedCapture;
  if (succeeded(status))
    status = run.storeAll();
  x.leaf = savedLeaf;
  x.levels.truncate(leaf.level);
  return succeeded(status) ? run.finish() : failure();
}

//===----------------------------------------------------------------------===//
// Inside a leaf
//===----------------------------------------------------------------------===//

static LogicalResult extent(Exec &x, const Inst &inst) {
  if (!x.leaf || inst.immediate < 0 || inst.immediate >= static_cast<int64_t>(x.leaf->extents.size()))
    return x.error(inst, "asks for dimension " + Twine(inst.immediate) + " of a grid that has none");
  x.out(inst).setScalar(x.leaf->extents[inst.immediate]);
  return success();
}

static LogicalResult scratch(Exec &x, const Inst &inst) {
  if (!x.leaf)
    return x.error(inst, "stands outside a leaf");
  Val &memory = x.leaf->scratch[inst.op];
  if (memory.isUndef()) {
    auto type = cast<MemRefType>(inst.op->getResult(0).getType());
    if (failed(x.allocateMemory(inst, inst.resultInfo, type.getShape(), memory, "the scratch memory")))
      return failure();
    memory.memory().buffer->level = x.leaf->level;
  }
  x.out(inst) = memory;
  return success();
}

static LogicalResult barrier(Exec &x, const Inst &inst) {
  // A leaf without a grid has one instance, which waits for nobody.
  if (!x.fiber)
    return success();
  x.fiber->wait(inst);
  return failure(x.fiber->isCancelled);
}

static LogicalResult accumulate(Exec &x, const Inst &inst) {
  auto reduction = dfg::ReductionAttr::getFromOpaquePointer(inst.table);
  const Val &value = x.in(inst, 0);
  const MemRef &view = x.in(inst, 1).memory();
  if (value.isUndef())
    return x.undefined(inst);
  if (!reduction || view.access != Access::Accumulate)
    return x.error(inst, "expected memory of an 'acc' port");
  SmallVector<int64_t, 4> index;
  if (failed(x.indices(inst, 2, inst.in.size() - 2, index)) ||
      failed(x.checkBounds(inst, index, view.sizes, "memref")))
    return failure();
  int64_t at = view.position(index);
  if (failed(x.touch(inst, view, at, Exec::Touching::Accumulate)))
    return failure();
  Buffer &buffer = *view.buffer;
  if (!buffer.defined[at])
    return x.error(inst,
                   "reads element " + formatIndex(index) + " of " + buffer.name + " before it was written");
  if (!buffer.precise.empty() && isPrecise(reduction, buffer.info)) {
    if (!buffer.hasPrecise[at]) {
      buffer.hasPrecise[at] = 1;
      buffer.precise[at] = toDouble(buffer.info, buffer.load(at));
    }
    buffer.precise[at] =
        combinePrecise(*reduction.getKind(), buffer.info, buffer.precise[at], toDouble(buffer.info, value));
    return success();
  }
  Val result;
  if (failed(combineValues(x, inst, reduction, buffer.info, buffer.load(at), value, result)))
    return failure();
  if (result.isUndef())
    return x.undefined(inst);
  buffer.store(at, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Beside nodes
//===----------------------------------------------------------------------===//

static LogicalResult makeBuffer(Exec &x, const Inst &inst) {
  auto op = cast<dfg::BufferOp>(inst.op);
  SmallVector<int64_t, 4> shape;
  unsigned first = 0;
  Val memory;
  if (failed(x.mixed(inst, cast<MemRefType>(op.getMemory().getType()).getShape(), first, shape)) ||
      failed(x.allocateMemory(inst, inst.resultInfo, shape, memory, "a 'dfg.buffer'")))
    return failure();
  if (op.getFill()) {
    const Val &fill = x.in(inst, first);
    if (fill.isUndef())
      return x.undefined(inst);
    Buffer &buffer = *memory.memory().buffer;
    for (int64_t e = 0; e < buffer.count; ++e)
      buffer.store(e, fill);
  }
  x.out(inst) = std::move(memory);
  return success();
}

// A state keeps its own copy of memory: the initial one belongs to the activation that made it.
static LogicalResult readState(Exec &x, const Inst &inst) {
  auto key = std::make_pair(x.path, inst.op);
  auto it = x.states->values.find(key);
  if (it == x.states->values.end()) {
    if (inst.in.empty())
      return x.error(inst, "has no initial value");
    Val initial = x.in(inst, 0);
    if (initial.getTag() == Val::Memory) {
      const MemRef &source = initial.memory();
      Val elements, copy;
      if (failed(x.loadAll(inst, source, elements)) ||
          failed(x.allocateMemory(inst, source.buffer->info, source.sizes, copy, "a 'dfg.state'")) ||
          failed(x.storeAll(inst, copy.memory(), elements.elements())))
        return failure();
      initial = std::move(copy);
    }
    it = x.states->values.emplace(key, std::move(initial)).first;
  }
  x.out(inst) = it->second;
  return success();
}

static LogicalResult updateState(Exec &x, const Inst &inst) {
  auto state = cast<dfg::UpdateOp>(inst.op).getState().getDefiningOp<dfg::StateOp>();
  if (!state)
    return x.error(inst, "expected the value of a 'dfg.state'");
  x.states->next[{x.path, state}] = x.in(inst, 1);
  return success();
}

LogicalResult Interpreter::callGraph(Exec &x, dfg::GraphOp graph, MutableArrayRef<Val> args, Vals &results) {
  const Code &code = getCode(graph);
  std::vector<Val> frame(code.slots);
  Val *savedFrame = std::exchange(x.frame, frame.data());
  LeafRun *savedLeaf = std::exchange(x.leaf, nullptr);
  ++x.depth;
  LogicalResult status = x.run(code.region, args, results);
  --x.depth;
  x.leaf = savedLeaf;
  x.frame = savedFrame;
  return status;
}

static LogicalResult callInstead(Exec &x, const Inst &inst, dfg::GraphOp graph, unsigned first) {
  if (x.depth >= 200)
    return x.error(inst, "nests calls more than 200 deep");
  for (auto [i, type] : llvm::enumerate(graph.getArgumentTypes()))
    if (const Val &value = x.in(inst, first + i);
        value.getTag() == Val::Tensor && failed(checkType(x, inst, type, value.elements().shape)))
      return failure();
  auto node = dyn_cast<dfg::NodeOp>(inst.op);
  Vals args, results;
  for (unsigned i = 0; i < graph.getArgumentTypes().size(); ++i) {
    const Val &value = x.in(inst, first + i);
    // A version may do through a port what the node may.
    const bool isRead = node && node.getPort(i).getMode() == dfg::PortMode::In;
    args.push_back(isRead ? portView(value, dfg::PortMode::In) : value);
  }
  std::string saved = x.path;
  // Two calls of one graph have states of their own.
  x.path += "/" + std::to_string(reinterpret_cast<uintptr_t>(inst.op));
  if (failed(x.interpreter.callGraph(x, graph, args, results)))
    return failure();
  x.path = std::move(saved);
  for (unsigned i = 0; i < inst.out.size(); ++i)
    x.out(inst, i) = std::move(results[i]);
  return success();
}

static LogicalResult call(Exec &x, const Inst &inst) {
  auto op = cast<dfg::CallOp>(inst.op);
  auto graph = dyn_cast_or_null<dfg::GraphOp>(x.interpreter.lookup(op, op.getCalleeAttr()));
  if (!graph)
    return x.error(inst, "calls '" + op.getCallee() + "', which is no graph");
  return callInstead(x, inst, graph, 0);
}

void oracle::addGraph(HandlerTable &table) {
  table.add("dfg.node", runNode);
  table.add("dfg.extent", extent);
  table.add("dfg.scratch", scratch);
  table.add("dfg.barrier", barrier);
  table.add("dfg.accumulate", accumulate);
  table.add("dfg.buffer", makeBuffer);
  table.add("dfg.state", readState);
  table.add("dfg.update", updateState);
  table.add("dfg.call", call);
}
