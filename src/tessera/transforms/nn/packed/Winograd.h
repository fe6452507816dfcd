// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrices of Winograd's minimal filtering F(2, 3) and F(4, 3), one dimension; two dimensions apply them
// to rows and columns (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015).
#pragma once

#include <cstdint>

namespace tessera::nn::packed {

struct WinogradMatrices {
  int64_t tile;         ///< results in one dimension
  int64_t points;       ///< tile + 2
  const double *input;  ///< points x points
  const double *filter; ///< points x 3
  const double *output; ///< tile x points
};

inline constexpr double winogradInput2[] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1};
inline constexpr double winogradFilter2[] = {1, 0, 0, .5, .5, .5, .5, -.5, .5, 0, 0, 1};
inline constexpr double winogradOutput2[] = {1, 1, 1, 0, 0, 1, -1, -1};

inline constexpr double winogradInput4[] = {4, 0,  -5, 0, 1, 0, 0, -4, -4, 1,  1, 0, 0, 4, -4, -1, 1, 0,
                                            0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0,  -5, 0, 1};
inline constexpr double winogradFilter4[] = {1. / 4,  0,        0,       -1. / 6, -1. / 6, -1. / 6,
                                             -1. / 6, 1. / 6,   -1. / 6, 1. / 24, 1. / 12, 1. / 6,
                                             1. / 24, -1. / 12, 1. / 6,  0,       0,       1};
inline constexpr double winogradOutput4[] = {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0,
                                             0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1};

/// For F(tile, 3); `tile` is 2 or 4.
inline constexpr WinogradMatrices winograd(int64_t tile) {
  return tile == 2 ? WinogradMatrices{2, 4, winogradInput2, winogradFilter2, winogradOutput2}
                   : WinogradMatrices{4, 6, winogradInput4, winogradFilter4, winogradOutput4};
}

} // namespace tessera::nn::packed
