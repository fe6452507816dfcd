// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights as the packed layers want them, computed once when a program is installed.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::cpu::packed {

/// F x C/groups x KH x KW → F1 x (C1/groups) x KH x KW x c x F0, zeros in spare lanes. With groups, blocks
/// divide the channels of a group.
std::vector<float> packConv(const float *w, int64_t f, int64_t c, int64_t kh, int64_t kw, int64_t groups,
                            int64_t blockC, int64_t blockF);
/// F x C x window x window → F1 x T*T x (C1 * c) x F0, transformed for F(tile, window).
std::vector<float> packWinograd(const float *w, int64_t f, int64_t c, int64_t window, int64_t tile,
                                int64_t blockC, int64_t blockF);
/// C x 1 x KH x KW → C1 x KH x KW x c.
std::vector<float> packDepthwise(const float *w, int64_t c, int64_t kh, int64_t kw, int64_t block);
/// K x N (or N x K with `transposed`) → N1 x K x N0. With `channels` > 0 row k of the result is for an
/// operand that was flattened from blocked activations of `channels` channels in blocks of `blockC` and
/// `plane` places, instead of from N C H W; K counts the spare lanes then (rows of zeros).
std::vector<float> packMatmul(const float *w, int64_t k, int64_t n, bool transposed, int64_t blockN,
                              int64_t channels = 0, int64_t plane = 0, int64_t blockC = 0);
/// F → F1 x F0.
std::vector<float> packBias(const float *bias, int64_t f, int64_t blockF);

/// Whether two products of any unsigned byte and such a weight fit a signed number of 16 bits together.
inline bool fitsPairs(int32_t weight) { return weight >= -64 && weight <= 64; }

} // namespace tessera::cpu::packed
