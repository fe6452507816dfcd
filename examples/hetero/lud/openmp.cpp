// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Lud::openmp() {
  constexpr int block = 32;
  float *a = matrix.data();
  int n = this->n;
  for (int k = 0; k < n; k += block) {
    int width = std::min(block, n - k), next = k + width;
    for (int c = k; c < next; ++c)
      for (int i = c + 1; i < next; ++i) {
        float f = a[size_t(i) * n + c] /= a[size_t(c) * n + c];
        for (int j = c + 1; j < next; ++j)
          a[size_t(i) * n + j] -= f * a[size_t(c) * n + j];
      }
#pragma omp parallel for schedule(static)
    for (int i = next; i < n; ++i)
      for (int c = k; c < next; ++c) {
        float f = a[size_t(i) * n + c] /= a[size_t(c) * n + c];
        for (int j = c + 1; j < next; ++j)
          a[size_t(i) * n + j] -= f * a[size_t(c) * n + j];
      }
#pragma omp parallel for schedule(static)
    for (int j0 = next; j0 < n; j0 += 64)
      for (int c = k; c < next; ++c)
        for (int i = c + 1; i < next; ++i)
#pragma omp simd
          for (int j = j0; j < std::min(n, j0 + 64); ++j)
            a[size_t(i) * n + j] -= a[size_t(i) * n + c] * a[size_t(c) * n + j];
#pragma omp parallel for schedule(static)
    for (int i = next; i < n; ++i)
      for (int c = k; c < next; ++c) {
        float f = a[size_t(i) * n + c];
#pragma omp simd
        for (int j = next; j < n; ++j)
          a[size_t(i) * n + j] -= f * a[size_t(c) * n + j];
      }
  }
}
