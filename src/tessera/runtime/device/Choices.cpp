// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which version of a node runs on which device.
#include "tessera/base/Diag.h"
#include "tessera/runtime/device/DeviceLaunch.h"

#include <algorithm>

namespace tessera {

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

// What the installer expected, in nanoseconds for the shapes of this launch; negative when it said nothing.
double DeviceLaunch::expected(const Version &version) const {
  if (!version.expected)
    return -1;
  const double times = static_cast<double>(exprs.getOr(version.expected->times, 1));
  return 1e3 * (version.expected->launch + version.expected->work * std::max(times, 0.0));
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

// `ahead`: of a node that may be launched while its predecessors run, what these write is on their device.
DeviceLaunch::Choice DeviceLaunch::choose(int32_t n, const Attempt *ahead) {
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
      Choice choice{
          device, static_cast<int32_t>(v),
          scheduler.cost(n, static_cast<int32_t>(v), *device, flops, bytes, expected(node.versions[v]))};
      if (program.options().policy == Policy::Static)
        return choice;
      double moved = 0, copies = 0;
      for (int32_t r : node.versions[v].reads) {
        // A constant travels once in the life of a program: it says nothing about this launch.
        if (value(value(r).root).kind == ValueKind::Const)
          continue;
        size_t bytesMoved = !ahead || !ahead->isPending(value(r).root) ? rootOf(r)->bytesToMove(*device)
                            : device == ahead->choice.device           ? 0
                                                                       : rootOf(r)->bytes();
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
        // What was expected of work that is done says nothing.
        const double free = queues.inFlight ? queues.busyUntil : now;
        score = std::max(free, now + copyNs) + choice.cost;
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

} // namespace tessera
