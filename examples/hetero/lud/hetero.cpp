// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

// A block of columns at a time: factor the block on the diagonal, solve the rows below it and the columns
// beside it, update the rest by a matrix product.
static constexpr int block = 32;

static void panel(float *a, size_t aBytes, float *low, size_t lowBytes, float *up, size_t upBytes, int n,
                  int k, int width, int rest) {
  void *section = __hetero_section_begin();
  void *task = __hetero_task_begin(4, a, aBytes, n, k, width, 1, a, aBytes, "diagonal");
  for (int c = 0; c < width; ++c)
    for (int i = k + c + 1; i < k + width; ++i) {
      float f = a[i * n + k + c] / a[(k + c) * n + k + c];
      a[i * n + k + c] = f;
      for (int j = c + 1; j < width; ++j)
        a[i * n + k + j] -= f * a[(k + c) * n + k + j];
    }
  __hetero_task_end(task);
  for (int i = 0; i < rest; ++i) {
    __hetero_parallel_loop(1, 5, a, aBytes, n, k, width, rest, 1, a, aBytes, "column");
    for (int c = 0; c < width; ++c) {
      float f = a[(k + width + i) * n + k + c] / a[(k + c) * n + k + c];
      a[(k + width + i) * n + k + c] = f;
      for (int j = c + 1; j < width; ++j)
        a[(k + width + i) * n + k + j] -= f * a[(k + c) * n + k + j];
    }
  }
  for (int j = 0; j < rest; ++j) {
    __hetero_parallel_loop(1, 5, a, aBytes, n, k, width, rest, 1, a, aBytes, "row");
    for (int c = 0; c < width; ++c)
      for (int i = c + 1; i < width; ++i)
        a[(k + i) * n + k + width + j] -= a[(k + i) * n + k + c] * a[(k + c) * n + k + width + j];
  }
  for (int i = 0; i < rest; ++i)
    for (int c = 0; c < width; ++c) {
      __hetero_parallel_loop(2, 6, a, aBytes, low, lowBytes, n, k, width, rest, 1, low, lowBytes, "left");
      low[i * width + c] = a[(k + width + i) * n + k + c];
    }
  for (int c = 0; c < width; ++c)
    for (int j = 0; j < rest; ++j) {
      __hetero_parallel_loop(2, 6, a, aBytes, up, upBytes, n, k, width, rest, 1, up, upBytes, "above");
      up[c * rest + j] = a[(k + c) * n + k + width + j];
    }
  for (int i = 0; i < rest; ++i)
    for (int j = 0; j < rest; ++j) {
      __hetero_parallel_loop(2, 7, a, aBytes, low, lowBytes, up, upBytes, n, k, width, rest, 1, a, aBytes,
                             "update");
      float sum = 0;
      for (int c = 0; c < width; ++c)
        sum += low[i * width + c] * up[c * rest + j];
      a[(k + width + i) * n + k + width + j] -= sum;
    }
  __hetero_section_end(section);
}

void Lud::hetero() {
  std::vector<float> low(size_t(n) * block), up(size_t(n) * block);
  size_t bytes = matrix.size() * sizeof(float), side = low.size() * sizeof(float);
  for (int k = 0; k < n; k += block) {
    int width = std::min(block, n - k), rest = n - k - width;
    void *run = __hetero_launch((void *)panel, 7, matrix.data(), bytes, low.data(), side, up.data(), side, n,
                                k, width, rest, 1, matrix.data(), bytes);
    __hetero_wait(run);
  }
}

HARNESS_MAIN(Lud, "lud", 1450)
