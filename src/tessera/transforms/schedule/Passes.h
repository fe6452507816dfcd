// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedule scripts as passes; see Passes.td.
#pragma once

#include "mlir/Pass/Pass.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera::schedule {

#define GEN_PASS_DECL
#include "tessera/transforms/schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/transforms/schedule/Passes.h.inc"

} // namespace tessera::schedule
