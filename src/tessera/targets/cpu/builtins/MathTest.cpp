// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the math functions against the C library in a wider type and holds them to the bounds that
// README.md states. Single precision: every 1,031st bit pattern (every 257th with TESSERA_FULL=1); double:
// random patterns over the whole range and over the ranges of interest. The special values are checked
// against the C library's by class.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#define ONE(name)                                                                                            \
  extern "C" double tessera_##name(double);                                                                  \
  extern "C" float tessera_##name##f(float);
#define TWO(name)                                                                                            \
  extern "C" double tessera_##name(double, double);                                                          \
  extern "C" float tessera_##name##f(float, float);
// clang-format off
ONE(exp) ONE(exp2) ONE(exp10) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p) ONE(sin) ONE(cos) ONE(tan)
ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh) ONE(asinh) ONE(acosh) ONE(atanh) ONE(erf) ONE(erfc)
ONE(cbrt) ONE(rint) ONE(nearbyint) ONE(roundeven) ONE(trunc) ONE(floor) ONE(ceil) ONE(round)
TWO(pow) TWO(atan2) TWO(hypot) TWO(fmod) TWO(remainder)
    // clang-format on
    extern "C" double tessera_fma(double, double, double);
extern "C" float tessera_fmaf(float, float, float);
extern "C" double tessera_ldexp(double, int);
extern "C" float tessera_ldexpf(float, int);
#undef ONE
#undef TWO

namespace {

template <typename To, typename From> To bitCast(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}
float fromBits(uint32_t u) { return bitCast<float>(u); }
double fromBits(uint64_t u) { return bitCast<double>(u); }

bool full() { return std::getenv("TESSERA_FULL") != nullptr; }

/// The error in units of the last place of the result's type, at the reference's magnitude. Infinite where
/// the classes differ (NaN, infinity, the sign of zero).
template <typename T, typename Wide> double ulps(T ours, Wide wide) {
  T want = static_cast<T>(wide);
  if (std::isnan(want) || std::isnan(ours))
    return std::isnan(want) == std::isnan(ours) ? 0 : INFINITY;
  if (ours == 0 && want == 0 && std::signbit(ours) != std::signbit(want))
    return INFINITY;
  if (std::isinf(ours) && ours == want)
    return 0;
  if (std::isinf(ours) || std::isinf(want)) {
    // One side of the overflow threshold: as far from it as the finite one is from the largest number.
    T largest = std::numeric_limits<T>::max();
    T finite = std::isinf(ours) ? want : ours;
    return std::fabs(finite) == largest ? 1 : INFINITY;
  }
  int exponent = wide == 0 ? std::numeric_limits<T>::min_exponent : std::ilogb(wide) + 1;
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits;
  return double(std::fabs(static_cast<Wide>(ours) - wide) / std::ldexp(Wide(1), exponent));
}

template <typename T> struct Worst {
  double error = 0;
  T x = 0, y = 0;
  void see(double e, T a, T b = 0) {
    if (e > error)
      error = e, x = a, y = b;
  }
  void report(const char *name, double bound) {
    std::printf("%-12s %8.3f ulp, bound %.2f, worst at %a %a\n", name, error, bound, double(x), double(y));
    EXPECT_LE(error, bound) << name << " at " << std::hexfloat << x << ", " << y;
  }
};

void sweep(const char *name, float (*ours)(float), double (*reference)(double), double bound) {
  Worst<float> worst;
  uint64_t step = full() ? 257 : 1031;
  auto see = [&](uint32_t u) {
    float x = fromBits(u);
    worst.see(ulps(ours(x), reference(double(x))), x);
  };
  for (uint64_t u = 0; u < (1ull << 32); u += step)
    see(uint32_t(u));
  // Around zero, one, the ends of the ranges, and multiples of pi/4.
  for (uint32_t base : {0u, 0x00800000u, 0x3f800000u, 0x7f7fffffu, 0x7f800000u, 0x42b17218u, 0x42cff1b4u,
                        0x3f000000u, 0x3f3504f3u, 0x3fb504f3u, 0x41200000u, 0x43000000u, 0x40000000u})
    for (int d = -40; d <= 40; ++d)
      for (uint32_t sign : {0u, 0x80000000u})
        see((base + uint32_t(d)) ^ sign);
  for (int k = 1; k < 20000; ++k)
    for (int d = -1; d <= 1; ++d)
      see(bitCast<uint32_t>(float(k * 0.78539816339744831)) + uint32_t(d));
  worst.report(name, bound);
}

std::vector<double> samples64() {
  std::vector<double> v;
  std::mt19937_64 random(20261115);
  int n = full() ? 2000000 : 200000;
  for (int i = 0; i < n; ++i)
    v.push_back(fromBits(uint64_t(random())));
  std::uniform_real_distribution<double> unit(-1, 1);
  for (double range : {1.0, 2.0, 10.0, 50.0, 800.0, 1e6, 1e10})
    for (int i = 0; i < n; ++i)
      v.push_back(range * unit(random));
  // 1 +- 2^-k, +-2^-k, and what lies around them.
  for (int k = 0; k < 1074; ++k)
    for (int d = -2; d <= 2; ++d)
      for (double s : {1.0, -1.0}) {
        v.push_back(s * fromBits(bitCast<uint64_t>(std::ldexp(1.0, -k)) + uint64_t(d)));
        if (k < 53)
          v.push_back(s * (1 + std::ldexp(1.0, -k)) + d * 0x1p-52),
              v.push_back(s * (1 - std::ldexp(1.0, -k)) + d * 0x1p-52);
      }
  for (int k = 1; k < 100000; ++k)
    v.push_back(k * 0.78539816339744831), v.push_back(std::nextafter(k * 0.78539816339744831, 0));
  for (double special : {0.0,
                         1.0,
                         0.5,
                         0.75,
                         709.782712893384,
                         709.7827128933841,
                         710.4758600739439,
                         745.1332191019412,
                         1024.0,
                         1074.0,
                         1075.0,
                         22.0,
                         0x1p20,
                         0x1p52,
                         0x1p53,
                         0x1p1000,
                         0x1.921fb54442d18p+0,
                         0x1.6ac5b262ca1ffp+849 /* near a multiple of pi/2 */,
                         5.319372648326541e255,
                         26.54,
                         27.226,
                         1.7976931348623157e308,
                         4.9e-324,
                         2.2250738585072014e-308})
    for (double s : {1.0, -1.0})
      for (int d = -3; d <= 3; ++d)
        v.push_back(s * fromBits(bitCast<uint64_t>(special) + uint64_t(d)));
  v.push_back(INFINITY), v.push_back(-INFINITY), v.push_back(NAN), v.push_back(0.0), v.push_back(-0.0);
  return v;
}

void sweep(const char *name, double (*ours)(double), long double (*reference)(long double), double bound) {
  static const std::vector<double> samples = samples64();
  Worst<double> worst;
  for (double x : samples)
    worst.see(ulps(ours(x), reference(static_cast<long double>(x))), x);
  worst.report(name, bound);
}

template <typename T, typename Wide, typename U>
void sweepTwo(const char *name, T (*ours)(T, T), Wide (*reference)(Wide, Wide), double bound, T narrow) {
  Worst<T> worst;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<T> unit(-1, 1), positive(0, 1);
  int n = full() ? 5000000 : 500000;
  auto see = [&](T x, T y) { worst.see(ulps(ours(x, y), reference(Wide(x), Wide(y))), x, y); };
  for (int i = 0; i < n; ++i) {
    see(fromBits(U(random())), fromBits(U(random())));
    see(narrow * positive(random), narrow * unit(random));
    see(narrow * unit(random), narrow * unit(random));
    see(1 + unit(random) / 1024, 1000 * unit(random));
    see(narrow * unit(random), T(int(random() % 41) - 20));
    see(fromBits(U(random())), unit(random));
  }
  T inf = std::numeric_limits<T>::infinity(), tiny = std::numeric_limits<T>::denorm_min();
  T specials[] = {0,
                  T(-0.0),
                  1,
                  -1,
                  2,
                  -2,
                  T(0.5),
                  T(-0.5),
                  3,
                  -3,
                  T(2.5),
                  inf,
                  -inf,
                  T(NAN),
                  tiny,
                  -tiny,
                  std::numeric_limits<T>::max(),
                  -std::numeric_limits<T>::max(),
                  std::numeric_limits<T>::min(),
                  T(1e15),
                  T(-1e15),
                  T(16777215),
                  T(16777216),
                  T(9007199254740991.0)};
  for (T a : specials)
    for (T b : specials)
      see(a, b);
  worst.report(name, bound);
}

// clang-format off
// Function, bound in single precision, bound in double.
#define BOUNDS                                                                                                         \
  X(exp, 1.0, 1.0) X(exp2, 1.0, 1.0) X(exp10, 0.6, 1.0) X(expm1, 0.6, 1.25) X(log, 1.0, 1.0) X(log2, 0.6, 1.25)        \
  X(log10, 0.6, 1.25) X(log1p, 0.6, 1.0) X(sin, 0.6, 1.0) X(cos, 0.6, 1.0) X(tan, 0.6, 1.25) X(asin, 0.6, 1.0)         \
  X(acos, 0.6, 1.0) X(atan, 0.6, 1.0) X(sinh, 0.6, 1.75) X(cosh, 0.6, 1.5) X(tanh, 1.25, 1.0) X(asinh, 0.6, 1.0)       \
  X(acosh, 0.6, 1.0) X(atanh, 0.6, 1.0) X(erf, 0.6, 1.5) X(erfc, 0.6, 2.0) X(cbrt, 0.6, 1.0)
// clang-format on

// Not in every C library's wide type.
long double exp10Reference(long double x) { return ::exp10l(x); }
double exp10Narrow(double x) { return double(::exp10l(x)); }

#define X(name, single, wide)                                                                                \
  TEST(Math32, name) {                                                                                       \
    double (*reference)(double) = [](double x) { return Reference::name(x); };                               \
    sweep(#name "f", tessera_##name##f, reference, single);                                                  \
  }                                                                                                          \
  TEST(Math64, name) {                                                                                       \
    long double (*reference)(long double) = [](long double x) { return Reference::name(x); };                \
    sweep(#name, tessera_##name, reference, wide);                                                           \
  }
struct Reference {
#define R(name)                                                                                              \
  static double name(double x) { return std::name(x); }                                                      \
  static long double name(long double x) { return std::name(x); }
  // clang-format off
  R(exp) R(exp2) R(expm1) R(log) R(log2) R(log10) R(log1p) R(sin) R(cos) R(tan) R(asin) R(acos) R(atan) R(sinh) R(cosh)
  R(tanh) R(asinh) R(acosh) R(atanh) R(erf) R(erfc) R(cbrt)
// clang-format on
#undef R
          static double exp10(double x) {
    return exp10Narrow(x);
  }
  static long double exp10(long double x) { return exp10Reference(x); }
};
BOUNDS
#undef X

// The short forms of the mode `fast`, as compiled for any CPU and, where this one has it, with fused
// multiply-add.
using Fast = float (*)(float);
extern "C" float tessera___tessera_fast_expf(float), tessera___tessera_fast_tanhf(float),
    tessera___tessera_fast_erff(float), native___tessera_fast_expf(float), native___tessera_fast_tanhf(float),
    native___tessera_fast_erff(float);

void sweepFast(const char *name, Fast ours, double (*reference)(double), double bound) {
  Worst<float> worst;
  uint64_t step = full() ? 257 : 1031;
  for (uint64_t u = 0; u < (1ull << 32); u += step) {
    float x = fromBits(uint32_t(u));
    double want = reference(x);
    float got = ours(x);
    // Subnormal results may be zero.
    if (!(got == 0 && std::fabs(want) < 0x1p-126))
      worst.see(ulps(got, want), x);
  }
  worst.report(name, bound);
  EXPECT_EQ(ours(0.0f), float(reference(0)));
  for (float end : {INFINITY, -INFINITY})
    EXPECT_LE(ulps(ours(end), reference(end)), bound);
  EXPECT_TRUE(std::isnan(ours(NAN)));
}
TEST(Fast32, exp) {
  sweepFast("fast expf", tessera___tessera_fast_expf, std::exp, 2.0);
  sweepFast("fast expf, native", native___tessera_fast_expf, std::exp, 2.0);
}
TEST(Fast32, tanh) {
  sweepFast("fast tanhf", tessera___tessera_fast_tanhf, std::tanh, 7.0);
  sweepFast("fast tanhf, native", native___tessera_fast_tanhf, std::tanh, 7.0);
}
TEST(Fast32, erf) {
  sweepFast("fast erff", tessera___tessera_fast_erff, std::erf, 8.0);
  sweepFast("fast erff, native", native___tessera_fast_erff, std::erf, 8.0);
}

TEST(Math32, pow) { sweepTwo<float, double, uint32_t>("powf", tessera_powf, std::pow, 0.6, 20); }
TEST(Math64, pow) { sweepTwo<double, long double, uint64_t>("pow", tessera_pow, std::pow, 1.0, 200); }
TEST(Math32, atan2) { sweepTwo<float, double, uint32_t>("atan2f", tessera_atan2f, std::atan2, 0.6, 20); }
TEST(Math64, atan2) { sweepTwo<double, long double, uint64_t>("atan2", tessera_atan2, std::atan2, 1.0, 200); }
TEST(Math32, hypot) { sweepTwo<float, double, uint32_t>("hypotf", tessera_hypotf, std::hypot, 0.6, 20); }
TEST(Math64, hypot) { sweepTwo<double, long double, uint64_t>("hypot", tessera_hypot, std::hypot, 1.0, 200); }
TEST(Math32, fmod) { sweepTwo<float, double, uint32_t>("fmodf", tessera_fmodf, std::fmod, 0, 20); }
TEST(Math64, fmod) { sweepTwo<double, double, uint64_t>("fmod", tessera_fmod, std::fmod, 0, 200); }
TEST(Math32, remainder) {
  sweepTwo<float, double, uint32_t>("remainderf", tessera_remainderf, std::remainder, 0, 20);
}
TEST(Math64, remainder) {
  sweepTwo<double, double, uint64_t>("remainder", tessera_remainder, std::remainder, 0, 200);
}

TEST(Exact, rounding) {
#define X(name)                                                                                              \
  sweep(#name "f", tessera_##name##f, static_cast<double (*)(double)>(::name), 0);                           \
  sweep(#name, tessera_##name, static_cast<long double (*)(long double)>(::name##l), 0);
  X(rint) X(nearbyint) X(roundeven) X(trunc) X(floor) X(ceil) X(round)
#undef X
}

template <typename T, typename U, typename F, typename G> void checkFma(F ours, G reference) {
  std::mt19937_64 random(11);
  int n = full() ? 20000000 : 2000000;
  const int width = sizeof(T) == 4 ? 23 : 52, top = sizeof(T) == 4 ? 254 : 2046;
  auto number = [&](int exponent) {
    U fraction = U(random()) & ((U(1) << width) - 1);
    // Few bits set now and then, so that ties occur.
    if (random() % 4 == 0)
      fraction &= ~((U(1) << (random() % width)) - 1);
    exponent = std::min(std::max(exponent, 0), top);
    return fromBits(U(fraction | U(exponent) << width | U(random() & 1) << (sizeof(T) * 8 - 1)));
  };
  int bad = 0;
  auto see = [&](T x, T y, T z) {
    T a = ours(x, y, z), b = reference(x, y, z);
    if (bitCast<U>(a) != bitCast<U>(b) && !(std::isnan(a) && std::isnan(b)) && bad++ < 5)
      ADD_FAILURE() << std::hexfloat << x << " * " << y << " + " << z << " is " << b << ", not " << a;
  };
  int bias = top / 2;
  for (int i = 0; i < n; ++i) {
    int ex = int(random() % (top + 1)), ey = int(random() % (top + 1));
    int ez = ex + ey - bias + int(random() % (3 * width)) - 3 * width / 2;
    see(number(ex), number(ey), number(ez));
    see(number(bias + int(random() % 4)), number(bias), number(bias + int(random() % 6)));
    T x = number(bias), y = number(bias);
    see(x, y, T(-(x * y)));
  }
  T inf = std::numeric_limits<T>::infinity();
  T specials[] = {0,
                  T(-0.0),
                  1,
                  -1,
                  inf,
                  -inf,
                  T(NAN),
                  std::numeric_limits<T>::max(),
                  -std::numeric_limits<T>::max(),
                  std::numeric_limits<T>::min(),
                  std::numeric_limits<T>::denorm_min(),
                  -std::numeric_limits<T>::denorm_min()};
  for (T a : specials)
    for (T b : specials)
      for (T c : specials)
        see(a, b, c);
}
TEST(Exact, fma) {
  checkFma<float, uint32_t>(tessera_fmaf, [](float x, float y, float z) { return std::fma(x, y, z); });
  checkFma<double, uint64_t>(tessera_fma, [](double x, double y, double z) { return std::fma(x, y, z); });
}

TEST(Exact, ldexp) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 1000000; ++i) {
    double x = fromBits(uint64_t(random()));
    float f = fromBits(uint32_t(random()));
    int k = int(random() % 4400) - 2200, j = int(random() % 700) - 350;
    if (!std::isnan(x)) {
      ASSERT_EQ(tessera_ldexp(x, k), std::ldexp(x, k)) << x << " " << k;
    }
    if (!std::isnan(f)) {
      ASSERT_EQ(tessera_ldexpf(f, j), std::ldexp(f, j)) << f << " " << j;
    }
  }
  ASSERT_EQ(tessera_ldexp(INFINITY, -3000), INFINITY);
  ASSERT_TRUE(std::signbit(tessera_ldexp(-0.0, 5)));
}

} // namespace
