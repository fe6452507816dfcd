// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of a sum of products in all lanes: an element of x (narrow: the few that one instruction takes
// together) times a vector of weights. Only this folder's sources include this.
#pragma once

#include "tessera/targets/cpu/packed/KernelBuilder.h"

namespace tessera::cpu::packed {

/// Multiplies and adds elements of the type of x; sums have the result's type.
struct Products {
  Type element, wide;
  int64_t lanes = 1;    ///< of a vector of sums
  int64_t together = 1; ///< elements of x in one step
  Dot dot = Dot::Plain;

  /// For weights whose innermost extents are lanes (x together).
  static Products of(Value x, Value w, Value y, Dot dot);
  bool isNarrow() const { return element != wide; }
  /// Elements of weights in one step.
  int64_t width() const { return lanes * together; }
  VectorType sumType() const { return vectorOf(wide, lanes); }

  /// The elements at `from` + `distance` for all lanes.
  Value spread(Gen &g, const Cursor &from, int64_t distance) const;
  Value weights(Gen &g, const Cursor &from, int64_t distance) const;
  Value add(Gen &g, Value x, Value w, Value sum) const;
};

} // namespace tessera::cpu::packed
