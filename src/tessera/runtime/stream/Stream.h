// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program run as a stream: items are pushed in and popped out in order, several are
// on their way at once. A thread carries an item through the graph as far as it can,
// while its data is in the caches; nodes that touch a state are passed in order. What is
// in flight is bounded, so a push waits when the stream is full. Threads that wait in
// push, pop or close help.
#pragma once

#include "tessera/base/Asymmetric.h"
#include "tessera/base/SpinMutex.h"
#include "tessera/runtime/program/Frame.h"
#include "tessera/runtime/program/Program.h"

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
  /// or cancel. Items that cost less than handing them to another thread are computed before it returns.
  Status push(std::span<const BufferRef> inputs, std::span<const BufferRef> outputs,
              Timeout timeout = forever);
  /// The same for callers whose references are not in one array; a null pointer is a null reference.
  Status pushRefs(std::span<const BufferRef *const> inputs, std::span<const BufferRef *const> outputs,
                  Timeout timeout = forever);
  /// Takes the oldest item out and fills `outputs`. An item that failed returns its Status and is gone; the
  /// stream goes on. Closed when the stream is closed and empty.
  Status pop(std::span<BufferRef> outputs, Timeout timeout = forever);
  /// No more pushes; returns when all items are computed. They can still be popped.
  void close();
  /// No more pushes, and nothing more is computed: items not yet done are popped as Cancelled.
  void cancel();

  /// Items that may be between push and pop: the sum of the nodes' depths on the longest path.
  size_t capacity() const { return limit; }
  /// Items between push and pop now.
  size_t size() const { return static_cast<size_t>(pushed.load() - popped.load()); }

private:
  /// A stretch of nodes: free, or one that items enter in order.
  struct Phase {
    int32_t first, last; ///< Nodes [first, last).
    int32_t section;     ///< Index into sections, or -1.
  };
  struct Section {
    std::vector<int32_t> states;
    uint64_t turn = 0;           ///< The item that may enter next.
    std::vector<uint8_t> parked; ///< Per slot: its item waits here for its turn.
  };
  /// An item in flight. It belongs to the thread that pushes, then to the one that runs it, then to the one
  /// that pops; `pushed`, `claimed`, `done` and `popped` hand it on.
  struct alignas(128) Slot {
    std::atomic<uint64_t> done{0}; ///< Number of the last item computed here, plus one.
    size_t phase = 0;
    bool began = false, keepOutputs = false;
    Status status;
    std::unique_ptr<Frame> frame; ///< From the first phase to the last.
    std::vector<Buffer *> raw;
    std::vector<BufferRef> inputs, outputs, lastOutputs;
    std::vector<int64_t> shapes, lastShapes;
  };
  /// The frame that a worker used last, so that its memory is used again where it is in the caches. Threads
  /// of the host share the first.
  struct alignas(64) Lane {
    std::atomic<Frame *> frame{nullptr};
  };
  struct Deadline;

  explicit Stream(std::shared_ptr<Program> program);
  size_t indexOf(uint64_t item) const { return static_cast<size_t>(item) & (slots.size() - 1); }
  Slot &slotOf(uint64_t item) { return slots[indexOf(item)]; }
  bool isDone(uint64_t item) { return slotOf(item).done.load() == item + 1; }
  bool runsAtOnce() const;
  bool hasWork() const;
  bool takeWork(uint64_t &item);
  bool helpOnce(Lane &lane);
  void advance(uint64_t item, Lane &lane);
  bool enter(Section &section, uint64_t item);
  void leave(Section &section);
  Status runPhase(Slot &slot, const Phase &phase, Lane &lane, unsigned threads);
  Status beginItem(Slot &slot, Lane &lane);
  void handOver(Slot &slot, const Section &section);
  Status startStates(Slot &slot);
  void fill(Slot &slot, std::span<const BufferRef *const> inputs, std::span<const BufferRef *const> outputs);
  void reuseOutputs(Slot &slot);
  void runAtOnce(uint64_t item);
  Status pushCopies(std::span<const BufferRef *const> inputs, std::span<const BufferRef *const> outputs,
                    Timeout timeout);
  std::unique_ptr<Frame> takeFrame(Lane &lane);
  void giveFrame(Lane &lane, std::unique_ptr<Frame> frame);
  void learnCost(uint64_t ns);
  void workerLoop(Lane &lane);
  void publish(std::atomic<uint64_t> &counter, uint64_t value);
  void beforeSleep();
  void wakeWorker();
  void wakeHosts();
  template <typename F> bool waitFor(const Deadline &deadline, F done);

  std::shared_ptr<Program> program;
  const ProgramPlan &plan;
  std::vector<Phase> phases;
  std::vector<Section> sections;
  size_t limit;            ///< Of items in flight.
  std::vector<Slot> slots; ///< At least as many, a power of two: a division would be felt.
  std::vector<Lane> lanes;
  bool gated = false;        ///< Items have to wait for each other somewhere.
  bool wholeProgram = false; ///< One phase that runs everything: several segments, or several devices.

  // Written by the threads that push and pop: the numbers of items so far.
  alignas(128) std::atomic<uint64_t> pushed{0};
  std::atomic<uint64_t> popped{0};
  BiasedMutex pushMutex, popMutex;
  std::unique_ptr<Frame> hostFrame; ///< For items that are run at once; guarded by pushMutex.
  // Written by the threads that run items.
  alignas(128) std::atomic<uint64_t> claimed{0}; ///< Items that some thread has begun.
  alignas(128) std::atomic<bool> closed{false}, cancelled{false}, stopping{false};

  // Order at sections.
  alignas(128) SpinMutex gateMutex; ///< Guards the sections and `resumed`.
  std::vector<uint64_t> resumed;    ///< Items that were parked and may go on, the newest last.
  std::atomic<uint32_t> resumedCount{0};

  // Sleeping. A sleeper counts itself before it looks a last time; who has news publishes them before it
  // looks at the counts. Both need a full barrier in between, which the sleeper makes for both
  // (Asymmetric.h).
  const bool asymmetric = asymmetricFences();
  alignas(128) std::mutex sleepMutex;
  std::condition_variable work, changed;
  std::atomic<uint32_t> sleepingWorkers{0}, sleepingHosts{0};

  SpinMutex frameMutex;
  std::vector<std::unique_ptr<Frame>> spareFrames;
  std::vector<std::byte *> stateMemory;
  std::vector<uint64_t> stateBytes;
  std::vector<Block> stateBlocks;
  std::vector<BufferRef> stateBuffers;
  std::vector<std::thread> workers;
};

} // namespace tessera
