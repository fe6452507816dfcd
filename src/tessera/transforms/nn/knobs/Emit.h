// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small pieces of networks that several knobs build.
#pragma once

#include "tessera/transforms/nn/graph/Constants.h"

namespace tessera::nn {

inline Value scalar(OpBuilder &b, Location loc, float v) {
  auto type = RankedTensorType::get({}, b.getF32Type());
  return makeConstant(b, loc, makeElements<float>(type, ArrayRef<float>(v)));
}
inline Value binary(OpBuilder &b, Location loc, BinaryKind kind, Value x, Value y) {
  return BinaryOp::create(b, loc, kind, x, y, false);
}
/// The nearest integer, halves to even, within [low, high].
inline Value nearest(OpBuilder &b, Location loc, Value v, double low, double high) {
  Value whole = UnaryOp::create(b, loc, UnaryKind::round, v, false);
  return ActivationOp::create(b, loc, ActivationKind::clip, whole, APFloat(low), APFloat(high));
}

} // namespace tessera::nn
