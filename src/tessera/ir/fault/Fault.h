// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `fault`: conditions on data that a kernel checks while it runs.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tessera/ir/fault/FaultDialect.h.inc"

#define GET_OP_CLASSES
#include "tessera/ir/fault/Fault.h.inc"

namespace tessera::fault {

/// On a division: the number of its site among those of its kernel.
inline constexpr llvm::StringLiteral siteAttr = "fault.site";
/// On a division whose divisor was made safe by a `fault.require` before.
inline constexpr llvm::StringLiteral guardedAttr = "fault.guarded";

} // namespace tessera::fault
