// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products and convolutions as parts of operators, for the domains that fuse them with others.
#pragma once

#include "tessera/frontends/onnx/Context.h"

namespace tessera::onnximport {

/// The product as MatMul defines it: vectors become matrices for it, and their dimension does not appear in
/// the result.
Value product(NodeContext &c, Value a, Value b);
/// The node as a Gemm: inputs 0 to 2 and its attributes.
Value gemm(NodeContext &c);
/// The convolution that the node's attributes describe.
Value convolve(NodeContext &c, Value x, Value w, Value bias);
/// An operand of integers as i32, without its zero point, which is one element or a vector along `axis`.
Value centred(NodeContext &c, unsigned operand, unsigned zero, int64_t axis);
/// A tensor as u8 with its scale and zero point, which follow from its range; the range always holds 0. Null
/// after a failure.
struct ByRange {
  Value y, scale, point;
};
ByRange quantiseByRange(NodeContext &c, Value x);
/// A tensor of i32 with the scales of its two factors, quantised for the result.
Value requantise(NodeContext &c, Value sums, unsigned scaleA, unsigned scaleB, unsigned scaleY,
                 unsigned zeroY, int64_t axisB);

} // namespace tessera::onnximport
