// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

// Frames are the parallelism, as they are in the stream; each thread has the memory between the steps once.
void Edges::openmp() {
#pragma omp parallel
  {
    size_t n = size_t(height) * width, w = width;
    std::vector<float> smooth(n), laplacian(n), gradient(n);
    std::vector<uint8_t> crossing(n);
#pragma omp for schedule(dynamic)
    for (int f = 0; f < frames; ++f) {
      for (int y = 3; y < height - 3; ++y) {
        const float *in = input[f].data() + y * w;
        float *out = smooth.data() + y * w;
#pragma omp simd
        for (int x = 3; x < width - 3; ++x) {
          float sum = 0;
          for (int dy = -3; dy <= 3; ++dy) {
            float row = 0;
            for (int dx = -3; dx <= 3; ++dx)
              row += in[dy * int(w) + x + dx] * weights[dx + 3];
            sum += row * weights[dy + 3];
          }
          out[x] = sum;
        }
      }
      for (int y = 4; y < height - 4; ++y) {
        const float *in = smooth.data() + y * w;
        float *out = laplacian.data() + y * w;
#pragma omp simd
        for (int x = 4; x < width - 4; ++x) {
          float low = in[x], high = in[x];
          for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
              float v = in[dy * int(w) + x + dx];
              low = v < low ? v : low;
              high = v > high ? v : high;
            }
          out[x] = low + high - 2 * in[x];
        }
      }
      float lanes[16] = {};
      for (int y = margin; y < height - margin; ++y) {
        const float *l = laplacian.data() + y * w, *s = smooth.data() + y * w;
        float *g = gradient.data() + y * w;
        uint8_t *c = crossing.data() + y * w;
#pragma omp simd
        for (int x = margin; x < width - margin; ++x)
          c[x] = ((l[x - w] < 0) | (l[x + w] < 0) | (l[x - 1] < 0) | (l[x + 1] < 0)) & (l[x] >= 0);
#pragma omp simd
        for (int x = margin; x < width - margin; ++x) {
          const float *up = s + x - w, *here = s + x, *down = s + x + w;
          float gx = up[1] + 2 * here[1] + down[1] - up[-1] - 2 * here[-1] - down[-1];
          float gy = down[-1] + 2 * down[0] + down[1] - up[-1] - 2 * up[0] - up[1];
          g[x] = std::sqrt(gx * gx + gy * gy);
        }
        // Sixteen maxima side by side: one alone is not vectorised.
        int x = margin;
        for (; x + 16 <= width - margin; x += 16)
          for (int k = 0; k < 16; ++k)
            lanes[k] = g[x + k] > lanes[k] ? g[x + k] : lanes[k];
        for (; x < width - margin; ++x)
          lanes[0] = g[x] > lanes[0] ? g[x] : lanes[0];
      }
      float strongest = *std::max_element(lanes, lanes + 16);
      for (int y = margin; y < height - margin; ++y) {
        const float *g = gradient.data() + y * w;
        const uint8_t *c = crossing.data() + y * w;
        uint8_t *out = output[f].data() + y * w;
#pragma omp simd
        for (int x = margin; x < width - margin; ++x)
          out[x] = c[x] && g[x] >= theta * strongest ? 255 : 0;
      }
    }
  }
}
