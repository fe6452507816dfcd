// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory that the iterations of a loop share, with barriers between the phases.
#include "heterocc.h"

#include <cstdint>
#include <cstdio>

constexpr int n = 64;

template <typename T> static void reverse(T *a, size_t aBytes, int count) {
  for (int i = 0; i < count; ++i) {
    __hetero_parallel_loop(1, 2, a, aBytes, count, 1, a, aBytes, "reverse");
    T *shared = (T *)__hetero_scratch(n * sizeof(T));
    shared[i] = a[i];
    __hetero_barrier();
    T other = shared[count - 1 - i];
    __hetero_barrier();
    shared[i] = other + 1;
    __hetero_barrier();
    a[i] = other + shared[i];
  }
}
template <typename T> static int test() {
  T a[n];
  for (int i = 0; i < n; ++i)
    a[i] = T(i);
  int count = n;
  __hetero_wait(__hetero_launch((void *)reverse<T>, 2, a, sizeof(a), count, 1, a, sizeof(a)));
  int bad = 0;
  for (int i = 0; i < n; ++i)
    bad += a[i] != T(2 * (n - 1 - i) + 1);
  return bad;
}

struct Point {
  float x;
  short tag;
};
static void swap(Point *a, size_t aBytes, int count) {
  for (int i = 0; i < count; ++i) {
    __hetero_parallel_loop(1, 2, a, aBytes, count, 1, a, aBytes, "swap");
    auto *shared = static_cast<Point *>(__hetero_scratch(n * sizeof(Point)));
    shared[i] = a[i];
    __hetero_barrier();
    a[i] = {shared[count - 1 - i].x, short(shared[i].tag + 1)};
  }
}
static int testStructures() {
  Point a[n];
  for (int i = 0; i < n; ++i)
    a[i] = {float(i), short(i)};
  int count = n, bad = 0;
  __hetero_wait(__hetero_launch((void *)swap, 2, a, sizeof(a), count, 1, a, sizeof(a)));
  for (int i = 0; i < n; ++i)
    bad += a[i].x != float(n - 1 - i) || a[i].tag != i + 1;
  return bad;
}

int main() {
  std::printf("%d mistakes\n", testStructures() + test<char>() + test<uint8_t>() + test<int16_t>() +
                                   test<uint16_t>() + test<_Float16>() + test<int>() + test<unsigned>() +
                                   test<int64_t>() + test<uint64_t>() + test<float>() + test<double>());
}
