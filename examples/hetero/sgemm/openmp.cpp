// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Sgemm::openmp() {
  const float *a = this->a.data(), *bt = this->bt.data();
  float *c = this->c.data();
  // Four columns at a time over blocks of rows and of the sum: what a careful user writes before reaching for
  // a library.
  constexpr int rows = 256, depth = 128;
#pragma omp parallel for schedule(static)
  for (int j = 0; j < n; ++j)
    std::fill(c + size_t(j) * m, c + size_t(j + 1) * m, 0.0f);
#pragma omp parallel for schedule(dynamic)
  for (int j = 0; j < n; j += 4) {
    int columns = std::min(4, n - j);
    for (int l0 = 0; l0 < k; l0 += depth)
      for (int i0 = 0; i0 < m; i0 += rows) {
        int l1 = std::min(k, l0 + depth), i1 = std::min(m, i0 + rows);
        for (int l = l0; l < l1; ++l)
          for (int s = 0; s < columns; ++s) {
            float b = bt[size_t(l) * n + j + s];
            float *out = c + size_t(j + s) * m;
            const float *in = a + size_t(l) * m;
#pragma omp simd
            for (int i = i0; i < i1; ++i)
              out[i] += b * in[i];
          }
      }
  }
}
