// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Schedule.h.
#include "tessera/targets/cpu/Schedule.h"

using namespace tessera;

std::string cpu::writeDefaultSchedule(func::FuncOp payload, const TargetInfo &info) { return ""; }
