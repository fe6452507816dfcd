// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The supported language, construct by construct: each function runs as a graph and as ordinary code compiled
// by Clang, and the two must agree bit for bit.
#include "heterocc.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

struct Pair {
  float x, y;
  Pair operator+(const Pair &o) const { return {x + o.x, y + o.y}; }
  Pair &operator*=(float f) {
    x *= f;
    y *= f;
    return *this;
  }
  float dot(const Pair &o) const { return x * o.x + y * o.y; }
};

struct Mixed {
  double d;
  int32_t i;
  int16_t s;
  uint8_t b[2];
};

template <typename T, int N> T power(T v) {
  T result = 1;
  for (int i = 0; i < N; ++i)
    result *= v;
  return result;
}

template <typename T> struct Box {
  T value;
  explicit Box(T v) : value(v + T(1)) {}
  T get() const { return value; }
};

constexpr int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
const float weights[2][3] = {{0.25f, 0.5f, 0.25f}, {1.0f, 2.0f, 3.0f}};

int early(int v) {
  if (v < 0)
    return -1;
  for (int i = 0; i < 10; ++i) {
    if (i * i > v)
      return i;
    if (v == 7)
      continue;
    if (v == 13)
      break;
  }
  return 100;
}

void swapThem(int &a, int &b) {
  int t = a;
  a = b;
  b = t;
}
void split(int v, int *low, int *high) {
  *low = v & 15;
  *high = (v >> 4) & 15;
}

} // namespace

#define LOOP(n, ...) __hetero_parallel_loop(n, __VA_ARGS__)

void integers(int32_t *in, size_t inBytes, int32_t *out, size_t outBytes, int n) {
  for (int i = 0; i < n; ++i) {
    LOOP(1, 3, in, inBytes, out, outBytes, n, 1, out, outBytes, "integers");
    int v = in[i];
    uint32_t u = (uint32_t)v * 2654435761u;
    int8_t c = (int8_t)v;
    uint16_t s = (uint16_t)(v * 3);
    int64_t l = (int64_t)v * v * v;
    int r = (v / 7) + (v % 5) * 2 - (int)(u % 11) + (int)(u / 1000003u);
    r ^= (v << 3) & 0xff;
    r |= (int)(u >> 28);
    r += c + s + (int)(l >> 17) + ~v + -v + !v;
    r += (v > 3) + (u > 5u) * 2 + (v == 2 ? 10 : 20);
    r += static_cast<int>(sizeof(Pair)) + table[v & 7];
    bool odd = v & 1;
    if (odd && v > 0 || r < 0)
      r -= 5;
    r++;
    --r;
    out[i] = r;
  }
}

void control(int32_t *in, size_t inBytes, int32_t *out, size_t outBytes, int n) {
  for (int i = 0; i < n; ++i) {
    LOOP(1, 3, in, inBytes, out, outBytes, n, 1, out, outBytes, "control");
    int v = in[i], r = early(v) * 1000;
    int k = v & 31;
    while (k > 0) {
      k -= 3;
      if (k == 10)
        continue;
      if (k == 4)
        break;
      r += k;
    }
    do {
      r += 2;
      k += 5;
    } while (k < 12);
    for (int a = 10; a >= 0; a -= 4)
      r += a;
    for (int a = 0, b = 5; a < b; ++a, --b)
      r += a * b;
    int j;
    for (j = 3; j < (v & 15); j += 2)
      r += j;
    r += j * 7;
    switch (v & 7) {
    case 0:
      r += 1;
      break;
    case 1:
    case 2:
      r += 2;
    case 3:
      r += 3;
      break;
    default:
      r += 40;
      if (v > 5)
        break;
      r += 4;
    case 6:
      r += 6;
    }
    for (unsigned x = 0; x != 4u; ++x)
      for (int y = 0; y < 4; ++y) {
        if (y == (int)x)
          continue;
        if (r % 5 == 0)
          break;
        r += (int)x * y;
      }
    if (v % 9 == 0) {
      out[i] = -r;
    } else
      out[i] = r;
  }
}

void functions(int32_t *in, size_t inBytes, int32_t *out, size_t outBytes, int n) {
  for (int i = 0; i < n; ++i) {
    LOOP(1, 3, in, inBytes, out, outBytes, n, 1, out, outBytes, "functions");
    int a = in[i], b = n;
    swapThem(a, b);
    int low, high;
    split(b, &low, &high);
    auto scale = [&](int x) { return x * a + low; };
    auto twice = [=](int x) mutable { return x + x + high; };
    int r = scale(3) + twice(4) + power<int, 3>(low) + Box<int>(high).get();
    std::array<int, 4> values = {low, high, a, b};
    for (int v : values)
      r += v * 3;
    int local[5] = {1, 2, 3};
    int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
    for (int k = 0; k < 5; ++k)
      local[k] += k * low;
    r += local[low % 5] + grid[high & 1][low % 3];
    int *p = local + 1;
    *p += 4;
    ++p;
    r += *p + p[1] + (int)(p - local);
    r += std::max(low, high) - std::min(a, b) + std::abs(low - high) + std::clamp(b, 0, 9);
    out[i] = r;
  }
}

void floats(float *in, size_t inBytes, double *out, size_t outBytes, int n) {
  for (int i = 0; i < n; ++i) {
    LOOP(1, 3, in, inBytes, out, outBytes, n, 1, out, outBytes, "floats");
    float f = in[i];
    double d = f;
    double r = d * 0.5 + (float)i + f / 3.0f;
    r += std::sqrt(d * d + 1.0) + std::fabs(f) + std::floor(f) + std::ceil(d) + fabsf(f);
    r += std::fmin(f, 1.5f) + fmaxf(f, -2.0f) + (int)f + (long)(d * 100) + (unsigned)(f * f);
    if (f > 0.0f && !(f >= 8.0f))
      r -= weights[1][i % 3] * weights[0][2];
    r += f != f ? 1.0 : 2.0;
    out[i] = r;
  }
}

void classes(Pair *in, size_t inBytes, Pair *out, size_t outBytes, Mixed *mixed, size_t mixedBytes, int n) {
  for (int i = 0; i < n; ++i) {
    LOOP(1, 4, in, inBytes, out, outBytes, mixed, mixedBytes, n, 2, out, outBytes, mixed, mixedBytes,
         "classes");
    Pair a = in[i], b{in[(i + 1) % n].y, 2.0f};
    Pair sum = a + b;
    sum *= 0.5f;
    Pair *target = &out[i];
    target->x = sum.dot(a);
    out[i].y = (a + sum).y;
    Mixed m = mixed[i];
    m.d += a.x;
    m.i = m.i * 3 + m.b[1];
    m.s -= 7;
    m.b[0] ^= 0x5a;
    mixed[i] = m;
    mixed[i].d *= 2.0;
  }
}

void nested(const float *a, size_t aBytes, float *out, size_t outBytes, int d0, int d1, int d2) {
  for (int i = 1; i < d0 - 1; ++i)
    for (long j = 0; j < d1; j++)
      for (int k = d2 - 1; k >= 0; --k) {
        LOOP(3, 5, a, aBytes, out, outBytes, d0, d1, d2, 1, out, outBytes, "nested");
        float s = 0;
        for (int t = -1; t <= 1; ++t)
          s += a[((i + t) * d1 + j) * d2 + k] * (t + 2);
        if (j > 0 && k + 1 < d2)
          s -= a[(i * d1 + j - 1) * d2 + k + 1];
        out[(i * d1 + j) * d2 + k] = s;
      }
}

void tasks(int32_t *in, size_t inBytes, int32_t *mid, size_t midBytes, int32_t *out, size_t outBytes, int n) {
  void *section = __hetero_section_begin();
  int half = n / 2;
  {
    void *task = __hetero_task_begin(3, in, inBytes, mid, midBytes, n, 1, mid, midBytes, "first");
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      sum += in[i];
      mid[i] = sum;
    }
    __hetero_task_end(task);
  }
  void *outer = __hetero_task_begin(4, mid, midBytes, out, outBytes, n, half, 1, out, outBytes, "outer");
  void *inner = __hetero_section_begin();
  for (int i = 0; i < half; i += 2) {
    LOOP(1, 4, mid, midBytes, out, outBytes, n, half, 1, out, outBytes, "inner");
    out[i] = mid[n - 1 - i] - half;
    out[i + 1] = mid[i];
  }
  __hetero_section_end(inner);
  __hetero_task_end(outer);
  __hetero_section_end(section);
}

template <typename T> static int differ(const char *what, const std::vector<T> &a, const std::vector<T> &b) {
  int bad = std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) != 0;
  if (bad) {
    size_t at = 0;
    while (std::memcmp(&a[at], &b[at], sizeof(T)) == 0)
      ++at;
    std::printf("%s differs at %zu\n", what, at);
  }
  return bad;
}

int main() {
  int n = 200, bad = 0;
  std::vector<int32_t> ints(n), a(n), b(n), c(n), d(n);
  for (int i = 0; i < n; ++i)
    ints[i] = (i * 37) % 101 - 40;
  size_t ib = n * sizeof(int32_t);
  integers(ints.data(), ib, a.data(), ib, n);
  __hetero_wait(__hetero_launch((void *)integers, 3, ints.data(), ib, b.data(), ib, n, 1, b.data(), ib));
  bad += differ("integers", a, b);
  control(ints.data(), ib, a.data(), ib, n);
  __hetero_wait(__hetero_launch((void *)control, 3, ints.data(), ib, b.data(), ib, n, 1, b.data(), ib));
  bad += differ("control", a, b);
  functions(ints.data(), ib, a.data(), ib, n);
  __hetero_wait(__hetero_launch((void *)functions, 3, ints.data(), ib, b.data(), ib, n, 1, b.data(), ib));
  bad += differ("functions", a, b);
  std::vector<float> f(n);
  std::vector<double> x(n), y(n);
  for (int i = 0; i < n; ++i)
    f[i] = (i * 29 % 83) * 0.375f - 9.0f;
  size_t fb = n * sizeof(float), db = n * sizeof(double);
  floats(f.data(), fb, x.data(), db, n);
  __hetero_wait(__hetero_launch((void *)floats, 3, f.data(), fb, y.data(), db, n, 1, y.data(), db));
  bad += differ("floats", x, y);
  std::vector<Pair> p(n), q(n), r(n);
  std::vector<Mixed> m(n), w;
  for (int i = 0; i < n; ++i) {
    p[i] = {i * 0.5f, 3.0f - i};
    m[i] = {i * 0.25, i, (int16_t)(i * 300), {(uint8_t)i, (uint8_t)(i * 3)}};
  }
  w = m;
  size_t pb = n * sizeof(Pair), mb = n * sizeof(Mixed);
  classes(p.data(), pb, q.data(), pb, m.data(), mb, n);
  __hetero_wait(__hetero_launch((void *)classes, 4, p.data(), pb, r.data(), pb, w.data(), mb, n, 2, r.data(),
                                pb, w.data(), mb));
  bad += differ("classes: pairs", q, r) + differ("classes: mixed", m, w);
  int d0 = 9, d1 = 7, d2 = 5;
  std::vector<float> g(d0 * d1 * d2), u(g.size()), v(g.size());
  for (size_t i = 0; i < g.size(); ++i)
    g[i] = (float)(i * 13 % 31);
  size_t gb = g.size() * sizeof(float);
  nested(g.data(), gb, u.data(), gb, d0, d1, d2);
  __hetero_wait(__hetero_launch((void *)nested, 5, g.data(), gb, v.data(), gb, d0, d1, d2, 1, v.data(), gb));
  bad += differ("nested", u, v);
  tasks(ints.data(), ib, c.data(), ib, a.data(), ib, n);
  __hetero_wait(
      __hetero_launch((void *)tasks, 4, ints.data(), ib, d.data(), ib, b.data(), ib, n, 1, b.data(), ib));
  bad += differ("tasks: mid", c, d) + differ("tasks: out", a, b);
  float scale = 1.5f, *data = f.data();
  double total = 0, expected = 0;
  for (int i = 0; i < n; ++i)
    expected += data[i] * scale;
  void *launch =
      __hetero_launch_begin(4, data, fb, &total, sizeof(total), scale, n, 1, &total, sizeof(total), "region");
  {
    void *task = __hetero_task_begin(4, data, fb, &total, sizeof(total), scale, n, 1, &total, sizeof(total));
    for (int i = 0; i < n; ++i)
      total += data[i] * scale;
    __hetero_task_end(task);
  }
  __hetero_launch_end(launch);
  __hetero_wait(launch);
  if (total != expected) {
    std::printf("region: %g, expected %g\n", total, expected);
    ++bad;
  }
  std::printf("%s\n", bad ? "bad" : "all agree");
  return bad;
}
