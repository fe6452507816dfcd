// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shared library with a graph.
#include "heterocc.h"

void shift(int *values, int count) {
  size_t bytes = count * sizeof(int);
  void *launch = __hetero_launch_begin(2, values, bytes, count, 1, values, bytes);
  for (int i = 0; i < count; ++i) {
    __hetero_parallel_loop(1, 2, values, bytes, count, 1, values, bytes, "shift");
    values[i] += 100;
  }
  __hetero_launch_end(launch);
  __hetero_wait(launch);
}
