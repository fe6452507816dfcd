// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the dialect and its operations.
#include "tessera/targets/cpu/ir/CpuOps.h"

#include "mlir/IR/DialectImplementation.h"

using namespace tessera;
using namespace tessera::cpu;

#include "tessera/targets/cpu/ir/CpuDialect.cpp.inc"

#define GET_OP_CLASSES
#include "tessera/targets/cpu/ir/CpuOps.cpp.inc"

void CpuDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tessera/targets/cpu/ir/CpuOps.cpp.inc"
      >();
}
