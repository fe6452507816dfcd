// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The default scheduler of the CPU: it looks at a payload and writes the script that a person could have written.
#pragma once

#include "tessera/targets/Target.h"

namespace tessera::cpu {

/// A transform-dialect module with a sequence @schedule for this payload.
std::string writeDefaultSchedule(func::FuncOp payload, const TargetInfo &info);

} // namespace tessera::cpu
