// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the attention operators of all domains share.
#pragma once

#include "tessera/frontends/onnx/Context.h"

namespace tessera::onnximport {

/// (B, S, H * D) -> (B, H, S, D).
Value toHeads(NodeContext &c, Value x, int64_t heads);
/// And back.
Value fromHeads(NodeContext &c, Value x);
/// The first elements of each head of x (B, S, H, D) turned by angles, whose cosines and sines broadcast
/// against (B, S, H, half of the elements that are turned).
Value rotate(NodeContext &c, Value x, Value cosine, Value sine, bool interleaved);

} // namespace tessera::onnximport
