// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What lambdas may capture: by value and by reference, numbers, spans, vectors, arrays, classes of these.
// Each result is compared with a serial loop.
#include <tessera/hetero.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <vector>

using namespace tessera;

static int bad = 0;
static void expect(bool good, const char *what) {
  if (!good) {
    std::printf("wrong: %s\n", what);
    ++bad;
  }
}

struct Mesh {
  int cells;
  double *volume __hetero_count(cells);
  std::vector<float> flux;
};
struct Scale {
  float by, shift;
  float operator()(float x) const { return by * x + shift; }
};

// The greatest common divisor; zero changes nothing.
struct Gcd {
  static constexpr int identity = 0;
  static long combine(long p, long q) {
    while (q != 0) {
      long rest = p % q;
      p = q;
      q = rest;
    }
    return p;
  }
};

class Filter {
public:
  explicit Filter(size_t n) : in(n), out(n) {
    for (size_t i = 0; i < n; ++i)
      in[i] = float(i % 13);
  }
  // 'this' is captured.
  void run() {
    parallel_for(extent(in.size()), [this](size_t i) { out[i] = gain * in[i]; });
  }
  float gain = 3;
  std::vector<float> in, out;
};

int main() {
  const size_t n = 777;
  std::vector<float> x(n), y(n), e(n);
  for (size_t i = 0; i < n; ++i)
    x[i] = float(i % 10) - 3;

  // Vectors by reference; numbers by value and by reference.
  float a = 2, b = 5;
  parallel_for(extent(n), [&, a](size_t i) { y[i] = a * x[i] + b; });
  for (size_t i = 0; i < n; ++i)
    e[i] = a * x[i] + b;
  expect(y == e, "vectors");

  // Numbers that the iterations combine.
  float most = -100;
  long total = 10;
  bool any = false;
  parallel_for(extent(n), [&](size_t i) { most = std::max(most, x[i]); });
  parallel_for(extent(n), [&](size_t i) { total += long(x[i]); });
  parallel_for(extent(n), [&](size_t i) { any |= x[i] == 6; });
  long wanted = 10;
  for (float v : x)
    wanted += long(v);
  expect(most == 6 && total == wanted && any, "combined");

  // std::span, tessera::span of a vector, and a part of memory.
  std::span<const float> part(x.data() + 100, 50);
  span whole(y);
  parallel_for(extent(part.size()), [=](size_t i) { whole[i] = part[i]; });
  for (size_t i = 0; i < part.size(); ++i)
    e[i] = x[100 + i];
  expect(y == e, "spans");

  // A lambda, a class and an array by value; an array with an index that is no constant.
  Scale scale{0.5f, 1};
  std::array<float, 4> table{1, 2, 4, 8};
  int plain[3] = {7, 8, 9};
  auto twice = [](float v) { return v + v; };
  parallel_for(extent(n), [=](size_t i) { whole[i] = twice(scale(table[i % 4])) + plain[i % 3]; });
  for (size_t i = 0; i < n; ++i)
    e[i] = twice(scale(table[i % 4])) + plain[i % 3];
  expect(y == e, "classes and arrays");

  // A structure with pointers, by reference.
  std::vector<double> volume(n, 2);
  Mesh mesh{int(n), volume.data(), std::vector<float>(n, 0.5f)};
  parallel_for(extent(mesh.cells), [&mesh](size_t i) { mesh.volume[i] += mesh.flux[i] * mesh.cells; });
  expect(std::all_of(volume.begin(), volume.end(), [&](double v) { return v == 2 + 0.5 * n; }), "structure");

  Filter filter(n);
  filter.run();
  expect(filter.out[20] == 21, "this");

  // Reductions in two and three dimensions, of all kinds.
  span grid(x.data(), 37, 21);
  float corner = reduce(minimum, extent(37, 21), 0.0f, [=](size_t i, size_t j) { return grid(i, j) - j; });
  float lowest = 0;
  for (size_t i = 0; i < 37; ++i)
    for (size_t j = 0; j < 21; ++j)
      lowest = std::min(lowest, x[i * 21 + j] - j);
  int odd = reduce(bits_xor, extent(3, 5, 7), 0, [](size_t i, size_t j, size_t k) { return int(i * j * k); });
  int flips = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      for (int k = 0; k < 7; ++k)
        flips ^= i * j * k;
  double product_ = reduce(product, extent(10), 1.0, [](size_t i) { return double(i + 1); });
  short all = reduce(bits_and, extent(n), short(-1), [&](size_t i) { return short(x[i]) | 8; });
  unsigned least =
      reduce(minimum, extent(n), 4000000000u, [](size_t i) { return 3000000000u + unsigned(i); });
  expect(corner == lowest && odd == flips && product_ == 3628800 && all == 8 && least == 3000000000u,
         "kinds");

  // Operations of one's own: on integers, and as a class with an identity.
  long gcd = reduce(Gcd(), extent(n), 0L, [](size_t i) { return long(i + 3) * 84; });
  // The last element of a certain kind: no operation of the language has it.
  unsigned long last = reduce(operation<0ul>([](unsigned long p, unsigned long q) { return p < q ? q : p; }),
                              extent(n), 0ul, [&](size_t i) { return x[i] > 5 ? i : 0ul; });
  expect(gcd == 84 && x[last] == 6 && last > n - 11, "own operations");

  // Two launches at the same time are in modern.cpp; nothing to do is done.
  parallel_for(extent(-5), [&](size_t i) { y[i] = 99; });
  expect(y == e, "no iterations");
  std::printf("%d bad\n", bad);
}
