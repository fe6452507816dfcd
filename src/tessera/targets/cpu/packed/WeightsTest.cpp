// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where each weight goes, and that transformed ones still compute the convolution.
#include "tessera/targets/cpu/packed/Weights.h"

#include "tessera/targets/cpu/packed/Winograd.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace tessera::cpu::packed;

static std::vector<float> count(int64_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 1.f);
  return v;
}

TEST(Weights, ConvPutsChannelsIntoLanes) {
  int64_t f = 5, c = 3, kh = 2, kw = 3, blockC = 2, blockF = 4;
  std::vector<float> w = count(f * c * kh * kw), p = packConv(w.data(), f, c, kh, kw, 1, blockC, blockF);
  ASSERT_EQ(p.size(), size_t(2 * 2 * kh * kw * blockC * blockF));
  double sum = 0;
  for (int64_t ff = 0; ff < f; ++ff)
    for (int64_t cc = 0; cc < c; ++cc)
      for (int64_t t = 0; t < kh * kw; ++t)
        EXPECT_EQ(p[(((ff / blockF * 2 + cc / blockC) * kh * kw + t) * blockC + cc % blockC) * blockF +
                    ff % blockF],
                  w[(ff * c + cc) * kh * kw + t]);
  for (float v : p)
    sum += v;
  // Spare lanes are zero.
  EXPECT_EQ(sum, std::accumulate(w.begin(), w.end(), 0.0));
}

TEST(Weights, WinogradComputesTheSameConvolution) {
  for (auto [tile, window] : {std::pair<int64_t, int64_t>{2, 3}, {4, 3}, {2, 5}, {4, 5}}) {
    std::vector<float> g(window * window);
    for (size_t i = 0; i < g.size(); ++i)
      g[i] = float(i * 5 % 7) - 2.5f;
    WinogradMatrices m = winograd(tile, window);
    int64_t t = m.points;
    EXPECT_EQ(winogradWindow(tile, t * t), window);
    std::vector<float> u = packWinograd(g.data(), 1, 1, window, tile, 1, 1);
    std::vector<double> d(t * t), half(t * t), v(t * t), sums(t * t);
    for (int64_t i = 0; i < t * t; ++i)
      d[i] = double((i * 7) % 11) - 5;
    for (int64_t i = 0; i < t; ++i)
      for (int64_t j = 0; j < t; ++j)
        for (int64_t k = 0; k < t; ++k)
          half[i * t + j] += m.input[i * t + k] * d[k * t + j];
    for (int64_t i = 0; i < t; ++i)
      for (int64_t j = 0; j < t; ++j) {
        for (int64_t k = 0; k < t; ++k)
          v[i * t + j] += half[i * t + k] * m.input[j * t + k];
        sums[i * t + j] = v[i * t + j] * u[i * t + j];
      }
    for (int64_t i = 0; i < tile; ++i)
      for (int64_t j = 0; j < tile; ++j) {
        double got = 0, want = 0;
        for (int64_t a = 0; a < t; ++a)
          for (int64_t b = 0; b < t; ++b)
            got += m.output[i * t + a] * sums[a * t + b] * m.output[j * t + b];
        for (int64_t a = 0; a < window; ++a)
          for (int64_t b = 0; b < window; ++b)
            want += g[a * window + b] * d[(i + a) * t + j + b];
        EXPECT_NEAR(got, want, window == 3 ? 1e-4 : 1e-3) << tile << " " << window;
      }
  }
}

TEST(Weights, MatmulFollowsBlockedActivations) {
  // 3 channels of 2 places in blocks of 2: channel k, place p stands at (k / 2 * 2 + p) * 2 + k % 2.
  std::vector<float> w = count(6 * 5), p = packMatmul(w.data(), 6, 5, false, 4, 3, 2, 2);
  ASSERT_EQ(p.size(), size_t(2 * 8 * 4));
  for (int64_t k = 0; k < 6; ++k)
    for (int64_t n = 0; n < 5; ++n) {
      int64_t row = (k / 2 / 2 * 2 + k % 2) * 2 + k / 2 % 2;
      EXPECT_EQ(p[(n / 4 * 8 + row) * 4 + n % 4], w[k * 5 + n]);
    }
  std::vector<float> turned = packMatmul(w.data(), 6, 5, true, 4);
  EXPECT_EQ(turned[(0 * 6 + 2) * 4 + 1], w[1 * 6 + 2]);
}

TEST(Weights, DepthwiseAndBias) {
  std::vector<float> w = count(3 * 9), p = packDepthwise(w.data(), 3, 3, 3, 2);
  EXPECT_EQ(p[(1 * 9 + 4) * 2 + 0], w[2 * 9 + 4]);
  EXPECT_EQ(p[(1 * 9 + 4) * 2 + 1], 0.f);
  std::vector<float> bias = packBias(w.data(), 3, 4);
  EXPECT_EQ(bias, (std::vector<float>{1, 2, 3, 0}));
}
