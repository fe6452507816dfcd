// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What knobs do to weights, by hand-made examples.
#include "tessera/base/Weights.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace tessera;

static std::vector<float> changed(std::vector<float> weights, WeightShape shape, const char *knob) {
  changeWeights(weights, shape, *Knob::parse(knob));
  return weights;
}

TEST(Weights, SampleFilter) {
  EXPECT_EQ(changed({1, 1, 1, 1, 1, 1}, {1, 6}, "sample-filter:1/3@1"),
            (std::vector<float>{1.5, 0, 1.5, 1.5, 0, 1.5}));
  // Filters of 1 x 2 taps: the tap that is left out changes with the channel.
  EXPECT_EQ(changed({1, 1, 1, 1, 1, 1}, {1, 3, 2, 2}, "sample-filter:1/2@0"),
            (std::vector<float>{0, 2, 2, 0, 0, 2}));
  // 3 x 3 with rate 3: column (offset + channel) mod 3.
  WeightShape shape{1, 4, 9, 3};
  Knob knob = *Knob::parse("sample-filter:1/3@1");
  for (int64_t c = 0; c < 4; ++c)
    for (int64_t tap = 0; tap < 9; ++tap)
      EXPECT_EQ(isSampledOut(c * 9 + tap, shape, knob), tap % 3 == (1 + c) % 3) << c << " " << tap;
}

TEST(Weights, Prune) {
  EXPECT_EQ(changed({1, -4, 3, 2, 5, 5}, {1, 6}, "prune:2/4"), (std::vector<float>{0, -4, 3, 0, 5, 5}));
  // Neighbouring channels of one tap, not neighbouring taps.
  EXPECT_EQ(changed({1, 8, 2, 7, 3, 6, 4, 5}, {1, 4, 2}, "prune:2/4"),
            (std::vector<float>{0, 8, 0, 7, 3, 0, 4, 0}));
}

TEST(Weights, PruneBlocks) {
  // Two blocks of channels: the first is smaller.
  std::vector<float> weights = {1, 1, 1, 1, 2, 2};
  EXPECT_EQ(changed(weights, {1, 6}, "prune-blocks:0.5"), (std::vector<float>{0, 0, 0, 0, 2, 2}));
  EXPECT_EQ(changed(weights, {1, 6}, "prune-blocks:0.25"), weights);
}

TEST(Weights, Int4) {
  std::vector<float> weights(40, 0.0f);
  weights[0] = 7;
  weights[1] = 2.5;
  weights[2] = -3.5;
  weights[35] = 0.5; // a group of its own, and its largest
  std::vector<float> expected = weights;
  expected[1] = 2;
  expected[2] = -4;
  EXPECT_EQ(changed(weights, {1, 40}, "int4"), expected);
}

TEST(Weights, Int8) {
  const std::vector<float> weights = {1.27f, -2.54f, 0, 0};
  EXPECT_EQ(int8Scales(weights, 2, mostOf(Knob::Precision::Int8)), (std::vector<float>{2.54f / 127, 1}));
  EXPECT_EQ(int8Scales(weights, 2, mostOf(Knob::Precision::Int7)), (std::vector<float>{2.54f / 63, 1}));
  Int8Range range = int8Range(-1, 1.55f);
  EXPECT_FLOAT_EQ(range.scale, 0.01f);
  EXPECT_EQ(range.zero, 100);
  // The range always holds 0.
  EXPECT_EQ(int8Range(1, 2.55f).zero, 0);
  EXPECT_EQ(int8Range(-2.55f, -1).zero, 255);
  EXPECT_EQ(int8Range(0, 0).scale, 1);
}

TEST(Weights, Rounding) {
  EXPECT_EQ(roundTo(Knob::Precision::BF16, 1.00390625f), 1.0f);
  EXPECT_EQ(roundTo(Knob::Precision::F16, 1.0001f), 1.0f);
  EXPECT_EQ(roundTo(Knob::Precision::F32, 1.0001f), 1.0001f);
}

// What is lost is what the smaller singular values hold, for wide and for tall matrices.
TEST(Weights, LowRank) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>(5, 9), {9, 5}, {6, 6}}) {
    // A sum of three products with falling weights.
    std::vector<float> matrix(rows * columns);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        for (int k = 1; k <= 3; ++k)
          matrix[r * columns + c] += static_cast<float>(std::pow(0.1, k) * std::cos(double(k * (r + 1))) *
                                                        std::sin(double(k * k + c)));
    double before = HUGE_VAL;
    for (int64_t rank = 1; rank <= 4; ++rank) {
      std::vector<float> left, right;
      factorise(matrix, rows, columns, rank, left, right);
      ASSERT_EQ(left.size(), size_t(rows * rank));
      ASSERT_EQ(right.size(), size_t(rank * columns));
      double error = 0;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
          double sum = -matrix[r * columns + c];
          for (int64_t k = 0; k < rank; ++k)
            sum += double(left[r * rank + k]) * right[k * columns + c];
          error += sum * sum;
        }
      EXPECT_LT(std::sqrt(error), rank >= 3 ? 1e-6 : before) << rows << " " << columns << " " << rank;
      before = std::sqrt(error);
    }
  }
}

TEST(Weights, Random) {
  // The published answers for a counter and a key of zeros, and of ones.
  PhiloxBlock zero = philox(0, 0);
  EXPECT_EQ(zero.word[0], 0x6627e8d5u);
  EXPECT_EQ(zero.word[1], 0xe169c58du);
  EXPECT_EQ(zero.word[2], 0xbc57ac4cu);
  EXPECT_EQ(zero.word[3], 0x9b00dbd8u);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    double g = philoxNormal(i, noiseKey("conv1"));
    sum += g;
    squares += g * g;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.02);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
  EXPECT_NE(noiseKey("conv1"), noiseKey("conv2"));
  int64_t wrong = 0;
  uint64_t some = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    const uint64_t bits = bitErrors(i, 32, 0.01, noiseKey("memory"));
    wrong += std::popcount(bits);
    some |= bits;
  }
  EXPECT_NEAR(static_cast<double>(wrong) / 320000, 0.01, 0.001);
  EXPECT_EQ(some, 0xffffffffu); // each of them, and none beyond
  EXPECT_EQ(bitErrors(3, 64, 0.5, 1), bitErrors(3, 64, 0.5, 1));
  EXPECT_EQ(bitErrors(3, 64, 1e-12, 1), 0u);
  EXPECT_GT(promiseSigma(1), promiseSigma(7));
  EXPECT_EQ(promiseLevel(0.4f, 0, 255), 0.0f);
  EXPECT_EQ(promiseLevel(300, 0, 255), 255.0f);
  EXPECT_EQ(promiseLevel(1, 2, 2), 2.0f);
}
