// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rivals: the same computations as a careful programmer writes them with OpenMP, compiled with -O3
// -march=native. A library of its own, so that its flags and its runtime touch nothing else.
#include <cstdint>
#include <cstring>
#include <omp.h>

extern "C" {

void peer_threads(int threads) {
  omp_set_num_threads(threads);
  // Idle threads give up the processor soon after a region: the other side is measured next.
  kmp_set_blocktime(1);
}

void peer_saxpy(float a, const float *x, const float *y, float *z, int64_t n) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; ++i)
    z[i] = a * x[i] + y[i];
}

// x has a border of one cell around the n0 * n1 * n2 cells of y.
void peer_stencil(const float *__restrict x, float *__restrict y, int64_t n0, int64_t n1, int64_t n2) {
  const int64_t row = n2 + 2, plane = (n1 + 2) * row;
#pragma omp parallel for collapse(2)
  for (int64_t i = 0; i < n0; ++i)
    for (int64_t j = 0; j < n1; ++j) {
      const float *c = x + (i + 1) * plane + (j + 1) * row + 1;
      float *out = y + (i * n1 + j) * n2;
#pragma omp simd
      for (int64_t k = 0; k < n2; ++k)
        out[k] = 0.1f * (c[k - plane] + c[k + plane] + c[k - row] + c[k + row] + c[k - 1] + c[k + 1]) +
                 0.4f * c[k];
    }
}

void peer_mandelbrot(int32_t *steps, int64_t height, int64_t width, int32_t limit) {
  const float dx = 3.0f / static_cast<float>(width), dy = 2.5f / static_cast<float>(height);
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < width; ++j) {
      const float cx = -2.0f + static_cast<float>(j) * dx, cy = -1.25f + static_cast<float>(i) * dy;
      float x = 0, y = 0;
      int32_t n = 0;
      while (x * x + y * y <= 4.0f && n < limit) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        ++n;
      }
      steps[i * width + j] = n;
    }
}

float peer_sum(const float *x, int64_t n) {
  float s = 0;
#pragma omp parallel for simd reduction(+ : s)
  for (int64_t i = 0; i < n; ++i)
    s += x[i];
  return s;
}

void peer_histogram(const uint8_t *x, int64_t n, int32_t *counts) {
  std::memset(counts, 0, 256 * sizeof *counts);
#pragma omp parallel
  {
    int32_t own[256] = {};
#pragma omp for nowait
    for (int64_t i = 0; i < n; ++i)
      ++own[x[i]];
#pragma omp critical
    for (int k = 0; k < 256; ++k)
      counts[k] += own[k];
  }
}

void peer_matmul_ijk(const float *__restrict a, const float *__restrict b, float *__restrict c, int64_t m,
                     int64_t n, int64_t k) {
#pragma omp parallel for
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float s = 0;
      for (int64_t p = 0; p < k; ++p)
        s += a[i * k + p] * b[p * n + j];
      c[i * n + j] = s;
    }
}

void peer_matmul_ikj(const float *__restrict a, const float *__restrict b, float *__restrict c, int64_t m,
                     int64_t n, int64_t k) {
#pragma omp parallel for
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j)
      c[i * n + j] = 0;
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        c[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}
}
