// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that are shorter than the program says.
#include "heterocc.h"

#include <cstdio>
#include <vector>

static void fill(int *data, size_t dataBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, data, dataBytes, n, 1, data, dataBytes, "fill");
    data[i] = i;
  }
}

int main(int argc, char **) {
  int n = 100, k = 10 * argc;
#if defined(LOCAL)
  int data[50];
  __hetero_wait(__hetero_launch((void *)fill, 2, data, n * sizeof(int), n, 1, data, n * sizeof(int)));
#elif defined(OWN)
  int *data = (int *)__hetero_malloc(k * sizeof(int));
  __hetero_wait(__hetero_launch((void *)fill, 2, data, n * sizeof(int), n, 1, data, n * sizeof(int)));
#elif defined(HEAP)
  int *data = new int[n + k];
  __hetero_wait(
      __hetero_launch((void *)fill, 2, data + 2 * k, n * sizeof(int), n, 1, data + 2 * k, n * sizeof(int)));
#elif defined(LOOP)
  std::vector<int> data(100);
  __hetero_wait(
      __hetero_launch((void *)fill, 2, data.data(), k * sizeof(int), n, 1, data.data(), k * sizeof(int)));
#else
  std::vector<int> data(n);
  __hetero_wait(
      __hetero_launch((void *)fill, 2, data.data(), n * sizeof(int), n, 1, data.data(), n * sizeof(int)));
#endif
  std::printf("%d\n", data[5]);
}
