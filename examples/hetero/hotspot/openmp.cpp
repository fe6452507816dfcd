// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Hotspot::openmp() {
  int rows = this->rows, columns = this->columns;
  for (int s = 0; s < steps; ++s) {
    const float *a = from.data(), *power = this->power.data();
    float *b = to.data();
#pragma omp parallel for schedule(static)
    for (int i = 0; i < rows; ++i) {
      const float *up = a + size_t(i ? i - 1 : 0) * columns, *row = a + size_t(i) * columns,
                  *down = a + size_t(i < rows - 1 ? i + 1 : i) * columns, *p = power + size_t(i) * columns;
      float *out = b + size_t(i) * columns;
      auto one = [&](int j, int left, int right) {
        float v = row[j];
        out[j] = v + step * (p[j] + (down[j] + up[j] - 2.0f * v) * columnStep +
                             (row[right] + row[left] - 2.0f * v) * rowStep + (ambient - v) * verticalStep);
      };
      one(0, 0, 1);
#pragma omp simd
      for (int j = 1; j < columns - 1; ++j)
        one(j, j - 1, j + 1);
      one(columns - 1, columns - 2, columns - 1);
    }
    std::swap(from, to);
  }
}
