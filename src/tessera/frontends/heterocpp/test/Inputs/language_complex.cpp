// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex numbers, of std::complex and of the language, as graphs and as Clang compiles them.
#include "agree.hpp"

#include <cmath>
#include <complex>

template <typename T> using Complex = std::complex<T>;

template <typename T> static Complex<T> calculate(Complex<T> z, Complex<T> w, int i) {
  Complex<T> sum = z + w - T(3) * z + w * T(2) + T(1) - z / T(4);
  sum += z;
  sum -= T(2);
  sum *= w;
  sum *= T(0.5);
  sum /= w + Complex<T>(3, -1);
  Complex<T> unit = std::conj(z) * Complex<T>(0, 1) + -w;
  if (z == w || z != Complex<T>(1, 2))
    unit.imag(unit.real() + T(1));
  unit = i % 3 ? unit : sum;
  return sum * unit + Complex<T>(std::abs(z), std::norm(w)) + std::polar(T(2), T(i) / 7) +
         std::exp(z * T(0.125)) + std::arg(w) / (w - T(9));
}
template <typename T>
static void classes(Complex<T> *in, size_t inBytes, Complex<T> *out, size_t outBytes, int n) {
  EACH("classes")
  Complex<T> roots[2] = {in[i], Complex<T>(T(i % 5) - 2, 1)};
  out[i] += calculate(roots[0], roots[1], i);
}
}
// The language's own, of the same parts.
template <typename T> struct Builtin;
template <> struct Builtin<float> {
  using type = _Complex float;
};
template <> struct Builtin<double> {
  using type = _Complex double;
};
template <typename T>
static void builtin(Complex<T> *in, size_t inBytes, Complex<T> *out, size_t outBytes, int n) {
  EACH("builtin")
  typename Builtin<T>::type z = in[i].real() + in[i].imag() * 1.0if;
  typename Builtin<T>::type w = {T(i % 7), T(2)};
  __real__ w += 1;
  w = ~w * z - (z ? 2 : 1) + z / w;
  out[i] = Complex<T>(__real__ w, __imag__ w);
}
}
// Divisors whose squares are no numbers of the type.
template <typename T>
static void divide(Complex<T> *in, size_t inBytes, Complex<T> *out, size_t outBytes, int n) {
  EACH("divide")
  T far = std::ldexp(T(1), i % 2 ? 100 : -100);
  out[i] = in[i] * far / (Complex<T>(T(i % 9 + 1), T(3 - i % 4)) * far);
}
}

template <typename T>
static void check(const char *name, void (*function)(Complex<T> *, size_t, Complex<T> *, size_t, int),
                  void (*launch)(Complex<T> *, size_t, Complex<T> *, int)) {
  const int n = 200;
  std::vector<Complex<T>> in(n), want(n), got(n);
  for (int i = 0; i < n; ++i) {
    in[i] = {T(i * 37 % 101 - 50) / 8, T(i * 53 % 89 - 44) / 4};
    want[i] = got[i] = {T(i), T(-i)};
  }
  size_t bytes = n * sizeof(Complex<T>);
  function(in.data(), bytes, want.data(), bytes, n);
  launch(in.data(), bytes, got.data(), n);
  for (int i = 0; i < n; ++i)
    if (!(std::abs(want[i] - got[i]) <= T(1e-4) * (1 + std::abs(want[i])))) {
      std::printf("%s: %g %g instead of %g %g at %d\n", name, double(got[i].real()), double(got[i].imag()),
                  double(want[i].real()), double(want[i].imag()), i);
      ++bad;
      return;
    }
}
#define CHECK(function, T)                                                                                   \
  check<T>(#function, function<T>, [](Complex<T> *in, size_t bytes, Complex<T> *out, int n) {                \
    __hetero_wait(__hetero_launch((void *)function<T>, 3, in, bytes, out, bytes, n, 1, out, bytes));         \
  })

int main() {
  CHECK(classes, float);
  CHECK(classes, double);
  CHECK(builtin, float);
  CHECK(builtin, double);
  CHECK(divide, float);
  CHECK(divide, double);
  std::printf("%d bad\n", bad);
}
