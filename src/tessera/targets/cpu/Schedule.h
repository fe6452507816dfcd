// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The default scheduler of the CPU: it looks at a payload and writes the script that a person could have
// written.
#pragma once

#include "tessera/targets/cpu/Figures.h"

namespace tessera::cpu {

/// A script for this payload and its kernels. `strict`: nothing that changes the rounding of a result.
schedule::Script writeDefaultSchedule(func::FuncOp payload, const Figures &info, bool strict);

} // namespace tessera::cpu
