// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole segment as one recording of a device.
#include "tessera/runtime/device/DeviceLaunch.h"
#include "tessera/runtime/trace/Trace.h"

#include <algorithm>

namespace tessera {

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
    for (int32_t v : node.versions[static_cast<size_t>(choice.version)].reads)
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

} // namespace tessera
