// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Roofline.h.
#include "Roofline.h"

#include <algorithm>
#include <utility>

namespace tessera::tool {

double roofOf(const DevicePeaks &device, double flops, double bytes) {
  // At best each cache still holds as much of the data as fits into it.
  double ns = 0, from = 0;
  for (auto [size, rate] :
       {std::pair(device.nearBytes, device.nearGBs), std::pair(device.cacheBytes, device.cacheGBs),
        std::pair(device.sharedBytes, device.sharedGBs), std::pair(bytes, device.memoryGBs)}) {
    const double to = std::min(bytes, size);
    if (to > from)
      ns += (to - from) / rate;
    from = std::max(from, to);
  }
  return ns > 0 ? std::min(device.gflops, flops / ns) : device.gflops;
}

} // namespace tessera::tool
