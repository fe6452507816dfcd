// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions, templates, lambdas and small classes.
#include "agree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>

struct Complex {
  float re = 0, im = 0;
  constexpr Complex() = default;
  constexpr Complex(float re, float im = 0) : re(re), im(im) {}
  Complex operator+(const Complex &o) const { return {re + o.re, im + o.im}; }
  friend Complex operator-(Complex a, Complex b) { return Complex(a.re - b.re, a.im - b.im); }
  Complex operator-() const { return {-re, -im}; }
  Complex &operator*=(const Complex &o) {
    float r = re * o.re - im * o.im;
    im = re * o.im + im * o.re;
    re = r;
    return *this;
  }
  Complex &operator=(float v) {
    re = v;
    im = 0;
    return *this;
  }
  bool operator==(const Complex &o) const { return re == o.re && im == o.im; }
  bool operator<(const Complex &o) const { return norm() < o.norm(); }
  float &operator[](int i) { return i ? im : re; }
  explicit operator bool() const { return re || im; }
  explicit operator float() const { return re; }
  Complex &operator++() {
    ++re;
    return *this;
  }
  Complex operator++(int) {
    Complex old = *this;
    re++;
    return old;
  }
  float norm() const { return re * re + im * im; }
  static Complex unit(int k) { return k & 1 ? Complex(0, 1) : Complex(1); }
};
inline Complex operator*(Complex a, const Complex &b) { return a *= b; }

template <typename T, int Rows, int Columns> class Matrix {
public:
  Matrix() = default;
  explicit Matrix(T diagonal) {
    for (int i = 0; i < Rows && i < Columns; ++i)
      values[i][i] = diagonal;
  }
  T &operator()(int i, int j) { return values[i][j]; }
  const T &operator()(int i, int j) const { return values[i][j]; }
  template <int Other> Matrix<T, Rows, Other> operator*(const Matrix<T, Columns, Other> &o) const {
    Matrix<T, Rows, Other> result;
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Other; ++j)
        for (int k = 0; k < Columns; ++k)
          result(i, j) += values[i][k] * o(k, j);
    return result;
  }
  static constexpr int size = Rows * Columns;

private:
  T values[Rows][Columns] = {};
};

struct Base {
  int id = 3;
  int twice() const { return 2 * id; }
  void add(int v) { id += v; }
};
struct Other {
  short extra = 4;
};
struct Derived : Base, Other {
  int own;
  explicit Derived(int v) : own(v) { add(v & 3); }
  Derived(int v, int w) : Derived(v + w) { extra = short(w); }
  int twice() const { return Base::twice() + own; }
  int all() const {
    const Base &base = *this;
    const Other *other = this;
    return base.twice() + other->extra + this->own;
  }
};

// A view of memory that a task makes for itself.
template <typename T> struct View {
  T *data;
  int rows, columns;
  T &at(int i, int j) const { return data[i * columns + j]; }
  View shifted(int by) const { return {data + by, rows, columns}; }
};

template <typename T> T gcd(T a, T b) {
  while (b) {
    T rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
template <std::integral T> constexpr T square(T v) { return v * v; }
template <std::floating_point T> constexpr T square(T v) { return v * v + T(0.5); }
template <typename... T> auto total(T... values) { return (values + ... + 0); }
template <typename F, typename... A> auto apply(F &&f, A &&...a) { return f(std::forward<A>(a)...); }
constexpr int factorial(int n) {
  int result = 1;
  for (int i = 2; i <= n; ++i)
    result *= i;
  return result;
}
static int defaulted(int a, int b = 5, int c = factorial(3)) { return a * b + c; }
static int &larger(int &a, int &b) {
  a += 0;
  return a;
}
namespace deep::er {
inline constexpr double ratio = 0.75;
inline int pick(int v) { return v * 3; }
inline long pick(long v) { return v * 5; }
} // namespace deep::er

void classes(float *in, size_t inBytes, float *out, size_t outBytes, int n) {
  EACH("classes")
  Complex a(in[i]), b{in[(i + 1) % n], 0.5f}, c = a + b * 2.0f - -a;
  c *= b;
  c[1] += 3;
  Complex d = c++;
  ++d;
  d = d * Complex::unit(i);
  Complex e;
  if (i % 3 == 0)
    e = in[i];
  if (e)
    d = d + e;
  Complex list[3] = {a, {1, 2}};
  list[2] = a < b ? a : b;
  float r = d.norm() + c.re - float(list[1]) + list[2].im + (a == b ? 1 : 2);
  for (const Complex &z : list)
    r += z.re;
  out[i] = r;
}
}
void matrices(float *in, size_t inBytes, float *out, size_t outBytes, int n) {
  EACH("matrices")
  Matrix<float, 2, 3> a;
  Matrix<float, 3, 2> b(2.0f);
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 3; ++c)
      a(r, c) = in[(i + r * 3 + c) % n];
  b(2, 1) = in[i];
  Matrix<float, 2, 2> p = a * b, q = p;
  q(0, 1) += 1;
  p = q * p;
  View<float> view{in, 1, n};
  View<float> moved = view.shifted(i > 2 ? -2 : 0);
  out[i] = p(0, 0) + p(1, 0) * 3 + p(0, 1) * 5 + p(1, 1) * 7 + decltype(p)::size + moved.at(0, i);
}
}
void inherited(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("inherited")
  Derived d(in[i]), e(in[i], 7);
  d.add(5);
  Base b = d;
  b.id++;
  Derived *p = &e;
  p->Base::add(2);
  out[i] = d.all() + e.twice() * 3 + b.twice() * 5 + p->extra + d.id;
}
}
void functions(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("functions")
  int v = in[i], w = v & 63;
  int r = gcd(w + 4, 12) + int(gcd<unsigned long>(90, unsigned(w) + 1)) + square(v) + int(square(v * 0.5));
  r += total(v, 2, 3L) + total() + defaulted(v) + defaulted(v, 2) + defaulted(1, 2, 3);
  constexpr int known = factorial(5);
  r += known + int(deep::er::ratio * 8) + deep::er::pick(v) + int(deep::er::pick(3l));
  larger(r, w) += 4;
  using namespace deep;
  r += er::pick(2);
  out[i] = r;
}
}
void lambdas(int *in, size_t inBytes, int *out, size_t outBytes, int n) {
  EACH("lambdas")
  int v = in[i], count = 0;
  auto add = [&count](int by) { count += by; };
  auto scaled = [v, f = 3](auto x) { return x * f + v; };
  auto counter = [k = 0]() mutable { return ++k; };
  auto nested = [&](int x) {
    auto inner = [=, &add](int y) {
      add(y);
      return x + y;
    };
    return inner(x) + inner(2);
  };
  auto choose = []<typename T>(bool c, T a, T b) -> T {
    if (c)
      return a;
    return b;
  };
  add(2);
  int r = scaled(5) + int(scaled(2.5)) + counter() + counter() * 10 + nested(v & 7);
  r += apply([](int a, int b) { return a - b; }, r, 3) + choose(v > 0, 4, 9);
  auto &alias = add;
  alias(100);
  int values[4] = {4, 2, v & 7, 1};
  auto each = [&](auto &&f) {
    for (int &x : values)
      f(x);
  };
  each([&](int &x) { x += count; });
  r += std::min(values[0], values[2]) + std::max({1, 2});
  out[i] = r * 3 + count + values[3];
}
}

int main() {
  int n = 120;
  std::vector<float> f(n), g(n);
  std::vector<int> v(n), w(n);
  for (int i = 0; i < n; ++i) {
    v[i] = i * 37 % 101 - 50;
    f[i] = v[i] % 8 * 0.5f; // exact in all sums and products
  }
  BOTH(classes, f, g);
  BOTH(matrices, f, g);
  BOTH(inherited, v, w);
  BOTH(functions, v, w);
  BOTH(lambdas, v, w);
  std::printf("%d bad\n", bad);
}
