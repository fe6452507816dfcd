// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU's own schedule operations as C++ classes.
#pragma once

#include "tessera/transforms/schedule/Numbers.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "tessera/targets/cpu/ScheduleOps.h.inc"

namespace tessera::cpu {

/// Adds them to the transform dialect.
void registerScheduleOps(DialectRegistry &registry);

} // namespace tessera::cpu
