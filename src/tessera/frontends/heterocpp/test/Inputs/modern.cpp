// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same loops by lambdas and by markers: the graphs must be the same, and the results.
#include <tessera/hetero.hpp>

#include <cstdio>
#include <vector>

static void saxpyMarked(size_t n, float *y, size_t yBytes, float a, const float *x, size_t xBytes) {
  for (size_t i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, n, y, yBytes, a, x, xBytes, 1, y, yBytes, "loop");
    y[i] = a * x[i] + y[i];
  }
}
static void gemmMarked(size_t rows, size_t columns, float *c, size_t cBytes, int inner, const float *a,
                       size_t aBytes, size_t aColumns, const float *b, size_t bBytes, size_t bColumns,
                       size_t cColumns) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      __hetero_parallel_loop(2, 9, rows, columns, c, cBytes, inner, a, aBytes, aColumns, b, bBytes, bColumns,
                             cColumns, 1, c, cBytes, "loop");
      float sum = 0;
      for (int k = 0; k < inner; ++k)
        sum += a[i * aColumns + k] * b[k * bColumns + j];
      c[i * cColumns + j] = sum;
    }
}
static void sumMarked(size_t n, float *result, size_t resultBytes, const float *x, size_t xBytes) {
  for (size_t i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, n, result, resultBytes, x, xBytes, 1, result, resultBytes, "reduce");
    *result += x[i];
  }
}

#ifdef MARKED
static void saxpy(size_t n, float a, const float *x, float *y) {
  size_t bytes = n * sizeof(float);
  __hetero_wait(__hetero_launch((void *)saxpyMarked, 4, n, y, bytes, a, x, bytes, 1, y, bytes));
}
static void gemm(size_t n, size_t m, int k, const float *a, const float *b, float *c) {
  size_t ab = n * k * sizeof(float), bb = k * m * sizeof(float), cb = n * m * sizeof(float);
  size_t inner = k;
  __hetero_wait(__hetero_launch((void *)gemmMarked, 9, n, m, c, cb, k, a, ab, inner, b, bb, m, m, 1, c, cb));
}
static float sum(size_t n, const float *x) {
  float result = 0;
  __hetero_wait(__hetero_launch((void *)sumMarked, 3, n, &result, sizeof(result), x, n * sizeof(float), 1,
                                &result, sizeof(result)));
  return result;
}
#else
static void saxpy(size_t n, float a, const float *x, float *y) {
  tessera::parallel_for(
      tessera::extent(n), [](size_t i, float a, auto x, auto y) { y[i] = a * x[i] + y[i]; }, a,
      tessera::in(x, n), tessera::inout(y, n));
}
static void gemm(size_t n, size_t m, int k, const float *a, const float *b, float *c) {
  tessera::parallel_for(
      tessera::extent(n, m),
      [](size_t i, size_t j, int inner, auto a, auto b, auto c) {
        float sum = 0;
        for (int k = 0; k < inner; ++k)
          sum += a(i, k) * b(k, j);
        c(i, j) = sum;
      },
      k, tessera::in(a, n, k), tessera::in(b, k, m), tessera::out(c, n, m));
}
static float sum(size_t n, const float *x) {
  return tessera::reduce(
      tessera::sum, tessera::extent(n), 0.0f, [](size_t i, auto x) { return x[i]; }, tessera::in(x, n));
}
#endif

int main() {
  const size_t n = 500, m = 30, k = 20;
  std::vector<float> x(n), y(n), a(m * k), b(k * m), c(m * m);
  for (size_t i = 0; i < n; ++i)
    x[i] = float(i % 10), y[i] = 1;
  for (size_t i = 0; i < m * k; ++i)
    a[i] = float(i % 7), b[i] = float(i % 5);
  saxpy(n, 2.0f, x.data(), y.data());
  gemm(m, m, int(k), a.data(), b.data(), c.data());
  float product = 0;
  for (size_t l = 0; l < k; ++l)
    product += a[3 * k + l] * b[l * m + 4];
  std::printf("saxpy %g sum %g gemm %g\n", y[9], sum(n, y.data()), c[3 * m + 4] - product);
#ifndef MARKED
  // The other reductions, three dimensions, and numbers of other types.
  float least = tessera::reduce(
      tessera::minimum, tessera::extent(n), 100.0f,
      [](size_t i, auto x, double by) { return float(x[i] - by); }, tessera::in(x.data(), n), 3.5);
  long most = tessera::reduce(
      tessera::maximum, tessera::extent(n), 0L, [](size_t i, int k) { return long(i) * k; }, 3);
  std::vector<short> cube(2 * 3 * 4);
  tessera::parallel_for(
      tessera::extent(2, 3, 4),
      [](size_t z, size_t y, size_t x, auto v) { v(z, y, x) = short(100 * z + 10 * y + x); },
      tessera::out(cube.data(), 2, 3, 4));
  std::printf("least %g most %ld cube %d\n", least, most, cube[23]);
#endif
}
