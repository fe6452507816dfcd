// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A node on its way to a device: inputs, memory, and the start.
#include "tessera/runtime/device/DeviceLaunch.h"
#include "tessera/runtime/trace/Trace.h"

#include <algorithm>

namespace tessera {

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
  if (std::ranges::none_of(attempt->reads, [&](int32_t v) {
        return !attempt->isPending(value(v).root) && rootOf(v)->bytesToMove(*choice.device) != 0;
      })) {
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

Status DeviceLaunch::bringInputs(Attempt &attempt) {
  Device &device = *attempt.choice.device;
  for (int32_t v : attempt.reads) {
    if (attempt.isPending(value(v).root))
      continue;
    attempt.moved += rootOf(v)->bytesToMove(device);
    auto memory = rootOf(v)->deviceRead(device, /*ahead=*/true);
    if (!memory.ok())
      return lostContent(device, value(v).root, memory.status());
  }
  return Status();
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
    if (running.use(root))
      continue;
    auto use = running.isPending(root) ? rootOf(v)->deviceAsItIs(device)
               : reads(root)           ? rootOf(v)->deviceUpdate(device, protect)
                                       : rootOf(v)->deviceWrite(device);
    if (!use.ok())
      return lostContent(device, root, use.status());
    running.memory.emplace_back(root, use.take());
  }
  for (int32_t v : running.reads) {
    int32_t root = value(v).root;
    if (running.use(root))
      continue;
    auto use = running.isPending(root) ? rootOf(v)->deviceAsItIs(device) : rootOf(v)->deviceRead(device);
    if (!use.ok())
      return lostContent(device, root, use.status());
    running.memory.emplace_back(root, use.take());
  }
  for (size_t i = 0; i < running.nodes.size(); ++i)
    for (int32_t v : versionOf(running, i).temps) {
      if (running.use(v))
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
  const std::vector<EventRef> events = attempt.events;
  attempt.begin = nowNanoseconds();
  attempt.begun = true;
  if (!attempt.change(Attempt::Busy, Attempt::Launched))
    return Status();
  if (!events.empty()) {
    attempt.event = device.launchAfter(events, attempt.steps, program.threads());
    return Status();
  }
  if (!attempt.whole()) {
    attempt.event = device.launchAsync(attempt.steps, program.threads());
    return Status();
  }
  auto recording = scheduler.recording(attempt.key, device, attempt.steps);
  attempt.event =
      recording.ok() ? device.replay(*recording, attempt.args) : Event::finished(recording.status());
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
  const bool orders = attempt->choice.device->ordersWork() && !attempt->whole();
  if (orders) {
    std::lock_guard<std::mutex> lock(mutex);
    attempt->over = event;
    launched[static_cast<size_t>(attempt->nodes[0])] = attempt;
  }
  event->then([self = shared_from_this(), attempt, over](Status status) {
    if (!attempt->change(Attempt::Launched, Attempt::Over))
      return;
    attempt->end = nowNanoseconds();
    status = attempt->choice.device->judge(std::move(status));
    if (attempt->after.empty())
      self->computed(*attempt, std::move(status), over->report());
    else
      self->afterOthers(attempt, [self, attempt, status, report = over->report()] {
        self->computed(*attempt, status, report);
      });
  });
  if (orders)
    launchSuccessors(attempt);
}

} // namespace tessera
