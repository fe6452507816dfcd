// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the dialect and its operations.
#include "tessera/ir/nn/Nn.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace tessera;
using namespace tessera::nn;

#include "tessera/ir/nn/NnDialect.cpp.inc"
#include "tessera/ir/nn/NnEnums.cpp.inc"
#include "tessera/ir/nn/NnInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "tessera/ir/nn/Nn.cpp.inc"

void NnDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tessera/ir/nn/Nn.cpp.inc"
      >();
}
