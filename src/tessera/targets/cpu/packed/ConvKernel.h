// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a convolution as it stands, for the layer alone (Conv.cpp) and behind a depthwise one
// (Separable.cpp). Only this folder's sources include this.
#pragma once

#include "tessera/targets/cpu/packed/Products.h"

#include <functional>

namespace tessera::cpu::packed {

struct ConvKernel {
  Gen g;
  Input x;
  Memory w, bias;
  Output &out;
  Products products;
  int64_t cBlocks, height, width, c, fBlocks, lanes, kh, kw; ///< of weights and x
  int64_t rows, columns; ///< of the result; where they are open, tiles have one row
  int64_t strideH, strideW, dilationH, dilationW;
  int64_t firstBlock; ///< blocks of x between groups
  Value firstRow;     ///< where x is a strip: it holds one image from this row on
  /// Called before each tile (block, row, column).
  std::function<void(Value, Value, Value)> beforeTile;

  /// For x as it is, or somewhere else.
  static ConvKernel of(RewriterBase &rewriter, PackedConvOp op, const Input &x, Output &out,
                       const ConvTiles &t);
  /// The rows [from, to); `last` says whether they are the plane's last ones. Others are whole tiles.
  void part(Value n, Value f, Value from, Value to, Value last, const ConvTiles &t);
  /// The same for a plane whose extents are open: all columns of [from, to), whichever they are.
  void openPart(Value n, Value f, Value from, Value to, Value columns, const ConvTiles &t) {
    g.each(from, to, 1, [&](Value row) { openRow(n, f, row, g.index(0), columns, t); });
  }
  /// The columns [from, to) of one row.
  void openRow(Value n, Value f, Value row, Value from, Value to, const ConvTiles &t) {
    g.cover(from, to, t.columns, [&](Value at, int64_t size) { tile(n, f, row, at, 1, size, t); });
  }
  void tile(Value n, Value f, Value row, Value column, int64_t tileRows, int64_t tileColumns,
            const ConvTiles &t);

private:
  /// All columns of `tileRows` rows from `row` on.
  void row(Value n, Value f, Value row, int64_t tileRows, const ConvTiles &t);
  void steps(Value n, Value f, Value row, Value column, int64_t tileRows, int64_t tileColumns,
             const ConvTiles &t, SmallVector<Value> &sums);
};

} // namespace tessera::cpu::packed
