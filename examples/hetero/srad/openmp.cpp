// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Srad::openmp() {
  float *image = this->image.data(), *c = coefficient.data(), *n = north.data(), *s = south.data(),
        *w = west.data(), *e = east.data();
  int rows = this->rows, columns = this->columns;
  size_t count = size_t(rows) * columns;
  for (int step = 0; step < steps; ++step) {
    float sum = 0, squares = 0;
#pragma omp parallel for simd reduction(+ : sum, squares)
    for (size_t i = 0; i < count; ++i)
      sum += image[i], squares += image[i] * image[i];
    float mean = sum / float(count), q0 = (squares / float(count) - mean * mean) / (mean * mean);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < rows; ++i) {
      const float *up = image + size_t(i ? i - 1 : 0) * columns, *row = image + size_t(i) * columns,
                  *down = image + size_t(i < rows - 1 ? i + 1 : i) * columns;
      size_t base = size_t(i) * columns;
#pragma omp simd
      for (int j = 0; j < columns; ++j) {
        float v = row[j], dn = up[j] - v, ds = down[j] - v, dw = row[j > 0 ? j - 1 : 0] - v,
              de = row[j < columns - 1 ? j + 1 : j] - v;
        float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (v * v), l = (dn + ds + dw + de) / v;
        float num = 0.5f * g2 - l * l * (1.0f / 16.0f), den = 1.0f + 0.25f * l, q = num / (den * den);
        float k = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
        n[base + j] = dn, s[base + j] = ds, w[base + j] = dw, e[base + j] = de;
        c[base + j] = std::min(std::max(k, 0.0f), 1.0f);
      }
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < rows; ++i) {
      size_t base = size_t(i) * columns, below = size_t(i < rows - 1 ? i + 1 : i) * columns;
#pragma omp simd
      for (int j = 0; j < columns; ++j) {
        int right = j < columns - 1 ? j + 1 : j;
        image[base + j] += 0.25f * lambda *
                           (c[base + j] * n[base + j] + c[below + j] * s[base + j] +
                            c[base + j] * w[base + j] + c[base + right] * e[base + j]);
      }
    }
  }
}
