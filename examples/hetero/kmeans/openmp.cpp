// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Kmeans::openmp() {
  const float *input = this->input.data(), *centres = this->centres.data();
  int features = this->features, clusters = this->clusters, points = this->points;
  for (int s = 0; s < steps; ++s) {
    float *sums = this->sums.data();
    int *counts = this->counts.data();
#pragma omp parallel for schedule(static) reduction(+ : sums[ : clusters * features], counts[ : clusters])
    for (int i = 0; i < points; ++i) {
      const float *own = input + size_t(i) * features;
      float best = 3.0e38f;
      int nearest = 0;
      for (int k = 0; k < clusters; ++k) {
        float distance = 0;
#pragma omp simd reduction(+ : distance)
        for (int f = 0; f < features; ++f) {
          float e = own[f] - centres[k * features + f];
          distance += e * e;
        }
        if (distance < best)
          best = distance, nearest = k;
      }
      member[i] = nearest;
      ++counts[nearest];
#pragma omp simd
      for (int f = 0; f < features; ++f)
        sums[nearest * features + f] += own[f];
    }
    move();
  }
}
