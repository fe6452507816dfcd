// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers: every width, conversions between all of them, operators, <cmath>.
#include "agree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

enum Colour { red, green = 7, blue };
enum class Small : uint8_t { one = 1, many = 200 };

// In and out of each type, with arithmetic in it.
template <typename T> static int64_t through(int64_t v) {
  T t = static_cast<T>(v);
  T twice = static_cast<T>(t + t);
  T less = t;
  less -= 3;
  ++less;
  less--;
  T product = t;
  product *= 5;
  return static_cast<int64_t>(twice) ^ (static_cast<int64_t>(less) << 3) ^
         (static_cast<int64_t>(product) << 7) ^ (t < T(5)) ^ (T(100) > t ? 16 : 0) ^ (t == T(-1) ? 32 : 0);
}
void integers(int64_t *in, size_t inBytes, int64_t *out, size_t outBytes, int n) {
  EACH("integers")
  int64_t v = in[i], r = 0;
  r += through<char>(v) + through<signed char>(v) + through<unsigned char>(v);
  r ^= through<short>(v) * 3 + through<unsigned short>(v) * 5;
  r += through<int>(v & 0xffffff) * 7 + through<unsigned>(v) * 11;
  r ^= through<long>(v & 0xffffffff) + through<unsigned long>(v) + through<long long>(v & 0xffff) +
       through<unsigned long long>(v);
  r += through<char16_t>(v) + through<char32_t>(v) + through<wchar_t>(v & 0xffff) + through<char8_t>(v);
  out[i] = r;
}
}
void operators(int64_t *in, size_t inBytes, int64_t *out, size_t outBytes, int n) {
  EACH("operators")
  int64_t v = in[i];
  int a = int(v), b = int(v >> 7) | 1;
  unsigned u = unsigned(v), w = u | 1;
  unsigned char c = (unsigned char)v;
  signed char s = (signed char)v;
  int64_t r = a / b + a % b + int64_t(u / w) * (u % 10);
  r += (a & b) - (a | b) + (a ^ b) + ~a + (a << 3 & 0xffff) + (a >> 2) + (u >> 3) + (u << 5);
  r += c << 4 | s >> 1;
  c += 200;
  s ^= 0x55;
  c <<= 1;
  c >>= 2;
  s %= 7;
  u /= 3;
  u -= 1000000;
  r += c + s + u;
  r += (a < b) + (a <= b) * 2 + (a > b) * 4 + (a >= b) * 8 + (a == b) * 16 + (a != b) * 32;
  r += (u < w) + (c < s) * 2 + (int64_t(u) > v) * 4;
  r += !a + !!b + -s + +c;
  bool t = a, f = !a;
  t |= f;
  t &= true;
  t ^= b > 5;
  r += t * 64 + (t ? 3 : 5) + (a && b) + (a || f);
  r += a ?: 12;
  Colour colour = a & 1 ? green : blue;
  Small small = static_cast<Small>(c);
  r += colour + int(small) + (small == Small::many) + (colour > red);
  out[i] = r;
}
}
void bits(int64_t *in, size_t inBytes, int64_t *out, size_t outBytes, int n) {
  EACH("bits")
  uint64_t v = uint64_t(in[i]) | 1;
  uint32_t w = uint32_t(v);
  int64_t r = std::popcount(v) + __builtin_popcount(w) * 3 + std::countl_zero(w) * 5 + __builtin_ctzll(v);
  r += std::rotl(w, 5) + std::rotr(w, 3) + std::bit_width(w) + std::countr_one(w) + std::has_single_bit(w);
  r += std::bit_cast<int32_t>(float(w & 1023)) + std::abs(int(w)) + std::labs(in[i]);
  r += std::popcount(uint8_t(v)) + std::countl_zero(uint16_t(v));
  out[i] = r;
}
}
// Divisions that one iteration does.
void divisions(int64_t *in, size_t inBytes, int64_t *out, size_t outBytes, int n) {
  EACH("divisions")
  int64_t r = 2;
  if (i == 13) {
    r = std::min<int64_t>(-5, in[unsigned(i ^ 5) % unsigned(n)]);
    r = std::max(r, in[unsigned(i + 1) % unsigned(n)]) + 1000 / n + (i - 100) % n;
  }
  if (i > 20 && n > 1)
    r += 12345 / (n - 1) - in[77 % n];
  out[i] = r;
}
}
void conversions(double *in, size_t inBytes, double *out, size_t outBytes, int n) {
  EACH("conversions")
  double d = in[i];
  float f = float(d);
  double r = int8_t(d) + uint8_t(d < 0 ? -d : d) * 2.0 + int16_t(d * 3) + uint16_t(std::fabs(d)) + int(d) +
             unsigned(std::fabs(d) * 1e6) + int64_t(d * 1e6) + uint64_t(std::fabs(d) * 1e6);
  r += float(int(d)) + double(float(uint64_t(std::fabs(f) * 1e9))) + float(int64_t(d) * 1000003);
  r += bool(f) + (d ? 1 : 2) + (f == int(f)) + double(bool(int(f)));
  r += static_cast<double>(static_cast<_Float16>(f)) + static_cast<float>(static_cast<_Float16>(d));
  int k = d;
  k += 1.75;
  k *= 1.5f;
  r += k;
  long l = 5;
  l -= f;
  r += l + 'a' + true + 1.5f + 2.25 + 0x1p-3 + 1'000;
  out[i] = r;
}
}
// What is rounded correctly everywhere; the others are compared with a bound below.
void exactMath(double *in, size_t inBytes, double *out, size_t outBytes, int n) {
  EACH("exactMath")
  double d = in[i];
  float f = float(d);
  double r = std::sqrt(std::fabs(d)) + std::floor(d) + std::ceil(f) + std::trunc(d) + std::round(d) +
             std::rint(d) + std::nearbyint(f) + sqrtf(std::abs(f));
  r += std::fmin(d, 0.5) + std::fmax(f, 0.5f) + std::fma(d, d, 1.0) + std::copysign(2.0, d) +
       std::fdim(d, 1.0) + std::fmod(d, 0.75) + std::abs(d) + fabsf(f);
  r += std::isnan(d) + std::isinf(f) * 2 + std::isfinite(d) * 4 + std::signbit(f) * 8;
  r += std::lround(d) + std::llround(f) + std::lrint(d) + std::llrint(f) + std::isnan(f - f);
  r += std::min(d, 1.0) + std::max<float>(f, 2) + std::clamp(d, -1.0, 1.0);
  r += std::numeric_limits<float>::epsilon() + (d < std::numeric_limits<double>::infinity());
  out[i] = r;
}
}
void closeMath(double *in, size_t inBytes, double *out, size_t outBytes, int n) {
  EACH("closeMath")
  double d = in[i], p = std::fabs(d) + 0.125, q = 0.5 / (1 + p);
  double r = std::exp(q) + std::exp2(d / 8) + std::expm1(q) + std::log(p) + std::log2(p) + std::log10(p) +
             std::log1p(p) + std::pow(p, 1.25) + std::pow(p, 3);
  r += std::sin(d) + std::cos(d) + std::tan(q) + std::asin(q) + std::acos(q) + std::atan(d) +
       std::atan2(d, p) + std::sinh(q) + std::cosh(q) + std::tanh(d) + std::asinh(d) + std::acosh(1 + p) +
       std::atanh(q) + std::erf(d) + std::erfc(q) + std::cbrt(d) + std::hypot(d, p);
  r += expf(float(q)) + logf(float(p)) + sinf(float(d)) + cosf(float(d)) + powf(float(p), 0.5f) +
       hypotf(float(d), 1.0f);
  r += std::hypot(1e200 * p, 1e200) / 1e200 + std::hypot(1e-200 * p, 1e-200) * 1e200;
  out[i] = r;
}
}

// Powers of two: taken apart, put together, out of range in both directions.
void powers(double *in, size_t inBytes, double *out, size_t outBytes, int n) {
  EACH("powers")
  double v = in[i], whole;
  float f = float(v), part;
  int e = 0, g = 0;
  double r = std::frexp(v, &e) + std::frexp(f, &g) * 3 + e * 5 + g * 7 + frexpf(f * 1e-40f, &g) + g;
  r += std::frexp(v * 1e-310, &e);
  r += e + std::modf(v, &whole) * 11 + whole + modff(f, &part) * 13 + part;
  r += std::ldexp(v, i % 20 - 10) + ldexpf(f, -(i % 30)) + std::scalbn(v, 3);
  int big = (i % 5 - 2) * 600;
  out[i] = i % 4 == 0   ? std::ldexp(v, big)
           : i % 4 == 1 ? std::ldexp(f, big / 8 - 40)
           : i % 4 == 2 ? std::ldexp(v * 1e-300, -i)
                        : r;
}
}
void splitSpecial(double *in, size_t inBytes, double *out, size_t outBytes, int n) {
  EACH("splitSpecial")
  int e = 9;
  double whole, v = in[i];
  double fraction = std::frexp(v, &e), rest = std::modf(v, &whole);
  // What NaN looks like is nobody's business, nor the exponent of what is not finite.
  out[i] = std::isnan(v)   ? std::isnan(fraction) + std::isnan(rest) * 2 + std::isnan(whole) * 4
           : i % 4 == 0    ? fraction
           : i % 4 == 1    ? rest
           : i % 4 == 2    ? whole
           : std::isinf(v) ? std::ldexp(v, -3000)
                           : std::ldexp(v, 5000) + e;
}
}

int main() {
  int n = 300;
  std::vector<int64_t> v(n), w(n);
  for (int i = 0; i < n; ++i)
    v[i] = int64_t(uint64_t(i) * 0x9e3779b97f4a7c15ull) >> (i % 60);
  BOTH(integers, v, w);
  BOTH(operators, v, w);
  BOTH(bits, v, w);
  BOTH(divisions, v, w);
  std::vector<double> d(n), e(n);
  for (int i = 0; i < n; ++i)
    d[i] = (i * 37 % 101 - 50) * 0.375 + 0.0625;
  d[5] = 0.5, d[6] = 1.5, d[7] = -0.5, d[8] = -0.0, d[9] = 2.5;
  BOTH(conversions, d, e);
  BOTH(exactMath, d, e);
  BOTH(powers, d, e);
  std::vector<double> special(n);
  for (int i = 0; i < n; ++i) {
    const double values[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 5e-324, -2.5, 1e308, -1e-310};
    special[i] = values[i / 4 % 9];
  }
  BOTH(splitSpecial, special, e);
  size_t bytes = n * sizeof(double);
  std::vector<double> f(n);
  closeMath(d.data(), bytes, e.data(), bytes, n);
  __hetero_wait(
      __hetero_launch((void *)closeMath, 3, d.data(), bytes, f.data(), bytes, n, 1, f.data(), bytes));
  for (int i = 0; i < n; ++i)
    if (!(std::fabs(e[i] - f[i]) <= 2e-6 * (std::fabs(e[i]) + 1))) {
      std::printf("closeMath: %.17g instead of %.17g at %d\n", f[i], e[i], i);
      ++bad;
      break;
    }
  std::printf("%d bad\n", bad);
}
