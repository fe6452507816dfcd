// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/search/KnobMoves.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::tune;

static const std::vector<std::string> list = {"f32",
                                              "perforate-rows:1/2@0",
                                              "perforate-rows:1/2@1",
                                              "perforate-rows:3/4@0",
                                              "perforate-rows:7/8@0",
                                              "perforate-rows:5/8@1",
                                              "cubic-rows:3/4@0",
                                              "f16",
                                              "f16+perforate-rows:3/4@0",
                                              "f16-math",
                                              "f16-math+perforate-rows:7/8@0"};

static bool leads(const std::vector<KnobMap> &found, const KnobMap &to) {
  return std::find(found.begin(), found.end(), to) != found.end();
}

TEST(KnobMoves, VariantsArePlainOnesWithMore) {
  const TunableNode node{"a", "node", "", 1, list};
  for (const char *text : {"perforate-rows:1/2@1", "perforate-rows:5/8@1", "f16+perforate-rows:3/4@0"})
    EXPECT_TRUE(isVariant(node, text)) << text;
  for (const char *text : {"f32", "f16", "perforate-rows:1/2@0", "perforate-rows:7/8@0", "cubic-rows:3/4@0"})
    EXPECT_FALSE(isVariant(node, text)) << text;
  // Nothing plainer: it has to be looked at itself.
  EXPECT_FALSE(isVariant({"a", "node", "", 1, {"f32", "perforate-rows:1/2@1"}}, "perforate-rows:1/2@1"));
}

TEST(KnobMoves, StepsOfOneNodeAndOfAll) {
  const std::vector<TunableNode> nodes = {{"a", "node", "", 1, list}, {"b", "node", "", 1, list}};
  const KnobMap at = {{"a", "perforate-rows:3/4@0"}, {"b", "perforate-rows:7/8@0"}};
  const std::vector<KnobMap> found = singleStepsOf(nodes, at), joint = jointStepsOf(nodes, at);
  auto withA = [&](const char *knob) { return KnobMap{{"a", knob}, {"b", "perforate-rows:7/8@0"}}; };
  EXPECT_TRUE(leads(found, withA("perforate-rows:7/8@0"))); // fewer rows, and as the other one
  EXPECT_TRUE(leads(found, withA("perforate-rows:1/2@0")));
  EXPECT_TRUE(leads(found, withA("cubic-rows:3/4@0")));
  EXPECT_TRUE(leads(found, withA("f16+perforate-rows:3/4@0")));
  EXPECT_TRUE(leads(found, withA("perforate-rows:5/8@1"))); // what 'b' reads for the rows it computes
  EXPECT_FALSE(leads(found, withA("f16")));                 // two steps
  EXPECT_FALSE(leads(found, at));
  // All compute more: 'a' one of two, 'b' one of four.
  EXPECT_TRUE(leads(joint, {{"a", "perforate-rows:1/2@0"}, {"b", "perforate-rows:3/4@0"}}));
  // As far as they have them: the same rows in f16, and of those that are not read from outside in f16 alone.
  EXPECT_TRUE(leads(joint, {{"a", "f16+perforate-rows:3/4@0"}, {"b", "f16-math+perforate-rows:7/8@0"}}));
  EXPECT_FALSE(leads(joint, at));
  // From exact on.
  const std::vector<KnobMap> first = singleStepsOf(nodes, {});
  EXPECT_TRUE(leads(first, {{"a", "perforate-rows:1/2@0"}}));
  EXPECT_TRUE(leads(first, {{"b", "f16"}}));
  EXPECT_TRUE(leads(jointStepsOf(nodes, {}), {{"a", "perforate-rows:1/2@0"}, {"b", "perforate-rows:1/2@0"}}));
  EXPECT_TRUE(leads(jointStepsOf(nodes, {}), {{"a", "f16-math"}, {"b", "f16-math"}}));
  // No configuration comes twice, and none has a knob that its node has not.
  for (const std::vector<KnobMap> &steps : {found, joint})
    for (const KnobMap &step : steps) {
      EXPECT_EQ(std::count(steps.begin(), steps.end(), step), 1);
      for (const auto &[node, knob] : step)
        EXPECT_NE(std::find(list.begin(), list.end(), knob), list.end()) << knob;
    }
}
