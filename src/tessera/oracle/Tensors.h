// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices of elements, for the families that cut and join them.
#pragma once

#include "tessera/oracle/Interpreter.h"

namespace tessera::oracle {

/// A box of positions in elements, given by its offsets, extents and strides.
struct Slice {
  SmallVector<int64_t, 4> offsets, sizes, strides;

  /// Reads the mixed static and dynamic parts of an operation; `first` is its first dynamic operand.
  LogicalResult read(Exec &x, const Inst &inst, ArrayRef<int64_t> staticOffsets,
                     ArrayRef<int64_t> staticSizes, ArrayRef<int64_t> staticStrides, unsigned first);
  /// An error when a part of the slice lies outside.
  LogicalResult check(Exec &x, const Inst &inst, ArrayRef<int64_t> shape) const;
  /// Calls `f` with the linear positions of the slice in elements of this shape, in row-major order; stops
  /// when it fails.
  LogicalResult forEach(ArrayRef<int64_t> shape, function_ref<LogicalResult(int64_t)> f) const;
};

/// The static extents of a ranked type, with the dynamic ones replaced by `actual`'s.
SmallVector<int64_t, 4> slicedShape(ShapedType type, ArrayRef<int64_t> sizes);

/// An error unless the actual extents fit the static ones of the type.
LogicalResult checkType(Exec &x, const Inst &inst, Type type, ArrayRef<int64_t> shape);

/// The value of an affine expression; fails on a division by a number that is not positive.
std::optional<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> dims, ArrayRef<int64_t> symbols);

} // namespace tessera::oracle
