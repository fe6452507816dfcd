// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The per-node profile.
#include "tessera/runtime/trace/Profile.h"

#include <algorithm>

namespace tessera {

void Profile::add(int32_t node, const std::string &device, uint64_t ns, double flops, double bytes,
                  uint64_t moved, std::span<const std::pair<std::string, uint64_t>> counters) {
  std::lock_guard<std::mutex> lock(mutex);
  NodeProfile &p = nodes[static_cast<size_t>(node)];
  if (p.device != device)
    p.device = device;
  p.minNs = p.count ? std::min(p.minNs, ns) : ns;
  ++p.count;
  p.totalNs += ns;
  p.flops = std::max(flops, 0.0);
  p.bytes = std::max(bytes, 0.0);
  p.bytesMoved += moved;
  for (auto &[name, number] : counters)
    p.counters[name] += number;
}

void Profile::addRetry(int32_t node) {
  std::lock_guard<std::mutex> lock(mutex);
  ++nodes[static_cast<size_t>(node)].retries;
}

std::vector<NodeProfile> Profile::snapshot() const {
  std::lock_guard<std::mutex> lock(mutex);
  return nodes;
}

void Profile::reset() {
  std::lock_guard<std::mutex> lock(mutex);
  nodes.assign(nodes.size(), NodeProfile());
}

} // namespace tessera
