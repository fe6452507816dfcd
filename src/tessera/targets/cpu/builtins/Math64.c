// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Double precision. Each function reduces its argument to a small interval, takes a polynomial of fit.py
// there, and puts the result back together; special values are selected at the end. The bounds are in
// README.md. The functions that work digit by digit (fmod, remainder, fma) are in Exact.c.
#include "Coefficients.h"
#include "Support.h"

//===--- Exponentials
//-----------------------------------------------------------------------------------------===//

typedef struct {
  double y;   // in [0.7, 1.42]
  i64 k;      // the value is y * 2^k
  double low; // what y lost by rounding
} Scaled;

// e^(x + tail) for a tail far below x's last place; x is clamped where the result is beyond all numbers
// anyway.
HELPER Scaled expParts(double x, double tail) {
  double c = x > 720.0 ? 720.0 : x;
  c = c < -760.0 ? -760.0 : c;
  double k = near64(c * LOG2ED_0);
  double head = c - k * LN2_0; // exact: LN2_0 has 32 bits
  double low = k * LN2_1 - tail;
  double r = head - low;
  double rest = (head - r) - low;
  double p = r * r * POLY_EXP(r) + rest;
  Pair e = fastSum(r, p), y = fastSum(1.0, e.hi);
  Scaled s = {y.hi, int64(k), y.lo + e.lo};
  return s;
}

MATH double FN(exp)(double x) {
  Scaled s = expParts(x, 0.0);
  return scale64(s.y, s.k);
}

HELPER double exp2Pair(double hi, double lo) {
  double c = hi > 1100.0 ? 1100.0 : hi;
  c = c < -1200.0 ? -1200.0 : c;
  double k = near64(c);
  double f = (c - k) + (c == hi ? lo : 0.0);
  // f * ln 2, the product of the two heads of 26 bits being exact.
  double h = float64(bits64(f) & 0xfffffffff8000000ull);
  double first = h * LN2H_0, second = h * LN2H_1 + (f - h) * LN2D_0;
  double r = first + second, rest = (first - r) + second;
  double y = 1.0 + (r + (r * r * POLY_EXP(r) + rest));
  return scale64(y, int64(k));
}

MATH double FN(exp2)(double x) { return exp2Pair(x, 0.0); }

MATH double FN(exp10)(double x) {
  double c = x > 320.0 ? 320.0 : x;
  c = c < -330.0 ? -330.0 : c;
  Pair p = twoProduct(c, LN10D_0);
  Scaled s = expParts(p.hi, p.lo + c * LN10D_1);
  return scale64(s.y, s.k);
}

// e^x - 1 as a pair, for x <= 710 or NaN.
HELPER Pair expm1Pair(double x) {
  double c = x < -50.0 ? -50.0 : x;
  c = c > 720.0 ? 720.0 : c;
  double k = near64(c * LOG2ED_0);
  double head = c - k * LN2_0, low = k * LN2_1;
  double r = head - low;
  double rest = (head - r) - low;
  Pair e = fastSum(r, r * r * POLY_EXPM1(r) + rest);
  // 2^k * (1 + e) - 1, at half its size so that 2^1024 does not occur.
  double s = power64(int64(k) - 1);
  Pair sum = twoSum(s - 0.5, s * e.hi);
  Pair big = fastSum(sum.hi, sum.lo + s * e.lo);
  big.hi *= 2.0;
  big.lo *= 2.0;
  Pair result = {k == 0.0 ? e.hi : big.hi, k == 0.0 ? e.lo : big.lo};
  return result;
}

MATH double FN(expm1)(double x) {
  Pair e = expm1Pair(x);
  double y = x > 710.0 ? INF64 : e.hi;
  return x == 0.0 ? x : y;
}

MATH double FN(sinh)(double x) {
  double a = abs64(x);
  Pair e = expm1Pair(a > 40.0 ? 40.0 : a);
  double d = e.hi + 1.0;
  double small = 0.5 * (e.hi + (e.lo + e.hi / d));
  Scaled s = expParts(a, 0.0);
  double y = a > 22.0 ? scale64(s.y, s.k - 1) : small;
  return a == 0.0 ? x : sign64(y, x);
}

MATH double FN(cosh)(double x) {
  Scaled s = expParts(abs64(x), 0.0);
  double h = scale64(s.y, s.k - 1);
  return h + 0.25 / h;
}

MATH double FN(tanh)(double x) {
  double a = abs64(x);
  Pair e = expm1Pair(a > 22.0 ? 44.0 : 2.0 * a);
  // e / (e + 2), with the quotient's own rounding taken back out.
  Pair d = twoSum(e.hi, 2.0);
  double q = e.hi / d.hi;
  Pair p = twoProduct(q, d.hi);
  double y = q + (((e.hi - p.hi) - p.lo) + (e.lo - q * (d.lo + e.lo))) / d.hi;
  return x == 0.0 ? x : sign64(y, x);
}

//===--- Logarithms
//-------------------------------------------------------------------------------------------===//

typedef struct {
  double k, f; // x = 2^k * (1 + f), 1 + f in [sqrt(1/2), sqrt(2))
} Split;

// For positive finite x. Adding the distance from sqrt(1/2) to 1 moves the exponent's step to sqrt(1/2).
HELPER Split split(double x) {
  int tiny = x < 0x1p-1022;
  u64 u = bits64(tiny ? x * 0x1p54 : x) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  Split s;
  s.k = float64((u >> 52) | 0x4330000000000000ull) - (0x1p52 + 1023.0) - (tiny ? 54.0 : 0.0);
  s.f = float64((u & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
  return s;
}

// With s = f / (2 + f): log(1 + f) = 2 atanh(s) = 2s + s^3 P = f - s (f - s^2 P), where f is exact. Returns
// what is taken away from f.
HELPER double logRest(double f) {
  double s = f / (2.0 + f);
  double z = s * s;
  return s * (f - z * POLY_LOG(z));
}

HELPER double logSpecial(double x, double y) {
  double r = x > 0.0 ? y : (x == 0.0 ? -INF64 : NAN64);
  return x == INF64 ? x : r;
}

MATH double FN(log)(double x) {
  Split s = split(x);
  double y = s.k * LN2_0 + (s.f - (logRest(s.f) - s.k * LN2_1));
  return logSpecial(x, y);
}

// log(1 + f) as a head of 27 bits and the rest.
HELPER Pair logHead(double f) {
  double t = logRest(f);
  double h = float64(bits64(f - t) & 0xfffffffffc000000ull);
  Pair p = {h, (f - h) - t};
  return p;
}

MATH double FN(log2)(double x) {
  Split s = split(x);
  Pair l = logHead(s.f);
  Pair sum = fastSum(s.k, l.hi * LOG2E_0);
  double tail = l.hi * LOG2E_1 + l.lo * LOG2ED_0;
  return logSpecial(x, sum.hi + (sum.lo + tail));
}

MATH double FN(log10)(double x) {
  Split s = split(x);
  Pair l = logHead(s.f);
  Pair sum = fastSum(s.k * LOG10_2_0, l.hi * LOG10E_0);
  double tail = s.k * LOG10_2_1 + (l.hi * LOG10E_1 + l.lo * (LOG10E_0 + LOG10E_1));
  return logSpecial(x, sum.hi + (sum.lo + tail));
}

// log(1 + x + tail) for a tail far below x's last place, as a pair.
HELPER Pair log1pPair(double x, double tail) {
  Pair u = twoSum(1.0, x);
  Split s = split(u.hi);
  // Near 1 the fraction is x itself, and nothing was lost.
  int near = s.k == 0.0;
  double f = near ? x : s.f;
  double correction = (near ? tail : u.lo + tail) / u.hi;
  double rest = logRest(f) - (s.k * LN2_1 + correction);
  Pair h = fastSum(s.k * LN2_0, f);
  return fastSum(h.hi, h.lo - rest);
}

MATH double FN(log1p)(double x) {
  Pair y = log1pPair(x, 0.0);
  double r = x > -1.0 ? y.hi : (x == -1.0 ? -INF64 : NAN64);
  r = x == INF64 ? x : r;
  return x == 0.0 ? x : r;
}

MATH double FN(asinh)(double x) {
  double a = abs64(x);
  // asinh a = log1p(a + a^2 / (1 + sqrt(1 + a^2))); a^2 would overflow where the 1 no longer counts.
  int big = a > 0x1p500;
  double c = big ? 0x1p500 : a;
  Pair q = twoProduct(c, c);
  double root = __builtin_sqrt(1.0 + q.hi);
  Pair d = twoSum(1.0, root);
  double t = q.hi / d.hi;
  Pair p = twoProduct(t, d.hi);
  // What the sum 1 + c^2 and its root lost.
  Pair s = twoSum(1.0, q.hi), r2 = twoProduct(root, root);
  double rootLow = (((s.hi - r2.hi) - r2.lo) + (s.lo + q.lo)) / (2.0 * root);
  double tLow = (((q.hi - p.hi) - p.lo) + (q.lo - t * (d.lo + rootLow))) / d.hi;
  Pair y = twoSum(c, t);
  Pair l = log1pPair(big ? a : y.hi, big ? 0.0 : y.lo + tLow);
  double v = big ? l.hi + LN2D_0 : l.hi;
  v = a < INF64 ? v : a;
  return x == 0.0 ? x : sign64(v, x);
}

MATH double FN(acosh)(double x) {
  int big = x > 0x1p500;
  double t = big ? 1.0 : x - 1.0;
  // log1p(t + sqrt(2t + t^2)); x - 1 may round, and that counts under the root near 1 only where it does not
  // round.
  Pair sq = twoProduct(t, t), s = twoSum(2.0 * t, sq.hi);
  double root = __builtin_sqrt(s.hi);
  Pair r2 = twoProduct(root, root);
  double rootLow = root > 0.0 ? (((s.hi - r2.hi) - r2.lo) + (s.lo + sq.lo)) / (2.0 * root) : 0.0;
  Pair y = twoSum(t, root);
  Pair l = log1pPair(big ? x : y.hi, big ? 0.0 : y.lo + rootLow);
  double v = big ? l.hi + LN2D_0 : l.hi;
  v = x >= 1.0 ? v : NAN64;
  return x == INF64 ? x : v;
}

MATH double FN(atanh)(double x) {
  double a = abs64(x);
  double d = 1.0 - a, n = 2.0 * a; // 1 - a is exact where it is small
  Pair dp = twoSum(1.0, -a);
  double q = n / d;
  Pair p = twoProduct(q, d);
  double low = (((n - p.hi) - p.lo) - q * dp.lo) / d;
  double y = 0.5 * log1pPair(q, a < 0x1p-400 ? 0.0 : low).hi;
  y = a < 0x1p-400 ? a : y;
  y = a < 1.0 ? y : (a == 1.0 ? INF64 : NAN64);
  return x == 0.0 ? x : sign64(y, x);
}

//===--- Powers
//-----------------------------------------------------------------------------------------------===//

// log2 of a positive finite number to about 2^-68 of its value: three terms of the series for atanh are
// carried as pairs, the rest is small.
HELPER Pair log2Pair(double x) {
  Split v = split(x);
  Pair d = fastSum(2.0, v.f);
  Pair s;
  s.hi = v.f / d.hi;
  Pair p = twoProduct(s.hi, d.hi);
  s.lo = (((v.f - p.hi) - p.lo) - s.hi * d.lo) / d.hi;
  Pair z = pairProduct(s, s);
  Pair fifth = {FIFTHD_0, FIFTHD_1}, third = {THIRDD_0, THIRDD_1};
  Pair tail = fastSum(fifth.hi, fifth.lo + z.hi * POLY_LOGTAIL(z.hi));
  Pair inner = pairSum(third, pairProduct(z, tail));
  Pair l = pairSum(s, pairProduct(s, pairProduct(z, inner)));
  Pair scale = {2.0 * LOG2ED_0, 2.0 * LOG2ED_1};
  l = pairProduct(l, scale);
  Pair k = {v.k, 0.0};
  return pairSum(k, l);
}

HELPER int isInteger64(double a) { return a >= 0x1p52 || (a + 0x1p52) - 0x1p52 == a; }

MATH double FN(pow)(double x, double y) {
  double a = abs64(x), b = abs64(y);
  Pair l = log2Pair(a);
  // Beyond 2^65 the result is 0, 1 or infinite whatever y is; the products below must not overflow.
  double c = b > 0x1p65 ? sign64(0x1p65, y) : y;
  Pair p = twoProduct(l.hi, c);
  double r = exp2Pair(p.hi, p.lo + l.lo * c);
  r = a == 0.0 ? (y < 0.0 ? INF64 : 0.0) : r;
  r = a == INF64 ? (y < 0.0 ? 0.0 : INF64) : r;
  int integer = isInteger64(b), odd = integer & (b < 0x1p53) & !isInteger64(0.5 * b);
  int negative = (i64)bits64(x) < 0;
  r = negative & odd ? -r : r;
  r = (x < 0.0) & (a < INF64) & !integer ? NAN64 : r;
  r = (x != x) | (y != y) ? NAN64 : r;
  r = (a == 1.0) & (b == INF64) ? 1.0 : r;
  return (x == 1.0) | (y == 0.0) ? 1.0 : r;
}

MATH double FN(cbrt)(double x) {
  double a = abs64(x);
  int tiny = a < 0x1p-1022;
  u64 u = bits64(tiny ? a * 0x1p54 : a);
  u32 e = (u32)(u >> 52);
  u32 third = e * 43691u >> 17; // e / 3 for e below 2^16
  u32 rest = e - 3u * third;
  double m = float64((u & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
  double y = POLY_CBRT(m) * (rest == 0 ? 1.0 : rest == 1 ? 0x1.428a2f98d728bp+0 : 0x1.965fea53d6e3dp+0);
  double v = m * (rest == 0 ? 1.0 : rest == 1 ? 2.0 : 4.0);
  y = y - (y * y * y - v) / (3.0 * y * y);
  // A root of 26 bits has an exact square; one step of third order with an exact remainder finishes.
  double h = float64(bits64(y) & 0xfffffffff8000000ull);
  double hh = h * h;
  Pair p = twoProduct(hh, h);
  double d = ((v - p.hi) - p.lo) / (3.0 * hh);
  double root = h + d * (1.0 - d / h);
  double r = root * power64((i64)third - 341 - (tiny ? 18 : 0));
  return sign64(a < INF64 && a > 0.0 ? r : a, x);
}

MATH double FN(hypot)(double x, double y) {
  double ax = abs64(x), ay = abs64(y);
  double a = ax > ay ? ax : ay, b = ax > ay ? ay : ax;
  double s = a > 0x1p500 ? 0x1p-600 : a < 0x1p-500 ? 0x1p600 : 1.0;
  double t = a > 0x1p500 ? 0x1p600 : a < 0x1p-500 ? 0x1p-600 : 1.0;
  Pair p = twoProduct(a * s, a * s), q = twoProduct(b * s, b * s);
  Pair sum = fastSum(p.hi, q.hi);
  double r = __builtin_sqrt(sum.hi + (sum.lo + (p.lo + q.lo))) * t;
  r = (x != x) | (y != y) ? NAN64 : r;
  return (ax == INF64) | (ay == INF64) ? INF64 : r;
}

//===--- Circular functions
//-----------------------------------------------------------------------------------===//

typedef struct {
  Pair r; // in [-pi/4, pi/4], or a little outside
  u64 q;  // x = r + q * pi/2, q modulo 4
} Angle;

// 2/pi after a word of zeros, so that no argument asks for bits before the first.
static const u64 twoOverPi[] = {0, TWO_OVER_PI_WORDS};

// 32 bits as a number, without a conversion instruction.
HELPER double number32(u64 low) { return float64(low | 0x4330000000000000ull) - 0x1p52; }

// a >= 2^20, finite. With a = m * 2^n, the bits of 2/pi that give multiples of 4 are left out; 190 bits
// behind them are multiplied by m exactly.
HELPER Angle reduceLarge(double a) {
  u64 u = bits64(a), e = u >> 52;
  e = e < 1043 ? 1043 : e > 2046 ? 2046 : e;
  u64 first = e - 1023 - 52 + 62, word = first >> 6, shift = first & 63;
  u64 w0 = twoOverPi[word], w1 = twoOverPi[word + 1], w2 = twoOverPi[word + 2], w3 = twoOverPi[word + 3];
  u64 a2 = w0 << shift | (w1 >> 1) >> (63 - shift);
  u64 a1 = w1 << shift | (w2 >> 1) >> (63 - shift);
  u64 a0 = w2 << shift | (w3 >> 1) >> (63 - shift);
  u64 m = (u & 0x000fffffffffffffull) | 0x0010000000000000ull;
  const u64 low = 0xffffffffull;
  u64 m0 = m & low, m1 = m >> 32;
  u64 l0 = a0 & low, l1 = a0 >> 32, l2 = a1 & low, l3 = a1 >> 32, l4 = a2 & low, l5 = a2 >> 32;
  // Columns of 32 bits; what is above the sixth is a multiple of 4.
  u64 p0 = m0 * l0, p1 = m0 * l1, p2 = m0 * l2, p3 = m0 * l3, p4 = m0 * l4, p5 = m0 * l5;
  u64 q0 = m1 * l0, q1 = m1 * l1, q2 = m1 * l2, q3 = m1 * l3, q4 = m1 * l4;
  u64 c1 = (p0 >> 32) + (p1 & low) + (q0 & low);
  u64 c2 = (c1 >> 32) + (p1 >> 32) + (q0 >> 32) + (p2 & low) + (q1 & low);
  u64 c3 = (c2 >> 32) + (p2 >> 32) + (q1 >> 32) + (p3 & low) + (q2 & low);
  u64 c4 = (c3 >> 32) + (p3 >> 32) + (q2 >> 32) + (p4 & low) + (q3 & low);
  u64 c5 = (c4 >> 32) + (p4 >> 32) + (q3 >> 32) + (p5 & low) + (q4 & low);
  u64 h = (c5 & low) << 32 | (c4 & low), g = (c3 & low) << 32 | (c2 & low);
  Angle angle;
  angle.q = (h >> 62) + ((h >> 61) & 1);
  u64 f1 = h << 2 | g >> 62, f0 = g << 2;
  double t3 = number32((f1 >> 32) ^ 0x80000000ull) - 0x1p31; // signed: the nearest multiple is taken away
  double t2 = number32(f1 & low), t1 = number32(f0 >> 32), t0 = number32(f0 & low);
  Pair s = twoSum(t3 * 0x1p-32, t2 * 0x1p-64);
  Pair f = twoSum(s.hi, s.lo + (t1 * 0x1p-96 + t0 * 0x1p-128));
  Pair half = {PIO2D_0, PIO2D_1};
  angle.r = pairProduct(f, half);
  return angle;
}

HELPER Angle reduce(double x) {
  double a = abs64(x);
  int large = a >= 0x1p20;
  double c = large ? 0.0 : x;
  double k = near64(c * 0x1.45f306dc9c883p-1);
  // Three parts of pi/2 of 33 bits: their products with k are exact.
  double first = c - k * PIO2_0;
  Pair s = twoSum(first, -(k * PIO2_1));
  Pair t = twoSum(s.hi, -(k * PIO2_2));
  Angle small;
  small.r = fastSum(t.hi, t.lo + (s.lo - k * PIO2_3));
  small.q = (u64)int64(k);
  Angle big = reduceLarge(a);
  int negative = x < 0.0;
  Angle angle;
  angle.r.hi = large ? (negative ? -big.r.hi : big.r.hi) : small.r.hi;
  angle.r.lo = large ? (negative ? -big.r.lo : big.r.lo) : small.r.lo;
  angle.q = large ? (negative ? 0 - big.q : big.q) : small.q;
  return angle;
}

HELPER Pair sinPair(Pair r) {
  double z = r.hi * r.hi;
  return fastSum(r.hi, r.hi * (z * POLY_SIN(z)) + r.lo * (1.0 - 0.5 * z));
}
HELPER Pair cosPair(Pair r) {
  double z = r.hi * r.hi, h = 0.5 * z, w = 1.0 - h;
  return fastSum(w, ((1.0 - w) - h) + (z * z * POLY_COS(z) - r.hi * r.lo));
}
HELPER double sinKernel(Pair r) { return sinPair(r).hi; }
HELPER double cosKernel(Pair r) { return cosPair(r).hi; }

// What n / d loses by its rounding, for an exact n and d = d.hi + d.lo.
HELPER double quotientRest(double n, double q, Pair d) {
  Pair p = twoProduct(q, d.hi);
  return (((n - p.hi) - p.lo) - q * d.lo) / d.hi;
}

MATH double FN(sin)(double x) {
  Angle v = reduce(x);
  double y = v.q & 1 ? cosKernel(v.r) : sinKernel(v.r);
  y = v.q & 2 ? -y : y;
  y = abs64(x) < INF64 ? y : NAN64;
  return x == 0.0 ? x : y;
}

MATH double FN(cos)(double x) {
  Angle v = reduce(x);
  double y = v.q & 1 ? sinKernel(v.r) : cosKernel(v.r);
  y = (v.q + 1) & 2 ? -y : y;
  return abs64(x) < INF64 ? y : NAN64;
}

MATH double FN(tan)(double x) {
  Angle v = reduce(x);
  Pair s = sinPair(v.r), c = cosPair(v.r);
  Pair n = {v.q & 1 ? -c.hi : s.hi, v.q & 1 ? -c.lo : s.lo},
       d = {v.q & 1 ? s.hi : c.hi, v.q & 1 ? s.lo : c.lo};
  double q = n.hi / d.hi;
  // Tiny arguments are their own tangents, and too small to have their rounding measured.
  double y = abs64(x) < 0x1p-400 ? x : q + (quotientRest(n.hi, q, d) + n.lo / d.hi);
  y = abs64(x) < INF64 ? y : NAN64;
  return x == 0.0 ? x : y;
}

// For a > 1/2 the argument is sqrt((1 - a) / 2), whose rounding is carried along.
typedef struct {
  double head, rest; // asin of the reduced argument
} Arc;

HELPER Arc arcsine(double a) {
  int big = a > 0.5;
  double z = big ? 0.5 * (1.0 - a) : a * a;
  double root = __builtin_sqrt(z);
  double s = big ? root : a;
  double head = big ? float64(bits64(root) & 0xfffffffff8000000ull) : a;
  double low = big & (root > 0.0) ? (z - head * head) / (root + head) : 0.0;
  Arc r = {head, low + s * (z * POLY_ASIN(z))};
  return r;
}

MATH double FN(asin)(double x) {
  double a = abs64(x);
  Arc v = arcsine(a);
  double y = a > 0.5 ? (PIO2D_0 - 2.0 * v.head) - (2.0 * v.rest - PIO2D_1) : v.head + v.rest;
  return sign64(a <= 1.0 ? y : NAN64, x);
}

MATH double FN(acos)(double x) {
  double a = abs64(x);
  Arc v = arcsine(a);
  double middle = PIO2D_0 - (x - (PIO2D_1 - sign64(v.rest, x)));
  double above = 2.0 * (v.head + v.rest);
  double below = (2.0 * PIO2D_0 - 2.0 * v.head) - (2.0 * v.rest - 2.0 * PIO2D_1);
  double y = a > 0.5 ? (x < 0.0 ? below : above) : middle;
  return a <= 1.0 ? y : NAN64;
}

// The angle of the point (b, a), both not negative, not both zero or infinite; `mirror` takes it from pi.
HELPER double arctangent(double a, double b, int mirror) {
  int high = a > 2.4142135623730950 * b, middle = !high & (a > 0.41421356237309503 * b);
  double n = high ? -b : middle ? a - b : a, d = high ? a : middle ? a + b : b;
  double t = n / d;
  // The quotient's rounding, and those of a - b and a + b; where the quotient is too small it is the result.
  Pair sum = twoSum(a, b), difference = twoSum(a, -b), dd = {d, middle ? sum.lo : 0.0};
  double rest = quotientRest(n, t, dd) + (middle ? difference.lo / d : 0.0);
  rest = abs64(t) > 0x1p-200 ? rest : 0.0;
  double z = t * t, p = t * (z * POLY_ATAN(z)) + rest;
  double base = high ? PIO2D_0 : middle ? (mirror ? PIO4X3D_0 : 0.5 * PIO2D_0) : mirror ? 2.0 * PIO2D_0 : 0.0;
  double low = high ? PIO2D_1 : middle ? (mirror ? PIO4X3D_1 : 0.5 * PIO2D_1) : mirror ? 2.0 * PIO2D_1 : 0.0;
  t = mirror ? -t : t;
  p = mirror ? -p : p;
  Pair s = fastSum(base, t);
  return s.hi + (s.lo + (p + low));
}

MATH double FN(atan)(double x) {
  double a = abs64(x);
  double y = arctangent(a < 0x1p900 ? a : 0x1p900, 1.0, 0);
  y = a < 0x1p-500 ? a : y;
  return sign64(a == a ? y : a, x);
}

MATH double FN(atan2)(double y, double x) {
  double a = abs64(y), b = abs64(x);
  int both = (a == INF64) & (b == INF64), none = (a == 0.0) & (b == 0.0);
  double m = a > b ? a : b;
  // Into the range where products of halves are exact.
  double s = m > 0x1p900 ? 0x1p-200 : m < 0x1p-500 ? 0x1p560 : 1.0;
  double aa = both ? 1.0 : none ? 0.0 : a * s, bb = both | none ? 1.0 : b * s;
  int mirror = (i64)bits64(x) < 0;
  // Infinities become the largest ratio that still counts.
  int aInf = (a == INF64) & !both, bInf = (b == INF64) & !both;
  aa = aInf ? 1.0 : bInf ? 0.0 : aa;
  bb = bInf ? 1.0 : aInf ? 0.0 : bb;
  double r = arctangent(aa, bb, mirror);
  r = (x != x) | (y != y) ? NAN64 : r;
  return sign64(r, y);
}

//===--- The error function
//-----------------------------------------------------------------------------------===//

// erfc(a) for a >= 3/4 = exp(-a^2) * g(a) / (1 + 2a), where g is smooth in (a - 4) / (a + 4).
HELPER double erfcTail(double a) {
  double c = a > 28.0 ? 28.0 : a;
  double d = c + 4.0, t = (c - 4.0) / d;
  Pair square = twoProduct(c, c);
  Scaled e = expParts(-square.hi, -square.lo);
  Pair g = fastSum(ERFCX0_0, t * POLY_ERFCX(t) + ERFCX0_1), n = fastSum(2.0 * c, 1.0);
  double q = g.hi / n.hi, low = quotientRest(g.hi, q, n) + g.lo / n.hi;
  return scale64(e.y * q + (e.y * low + e.low * q), e.k);
}

MATH double FN(erf)(double x) {
  double a = abs64(x);
  double c = a > 1.0 ? 1.0 : a, z = c * c;
  double small = c + c * POLY_ERF(z);
  double big = 1.0 - erfcTail(a < 0.75 ? 0.75 : a);
  double y = a < 1.0 ? small : big;
  // Below the normal range the second term would be rounded at a coarser step than the sum.
  y = a < 0x1p-1000 ? (a * 0x1p200 + a * 0x1p200 * 0x1.06eba8214db69p-3) * 0x1p-200 : y;
  return sign64(a == a ? y : a, x);
}

MATH double FN(erfc)(double x) {
  double a = abs64(x);
  double c = a > 1.0 ? 1.0 : a, z = c * c;
  double small = c + c * POLY_ERF(z);
  double tail = erfcTail(a < 0.75 ? 0.75 : a);
  double y = a < 0.75 ? 1.0 - (x < 0.0 ? -small : small) : x < 0.0 ? 2.0 - tail : tail;
  return x == x ? y : x;
}
