// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lambdas that capture, and graphs as objects; by markers where MARKED: the results must be the same.
#include <tessera/hetero.hpp>

#include <cstdio>
#include <vector>

static void saxpyMarked(size_t n, float a, const float *x, size_t xBytes, float *y, size_t yBytes) {
  for (size_t i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, n, a, x, xBytes, y, yBytes, 1, y, yBytes, "loop");
    y[i] = a * x[i] + y[i];
  }
}
static void gemmMarked(size_t rows, size_t columns, int inner, const float *a, size_t aBytes, size_t aColumns,
                       const float *b, size_t bBytes, size_t bColumns, float *c, size_t cBytes,
                       size_t cColumns) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      __hetero_parallel_loop(2, 9, rows, columns, inner, a, aBytes, aColumns, b, bBytes, bColumns, c, cBytes,
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
static void scale(const float *in, size_t inBytes, float *out, size_t outBytes, float by, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, in, inBytes, out, outBytes, by, n, 1, out, outBytes, "scale");
    out[i] = in[i] * by;
  }
}

#ifdef MARKED
static void saxpy(size_t n, float a, const float *x, float *y) {
  size_t bytes = n * sizeof(float);
  __hetero_wait(__hetero_launch((void *)saxpyMarked, 4, n, a, x, bytes, y, bytes, 1, y, bytes));
}
static void gemm(size_t n, size_t m, int k, const float *a, const float *b, float *c) {
  size_t ab = n * k * sizeof(float), bb = k * m * sizeof(float), cb = n * m * sizeof(float), inner = k;
  __hetero_wait(__hetero_launch((void *)gemmMarked, 9, n, m, k, a, ab, inner, b, bb, m, c, cb, m, 1, c, cb));
}
static float sum(size_t n, const float *x) {
  float result = 0;
  __hetero_wait(__hetero_launch((void *)sumMarked, 3, n, &result, sizeof(result), x, n * sizeof(float), 1,
                                &result, sizeof(result)));
  return result;
}
static void scaled(const float *x, float *y, int n) {
  size_t bytes = n * sizeof(float);
  __hetero_wait(__hetero_launch((void *)scale, 4, x, bytes, y, bytes, 0.5f, n, 1, y, bytes));
}
#else
static void saxpy(size_t n, float a, const float *px, float *py) {
  tessera::span x(px, n);
  tessera::span y(py, n);
  tessera::parallel_for(tessera::extent(n), [=](size_t i) { y[i] = a * x[i] + y[i]; });
}
static void gemm(size_t n, size_t m, int inner, const float *pa, const float *pb, float *pc) {
  tessera::span a(pa, n, inner), b(pb, inner, m);
  tessera::span c(pc, n, m);
  tessera::parallel_for(tessera::extent(n, m), [=](size_t i, size_t j) {
    float sum = 0;
    for (int k = 0; k < inner; ++k)
      sum += a(i, k) * b(k, j);
    c(i, j) = sum;
  });
}
static float sum(size_t n, const float *px) {
  tessera::span x(px, n);
  return tessera::reduce(tessera::sum, tessera::extent(n), 0.0f, [=](size_t i) { return x[i]; });
}
static void scaled(const float *x, float *y, int n) {
  tessera::graph<scale>()(tessera::in(x, n), tessera::out(y, n), 0.5f, n);
}
#endif

int main() {
  const size_t n = 500, m = 30, k = 20;
  std::vector<float> x(n), y(n), z(n), a(m * k), b(k * m), c(m * m);
  for (size_t i = 0; i < n; ++i)
    x[i] = float(i % 10), y[i] = 1;
  for (size_t i = 0; i < m * k; ++i)
    a[i] = float(i % 7), b[i] = float(i % 5);
  saxpy(n, 2.0f, x.data(), y.data());
  gemm(m, m, int(k), a.data(), b.data(), c.data());
  scaled(y.data(), z.data(), int(n));
  float product = 0;
  for (size_t l = 0; l < k; ++l)
    product += a[3 * k + l] * b[l * m + 4];
  std::printf("saxpy %g sum %g gemm %g scaled %g\n", y[9], sum(n, y.data()), c[3 * m + 4] - product, z[9]);
#ifndef MARKED
  std::vector<int> values(n, 7);
  values[5] = 6;
  tessera::span bits(values.data(), n);
  int all = tessera::reduce(tessera::bits_and, tessera::extent(n), -1, [=](size_t i) { return bits[i]; });
  int any = tessera::reduce(tessera::bits_or, tessera::extent(n), 0, [=](size_t i) { return bits[i] & 1; });
  std::printf("all %d any %d\n", all, any);
  // Two launches at the same time.
  tessera::graph<scale> graph;
  std::vector<float> u(n), v(n);
  {
    tessera::launch one = graph.start(tessera::in(x.data(), n), tessera::out(u.data(), n), 2.0f, int(n));
    tessera::launch two = graph.start(tessera::in(x.data(), n), tessera::out(v.data(), n), 3.0f, int(n));
  }
  std::printf("u %g v %g\n", u[7], v[7]);
#endif
}
