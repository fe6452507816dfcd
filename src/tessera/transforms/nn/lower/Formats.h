// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element formats that are stored in bytes: how their bits are read and written.
#pragma once

#include "tessera/transforms/nn/lower/Elements.h"

namespace tessera::nn {

inline bool isFloatFormat(Format f) { return f >= Format::f8e4m3fn && f <= Format::f4e2m1; }
inline bool isUnsignedFormat(Format f) {
  return f == Format::unsigned_ || f == Format::u4 || f == Format::u2;
}

/// The element as a number: f32 for the float formats, i8 for narrow integers, as it is for the others.
Value emitDecode(OpBuilder &b, Location loc, Value v, Format from);

/// A number as an element of type `type` in format `to`. Narrow integers keep the lower bits of what does not
/// fit; floats saturate unless `wrap` is set.
Value emitEncode(OpBuilder &b, Location loc, Value v, bool fromUnsigned, Type type, Format to, bool wrap,
                 StringRef roundMode);

} // namespace tessera::nn
