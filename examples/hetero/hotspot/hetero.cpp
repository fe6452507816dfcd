// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void advance(const float *from, size_t fromBytes, const float *power, size_t powerBytes, float *to,
                    size_t toBytes, int rows, int columns, float rowStep, float columnStep,
                    float verticalStep, float step) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      __hetero_parallel_loop(2, 9, from, fromBytes, power, powerBytes, to, toBytes, rows, columns, rowStep,
                             columnStep, verticalStep, step, 1, to, toBytes, "advance");
      int up = i > 0 ? i - 1 : 0, down = i < rows - 1 ? i + 1 : rows - 1;
      int left = j > 0 ? j - 1 : 0, right = j < columns - 1 ? j + 1 : columns - 1;
      float v = from[i * columns + j];
      to[i * columns + j] =
          v + step * (power[i * columns + j] +
                      (from[down * columns + j] + from[up * columns + j] - 2.0f * v) * columnStep +
                      (from[i * columns + right] + from[i * columns + left] - 2.0f * v) * rowStep +
                      (Hotspot::ambient - v) * verticalStep);
    }
  __hetero_section_end(section);
}

void Hotspot::hetero() {
  size_t bytes = from.size() * sizeof(float);
  for (int s = 0; s < steps; ++s) {
    void *run = __hetero_launch((void *)advance, 9, from.data(), bytes, power.data(), bytes, to.data(), bytes,
                                rows, columns, rowStep, columnStep, verticalStep, step, 1, to.data(), bytes);
    __hetero_wait(run);
    std::swap(from, to);
  }
}

HARNESS_MAIN(Hotspot, "hotspot", 92)
