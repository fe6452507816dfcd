// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device can do at most: f32 multiplications and additions, and bytes from caches and from memory.
// Measured, in a fraction of a second, with the threads that a program would use (Device::measurePeaks).
#pragma once

namespace tessera {

struct DevicePeaks {
  unsigned threads = 1;
  double gflops = 0;      ///< fused multiply-adds in registers, two operations each
  double nearGBs = 0;     ///< reading what fits into the first cache
  double cacheGBs = 0;    ///< reading what fits into the second cache
  double sharedGBs = 0;   ///< reading what fits into the last cache
  double memoryGBs = 0;   ///< reading what fits into no cache
  double nearBytes = 0;   ///< of all threads' first caches together
  double cacheBytes = 0;  ///< and of their second ones
  double sharedBytes = 0; ///< of the last cache
};

} // namespace tessera
