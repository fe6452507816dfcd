// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything one activation of a program needs while it runs on the CPU: arena, bound
// pointers, filled argument tables. Frames are recycled; a launch that repeats the
// shapes and buffers of the one before allocates nothing and patches nothing.
#pragma once

#include "tessera/runtime/Arena.h"
#include "tessera/runtime/Buffer.h"
#include "tessera/runtime/Prepared.h"
#include "tessera/runtime/Program.h"

#include <span>
#include <vector>

namespace tessera {

/// Checks a buffer against what the plan declares for input `i`.
Status checkInput(const ProgramPlan &plan, size_t i, const Buffer *buffer);
/// Checks a caller's buffer for output `i`, whose shape is now known.
Status checkOutput(const ProgramPlan &plan, size_t i, std::span<const int64_t> shape, const Buffer &buffer);
/// The integer of type `type` at `memory`, sign extended.
int64_t loadScalar(ElementType type, const std::byte *memory);

class Frame {
public:
  explicit Frame(Program &program);

  /// Checks and binds buffers, prepares the first segment. A null output is created here or later, when its
  /// size is known; `outputs` must stay valid until finish().
  Status begin(std::span<Buffer *const> inputs, std::span<BufferRef> outputs);
  /// Gives the memory of a state to the frame; without it, run() makes one that starts from `init`.
  void bindState(int32_t value, std::byte *memory);
  /// Runs all segments on up to `threads` threads.
  Status run(unsigned threads);
  /// Runs the nodes [first, last) of a program with one segment (for streams).
  void runNodes(int32_t first, int32_t last, unsigned threads);
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
  Status bindOutputs(const Prepared &prepared);
  void loadScalars(int32_t segment);
  void rebuild(Segment &segment);
  void runWaves(Segment &segment, size_t from, size_t to, unsigned threads);
  void runGroup(Segment &segment, size_t group, unsigned threads, bool observe);

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
};

} // namespace tessera
