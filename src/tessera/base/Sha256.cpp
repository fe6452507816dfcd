// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SHA-256: a portable block function, one with SHA-NI, and the choice between them.
#include "tessera/base/Sha256.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace tessera {

alignas(64) static const uint32_t roundConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t loadBigEndian(const uint8_t *p) {
  return static_cast<uint32_t>(p[0]) << 24 | static_cast<uint32_t>(p[1]) << 16 |
         static_cast<uint32_t>(p[2]) << 8 | p[3];
}

void detail::sha256BlocksPortable(uint32_t state[8], const uint8_t *data, size_t blocks) {
  for (; blocks; --blocks, data += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i)
      w[i] = loadBigEndian(data + 4 * i);
    for (int i = 16; i < 64; ++i) {
      uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; ++i) {
      uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + roundConstants[i] + w[i];
      uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
}

#if defined(__x86_64__)
// The instructions keep the state as ABEF and CDGH and do two rounds each; the
// message schedule of the next 16 words is computed beside the rounds.
__attribute__((target("sha,sse4.1,ssse3"))) static void blocksShaNi(uint32_t state[8], const uint8_t *data,
                                                                    size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i low = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(state)), 0xb1);
  __m128i high = _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(low, high, 8);
  __m128i cdgh = _mm_blend_epi16(high, low, 0xf0);
  for (; blocks; --blocks, data += 64) {
    __m128i abefSave = abef, cdghSave = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i *>(data + 16 * i)), swap);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      __m128i k = _mm_load_si128(reinterpret_cast<const __m128i *>(roundConstants + 4 * i));
      __m128i sum = _mm_add_epi32(w[i & 3], k);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
      if (i < 12) {
        // W[t] = W[t-16] + s0(W[t-15]) + W[t-7] + s1(W[t-2]), four words at a time.
        __m128i next = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
        next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
        w[i & 3] = _mm_sha256msg2_epu32(next, w[(i + 3) & 3]);
      }
    }
    abef = _mm_add_epi32(abef, abefSave);
    cdgh = _mm_add_epi32(cdgh, cdghSave);
  }
  low = _mm_shuffle_epi32(abef, 0x1b);
  high = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i *>(state), _mm_blend_epi16(low, high, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i *>(state + 4), _mm_alignr_epi8(high, low, 8));
}

static bool hasShaNi() {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & (1u << 29)))
    return false;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 19)) && (c & (1u << 9));
}
#endif

using BlockFunction = void (*)(uint32_t *, const uint8_t *, size_t);

static BlockFunction blockFunction() {
#if defined(__x86_64__)
  static const BlockFunction chosen = hasShaNi() ? blocksShaNi : detail::sha256BlocksPortable;
  return chosen;
#else
  return detail::sha256BlocksPortable;
#endif
}

const char *sha256Implementation() {
  return blockFunction() == detail::sha256BlocksPortable ? "portable" : "sha-ni";
}

Sha256::Sha256()
    : state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::update(std::span<const std::byte> data) {
  const uint8_t *p = reinterpret_cast<const uint8_t *>(data.data());
  size_t n = data.size();
  if (n == 0)
    return;
  total += n;
  if (buffered) {
    size_t take = std::min(n, sizeof buffer - buffered);
    std::memcpy(buffer + buffered, p, take);
    buffered += take, p += take, n -= take;
    if (buffered < sizeof buffer)
      return;
    blockFunction()(state, buffer, 1);
    buffered = 0;
  }
  if (n >= 64) {
    blockFunction()(state, p, n / 64);
    p += n & ~size_t(63);
    n &= 63;
  }
  std::memcpy(buffer, p, n);
  buffered = n;
}

Sha256Digest Sha256::finish() {
  uint64_t bits = total * 8;
  buffer[buffered++] = 0x80;
  if (buffered > 56) {
    std::memset(buffer + buffered, 0, sizeof buffer - buffered);
    blockFunction()(state, buffer, 1);
    buffered = 0;
  }
  std::memset(buffer + buffered, 0, 56 - buffered);
  for (int i = 0; i < 8; ++i)
    buffer[56 + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  blockFunction()(state, buffer, 1);
  Sha256Digest digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Sha256Digest sha256(std::span<const std::byte> data) {
  Sha256 hash;
  hash.update(data);
  return hash.finish();
}

std::string toHex(const Sha256Digest &digest) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (uint8_t byte : digest) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

} // namespace tessera
