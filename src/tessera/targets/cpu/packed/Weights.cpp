// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Weights.h.
#include "tessera/targets/cpu/packed/Weights.h"

#include "tessera/targets/cpu/packed/Winograd.h"

#include <algorithm>

using namespace tessera::cpu;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::vector<float> packed::packConv(const float *w, int64_t f, int64_t c, int64_t kh, int64_t kw,
                                    int64_t groups, int64_t blockC, int64_t blockF) {
  int64_t perGroup = c / groups, c1 = ceilDiv(perGroup, blockC), f1 = ceilDiv(f, blockF), taps = kh * kw;
  std::vector<float> out(f1 * c1 * taps * blockC * blockF);
  for (int64_t ff = 0; ff < f; ++ff)
    for (int64_t cc = 0; cc < perGroup; ++cc) {
      const float *from = w + (ff * perGroup + cc) * taps;
      float *to = out.data() + ((ff / blockF * c1 + cc / blockC) * taps * blockC + cc % blockC) * blockF +
                  ff % blockF;
      for (int64_t t = 0; t < taps; ++t)
        to[t * blockC * blockF] = from[t];
    }
  return out;
}

std::vector<float> packed::packWinograd(const float *w, int64_t f, int64_t c, int64_t window, int64_t tile,
                                        int64_t blockC, int64_t blockF) {
  WinogradMatrices m = winograd(tile, window);
  int64_t t = m.points, channels = ceilDiv(c, blockC) * blockC, f1 = ceilDiv(f, blockF);
  std::vector<float> out(f1 * t * t * channels * blockF);
  float filter[40];
  std::copy(m.filter, m.filter + window * t, filter);
  // Lanes innermost: the lines that a channel writes stay in the cache for all of them.
  for (int64_t block = 0; block < f1 * c; ++block)
    for (int64_t ff = block / c * blockF; ff < std::min(f, (block / c + 1) * blockF); ++ff) {
      int64_t cc = block % c;
      const float *g = w + (ff * c + cc) * window * window;
      float half[8][5]; // G g
      for (int64_t i = 0; i < t; ++i)
        for (int64_t j = 0; j < window; ++j) {
          half[i][j] = 0;
          for (int64_t k = 0; k < window; ++k)
            half[i][j] += filter[window * i + k] * g[window * k + j];
        }
      float *to = out.data() + (ff / blockF * t * t * channels + cc) * blockF + ff % blockF;
      for (int64_t i = 0; i < t; ++i)
        for (int64_t j = 0; j < t; ++j) {
          float sum = 0;
          for (int64_t k = 0; k < window; ++k)
            sum += half[i][k] * filter[window * j + k];
          to[(i * t + j) * channels * blockF] = sum;
        }
    }
  return out;
}

std::vector<float> packed::packDepthwise(const float *w, int64_t c, int64_t kh, int64_t kw, int64_t block) {
  std::vector<float> out(ceilDiv(c, block) * kh * kw * block);
  for (int64_t cc = 0; cc < c; ++cc)
    for (int64_t t = 0; t < kh * kw; ++t)
      out[(cc / block * kh * kw + t) * block + cc % block] = w[cc * kh * kw + t];
  return out;
}

std::vector<float> packed::packMatmul(const float *w, int64_t k, int64_t n, bool transposed, int64_t blockN,
                                      int64_t channels, int64_t plane, int64_t blockC) {
  int64_t n1 = ceilDiv(n, blockN), rows = channels ? ceilDiv(channels, blockC) * blockC * plane : k;
  std::vector<float> out(n1 * rows * blockN);
  for (int64_t kk = 0; kk < k; ++kk) {
    int64_t row = kk;
    if (channels) {
      int64_t channel = kk / plane, place = kk % plane;
      row = (channel / blockC * plane + place) * blockC + channel % blockC;
    }
    for (int64_t nn = 0; nn < n; ++nn)
      out[(nn / blockN * rows + row) * blockN + nn % blockN] = transposed ? w[nn * k + kk] : w[kk * n + nn];
  }
  return out;
}

std::vector<float> packed::packBias(const float *bias, int64_t f, int64_t blockF) {
  std::vector<float> out(ceilDiv(f, blockF) * blockF);
  std::copy(bias, bias + f, out.begin());
  return out;
}
