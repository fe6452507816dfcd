// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches that a device orders itself: a node whose predecessors were all handed over to
// one device, or are done, is handed over too, and the device has it wait for their events.
// What became of it is looked at after what became of them. Where one of them failed, it
// was never run, and becomes a node like any other that waits for its predecessors.
#include "tessera/runtime/device/DeviceLaunch.h"

namespace tessera {

// More would not be faster: the device has enough to do.
static constexpr size_t mostInFlight = 128;

// After `attempt` was launched: the nodes that may follow at once.
void DeviceLaunch::launchSuccessors(const AttemptRef &attempt) {
  std::lock_guard<std::mutex> lock(mutex);
  if (attempt->settled) // All of the launch may be over by now, and the plan gone.
    return;
  for (int32_t n : plan.nodes[static_cast<size_t>(attempt->nodes[0])].successors)
    if (plan.nodes[static_cast<size_t>(n)].segment == segment && failure.ok() &&
        attempts.size() < mostInFlight && !isAhead[static_cast<size_t>(n)] &&
        waiting[static_cast<size_t>(n)] > 0)
      tryAhead(n, *attempt->choice.device);
}

// Under the launch's mutex.
void DeviceLaunch::tryAhead(int32_t n, Device &device) {
  const Node &node = plan.nodes[static_cast<size_t>(n)];
  auto attempt = std::make_shared<Attempt>(Choice{&device, -1, 0});
  for (int32_t need : node.needs) {
    const size_t i = static_cast<size_t>(need);
    if (plan.nodes[i].segment != segment || isDone[i])
      continue;
    const AttemptRef &other = launched[i];
    if (!other || other->choice.device != &device)
      return;
    attempt->after.push_back(other);
    attempt->events.push_back(other->over);
    for (int32_t v : other->writes)
      attempt->pending.push_back(value(v).root);
  }
  const Choice choice = choose(n, attempt.get());
  if (choice.device != &device || attempt->after.empty())
    return;
  auto chosen = std::make_shared<Attempt>(node, n, choice);
  chosen->after = std::move(attempt->after);
  chosen->events = std::move(attempt->events);
  chosen->pending = std::move(attempt->pending);
  if (!mayRunAhead(*chosen))
    return;
  isAhead[static_cast<size_t>(n)] = 1;
  enqueue(chosen, int64_t(node.criticality) * (int64_t(1) << 32) + scheduler.rank[static_cast<size_t>(n)]);
}

// A node that changes in place what a predecessor writes cannot be given a duplicate of it yet, in case it
// fails: where it could be run again elsewhere, it waits.
bool DeviceLaunch::mayRunAhead(const Attempt &attempt) {
  int32_t fallback;
  if (!hasCpuVersion(attempt.nodes[0], fallback))
    return true;
  return std::ranges::none_of(attempt.writes, [&](int32_t v) {
    const int32_t root = value(v).root;
    return attempt.isPending(root) &&
           std::ranges::any_of(attempt.reads, [&](int32_t r) { return value(r).root == root; });
  });
}

// Runs `outcome` when all that the attempt was launched after is settled: now, or on the thread that settles
// the last of them.
void DeviceLaunch::afterOthers(const AttemptRef &attempt, std::function<void()> outcome) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    for (const AttemptRef &other : attempt->after)
      if (!other->settled) {
        other->successors.push_back([self = shared_from_this(), attempt, outcome = std::move(outcome)] {
          self->afterOthers(attempt, outcome);
        });
        return;
      }
  }
  outcome();
}

// A node that was launched ahead of a predecessor that failed: it waits for its predecessors as if it had
// never been launched. False for others.
bool DeviceLaunch::takeBack(Attempt &attempt) {
  const int32_t n = attempt.nodes[0];
  std::lock_guard<std::mutex> lock(mutex);
  if (std::ranges::all_of(attempt.after, [](const AttemptRef &other) { return other->good; }))
    return false;
  isAhead[static_cast<size_t>(n)] = 0;
  if (failure.ok() && waiting[static_cast<size_t>(n)] == 0)
    submit(n);
  --inFlight;
  if (inFlight == 0 && (left == 0 || !failure.ok()))
    changed.notify_all();
  return true;
}

} // namespace tessera
