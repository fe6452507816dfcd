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

// A part of graphs, also called on the host.
static void addAll(span<float> to, span<const float> from, float by) {
  parallel_for<"addAll">(extent(to.size()), [=](size_t i) { to[i] += from[i] * by; });
}
// The function of a graph, with loops as lambdas.
static void halve(float *p, size_t, int n) {
  span x(p, n);
  parallel_for<"halve">(extent(n), [=](size_t i) { x[i] *= 0.5f; });
  task<"first">([=] { x[0] = -1; });
}

// Graphs of several loops and tasks.
static void graphs(size_t n) {
  std::vector<float> x(n), y(n, 1), z(n), e(n);
  for (size_t i = 0; i < n; ++i)
    x[i] = float(i % 10) - 3;
  // Variables between the nodes: combined by one, read by others.
  float factor = 2;
  run([&, factor] {
    float total = 1;
    int count = 0;
    parallel_for(extent(n), [&](size_t i) { total += x[i]; });
    parallel_for(extent(n), [&](size_t i) {
      if (x[i] > 3)
        ++count;
    });
    float mean = total / float(count);
    parallel_for(extent(n), [&](size_t i) { z[i] = x[i] * mean + factor; });
    task([&] {
      y[0] = total;
      y[1] = float(count);
    });
  });
  float total = 1, mean;
  int count = 0;
  for (float v : x)
    total += v, count += v > 3;
  mean = total / float(count);
  bool good = y[0] == total && y[1] == float(count) && y[2] == 1;
  for (size_t i = 0; i < n; ++i)
    good &= z[i] == x[i] * mean + factor;
  expect(good, "variables of a graph");

  // Functions that are parts; a task that holds loops; one after the other where data says so.
  span vx(x), vy(y), vz(z);
  e = y;
  run<"parts">([=] {
    addAll(vy, span<const float>(vx.memory, vx.rows), 2);
    task<"outer">([=] {
      parallel_for<"inner">(extent(n), [=](size_t i) { vz[i] = vy[i] + 1; });
      addAll(vy, span<const float>(vz.memory, vz.rows), 0.5f);
    });
  });
  good = true;
  for (size_t i = 0; i < n; ++i) {
    float sum = e[i] + x[i] * 2;
    good &= z[i] == sum + 1 && y[i] == sum + (sum + 1) * 0.5f;
  }
  expect(good, "parts of a graph");

  // The same function by itself, and a graph by the name of a function.
  std::vector<float> w(n, 4);
  addAll(span(w), span<const float>(x.data(), n), 1);
  graph<halve>()(inout(w), int(n));
  good = w[0] == -1;
  for (size_t i = 1; i < n; ++i)
    good &= w[i] == (4 + x[i]) / 2;
  expect(good, "a function as a graph");
  // A function that describes a graph, called as any other.
  halve(w.data(), n * sizeof(float), int(n));
  expect(w[0] == -1 && w[1] == (4 + x[1]) / 4, "a graph's function on the host");
}

int main() {
  const size_t n = 777;
  graphs(n);
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

  // Nothing to do is done.
  parallel_for(extent(-5), [&](size_t i) { y[i] = 99; });
  expect(y == e, "no iterations");
  std::printf("%d bad\n", bad);
}
