// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges, the arena, and buffers without devices.
#include "tessera/runtime/memory/Buffer.h"
#include "tessera/runtime/memory/Arena.h"

#include <gtest/gtest.h>
#include <random>

using namespace tessera;

TEST(IntervalSet, AgainstASetOfBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    IntervalSet set;
    std::vector<bool> bytes(64, false);
    for (int step = 0; step < 30; ++step) {
      size_t a = random() % 65, b = random() % 65;
      ByteRange range{std::min(a, b), std::max(a, b)};
      bool add = random() % 2;
      add ? set.add(range) : set.remove(range);
      for (size_t i = range.begin; i < range.end; ++i)
        bytes[i] = add;
      ByteRange probe{random() % 32, 32 + random() % 33};
      std::vector<bool> missing(64, false), common(64, false);
      for (ByteRange r : set.missing(probe))
        for (size_t i = r.begin; i < r.end; ++i)
          missing[i] = true;
      for (ByteRange r : set.common(probe))
        for (size_t i = r.begin; i < r.end; ++i)
          common[i] = true;
      bool all = true;
      for (size_t i = probe.begin; i < probe.end; ++i) {
        ASSERT_EQ(missing[i], !bytes[i]);
        ASSERT_EQ(common[i], bytes[i]);
        all = all && bytes[i];
      }
      ASSERT_EQ(set.contains(probe), all);
      for (size_t i = 1; i < set.all().size(); ++i)
        ASSERT_LT(set.all()[i - 1].end, set.all()[i].begin);
    }
  }
}

TEST(Arena, NothingAliveAtOnceOverlaps) {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    std::vector<ArenaRequest> requests;
    for (int i = 0; i < 40; ++i) {
      int32_t a = static_cast<int32_t>(random() % 20), b = static_cast<int32_t>(random() % 20);
      requests.push_back({random() % 1000, std::min(a, b), std::max(a, b), 0});
    }
    uint64_t total = planArena(requests), sum = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      sum += (requests[i].bytes + 63) / 64 * 64;
      ASSERT_EQ(requests[i].offset % 64, 0u);
      ASSERT_LE(requests[i].offset + requests[i].bytes, total);
      for (size_t j = 0; j < i; ++j) {
        bool together = requests[i].first <= requests[j].last && requests[j].first <= requests[i].last;
        bool overlap = requests[i].offset < requests[j].offset + requests[j].bytes &&
                       requests[j].offset < requests[i].offset + requests[i].bytes;
        ASSERT_FALSE(together && overlap);
      }
    }
    ASSERT_LE(total, sum);
  }
}

TEST(Buffer, Errors) {
  EXPECT_NE(Buffer::create(ElementType::F32, {-1})
                .status()
                .message()
                .find("a buffer of f32 of shape ? is not possible"),
            std::string::npos);
  alignas(64) char memory[64];
  EXPECT_EQ(Buffer::wrap(ElementType::F32, {1}, memory + 1).status().message(),
            "expected host memory aligned to 4 bytes");
  EXPECT_EQ(Buffer::wrap(ElementType::F32, {1}, nullptr).status().message(),
            "expected host memory aligned to 4 bytes");
  auto huge = Buffer::create(ElementType::I8, {int64_t(1) << 60});
  ASSERT_TRUE(huge.ok());
  EXPECT_NE((*huge)->hostRead().status().message().find("host: out of memory: asked"), std::string::npos);
}

TEST(Buffer, StartsAsZerosOnTheHost) {
  auto buffer = Buffer::create(ElementType::F32, {4}).take();
  const float *memory = reinterpret_cast<const float *>(*buffer->hostRead());
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(memory[i], 0);
  EXPECT_EQ(buffer->describe(), "f32 of shape 4");
}
