// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory functions for kernels, which link no C library. Code generation asks for them by name for large
// copies, so these loops must not be recognised as copies themselves: the file is compiled with -fno-builtin
// and the attribute stays on the functions.
#include "Support.h"

typedef unsigned long Size;
typedef u64 __attribute__((may_alias, aligned(1))) Word;

#define ALONE __attribute__((no_builtin))

ALONE void *FN(memcpy)(void *restrict to, const void *restrict from, Size n) {
  unsigned char *d = to;
  const unsigned char *s = from;
  for (; n >= 32; n -= 32, d += 32, s += 32) {
    Word a = ((const Word *)s)[0], b = ((const Word *)s)[1], c = ((const Word *)s)[2],
         e = ((const Word *)s)[3];
    ((Word *)d)[0] = a;
    ((Word *)d)[1] = b;
    ((Word *)d)[2] = c;
    ((Word *)d)[3] = e;
  }
  for (; n >= 8; n -= 8, d += 8, s += 8)
    *(Word *)d = *(const Word *)s;
  for (; n; --n)
    *d++ = *s++;
  return to;
}

ALONE void *FN(memmove)(void *to, const void *from, Size n) {
  unsigned char *d = to;
  const unsigned char *s = from;
  if ((Size)(d - s) >= n) { // also when d < s: the difference wraps around
    for (; n >= 8; n -= 8, d += 8, s += 8)
      *(Word *)d = *(const Word *)s;
    for (; n; --n)
      *d++ = *s++;
  } else {
    for (; n >= 8; n -= 8)
      *(Word *)(d + n - 8) = *(const Word *)(s + n - 8);
    for (; n; --n)
      d[n - 1] = s[n - 1];
  }
  return to;
}

ALONE void *FN(memset)(void *to, int value, Size n) {
  unsigned char *d = to;
  u64 word = (unsigned char)value * 0x0101010101010101ull;
  for (; n >= 32; n -= 32, d += 32) {
    ((Word *)d)[0] = word;
    ((Word *)d)[1] = word;
    ((Word *)d)[2] = word;
    ((Word *)d)[3] = word;
  }
  for (; n >= 8; n -= 8, d += 8)
    *(Word *)d = word;
  for (; n; --n)
    *d++ = (unsigned char)value;
  return to;
}

ALONE int FN(memcmp)(const void *left, const void *right, Size n) {
  const unsigned char *a = left, *b = right;
  for (; n; --n, ++a, ++b)
    if (*a != *b)
      return *a - *b;
  return 0;
}

ALONE int FN(bcmp)(const void *left, const void *right, Size n) { return FN(memcmp)(left, right, n); }
