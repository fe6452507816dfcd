// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The spelling of knobs.
#include "tessera/base/Knob.h"

#include <gtest/gtest.h>

using namespace tessera;

static std::string refusal(std::string_view text) {
  Result<Knob> knob = Knob::parse(text);
  return knob.ok() ? "accepted" : knob.status().message();
}

TEST(Knob, ReadsAndPrints) {
  for (const char *text : {"f32",
                           "f16",
                           "f16-math",
                           "f16-math+cubic-rows:3/4@2",
                           "bf16",
                           "int8",
                           "int7",
                           "split",
                           "int4",
                           "perforate-rows:1/2@0",
                           "perforate-rows:3/4@1",
                           "cubic-rows:7/8@4",
                           "perforate-cols:1/3@2",
                           "perforate-both:1/4@3",
                           "sample-filter:1/4@1",
                           "sample:1/2@0",
                           "low-rank:16",
                           "prune:2/4",
                           "prune-blocks:0.5",
                           "direct",
                           "winograd:2",
                           "winograd:4",
                           "promise:3",
                           "reuse:3/4@1",
                           "version:2",
                           "stale:3",
                           "bit-errors:1e-06",
                           "bit-errors:0.25",
                           "int8+perforate-rows:1/2@1",
                           "bf16+low-rank:32"}) {
    Result<Knob> knob = Knob::parse(text);
    ASSERT_TRUE(knob.ok()) << text << ": " << knob.status().message();
    EXPECT_EQ(knob->str(), text);
    EXPECT_EQ(*Knob::parse(knob->str()), *knob);
  }
  Knob knob = *Knob::parse("int8+perforate-rows:1/3@1");
  EXPECT_EQ(knob.precision, Knob::Precision::Int8);
  EXPECT_TRUE(knob.perforatesRows() && !knob.perforatesCols());
  EXPECT_EQ(knob.rate, 3);
  EXPECT_EQ(knob.offset, 1);
  // The order of the parts does not matter; the text is always the same.
  EXPECT_EQ(Knob::parse("perforate-rows:1/3@1+int8")->str(), "int8+perforate-rows:1/3@1");
  EXPECT_TRUE(Knob::parse("f32")->isExact());
  EXPECT_FALSE(Knob::parse("direct")->isExact());
}

TEST(Knob, RefusesOthers) {
  EXPECT_EQ(refusal("in8").substr(0, 41), "unknown knob 'in8'; did you mean 'int8'? ");
  EXPECT_EQ(refusal("perforate-rows:1/2"),
            "the knob 'perforate-rows:1/2' is malformed; expected something like 'perforate-rows:1/2@0'");
  EXPECT_EQ(refusal("int8+bf16"), "a knob has at most one precision, but got 'bf16' as well");
  EXPECT_EQ(refusal("direct+low-rank:3"), "a knob has at most one structure, but got 'low-rank:3' as well");
  EXPECT_EQ(refusal("f32+direct"), "'f32' stands alone, but got 'f32+direct'; leave it out");
  for (const char *text : {"",
                           "+",
                           "int8+",
                           "perforate-rows:1/2@2",
                           "perforate-rows:3/3@0",
                           "perforate-cols:2/3@0",
                           "sample:1/1@0",
                           "sample:1/99@0",
                           "low-rank:0",
                           "low-rank:-1",
                           "low-rank:16x",
                           "prune:4/4",
                           "prune:0/4",
                           "prune-blocks:1",
                           "prune-blocks:nan",
                           "direct:1",
                           "direct:",
                           "winograd:3",
                           "winograd",
                           "promise:8",
                           "version:0",
                           "stale:9",
                           "bit-errors:1",
                           "bit-errors:0",
                           "reuse:1/2@0",
                           "reuse:2/3@2",
                           "low-rank:99999999999999999999"})
    EXPECT_FALSE(Knob::parse(text).ok()) << text;
}

TEST(Knob, Maps) {
  Result<KnobMap> map = parseKnobMap("conv1=bf16,a=b=perforate-rows:1/3@1+int8");
  ASSERT_TRUE(map.ok()) << map.status().message();
  EXPECT_EQ(*map, (KnobMap{{"conv1", "bf16"}, {"a=b", "int8+perforate-rows:1/3@1"}}));
  EXPECT_EQ(parseKnobMap("int8").status().message(),
            "expected operation=knob, but got 'int8'; for example all=int8");
  EXPECT_EQ(parseKnobMap("a=f16,a=f16").status().message(), "the operation 'a' has two knobs");
  EXPECT_FALSE(parseKnobMap("").ok());
  EXPECT_FALSE(parseKnobMap("a=f16,").ok());
}
