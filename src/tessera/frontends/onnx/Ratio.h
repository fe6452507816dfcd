// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats that follow from extents: exporters halve a height as a float and round it. Such a number is an
// index over a fixed number, exact as long as f32 would be.
#pragma once

#include "tessera/frontends/onnx/Context.h"

namespace tessera::onnximport {

struct Ratio {
  Ext over;
  int64_t under = 1; ///< positive

  /// What a float scalar is; none where it has more digits than arithmetic on extents can take.
  static std::optional<Ratio> of(const Scalar &s);
  Scalar scalar() const;
};

/// A number of `Add`, `Sub`, `Mul`, `Div`, `Min` or `Max`; none of others.
std::optional<Ratio> combine(NodeContext &c, StringRef op, const Ratio &a, const Ratio &b);
/// Rounded to integers: down, up or (`Cast`) towards zero.
Ext floorOf(NodeContext &c, const Ratio &r);
Ext ceilOf(NodeContext &c, const Ratio &r);
Ext truncated(NodeContext &c, const Ratio &r);

} // namespace tessera::onnximport
