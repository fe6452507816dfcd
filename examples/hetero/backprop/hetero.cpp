// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <cmath>
#include <tessera/hetero.h>

static void train(const float *input, size_t inputBytes, float *weights, size_t weightsBytes, float *old,
                  size_t oldBytes, const float *outWeights, size_t outWeightsBytes, float *units,
                  size_t unitsBytes, float *delta, size_t deltaBytes, int inputs, float target) {
  void *section = __hetero_section_begin();
  for (int j = 0; j < Backprop::hidden + 1; ++j) {
    __hetero_parallel_loop(1, 4, input, inputBytes, weights, weightsBytes, units, unitsBytes, inputs, 1,
                           units, unitsBytes, "forward");
    float sum = 0;
    for (int i = 0; i < inputs + 1; ++i)
      sum += weights[i * (Backprop::hidden + 1) + j] * input[i];
    units[j] = j == 0 ? 1.0f : 1.0f / (1.0f + std::exp(-sum));
  }
  void *task = __hetero_task_begin(4, outWeights, outWeightsBytes, units, unitsBytes, delta, deltaBytes,
                                   target, 1, delta, deltaBytes, "error");
  float out = 0;
  for (int j = 0; j < Backprop::hidden + 1; ++j)
    out += units[j] * outWeights[j];
  out = 1.0f / (1.0f + std::exp(-out));
  float error = out * (1.0f - out) * (target - out);
  for (int j = 0; j < Backprop::hidden + 1; ++j)
    delta[j] = j == 0 ? 0.0f : units[j] * (1.0f - units[j]) * error * outWeights[j];
  __hetero_task_end(task);
  for (int i = 0; i < inputs + 1; ++i)
    for (int j = 0; j < Backprop::hidden + 1; ++j) {
      __hetero_parallel_loop(2, 5, input, inputBytes, weights, weightsBytes, old, oldBytes, delta, deltaBytes,
                             inputs, 2, weights, weightsBytes, old, oldBytes, "adjust");
      if (j > 0) {
        float change =
            Backprop::rate * delta[j] * input[i] + Backprop::momentum * old[i * (Backprop::hidden + 1) + j];
        weights[i * (Backprop::hidden + 1) + j] += change;
        old[i * (Backprop::hidden + 1) + j] = change;
      }
    }
  __hetero_section_end(section);
}

void Backprop::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  void *run = __hetero_launch((void *)train, 8, input.data(), bytes(input), newWeights.data(),
                              bytes(newWeights), newOld.data(), bytes(newOld), outWeights.data(),
                              bytes(outWeights), units.data(), bytes(units), delta.data(), bytes(delta),
                              inputs, target, 4, newWeights.data(), bytes(newWeights), newOld.data(),
                              bytes(newOld), units.data(), bytes(units), delta.data(), bytes(delta));
  __hetero_wait(run);
}

HARNESS_MAIN(Backprop, "backprop", 3300)
