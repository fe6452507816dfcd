// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void search(const uint16_t *frame, size_t frameBytes, const uint16_t *previous, size_t previousBytes,
                   uint16_t *small, size_t smallBytes, uint16_t *medium, size_t mediumBytes, uint16_t *large,
                   size_t largeBytes, int width, int height) {
  void *section = __hetero_section_begin();
  for (int by = 0; by < height / 4; ++by)
    for (int bx = 0; bx < width / 4; ++bx) {
      __hetero_parallel_loop(2, 5, frame, frameBytes, previous, previousBytes, small, smallBytes, width,
                             height, 1, small, smallBytes, "sad4");
      for (int dy = 0; dy < Sad::side; ++dy)
        for (int dx = 0; dx < Sad::side; ++dx) {
          int sum = 0;
          for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 4; ++x) {
              int py = by * 4 + y + dy - Sad::range, px = bx * 4 + x + dx - Sad::range;
              py = py < 0 ? 0 : py > height - 1 ? height - 1 : py;
              px = px < 0 ? 0 : px > width - 1 ? width - 1 : px;
              int difference = int(frame[(by * 4 + y) * width + bx * 4 + x]) - int(previous[py * width + px]);
              sum += difference < 0 ? -difference : difference;
            }
          small[((by * (width / 4) + bx) * Sad::side + dy) * Sad::side + dx] = uint16_t(sum);
        }
    }
  for (int by = 0; by < height / 8; ++by)
    for (int bx = 0; bx < width / 8; ++bx)
      for (int place = 0; place < Sad::places; ++place) {
        __hetero_parallel_loop(3, 4, small, smallBytes, medium, mediumBytes, width, height, 1, medium,
                               mediumBytes, "sad8");
        int w = width / 4;
        medium[(by * (width / 8) + bx) * Sad::places + place] =
            uint16_t(small[((2 * by) * w + 2 * bx) * Sad::places + place] +
                     small[((2 * by) * w + 2 * bx + 1) * Sad::places + place] +
                     small[((2 * by + 1) * w + 2 * bx) * Sad::places + place] +
                     small[((2 * by + 1) * w + 2 * bx + 1) * Sad::places + place]);
      }
  for (int by = 0; by < height / 16; ++by)
    for (int bx = 0; bx < width / 16; ++bx)
      for (int place = 0; place < Sad::places; ++place) {
        __hetero_parallel_loop(3, 4, medium, mediumBytes, large, largeBytes, width, height, 1, large,
                               largeBytes, "sad16");
        int w = width / 8;
        large[(by * (width / 16) + bx) * Sad::places + place] =
            uint16_t(medium[((2 * by) * w + 2 * bx) * Sad::places + place] +
                     medium[((2 * by) * w + 2 * bx + 1) * Sad::places + place] +
                     medium[((2 * by + 1) * w + 2 * bx) * Sad::places + place] +
                     medium[((2 * by + 1) * w + 2 * bx + 1) * Sad::places + place]);
      }
  __hetero_section_end(section);
}

void Sad::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  void *run = __hetero_launch((void *)search, 7, frame.data(), bytes(frame), previous.data(), bytes(previous),
                              small.data(), bytes(small), medium.data(), bytes(medium), large.data(),
                              bytes(large), width, height, 3, small.data(), bytes(small), medium.data(),
                              bytes(medium), large.data(), bytes(large));
  __hetero_wait(run);
}

HARNESS_MAIN(Sad, "sad", 8)
