// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Divisions under conditions that one iteration of a vector meets. What they give is an index, so a wrong one
// reads anywhere. Against the same function as Clang compiles it.
#include "heterocc.h"

#include <algorithm>
#include <cstdio>
#include <vector>

static void one(const float *in, size_t inBytes, float *out, size_t outBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, in, inBytes, out, outBytes, n, 1, out, outBytes, "one");
    float v = 2.0f;
    if (i == 13) {
      v = std::min(-0.5f, in[(unsigned)(i ^ 5) % (unsigned)n]);
      v = std::max(v, in[(unsigned)(i + 1) % (unsigned)n]);
    }
    out[i] = v;
  }
}

int main() {
  int bad = 0;
  for (int n : {61, 64, 97, 1000}) {
    std::vector<float> in(n), got(n), want(n);
    for (int i = 0; i < n; ++i)
      in[i] = float((i * 7919) % 257 - 100);
    size_t bytes = n * sizeof(float);
    one(in.data(), bytes, want.data(), bytes, n);
    __hetero_wait(
        __hetero_launch((void *)one, 3, in.data(), bytes, got.data(), bytes, n, 1, got.data(), bytes));
    bad += got != want;
  }
  std::printf("%d bad\n", bad);
}
