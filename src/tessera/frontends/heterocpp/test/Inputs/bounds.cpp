// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters and bounds of every integer type.
#include "heterocc.h"

#include <cstdint>
#include <cstdio>

template <typename T> static void fill(int *out, size_t outBytes, T n) {
  for (T i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, out, outBytes, n, 1, out, outBytes, "fill");
    out[i] = (int)i + 1;
  }
}
template <typename T> static int test(T n) {
  int out[256] = {};
  __hetero_wait(__hetero_launch((void *)fill<T>, 2, out, sizeof(out), n, 1, out, sizeof(out)));
  int sum = 0;
  for (int v : out)
    sum += v;
  return sum == (int)n * ((int)n + 1) / 2 ? 0 : 1;
}

int main() {
  int bad = test<int8_t>(100) + test<uint8_t>(200) + test<int16_t>(200) + test<uint16_t>(200) +
            test<int>(200) + test<unsigned>(200) + test<int64_t>(200) + test<uint64_t>(200) +
            test<int>(-5 + 5) + test<unsigned>(0);
  std::printf("%d mistakes\n", bad);
  return bad;
}
