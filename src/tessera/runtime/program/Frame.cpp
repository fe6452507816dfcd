// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The static path: binding and running an activation on the CPU.
#include "tessera/runtime/program/Frame.h"
#include "tessera/base/Check.h"
#include "tessera/base/Diag.h"
#include "tessera/runtime/trace/Trace.h"

#include <algorithm>
#include <cstring>

namespace tessera {

// A fork costs about a microsecond; below this much serial work it does not pay.
static constexpr float forkThreshold = 5000, fineThreshold = 40000;
// Launches in which each group is timed to replace the estimate.
static constexpr uint32_t measuredLaunches = 3;

Frame::Frame(Program &program)
    : program(program), plan(program.plan()), segments(static_cast<size_t>(plan.segments)),
      roots(plan.values.size(), nullptr), dims(plan.values.size()), inputMemory(plan.inputs.size()),
      loaded(plan.loads.size(), 0), stateBlocks(plan.states.size()), stateBound(plan.states.size(), 0) {
  for (size_t v = 0; v < plan.values.size(); ++v)
    if (plan.values[v].kind == ValueKind::Const)
      roots[v] = const_cast<std::byte *>(program.constant(static_cast<int32_t>(v)));
}

static std::string describeDeclared(const ValueInfo &value) {
  return concat(elementTypeName(value.type), value.shape.empty() ? " " : " of shape ",
                formatShape(value.shape));
}

Status checkInput(const ProgramPlan &plan, size_t i, const Buffer *buffer) {
  if (fitsInput(plan, i, buffer))
    return Status();
  const Port &port = plan.inputs[i];
  const ValueInfo &value = plan.values[static_cast<size_t>(port.value)];
  if (!buffer)
    return fail(StatusCode::InvalidArgument, "input '", port.name, "' is missing; expected ",
                describeDeclared(value));
  bool fits = buffer->type() == value.type && buffer->shape().size() == value.shape.size();
  for (size_t d = 0; fits && d < value.shape.size(); ++d)
    fits = value.shape[d] < 0 || value.shape[d] == buffer->shape()[d];
  if (fits)
    return fail(StatusCode::InvalidArgument, "input '", port.name,
                "' is changed by the program, but the buffer is read-only; give it a copy");
  return fail(StatusCode::InvalidArgument, "input '", port.name, "': expected ", describeDeclared(value),
              ", but the buffer holds ", buffer->describe());
}

Status checkOutput(const ProgramPlan &plan, size_t i, std::span<const int64_t> shape, const Buffer &buffer) {
  const Port &port = plan.outputs[i];
  ElementType type = plan.values[static_cast<size_t>(port.value)].type;
  if (buffer.type() != type || !std::ranges::equal(buffer.shape(), shape))
    return fail(StatusCode::InvalidArgument, "output '", port.name, "': expected ", elementTypeName(type),
                shape.empty() ? " " : " of shape ", formatShape(shape), ", but the buffer holds ",
                buffer.describe());
  if (buffer.readOnly())
    return fail(StatusCode::InvalidArgument, "output '", port.name, "': the buffer is read-only");
  return Status();
}

Status Frame::begin(std::span<Buffer *const> inputs, std::span<BufferRef> outs, bool checked) {
  if (inputs.size() != plan.inputs.size() || outs.size() != plan.outputs.size())
    return fail(StatusCode::InvalidArgument, "program '", plan.name, "' has ", plan.inputs.size(),
                " inputs and ", plan.outputs.size(), " outputs, but got ", inputs.size(), " and ",
                outs.size());
  outputs = outs;
  mayRebind = false;
  key.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!checked)
      TESSERA_TRY(checkInput(plan, i, inputs[i]));
    const Port &port = plan.inputs[i];
    size_t v = static_cast<size_t>(port.value);
    auto memory = port.written ? inputs[i]->hostWrite(/*discard=*/false) : inputs[i]->hostRead();
    if (!memory.ok())
      return memory.status().withContext(concat("input '", port.name, "'"));
    roots[v] = *memory;
    inputMemory[i] = {*memory, inputs[i]->bytes()};
    dims[v] = inputs[i]->shape();
    for (size_t d = 0; d < dims[v].size(); ++d)
      if (plan.values[v].shape[d] < 0)
        key.push_back(dims[v][d]);
  }
  loadScalars(0);
  TESSERA_TRY(enter(0));
  const Prepared &prepared = *segments[0].prepared;
  mayRebind = plan.segments == 1 && plan.loads.empty() && plan.states.empty() &&
              std::ranges::all_of(prepared.outputDirect, [](uint8_t bound) { return bound != 0; });
  if (!mayRebind)
    return Status();
  auto patchOf = [&](const Port &port) {
    int32_t root = plan.values[static_cast<size_t>(port.value)].root;
    auto it = std::ranges::find(prepared.external, root, &Prepared::Patch::root);
    return it == prepared.external.end() ? -1 : static_cast<int32_t>(it - prepared.external.begin());
  };
  inputPatch.clear();
  for (const Port &port : plan.inputs)
    inputPatch.push_back(patchOf(port));
  outputPatch.clear();
  for (const Port &port : plan.outputs)
    outputPatch.push_back(patchOf(port));
  return Status();
}

int64_t loadScalar(ElementType type, const std::byte *memory) {
  switch (elementSize(type)) {
  case 1: {
    int8_t raw;
    std::memcpy(&raw, memory, 1);
    return type == ElementType::I1 ? raw & 1 : raw;
  }
  case 2: {
    int16_t raw;
    std::memcpy(&raw, memory, 2);
    return raw;
  }
  case 4: {
    int32_t raw;
    std::memcpy(&raw, memory, 4);
    return raw;
  }
  default: {
    int64_t raw;
    std::memcpy(&raw, memory, 8);
    return raw;
  }
  }
}

// Reads the scalars that become known before `segment`, and adds them to its key.
void Frame::loadScalars(int32_t segment) {
  for (size_t i = 0; i < plan.loads.size(); ++i) {
    size_t e = static_cast<size_t>(plan.loads[i]);
    if (plan.exprSegment[e] != segment)
      continue;
    const ValueInfo &value = plan.values[static_cast<size_t>(plan.exprs[e].a)];
    loaded[i] = loadScalar(value.type, roots[static_cast<size_t>(value.root)]);
    key.push_back(loaded[i]);
  }
}

Status Frame::enter(int32_t index) {
  Segment &segment = segments[static_cast<size_t>(index)];
  const std::shared_ptr<Prepared> none;
  const std::shared_ptr<Prepared> &previous =
      index > 0 ? segments[static_cast<size_t>(index) - 1].prepared : none;
  if (!segment.prepared || segment.prepared->previous != previous || segment.prepared->key != key) {
    auto prepared = program.findPrepared(index, previous, key, dims, loaded);
    if (!prepared.ok())
      return prepared.status();
    segment.prepared = prepared.take();
    segment.built = nullptr;
  }
  const Prepared &prepared = *segment.prepared;
  TESSERA_TRY(bindOutputs(prepared));
  uint64_t stride = std::max(scratchStride, prepared.scratchBytes);
  uint64_t scratchTotal = 0;
  if (__builtin_mul_overflow(stride, uint64_t(program.threads()), &scratchTotal) ||
      !scratch.reserve(scratchTotal))
    return fail(StatusCode::OutOfMemory, "host: out of memory: asked ", formatBytes(scratchTotal),
                " of scratch");
  scratchStride = stride;
  const bool fresh = segment.built != &prepared;
  if (fresh) {
    if (!segment.arena.reserve(prepared.arenaBytes))
      return fail(StatusCode::OutOfMemory, "host: out of memory: asked ", formatBytes(prepared.arenaBytes),
                  " for temporaries of '", plan.name, "'");
    for (const Prepared::Placement &p : prepared.arena)
      roots[static_cast<size_t>(p.root)] = segment.arena.data() + p.offset;
    rebuild(segment);
  }
  if (index == 0 && !plan.states.empty())
    TESSERA_TRY(startStates());
  for (size_t i = 0; i < prepared.external.size(); ++i)
    bindPatch(segment, i, roots[static_cast<size_t>(prepared.external[i].root)]);
  // The memory of an older segment may have moved since this one was last entered.
  if (index > 0 && !fresh)
    for (const Prepared::Patch &patch : prepared.local)
      for (uint32_t s = 0; s < patch.slots; ++s)
        segment.args[prepared.slots[patch.firstSlot + s]] =
            reinterpret_cast<uint64_t>(roots[static_cast<size_t>(patch.root)]);
  clearFaults(segment);
  return Status();
}

void Frame::rebuild(Segment &segment) {
  const Prepared &prepared = *segment.prepared;
  segment.built = &prepared;
  segment.args = prepared.args;
  segment.bound.assign(prepared.external.size(), nullptr);
  for (const Prepared::Patch &patch : prepared.local)
    for (uint32_t s = 0; s < patch.slots; ++s)
      segment.args[prepared.slots[patch.firstSlot + s]] =
          reinterpret_cast<uint64_t>(roots[static_cast<size_t>(patch.root)]);
  segment.calls.clear();
  for (const Prepared::Call &call : prepared.calls)
    segment.calls.push_back({call.function, segment.args.data() + call.args});
  segment.groups.clear();
  for (const Prepared::Group &group : prepared.groups)
    segment.groups.push_back({std::span(segment.calls).subspan(group.firstCall, group.calls),
                              {group.grid[0], group.grid[1], group.grid[2]},
                              group.tasks});
}

Status Frame::bindOutputs(const Prepared &prepared) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!prepared.outputKnown[i] || (prepared.previous && prepared.previous->outputKnown[i]))
      continue;
    const Port &port = plan.outputs[i];
    const ValueInfo &value = plan.values[static_cast<size_t>(port.value)];
    if (!outputs[i]) {
      auto created = Buffer::create(value.type, prepared.outputShape[i]);
      if (!created.ok())
        return created.status().withContext(concat("output '", port.name, "'"));
      outputs[i] = created.take();
    }
    Buffer &buffer = *outputs[i];
    TESSERA_TRY(checkOutput(plan, i, prepared.outputShape[i], buffer));
    if (!prepared.outputDirect[i])
      continue;
    auto memory = buffer.hostWrite();
    if (!memory.ok())
      return memory.status().withContext(concat("output '", port.name, "'"));
    std::byte *&bound = roots[static_cast<size_t>(value.root)];
    bound = *memory;
    for (size_t in = 0; in < inputMemory.size(); ++in)
      if (bound < inputMemory[in].data() + inputMemory[in].size() &&
          inputMemory[in].data() < bound + buffer.bytes())
        return fail(StatusCode::InvalidArgument, "output '", port.name, "' shares memory with input '",
                    plan.inputs[in].name, "'; use another buffer");
    for (size_t other = 0; other < i; ++other)
      if (outputs[other] == outputs[i])
        return fail(StatusCode::InvalidArgument, "outputs '", plan.outputs[other].name, "' and '", port.name,
                    "' are bound to the same buffer");
  }
  return Status();
}

void Frame::bindState(int32_t value, std::byte *memory) {
  roots[static_cast<size_t>(value)] = memory;
  for (size_t i = 0; i < plan.states.size(); ++i)
    if (plan.states[i] == value)
      stateBound[i] = 1;
}

Status Frame::startStates() {
  const Prepared &prepared = *segments[0].prepared;
  for (size_t i = 0; i < plan.states.size(); ++i) {
    size_t v = static_cast<size_t>(plan.states[i]);
    if (stateBound[i])
      continue;
    uint64_t bytes = prepared.rootBytes[v];
    if (!stateBlocks[i].reserve(bytes))
      return fail(StatusCode::OutOfMemory, "host: out of memory: asked ", formatBytes(bytes), " for a state");
    roots[v] = stateBlocks[i].data();
    const ValueInfo &init = plan.values[static_cast<size_t>(plan.values[v].init)];
    if (bytes)
      std::memcpy(roots[v], roots[static_cast<size_t>(init.root)], bytes);
  }
  return Status();
}

Status Frame::run(unsigned threads) {
  for (int32_t s = 0; s < plan.segments; ++s) {
    if (s > 0) {
      key.clear();
      loadScalars(s);
      TESSERA_TRY(enter(s));
    }
    Segment &segment = segments[static_cast<size_t>(s)];
    runWaves(segment, 0, segment.prepared->waves.size(), threads);
    TESSERA_TRY(checkFaults(segment));
  }
  return Status();
}

void Frame::runNodes(int32_t first, int32_t last, unsigned threads) {
  Segment &segment = segments.front();
  const auto &waves = segment.prepared->waves;
  auto byNode = [](const Prepared::Wave &wave, int32_t node) { return wave.firstNode < node; };
  size_t from =
      static_cast<size_t>(std::lower_bound(waves.begin(), waves.end(), first, byNode) - waves.begin());
  size_t to = static_cast<size_t>(std::lower_bound(waves.begin(), waves.end(), last, byNode) - waves.begin());
  runWaves(segment, from, to, threads);
}

// The static path is the host's alone.
static const std::string &hostName() {
  static const std::string name = hostDevice() ? hostDevice()->name() : std::string();
  return name;
}

// Returns the nanoseconds it took.
uint64_t Frame::runGroup(Segment &segment, size_t g, unsigned threads) {
  const Prepared &prepared = *segment.prepared;
  const KernelGroup &group = segment.groups[g];
  float cost = prepared.cost[g].load(std::memory_order_relaxed);
  bool fork = threads > 1 && group.tasks > 1 && cost > forkThreshold;
  uint64_t begin = nowNanoseconds();
  if (fork)
    runParallel(ThreadPool::shared(), threads, {&group, 1}, scratch.data(), scratchStride,
                cost > fineThreshold);
  else
    runInline(group, scratch.data());
  uint64_t end = nowNanoseconds();
  if (prepared.measured.load(std::memory_order_relaxed) < measuredLaunches) {
    double serial = static_cast<double>(end - begin) *
                    (fork ? static_cast<double>(std::min<int64_t>(threads, group.tasks)) : 1.0);
    // The first launch pays for cold caches and page faults; it may only lower a guess.
    uint32_t launches = prepared.measured.load(std::memory_order_relaxed);
    float measured = static_cast<float>(serial);
    prepared.cost[g].store(launches == 1 ? measured : std::min(cost, measured), std::memory_order_relaxed);
  }
  if (trace::enabled())
    trace::record(plan.nodes[static_cast<size_t>(prepared.groups[g].node)].name, hostName(), begin, end);
  return end - begin;
}

// Runs groups one after the other and takes their times. A node's groups follow each other; its profile gets
// their sum.
void Frame::runTimed(Segment &segment, size_t firstGroup, size_t lastGroup, unsigned threads) {
  const Prepared &prepared = *segment.prepared;
  Profile *profile = program.profile();
  uint64_t ns = 0;
  double flops = -1, bytes = -1;
  for (size_t g = firstGroup; g < lastGroup; ++g) {
    const Prepared::Group &group = prepared.groups[g];
    ns += runGroup(segment, g, threads);
    if (group.flops >= 0)
      flops = std::max(flops, 0.0) + group.flops;
    if (group.bytes >= 0)
      bytes = std::max(bytes, 0.0) + group.bytes;
    if (g + 1 < lastGroup && prepared.groups[g + 1].node == group.node)
      continue;
    if (profile)
      profile->add(group.node, hostName(), ns, flops, bytes);
    ns = 0;
    flops = bytes = -1;
  }
}

void Frame::runWaves(Segment &segment, size_t from, size_t to, unsigned threads) {
  if (from >= to)
    return;
  const Prepared &prepared = *segment.prepared;
  const bool observe = trace::enabled() || program.profile();
  size_t firstGroup = prepared.waves[from].firstGroup;
  size_t lastGroup = to < prepared.waves.size() ? prepared.waves[to].firstGroup : prepared.groups.size();
  if (threads <= 1 && !observe) {
    for (size_t g = firstGroup; g < lastGroup; ++g)
      runInline(segment.groups[g], scratch.data());
    return;
  }
  bool measuring = threads > 1 && prepared.measured.load(std::memory_order_relaxed) < measuredLaunches;
  if (observe || measuring) {
    runTimed(segment, firstGroup, lastGroup, threads);
    if (measuring && to == prepared.waves.size())
      prepared.measured.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  for (size_t w = from; w < to; ++w) {
    const Prepared::Wave &wave = prepared.waves[w];
    float cost = 0;
    bool parallel = wave.groups > 1;
    for (uint32_t g = wave.firstGroup; g < wave.firstGroup + wave.groups; ++g) {
      cost += prepared.cost[g].load(std::memory_order_relaxed);
      parallel = parallel || segment.groups[g].tasks > 1;
    }
    if (cost > forkThreshold && parallel)
      runParallel(ThreadPool::shared(), threads,
                  std::span(segment.groups).subspan(wave.firstGroup, wave.groups), scratch.data(),
                  scratchStride, cost > fineThreshold);
    else
      for (uint32_t g = wave.firstGroup; g < wave.firstGroup + wave.groups; ++g)
        runInline(segment.groups[g], scratch.data());
  }
}

Status Frame::finish() {
  const Prepared &last = *segments.back().prepared;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (last.outputDirect[i])
      continue;
    auto memory = outputs[i]->hostWrite();
    if (!memory.ok())
      return memory.status().withContext(concat("output '", plan.outputs[i].name, "'"));
    int32_t root = plan.values[static_cast<size_t>(plan.outputs[i].value)].root;
    // The caller may pass one buffer as input and as the output that names it.
    if (*memory != roots[static_cast<size_t>(root)] && last.outputBytes[i])
      std::memmove(*memory, roots[static_cast<size_t>(root)], last.outputBytes[i]);
  }
  return Status();
}

} // namespace tessera
