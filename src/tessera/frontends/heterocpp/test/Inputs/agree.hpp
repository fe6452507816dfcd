// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that run as graphs and as ordinary code compiled by Clang; the two must agree bit for bit. Each takes
// an array to read, one to write, and their length.
#pragma once
#include "heterocc.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

inline int bad = 0;

// The head of a parallel loop over all elements.
#define EACH(name)                                                                                           \
  for (int i = 0; i < n; ++i) {                                                                              \
    __hetero_parallel_loop(1, 3, in, inBytes, out, outBytes, n, 1, out, outBytes, name);

template <typename T> void compare(const char *what, const std::vector<T> &a, const std::vector<T> &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) {
      std::printf("%s differs at %zu\n", what, i);
      ++bad;
      return;
    }
}

// Both ways, from the same input; `out` begins as given.
#define BOTH(function, in, out)                                                                              \
  {                                                                                                          \
    auto one = in, other = in;                                                                               \
    auto plain = out, made = out;                                                                            \
    size_t inBytes = in.size() * sizeof(in[0]), outBytes = out.size() * sizeof(out[0]);                      \
    int n = int(in.size());                                                                                  \
    function(one.data(), inBytes, plain.data(), outBytes, n);                                                \
    auto *from = other.data();                                                                               \
    auto *to = made.data();                                                                                  \
    __hetero_wait(__hetero_launch((void *)function, 3, from, inBytes, to, outBytes, n, 1, to, outBytes));    \
    compare(#function, plain, made);                                                                         \
  }
