// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the dialect and its operation.
#include "tessera/ir/fault/Fault.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"

using namespace tessera;
using namespace tessera::fault;

#include "tessera/ir/fault/FaultDialect.cpp.inc"

#define GET_OP_CLASSES
#include "tessera/ir/fault/Fault.cpp.inc"

void FaultDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tessera/ir/fault/Fault.cpp.inc"
      >();
}

// require true, %value … → %value
OpFoldResult RequireOp::fold(FoldAdaptor adaptor) {
  if (adaptor.getOk() && matchPattern(adaptor.getOk(), m_One()))
    return getValue();
  return {};
}
