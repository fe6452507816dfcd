// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything one activation of a program needs while it runs on the CPU: arena, bound
// pointers, filled argument tables. Frames are recycled; a launch that repeats the
// shapes and buffers of the one before allocates nothing and patches nothing.
#pragma once

#include "tessera/runtime/memory/Arena.h"
#include "tessera/runtime/memory/Buffer.h"
#include "tessera/runtime/program/Prepared.h"
#include "tessera/runtime/program/Program.h"
#include "tessera/runtime/program/Run.h"
#include "tessera/runtime/trace/Trace.h"

#include <cstring>
#include <span>
#include <vector>

namespace tessera {

/// True when the buffer is what the plan declares for input `i`.
inline bool fitsInput(const ProgramPlan &plan, size_t i, const Buffer *buffer) {
  const Port &port = plan.inputs[i];
  const ValueInfo &value = plan.values[static_cast<size_t>(port.value)];
  if (!buffer || buffer->type() != value.type || buffer->shape().size() != value.shape.size() ||
      (port.written && buffer->readOnly()))
    return false;
  for (size_t d = 0; d < value.shape.size(); ++d)
    if (value.shape[d] >= 0 && value.shape[d] != buffer->shape()[d])
      return false;
  return true;
}
/// Says what is wrong with a buffer for input `i`, if anything.
Status checkInput(const ProgramPlan &plan, size_t i, const Buffer *buffer);
/// Checks a caller's buffer for output `i`, whose shape is now known.
Status checkOutput(const ProgramPlan &plan, size_t i, std::span<const int64_t> shape, const Buffer &buffer);
/// The integer of type `type` at `memory`, sign extended.
int64_t loadScalar(ElementType type, const std::byte *memory);

class Frame {
public:
  explicit Frame(Program &program);

  /// Checks and binds buffers, prepares the first segment. A null output is created here or later, when its
  /// size is known; `outputs` must stay valid until finish(). `checked`: the caller has called checkInput.
  Status begin(std::span<Buffer *const> inputs, std::span<BufferRef> outputs, bool checked = false);
  /// begin() for buffers (already checked) that differ from those of the launch before in nothing but their
  /// memory. False when that is not so, or cannot be seen quickly: then begin() has to be called.
  bool rebind(std::span<Buffer *const> inputs, std::span<BufferRef> outputs);
  /// Gives the memory of a state to the frame; without it, run() makes one that starts from `init`.
  void bindState(int32_t value, std::byte *memory);
  /// Runs all segments on up to `threads` threads.
  Status run(unsigned threads);
  /// Runs the nodes [first, last) of a program with one segment (for streams).
  void runNodes(int32_t first, int32_t last, unsigned threads);
  /// Runs all nodes of a program with one segment on this thread.
  Status runHere();
  /// Fails when a kernel of a program with one segment, run by runNodes(), has found something wrong with its
  /// data.
  Status checkFaults() const { return checkFaults(segments.front()); }
  /// Copies outputs that could not be bound directly.
  Status finish();

  std::byte *memory(int32_t root) const { return roots[static_cast<size_t>(root)]; }
  uint64_t bytes(int32_t root) const {
    return segments.front().prepared->rootBytes[static_cast<size_t>(root)];
  }
  /// Makes the memory of states that nobody bound, and fills it from `init`.
  Status startStates();

private:
  struct Segment {
    std::shared_ptr<Prepared> prepared;
    const Prepared *built =
        nullptr; // What the tables below were made for; a failed launch may leave them behind.
    std::vector<uint64_t> args;
    std::vector<KernelCall> calls;
    std::vector<KernelGroup> groups;
    std::vector<std::byte *> bound; // Per entry of prepared->external.
    Block arena;
  };
  Status enter(int32_t index);
  void clearFaults(const Segment &segment);
  Status checkFaults(const Segment &segment) const;
  Status bindOutputs(const Prepared &prepared);
  void loadScalars(int32_t segment);
  void rebuild(Segment &segment);
  void runWaves(Segment &segment, size_t from, size_t to, unsigned threads);
  void runTimed(Segment &segment, size_t firstGroup, size_t lastGroup, unsigned threads);
  uint64_t runGroup(Segment &segment, size_t group, unsigned threads);

  Program &program;
  const ProgramPlan &plan;
  std::vector<Segment> segments;
  std::vector<std::byte *> roots;             // Per value: memory of roots.
  std::vector<std::span<const int64_t>> dims; // Per value: extents of inputs.
  std::vector<std::span<const std::byte>> inputMemory;
  std::vector<int64_t> key, loaded;
  std::span<BufferRef> outputs;
  std::vector<Block> stateBlocks;
  std::vector<uint8_t> stateBound;
  Block scratch;
  uint64_t scratchStride = 0;
  bool mayRebind = false;                       // The plan is simple enough, and the last begin() succeeded.
  std::vector<int32_t> inputPatch, outputPatch; // For rebind(), per port: its entry of prepared->external.

  // Puts `memory` into all arguments that an entry of prepared->external names.
  static void bindPatch(Segment &segment, size_t patch, std::byte *memory) {
    if (memory == segment.bound[patch])
      return;
    segment.bound[patch] = memory;
    const Prepared &prepared = *segment.prepared;
    const Prepared::Patch &where = prepared.external[patch];
    for (uint32_t s = 0; s < where.slots; ++s)
      segment.args[prepared.slots[where.firstSlot + s]] = reinterpret_cast<uint64_t>(memory);
  }
};

inline bool Frame::rebind(std::span<Buffer *const> inputs, std::span<BufferRef> outs) {
  if (!mayRebind)
    return false;
  Segment &segment = segments.front();
  size_t at = 0; // In the key, which lists the extents that the plan leaves open.
  if (!key.empty())
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<int64_t> &declared = plan.values[static_cast<size_t>(plan.inputs[i].value)].shape;
      for (size_t d = 0; d < declared.size(); ++d)
        if (declared[d] < 0 && inputs[i]->shape()[d] != key[at++])
          return false;
    }
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::byte *memory = inputs[i]->onlyHostMemory();
    if (!memory)
      return false;
    if (inputPatch[i] >= 0)
      bindPatch(segment, static_cast<size_t>(inputPatch[i]), memory);
  }
  for (size_t i = 0; i < outs.size(); ++i) {
    Buffer *buffer = outs[i].get();
    std::byte *memory = buffer ? buffer->onlyHostMemory() : nullptr;
    const std::vector<int64_t> &shape = segment.prepared->outputShape[i];
    if (!memory || buffer->readOnly() || buffer->shape().size() != shape.size() ||
        buffer->type() != plan.values[static_cast<size_t>(plan.outputs[i].value)].type)
      return false;
    for (size_t d = 0; d < shape.size(); ++d)
      if (buffer->shape()[d] != shape[d])
        return false;
    for (Buffer *input : inputs)
      if (std::byte *in = input->onlyHostMemory();
          memory < in + input->bytes() && in < memory + buffer->bytes())
        return false;
    for (size_t other = 0; other < i; ++other)
      if (outs[other].get() == buffer)
        return false;
    if (outputPatch[i] >= 0)
      bindPatch(segment, static_cast<size_t>(outputPatch[i]), memory);
  }
  outputs = outs;
  clearFaults(segment);
  return true;
}

inline void Frame::clearFaults(const Segment &segment) {
  for (const Prepared::Faults &faults : segment.prepared->faults)
    std::memset(roots[static_cast<size_t>(faults.root)], 0,
                segment.prepared->rootBytes[static_cast<size_t>(faults.root)]);
}

inline Status Frame::checkFaults(const Segment &segment) const {
  for (const Prepared::Faults &faults : segment.prepared->faults)
    TESSERA_TRY(readFaults(*faults.node, faults.step->sites, roots[static_cast<size_t>(faults.root)]));
  return Status();
}

inline Status Frame::runHere() {
  Segment &segment = segments.front();
  if (trace::enabled() || program.profile()) {
    runWaves(segment, 0, segment.prepared->waves.size(), 1);
    return checkFaults(segment);
  }
  for (const KernelGroup &group : segment.groups)
    runInline(group, scratch.data());
  return checkFaults(segment);
}

} // namespace tessera
