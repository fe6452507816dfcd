// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrices of Winograd's minimal filtering F(tile, window) for tiles of 2 and 4 and windows of 3 and 5,
// one dimension; two dimensions apply them to rows and columns (Lavin and Gray, Fast Algorithms for
// Convolutional Neural Networks, 2015). The input's matrix depends on the points alone: 0, 1, -1, then 2, -2,
// then 1/2, -1/2, and infinity.
#pragma once

#include <cstdint>

namespace tessera::cpu::packed {

struct WinogradMatrices {
  int64_t tile;         ///< results in one dimension
  int64_t window;       ///< weights in one dimension
  int64_t points;       ///< tile + window - 1
  const double *input;  ///< points x points
  const double *filter; ///< points x window
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
// F(2, 5) has the points of F(4, 3).
inline constexpr double winogradFilter25[] = {
    1. / 4,  0,        0,       0,        0,        -1. / 6, -1. / 6, -1. / 6, -1. / 6, -1. / 6,
    -1. / 6, 1. / 6,   -1. / 6, 1. / 6,   -1. / 6,  1. / 24, 2. / 24, 4. / 24, 8. / 24, 16. / 24,
    1. / 24, -2. / 24, 4. / 24, -8. / 24, 16. / 24, 0,       0,       0,       0,       1};
inline constexpr double winogradOutput25[] = {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 1};

inline constexpr double winogradInput8[] = {
    1, 0,   -5.25, 0,    5.25,  0,   -1, 0, 0, 1,  1,   -4.25, -4.25, 1,     1, 0,
    0, -1,  1,     4.25, -4.25, -1,  1,  0, 0, .5, .25, -2.5,  -1.25, 2,     1, 0,
    0, -.5, .25,   2.5,  -1.25, -2,  1,  0, 0, 2,  4,   -2.5,  -5,    .5,    1, 0,
    0, -2,  4,     2.5,  -5,    -.5, 1,  0, 0, -1, 0,   5.25,  0,     -5.25, 0, 1};
inline constexpr double winogradFilter45[] = {
    1,        0,         0,       0,        0,        -2. / 9,  -2. / 9,  -2. / 9, -2. / 9, -2. / 9,
    -2. / 9,  2. / 9,    -2. / 9, 2. / 9,   -2. / 9,  1. / 90,  2. / 90,  4. / 90, 8. / 90, 16. / 90,
    1. / 90,  -2. / 90,  4. / 90, -8. / 90, 16. / 90, 32. / 45, 16. / 45, 8. / 45, 4. / 45, 2. / 45,
    32. / 45, -16. / 45, 8. / 45, -4. / 45, 2. / 45,  0,        0,        0,       0,       1};
inline constexpr double winogradOutput45[] = {1, 1, 1, 1, 1, 1,   1,   0, 0, 1, -1, 2, -2, .5,   -.5,   0,
                                              0, 1, 1, 4, 4, .25, .25, 0, 0, 1, -1, 8, -8, .125, -.125, 1};

inline constexpr WinogradMatrices winograd(int64_t tile, int64_t window) {
  if (window == 5)
    return tile == 2 ? WinogradMatrices{2, 5, 6, winogradInput4, winogradFilter25, winogradOutput25}
                     : WinogradMatrices{4, 5, 8, winogradInput8, winogradFilter45, winogradOutput45};
  return tile == 2 ? WinogradMatrices{2, 3, 4, winogradInput2, winogradFilter2, winogradOutput2}
                   : WinogradMatrices{4, 3, 6, winogradInput4, winogradFilter4, winogradOutput4};
}

/// The window of transformed weights for `points` x `points` places.
inline constexpr int64_t winogradWindow(int64_t tile, int64_t places) {
  for (int64_t window : {3, 5})
    if ((tile + window - 1) * (tile + window - 1) == places)
      return window;
  return 0;
}

} // namespace tessera::cpu::packed
