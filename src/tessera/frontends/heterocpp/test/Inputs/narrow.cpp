// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions into numbers of few bits and truth values, as a graph and as Clang compiles them.
#include "heterocc.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

constexpr int count = 1000;
static int mistakes = 0;

template <typename T, int Kind> static void combine(const int *a, size_t aBytes, T *r, size_t rBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, a, aBytes, r, rBytes, n, 1, r, rBytes, "combine");
    if constexpr (Kind == 0)
      *r += a[i];
    else if constexpr (Kind == 1)
      *r = *r + T(a[i]);
    else if constexpr (Kind == 2)
      *r -= a[i];
    else if constexpr (Kind == 3)
      ++*r;
    else if constexpr (Kind == 4)
      *r = std::max(*r, T(a[i]));
    else if constexpr (Kind == 5)
      *r = std::min(*r, T(a[i]));
    else if constexpr (Kind == 6)
      *r |= a[i];
    else if constexpr (Kind == 7)
      *r ^= a[i];
    else if constexpr (Kind == 8)
      *r &= ~a[i] | 1;
    else
      *r *= 2 * a[i] + 1;
  }
}
// A sum that is a variable of the task, stored at its end.
template <typename T> static void local(const int *a, size_t aBytes, T *r, size_t rBytes, int n) {
  void *section = __hetero_section_begin();
  void *task = __hetero_task_begin(3, a, aBytes, r, rBytes, n, 1, r, rBytes, "local");
  T sum = 3, most = 0;
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, a, aBytes, n, "sum");
    sum += T(a[i]);
    most = std::max(most, T(a[i]));
  }
  r[0] = sum;
  r[1] = most;
  __hetero_task_end(task);
  __hetero_section_end(section);
}
template <int Kind> static void truth(const int *a, size_t aBytes, bool *r, size_t rBytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, a, aBytes, r, rBytes, n, 1, r, rBytes, "truth");
    if constexpr (Kind == 0)
      *r |= a[i] == 17;
    else if constexpr (Kind == 1)
      *r &= a[i] != 17;
    else
      *r ^= a[i] % 3 == 0;
  }
}

static int a[count], n = count;

template <typename T, int Kind> static void check(const char *name) {
  T r = Kind == 8 ? T(-1) : T(3), e = r;
  __hetero_wait(
      __hetero_launch((void *)combine<T, Kind>, 3, a, sizeof(a), &r, sizeof(r), n, 1, &r, sizeof(r)));
  combine<T, Kind>(a, sizeof(a), &e, sizeof(e), n);
  if (r != e)
    std::printf("%s %d: %lld instead of %lld\n", name, Kind, (long long)r, (long long)e), ++mistakes;
}
template <int Kind> static void checkTruth() {
  for (bool start : {false, true}) {
    bool r = start, e = start;
    __hetero_wait(__hetero_launch((void *)truth<Kind>, 3, a, sizeof(a), &r, sizeof(r), n, 1, &r, sizeof(r)));
    truth<Kind>(a, sizeof(a), &e, sizeof(e), n);
    if (r != e)
      std::printf("truth %d: %d instead of %d\n", Kind, r, e), ++mistakes;
  }
}
template <typename T> static void test(const char *name) {
  check<T, 0>(name), check<T, 1>(name), check<T, 2>(name), check<T, 3>(name), check<T, 4>(name);
  check<T, 5>(name), check<T, 6>(name), check<T, 7>(name), check<T, 8>(name), check<T, 9>(name);
  T s[2], f[2];
  __hetero_wait(__hetero_launch((void *)local<T>, 3, a, sizeof(a), s, sizeof(s), n, 1, s, sizeof(s)));
  local<T>(a, sizeof(a), f, sizeof(f), n);
  mistakes += s[0] != f[0] || s[1] != f[1];
}

int main() {
  for (int i = 0; i < count; ++i)
    a[i] = (i * 7919) % 251;
  test<int8_t>("int8_t");
  test<uint8_t>("uint8_t");
  test<int16_t>("int16_t");
  test<uint16_t>("uint16_t");
  test<int>("int");
  test<uint64_t>("uint64_t");
  checkTruth<0>(), checkTruth<1>(), checkTruth<2>();
  std::printf("%d mistakes\n", mistakes);
}
