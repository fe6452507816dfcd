// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two reductions, a task that needs both, and a loop that needs the task: the graph of a normalisation.
#include "heterocc.h"

#include <cmath>
#include <cstdio>
#include <vector>

void normalise(float *x, size_t xBytes, double *sum, size_t sumBytes, double *squares, size_t squaresBytes,
               float *scale, size_t scaleBytes, int n) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, x, xBytes, sum, sumBytes, n, 1, sum, sumBytes, "sum");
    *sum += x[i];
  }
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, x, xBytes, squares, squaresBytes, n, 1, squares, squaresBytes, "squares");
    *squares += (double)x[i] * x[i];
  }
  void *task = __hetero_task_begin(4, sum, sumBytes, squares, squaresBytes, scale, scaleBytes, n, 1, scale,
                                   scaleBytes, "statistics");
  double mean = *sum / n;
  scale[0] = mean;
  scale[1] = 1 / std::sqrt(*squares / n - mean * mean);
  __hetero_task_end(task);
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, x, xBytes, scale, scaleBytes, n, 1, x, xBytes, "apply");
    x[i] = (x[i] - scale[0]) * scale[1];
  }
  __hetero_section_end(section);
}

int main() {
  const int n = 1000;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = i % 2 ? 7 : 3;
  double sum = 0, squares = 0;
  float scale[2];
  void *launch =
      __hetero_launch((void *)normalise, 5, x.data(), n * sizeof(float), &sum, sizeof(sum), &squares,
                      sizeof(squares), scale, sizeof(scale), n, 1, x.data(), n * sizeof(float));
  __hetero_wait(launch);
  std::printf("mean %g, scale %g: %g %g\n", scale[0], scale[1], x[0], x[1]);
}
