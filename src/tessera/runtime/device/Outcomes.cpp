// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device has answered, or has not, and what follows from it.
#include "tessera/base/Diag.h"
#include "tessera/runtime/device/DeviceLaunch.h"
#include "tessera/runtime/trace/Trace.h"

#include <chrono>

namespace tessera {

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
    for (int32_t v : node.reads)
      if (value(root).kind == ValueKind::State && value(v).root == root)
        return concat("the state that node '", node.name, "' reads");
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
  // What was computed from the result of a launch that failed is nothing.
  if (status.ok() && std::ranges::any_of(attempt.after, [](const AttemptRef &other) { return !other->good; }))
    status = fail(StatusCode::Cancelled, "what it waits for has failed");
  if (status.code() == StatusCode::Cancelled)
    attempt.begun = false;
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
  std::vector<std::function<void()>> successors;
  AttemptRef keep; // Until it is settled, whoever else lets go of it.
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::erase_if(attempts, [&](const AttemptRef &other) { return other.get() == &attempt; });
    attempt.settled = true;
    attempt.good = status.ok();
    successors = std::move(attempt.successors);
    if (!attempt.whole())
      keep = std::move(launched[static_cast<size_t>(attempt.nodes[0])]);
  }
  conclude(attempt, std::move(status), report);
  for (const std::function<void()> &outcome : successors)
    outcome();
  // Attempts would hold each other until the last one is over.
  std::lock_guard<std::mutex> lock(mutex);
  attempt.after.clear();
  attempt.events.clear();
  attempt.over.reset();
}

// The node is done, or is tried again.
void DeviceLaunch::conclude(Attempt &attempt, Status status, const DeviceReport &report) {
  Device &device = *attempt.choice.device;
  if (!status.ok() && !attempt.whole()) {
    if (!takeBack(attempt))
      nodeFailed(attempt, std::move(status));
    return;
  }
  uint64_t begin = attempt.begin;
  const uint64_t end = attempt.end ? attempt.end.load() : nowNanoseconds();
  for (const AttemptRef &other : attempt.after)
    begin = std::max(begin, other->end.load());
  begin = std::min(begin, end);
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
    // Its time begins when the device may begin.
    uint64_t begin = attempt->begin;
    bool waits = false;
    {
      std::lock_guard<std::mutex> lock(mutex);
      for (const AttemptRef &other : attempt->after) {
        waits = waits || !other->settled;
        begin = std::max(begin, other->end.load());
      }
    }
    if (!host && ns && !waits && attempt->state == Attempt::Launched && now > begin + ns &&
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
  isDone[static_cast<size_t>(n)] = 1;
  if (failure.ok())
    for (int32_t successor : plan.nodes[static_cast<size_t>(n)].successors)
      if (plan.nodes[static_cast<size_t>(successor)].segment == segment &&
          --waiting[static_cast<size_t>(successor)] == 0 && !isAhead[static_cast<size_t>(successor)])
        submit(successor);
  // Notified under the lock: the launch lives on the waiting thread's stack.
  if (inFlight == 0 && (left == 0 || !failure.ok()))
    changed.notify_all();
}

} // namespace tessera
