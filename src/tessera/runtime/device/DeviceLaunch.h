// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch over several devices, for the files of this folder: nodes become attempts, which go through the
// queues of devices, and what becomes of them decides what runs next.
#pragma once

#include "tessera/runtime/device/Queue.h"
#include "tessera/runtime/device/Scheduler.h"
#include "tessera/runtime/program/Frame.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tessera {

/// One launch in flight. The launching thread waits until nothing of it runs any more, but for what a device
/// that does not answer was asked for: that may come back when the launch is over, and then touches nothing
/// but its attempt.
class DeviceLaunch : public std::enable_shared_from_this<DeviceLaunch> {
public:
  DeviceLaunch(Scheduler &scheduler, std::span<Buffer *const> inputs, std::span<BufferRef> outputs,
               std::span<BufferRef> states)
      : scheduler(scheduler), program(scheduler.program), plan(program.plan()), inputs(inputs),
        outputs(outputs), states(states), dims(plan.values.size()), roots(plan.values.size()),
        loaded(plan.loads.size(), 0), waiting(plan.nodes.size(), 0), isDone(plan.nodes.size(), 0),
        isAhead(plan.nodes.size(), 0), launched(plan.nodes.size()) {}

  Status run();
  /// Gives the memory back: an attempt that a device never answers keeps the launch, but needs none of it.
  void letGo() { roots.clear(); }
  uint64_t ownNanoseconds() const { return ownTime ? nodesNs.load() : 0; }

private:
  struct Choice {
    Device *device = nullptr;
    int32_t version = -1;
    double cost = 0;
  };

  struct Attempt;
  using AttemptRef = std::shared_ptr<Attempt>;

  /// A node on its way through the queues of a device, or all nodes of a segment as one recording, and what
  /// its launch points at until its event is over.
  struct Attempt {
    /// Queued or Launched, it can be taken away from a device that does not answer; whoever makes it Over
    /// says what becomes of the node.
    enum State : uint8_t { Queued, Busy, Launched, Over };
    Attempt(const Node &part, int32_t node, Choice choice)
        : choice(choice), nodes{node}, versions{choice.version},
          reads(part.versions[static_cast<size_t>(choice.version)].reads), writes(part.writes) {}
    explicit Attempt(Choice choice) : choice(choice) {}
    const Choice choice;
    std::vector<int32_t> nodes, versions;     ///< More than one only of a whole segment.
    std::vector<int32_t> allReads, allWrites; ///< Of a whole segment.
    std::span<const int32_t> reads, writes;
    Scheduler::WholeKey key; ///< Of a whole segment; else empty.
    bool whole() const { return !key.empty(); }
    std::atomic<uint8_t> state{Queued};
    std::atomic<uint64_t> begin{0};
    std::vector<uint64_t> args;
    std::vector<KernelLaunch> steps;
    std::vector<BufferRef> temps;
    std::vector<std::pair<int32_t, DeviceUse>> memory; ///< By root: nothing moves it while the node runs.
    EventRef event;
    uint64_t moved = 0;
    // On a device that orders work: what is launched before its predecessors are over.
    std::vector<AttemptRef> after;                 ///< The predecessors that were not over.
    std::vector<int32_t> pending;                  ///< Roots that they write: the content is not there yet.
    std::vector<EventRef> events;                  ///< Theirs.
    EventRef over;                                 ///< Its own event, for those that are launched after it.
    std::vector<std::function<void()>> successors; ///< Outcomes that wait for this one.
    bool settled = false, good = false;            ///< Guarded by the launch's mutex, like `successors`.
    std::atomic<uint64_t> end{0};                  ///< When the device had done it.
    bool isPending(int32_t root) const { return std::ranges::find(pending, root) != pending.end(); }

    bool holds = false; ///< The device's queues count it among those that hold memory.
    bool begun = false; ///< The kernel may have written.

    /// The memory that it has of the value `root`; null when it has none.
    DeviceUse *use(int32_t root) {
      auto it = std::ranges::find(memory, root, &std::pair<int32_t, DeviceUse>::first);
      return it == memory.end() ? nullptr : &it->second;
    }
    bool change(State from, State to) {
      uint8_t expected = from;
      return state.compare_exchange_strong(expected, to);
    }
  };

  const ValueInfo &value(int32_t v) const { return plan.values[static_cast<size_t>(v)]; }
  const Version &versionOf(const Attempt &attempt, size_t i) const {
    return plan.nodes[static_cast<size_t>(attempt.nodes[i])]
        .versions[static_cast<size_t>(attempt.versions[i])];
  }
  BufferRef &rootOf(int32_t v) { return roots[static_cast<size_t>(value(v).root)]; }

  Status enterSegment(int32_t segment);
  Status makeRoot(int32_t root);
  Status startState(int32_t root, std::vector<int64_t> shape);
  Status checkState(int32_t root);
  Status handOver();
  Status nextOf(size_t state, BufferRef &after);
  Status checkFaults(int32_t index);
  void submit(int32_t node);
  void submitTo(int32_t node, Choice choice);
  void enqueue(const AttemptRef &attempt, int64_t priority);
  AttemptRef wholeSegment();
  void wholeDone(Attempt &attempt, const Status &status);
  std::string names(const Attempt &attempt) const;
  Choice choose(int32_t node, const Attempt *ahead = nullptr);
  void launchSuccessors(const AttemptRef &attempt);
  void tryAhead(int32_t node, Device &device);
  bool mayRunAhead(const Attempt &attempt);
  void afterOthers(const AttemptRef &attempt, std::function<void()> outcome);
  bool takeBack(Attempt &attempt);
  Status bringInputs(Attempt &attempt);
  Status takeMemory(Attempt &attempt);
  Status awaitMemory(Attempt &attempt);
  Status makeSteps(Attempt &attempt);
  Status makeStep(Attempt &attempt, int32_t node, const Step &step, void *handle);
  Status extents(const Step &step, std::string_view what, const std::array<int32_t, 3> &from, int64_t least,
                 int64_t *to, int64_t &product) const;
  Status byteCount(const Step &step, std::string_view what, int32_t from, uint64_t &to) const;
  Status execute(Attempt &attempt);
  void compute(const AttemptRef &attempt);
  void finish(Attempt &attempt, Status status, const DeviceReport &report);
  void computed(Attempt &attempt, Status status, const DeviceReport &report);
  void settle(Attempt &attempt, Status status, const DeviceReport &report);
  void conclude(Attempt &attempt, Status status, const DeviceReport &report);
  void lookForSilence();
  void nodeFailed(const Attempt &attempt, Status status);
  void nodeDone(int32_t node, Status status);
  std::string describe(int32_t root) const;
  Status lostContent(const Device &device, int32_t root, Status status) const;
  void work(int32_t node, int32_t version, double &flops, double &bytes) const;
  double expected(const Version &version) const;
  bool hasCpuVersion(int32_t node, int32_t &version) const;

  Scheduler &scheduler;
  Program &program;
  const ProgramPlan &plan;
  std::span<Buffer *const> inputs;
  std::span<BufferRef> outputs, states;
  std::vector<std::span<const int64_t>> dims;
  ExprValues exprs;
  // Per root. Inputs are not owned: the caller keeps them alive.
  std::vector<BufferRef> roots;
  std::vector<int64_t> loaded;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int32_t> waiting; ///< Per node: unfinished nodes it needs in this segment.
  std::vector<uint8_t> isDone,
      isAhead; ///< Per node: it is done; it was handed over before its predecessors were.
  std::vector<AttemptRef> launched; ///< Per node: its attempt, while a device that orders work has it.
  int32_t segment = 0, left = 0, inFlight = 0;
  std::vector<AttemptRef> attempts; ///< Those in flight.
  std::vector<int32_t> ready;       ///< Nodes that begin the segment, in order.
  Status failure;
  std::atomic<uint64_t> nodesNs{0}; ///< Of the nodes that are done.
  std::atomic<bool> ownTime{false}; ///< A device has said what its part took.
};

} // namespace tessera
