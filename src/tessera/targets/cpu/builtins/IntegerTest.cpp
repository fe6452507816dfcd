// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The integer, half-precision and memory functions against the host compiler's own.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

typedef __int128 Int;
typedef unsigned __int128 Unsigned;

extern "C" {
Unsigned tessera___udivti3(Unsigned, Unsigned);
Unsigned tessera___umodti3(Unsigned, Unsigned);
Unsigned tessera___udivmodti4(Unsigned, Unsigned, Unsigned *);
Int tessera___divti3(Int, Int);
Int tessera___modti3(Int, Int);
Int tessera___multi3(Int, Int);
Int tessera___muloti4(Int, Int, int *);
double tessera___floattidf(Int);
double tessera___floatuntidf(Unsigned);
float tessera___floattisf(Int);
float tessera___floatuntisf(Unsigned);
Int tessera___fixdfti(double);
Unsigned tessera___fixunsdfti(double);
Int tessera___fixsfti(float);
Unsigned tessera___fixunssfti(float);
int tessera___popcountdi2(int64_t);
int64_t tessera___tessera_ipow(int64_t, int64_t);
float tessera___gnu_h2f_ieee(uint16_t);
uint16_t tessera___gnu_f2h_ieee(float);
_Float16 tessera___truncdfhf2(double);
__bf16 tessera___truncsfbf2(float);
__bf16 tessera___truncdfbf2(double);
_Float16 tessera___floattihf(Int);
Int tessera___fixhfti(_Float16);
void *tessera_memcpy(void *, const void *, size_t);
void *tessera_memmove(void *, const void *, size_t);
void *tessera_memset(void *, int, size_t);
int tessera_memcmp(const void *, const void *, size_t);
}

namespace {

template <typename To, typename From> To bitCast(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}

std::mt19937_64 random64(3);
Unsigned number() {
  Unsigned x = Unsigned(random64()) << 64 | random64();
  return x >> (random64() % 128);
}

TEST(Integer, arithmetic) {
  for (int i = 0; i < 300000; ++i) {
    Unsigned a = number(), b = number();
    Int c = random64() & 1 ? -Int(a) : Int(a), d = random64() & 1 ? -Int(b) : Int(b);
    if (b) {
      ASSERT_TRUE(tessera___udivti3(a, b) == a / b && tessera___umodti3(a, b) == a % b);
      Unsigned rest;
      ASSERT_TRUE(tessera___udivmodti4(a, b, &rest) == a / b && rest == a % b);
      bool fits = !(d == -1 && c == Int(Unsigned(1) << 127));
      ASSERT_TRUE(!fits || (tessera___divti3(c, d) == c / d && tessera___modti3(c, d) == c % d));
    }
    ASSERT_TRUE(tessera___multi3(c, d) == Int(Unsigned(c) * Unsigned(d)));
    Unsigned limit = (Unsigned(1) << 127) - ((c < 0) == (d < 0)), mc = c < 0 ? -Unsigned(c) : c,
             md = d < 0 ? -Unsigned(d) : d;
    int overflow, want = mc && md > limit / mc;
    ASSERT_TRUE(tessera___muloti4(c, d, &overflow) == Int(Unsigned(c) * Unsigned(d)));
    ASSERT_EQ(overflow, want);
    ASSERT_EQ(tessera___popcountdi2(int64_t(a)), __builtin_popcountll(uint64_t(a)));
  }
}

TEST(Integer, conversions) {
  for (int i = 0; i < 300000; ++i) {
    Unsigned a = number();
    Int c = random64() & 1 ? -Int(a) : Int(a);
    ASSERT_EQ(tessera___floatuntidf(a), double(a));
    ASSERT_EQ(tessera___floatuntisf(a), float(a));
    ASSERT_EQ(tessera___floattidf(c), double(c));
    ASSERT_EQ(tessera___floattisf(c), float(c));
    double d = std::ldexp(double(c), -int(random64() % 64)), m = std::fabs(d);
    if (m < 0x1p126) {
      ASSERT_TRUE(tessera___fixdfti(d) == Int(d) && tessera___fixunsdfti(m) == Unsigned(m));
      ASSERT_TRUE(tessera___fixsfti(float(d)) == Int(float(d)) &&
                  tessera___fixunssfti(float(m)) == Unsigned(float(m)));
    }
    int64_t small = int64_t(random64() % 140000) - 70000;
    ASSERT_EQ(double(float(tessera___floattihf(small))), double(float(_Float16(double(small))))) << small;
  }
  EXPECT_TRUE(tessera___fixdfti(1e300) == Int(~(Unsigned(1) << 127)));
}

bool same(float a, float b) { return bitCast<uint32_t>(a) == bitCast<uint32_t>(b); }

TEST(Half, conversions) {
  for (uint32_t u = 0; u < 65536; ++u) {
    float want = float(bitCast<_Float16>(uint16_t(u))), ours = tessera___gnu_h2f_ieee(uint16_t(u));
    ASSERT_TRUE(same(want, ours) || (std::isnan(want) && std::isnan(ours))) << std::hex << u;
    if (!std::isnan(want)) {
      ASSERT_EQ(tessera___gnu_f2h_ieee(ours), u);
      // Ties, and their neighbours on both sides.
      for (int d = -1; d <= 1; ++d) {
        float x = bitCast<float>(bitCast<uint32_t>(want) + 0x1000u + uint32_t(d));
        ASSERT_TRUE(std::isnan(x) || tessera___gnu_f2h_ieee(x) == bitCast<uint16_t>(_Float16(x))) << x;
        double y = double(bitCast<float>(bitCast<uint32_t>(want) + 0x1000u));
        y = d < 0 ? std::nextafter(y, -1e300) : d > 0 ? std::nextafter(y, 1e300) : y;
        ASSERT_TRUE(std::isnan(y) ||
                    bitCast<uint16_t>(tessera___truncdfhf2(y)) == bitCast<uint16_t>(_Float16(y)))
            << y;
      }
      if (std::fabs(want) < 65536) {
        ASSERT_TRUE(tessera___fixhfti(bitCast<_Float16>(uint16_t(u))) == Int(want));
      }
    }
  }
  for (int i = 0; i < 1000000; ++i) {
    float x = bitCast<float>(uint32_t(random64()));
    double y = bitCast<double>(uint64_t(random64()));
    if (std::isnan(x) || std::isnan(y))
      continue;
    ASSERT_EQ(tessera___gnu_f2h_ieee(x), bitCast<uint16_t>(_Float16(x)));
    uint32_t u = bitCast<uint32_t>(x), rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
    ASSERT_EQ(bitCast<uint16_t>(tessera___truncsfbf2(x)), rounded);
    // Doubles that are exact in single precision, or just beside a tie.
    uint64_t tie = bitCast<uint64_t>(double(bitCast<float>((u & 0xffff0000u) | 0x8000u)));
    double above = bitCast<double>(tie + 1), below = bitCast<double>(tie - 1);
    if (std::isfinite(above) && std::fabs(above) > 1e-30 && std::fabs(above) < 1e38) {
      EXPECT_EQ(bitCast<uint16_t>(tessera___truncdfbf2(above)), (u >> 16) + 1);
      EXPECT_EQ(bitCast<uint16_t>(tessera___truncdfbf2(below)), u >> 16);
    }
  }
  EXPECT_TRUE(std::isnan(tessera___gnu_h2f_ieee(tessera___gnu_f2h_ieee(NAN))));
  EXPECT_EQ(bitCast<uint16_t>(tessera___truncsfbf2(NAN)) & 0x7fff, 0x7fc0);
}

TEST(Memory, functions) {
  std::vector<unsigned char> a(400), b(400), c(400);
  for (int i = 0; i < 20000; ++i) {
    for (size_t k = 0; k < a.size(); ++k)
      a[k] = b[k] = c[k] = static_cast<unsigned char>(random64());
    size_t n = random64() % 150, from = random64() % 200, to = random64() % 200;
    tessera_memmove(&a[to], &a[from], n);
    std::memmove(&b[to], &b[from], n);
    ASSERT_EQ(a, b);
    tessera_memcpy(&a[to], &c[from], n);
    std::memcpy(&b[to], &c[from], n);
    ASSERT_EQ(a, b);
    ASSERT_EQ(tessera_memcmp(&a[from], &c[to], n) < 0, std::memcmp(&a[from], &c[to], n) < 0);
    ASSERT_EQ(tessera_memcmp(&a[from], &b[from], n), 0);
    tessera_memset(&a[from], i, n);
    std::memset(&b[from], i, n);
    ASSERT_EQ(a, b);
  }
}

} // namespace

TEST(Integer, Power) {
  EXPECT_EQ(tessera___tessera_ipow(3, 0), 1);
  EXPECT_EQ(tessera___tessera_ipow(0, 0), 1);
  EXPECT_EQ(tessera___tessera_ipow(-3, 5), -243);
  EXPECT_EQ(tessera___tessera_ipow(2, 63), INT64_MIN);
  EXPECT_EQ(tessera___tessera_ipow(2, 64), 0);
  EXPECT_EQ(tessera___tessera_ipow(1, -7), 1);
  EXPECT_EQ(tessera___tessera_ipow(-1, -7), -1);
  EXPECT_EQ(tessera___tessera_ipow(-1, INT64_MIN), 1);
  EXPECT_EQ(tessera___tessera_ipow(5, -1), 0);
}
