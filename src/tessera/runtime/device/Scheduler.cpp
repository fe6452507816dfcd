// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dynamic scheduler; see Scheduler.h.
#include "tessera/runtime/device/Scheduler.h"
#include "tessera/base/Check.h"
#include "tessera/base/Diag.h"
#include "tessera/runtime/device/Queue.h"
#include "tessera/runtime/program/Frame.h"
#include "tessera/runtime/trace/Trace.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>

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
        loaded(plan.loads.size(), 0), waiting(plan.nodes.size(), 0) {}

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

  /// A node on its way through the queues of a device, or all nodes of a segment as one recording, and what
  /// its launch points at until its event is over.
  struct Attempt {
    /// Queued or Launched, it can be taken away from a device that does not answer; whoever makes it Over
    /// says what becomes of the node.
    enum State : uint8_t { Queued, Busy, Launched, Over };
    Attempt(const Node &part, int32_t node, Choice choice)
        : choice(choice), nodes{node}, versions{choice.version}, reads(part.reads), writes(part.writes) {}
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
    bool holds = false; ///< The device's queues count it among those that hold memory.
    bool begun = false; ///< The kernel may have written.

    bool change(State from, State to) {
      uint8_t expected = from;
      return state.compare_exchange_strong(expected, to);
    }
  };
  using AttemptRef = std::shared_ptr<Attempt>;

  const ValueInfo &value(int32_t v) const { return plan.values[static_cast<size_t>(v)]; }
  const Version &versionOf(const Attempt &attempt, size_t i) const {
    return plan.nodes[static_cast<size_t>(attempt.nodes[i])]
        .versions[static_cast<size_t>(attempt.versions[i])];
  }
  BufferRef &rootOf(int32_t v) { return roots[static_cast<size_t>(value(v).root)]; }

  Status enterSegment(int32_t segment);
  Status makeRoot(int32_t root);
  Status checkFaults(int32_t index);
  void submit(int32_t node);
  void submitTo(int32_t node, Choice choice);
  void enqueue(const AttemptRef &attempt, int64_t priority);
  AttemptRef wholeSegment();
  void wholeDone(Attempt &attempt, const Status &status);
  std::string names(const Attempt &attempt) const;
  Choice choose(int32_t node);
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
  void lookForSilence();
  void nodeFailed(const Attempt &attempt, Status status);
  void nodeDone(int32_t node, Status status);
  std::string describe(int32_t root) const;
  Status lostContent(const Device &device, int32_t root, Status status) const;
  void work(int32_t node, int32_t version, double &flops, double &bytes) const;
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
  int32_t segment = 0, left = 0, inFlight = 0;
  std::vector<AttemptRef> attempts; ///< Those in flight.
  std::vector<int32_t> ready;       ///< Nodes that begin the segment, in order.
  Status failure;
  std::atomic<uint64_t> nodesNs{0}; ///< Of the nodes that are done.
  std::atomic<bool> ownTime{false}; ///< A device has said what its part took.
};

Status DeviceLaunch::makeRoot(int32_t root) {
  BufferRef &slot = roots[static_cast<size_t>(root)];
  const ValueInfo &info = value(root);
  if (slot || info.kind == ValueKind::Input)
    return Status();
  if (info.kind == ValueKind::Const) {
    slot = scheduler.constantBuffer(root);
    return slot ? Status() : fail(StatusCode::OutOfMemory, "cannot wrap constant ", root);
  }
  TESSERA_ASSIGN(std::vector<int64_t> shape, exprs.shape(info));
  int32_t output = plan.outputOfRoot[static_cast<size_t>(root)];
  if (output >= 0 && outputs[static_cast<size_t>(output)]) {
    auto bytes = checkedByteSize(info.type, shape);
    if (bytes && static_cast<size_t>(*bytes) == outputs[static_cast<size_t>(output)]->bytes()) {
      slot = outputs[static_cast<size_t>(output)];
      return Status();
    }
  }
  TESSERA_ASSIGN(slot, Buffer::create(info.type, std::move(shape)));
  if (info.kind == ValueKind::Fault) {
    TESSERA_ASSIGN(std::byte * cells, slot->hostWrite());
    std::memset(cells, 0, slot->bytes());
  }
  if (info.kind == ValueKind::State) {
    TESSERA_TRY(makeRoot(value(info.init).root));
    auto to = slot->hostWrite();
    auto from = rootOf(info.init)->hostRead();
    if (!to.ok() || !from.ok())
      return to.ok() ? from.status() : to.status();
    std::memcpy(*to, *from, slot->bytes());
  }
  return Status();
}

Status DeviceLaunch::enterSegment(int32_t index) {
  for (size_t i = 0; i < plan.loads.size(); ++i) {
    size_t e = static_cast<size_t>(plan.loads[i]);
    if (plan.exprSegment[e] != index)
      continue;
    int32_t v = plan.exprs[e].a;
    if (!rootOf(v))
      TESSERA_TRY(makeRoot(value(v).root));
    auto memory = rootOf(v)->hostRead();
    if (!memory.ok())
      return memory.status();
    loaded[i] = loadScalar(value(v).type, *memory);
  }
  exprs.evaluate(plan, index, dims, loaded);
  TESSERA_TRY(exprs.check(plan, index));
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const ValueInfo &info = value(plan.outputs[i].value);
    int32_t known = 0;
    std::vector<int64_t> shape;
    if (info.kind == ValueKind::Input) {
      auto extents = dims[static_cast<size_t>(plan.outputs[i].value)];
      shape.assign(extents.begin(), extents.end());
    } else {
      for (int64_t e : info.shape)
        known = std::max(known, plan.exprSegment[static_cast<size_t>(e)]);
      if (known == index) {
        TESSERA_ASSIGN(shape, exprs.shape(info));
      }
    }
    if (known != index)
      continue;
    if (!outputs[i]) {
      TESSERA_ASSIGN(outputs[i], Buffer::create(info.type, shape));
    }
    TESSERA_TRY(checkOutput(plan, i, shape, *outputs[i]));
    for (size_t in = 0; in < inputs.size(); ++in)
      if (inputs[in] == outputs[i].get() && value(plan.outputs[i].value).root != plan.inputs[in].value)
        return fail(StatusCode::InvalidArgument, "output '", plan.outputs[i].name,
                    "' shares memory with input '", plan.inputs[in].name, "'; use another buffer");
  }
  for (int32_t s : plan.states)
    TESSERA_TRY(makeRoot(s));
  for (const Node &node : plan.nodes)
    if (node.segment == index)
      for (const std::vector<int32_t> *list : {&node.reads, &node.writes})
        for (int32_t v : *list)
          TESSERA_TRY(makeRoot(value(v).root));
  return Status();
}

void DeviceLaunch::work(int32_t n, int32_t version, double &flops, double &bytes) const {
  flops = bytes = 0;
  bool any = false;
  for (const Step &step : plan.nodes[static_cast<size_t>(n)].versions[static_cast<size_t>(version)].steps) {
    any = any || step.flops >= 0 || step.bytes >= 0;
    flops += static_cast<double>(exprs.getOr(step.flops, 0));
    bytes += static_cast<double>(exprs.getOr(step.bytes, 0));
  }
  if (!any)
    flops = bytes = -1;
}

bool DeviceLaunch::hasCpuVersion(int32_t n, int32_t &version) const {
  const Node &node = plan.nodes[static_cast<size_t>(n)];
  for (size_t v = 0; v < node.versions.size(); ++v)
    if (scheduler.cpu && scheduler.cpu->runs(node.versions[v].target)) {
      version = static_cast<int32_t>(v);
      return true;
    }
  return false;
}

DeviceLaunch::Choice DeviceLaunch::choose(int32_t n) {
  const Node &node = plan.nodes[static_cast<size_t>(n)];
  Choice best;
  double bestScore = 0;
  double now = static_cast<double>(nowNanoseconds());
  for (size_t v = 0; v < node.versions.size(); ++v)
    for (Device *device : program.devices()) {
      if (device->lost() || !program.mayRun(*device, node.versions[v].target))
        continue;
      double flops, bytes;
      work(n, static_cast<int32_t>(v), flops, bytes);
      Choice choice{device, static_cast<int32_t>(v),
                    scheduler.cost(n, static_cast<int32_t>(v), *device, flops, bytes)};
      if (program.options().policy == Policy::Static)
        return choice;
      double moved = 0, copies = 0;
      for (int32_t r : node.reads) {
        size_t bytesMoved = rootOf(r)->bytesToMove(*device);
        moved += static_cast<double>(bytesMoved);
        copies += bytesMoved != 0;
      }
      const DeviceInfo &info = device->info();
      double score;
      if (program.options().policy == Policy::Energy) {
        score = std::max(flops, 0.0) * info.joulesPerFlop + std::max(bytes, 0.0) * info.joulesPerByte +
                moved * info.joulesPerCopiedByte;
        if (flops < 0)
          score += choice.cost * 1e-9;
      } else {
        DeviceQueues &queues = DeviceQueues::of(*device);
        std::lock_guard<std::mutex> lock(queues.mutex);
        double copyNs = 1e9 * (copies * info.copyLatency + moved / info.copyBytesPerSecond);
        score = std::max(queues.busyUntil, now + copyNs) + choice.cost;
      }
      if (!best.device || score < bestScore) {
        best = choice;
        bestScore = score;
      }
    }
  return best;
}

// Under the launch's mutex.
void DeviceLaunch::submit(int32_t n) {
  Choice choice = choose(n);
  if (!choice.device && hasCpuVersion(n, choice.version))
    choice = {scheduler.cpu, choice.version, 1e4};
  if (choice.device) {
    submitTo(n, choice);
    return;
  }
  std::string lost;
  for (Device *device : program.devices())
    if (device->lost())
      lost +=
          concat(lost.empty() ? "" : ", ", "'", device->name(), "' was lost (", device->lossReason(), ")");
  if (failure.ok())
    failure = fail(StatusCode::DeviceLost, "node '", plan.nodes[static_cast<size_t>(n)].name,
                   "' has no device left to run on: ", lost);
  --left;
}

// Under the launch's mutex.
void DeviceLaunch::submitTo(int32_t n, Choice choice) {
  const Node &node = plan.nodes[static_cast<size_t>(n)];
  enqueue(std::make_shared<Attempt>(node, n, choice),
          int64_t(node.criticality) * (int64_t(1) << 32) + scheduler.rank[static_cast<size_t>(n)]);
}

// Under the launch's mutex.
void DeviceLaunch::enqueue(const AttemptRef &attempt, int64_t priority) {
  ++inFlight;
  attempts.push_back(attempt);
  const Choice &choice = attempt->choice;
  // What is needed should not leave the device's memory before the attempt begins.
  for (std::span<const int32_t> list : {attempt->reads, attempt->writes})
    for (int32_t v : list)
      rootOf(v)->want(*choice.device);
  DeviceQueues &queues = DeviceQueues::of(*choice.device);
  {
    std::lock_guard<std::mutex> lock(queues.mutex);
    double now = static_cast<double>(nowNanoseconds());
    if (queues.inFlight++ == 0)
      queues.busyUntil = now;
    queues.busyUntil = std::max(queues.busyUntil, now) + choice.cost;
  }
  auto self = shared_from_this();
  if (std::ranges::none_of(attempt->reads,
                           [&](int32_t v) { return rootOf(v)->bytesToMove(*choice.device) != 0; })) {
    queues.compute.push(priority, [self, attempt] { self->compute(attempt); });
    return;
  }
  queues.copy.push(priority, [self, attempt, priority, &queues] {
    if (!attempt->change(Attempt::Queued, Attempt::Busy))
      return;
    Status status;
    {
      trace::Scope scope(self->plan.nodes[static_cast<size_t>(attempt->nodes[0])].name, "copy");
      status = self->bringInputs(*attempt);
    }
    // Without room now, the node brings its inputs when it is its turn.
    if (!status.ok() && status.code() != StatusCode::OutOfMemory) {
      self->finish(*attempt, status, {});
      return;
    }
    attempt->state = Attempt::Queued;
    queues.compute.push(priority, [self, attempt] { self->compute(attempt); });
  });
}

// All nodes of the segment as one, when they would all run on one device that records, and not for the first
// time with these shapes. Who asks for a profile or a trace wants to see nodes.
DeviceLaunch::AttemptRef DeviceLaunch::wholeSegment() {
  if (program.profile() || trace::enabled() ||
      std::ranges::none_of(program.devices(), [](Device *device) { return device->records(); }))
    return nullptr;
  AttemptRef attempt;
  std::vector<bool> written(plan.values.size(), false);
  double cost = 0;
  std::vector<std::pair<int32_t, Choice>> chosen;
  for (size_t n = 0; n < plan.nodes.size(); ++n)
    if (plan.nodes[n].segment == segment) {
      Choice choice = choose(static_cast<int32_t>(n));
      if (!choice.device || !choice.device->records() ||
          (!chosen.empty() && choice.device != chosen[0].second.device))
        return nullptr;
      cost += choice.cost;
      chosen.emplace_back(static_cast<int32_t>(n), choice);
    }
  if (chosen.empty())
    return nullptr;
  Device *device = chosen[0].second.device;
  attempt = std::make_shared<Attempt>(Choice{device, -1, cost});
  attempt->key = {segment, static_cast<int64_t>(reinterpret_cast<uintptr_t>(device))};
  for (auto &[n, choice] : chosen) {
    const Node &node = plan.nodes[static_cast<size_t>(n)];
    attempt->nodes.push_back(n);
    attempt->versions.push_back(choice.version);
    attempt->key.push_back(choice.version);
    for (int32_t v : node.reads)
      if (!written[static_cast<size_t>(value(v).root)])
        attempt->allReads.push_back(v);
    for (int32_t v : node.writes) {
      attempt->allWrites.push_back(v);
      written[static_cast<size_t>(value(v).root)] = true;
    }
  }
  attempt->reads = attempt->allReads;
  attempt->writes = attempt->allWrites;
  // All that sizes and numbers are computed from.
  for (std::span<const int64_t> extents : dims)
    attempt->key.insert(attempt->key.end(), extents.begin(), extents.end());
  attempt->key.insert(attempt->key.end(), loaded.begin(), loaded.end());
  return scheduler.takesWhole(attempt->key) ? attempt : nullptr;
}

// A whole segment is done, or its nodes run one by one: nothing of it has happened then.
void DeviceLaunch::wholeDone(Attempt &attempt, const Status &status) {
  std::lock_guard<std::mutex> lock(mutex);
  if (status.ok()) {
    left -= static_cast<int32_t>(attempt.nodes.size());
  } else {
    scheduler.refuseWhole(attempt.key);
    for (int32_t n : ready)
      submit(n);
  }
  --inFlight;
  if (inFlight == 0 && (left == 0 || !failure.ok()))
    changed.notify_all();
}

std::string DeviceLaunch::names(const Attempt &attempt) const {
  const std::string &first = plan.nodes[static_cast<size_t>(attempt.nodes.front())].name;
  return attempt.nodes.size() == 1 ? concat("node '", first, "'")
                                   : concat("nodes '", first, "' to '",
                                            plan.nodes[static_cast<size_t>(attempt.nodes.back())].name, "'");
}

// What a person calls the memory of a value.
std::string DeviceLaunch::describe(int32_t root) const {
  for (const std::vector<Port> *ports : {&plan.inputs, &plan.outputs})
    for (const Port &port : *ports)
      if (value(port.value).root == root)
        return concat(ports == &plan.inputs ? "input '" : "output '", port.name, "'");
  for (const Node &node : plan.nodes)
    for (int32_t v : node.writes)
      if (value(v).root == root)
        return concat("the result of node '", node.name, "'");
  return concat("value ", root);
}

// Names the value whose content was lost. A device that is lost itself is another matter: the node runs
// elsewhere.
Status DeviceLaunch::lostContent(const Device &device, int32_t root, Status status) const {
  if (status.code() != StatusCode::DeviceLost || device.lost())
    return status;
  return status.withContext(describe(root));
}

Status DeviceLaunch::bringInputs(Attempt &attempt) {
  Device &device = *attempt.choice.device;
  for (int32_t v : attempt.reads) {
    attempt.moved += rootOf(v)->bytesToMove(device);
    auto memory = rootOf(v)->deviceRead(device, /*ahead=*/true);
    if (!memory.ok())
      return lostContent(device, value(v).root, memory.status());
  }
  return Status();
}

static DeviceUse *findUse(std::vector<std::pair<int32_t, DeviceUse>> &memory, int32_t root) {
  auto it = std::ranges::find(memory, root, &std::pair<int32_t, DeviceUse>::first);
  return it == memory.end() ? nullptr : &it->second;
}

// Has all that the node reads and writes, and its temporaries, in the device's memory.
Status DeviceLaunch::takeMemory(Attempt &running) {
  Device &device = *running.choice.device;
  int32_t fallback;
  bool protect = !device.sharesHostMemory() && (running.whole() || hasCpuVersion(running.nodes[0], fallback));
  auto reads = [&](int32_t root) {
    return std::ranges::any_of(running.reads, [&](int32_t v) { return value(v).root == root; });
  };
  running.memory.clear();
  running.temps.clear();
  for (int32_t v : running.writes) {
    int32_t root = value(v).root;
    if (findUse(running.memory, root))
      continue;
    auto use = reads(root) ? rootOf(v)->deviceUpdate(device, protect) : rootOf(v)->deviceWrite(device);
    if (!use.ok())
      return lostContent(device, root, use.status());
    running.memory.emplace_back(root, use.take());
  }
  for (int32_t v : running.reads) {
    int32_t root = value(v).root;
    if (findUse(running.memory, root))
      continue;
    auto use = rootOf(v)->deviceRead(device);
    if (!use.ok())
      return lostContent(device, root, use.status());
    running.memory.emplace_back(root, use.take());
  }
  for (size_t i = 0; i < running.nodes.size(); ++i)
    for (int32_t v : versionOf(running, i).temps) {
      if (findUse(running.memory, v))
        continue;
      TESSERA_ASSIGN(std::vector<int64_t> shape, exprs.shape(value(v)));
      TESSERA_ASSIGN(BufferRef temp, Buffer::create(value(v).type, std::move(shape)));
      TESSERA_ASSIGN(DeviceUse use, temp->deviceWrite(device));
      running.temps.push_back(std::move(temp));
      running.memory.emplace_back(v, std::move(use));
    }
  return Status();
}

// What fits alone gets through: while other nodes hold memory of the device, there is something to wait for.
Status DeviceLaunch::awaitMemory(Attempt &running) {
  DeviceQueues &queues = DeviceQueues::of(*running.choice.device);
  for (;;) {
    const uint64_t seen = queues.releases();
    Status status = takeMemory(running);
    if (status.ok()) {
      queues.hold();
      running.holds = true;
      return status;
    }
    running.memory.clear();
    if (status.code() != StatusCode::OutOfMemory || !queues.awaitRelease(seen))
      return status;
  }
}

// Fills the attempt and starts the node.
Status DeviceLaunch::execute(Attempt &attempt) {
  Device &device = *attempt.choice.device;
  TESSERA_TRY(awaitMemory(attempt));
  TESSERA_TRY(makeSteps(attempt));
  attempt.begin = nowNanoseconds();
  attempt.begun = true;
  if (!attempt.change(Attempt::Busy, Attempt::Launched))
    return Status();
  if (!attempt.whole()) {
    attempt.event = device.launchAsync(attempt.steps, program.threads());
    return Status();
  }
  auto recording = scheduler.recording(attempt.key, device, attempt.steps);
  attempt.event =
      recording.ok() ? device.replay(*recording, attempt.args) : Event::finished(recording.status());
  return Status();
}

// Three exprs and their product, which are all 1 where the plan has none.
Status DeviceLaunch::extents(const Step &step, std::string_view what, const std::array<int32_t, 3> &from,
                             int64_t least, int64_t *to, int64_t &product) const {
  __int128 all = 1;
  for (size_t d = 0; d < 3; ++d) {
    if (from[d] >= 0) {
      TESSERA_ASSIGN(to[d], exprs.get(from[d]));
    }
    if (to[d] < least || (all *= to[d]) > INT64_MAX)
      return fail(StatusCode::InvalidArgument, "kernel '", step.kernel, "': ", what,
                  least ? " is not positive or too large" : " is negative or too large");
  }
  product = static_cast<int64_t>(all);
  return Status();
}

Status DeviceLaunch::byteCount(const Step &step, std::string_view what, int32_t from, uint64_t &to) const {
  if (from < 0)
    return Status();
  TESSERA_ASSIGN(int64_t bytes, exprs.get(from));
  if (bytes < 0 || bytes > (int64_t(1) << 40))
    return fail(StatusCode::InvalidArgument, "kernel '", step.kernel, "': ", what, " of ", bytes,
                " bytes is not possible");
  to = static_cast<uint64_t>(bytes);
  return Status();
}

// The arguments are those of the steps, one after the other: what has no tasks has none.
Status DeviceLaunch::makeSteps(Attempt &running) {
  size_t most = 0;
  for (size_t i = 0; i < running.nodes.size(); ++i)
    for (const Step &step : versionOf(running, i).steps)
      most += step.args.size();
  running.args.reserve(most); // Steps point into it.
  for (size_t i = 0; i < running.nodes.size(); ++i) {
    const int32_t n = running.nodes[i];
    const Version &version = versionOf(running, i);
    void *const *handles = program.handles(n, running.versions[i], *running.choice.device);
    TESSERA_CHECK(handles || version.steps.empty()) << "a node on a device whose kernels were never loaded";
    for (size_t s = 0; s < version.steps.size(); ++s)
      TESSERA_TRY(makeStep(running, n, version.steps[s], handles[s]));
  }
  return Status();
}

Status DeviceLaunch::makeStep(Attempt &running, int32_t n, const Step &step, void *handle) {
  KernelLaunch launch;
  launch.node = plan.nodes[static_cast<size_t>(n)].name;
  launch.kernel = step.kernel;
  launch.handle = handle;
  launch.args = running.args.data() + running.args.size();
  launch.argCount = step.args.size();
  launch.chain = step.chain;
  launch.kinds = step.args;
  launch.own = step.own;
  int64_t tasks = 0, threads = 0, members = 0;
  TESSERA_TRY(extents(step, "grid", step.grid, 0, launch.grid, tasks));
  TESSERA_TRY(extents(step, "block", step.block, 1, launch.block, threads));
  TESSERA_TRY(extents(step, "cluster", step.cluster, 1, launch.cluster, members));
  TESSERA_TRY(byteCount(step, "scratch", step.scratch, launch.scratch));
  TESSERA_TRY(byteCount(step, "shared memory", step.shared, launch.shared));
  for (const StepArg &arg : step.args) {
    int64_t number = 0;
    if (!arg.isValue) {
      TESSERA_ASSIGN(number, exprs.get(arg.index));
    }
    if (tasks > 0)
      running.args.push_back(
          arg.isValue ? reinterpret_cast<uint64_t>(findUse(running.memory, value(arg.index).root)->data())
                      : static_cast<uint64_t>(number));
  }
  if (tasks > 0)
    running.steps.push_back(launch);
  return Status();
}

void DeviceLaunch::compute(const AttemptRef &attempt) {
  if (!attempt->change(Attempt::Queued, Attempt::Busy))
    return;
  attempt->begin = nowNanoseconds();
  if (Status status = execute(*attempt); !status.ok()) {
    finish(*attempt, std::move(status), {});
    return;
  }
  // The queue goes on with the next node while the device works on this one. The event is taken out first: it
  // holds what it calls, and that holds the attempt.
  EventRef event = std::move(attempt->event);
  Event *over = event.get();
  event->then([self = shared_from_this(), attempt, over](Status status) {
    if (attempt->change(Attempt::Launched, Attempt::Over))
      self->computed(*attempt, attempt->choice.device->judge(std::move(status)), over->report());
  });
}

// The end of an attempt that was not launched.
void DeviceLaunch::finish(Attempt &attempt, Status status, const DeviceReport &report) {
  if (attempt.change(Attempt::Busy, Attempt::Over))
    computed(attempt, std::move(status), report);
}

// The device has answered, or was never asked.
void DeviceLaunch::computed(Attempt &attempt, Status status, const DeviceReport &report) {
  Device &device = *attempt.choice.device;
  if (status.ok() && device.lost())
    status = fail(StatusCode::DeviceLost, "device '", device.name(), "' was lost: ", device.lossReason());
  // First what became of the results, then the end of their use: in between nothing can take them away.
  for (int32_t v : attempt.writes)
    status.ok() ? rootOf(v)->commit(device) : rootOf(v)->abandon(device, attempt.begun);
  attempt.memory.clear();
  attempt.temps.clear();
  if (attempt.holds)
    DeviceQueues::of(device).release();
  settle(attempt, std::move(status), report);
}

// What follows for the node. Its attempt's own parts are not looked at: a device that does not answer may
// still use them.
void DeviceLaunch::settle(Attempt &attempt, Status status, const DeviceReport &report) {
  Device &device = *attempt.choice.device;
  for (std::span<const int32_t> list : {attempt.reads, attempt.writes})
    for (int32_t v : list)
      rootOf(v)->unwant(device);
  {
    DeviceQueues &queues = DeviceQueues::of(device);
    std::lock_guard<std::mutex> lock(queues.mutex);
    --queues.inFlight;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::erase_if(attempts, [&](const AttemptRef &other) { return other.get() == &attempt; });
  }
  if (!status.ok() && !attempt.whole()) {
    nodeFailed(attempt, std::move(status));
    return;
  }
  const uint64_t begin = attempt.begin, end = nowNanoseconds();
  const bool own = device.info().ownTime && report.ns;
  const uint64_t took = own ? *report.ns : end - begin;
  if (status.ok())
    nodesNs += took;
  if (own && status.ok())
    ownTime = true;
  if (attempt.whole()) {
    wholeDone(attempt, status);
    return;
  }
  const int32_t n = attempt.nodes[0];
  const Node &node = plan.nodes[static_cast<size_t>(n)];
  double flops, bytes;
  work(n, attempt.choice.version, flops, bytes);
  scheduler.learn(n, attempt.choice.version, device, flops, bytes, static_cast<double>(took));
  if (trace::enabled())
    trace::record(node.name, device.name(), begin, end);
  if (Profile *profile = program.profile())
    profile->add(n, device.name(), took, flops, bytes, attempt.moved, report.counters);
  nodeDone(n, Status());
}

// Takes away what a device has for too long, and what waits for a device that was lost: its queue may be
// stuck.
void DeviceLaunch::lookForSilence() {
  const auto limit = deviceLimit();
  const uint64_t now = nowNanoseconds();
  std::vector<AttemptRef> all;
  {
    std::lock_guard<std::mutex> lock(mutex);
    all = attempts;
  }
  for (const AttemptRef &attempt : all) {
    Device &device = *attempt->choice.device;
    // The host's own kernels end when they end: there is nobody else who could do better.
    const bool host = device.sharesHostMemory() && device.runsHostCode();
    const uint64_t ns = static_cast<uint64_t>(limit.count()) * 1000000;
    if (!host && ns && attempt->state == Attempt::Launched && now > attempt->begin + ns &&
        attempt->change(Attempt::Launched, Attempt::Over)) {
      Status silent = device.judge(fail(StatusCode::Timeout, "device '", device.name(),
                                        "': ", names(*attempt), " got no answer within ",
                                        formatNanoseconds(1e6 * static_cast<double>(limit.count()))));
      for (int32_t v : attempt->writes)
        rootOf(v)->abandon(device, /*begun=*/true);
      settle(*attempt, std::move(silent), {});
    } else if (device.lost() && attempt->change(Attempt::Queued, Attempt::Over)) {
      settle(*attempt,
             fail(StatusCode::DeviceLost, "device '", device.name(), "' was lost: ", device.lossReason()),
             {});
    }
  }
}

void DeviceLaunch::nodeFailed(const Attempt &attempt, Status status) {
  const int32_t n = attempt.nodes[0];
  const Node &node = plan.nodes[static_cast<size_t>(n)];
  Device &device = *attempt.choice.device;
  // Lost content is lost for whoever reads it.
  if (status.code() == StatusCode::DeviceLost && !device.lost()) {
    nodeDone(n, status.withContext(concat("node '", node.name, "' cannot run")));
    return;
  }
  int32_t version = -1;
  const bool host = !device.sharesHostMemory() && hasCpuVersion(n, version);
  std::unique_lock<std::mutex> lock(mutex);
  if (failure.ok()) {
    Choice next = device.lost() ? choose(n) : Choice();
    if (!next.device && host)
      next = {scheduler.cpu, version, 1e4};
    if (next.device) {
      if (Profile *profile = program.profile())
        profile->addRetry(n);
      submitTo(n, next);
      --inFlight; // This attempt is over.
      return;
    }
  }
  lock.unlock();
  nodeDone(n, status.withContext(concat("node '", node.name, "' failed on device '", device.name(), "'")));
}

void DeviceLaunch::nodeDone(int32_t n, Status status) {
  std::lock_guard<std::mutex> lock(mutex);
  --inFlight;
  --left;
  if (!status.ok() && failure.ok())
    failure = std::move(status);
  if (failure.ok())
    for (int32_t successor : plan.nodes[static_cast<size_t>(n)].successors)
      if (plan.nodes[static_cast<size_t>(successor)].segment == segment &&
          --waiting[static_cast<size_t>(successor)] == 0)
        submit(successor);
  // Notified under the lock: the launch lives on the waiting thread's stack.
  if (inFlight == 0 && (left == 0 || !failure.ok()))
    changed.notify_all();
}

// What kernels have found wrong with their data; it says nothing against a device, so nothing is tried again.
Status DeviceLaunch::checkFaults(int32_t index) {
  for (const Node &node : plan.nodes)
    if (node.segment == index)
      for (const Version &version : node.versions)
        for (const Step &step : version.steps)
          if (step.faults >= 0) {
            auto cells = rootOf(step.faults)->hostRead();
            if (!cells.ok())
              return cells.status().withContext(concat("what node '", node.name, "' has found"));
            TESSERA_TRY(readFaults(node, step.sites, *cells));
          }
  return Status();
}

Status DeviceLaunch::run() {
  if (inputs.size() != plan.inputs.size() || outputs.size() != plan.outputs.size())
    return fail(StatusCode::InvalidArgument, "program '", plan.name, "' has ", plan.inputs.size(),
                " inputs and ", plan.outputs.size(), " outputs, but got ", inputs.size(), " and ",
                outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    TESSERA_TRY(checkInput(plan, i, inputs[i]));
    size_t v = static_cast<size_t>(plan.inputs[i].value);
    dims[v] = inputs[i]->shape();
    roots[v] = BufferRef(BufferRef(), inputs[i]);
  }
  for (size_t i = 0; i < states.size(); ++i)
    roots[static_cast<size_t>(plan.states[i])] = states[i];
  for (int32_t s = 0; s < plan.segments; ++s) {
    TESSERA_TRY(enterSegment(s));
    std::unique_lock<std::mutex> lock(mutex);
    segment = s;
    ready.clear();
    for (size_t n = 0; n < plan.nodes.size(); ++n) {
      const Node &node = plan.nodes[n];
      if (node.segment != s)
        continue;
      ++left;
      waiting[n] =
          static_cast<int32_t>(std::count_if(node.needs.begin(), node.needs.end(), [&](int32_t need) {
            return plan.nodes[static_cast<size_t>(need)].segment == s;
          }));
      if (waiting[n] == 0)
        ready.push_back(static_cast<int32_t>(n));
    }
    std::sort(ready.begin(), ready.end(), [&](int32_t a, int32_t b) {
      const Node &x = plan.nodes[static_cast<size_t>(a)], &y = plan.nodes[static_cast<size_t>(b)];
      if (x.criticality != y.criticality)
        return x.criticality > y.criticality;
      int32_t rankA = scheduler.rank[static_cast<size_t>(a)], rankB = scheduler.rank[static_cast<size_t>(b)];
      return rankA != rankB ? rankA > rankB : a < b;
    });
    if (AttemptRef whole = wholeSegment())
      enqueue(whole, 0);
    else
      for (int32_t n : ready)
        submit(n);
    auto done = [&] { return inFlight == 0 && (left == 0 || !failure.ok()); };
    // Often enough for the limit; a launch that ends is noticed at once.
    const std::chrono::milliseconds limit = deviceLimit(), most(500);
    const auto period = limit.count() ? std::clamp(limit / 8, std::chrono::milliseconds(5), most) : most;
    while (!changed.wait_for(lock, period, done)) {
      lock.unlock();
      lookForSilence();
      lock.lock();
    }
    if (!failure.ok())
      return failure;
    TESSERA_TRY(checkFaults(s));
  }
  for (size_t i = 0; i < states.size(); ++i) {
    states[i] = roots[static_cast<size_t>(plan.states[i])];
    BufferRef &next = rootOf(value(plan.states[i]).next);
    if (next == states[i])
      continue;
    auto from = next->hostRead();
    auto to = states[i]->hostWrite();
    if (!from.ok() || !to.ok())
      return from.ok() ? to.status() : from.status();
    std::memcpy(*to, *from, states[i]->bytes());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    int32_t v = plan.outputs[i].value;
    TESSERA_TRY(makeRoot(value(v).root));
    BufferRef &root = rootOf(v);
    if (root.get() == outputs[i].get())
      continue;
    auto from = root->hostRead();
    auto to = outputs[i]->hostWrite();
    if (!from.ok() || !to.ok())
      return (from.ok() ? to.status() : from.status())
          .withContext(concat("output '", plan.outputs[i].name, "'"));
    std::memmove(*to, *from, outputs[i]->bytes());
  }
  return Status();
}

Scheduler::Scheduler(Program &program) : program(program), rank(program.plan().nodes.size(), 0) {
  cpu = hostDevice();
  const auto &nodes = program.plan().nodes;
  for (size_t n = nodes.size(); n-- > 0;)
    for (int32_t successor : nodes[n].successors)
      rank[n] = std::max(rank[n], rank[static_cast<size_t>(successor)] + 1);
}

double Scheduler::cost(int32_t node, int32_t version, Device &device, double flops, double bytes) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = measured.find({node, version, &device, flops + bytes});
    if (it != measured.end())
      return it->second;
  }
  const DeviceInfo &info = device.info();
  if (flops >= 0 || bytes >= 0)
    return 1e9 * (info.launchLatency + std::max(std::max(flops, 0.0) / info.flopsPerSecond,
                                                std::max(bytes, 0.0) / info.bytesPerSecond));
  double hint = program.plan().nodes[static_cast<size_t>(node)].cost; // Microseconds; 0 when there is none.
  return 1e9 * info.launchLatency + (hint > 0 ? hint * 1e3 : 1e4);
}

void Scheduler::learn(int32_t node, int32_t version, Device &device, double flops, double bytes, double ns) {
  std::lock_guard<std::mutex> lock(mutex);
  if (measured.size() > 65536)
    measured.clear();
  auto [it, added] = measured.try_emplace({node, version, &device, flops + bytes}, ns);
  // A slow outlier must not scare the policy away for good, a fast one is true.
  if (!added)
    it->second = ns < it->second ? ns : it->second + (ns - it->second) * 0.25;
}

bool Scheduler::takesWhole(const WholeKey &key) {
  std::lock_guard<std::mutex> lock(mutex);
  if (wholes.size() >= 256 && !wholes.contains(key))
    wholes.clear();
  Whole &whole = wholes[key];
  return ++whole.launches > 1 && !whole.refused;
}

Result<std::shared_ptr<DeviceRecording>> Scheduler::recording(const WholeKey &key, Device &device,
                                                              std::span<const KernelLaunch> steps) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto it = wholes.find(key); it != wholes.end() && it->second.recording)
      return it->second.recording;
  }
  // Two launches may record the same at once; either will do.
  auto made = device.record(steps);
  if (!made.ok())
    return device.judge(made.status());
  std::lock_guard<std::mutex> lock(mutex);
  return wholes[key].recording = made.take();
}

void Scheduler::refuseWhole(const WholeKey &key) {
  std::lock_guard<std::mutex> lock(mutex);
  wholes[key].refused = true;
}

BufferRef Scheduler::constantBuffer(int32_t v) {
  std::lock_guard<std::mutex> lock(mutex);
  BufferRef &buffer = constants[v];
  if (!buffer) {
    const ValueInfo &info = program.plan().values[static_cast<size_t>(v)];
    auto made = Buffer::wrap(ElementType::I8, {static_cast<int64_t>(info.bytes)},
                             const_cast<std::byte *>(program.constant(v)), /*readOnly=*/true);
    if (made.ok())
      buffer = made.take();
  }
  return buffer;
}

Status Scheduler::launch(std::span<Buffer *const> inputs, std::span<BufferRef> outputs,
                         std::span<BufferRef> states) {
  auto launch = std::make_shared<DeviceLaunch>(*this, inputs, outputs, states);
  Status status = launch->run();
  launch->letGo();
  if (status.ok())
    program.setOwnNanoseconds(launch->ownNanoseconds());
  return status;
}

} // namespace tessera
