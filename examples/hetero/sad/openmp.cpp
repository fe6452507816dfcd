// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Sad::openmp() {
  const uint16_t *frame = this->frame.data(), *previous = this->previous.data();
  uint16_t *small = this->small.data();
  int width = this->width, height = this->height;
#pragma omp parallel for collapse(2) schedule(static)
  for (int by = 0; by < height / 4; ++by)
    for (int bx = 0; bx < width / 4; ++bx)
      for (int dy = 0; dy < side; ++dy) {
        int sums[side] = {};
        for (int y = 0; y < 4; ++y) {
          const uint16_t *row = previous + size_t(std::clamp(by * 4 + y + dy - range, 0, height - 1)) * width;
          for (int x = 0; x < 4; ++x) {
            int own = frame[size_t(by * 4 + y) * width + bx * 4 + x], left = bx * 4 + x - range;
#pragma omp simd
            for (int dx = 0; dx < side; ++dx)
              sums[dx] += std::abs(own - int(row[std::min(std::max(left + dx, 0), width - 1)]));
          }
        }
        uint16_t *out = small + ((size_t(by) * (width / 4) + bx) * side + dy) * side;
        for (int dx = 0; dx < side; ++dx)
          out[dx] = uint16_t(sums[dx]);
      }
  auto merge = [&](const uint16_t *in, uint16_t *out, int size) {
    int w = width / (size / 2), n = width / size;
#pragma omp parallel for collapse(2) schedule(static)
    for (int by = 0; by < height / size; ++by)
      for (int bx = 0; bx < n; ++bx) {
        const uint16_t *a = in + (size_t(2 * by) * w + 2 * bx) * places, *b = a + size_t(w) * places;
        uint16_t *to = out + (size_t(by) * n + bx) * places;
#pragma omp simd
        for (int place = 0; place < places; ++place)
          to[place] = uint16_t(a[place] + a[places + place] + b[place] + b[places + place]);
      }
  };
  merge(small, medium.data(), 8);
  merge(medium.data(), large.data(), 16);
}
