// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule operations on payloads and kernels as C++ classes.
#pragma once

#include "tessera/transforms/schedule/Numbers.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"

namespace tessera::schedule {

/// The steps of upstream that CheckStepOp checks operations for.
enum class StepKind { Tasks, Loops, Interchange, Vectorize };
StringRef stringify(StepKind kind);

} // namespace tessera::schedule

#define GET_OP_CLASSES
#include "tessera/transforms/schedule/LeafOps.h.inc"
