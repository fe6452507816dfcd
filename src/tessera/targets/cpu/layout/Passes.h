// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of this folder; see Passes.td for what each does.
#pragma once

#include "mlir/Pass/Pass.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera::cpu {

#define GEN_PASS_DECL
#include "tessera/targets/cpu/layout/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/targets/cpu/layout/Passes.h.inc"

} // namespace tessera::cpu
