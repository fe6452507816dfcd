// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 128-bit integer arithmetic that code generation leaves to functions: division, multiplication, and
// conversions from and to floating point. Nothing here may use the operation it implements.
#include "Support.h"

static inline int leading(u128 x) {
  u64 high = (u64)(x >> 64);
  return high ? __builtin_clzll(high) : x ? 64 + __builtin_clzll((u64)x) : 128;
}

static inline u128 divide(u128 n, u128 d, u128 *rest) {
  u64 nh = (u64)(n >> 64), dh = (u64)(d >> 64);
  if (!nh && !dh) {
    *rest = (u64)n % (u64)d;
    return (u64)n / (u64)d;
  }
  if (d > n) {
    *rest = n;
    return 0;
  }
  int shift = leading(d) - leading(n);
  u128 q = 0;
  d <<= shift;
  for (; shift >= 0; --shift, d >>= 1) {
    q <<= 1;
    if (n >= d) {
      n -= d;
      q |= 1;
    }
  }
  *rest = n;
  return q;
}

u128 FN(__udivti3)(u128 a, u128 b) {
  u128 r;
  return divide(a, b, &r);
}
u128 FN(__umodti3)(u128 a, u128 b) {
  u128 r;
  divide(a, b, &r);
  return r;
}
u128 FN(__udivmodti4)(u128 a, u128 b, u128 *rest) {
  u128 r, q = divide(a, b, &r);
  if (rest)
    *rest = r;
  return q;
}
static inline u128 magnitude(i128 x) { return x < 0 ? 0 - (u128)x : (u128)x; }
i128 FN(__divti3)(i128 a, i128 b) {
  u128 r, q = divide(magnitude(a), magnitude(b), &r);
  return (i128)((a < 0) != (b < 0) ? 0 - q : q);
}
i128 FN(__modti3)(i128 a, i128 b) {
  u128 r;
  divide(magnitude(a), magnitude(b), &r);
  return (i128)(a < 0 ? 0 - r : r);
}

static inline u128 multiply(u64 a, u64 b) {
  const u64 low = 0xffffffffull;
  u64 a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
  u64 p = a0 * b0, q = a1 * b0 + (p >> 32), r = a0 * b1 + (q & low);
  return (u128)(a1 * b1 + (q >> 32) + (r >> 32)) << 64 | (r << 32 | (p & low));
}
i128 FN(__multi3)(i128 a, i128 b) {
  u64 al = (u64)a, bl = (u64)b, ah = (u64)((u128)a >> 64), bh = (u64)((u128)b >> 64);
  return (i128)(multiply(al, bl) + ((u128)(ah * bl + al * bh) << 64));
}
i128 FN(__muloti4)(i128 a, i128 b, int *overflow) {
  i128 p = FN(__multi3)(a, b);
  u128 rest = 0, q = a ? divide(magnitude(p), magnitude(a), &rest) : 0;
  // The product's sign and size must be those of the true product.
  int negative = (a < 0) != (b < 0);
  *overflow = a && b && (rest || q != magnitude(b) || (p < 0) != negative);
  return p;
}

// The value rounded once to `digits` bits, and the bits put together as a double or float.
static inline double toDouble(u128 x) {
  if (!x)
    return 0.0;
  int top = 127 - leading(x);
  u64 m;
  if (top > 52) {
    int drop = top - 52;
    u128 rest = x & (((u128)1 << drop) - 1), half = (u128)1 << (drop - 1);
    m = (u64)(x >> drop);
    m += rest > half || (rest == half && (m & 1));
  } else {
    m = (u64)x << (52 - top);
  }
  return float64(m + ((u64)(top + 1022) << 52));
}
static inline float toFloat(u128 x) {
  if (!x)
    return 0.0f;
  int top = 127 - leading(x);
  u32 m;
  if (top > 23) {
    int drop = top - 23;
    u128 rest = x & (((u128)1 << drop) - 1), half = (u128)1 << (drop - 1);
    m = (u32)(x >> drop);
    m += rest > half || (rest == half && (m & 1));
  } else {
    m = (u32)x << (23 - top);
  }
  return float32(m + ((u32)(top + 126) << 23));
}
double FN(__floatuntidf)(u128 x) { return toDouble(x); }
float FN(__floatuntisf)(u128 x) { return toFloat(x); }
double FN(__floattidf)(i128 x) { return x < 0 ? -toDouble(magnitude(x)) : toDouble((u128)x); }
float FN(__floattisf)(i128 x) { return x < 0 ? -toFloat(magnitude(x)) : toFloat((u128)x); }

// Towards zero; a value that does not fit gives the nearest that does.
u128 FN(__fixunsdfti)(double x) {
  if (!(x >= 1.0))
    return 0;
  u64 u = bits64(x);
  int e = (int)(u >> 52) - 1075;
  u128 m = (u & 0x000fffffffffffffull) | 0x0010000000000000ull;
  if (e > 75)
    return ~(u128)0;
  return e >= 0 ? m << e : m >> -e;
}
i128 FN(__fixdfti)(double x) {
  const u128 limit = (u128)1 << 127;
  u128 m = FN(__fixunsdfti)(abs64(x));
  if (x < 0.0)
    return m >= limit ? (i128)limit : -(i128)m;
  return m >= limit ? (i128)(limit - 1) : (i128)m;
}
u128 FN(__fixunssfti)(float x) { return FN(__fixunsdfti)(x); }
i128 FN(__fixsfti)(float x) { return FN(__fixdfti)(x); }

int FN(__popcountdi2)(i64 x) {
  u64 v = (u64)x;
  v = v - ((v >> 1) & 0x5555555555555555ull);
  v = (v & 0x3333333333333333ull) + ((v >> 2) & 0x3333333333333333ull);
  return (int)(((v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull >> 56);
}

// base^n modulo 2^64 by squaring; 1 / base^-n, rounded to zero, for a negative n. Narrower integers are the
// low bits of it. Nothing that the code generator calls on its own, hence a name of ours.
i64 FN(__tessera_ipow)(i64 base, i64 n) {
  if (n < 0) {
    // 0 to a negative power has no meaning; any result will do.
    if (base == 1 || base == -1)
      return n & 1 ? base : 1;
    return 0;
  }
  u64 power = (u64)base, result = 1;
  for (u64 rest = (u64)n; rest; rest >>= 1) {
    if (rest & 1)
      result *= power;
    power *= power;
  }
  return (i64)result;
}
