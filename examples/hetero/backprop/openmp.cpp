// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Backprop::openmp() {
  constexpr int width = hidden + 1;
  const float *input = this->input.data();
  float *weights = newWeights.data(), *old = newOld.data();
  float sums[width] = {};
  int inputs = this->inputs;
#pragma omp parallel for schedule(static) reduction(+ : sums[ : width])
  for (int i = 0; i < inputs + 1; ++i)
    for (int j = 0; j < width; ++j)
      sums[j] += weights[size_t(i) * width + j] * input[i];
  units[0] = 1;
  for (int j = 1; j < width; ++j)
    units[j] = 1.0f / (1.0f + std::exp(-sums[j]));
  float out = 0;
  for (int j = 0; j < width; ++j)
    out += units[j] * outWeights[j];
  out = 1.0f / (1.0f + std::exp(-out));
  float error = out * (1.0f - out) * (target - out);
  for (int j = 1; j < width; ++j)
    delta[j] = units[j] * (1.0f - units[j]) * error * outWeights[j];
  const float *delta = this->delta.data();
#pragma omp parallel for schedule(static)
  for (int i = 0; i < inputs + 1; ++i)
#pragma omp simd
    for (int j = 1; j < width; ++j) {
      float change = rate * delta[j] * input[i] + momentum * old[size_t(i) * width + j];
      weights[size_t(i) * width + j] += change;
      old[size_t(i) * width + j] = change;
    }
}
