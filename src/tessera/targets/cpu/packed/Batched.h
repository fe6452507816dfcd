// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What products of two computed operands share: memory of which any extent may be open, tiles whose columns
// end anywhere, and panels of one operand that are copied side by side for many rows of the other.
#pragma once

#include "tessera/targets/cpu/packed/KernelBuilder.h"

namespace tessera::cpu::packed {

/// A buffer whose extents may all be open, row-major.
struct Strided {
  Value buffer;
  SmallVector<Value> extents, strides;

  static Strided of(Gen &g, Value buffer);
  unsigned rank() const { return extents.size(); }
  /// The distance between neighbours along `dim`; none where all of the result's places share one of an
  /// operand that is broadcast.
  Value step(Gen &g, unsigned dim) const;
  /// Elements to one of the matrices; `at` has an index for each dimension but the last two.
  Value matrix(Gen &g, ValueRange at) const;
};

/// The elements from `offset` on as a view of `count` elements.
Cursor cursorFrom(Gen &g, Value buffer, Value offset, int64_t count = 1);
/// `lanes` elements from `offset` on. With `count`, only so many exist; the others are zero.
Value loadLanes(Gen &g, Value buffer, Value offset, int64_t lanes, Value count = {});
/// The same for stores: others are left as they are.
void storeLanes(Gen &g, Value v, Value buffer, Value offset, Value count = {});

/// A matrix that was a part of a larger one.
struct Matrix {
  Value buffer;
  Value offset;            ///< of its first element
  Value stride;            ///< between its rows
  Value rows;              ///< that exist
  bool transposed = false; ///< rows are the columns of what is meant
};

/// Copies `depth` rows and up to `width` columns of a matrix, from row `row` and column `column` on, side by
/// side: rows of `width` in `panel`, `lanes` dividing the width. Columns from `count` on (if given) are zero
/// or the last one again.
void copyPanel(Gen &g, const Matrix &from, Value row, Value depth, Value column, Value count,
               const Memory &panel, int64_t lanes);

/// Adds a tile of a product to `sums`, `rows.size()` x `vectors` of them: rows of scalars times rows of
/// vectors for `depth` steps.
struct Tile {
  SmallVector<Value> rows; ///< views of what is broadcast, by row
  Value from;              ///< the panel's buffer
  Value offset;            ///< of its first vector
  Value stride;            ///< between its rows
  int64_t lanes;
  SmallVector<int64_t> widths; ///< of its vectors; they are neighbours
  SmallVector<Value> multiply(Gen &g, Value depth, int64_t unroll, SmallVector<Value> sums) const;
};

/// Where a result goes that nothing follows in its stores: given memory, or memory of its own.
struct Target {
  Value buffer;
  Operation *copy = nullptr; ///< to where the result belongs
  static Target of(RewriterBase &rewriter, Gen &g, Value result, Value init);
  void finish(RewriterBase &rewriter, Operation *op) const;
};

/// The indices of item `number` of a grid.
SmallVector<Value> indicesOf(Gen &g, Value number, ArrayRef<Value> extents);

} // namespace tessera::cpu::packed
