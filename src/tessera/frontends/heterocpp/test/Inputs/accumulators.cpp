// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables of a task that its parallel loops combine into, and what the task computes before and after.
#include "heterocc.h"

#include <algorithm>
#include <cstdio>
#include <vector>

static void statistics(const float *x, size_t xBytes, float *result, size_t resultBytes, int n) {
  void *section = __hetero_section_begin();
  void *task =
      __hetero_task_begin(3, x, xBytes, result, resultBytes, n, 1, result, resultBytes, "statistics");
  float sum = 0, squares = 0, least = x[0], most = x[0];
  int positive = 5;
  float offset = result[0];
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, x, xBytes, result, resultBytes, n, 0, "moments");
    sum += x[i] - offset;
    squares -= x[i] * x[i];
    if (x[i] > 0)
      ++positive;
    for (int k = 0; k < 2; ++k)
      most = std::max(most, x[i] + k);
    least = x[i] < least ? x[i] : least;
  }
  result[0] = sum;
  result[1] = -squares;
  result[2] = least;
  result[3] = most;
  result[4] = (float)positive;
  float mean = sum / n, deviation = 0;
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, x, xBytes, n, 0, "deviation");
    float d = x[i] - mean;
    deviation += d * d;
  }
  result[5] = deviation;
  __hetero_task_end(task);
  // A number that one task computes and the next one uses.
  int biggest = 0;
  void *search = __hetero_task_begin(2, x, xBytes, n, 0, "search");
  for (int i = 1; i < n; ++i)
    if (x[i] > x[biggest])
      biggest = i;
  __hetero_task_end(search);
  void *keep = __hetero_task_begin(1, result, resultBytes, 1, result, resultBytes, "keep");
  result[6] = (float)biggest;
  __hetero_task_end(keep);
  __hetero_section_end(section);
}

int main() {
  const int n = 1000;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i)
    x[i] = float((i * 37) % 101 - 50) / 8;
  float got[7] = {1}, want[7] = {1};
  // The same function as Clang has compiled it.
  statistics(x.data(), n * sizeof(float), want, sizeof(want), n);
  __hetero_wait(__hetero_launch((void *)statistics, 3, x.data(), n * sizeof(float), got, sizeof(got), n, 1,
                                got, sizeof(got)));
  int bad = 0;
  for (int i = 0; i < 7; ++i)
    if (got[i] < want[i] - 0.01f || got[i] > want[i] + 0.01f) {
      std::printf("result %d is %g, expected %g\n", i, got[i], want[i]);
      ++bad;
    }
  std::printf("%d mistakes\n", bad);
  return bad != 0;
}
