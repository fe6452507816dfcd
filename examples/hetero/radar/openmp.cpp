// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Radar::openmp() {
  const float *input = this->input.data(), *twiddle = this->twiddle.data();
#pragma omp parallel for schedule(static)
  for (int r = 0; r < returns; ++r) {
    const float *in = input + size_t(r) * samples * 2;
    float *out = work.data() + size_t(r) * samples * 2;
    for (int s = 0; s < samples; ++s)
      out[2 * s] = in[2 * reversed[s]], out[2 * s + 1] = in[2 * reversed[s] + 1];
    for (int half = 1; half < samples; half *= 2) {
      int step = samples / (2 * half);
      for (int start = 0; start < samples; start += 2 * half) {
        float *a = out + 2 * start, *b = a + 2 * half;
#pragma omp simd
        for (int k = 0; k < half; ++k) {
          float c = twiddle[k * step * 2], d = twiddle[k * step * 2 + 1];
          float x = b[2 * k] * c - b[2 * k + 1] * d, y = b[2 * k] * d + b[2 * k + 1] * c, u = a[2 * k],
                v = a[2 * k + 1];
          a[2 * k] = u + x, a[2 * k + 1] = v + y, b[2 * k] = u - x, b[2 * k + 1] = v - y;
        }
      }
    }
    float most = 0;
    int at = 0;
    for (int s = 0; s < samples; ++s) {
      float power = out[2 * s] * out[2 * s] + out[2 * s + 1] * out[2 * s + 1];
      if (power > most)
        most = power, at = s;
    }
    peak[r] = at;
    strength[r] = most;
  }
}
