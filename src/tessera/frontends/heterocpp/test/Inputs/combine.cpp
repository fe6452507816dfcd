// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions that are not written as '+=': by 'if', by '||' and '&&', by operations of one's own. Each runs
// as a graph and as Clang compiles it.
#include "heterocc.h"

#include <cmath>
#include <cstdio>
#include <vector>

// Of two that are equally far from zero the positive one, so that the order does not matter.
static int larger(int a, int b) {
  if (std::abs(a) == std::abs(b))
    return a < b ? b : a;
  return std::abs(a) < std::abs(b) ? b : a;
}

void logic(const int *x, size_t xb, bool *any, size_t ab, bool *all, size_t lb, int *ior, size_t ib, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 5, x, xb, any, ab, all, lb, ior, ib, n, 3, any, ab, all, lb, ior, ib, "logic");
    *any = *any || x[i] > 90;
    *all = *all && x[i] < 200;
    *ior |= x[i] == 5;
  }
}
void logic2(const int *x, size_t xb, bool *any, size_t ab, bool *all, size_t lb, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, x, xb, any, ab, all, lb, n, 2, any, ab, all, lb, "logic2");
    *any = x[i] > 1000 || *any;
    *all = (x[i] > 50) && *all;
  }
}
void ifs(const int *x, size_t xb, int *most, size_t mb, float *least, size_t eb, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, x, xb, most, mb, least, eb, n, 2, most, mb, least, eb, "ifs");
    if (x[i] > *most)
      *most = x[i];
    if (float(x[i]) < *least)
      *least = x[i];
  }
}
void conditional(const int *x, size_t xb, int *count, size_t cb, double *sum, size_t sb, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, x, xb, count, cb, sum, sb, n, 2, count, cb, sum, sb, "conditional");
    if (x[i] & 1)
      ++*count;
    else if (x[i] > 10) {
      *count += 2;
      *sum += x[i];
    }
    for (int k = 0; k < 3; ++k)
      *sum -= k * x[i];
  }
}
void own(const int *x, size_t xb, int *bins, size_t bb, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, x, xb, bins, bb, n, 1, bins, bb, "own");
    __hetero_combine(&bins[x[i] & 7], x[i] - 50, larger, 0);
  }
}
void owned(const int *x, size_t xb, int *r, size_t rb, int n) {
  void *s = __hetero_section_begin();
  int best = 0;
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, x, xb, n, 0, "owned");
    if (x[i] != 7)
      __hetero_combine(&best, x[i] - 50, larger, 0);
  }
  void *t = __hetero_task_begin(1, r, rb, 1, r, rb, "keep");
  r[0] = best;
  __hetero_task_end(t);
  __hetero_section_end(s);
}
void each(const int *x, size_t xb, int *r, size_t rb, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, x, xb, r, rb, n, 1, r, rb, "each");
    __hetero_combine(&r[i], x[i], [](int a, int b) { return a * 3 + b; }, 0);
  }
}

static int bad = 0;
static void expect(bool good, const char *what) {
  if (!good) {
    std::printf("wrong: %s\n", what);
    ++bad;
  }
}

// Nothing is added once it is folded.
void nothing(int *y, size_t yb, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, y, yb, n, 1, y, yb, "nothing");
    y[3] = y[3] + (0 >> 8);
  }
}

int main() {
  const int n = 1000;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i)
    values[i] = (i * 37) % 101;
  const int *x = values.data();
  size_t xb = n * sizeof(int);
  {
    bool any[2] = {}, all[2] = {true, true};
    int bits[2] = {};
    logic(x, xb, any, 1, all, 1, bits, 4, n);
    bool *a = any + 1, *b = all + 1;
    int *c = bits + 1;
    __hetero_wait(
        __hetero_launch((void *)logic, 5, x, xb, a, 1ul, b, 1ul, c, 4ul, n, 3, a, 1ul, b, 1ul, c, 4ul));
    expect(any[0] == any[1] && all[0] == all[1] && bits[0] == bits[1] && any[0] && all[0], "logic");
    any[0] = any[1] = false;
    logic2(x, xb, any, 1, all, 1, n);
    __hetero_wait(__hetero_launch((void *)logic2, 4, x, xb, a, 1ul, b, 1ul, n, 2, a, 1ul, b, 1ul));
    expect(any[0] == any[1] && all[0] == all[1] && !any[0] && !all[0], "logic2");
  }
  {
    int most[2] = {-5, -5};
    float least[2] = {1e9f, 1e9f};
    ifs(x, xb, most, 4, least, 4, n);
    int *m = most + 1;
    float *l = least + 1;
    __hetero_wait(__hetero_launch((void *)ifs, 4, x, xb, m, 4ul, l, 4ul, n, 2, m, 4ul, l, 4ul));
    expect(most[0] == most[1] && least[0] == least[1], "ifs");
  }
  {
    int count[2] = {3, 3};
    double sum[2] = {1, 1};
    conditional(x, xb, count, 4, sum, 8, n);
    int *c = count + 1;
    double *s = sum + 1;
    __hetero_wait(__hetero_launch((void *)conditional, 4, x, xb, c, 4ul, s, 8ul, n, 2, c, 4ul, s, 8ul));
    expect(count[0] == count[1] && sum[0] == sum[1], "conditional");
  }
  {
    int plain[8] = {}, made[8] = {};
    own(x, xb, plain, sizeof(plain), n);
    __hetero_wait(__hetero_launch((void *)own, 3, x, xb, made, sizeof(made), n, 1, made, sizeof(made)));
    bool good = true;
    for (int k = 0; k < 8; ++k)
      good &= plain[k] == made[k];
    expect(good, "own");
    int best[2] = {};
    owned(x, xb, best, 4, n);
    int *r = best + 1;
    __hetero_wait(__hetero_launch((void *)owned, 3, x, xb, r, 4ul, n, 1, r, 4ul));
    expect(best[0] == best[1] && best[0] == 50, "owned");
  }
  {
    std::vector<int> plain(n, 2), made(n, 2);
    each(x, xb, plain.data(), xb, n);
    __hetero_wait(__hetero_launch((void *)each, 3, x, xb, made.data(), xb, n, 1, made.data(), xb));
    expect(plain == made, "each");
  }
  {
    int made[8] = {1, 2, 3, 4};
    __hetero_wait(__hetero_launch((void *)nothing, 2, made, sizeof(made), n, 1, made, sizeof(made)));
    expect(made[3] == 4, "nothing");
  }
  std::printf("%d bad\n", bad);
}
