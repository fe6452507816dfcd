// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that nobody waits for, into memory that is gone when the function returns.
#include "heterocc.h"

#include <cstdio>

static void triple(const float *a, size_t aBytes, float *b, size_t bBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, a, aBytes, b, bBytes, n, 1, b, bBytes, "triple");
    b[i] = 3 * a[i];
  }
}

int main() {
  float a[100], b[100], c[100];
  for (int i = 0; i < 100; ++i)
    a[i] = float(i);
  int n = 100;
  void *first = __hetero_launch((void *)triple, 3, a, sizeof(a), b, sizeof(b), n, 1, b, sizeof(b));
  void *second = __hetero_launch_begin(3, a, sizeof(a), c, sizeof(c), n, 1, c, sizeof(c));
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, a, sizeof(a), c, sizeof(c), n, 1, c, sizeof(c), "fourfold");
    c[i] = 4 * a[i];
  }
  __hetero_launch_end(second);
  std::printf("%g %g\n", b[7], c[7]);
}
