// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of the 16-bit float types, for CPUs without instructions for them. Code generation asks for
// them by name. Arguments have the types that the compiler itself would pass; the bodies only look at their
// bits.
#include "Support.h"

typedef unsigned short u16;

HELPER u16 bitsHalf(_Float16 x) {
  union {
    _Float16 f;
    u16 u;
  } v = {x};
  return v.u;
}
HELPER _Float16 half(u16 u) {
  union {
    u16 u;
    _Float16 f;
  } v = {u};
  return v.f;
}
HELPER __bf16 brain(u16 u) {
  union {
    u16 u;
    __bf16 f;
  } v = {u};
  return v.f;
}

HELPER float widen(u16 h) {
  u32 m = (u32)(h & 0x7fff) << 13;
  // As a float's bits this is the value times 2^-112, subnormal or not; a NaN's or infinity's exponent is
  // filled up.
  float scaled = float32(m) * 0x1p112f;
  u32 u = m >= 0x0f800000u ? m | 0x7f800000u : bits32(scaled);
  u = m > 0x0f800000u ? u | 0x00400000u : u;
  return float32(u | (u32)(h & 0x8000) << 16);
}

// For a magnitude that is not NaN, rounded to odd beyond half's precision if it came from double.
HELPER u16 narrowBits(float a) {
  u32 u = bits32(a);
  // Normal: the rounding may carry into the exponent, and from the largest number to infinity, both as they
  // should.
  u32 normal = (u + 0xfffu + ((u >> 13) & 1)) >> 13;
  normal -= (127 - 15) << 10;
  // Subnormal: adding 0.5 puts the last place where half's is.
  u32 small = bits32(a + 0.5f) - bits32(0.5f);
  u32 r = u < 0x38800000u ? small : normal;
  return (u16)(u >= 0x47800000u ? 0x7c00u : r);
}
HELPER u16 narrow(float x) {
  u32 u = bits32(x), a = u & 0x7fffffffu;
  u16 r = a > 0x7f800000u ? (u16)(0x7e00u | ((a >> 13) & 0x1ffu)) : narrowBits(float32(a));
  return r | (u16)((u >> 16) & 0x8000u);
}
HELPER u16 narrowBrain(float x) {
  u32 u = bits32(x);
  u32 r = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
  return (u16)((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : r);
}
// Single precision by rounding to odd: a second rounding then gives what one would have given.
HELPER float oddSingle(double x) {
  float f = (float)x;
  u32 u = bits32(f);
  double back = f;
  int inexact = (back != x) & (x == x), even = !(u & 1);
  // One step towards x; from infinity back to the largest number.
  u32 fixed = abs64(back) > abs64(x) ? u - 1 : u + 1;
  return inexact & even ? float32(fixed) : f;
}

MATH float FN(__extendhfsf2)(_Float16 x) { return widen(bitsHalf(x)); }
MATH double FN(__extendhfdf2)(_Float16 x) { return widen(bitsHalf(x)); }
MATH _Float16 FN(__truncsfhf2)(float x) { return half(narrow(x)); }
MATH _Float16 FN(__truncdfhf2)(double x) { return half(narrow(oddSingle(x))); }
MATH __bf16 FN(__truncsfbf2)(float x) { return brain(narrowBrain(x)); }
MATH __bf16 FN(__truncdfbf2)(double x) { return brain(narrowBrain(oddSingle(x))); }
MATH float FN(__gnu_h2f_ieee)(u16 x) { return widen(x); }
MATH u16 FN(__gnu_f2h_ieee)(float x) { return narrow(x); }

// 128-bit integers: what is 2^52 or more overflows half, and what is less is exact in double.
HELPER float single128(u128 magnitude, int negative) {
  double d = magnitude >> 52 ? 0x1p52 : (double)(u64)magnitude;
  float f = oddSingle(d);
  return negative ? -f : f;
}
_Float16 FN(__floatuntihf)(u128 x) { return half(narrow(single128(x, 0))); }
_Float16 FN(__floattihf)(i128 x) { return half(narrow(single128(x < 0 ? 0 - (u128)x : (u128)x, x < 0))); }
i128 FN(__fixhfti)(_Float16 x) {
  float f = widen(bitsHalf(x));
  return abs32(f) < 0x1p17f ? (i128)(i64)f : f < 0.0f ? (i128)((u128)1 << 127) : (i128)(((u128)1 << 127) - 1);
}
u128 FN(__fixunshfti)(_Float16 x) {
  float f = widen(bitsHalf(x));
  return f < 0x1p17f ? (u128)(f > 0.0f ? (u64)f : 0) : ~(u128)0;
}
