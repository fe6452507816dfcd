// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Single precision for the mode `fast`: the functions that fill the layers of networks, with contraction and
// with few instructions. Results below 2^-126 are zero. The bounds are in README.md.
#include "Coefficients.h"
#include "Support.h"

#pragma clang fp contract(fast)

// The exponent of 2 is added to that of the polynomial's value, which is right wherever the result is a
// normal number.
MATH float FN(__tessera_fast_expf)(float x) {
  float shifted = x * 0x1.715476p+0f + MAGIC32;
  float k = shifted - MAGIC32;
  float r = x - k * LN2F_0;
  r = r - k * LN2F_1;
  float y = float32(bits32(POLY_EXPFAST(r)) + (bits32(shifted) << 23));
  y = x > 0x1.62e42ep+6f ? INF32 : y;
  y = x < -0x1.5d589ep+6f ? 0.0f : y;
  return x == x ? y : x;
}

// Odd functions that have reached 1 at `end`, as quotients.
HELPER float clampF(float x, float end) {
  float c = x > end ? end : x;
  return c < -end ? -end : c;
}

MATH float FN(__tessera_fast_tanhf)(float x) {
  float c = clampF(x, 9.02f), z = c * c;
  return clampF(c * TOP_TANHFAST(z) / BOTTOM_TANHFAST(z), 1.0f);
}

MATH float FN(__tessera_fast_erff)(float x) {
  float c = clampF(x, 3.925f), z = c * c;
  return clampF(c * TOP_ERFFAST(z) / BOTTOM_ERFFAST(z), 1.0f);
}
