// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes at places that are computed, which may be outside of the memory that the lists declare.
#include "heterocc.h"

#include <cstdio>
#include <cstring>

static void shift(float *from, size_t fromBytes, float *to, size_t toBytes, int n, int by) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, from, fromBytes, to, toBytes, n, by, 1, to, toBytes, "shift");
    to[i] = from[i + by];
  }
}

static void put(int *at, size_t atBytes, float *to, size_t toBytes, float value) {
  for (int i = 0; i < 1; ++i) {
    __hetero_parallel_loop(1, 3, at, atBytes, to, toBytes, value, 1, to, toBytes, "put");
    to[at[i]] = value;
  }
}

int main(int argc, char **argv) {
  const char *mistake = argc > 1 ? argv[1] : "";
  float from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[8] = {};
  int n = 6, by = 2, at[1] = {3};
  if (!std::strcmp(mistake, "read"))
    n = 8;
  if (!std::strcmp(mistake, "before"))
    by = -8;
  if (!std::strcmp(mistake, "write"))
    at[0] = 100;
  __hetero_wait(__hetero_launch((void *)shift, 4, from, sizeof from, to, sizeof to, n, by, 1, to, sizeof to));
  std::printf("%g ", to[0]);
  __hetero_wait(__hetero_launch((void *)put, 3, at, sizeof at, to, sizeof to, 10.0f, 1, to, sizeof to));
  std::printf("%g %d\n", to[3], at[0]);
}
