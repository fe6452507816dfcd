// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plane read between its elements.
#pragma once

#include <cmath>
#include <cstdint>

namespace tessera::oracle {

/// Linear interpolation between the four neighbours of (y, x); those outside the plane are zeros.
inline double sampleZeros(const double *plane, int64_t height, int64_t width, double y, double x) {
  // Far outside there is nothing, and a number that no integer holds must not become one.
  if (!(y > -1 && y < static_cast<double>(height) && x > -1 && x < static_cast<double>(width)))
    return 0;
  auto top = static_cast<int64_t>(std::floor(y)), left = static_cast<int64_t>(std::floor(x));
  double fy = y - static_cast<double>(top), fx = x - static_cast<double>(left), sum = 0;
  for (int64_t dy = 0; dy < 2; ++dy)
    for (int64_t dx = 0; dx < 2; ++dx) {
      int64_t i = top + dy, j = left + dx;
      if (i >= 0 && i < height && j >= 0 && j < width)
        sum += plane[i * width + j] * (dy ? fy : 1 - fy) * (dx ? fx : 1 - fx);
    }
  return sum;
}

} // namespace tessera::oracle
