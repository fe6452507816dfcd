// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the vector dialect share.
#pragma once

#include "tessera/oracle/Interpreter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tessera::oracle {

/// The value of an operand, found by what it is rather than by its position.
const Val &operandValue(Exec &x, const Inst &inst, Value operand);

/// The lane of the mask is set; an undefined lane is an error. Without a mask all are.
LogicalResult isActive(Exec &x, const Inst &inst, const Val *mask, int64_t lane, bool &result);

Combine toCombine(vector::CombiningKind kind, bool isFloat);

/// New elements of a static vector type.
Ref<Elements> newVector(Type type);

} // namespace tessera::oracle
