// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the files of the builtins share: names, bit patterns, and arithmetic with exact remainders. Everything
// here is branch-free, so that a loop around a function of ours vectorises once it is inlined. None of it may
// be contracted: the files are compiled with -ffp-contract=off, which also makes results the same on every
// CPU.
#pragma once

typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned __int128 u128;
typedef __int128 i128;

// The unit test compiles the same sources for the host, where the plain names belong to the C library.
#ifdef TESSERA_BUILTINS_NATIVE
#define FN(name) native_##name
#elif defined(TESSERA_BUILTINS_TEST)
#define FN(name) tessera_##name
#else
#define FN(name) name
#endif

// Math functions are to be inlined whatever their size: a call in the middle of a loop costs the
// vectorisation.
#define MATH __attribute__((always_inline))
#define HELPER static inline __attribute__((always_inline))

HELPER u64 bits64(double x) {
  union {
    double f;
    u64 u;
  } v = {x};
  return v.u;
}
HELPER double float64(u64 u) {
  union {
    u64 u;
    double f;
  } v = {u};
  return v.f;
}
HELPER u32 bits32(float x) {
  union {
    float f;
    u32 u;
  } v = {x};
  return v.u;
}
HELPER float float32(u32 u) {
  union {
    u32 u;
    float f;
  } v = {u};
  return v.f;
}

#define INF64 __builtin_inf()
#define NAN64 __builtin_nan("")
#define INF32 __builtin_inff()
#define NAN32 __builtin_nanf("")

HELPER double abs64(double x) { return __builtin_fabs(x); }
HELPER float abs32(float x) { return __builtin_fabsf(x); }
HELPER double sign64(double magnitude, double sign) { return __builtin_copysign(magnitude, sign); }
HELPER float sign32(float magnitude, float sign) { return __builtin_copysignf(magnitude, sign); }

// Adding 1.5 * 2^52 leaves no room for a fraction: the sum's low bits are the nearest integer, and taking it
// away again gives that integer as a number. Good for magnitudes below 2^51. No conversion instruction is
// needed, which few CPUs have for vectors of 64 bits.
#define MAGIC64 0x1.8p52
#define MAGIC32 0x1.8p23f
HELPER double near64(double x) { return (x + MAGIC64) - MAGIC64; }
HELPER float near32(float x) { return (x + MAGIC32) - MAGIC32; }
HELPER i64 int64(double nearest) { return (i64)(bits64(nearest + MAGIC64) - bits64(MAGIC64)); }
HELPER i32 int32(float nearest) { return (i32)(bits32(nearest + MAGIC32) - bits32(MAGIC32)); }

// ln 2 in two parts; the first has 15 bits, so that its product with the exponent of a single is exact.
#define LN2F_0 0x1.62e4p-1f
#define LN2F_1 0x1.7f7d1cp-20f

// 2^k for k in the normal range.
HELPER double power64(i64 k) { return float64((u64)(k + 1023) << 52); }
HELPER float power32(i32 k) { return float32((u32)(k + 127) << 23); }

// y * 2^k with one rounding, for y near 1 and |k| below twice the exponent range: in two steps, the first
// exact.
HELPER double scale64(double y, i64 k) {
  i64 half = (i64)((u64)(k + 8192) >> 1) - 4096;
  return y * power64(half) * power64(k - half);
}
HELPER float scale32(float y, i32 k) {
  i32 half = (i32)((u32)(k + 1024) >> 1) - 512;
  return y * power32(half) * power32(k - half);
}

// A number as the unevaluated sum of two doubles.
typedef struct {
  double hi, lo;
} Pair;

HELPER Pair twoSum(double a, double b) {
  double s = a + b, t = s - a;
  Pair r = {s, (a - (s - t)) + (b - t)};
  return r;
}
// The same, for |a| >= |b| or a = 0.
HELPER Pair fastSum(double a, double b) {
  double s = a + b;
  Pair r = {s, b - (s - a)};
  return r;
}
HELPER Pair twoProduct(double a, double b) {
  double ca = 0x1.000002p27 * a, cb = 0x1.000002p27 * b;
  double ah = ca - (ca - a), bh = cb - (cb - b), al = a - ah, bl = b - bh, p = a * b;
  Pair r = {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
  return r;
}
HELPER Pair pairProduct(Pair a, Pair b) {
  Pair p = twoProduct(a.hi, b.hi);
  return fastSum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
HELPER Pair pairSum(Pair a, Pair b) {
  Pair s = twoSum(a.hi, b.hi);
  return fastSum(s.hi, s.lo + (a.lo + b.lo));
}
