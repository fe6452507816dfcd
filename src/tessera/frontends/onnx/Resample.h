// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resizing along extents that are only known at launch.
#pragma once

#include "tessera/frontends/onnx/Context.h"

namespace tessera::onnximport {

/// What a resize does along each axis, in the words of ONNX Resize-19.
struct ResizeWords {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool excludeOutside = false;
};

/// The extent that `extent` is scaled to, rounded as ONNX Runtime does.
Ext scaledExtent(NodeContext &c, Ext extent, double scale);
/// x resampled along one axis to `extent` elements. Without a scale it is the quotient of the extents.
Value resizeOpen(NodeContext &c, Value x, int64_t axis, Ext extent, std::optional<double> scale,
                 const ResizeWords &words, DataType type);

} // namespace tessera::onnximport
