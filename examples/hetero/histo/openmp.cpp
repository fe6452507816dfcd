// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Histo::openmp() {
  const uint32_t *image = this->image.data();
  int *counts = this->counts.data(), bins = this->bins;
#pragma omp parallel for reduction(+ : counts[ : bins])
  for (int i = 0; i < pixels; ++i)
    ++counts[image[i]];
#pragma omp parallel for simd
  for (int i = 0; i < bins; ++i)
    histogram[i] = uint8_t(std::min(counts[i], 255));
}
