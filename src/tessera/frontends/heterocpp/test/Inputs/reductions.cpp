// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions that a parallel loop writes as updates of shared memory, against serial code.
#include "heterocc.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>
void sums(float *a, size_t ab, double *sum, size_t sb, float *most, size_t mb, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, a, ab, sum, sb, most, mb, n, 2, sum, sb, most, mb, "sums");
    *sum += a[i] * a[i];
    *most = std::max(*most, a[i]);
  }
}
void histogram(uint8_t *a, size_t ab, int *h, size_t hb, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, a, ab, h, hb, n, 1, h, hb, "histogram");
    h[a[i]]++;
  }
}
void rows(float *a, size_t ab, float *r, size_t rb, int n, int m) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      __hetero_parallel_loop(2, 4, a, ab, r, rb, n, m, 1, r, rb, "rows");
      r[i] += a[i * m + j];
    }
}
void each(float *a, size_t ab, float *r, size_t rb, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, a, ab, r, rb, n, 1, r, rb, "each");
    r[i] += a[i];
  }
}
// Several iterations come to one element, by arithmetic on their numbers alone.
void folds(int *a, size_t ab, int n, int m) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, a, ab, n, m, 1, a, ab, "folds");
    a[(i * 3 + 1) % m] += i;
  }
}

int main() {
  int n = 1000, m = 10, bad = 0;
  std::vector<float> a(n * m), r(n, 1.0f), e(n, 1.0f);
  std::vector<uint8_t> b(n);
  for (int i = 0; i < n * m; ++i)
    a[i] = (i * 31) % 97 - 40;
  for (int i = 0; i < n; ++i)
    b[i] = (i * 31) % 97;
  double sum = 5, expect = 5;
  float most = -1000, mexp = -1000;
  for (int i = 0; i < n; ++i) {
    expect += a[i] * a[i];
    mexp = std::max(mexp, a[i]);
  }
  __hetero_launch((void *)sums, 4, a.data(), (size_t)n * 4, &sum, sizeof(sum), &most, sizeof(most), n, 2,
                  &sum, sizeof(sum), &most, sizeof(most));
  if (sum != expect || most != mexp) {
    printf("sums %g %g %g %g\n", sum, expect, most, mexp);
    ++bad;
  }
  std::vector<int> h(256), g(256);
  for (int i = 0; i < n; ++i)
    g[b[i]]++;
  __hetero_launch((void *)histogram, 3, b.data(), (size_t)n, h.data(), sizeof(int) * 256, n, 1, h.data(),
                  sizeof(int) * 256);
  if (h != g) {
    puts("histogram");
    ++bad;
  }
  __hetero_launch((void *)rows, 4, a.data(), a.size() * 4, r.data(), r.size() * 4, n, m, 1, r.data(),
                  r.size() * 4);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      e[i] += a[i * m + j];
  if (r != e) {
    puts("rows");
    ++bad;
  }
  __hetero_launch((void *)each, 3, a.data(), a.size() * 4, r.data(), r.size() * 4, n, 1, r.data(),
                  r.size() * 4);
  for (int i = 0; i < n; ++i)
    e[i] += a[i];
  if (r != e) {
    puts("each");
    ++bad;
  }
  std::vector<int> f(99), k(99);
  __hetero_launch((void *)folds, 3, f.data(), f.size() * 4, n, 99, 1, f.data(), f.size() * 4);
  for (int i = 0; i < n; ++i)
    k[(i * 3 + 1) % 99] += i;
  if (f != k) {
    puts("folds");
    ++bad;
  }
  printf("%d bad\n", bad);
  return bad;
}
