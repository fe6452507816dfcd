// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same loops by lambdas and, with MARKED, by markers: the graphs must be the same, and the results.
#include <tessera/hetero.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

static float larger(float a, float b) { return std::fabs(a) < std::fabs(b) ? b : a; }

// A graph of two nodes, launched and streamed.
static void scale(const float *in, size_t inBytes, float *out, size_t outBytes, float *twice,
                  size_t twiceBytes, float by, int n) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, in, inBytes, twice, twiceBytes, n, 1, twice, twiceBytes, "twice");
    twice[i] = in[i] + in[i];
  }
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, twice, twiceBytes, out, outBytes, by, n, 1, out, outBytes, "scale");
    out[i] = twice[i] * by;
  }
  __hetero_section_end(section);
}

#ifdef MARKED
static void saxpyLoop(size_t n, float a, const float *x, size_t xBytes, float *y, size_t yBytes) {
  for (size_t i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, n, a, x, xBytes, y, yBytes, 1, y, yBytes, "saxpy");
    y[i] = a * x[i] + y[i];
  }
}
static void saxpy(size_t n, float a, const float *x, float *y) {
  size_t bytes = n * sizeof(float);
  __hetero_wait(__hetero_launch((void *)saxpyLoop, 4, n, a, x, bytes, y, bytes, 1, y, bytes));
}
static void gemmLoop(size_t rows, size_t columns, int inner, const float *a, size_t aBytes, size_t aColumns,
                     const float *b, size_t bBytes, size_t bColumns, float *c, size_t cBytes,
                     size_t cColumns) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      __hetero_parallel_loop(2, 9, rows, columns, inner, a, aBytes, aColumns, b, bBytes, bColumns, c, cBytes,
                             cColumns, 1, c, cBytes, "gemm");
      __hetero_hint("cpu,cuda");
      float sum = 0;
      for (int k = 0; k < inner; ++k)
        sum += a[i * aColumns + k] * b[k * bColumns + j];
      c[i * cColumns + j] = sum;
    }
}
static void gemm(size_t n, size_t m, int k, const float *a, const float *b, float *c) {
  size_t ab = n * k * sizeof(float), bb = k * m * sizeof(float), cb = n * m * sizeof(float), inner = k;
  __hetero_wait(__hetero_launch((void *)gemmLoop, 9, n, m, k, a, ab, inner, b, bb, m, c, cb, m, 1, c, cb));
}
static void cubeLoop(size_t n, size_t m, size_t l, short *v, size_t vBytes, size_t columns, size_t depth) {
  for (size_t z = 0; z < n; ++z)
    for (size_t y = 0; y < m; ++y)
      for (size_t x = 0; x < l; ++x) {
        __hetero_parallel_loop(3, 6, n, m, l, v, vBytes, columns, depth, 1, v, vBytes, "cube");
        v[(z * columns + y) * depth + x] = short(100 * z + 10 * y + x);
      }
}
static void cube(short *v, size_t n, size_t m, size_t l) {
  size_t bytes = n * m * l * sizeof(short);
  __hetero_wait(__hetero_launch((void *)cubeLoop, 6, n, m, l, v, bytes, m, l, 1, v, bytes));
}
static void sumLoop(size_t n, float *all, size_t allBytes, const float *x, size_t xBytes) {
  for (size_t i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, n, all, allBytes, x, xBytes, 1, all, allBytes, "sum");
    *all += x[i];
  }
}
static float sum(size_t n, const float *x) {
  float all = 0;
  __hetero_wait(
      __hetero_launch((void *)sumLoop, 3, n, &all, sizeof(all), x, n * sizeof(float), 1, &all, sizeof(all)));
  return all;
}
static void largestLoop(size_t n, size_t m, float *all, size_t allBytes, const float *x, size_t xBytes,
                        size_t columns) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < m; ++j) {
      __hetero_parallel_loop(2, 5, n, m, all, allBytes, x, xBytes, columns, 1, all, allBytes, "largest");
      __hetero_combine(all, x[i * columns + j], larger, 0.0f);
    }
}
static float largest(size_t n, size_t m, const float *x) {
  float all = 0;
  __hetero_wait(__hetero_launch((void *)largestLoop, 5, n, m, &all, sizeof(all), x, n * m * sizeof(float), m,
                                1, &all, sizeof(all)));
  return all;
}
static void scaled(const float *x, float *y, float *twice, int n) {
  size_t bytes = n * sizeof(float);
  __hetero_wait(__hetero_launch((void *)scale, 5, x, bytes, y, bytes, twice, bytes, 0.5f, n, 2, y, bytes,
                                twice, bytes));
}
static void normaliseTasks(double *sum, size_t sumBytes, float *scale, size_t scaleBytes, int n,
                           const float *x, size_t xBytes, float *y, size_t yBytes) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 3, x, xBytes, sum, sumBytes, n, 1, sum, sumBytes, "sum");
    *sum += x[i];
  }
  void *task =
      __hetero_task_begin(3, sum, sumBytes, scale, scaleBytes, n, 1, scale, scaleBytes, "statistics");
  scale[0] = float(*sum / n);
  scale[1] = 2;
  __hetero_task_end(task);
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 4, x, xBytes, scale, scaleBytes, y, yBytes, n, 1, y, yBytes, "apply");
    y[i] = (x[i] - scale[0]) * scale[1];
  }
  __hetero_section_end(section);
}
static void normalise(const float *x, float *y, int n) {
  double sum = 0;
  float scale[2];
  size_t bytes = n * sizeof(float);
  __hetero_wait(__hetero_launch((void *)normaliseTasks, 5, &sum, sizeof(sum), scale, sizeof(scale), n, x,
                                bytes, y, bytes, 1, y, bytes));
}
static int streamed(const float *x, std::vector<std::vector<float>> &frames, int n) {
  size_t bytes = n * sizeof(float);
  float *first = frames[0].data();
  void *stream = __hetero_launch_stream((void *)scale, 5, x, bytes, first, bytes, (float *)nullptr, bytes,
                                        1.0f, n, 1, first, bytes);
  for (size_t f = 0; f < frames.size(); ++f)
    __hetero_push(stream, 4, x, bytes, frames[f].data(), bytes, (float *)nullptr, bytes, float(f));
  __hetero_close(stream);
  size_t items = 0;
  while (void *result = __hetero_pop(stream))
    if (result != frames[items++].data())
      return -1;
  __hetero_wait(stream);
  return int(items);
}
#else
static void saxpy(size_t n, float a, const float *px, float *py) {
  tessera::span x(px, n);
  tessera::span y(py, n);
  tessera::parallel_for<"saxpy">(tessera::extent(n), [=](size_t i) { y[i] = a * x[i] + y[i]; });
}
static void gemm(size_t n, size_t m, int inner, const float *pa, const float *pb, float *pc) {
  tessera::span a(pa, n, inner), b(pb, inner, m);
  tessera::span c(pc, n, m);
  tessera::parallel_for<"gemm", "cpu,cuda">(tessera::extent(n, m), [=](size_t i, size_t j) {
    float sum = 0;
    for (int k = 0; k < inner; ++k)
      sum += a(i, k) * b(k, j);
    c(i, j) = sum;
  });
}
static void cube(short *pv, size_t n, size_t m, size_t l) {
  tessera::span v(pv, n, m, l);
  tessera::parallel_for<"cube">(tessera::extent(n, m, l), [=](size_t z, size_t y, size_t x) {
    v(z, y, x) = short(100 * z + 10 * y + x);
  });
}
static float sum(size_t n, const float *px) {
  tessera::span x(px, n);
  return tessera::reduce<"sum">(tessera::sum, tessera::extent(n), 0.0f, [=](size_t i) { return x[i]; });
}
static float largest(size_t n, size_t m, const float *px) {
  tessera::span x(px, n, m);
  return tessera::reduce<"largest">(tessera::operation<0.0f>([](float a, float b) { return larger(a, b); }),
                                    tessera::extent(n, m), 0.0f, [=](size_t i, size_t j) { return x(i, j); });
}
static void scaled(const float *x, float *y, float *twice, int n) {
  tessera::graph<scale>()(tessera::in(x, n), tessera::out(y, n), tessera::out(twice, n), 0.5f, n);
}
static void normalise(const float *px, float *py, int n) {
  double sum = 0;
  float scale[2];
  tessera::span x(px, n);
  tessera::span y(py, n);
  tessera::run<"normalise">([&, n] {
    tessera::parallel_for<"sum">(tessera::extent(n), [&](size_t i) { sum += x[i]; });
    tessera::task<"statistics">([&] {
      scale[0] = float(sum / n);
      scale[1] = 2;
    });
    tessera::parallel_for<"apply">(tessera::extent(n),
                                   [&](size_t i) { y[i] = (x[i] - scale[0]) * scale[1]; });
  });
}
static int streamed(const float *x, std::vector<std::vector<float>> &frames, int n) {
  auto between = tessera::between<float>(n);
  tessera::stream<scale> stream(tessera::in(x, n), tessera::out(frames[0]), between, 1.0f, n);
  for (size_t f = 0; f < frames.size(); ++f)
    stream.push(tessera::in(x, n), tessera::out(frames[f]), between, float(f));
  stream.close();
  size_t items = 0;
  while (float *result = stream.pop<float>())
    if (result != frames[items++].data())
      return -1;
  return int(items);
}
#endif

int main() {
  const size_t n = 500, m = 30, k = 20;
  std::vector<float> x(n), y(n), z(n), twice(n), a(m * k), b(k * m), c(m * m);
  for (size_t i = 0; i < n; ++i)
    x[i] = float(i % 10), y[i] = 1;
  for (size_t i = 0; i < m * k; ++i)
    a[i] = float(i % 7), b[i] = float(i % 5);
  saxpy(n, 2.0f, x.data(), y.data());
  gemm(m, m, int(k), a.data(), b.data(), c.data());
  scaled(y.data(), z.data(), twice.data(), int(n));
  std::vector<short> v(2 * 3 * 4);
  cube(v.data(), 2, 3, 4);
  float product = 0;
  for (size_t l = 0; l < k; ++l)
    product += a[3 * k + l] * b[l * m + 4];
  x[123] = -77;
  std::printf("saxpy %g sum %g gemm %g cube %d largest %g scaled %g\n", y[9], sum(n, y.data()),
              c[3 * m + 4] - product, v[23], largest(50, 10, x.data()), z[9]);
  normalise(y.data(), z.data(), int(n));
  std::printf("normalised %g %g\n", z[0], z[9]);
  std::vector<std::vector<float>> frames(7, std::vector<float>(n));
  int items = streamed(x.data(), frames, int(n)), right = 0;
  for (size_t f = 0; f < frames.size(); ++f)
    right += frames[f][7] == 14.0f * f && frames[f][123] == -154.0f * f;
  std::printf("%d items, %d right\n", items, right);
}
