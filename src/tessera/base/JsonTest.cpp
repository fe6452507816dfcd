// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes go through JSON and come back.
#include "tessera/base/Json.h"

#include <gtest/gtest.h>
#include <random>

using namespace tessera;

TEST(Json, AnyBytesComeBack) {
  const std::string texts[] = {"",
                               "plain",
                               "gr\xc3\xbc\xc3\x9f",
                               "\xff",
                               "caf\xe9",
                               "\xc3",                 // cut
                               "\xc0\x80",             // too long
                               "\xed\xa0\x80",         // a surrogate
                               "\xf4\x90\x80\x80",     // beyond Unicode
                               "\xf4\x8f\xbf\xbf",     // the characters that stand for bytes
                               "\xf4\x8f\xbe\x80\xff", // and a byte behind
                               std::string("a\0b", 3)};
  for (const std::string &text : texts) {
    EXPECT_EQ(fromUtf8(toUtf8(text)), text);
    nlohmann::json json = {{"name", text}, {text, nlohmann::json::array({text, 1, true})}};
    EXPECT_EQ(parseJson(dumpJson(json)), json);
    EXPECT_EQ(parseJson(dumpJson(json, 1)), json);
    EXPECT_EQ(parseJson(quoteJson(text)), text);
  }
  EXPECT_EQ(toUtf8("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(toUtf8("\xff"), "\xf4\x8f\xbf\xbf");
  EXPECT_EQ(quoteJson("a\"\n\\"), R"("a\"\n\\")");
  EXPECT_TRUE(parseJson("{").is_discarded());
  EXPECT_TRUE(parseJson(std::string(1000000, '[')).is_discarded());
  EXPECT_TRUE(parseJson(std::string(100000, '[') + std::string(100000, ']')).is_array());
}

TEST(Json, RandomBytesComeBackAndAreValid) {
  std::mt19937 random(3);
  // Many of them are beginnings of characters.
  const unsigned char likely[] = {0xf4, 0x8f, 0xbe, 0xbf, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xed, 0xa0, 'a', '"'};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t n = random() % 12; n; --n)
      text += static_cast<char>(random() % 2 ? likely[random() % sizeof likely] : random());
    const std::string quoted = quoteJson(text);
    ASSERT_FALSE(nlohmann::json::parse(quoted, nullptr, false).is_discarded()) << quoted;
    ASSERT_EQ(parseJson(quoted), text);
  }
}
