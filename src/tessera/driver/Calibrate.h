// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ranges of activations, which int8 needs, measured on samples.
#pragma once

#include "tessera/driver/Compiler.h"
#include "tessera/runtime/program/Program.h"

namespace tessera {

/// The input of a network for one round, counted from 0; null when there are no more.
using CalibrationInput = std::function<Result<BufferRef>(const ProgramPlan &plan, int64_t round)>;

/// Runs a network and gives each operation that can be computed in int8 the range of its activation
/// (nn.range). How many operations got one.
Result<int64_t> calibrate(Session &session, Portable &program, const CalibrationInput &input);

} // namespace tessera
