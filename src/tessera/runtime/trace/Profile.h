// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each node of a program cost: counts, times, work and bytes moved. Only kept when
// a program is opened with `profile`.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

struct NodeProfile {
  std::string device; ///< Where it ran last.
  uint64_t count = 0;
  uint64_t totalNs = 0, minNs = 0;
  double flops = 0, bytes = 0;              ///< Of one run, as the plan estimates; 0 when unknown.
  uint64_t bytesMoved = 0;                  ///< To the device for this node, in all.
  uint64_t retries = 0;                     ///< Runs elsewhere after a device failed.
  std::map<std::string, uint64_t> counters; ///< What the device has counted, in all.
};

class Profile {
public:
  explicit Profile(size_t nodes) : nodes(nodes) {}

  void add(int32_t node, const std::string &device, uint64_t ns, double flops, double bytes,
           uint64_t moved = 0, std::span<const std::pair<std::string, uint64_t>> counters = {});
  void addRetry(int32_t node);
  std::vector<NodeProfile> snapshot() const;
  void reset();

private:
  mutable std::mutex mutex;
  std::vector<NodeProfile> nodes;
};

} // namespace tessera
