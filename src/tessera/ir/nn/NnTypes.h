// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short words for the types of tensors, which inference, rewrites and lowerings of networks all need.
#pragma once

#include "tessera/ir/LLVM.h"

#include "mlir/IR/BuiltinTypes.h"

namespace tessera::nn {

/// The type of a value that is known to be a ranked tensor.
inline RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
/// Its shape, with elements of another type.
inline RankedTensorType typeLike(Value value, Type element) {
  return RankedTensorType::get(typeOf(value).getShape(), element);
}

} // namespace tessera::nn
