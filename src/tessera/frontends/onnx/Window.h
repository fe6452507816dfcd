// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attributes that convolutions and pools share.
#pragma once

#include "tessera/frontends/onnx/Context.h"

namespace tessera::onnximport {

struct WindowAttrs {
  Ints kernel, strides, pads, dilations; ///< pads: the lows, then the highs
};

/// Strides, dilations and pads for `x` (N C spatial…) and the given kernel; `auto_pad` is worked out. nullopt
/// after a failure.
std::optional<WindowAttrs> windowAttrs(NodeContext &c, Value x, ArrayRef<int64_t> kernel);

} // namespace tessera::onnximport
