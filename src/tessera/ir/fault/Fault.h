// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `fault`: conditions on data that a kernel checks while it runs.
#pragma once

#include "tessera/ir/note/Note.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tessera/ir/fault/FaultDialect.h.inc"

#define GET_OP_CLASSES
#include "tessera/ir/fault/Fault.h.inc"

namespace tessera::fault {

using Notes = FaultDialect::Notes;

} // namespace tessera::fault
