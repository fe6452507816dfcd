// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a depthwise convolution, for the layer alone (Depthwise.cpp) and in front of a product
// (Separable.cpp). Only this folder's sources include this.
#pragma once

#include "tessera/targets/cpu/packed/KernelBuilder.h"

namespace tessera::cpu::packed {

struct DepthwiseKernel {
  Gen g;
  Input x;
  Memory w, bias;
  Output &out;
  Type element;
  int64_t blocks, block, lanes, kh, kw; ///< blocks of so many channels; lanes: those of a vector
  int64_t rows, columns;                ///< of the result
  int64_t strideH, strideW, dilationH, dilationW;

  static DepthwiseKernel of(RewriterBase &rewriter, PackedDepthwiseOp op, Output &out);
  /// The rows [from, to) of one block, vector by vector; `last` says whether they are the plane's last ones.
  /// Others are whole tiles.
  void part(Value n, Value index, Value from, Value to, Value last, const DepthwiseTiles &t) {
    g.each(0, block, lanes, [&](Value lane) { part(n, index, lane, from, to, last, t); });
  }
  /// Asks for the vectors [first, first + count) of those that `rows` rows of the result from `row` on read,
  /// block by block.
  void prefetch(Value n, Value row, int64_t rows, Value first, int64_t count);

private:
  /// A vector of x in the type that is computed in.
  Value read(const Cursor &from, int64_t distance);
  void part(Value n, Value index, Value lane, Value from, Value to, Value last, const DepthwiseTiles &t);
  void tile(Value n, Value index, Value lane, Value row, Value column, int64_t tileRows, int64_t tileColumns,
            Value start, ArrayRef<Value> taps);
};

} // namespace tessera::cpu::packed
