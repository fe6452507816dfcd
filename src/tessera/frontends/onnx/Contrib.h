// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the operators of ONNX Runtime's own domain (com.microsoft) share. They are not versioned, and grow
// attributes and inputs from release to release: each conversion names those it honours.
#pragma once

#include "tessera/frontends/onnx/Context.h"

namespace tessera::onnximport {

/// The node has only these attributes, and at most `inputs` inputs; fails, naming what else is there.
bool honours(NodeContext &c, ArrayRef<StringRef> attributes, unsigned inputs);
/// The activation that a fused operator names, with its parameters in order.
Value fusedActivation(NodeContext &c, Value y, StringRef name, ArrayRef<double> parameters);
/// An operand of narrow integers as f32: (x - zero) * scale, one of each or a vector along `axis`.
Value dequantised(NodeContext &c, unsigned x, unsigned scale, unsigned zero, int64_t axis = 0);
/// A tensor of f32 in the type of input `zero` (u8 where it was left out); becomes output 0.
void setQuantised(NodeContext &c, Value y, unsigned scale, unsigned zero);

} // namespace tessera::onnximport
