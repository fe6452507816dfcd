// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions whose results are exact or correctly rounded: rounding to integers, fma, fmod, remainder, scaling
// by powers of two, integer powers. Code generation asks for them by name where a CPU has no instruction:
// rounding on plain x86-64, fma without FMA. The loops of fmod and remainder do not vectorise.
#include "Support.h"

//===--- Rounding
//---------------------------------------------------------------------------------------------===//

// Magnitudes from 2^52 (2^23) up are integers already, and NaN stays itself.
#define ROUNDING(type, suffix, abs, sign, big)                                                               \
  HELPER type even##suffix(type a) { return (a + big) - big; }                                               \
  MATH type FN(rint##suffix)(type x) {                                                                       \
    type a = abs(x);                                                                                         \
    return sign(a < big ? even##suffix(a) : a, x);                                                           \
  }                                                                                                          \
  MATH type FN(nearbyint##suffix)(type x) {                                                                  \
    type a = abs(x);                                                                                         \
    return sign(a < big ? even##suffix(a) : a, x);                                                           \
  }                                                                                                          \
  MATH type FN(roundeven##suffix)(type x) {                                                                  \
    type a = abs(x);                                                                                         \
    return sign(a < big ? even##suffix(a) : a, x);                                                           \
  }                                                                                                          \
  MATH type FN(trunc##suffix)(type x) {                                                                      \
    type a = abs(x), r = even##suffix(a);                                                                    \
    r = r > a ? r - (type)1 : r;                                                                             \
    return sign(a < big ? r : a, x);                                                                         \
  }                                                                                                          \
  MATH type FN(floor##suffix)(type x) {                                                                      \
    type a = abs(x), r = sign(even##suffix(a), x);                                                           \
    r = r > x ? r - (type)1 : r;                                                                             \
    return a < big ? sign(r, x) : x;                                                                         \
  }                                                                                                          \
  MATH type FN(ceil##suffix)(type x) {                                                                       \
    type a = abs(x), r = sign(even##suffix(a), x);                                                           \
    r = r < x ? r + (type)1 : r;                                                                             \
    return a < big ? sign(r, x) : x;                                                                         \
  }                                                                                                          \
  MATH type FN(round##suffix)(type x) {                                                                      \
    type a = abs(x), r = even##suffix(a);                                                                    \
    r = a - r >= (type)0.5 ? r + (type)1 : r;                                                                \
    return sign(a < big ? r : a, x);                                                                         \
  }
ROUNDING(double, , abs64, sign64, 0x1p52)
ROUNDING(float, f, abs32, sign32, 0x1p23f)

//===--- fma
//--------------------------------------------------------------------------------------------------===//

// The product is exact in double. The sum is rounded to odd (the last bit is set when anything was lost), so
// that the rounding to single precision sees on which side of a tie it is.
MATH float FN(fmaf)(float x, float y, float z) {
  double p = (double)x * y;
  Pair s = twoSum(p, z);
  u64 u = bits64(s.hi);
  int inexact = (s.lo != 0.0) & (abs64(s.hi) < INF64) & (s.lo == s.lo), even = !(u & 1);
  // Towards the lost part: away from zero when the signs agree.
  u64 odd = (s.lo > 0.0) == (s.hi > 0.0) ? u + 1 : u - 1;
  return (float)(inexact & even ? float64(odd) : s.hi);
}

typedef struct {
  u64 m; // with the leading bit at 52, or 0
  i32 e; // the value is m * 2^e
} Parts;

static inline Parts partsOf(double x) {
  u64 u = bits64(x) & 0x7fffffffffffffffull;
  Parts p = {u & 0x000fffffffffffffull, (i32)(u >> 52)};
  if (p.e)
    p.m |= 0x0010000000000000ull;
  else if (p.m) {
    int shift = __builtin_clzll(p.m) - 11;
    p.m <<= shift;
    p.e = 1 - shift;
  }
  p.e -= 1075;
  return p;
}

// m * 2^e with a sign, rounded once to the nearest; `sticky` says that bits below m were lost.
static inline double assemble(u128 m, i32 e, int sticky, u64 sign) {
  if (!m)
    return float64(sign);
  u64 high = (u64)(m >> 64);
  int top = high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((u64)m);
  // Where the last kept bit lies: 52 below the top, but not below the smallest subnormal.
  i32 drop = top - 52;
  if (e + drop < -1074)
    drop = -1074 - e;
  u64 kept;
  if (drop > 0) {
    if (drop > 127)
      return float64(sign); // less than half of the smallest number
    u128 rest = m & (((u128)1 << drop) - 1), half = (u128)1 << (drop - 1);
    kept = (u64)(m >> drop);
    if (rest > half || (rest == half && (sticky || (kept & 1))))
      ++kept;
  } else {
    kept = (u64)(m << -drop);
  }
  i32 exponent = e + drop + 1075;
  if (exponent > 2046)
    return float64(sign | 0x7ff0000000000000ull);
  // A subnormal has no leading bit to take off; a carry into the next binade comes out right by itself.
  u64 u = kept >= 0x0010000000000000ull ? kept + ((u64)(exponent - 1) << 52) : kept;
  return float64(u | sign);
}

double FN(fma)(double x, double y, double z) {
  u64 ux = bits64(x), uy = bits64(y), uz = bits64(z);
  const u64 top = 0x7ff0000000000000ull;
  if ((ux & top) == top || (uy & top) == top || (uz & top) == top || x == 0.0 || y == 0.0)
    return (uz & top) == top && (ux & top) != top && (uy & top) != top ? z : x * y + z;
  Parts a = partsOf(x), b = partsOf(y), c = partsOf(z);
  u64 sign = (ux ^ uy) & 0x8000000000000000ull, signC = uz & 0x8000000000000000ull;
  u128 p = (u128)a.m * b.m; // 105 or 106 bits
  i32 e = a.e + b.e;
  if (z == 0.0)
    return assemble(p, e, 0, sign);
  // Both with the leading bit near 125, so that a sum has room.
  p <<= 20;
  e -= 20;
  u128 q = (u128)c.m << 72;
  i32 f = c.e - 72;
  if (f > e || (f == e && q > p)) {
    u128 m = p;
    p = q;
    q = m;
    i32 t = e;
    e = f;
    f = t;
    u64 s = sign;
    sign = signC;
    signC = s;
  }
  i32 shift = e - f;
  int lost = 0;
  if (shift > 127) {
    lost = 1;
    q = 0;
  } else if (shift > 0) {
    lost = (q & (((u128)1 << shift) - 1)) != 0;
    q >>= shift;
  }
  if (sign == signC)
    return assemble(p + q, e, lost, sign);
  if (p == q && !lost)
    return 0.0;
  if (p < q) // q's exponent may be smaller and its number still larger
    return assemble(q - p, e, lost, signC);
  return assemble(p - q - (u128)lost, e, lost, sign);
}

//===--- Remainders
//-------------------------------------------------------------------------------------------===//

// r = m * 2^shift mod d, as many bits at a time as fit; *q gets the quotient's last bit.
static inline u64 reduceBy(u64 m, i32 shift, u64 d, int room, u64 *q) {
  u64 last = m / d, r = m % d;
  while (shift > 0) {
    int n = shift < room ? shift : room;
    last = (r << n) / d;
    r = (r << n) % d;
    shift -= n;
  }
  *q = last & 1;
  return r;
}

double FN(fmod)(double x, double y) {
  double a = abs64(x), b = abs64(y);
  if (!(a < INF64) || !(b > 0.0))
    return NAN64;
  if (a < b)
    return x;
  Parts p = partsOf(a), d = partsOf(b);
  u64 q, r = reduceBy(p.m, p.e - d.e, d.m, 11, &q);
  return assemble(r, d.e, 0, bits64(x) & 0x8000000000000000ull);
}

double FN(remainder)(double x, double y) {
  double a = abs64(x), b = abs64(y);
  if (!(a < INF64) || !(b > 0.0))
    return NAN64;
  if (b == INF64)
    return x;
  u64 sign = bits64(x) & 0x8000000000000000ull;
  Parts p = partsOf(a), d = partsOf(b);
  u64 q = 0, r;
  i32 e = d.e;
  if (p.e < d.e) {
    // x is smaller; only the last step of the rounding can matter, and only one binade below.
    if (p.e < d.e - 1)
      return x;
    if (p.m == 0)
      return x;
    r = p.m;
    e = p.e;
    d.m <<= 1;
  } else {
    r = reduceBy(p.m, p.e - d.e, d.m, 11, &q);
  }
  u64 twice = r << 1;
  if (twice > d.m || (twice == d.m && q)) {
    r = d.m - r;
    sign ^= 0x8000000000000000ull;
  }
  return assemble(r, e, 0, r ? sign : bits64(x) & 0x8000000000000000ull);
}

// Both arguments are exact in double, and the result is exact in single precision.
float FN(fmodf)(float x, float y) { return (float)FN(fmod)(x, y); }
float FN(remainderf)(float x, float y) { return (float)FN(remainder)(x, y); }

//===--- Scaling
//----------------------------------------------------------------------------------------------===//

MATH double FN(ldexp)(double x, int k) {
  i32 c = k > 2200 ? 2200 : k < -2200 ? -2200 : k;
  // Three steps of at most 2^±734. Downwards, the first two stay normal or lose nothing that the third would
  // keep: multiplying a subnormal twice would round twice, so small numbers are moved up first.
  i32 a = c / 3, b = (c - a) / 2;
  double s = x * power64(a) * power64(b) * power64(c - a - b);
  Parts p = partsOf(x);
  int normal = abs64(x) < INF64 && x != 0.0;
  double exact = assemble(normal ? p.m : 1, normal ? p.e + c : 0, 0, bits64(x) & 0x8000000000000000ull);
  return normal ? exact : s;
}
MATH float FN(ldexpf)(float x, int k) {
  i32 c = k > 400 ? 400 : k < -400 ? -400 : k;
  return (float)((double)x * power64(c));
}
double FN(scalbn)(double x, int k) { return FN(ldexp)(x, k); }
float FN(scalbnf)(float x, int k) { return FN(ldexpf)(x, k); }

#define INTEGER_POWER(name, type)                                                                            \
  type FN(name)(type x, int n) {                                                                             \
    u32 k = n < 0 ? 0u - (u32)n : (u32)n;                                                                    \
    type r = 1;                                                                                              \
    for (; k; k >>= 1) {                                                                                     \
      r = k & 1 ? r * x : r;                                                                                 \
      x *= x;                                                                                                \
    }                                                                                                        \
    return n < 0 ? 1 / r : r;                                                                                \
  }
INTEGER_POWER(__powidf2, double)
INTEGER_POWER(__powisf2, float)

//===--- Minimum and maximum
//----------------------------------------------------------------------------------===//

MATH double FN(fmin)(double a, double b) { return a < b || b != b ? a : b; }
MATH double FN(fmax)(double a, double b) { return a > b || b != b ? a : b; }
MATH float FN(fminf)(float a, float b) { return a < b || b != b ? a : b; }
MATH float FN(fmaxf)(float a, float b) { return a > b || b != b ? a : b; }
