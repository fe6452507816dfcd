// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports the names of MLIR and LLVM that every compiler file uses into tessera, so that
// no file needs `using namespace mlir` or a wall of prefixes.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"

namespace tessera {
using namespace mlir;
} // namespace tessera
