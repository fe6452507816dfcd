// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each iteration stores is an input of the loop or its counter.
#include "heterocc.h"

#include <cstdio>

static void fill(float *a, size_t aBytes, int *b, size_t bBytes, float value, int n) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, a, aBytes, value, n, 1, a, aBytes, "value");
    a[i] = value;
  }
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, b, bBytes, n, 1, b, bBytes, "counter");
    b[i] = i;
  }
  __hetero_section_end(section);
}

int main() {
  float a[50];
  int b[50], n = 50, bad = 0;
  __hetero_wait(
      __hetero_launch((void *)fill, 4, a, sizeof(a), b, sizeof(b), 2.5f, n, 2, a, sizeof(a), b, sizeof(b)));
  for (int i = 0; i < n; ++i)
    bad += a[i] != 2.5f || b[i] != i;
  std::printf("%d mistakes\n", bad);
}
