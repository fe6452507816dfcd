// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The peaks of this machine's CPU, measured with the widest vectors that it has.
#pragma once

#include "tessera/runtime/device/Peaks.h"

namespace tessera::cpu {

DevicePeaks measurePeaks(unsigned threads);

} // namespace tessera::cpu
