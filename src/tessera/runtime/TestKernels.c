/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels for the runtime's tests, written by hand against the kernel ABI. They call
 * nothing and are linked into an image of their own. */
#include <stdint.h>

typedef const uint64_t *Args;
typedef const int64_t *Box;
#define P(type, i) ((type *)a[i])

/* out[t] = in[t] + 1 */
void k_add1(Args a, Box b, Box e, void *s) {
  for (int64_t t = b[0]; t < e[0]; ++t)
    P(float, 1)[t] = P(const float, 0)[t] + 1.0f;
}

/* x[t] *= 2, in place */
void k_twice(Args a, Box b, Box e, void *s) {
  for (int64_t t = b[0]; t < e[0]; ++t)
    P(float, 0)[t] *= 2.0f;
}

/* out[t] = x[t] + y[t] */
void k_add(Args a, Box b, Box e, void *s) {
  for (int64_t t = b[0]; t < e[0]; ++t)
    P(float, 2)[t] = P(const float, 0)[t] + P(const float, 1)[t];
}

static void raise(uint64_t *cell, int64_t value, int64_t limit) {
  uint64_t code = (uint64_t)value << 1 | 1, old = *(volatile uint64_t *)cell;
  while (old < code && !__atomic_compare_exchange_n(cell, &old, code, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  __atomic_store_n(cell + 1, (uint64_t)limit, __ATOMIC_RELAXED);
}

/* out[t] = in[t] where that is an index of 0..n, otherwise 0 and a fault in the first cell; the second is for
 * multiples of 1000 */
void k_within(Args a, Box b, Box e, void *s) {
  int64_t n = (int64_t)a[2];
  for (int64_t t = b[0]; t < e[0]; ++t) {
    int64_t v = (int64_t)P(const float, 0)[t];
    P(float, 1)[t] = v >= 0 && v < n ? (float)v : 0.0f;
    if (v && v % 1000 == 0)
      raise(P(uint64_t, 3) + 2, v, n);
    else if (v < 0 || v >= n)
      raise(P(uint64_t, 3), v, n);
  }
}

void k_empty(Args a, Box b, Box e, void *s) {}

/* *out = number of positive elements of in[0..n): an extent born inside the graph */
void k_count(Args a, Box b, Box e, void *s) {
  int64_t n = (int64_t)a[1], count = 0;
  for (int64_t i = 0; i < n; ++i)
    count += P(const float, 0)[i] > 0;
  *P(int64_t, 2) = count;
}

/* out[t] = t */
void k_iota(Args a, Box b, Box e, void *s) {
  for (int64_t t = b[0]; t < e[0]; ++t)
    P(float, 0)[t] = (float)t;
}

/* out[i, j, k] += 1: shows that each task runs exactly once */
void k_visit(Args a, Box b, Box e, void *s) {
  int64_t J = (int64_t)a[1], K = (int64_t)a[2];
  for (int64_t i = b[0]; i < e[0]; ++i)
    for (int64_t j = b[1]; j < e[1]; ++j)
      for (int64_t k = b[2]; k < e[2]; ++k)
        P(int32_t, 0)[(i * J + j) * K + k] += 1;
}

/* out[t] = in[t] + 3, through n bytes of scratch that must be private and aligned */
void k_scratch(Args a, Box b, Box e, void *s) {
  float *tmp = s;
  int64_t n = (int64_t)a[2] / 4;
  if ((uint64_t)s % 64)
    return;
  for (int64_t t = b[0]; t < e[0]; ++t) {
    for (int64_t i = 0; i < n; ++i)
      tmp[i] = P(const float, 0)[t];
    for (int r = 0; r < 3; ++r)
      for (int64_t i = 0; i < n; ++i)
        tmp[i] += 1;
    P(float, 1)[t] = tmp[n - 1];
  }
}

/* out[t] = in[t] + 1 after some work: a[2] rounds */
void k_work(Args a, Box b, Box e, void *s) {
  for (int64_t t = b[0]; t < e[0]; ++t) {
    volatile float x = P(const float, 0)[t];
    for (uint64_t i = 0; i < a[2]; ++i)
      x = x * 1.0f;
    P(float, 1)[t] = x + 1.0f;
  }
}

/* Needs a relocation: a table of addresses. */
static float one(void) { return 1.0f; }
static float ten(void) { return 10.0f; }
float (*const k_table[2])(void) = {one, ten};
void k_table_add(Args a, Box b, Box e, void *s) {
  for (int64_t t = b[0]; t < e[0]; ++t)
    P(float, 1)[t] = P(const float, 0)[t] + k_table[t & 1]();
}
