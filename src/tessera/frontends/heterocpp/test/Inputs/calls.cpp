// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that describe parts of a graph: sections in functions that tasks call.
#include "heterocc.h"

#include <cstdio>

template <int N> static void scale(float *from, size_t fromBytes, float *to, size_t toBytes, float by) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < N; ++i) {
    __hetero_parallel_loop(1, 3, from, fromBytes, to, toBytes, by, 1, to, toBytes, "scale");
    to[i] = by * from[i];
  }
  __hetero_section_end(section);
}
template <int N> static void total(float *v, size_t vBytes, float *sum, size_t sumBytes) {
  void *section = __hetero_section_begin();
  float all = 0;
  for (int i = 0; i < N; ++i) {
    __hetero_parallel_loop(1, 1, v, vBytes, "total");
    all += v[i];
  }
  void *put = __hetero_task_begin(2, sum, sumBytes, all, 1, sum, sumBytes, "put");
  *sum = all;
  __hetero_task_end(put);
  __hetero_section_end(section);
}
template <int N>
static void root(float *a, size_t aBytes, float *b, size_t bBytes, float *c, size_t cBytes, float *sum,
                 size_t sumBytes) {
  void *section = __hetero_section_begin();
  void *first = __hetero_task_begin(2, a, aBytes, b, bBytes, 1, b, bBytes, "first");
  scale<N>(a, aBytes, b, bBytes, 2);
  __hetero_task_end(first);
  void *second = __hetero_task_begin(2, b, bBytes, c, cBytes, 1, c, cBytes, "second");
  scale<N>(b, bBytes, c, cBytes, 3);
  __hetero_task_end(second);
  void *third = __hetero_task_begin(2, c, cBytes, sum, sumBytes, 1, sum, sumBytes, "third");
  total<N>(c, cBytes, sum, sumBytes);
  __hetero_task_end(third);
  __hetero_section_end(section);
}

int main() {
  float a[100], b[100], c[100], sum = 0, expected = 0;
  for (int i = 0; i < 100; ++i)
    a[i] = float(i);
  __hetero_wait(__hetero_launch((void *)root<100>, 4, a, sizeof(a), b, sizeof(b), c, sizeof(c), &sum,
                                sizeof(sum), 1, &sum, sizeof(sum)));
  root<100>(a, sizeof(a), b, sizeof(b), c, sizeof(c), &expected, sizeof(expected));
  std::printf("%g, expected %g\n", sum, expected);
}
