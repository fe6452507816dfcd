// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single precision. The functions that fill inner loops (exp, exp2, log, tanh) work in single precision
// throughout, at full vector width; the others work in double, which needs no second pass for lost digits and
// costs half the lanes. The bounds are in README.md.
#include "Coefficients.h"
#include "Support.h"

//===--- In single precision
//----------------------------------------------------------------------------------===//

typedef struct {
  float y;
  i32 k;
} ScaledF;

HELPER ScaledF expPartsF(float x) {
  float c = x > 90.0f ? 90.0f : x;
  c = c < -110.0f ? -110.0f : c;
  float k = near32(c * 0x1.715476p+0f);
  float head = c - k * LN2F_0; // exact: LN2F_0 has 15 bits
  float r = head - k * LN2F_1;
  ScaledF s = {1.0f + (r + r * r * POLY_EXPF(r)), int32(k)};
  return s;
}

MATH float FN(expf)(float x) {
  ScaledF s = expPartsF(x);
  return scale32(s.y, s.k);
}

MATH float FN(exp2f)(float x) {
  float c = x > 130.0f ? 130.0f : x;
  c = c < -155.0f ? -155.0f : c;
  float k = near32(c);
  float f = c - k, r = f * 0x1.62e43p-1f;
  float low = f * -0x1.05c61p-29f; // ln 2 - its head
  float y = 1.0f + (r + (r * r * POLY_EXPF(r) + low));
  return scale32(y, int32(k));
}

MATH float FN(logf)(float x) {
  int tiny = x < 0x1p-126f;
  u32 u = bits32(tiny ? x * 0x1p25f : x) + (0x3f800000u - 0x3f3504f3u);
  float k = (float)((i32)(u >> 23) - (tiny ? 152 : 127));
  float f = float32((u & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  float s = f / (2.0f + f), z = s * s;
  float y = k * LN2F_0 + (f - (s * (f - z * POLY_LOGF(z)) - k * LN2F_1));
  y = x > 0.0f ? y : (x == 0.0f ? -INF32 : NAN32);
  return x == INF32 ? x : y;
}

MATH float FN(tanhf)(float x) {
  float a = abs32(x), c = a > 1.0f ? 1.0f : a, z = c * c;
  float small = c + c * (z * POLY_TANHF(z));
  ScaledF s = expPartsF(2.0f * (a > 10.0f ? 10.0f : a));
  float big = 1.0f - 2.0f / (s.y * power32(s.k) + 1.0f);
  float y = a < 1.0f ? small : big;
  return sign32(a == a ? y : a, x);
}

//===--- In double: exponentials and logarithms
//---------------------------------------------------------------===//

HELPER double exp32(double x) {
  double c = x > 200.0 ? 200.0 : x;
  c = c < -300.0 ? -300.0 : c;
  double k = near64(c * LOG2ED_0);
  double r = c - k * LN2D_0;
  return (1.0 + (r + r * r * POLY_EXP32(r))) * power64(int64(k));
}

HELPER double exp2of32(double x) {
  double c = x > 300.0 ? 300.0 : x;
  c = c < -400.0 ? -400.0 : c;
  double k = near64(c), r = (c - k) * LN2D_0;
  return (1.0 + (r + r * r * POLY_EXP32(r))) * power64(int64(k));
}

HELPER double expm1of32(double x) {
  double c = x > 200.0 ? 200.0 : x;
  c = c < -40.0 ? -40.0 : c;
  double k = near64(c * LOG2ED_0);
  double r = c - k * LN2D_0;
  double e = r + r * r * POLY_EXPM132(r), s = power64(int64(k));
  return s * e + (s - 1.0);
}

// log(x) / ln 2 in two parts: the exponent, and log(1 + f). For x positive and far from the ends of double's
// range.
typedef struct {
  double k, l;
} Log32;
HELPER Log32 log32(double x) {
  u64 u = bits64(x) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  double f = float64((u & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
  double s = f / (2.0 + f), z = s * s;
  Log32 r = {float64((u >> 52) | 0x4330000000000000ull) - (0x1p52 + 1023.0), s * (2.0 + z * POLY_LOG32(z))};
  return r;
}
HELPER double ln32(double x) {
  Log32 l = log32(x);
  return l.k * LN2D_0 + l.l;
}
HELPER float logSpecialF(float x, double y) {
  float r = x > 0.0f ? (float)y : (x == 0.0f ? -INF32 : NAN32);
  return x == INF32 ? x : r;
}

MATH float FN(exp10f)(float x) {
  double c = x > 50.0f ? 50.0 : (double)x;
  c = c < -60.0 ? -60.0 : c;
  return (float)exp32(c * LN10D_0);
}

MATH float FN(expm1f)(float x) {
  float y = (float)expm1of32(x);
  return x == 0.0f ? x : y;
}

MATH float FN(log2f)(float x) {
  Log32 l = log32(x);
  return logSpecialF(x, l.k + l.l * LOG2ED_0);
}

MATH float FN(log10f)(float x) {
  Log32 l = log32(x);
  return logSpecialF(x, l.k * (LOG10_2_0 + LOG10_2_1) + l.l * (LOG10E_0 + LOG10E_1));
}

// log(1 + x) for double x > -1; the sum may round, and what it loses is added back.
HELPER double log1pOf32(double x) {
  double u = 1.0 + x, lost = x - (u - 1.0);
  lost = x > 0x1p50 ? 0.0 : lost;
  return ln32(u) + lost / u;
}

MATH float FN(log1pf)(float x) {
  float y = (float)log1pOf32(x);
  y = abs32(x) < 0x1p-26f ? x : y;
  y = x > -1.0f ? y : (x == -1.0f ? -INF32 : NAN32);
  return x == INF32 ? x : y;
}

MATH float FN(sinhf)(float x) {
  double a = abs64(x), e = expm1of32(a);
  float y = (float)(0.5 * (e + e / (e + 1.0)));
  return x == 0.0f ? x : sign32(y, x);
}

MATH float FN(coshf)(float x) {
  double e = exp32(abs64(x));
  return (float)(0.5 * (e + 1.0 / e));
}

MATH float FN(asinhf)(float x) {
  double a = abs64(x), q = a * a;
  double y = log1pOf32(a + q / (1.0 + __builtin_sqrt(1.0 + q)));
  float r = a < 0x1p-13 ? (float)(a - a * q * (1.0 / 6.0)) : (float)y;
  return sign32(a < INF64 ? r : (float)a, x);
}

MATH float FN(acoshf)(float x) {
  double t = (double)x - 1.0;
  double y = log1pOf32(t + __builtin_sqrt(t * (t + 2.0)));
  float r = x >= 1.0f ? (float)y : NAN32;
  return x == INF32 ? x : r;
}

MATH float FN(atanhf)(float x) {
  double a = abs64(x);
  double y = 0.5 * log1pOf32(2.0 * a / (1.0 - a));
  float r = a < 0x1p-13 ? (float)(a + a * a * a * (1.0 / 3.0)) : (float)y;
  r = a < 1.0 ? r : (a == 1.0 ? INF32 : NAN32);
  return sign32(r, x);
}

MATH float FN(powf)(float x, float y) {
  double a = abs64(x), b = abs64(y);
  Log32 l = log32(a);
  double r64 = exp2of32((l.k + l.l * LOG2ED_0) * (double)y);
  float r = (float)r64;
  r = a == 0.0 ? (y < 0.0f ? INF32 : 0.0f) : r;
  r = a == INF64 ? (y < 0.0f ? 0.0f : INF32) : r;
  int integer = (b >= 0x1p23) | ((b + 0x1p52) - 0x1p52 == b);
  int odd = integer & (b < 0x1p24) & ((0.5 * b + 0x1p52) - 0x1p52 != 0.5 * b);
  int negative = (i32)bits32(x) < 0;
  r = negative & odd ? -r : r;
  r = (x < 0.0f) & (a < INF64) & !integer ? NAN32 : r;
  r = (x != x) | (y != y) ? NAN32 : r;
  r = (a == 1.0) & (b == INF64) ? 1.0f : r;
  return (x == 1.0f) | (y == 0.0f) ? 1.0f : r;
}

MATH float FN(cbrtf)(float x) {
  double a = abs64(x);
  u64 u = bits64(a);
  u32 e = (u32)(u >> 52), third = e * 43691u >> 17, rest = e - 3u * third;
  double m = float64((u & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
  double y = POLY_CBRT(m) * (rest == 0 ? 1.0 : rest == 1 ? 0x1.428a2f98d728bp+0 : 0x1.965fea53d6e3dp+0);
  double v = m * (rest == 0 ? 1.0 : rest == 1 ? 2.0 : 4.0);
  y = y - (y * y * y - v) / (3.0 * y * y);
  float r = (float)(y * power64((i64)third - 341));
  return sign32(a < INF64 && a > 0.0 ? r : (float)a, x);
}

MATH float FN(hypotf)(float x, float y) {
  double a = x, b = y;
  float r = (float)__builtin_sqrt(a * a + b * b);
  return (abs32(x) == INF32) | (abs32(y) == INF32) ? INF32 : r;
}

//===--- In double: circular functions
//------------------------------------------------------------------------===//

typedef struct {
  double r;
  u64 q;
} AngleF;

// The nearest multiple of pi/2 is taken away by way of x * 2/pi. For large x the leading bits of 2/pi give
// multiples of 4; each of five ranges of x has its own rest of 2/pi, in two parts that multiply exactly and a
// third.
HELPER AngleF reduceF(float x) {
  const double a[] = {TWO_OVER_PI_A}, b[] = {TWO_OVER_PI_B}, c[] = {TWO_OVER_PI_C};
  float m = abs32(x);
  int r1 = m >= 0x1p26f, r2 = m >= 0x1p52f, r3 = m >= 0x1p78f, r4 = m >= 0x1p104f;
#define PICK(t) (r4 ? t[4] : r3 ? t[3] : r2 ? t[2] : r1 ? t[1] : t[0])
  double d = x, pa = d * PICK(a), pb = d * PICK(b), pc = d * PICK(c);
#undef PICK
  double ka = near64(pa), kb = near64(pb);
  double f = (pa - ka) + (pb - kb);
  double kc = near64(f + pc);
  AngleF v = {((f - kc) + pc) * PIO2D_0, (u64)(int64(ka) + int64(kb) + int64(kc))};
  return v;
}

HELPER double sinKernelF(double r) {
  double z = r * r;
  return r + r * (z * POLY_SIN32(z));
}
HELPER double cosKernelF(double r) {
  double z = r * r;
  return 1.0 - 0.5 * z + z * z * POLY_COS32(z);
}

MATH float FN(sinf)(float x) {
  AngleF v = reduceF(x);
  double y = v.q & 1 ? cosKernelF(v.r) : sinKernelF(v.r);
  float r = (float)(v.q & 2 ? -y : y);
  r = abs32(x) < INF32 ? r : NAN32;
  return x == 0.0f ? x : r;
}

MATH float FN(cosf)(float x) {
  AngleF v = reduceF(x);
  double y = v.q & 1 ? sinKernelF(v.r) : cosKernelF(v.r);
  float r = (float)((v.q + 1) & 2 ? -y : y);
  return abs32(x) < INF32 ? r : NAN32;
}

MATH float FN(tanf)(float x) {
  AngleF v = reduceF(x);
  double s = sinKernelF(v.r), c = cosKernelF(v.r);
  float r = (float)((v.q & 1 ? -c : s) / (v.q & 1 ? s : c));
  r = abs32(x) < INF32 ? r : NAN32;
  return x == 0.0f ? x : r;
}

HELPER double arcsineF(double a) {
  int big = a > 0.5;
  double z = big ? 0.5 * (1.0 - a) : a * a;
  double s = big ? __builtin_sqrt(z) : a;
  return s + s * (z * POLY_ASIN32(z));
}

MATH float FN(asinf)(float x) {
  double a = abs64(x), v = arcsineF(a);
  float y = (float)(a > 0.5 ? PIO2D_0 - 2.0 * v : v);
  return sign32(a <= 1.0 ? y : NAN32, x);
}

MATH float FN(acosf)(float x) {
  double a = abs64(x), v = arcsineF(a);
  float y = (float)(a > 0.5 ? (x < 0.0f ? 2.0 * PIO2D_0 - 2.0 * v : 2.0 * v) : PIO2D_0 - sign64(v, x));
  return a <= 1.0 ? y : NAN32;
}

HELPER double arctangentF(double a, double b) {
  int high = a > 2.4142135623730950 * b, middle = !high & (a > 0.41421356237309503 * b);
  double n = high ? -b : middle ? a - b : a, d = high ? a : middle ? a + b : b;
  double t = n / d, z = t * t;
  return (high ? PIO2D_0 : middle ? 0.5 * PIO2D_0 : 0.0) + (t + t * (z * POLY_ATAN32(z)));
}

MATH float FN(atanf)(float x) {
  double a = abs64(x);
  float y = (float)arctangentF(a, 1.0);
  return sign32(a == a ? y : (float)a, x);
}

MATH float FN(atan2f)(float y, float x) {
  double a = abs64(y), b = abs64(x);
  int both = (a == INF64) & (b == INF64), none = (a == 0.0) & (b == 0.0);
  double t = arctangentF(both ? 1.0 : a, both | none ? 1.0 : b);
  t = (i32)bits32(x) < 0 ? 2.0 * PIO2D_0 - t : t;
  t = (x != x) | (y != y) ? NAN64 : t;
  return sign32((float)t, y);
}

//===--- In double: the error function
//------------------------------------------------------------------------===//

HELPER double erfSmallF(double a) {
  double c = a > 1.0 ? 1.0 : a, z = c * c;
  return c + c * POLY_ERF32(z);
}
HELPER double erfcTailF(double a) {
  double c = a < 0.75 ? 0.75 : a > 10.5 ? 10.5 : a;
  double t = (c - 4.0) / (c + 4.0);
  return exp32(-(c * c)) * (POLY_ERFCX32(t) / (1.0 + 2.0 * c));
}

MATH float FN(erff)(float x) {
  double a = abs64(x);
  float y = (float)(a < 1.0 ? erfSmallF(a) : 1.0 - erfcTailF(a));
  return sign32(a == a ? y : (float)a, x);
}

MATH float FN(erfcf)(float x) {
  double a = abs64(x), s = erfSmallF(a), t = erfcTailF(a);
  double y = a < 0.75 ? 1.0 - (x < 0.0f ? -s : s) : x < 0.0f ? 2.0 - t : t;
  return x == x ? (float)y : x;
}
