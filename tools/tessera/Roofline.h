// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast work can be at best on a device whose peaks are known.
#pragma once

#include "tessera/runtime/device/Peaks.h"

namespace tessera::tool {

/// The most GFLOP/s for work of so many operations on so many bytes.
double roofOf(const DevicePeaks &device, double flops, double bytes);

} // namespace tessera::tool
