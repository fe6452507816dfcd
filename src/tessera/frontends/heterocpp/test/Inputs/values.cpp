// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of graphs that have a value: tessera::reduce, and functions with loops that return a number, in
// graphs, in tasks, in conditions and in iterations. Against serial code.
#include <tessera/hetero.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using tessera::extent;
using tessera::span;

static int mistakes = 0;
static void check(const char *what, double got, double want) {
  if (std::fabs(got - want) > 1e-4 * (1 + std::fabs(want)))
    std::printf("%s: %g instead of %g\n", what, got, want), ++mistakes;
}

// A part that returns a number; also called by the host.
static float norm(span<const float> x) {
  float squares =
      tessera::reduce<"squares">(tessera::sum, extent(x.size()), 0.0f, [=](size_t i) { return x[i] * x[i]; });
  return std::sqrt(squares);
}

static int countOf(span<const float> x, float limit) {
  return tessera::reduce(tessera::sum, extent(x.size()), 0, [=](size_t i) { return int(x[i] > limit); }) * 2;
}

// A mean and a deviation, each the value of a reduction, and what is computed from both.
static void standardise(const std::vector<float> &x, std::vector<float> &y, float &deviation) {
  int n = int(x.size());
  tessera::run<"standardise">([&, n] {
    float mean = tessera::reduce<"mean">(tessera::sum, extent(n), 0.0f, [&](size_t i) { return x[i]; }) / n;
    float variance = 1e-3f;
    variance += tessera::reduce<"variance">(tessera::sum, extent(n), 0.0f, [&](size_t i) {
      float d = x[i] - mean;
      return d * d;
    });
    tessera::task<"root">([&, variance] { deviation = std::sqrt(variance / n); });
    tessera::parallel_for<"apply">(extent(n), [&](size_t i) { y[i] = (x[i] - mean) / deviation; });
  });
}

// The start of one is the value of another; two in one expression; one of one's own.
static void several(const std::vector<int> &x, long *result) {
  size_t n = x.size();
  span out(result, 6);
  tessera::run<"several">([&, n, out] {
    int least = tessera::reduce(tessera::minimum, extent(n), 1000, [&](size_t i) { return x[i]; });
    int most = tessera::reduce(tessera::maximum, extent(n), least, [&](size_t i) { return x[i]; });
    long range = tessera::reduce(tessera::maximum, extent(n), -1000, [&](size_t i) { return x[i]; }) -
                 tessera::reduce(tessera::minimum, extent(n), 1000, [&](size_t i) { return x[i]; });
    auto far = tessera::operation<0>([](int a, int b) { return std::abs(a) < std::abs(b) ? b : a; });
    out[0] = tessera::reduce(far, extent(n / 2, 2), 0, [&](size_t i, size_t j) { return x[2 * i + j]; });
    bool any = tessera::reduce(tessera::bits_or, extent(n), false, [&](size_t i) { return x[i] == 17; });
    tessera::task<"store">([=] {
      out[1] = least;
      out[2] = most;
      out[3] = range;
      out[4] = any;
    });
    tessera::task<"choose">([&, out, n, range] {
      out[5] = range > 10 ? tessera::reduce(tessera::sum, extent(n), 0l, [&](size_t i) { return long(x[i]); })
                          : -1;
    });
  });
}

// In a task, beside what the task computes; under its conditions a loop of the task.
static void inTask(const std::vector<float> &x, std::vector<float> &y, int rounds) {
  size_t n = x.size();
  tessera::task<"all">([&, n, rounds] {
    y[0] = x[0];
    float length = norm(span<const float>(x.data(), n));
    y[1] = length + countOf(span<const float>(x.data(), n), 1.0f);
    if (rounds > 0)
      y[2] = tessera::reduce(tessera::sum, extent(n), 1.0f, [&](size_t i) { return x[i]; });
    for (int r = 0; r < rounds; ++r)
      y[3 + r] =
          tessera::reduce(tessera::maximum, extent(n - r), -100.0f, [&](size_t i) { return x[i + r]; });
  });
}

// Each iteration reduces a row.
static void rows(const std::vector<float> &x, std::vector<float> &y, size_t m) {
  tessera::parallel_for<"rows">(extent(y.size()), [&, m](size_t i) {
    y[i] = tessera::reduce(tessera::sum, extent(m), 0.0f, [&](size_t j) { return x[i * m + j]; });
    tessera::parallel_for(extent(2), [&](size_t k) { y[i] += float(k); });
  });
}

int main() {
  const int n = 640;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i)
    x[i] = float((i * 37) % 101 - 50) / 8;
  double sum = 0, squares = 0, spread = 1e-3;
  float most = -100, later = -100;
  int above = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[i], squares += double(x[i]) * x[i], most = std::max(most, x[i]);
    above += x[i] > 1;
    if (i)
      later = std::max(later, x[i]);
  }
  for (int i = 0; i < n; ++i)
    spread += (x[i] - sum / n) * (x[i] - sum / n);
  float deviation = 0;
  standardise(x, y, deviation);
  check("deviation", deviation, std::sqrt(spread / n));
  for (int i = 0; i < n; ++i)
    check("standardised", y[i], (x[i] - sum / n) / std::sqrt(spread / n));

  std::vector<int> k(n);
  long total = 0;
  for (int i = 0; i < n; ++i)
    total += k[i] = (i * 53) % 97 - 60;
  long result[6] = {};
  several(k, result);
  const long want[6] = {-60, -60, 36, 96, 1, total};
  for (int i = 0; i < 6; ++i)
    check("several", double(result[i]), double(want[i]));

  inTask(x, y, 2);
  check("first", y[0], x[0]);
  check("norm", y[1], std::sqrt(squares) + 2 * above);
  check("norm on the host", norm(span<const float>(x.data(), n)), std::sqrt(squares));
  check("sum", y[2], sum + 1);
  check("most", y[3], most);
  check("later", y[4], later);
  inTask(x, y, 0);
  check("no sum", y[2], sum + 1);

  std::vector<float> r(n / 16);
  rows(x, r, 16);
  for (int i = 0; i < n / 16; ++i) {
    double row = 1;
    for (int j = 0; j < 16; ++j)
      row += x[i * 16 + j];
    check("row", r[i], row);
  }
  std::printf("%d mistakes\n", mistakes);
}
