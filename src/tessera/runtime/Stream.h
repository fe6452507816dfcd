// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program run as a stream: items are pushed in and popped out in order, several are
// on their way at once. A worker carries an item through the graph as far as it can;
// nodes that touch a state are passed in order. What is in flight is bounded, so a
// push waits when the stream is full. Threads that wait in push, pop or close help.
#pragma once

#include "tessera/base/SpinMutex.h"
#include "tessera/runtime/Frame.h"
#include "tessera/runtime/Program.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace tessera {

class Stream {
public:
  /// Opens `program` as a stream on program->threads() threads, the caller included: with one thread, work is
  /// done only inside push, pop and close.
  static Result<std::unique_ptr<Stream>> open(std::shared_ptr<Program> program);
  /// Cancels what is in flight and waits for the threads.
  ~Stream();

  using Timeout = std::chrono::nanoseconds;
  static constexpr Timeout forever = Timeout::max();

  /// Puts one item in. Inputs are kept until the item is popped and must not change before; an output that is
  /// null is made by the stream. Waits while the stream is full: Timeout after `timeout`, Closed after close
  /// or cancel.
  Status push(std::span<const BufferRef> inputs, std::span<const BufferRef> outputs,
              Timeout timeout = forever);
  /// Takes the oldest item out and fills `outputs`. An item that failed returns its Status and is gone; the
  /// stream goes on. Closed when the stream is closed and empty.
  Status pop(std::span<BufferRef> outputs, Timeout timeout = forever);
  /// No more pushes; returns when all items are computed. They can still be popped.
  void close();
  /// No more pushes, and nothing more is computed: items not yet done are popped as Cancelled.
  void cancel();

  /// Items that may be between push and pop: the sum of the nodes' depths on the longest path.
  size_t capacity() const { return slots.size(); }
  /// Items between push and pop now.
  size_t size() const;

private:
  /// A stretch of nodes: free, or one that items enter in order.
  struct Phase {
    int32_t first, last; ///< Nodes [first, last).
    int32_t section;     ///< Index into sections, or -1.
  };
  struct Section {
    std::vector<int32_t> states;
    uint64_t turn = 0; ///< The item that may enter next.
    size_t phase = 0;
  };
  struct Slot {
    std::unique_ptr<Frame> frame;
    std::vector<BufferRef> inputs, outputs, lastOutputs;
    std::vector<Buffer *> raw;
    std::vector<int64_t> shapes, lastShapes;
    Status status;
    uint64_t item = 0;
    size_t phase = 0;
    bool done = false, parked = false, began = false;
  };

  explicit Stream(std::shared_ptr<Program> program);
  Slot &slotOf(uint64_t item) { return slots[item % slots.size()]; }
  bool takeReady(uint32_t &slot);
  void pushReady(uint32_t slot, bool front);
  bool helpOnce(std::unique_lock<SpinMutex> &lock);
  void advance(uint32_t index, std::unique_lock<SpinMutex> &lock);
  Status runPhase(Slot &slot, const Phase &phase, unsigned threads);
  Status beginItem(Slot &slot);
  Status handOver(Slot &slot, const Section &section);
  void workerLoop();
  template <typename F> bool waitFor(std::unique_lock<SpinMutex> &lock, Timeout timeout, F done);

  std::shared_ptr<Program> program;
  const ProgramPlan &plan;
  std::vector<Phase> phases;
  std::vector<Section> sections;
  std::vector<Slot> slots;
  bool wholeProgram = false; ///< One phase that runs everything: several segments, or several devices.

  mutable SpinMutex mutex;
  std::condition_variable_any work, changed;
  std::vector<uint32_t> ready; ///< A ring of slots with something to do.
  size_t readyHead = 0, readyCount = 0;
  std::atomic<uint32_t> readyHint{0}; ///< readyCount, to be looked at without the lock.
  std::atomic<uint32_t> progress{0};  ///< Counts what a waiting push or pop may be waiting for.
  uint32_t idleWorkers = 0, hostWaiters = 0;
  uint64_t pushed = 0, popped = 0, finished = 0;
  bool closed = false, cancelled = false, stopping = false;

  std::vector<std::byte *> stateMemory;
  std::vector<uint64_t> stateBytes;
  std::vector<Block> stateBlocks;
  std::vector<BufferRef> stateBuffers;
  std::vector<std::thread> workers;
};

} // namespace tessera
