// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between f32 and the two half types, round to nearest even, as the
// compiler's own expansions do them. No hardware support is assumed.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera {

/// The f32 with the value of the IEEE half `bits`.
inline float halfToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 31;
  uint32_t mantissa = bits & 0x3ff;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  if (exponent == 0) {
    // Subnormal: an integer count of 2^-24, which f32 holds exactly.
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

/// The IEEE half nearest to `value` (ties to even; overflow gives infinity).
inline uint16_t floatToHalf(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  if (magnitude >= 0x477ff000) // 65520 and above round to infinity.
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) {
    // Below 2^-14: adding 0.5 aligns the mantissa so that the FPU rounds for us.
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1) - 0x38000000;
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

/// The f32 with the value of the bfloat16 `bits`.
inline float bfloatToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

/// The bfloat16 nearest to `value` (ties to even).
inline uint16_t floatToBfloat(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

} // namespace tessera
