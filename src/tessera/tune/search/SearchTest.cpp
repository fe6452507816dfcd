// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/search/Search.h"

#include <gtest/gtest.h>

using namespace tessera::tune;

namespace {
/// Twelve operations with three choices; a choice moves the scores of all items by random amounts, more for
/// cheaper ones.
struct Toy {
  static constexpr int64_t items = 400, classes = 4;
  static constexpr size_t operations = 12;
  Scores exact;
  std::vector<std::vector<std::vector<float>>> deltas;
  std::vector<int32_t> labels;
  std::optional<OutputModel> model;
  Uncertainty uncertainty;
  SearchInput input;

  Toy() {
    Stream random(11);
    exact.items = items;
    exact.classes = classes;
    for (int64_t i = 0; i < items; ++i) {
      labels.push_back(static_cast<int32_t>(i % classes));
      for (int64_t c = 0; c < classes; ++c)
        exact.values.push_back(static_cast<float>((c == i % classes ? 2 : 0) + random.normal()));
    }
    model.emplace(exact, labels);
    for (size_t op = 0; op < operations; ++op) {
      Operation operation{"op" + std::to_string(op), {{"f32", 10, 0}}};
      input.noise.push_back({0});
      deltas.emplace_back(1);
      for (size_t choice = 1; choice < 4; ++choice) {
        Scores scores = exact;
        deltas.back().emplace_back();
        const double size = 0.02 * static_cast<double>(choice * choice) * (op < 3 ? 4 : 1);
        for (float &v : scores.values) {
          deltas.back().back().push_back(static_cast<float>(size * random.normal()));
          v += deltas.back().back().back();
        }
        model->add(op, choice, scores);
        std::vector<uint16_t> alone(operations, 0);
        alone[op] = static_cast<uint16_t>(choice);
        operation.choices.push_back({"k" + std::to_string(choice), 10.0 / static_cast<double>(choice + 1),
                                     model->predict(alone).loss()});
        input.noise.back().push_back(meanSquaredChange(scores.values, exact.values));
      }
      input.operations.push_back(operation);
    }
    input.model = &*model;
    input.uncertainty = &uncertainty;
  }
};
} // namespace

TEST(Search, FindsCheapConfigurations) {
  Toy toy;
  SearchOptions options;
  options.maxLoss = 0.02;
  std::vector<Point> front = searchFront(toy.input, options);
  ASSERT_GT(front.size(), 3u);
  for (size_t i = 1; i < front.size(); ++i) {
    EXPECT_GE(front[i].loss, front[i - 1].loss);
    EXPECT_LT(front[i].cost, front[i - 1].cost);
  }
  // All cheapest but the three sensitive ones would cost 9 * 2.5 + 3 * 10; the search gets below that.
  EXPECT_LT(front.back().cost, 52.5);
  EXPECT_LE(predict(toy.input, front.back().picks).loss, 0.02);
  // The same seed, the same front.
  std::vector<Point> again = searchFront(toy.input, options);
  ASSERT_EQ(again.size(), front.size());
  for (size_t i = 0; i < front.size(); ++i)
    EXPECT_EQ(again[i].picks, front[i].picks);
}

TEST(Search, SpreadsOverCosts) {
  std::vector<Point> front;
  for (int i = 0; i < 100; ++i)
    front.push_back({{static_cast<uint16_t>(i)}, 100.0 - i, i * 0.001});
  std::vector<Point> few = spread(front, 5);
  ASSERT_EQ(few.size(), 5u);
  EXPECT_EQ(few.back().cost, 1);
  for (size_t i = 1; i < few.size(); ++i)
    EXPECT_LT(few[i].cost, few[i - 1].cost / 1.5);
  EXPECT_EQ(spread(front, 200).size(), 100u);
  EXPECT_TRUE(spread({}, 3).empty());
}
