// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void count(const uint32_t *image, size_t imageBytes, int *counts, size_t countsBytes,
                  uint8_t *histogram, size_t histogramBytes, int pixels, int bins) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < pixels; ++i) {
    __hetero_parallel_loop(1, 3, image, imageBytes, counts, countsBytes, pixels, 1, counts, countsBytes,
                           "count");
    __atomic_fetch_add(&counts[image[i]], 1, __ATOMIC_RELAXED);
  }
  for (int i = 0; i < bins; ++i) {
    __hetero_parallel_loop(1, 3, counts, countsBytes, histogram, histogramBytes, bins, 1, histogram,
                           histogramBytes, "saturate");
    int n = counts[i];
    histogram[i] = uint8_t(n < 255 ? n : 255);
  }
  __hetero_section_end(section);
}

void Histo::hetero() {
  size_t imageBytes = image.size() * sizeof(uint32_t), countsBytes = counts.size() * sizeof(int),
         histogramBytes = histogram.size();
  void *run = __hetero_launch((void *)count, 5, image.data(), imageBytes, counts.data(), countsBytes,
                              histogram.data(), histogramBytes, pixels, bins, 2, counts.data(), countsBytes,
                              histogram.data(), histogramBytes);
  __hetero_wait(run);
}

HARNESS_MAIN(Histo, "histo", 800)
