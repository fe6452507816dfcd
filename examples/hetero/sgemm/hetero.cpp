// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void product(float *c, size_t cBytes, const float *a, size_t aBytes, const float *bt, size_t btBytes,
                    int m, int n, int k) {
  void *section = __hetero_section_begin();
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      __hetero_parallel_loop(2, 6, a, aBytes, bt, btBytes, c, cBytes, m, n, k, 1, c, cBytes, "product");
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += bt[l * n + j] * a[l * m + i];
      c[j * m + i] = sum;
    }
  __hetero_section_end(section);
}

void Sgemm::hetero() {
  size_t aBytes = a.size() * sizeof(float), btBytes = bt.size() * sizeof(float),
         cBytes = c.size() * sizeof(float);
  void *run = __hetero_launch((void *)product, 6, c.data(), cBytes, a.data(), aBytes, bt.data(), btBytes, m,
                              n, k, 1, c.data(), cBytes);
  __hetero_wait(run);
}

HARNESS_MAIN(Sgemm, "sgemm", 1250)
