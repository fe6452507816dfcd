// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The algorithms by which a convolution can run on blocks, and the packed layer for each. Layout assignment
// takes the default or what the attribute `cpu.algorithm` says; the portfolio measures them.
#pragma once

#include "tessera/targets/cpu/layout/Layout.h"

namespace tessera::cpu {

enum class Algorithm { Direct, Depthwise, Winograd2, Winograd4 };

/// Its name in attributes, caches and reports: "direct", "depthwise", "winograd:2", "winograd:4".
StringRef nameOf(Algorithm algorithm);
std::optional<Algorithm> parseAlgorithm(StringRef name);

/// All algorithms for a convolution on blocks, the default first; none when it stays plain.
SmallVector<Algorithm> algorithmsFor(ConvOp op, const LayoutOptions &options);
/// What it runs by: its attribute if that names one of these, else the default.
Algorithm algorithmOf(ConvOp op, const LayoutOptions &options);

/// The packed layer for `op` on blocked `x` with its border, giving blocks of `block` channels. Without
/// `contents` the weights are zeros of the right shape: enough to measure.
Value emitConv(OpBuilder &b, ConvOp op, Value x, Value bias, int64_t block, Algorithm algorithm,
               bool contents = true);

} // namespace tessera::cpu
