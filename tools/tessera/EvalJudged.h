// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "DataOptions.h"
#include "tessera/runtime/program/Program.h"

namespace tessera::tool {

/// Prints how good a tuned program's answers are by those of the exact program in the same file. The program
/// was opened with `profile`. Fails where the quality is below `atLeast`; negative: none is asked for.
Status evalJudged(Program &program, const tune::Curve &curve, const DataOptions &options, double atLeast,
                  bool asJson);

} // namespace tessera::tool
