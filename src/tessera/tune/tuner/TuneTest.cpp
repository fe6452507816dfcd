// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/metrics/Metrics.h"
#include "tessera/tune/metrics/Statistics.h"
#include "tessera/tune/search/Budget.h"
#include "tessera/tune/search/Evolve.h"
#include "tessera/tune/search/Front.h"
#include "tessera/tune/search/Predict.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tessera::tune;

static std::vector<Operation> randomOperations(size_t count, size_t choices, uint64_t seed, bool gains) {
  Stream random(seed);
  std::vector<Operation> operations(count);
  for (size_t i = 0; i < count; ++i) {
    operations[i].name = "op" + std::to_string(i);
    operations[i].choices.push_back({"f32", 10, 0});
    for (size_t c = 1; c < choices; ++c)
      operations[i].choices.push_back(
          {"k" + std::to_string(c), 10 * random.unit(), 0.01 * random.unit() - (gains ? 0.002 : 0)});
  }
  return operations;
}

// Every configuration, one by one.
static std::vector<Point> bruteForce(const std::vector<Operation> &operations, double maxLoss) {
  std::vector<Point> points;
  std::vector<uint16_t> picks(operations.size());
  while (true) {
    Point p{picks, 0, sumOfLosses(operations, picks)};
    for (size_t i = 0; i < operations.size(); ++i)
      p.cost += operations[i].choices[picks[i]].cost;
    if (p.loss <= maxLoss)
      points.push_back(p);
    size_t i = 0;
    while (i < picks.size() && ++picks[i] == operations[i].choices.size())
      picks[i++] = 0;
    if (i == picks.size())
      return paretoFront(points);
  }
}

TEST(Statistics, MedianWithoutADistribution) {
  // Binomial: of ten values the second from either end keep 97.9 %, the third 89.1 %.
  const Estimate ten = medianEstimate({10, 2, 3, 4, 5, 6, 7, 8, 9, 1});
  EXPECT_EQ(ten.value, 5.5);
  EXPECT_EQ(ten.low, 2);
  EXPECT_EQ(ten.high, 9);
  EXPECT_EQ(medianEstimate({10, 2, 3, 4, 5, 6, 7, 8, 9, 1}, 0.89).low, 3);
  const Estimate three = medianEstimate({3, 1, 2});
  EXPECT_EQ(three.value, 2);
  EXPECT_EQ(three.low, 1);
  EXPECT_EQ(three.high, 3);
  EXPECT_EQ(medianEstimate({4}).high, 4);
}

TEST(Statistics, MeanWithStudentsInterval) {
  const double values[] = {1, 2, 3};
  const Estimate mean = meanEstimate(values);
  EXPECT_EQ(mean.value, 2);
  EXPECT_NEAR(mean.high - mean.value, 4.3027 / std::sqrt(3), 1e-3); // t of two degrees of freedom
  EXPECT_NEAR(mean.value - mean.low, mean.high - mean.value, 1e-12);
  EXPECT_EQ(meanEstimate(std::span(values).first(1)).low, 1);
}

TEST(Statistics, PairedLossFromBothSides) {
  const PairedLoss loss{1000, 30, 10};
  EXPECT_NEAR(loss.lowerBound() + loss.upperBound(), 2 * 20.0 / 1002, 1e-12);
  EXPECT_LT(loss.lowerBound(), loss.loss());
}

TEST(Front, EqualsTryingEverything) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<Operation> operations = randomOperations(5, 5, seed, seed % 2);
    std::vector<Point> expected = bruteForce(operations, 0.02), got = solveFront(operations, 0.02, 0);
    ASSERT_EQ(got.size(), expected.size()) << "seed " << seed;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i].cost, expected[i].cost, 1e-9);
      EXPECT_NEAR(got[i].loss, expected[i].loss, 1e-12);
    }
  }
}

TEST(Front, ResolutionCostsLittle) {
  std::vector<Operation> operations = randomOperations(21, 60, 3, true);
  std::vector<Point> fine = solveFront(operations, 0.03, 1e-5), coarse = solveFront(operations, 0.03, 1e-4);
  ASSERT_FALSE(fine.empty());
  EXPECT_LE(fine.back().cost, coarse.back().cost + 1e-9);
  EXPECT_NEAR(fine.back().cost, coarse.back().cost, 0.02 * fine.back().cost);
  for (const Point &p : fine) {
    EXPECT_LE(p.loss, 0.03);
    EXPECT_NEAR(p.loss, sumOfLosses(operations, p.picks), 1e-12);
  }
}

TEST(Front, NoOperations) {
  std::vector<Point> front = solveFront({}, 0.01, 0);
  ASSERT_EQ(front.size(), 1u);
  EXPECT_EQ(front[0].cost, 0);
}

TEST(Front, NothingWithinTheBound) {
  std::vector<Operation> operations = {{"a", {{"k", 1, 0.5}}}};
  EXPECT_TRUE(solveFront(operations, 0.1, 0).empty());
}

TEST(Statistics, StudentsQuantiles) {
  EXPECT_NEAR(studentQuantile(0.95, 1), 6.313752, 1e-4);
  EXPECT_NEAR(studentQuantile(0.975, 4), 2.776445, 1e-4);
  EXPECT_NEAR(studentQuantile(0.975, 1000), 1.962339, 1e-3);
  EXPECT_EQ(studentQuantile(0.95, 0), studentQuantile(0.95, 1));
}

TEST(Statistics, Quantiles) {
  EXPECT_NEAR(normalQuantile(0.975), 1.959963985, 1e-8);
  EXPECT_NEAR(normalQuantile(0.5), 0, 1e-12);
}

TEST(Statistics, WilsonMatchesPublishedValues) {
  // Newcombe 1998, table I: 81 of 263, and 0 of 20.
  Interval a = wilson(81, 263), b = wilson(0, 20);
  EXPECT_NEAR(a.low, 0.2553, 5e-5);
  EXPECT_NEAR(a.high, 0.3662, 5e-5);
  EXPECT_NEAR(b.low, 0, 1e-12);
  EXPECT_NEAR(b.high, 0.1611, 5e-5);
}

TEST(Statistics, PairedBoundHolds) {
  // Draw tests of a known loss: the bound must cover it in about 95 % of them.
  Stream random(5);
  int covered = 0, trials = 4000;
  for (int t = 0; t < trials; ++t) {
    PairedLoss loss;
    loss.count = 2000;
    for (int i = 0; i < 2000; ++i) {
      double u = random.unit();
      loss.lost += u < 0.02;
      loss.won += u >= 0.02 && u < 0.03;
    }
    covered += loss.upperBound() >= 0.01;
  }
  EXPECT_GT(covered, 0.935 * trials);
  EXPECT_LT(covered, 0.97 * trials);
}

TEST(Statistics, SpendableIsWhatTheFactsSay) {
  // 5,000 images, 5 % of the answers changed: about half a point of one is left.
  EXPECT_NEAR(spendable(0.01, 5000, 0.05), 0.0048, 0.0003);
}

TEST(Statistics, SplitsAreStratifiedAndSeeded) {
  std::vector<int32_t> labels(1000);
  for (size_t i = 0; i < labels.size(); ++i)
    labels[i] = int32_t(i % 10);
  double shares[] = {0.5, 0.3, 0.2};
  auto a = stratifiedSplit(labels, shares, 7), b = stratifiedSplit(labels, shares, 7),
       c = stratifiedSplit(labels, shares, 8);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  ASSERT_EQ(a[0].size(), 500u);
  ASSERT_EQ(a[1].size(), 300u);
  ASSERT_EQ(a[2].size(), 200u);
  std::vector<int> count(10), seen(1000);
  for (int64_t i : a[1])
    ++count[labels[i]];
  for (int n : count)
    EXPECT_EQ(n, 30);
  for (auto &part : a)
    for (int64_t i : part)
      ++seen[i];
  for (int n : seen)
    EXPECT_EQ(n, 1);
}

TEST(Metrics, TopK) {
  Scores s{{1, 3, 2, 5, 5, 0, NAN, 1, 0}, 3, 3};
  std::vector<int32_t> labels = {1, 1, 0};
  EXPECT_EQ(correctItems(s, labels, 1), (std::vector<uint8_t>{1, 0, 0}));
  EXPECT_EQ(correctItems(s, labels, 2), (std::vector<uint8_t>{1, 1, 0}));
}

TEST(Metrics, Errors) {
  std::vector<float> golden = {3, -4}, got = {3, -2}, zero = {0, 0};
  EXPECT_DOUBLE_EQ(relativeError(got, golden, 1), 2.0 / 7);
  EXPECT_DOUBLE_EQ(relativeError(got, golden, 2), 2.0 / 5);
  EXPECT_EQ(relativeError(zero, zero, 2), 0);
  EXPECT_TRUE(std::isinf(relativeError(got, zero, 1)));
  EXPECT_NEAR(psnr(got, golden, 255), 10 * std::log10(255.0 * 255 / 2), 1e-9);
}

TEST(Metrics, Ssim) {
  Stream random(1);
  std::vector<float> a(32 * 40), b;
  for (float &v : a)
    v = float(255 * random.unit());
  b = a;
  EXPECT_NEAR(ssim(a, b, 32, 40, 255), 1, 1e-9);
  for (float &v : b)
    v += float(100 * random.unit() - 50);
  double some = ssim(a, b, 32, 40, 255);
  EXPECT_GT(some, 0.5);
  EXPECT_LT(some, 0.98);
}

// What NumPy says of the same numbers, from the definitions: (d * d).mean(), norm(d) / norm(g), 10 log10(255²
// / mse), scikit-image's structural_similarity (windows of 7, sample covariance), stable argsort for top-k.
TEST(Metrics, AgreeWithNumPy) {
  const int64_t height = 24, width = 31;
  std::vector<float> golden(height * width), got(height * width);
  for (int64_t i = 0; i < height * width; ++i) {
    golden[i] = float(i * 7919 % 256);
    got[i] = golden[i] + float(i * 104729 % 31 - 15);
  }
  EXPECT_NEAR(meanError(got, golden, 1), 7.741935483870968, 1e-12);
  EXPECT_NEAR(meanError(got, golden, 2), 80, 1e-12);
  EXPECT_NEAR(relativeError(got, golden, 1), 0.06055254194525041, 1e-12);
  EXPECT_NEAR(relativeError(got, golden, 2), 0.06053975257835228, 1e-12);
  EXPECT_NEAR(psnr(got, golden, 255), 29.099903738759668, 1e-10);
  EXPECT_NEAR(ssim(got, golden, height, width, 255), 0.9892458932566511, 1e-10);
  Scores scores{std::vector<float>(40 * 11), 40, 11};
  std::vector<int32_t> labels(40);
  for (int i = 0; i < 40 * 11; ++i)
    scores.values[i] = float(int64_t(i) * 48271 % 97);
  for (int i = 0; i < 40; ++i)
    labels[i] = i * 5 % 11;
  EXPECT_DOUBLE_EQ(share(correctItems(scores, labels, 1)), 0.075);
  EXPECT_DOUBLE_EQ(share(correctItems(scores, labels, 3)), 0.275);
  EXPECT_DOUBLE_EQ(share(correctItems(scores, labels, 5)), 0.45);
}

TEST(Metrics, Names) {
  EXPECT_EQ(parseMetric("top-5")->k, 5);
  EXPECT_TRUE(parseMetric("psnr")->higherIsBetter());
  EXPECT_FALSE(parseMetric("l2")->higherIsBetter());
  EXPECT_EQ(parseMetric("top").status().message(),
            "unknown metric 'top'; there are top-1 (or top-5, …), l1, l2, relative, psnr and ssim");
}

TEST(Predict, OutputsAddUp) {
  // Two classes: choice 1 of either operation moves the scores by 0.4, so that only both together change the
  // answer.
  Scores exact{{1.0f, 0.5f, 0.0f, 1.0f}, 2, 2};
  OutputModel model(exact, {0, 1});
  Scores moved = exact;
  moved.values[0] -= 0.3f;
  model.add(0, 1, moved);
  model.add(1, 1, moved);
  std::vector<uint16_t> none = {0, 0}, one = {1, 0}, both = {1, 1};
  EXPECT_EQ(model.predict(none).lost, 0);
  EXPECT_EQ(model.predict(one).lost, 0);
  EXPECT_EQ(model.predict(both).lost, 1);
  std::vector<std::vector<uint16_t>> measuredPicks = {both};
  double measured[] = {0.0};
  model.fitScale(measuredPicks, measured);
  EXPECT_LT(model.scale(), 1);
  EXPECT_EQ(model.predict(both).lost, 0);
}

// Two operations that cancel: each alone changes the answer, both together do not. A configuration of both
// and a third one is predicted from the one of both that was run.
TEST(Predict, StartsFromTheNearestRun) {
  Scores exact{{1.0f, 0.5f}, 1, 2};
  OutputModel model(exact, {0});
  auto moved = [&](float by) {
    Scores scores = exact;
    scores.values[0] += by;
    return scores;
  };
  model.add(0, 1, moved(-0.6f));
  model.add(1, 1, moved(-0.6f));
  model.add(2, 1, moved(-0.1f));
  model.add(2, 2, moved(-0.6f));
  std::vector<uint16_t> none = {0, 0, 0}, both = {1, 1, 0}, third = {1, 1, 1}, worse = {1, 1, 2};
  EXPECT_EQ(model.predict(third).lost, 1);
  model.observe(none, exact);
  EXPECT_EQ(model.predict(third).lost, 1);
  model.observe(both, moved(0));
  EXPECT_EQ(model.predict(both).lost, 0);
  EXPECT_EQ(model.predict(third).lost, 0);
  EXPECT_EQ(model.predict(worse).lost, 1);
  // Nearer to the exact one than to that of both.
  std::vector<uint16_t> small = {0, 0, 1};
  EXPECT_EQ(model.predict(small).lost, 0);
}

TEST(Predict, UncertaintyIsWhatPredictionsWereOffBy) {
  Uncertainty uncertainty;
  const double before = uncertainty.of(5000, 0.02);
  for (int i = 1; i <= 20; ++i)
    uncertainty.observe(0.01, i % 2 ? 0.02 : 0.0);
  EXPECT_NEAR(uncertainty.of(1'000'000'000, 0.02), 0.01, 1e-6);
  EXPECT_GT(uncertainty.of(100, 0.02), uncertainty.of(5000, 0.02));
  EXPECT_GT(uncertainty.of(5000, 0.02), before);
}

TEST(Budget, OfNothingIsNeverUsedUp) {
  EXPECT_FALSE(Budget().isUsed(0));
  EXPECT_TRUE(Budget(1e-12).isUsed());
  const Budget hours(1e5);
  EXPECT_FALSE(hours.isUsed(0.5));
  EXPECT_TRUE(hours.isUsed(0));
}

TEST(Evolve, FindsWhatAdditionMisses) {
  std::vector<Operation> operations = randomOperations(6, 6, 11, false);
  // Losses of neighbours cancel: two approximated neighbours cost half of what the sum says.
  auto loss = [&](std::span<const uint16_t> picks) {
    double sum = sumOfLosses(operations, picks);
    for (size_t i = 0; i + 1 < picks.size(); ++i)
      if (picks[i] && picks[i + 1])
        sum -= 0.25 * (operations[i].choices[picks[i]].loss + operations[i + 1].choices[picks[i + 1]].loss);
    return sum;
  };
  std::vector<Point> additive = solveFront(operations, 0.02, 0);
  EvolveOptions options;
  options.maxLoss = 0.02;
  std::vector<Point> a = evolve(operations, additive, loss, options),
                     b = evolve(operations, additive, loss, options);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(a[i].picks, b[i].picks);
  EXPECT_LT(a.back().cost, additive.back().cost);
}
