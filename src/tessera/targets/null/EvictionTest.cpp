// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many launches at once on a device whose memory is full: what a running kernel uses is
// never taken from it, and whatever fits alone gets through.
#include "tessera/runtime/Testing.h"
#include "tessera/targets/null/Device.h"

#include <atomic>
#include <thread>

using namespace tessera;
using namespace tessera::testing;

namespace {
class EvictionTest : public ::testing::Test {
protected:
  void SetUp() override {
    trimDeviceMemory(null);
    null.resetCounts();
    null.setMemory(null.memoryInUse() + (64 << 10));
  }
  void TearDown() override {
    null.setMemory(uint64_t(1) << 30);
    null.setDelays(0, 0);
    null.setAsync(0);
    null.failLaunches("", 0);
  }
  NullDevice &null = *dynamic_cast<NullDevice *>(findDevice("null"));

  static ProgramOptions onNull() {
    ProgramOptions options;
    options.threads = 2;
    options.devices = {"null"};
    return options;
  }
};

// x -> two steps through a temporary of the version -> twice, in place -> + c, a constant -> out
PlanBuilder chain(bool cpuToo, int64_t n) {
  PlanBuilder b;
  int x = b.input("x", {n});
  int extent = b.constant(n), t = b.temp({extent}), u = b.temp({extent}), v = b.alias(u, {extent});
  int c = b.value({{"kind", "const"}, {"type", "f32"}, {"shape", {extent}}, {"offset", 0}, {"bytes", 4 * n}});
  int out = b.temp({extent});
  auto versions = [&](Json steps, Json temps) {
    Json all = Json::array({b.version("null", steps, temps)});
    if (cpuToo)
      all.push_back(b.version("cpu", steps, temps));
    return all;
  };
  Json first = b.step("k_add1", {{"value", x}, {"value", t}}, extent);
  Json second = b.step("k_add1", {{"value", t}, {"value", u}}, extent);
  b.node("two", {x}, {u}, versions(Json::array({first, second}), Json::array({t})));
  b.node("twice", {u}, {v},
         versions(Json::array({b.step("k_twice", {{"value", u}}, extent)}), Json::array()));
  b.node("sum", {v, c}, {out},
         versions(Json::array({b.step("k_add", {{"value", v}, {"value", c}, {"value", out}}, extent)}),
                  Json::array()));
  b.output("out", out);
  return b;
}

std::string tens(int64_t n) {
  std::vector<float> values(static_cast<size_t>(n), 10.0f);
  return std::string(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(float));
}

// Launches from eight threads; returns how many went wrong.
int launchAtOnce(Program &program, int64_t n, int times) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < times; ++i) {
        const float start = static_cast<float>(100 * t + i);
        auto input = floats(std::vector<float>(static_cast<size_t>(n), start));
        Buffer *raw[] = {input.get()};
        BufferRef out[1];
        Status status = program.launch(raw, out);
        if (!status.ok())
          ADD_FAILURE() << status.message();
        if (!status.ok() ||
            content(*out[0]) != std::vector<float>(static_cast<size_t>(n), (start + 2) * 2 + 10))
          ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return wrong;
}

int repeats() { return std::getenv("TESSERA_FULL") ? 1000 : 60; }
} // namespace

TEST_F(EvictionTest, LaunchesAtOnceShareAFullDevice) {
  // Four buffers of 12 KiB fit at a time; a node uses three of them.
  constexpr int64_t n = 3 << 10;
  for (unsigned lanes : {0u, 1u, 3u})
    for (bool cpuToo : {false, true}) {
      null.setAsync(lanes);
      auto program = openProgram(chain(cpuToo, n), onNull(), tens(n));
      ASSERT_TRUE(program);
      EXPECT_EQ(launchAtOnce(*program, n, repeats()), 0) << lanes << " " << cpuToo;
    }
  EXPECT_GT(evictions().dropped + evictions().writtenBack, 0u);
}

// There is no room for a second copy of what a node changes in place, and the node fails.
TEST_F(EvictionTest, AnInPlaceNodeWithoutRoomForADuplicateLosesNothing) {
  constexpr int64_t n = 12 << 10; // 48 KiB of 64
  PlanBuilder b;
  int extent = b.constant(n), t = b.temp({extent}), u = b.alias(t, {extent});
  Json twice = b.step("k_twice", {{"value", t}}, extent);
  b.node("make", {}, {t},
         Json::array({b.version("null", Json::array({b.step("k_iota", {{"value", t}}, extent)}))}));
  b.node("twice", {t}, {u},
         Json::array({b.version("null", Json::array({twice})), b.version("cpu", Json::array({twice}))}));
  b.output("out", u);
  auto program = openProgram(b, onNull());
  ASSERT_TRUE(program);
  for (int failures : {0, 1}) {
    null.failLaunches("twice", failures);
    auto out = content(*launch(*program, {})[0]);
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], 2.0f * static_cast<float>(i)) << failures;
  }
}

// The temporaries of a version find no room: what the node would have changed is as it was.
TEST_F(EvictionTest, ANodeThatNeverBeganLeavesWhatItChanges) {
  constexpr int64_t n = 3 << 10;
  PlanBuilder b;
  int extent = b.constant(n), much = b.constant(1 << 20);
  int t = b.temp({extent}), u = b.alias(t, {extent}), wide = b.temp({much});
  Json twice = b.step("k_twice", {{"value", t}}, extent);
  b.node("make", {}, {t},
         Json::array({b.version("null", Json::array({b.step("k_iota", {{"value", t}}, extent)}))}));
  b.node("twice", {t}, {u},
         Json::array({b.version("null", Json::array({twice}), Json::array({wide})),
                      b.version("cpu", Json::array({twice}))}));
  b.output("out", u);
  auto program = openProgram(b, onNull());
  ASSERT_TRUE(program);
  auto out = content(*launch(*program, {})[0]);
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], 2.0f * static_cast<float>(i));
}

TEST_F(EvictionTest, MemoryInUseOutlivesItsBuffer) {
  auto buffer = floats(std::vector<float>(1024, 1.0f));
  DeviceUse use = buffer->deviceRead(null).take();
  const uint64_t used = null.memoryInUse();
  // Changed in place by somebody else, who gets a duplicate; then dropped.
  {
    ASSERT_TRUE(buffer->deviceWrite(null).ok());
    buffer->commit(null);
    DeviceUse fresh = buffer->deviceUpdate(null, /*protect=*/true).take();
    EXPECT_NE(fresh.data(), use.data());
    buffer->commit(null);
  }
  buffer.reset();
  trimDeviceMemory(null);
  EXPECT_EQ(null.memoryInUse(), used);
  EXPECT_EQ(static_cast<const float *>(use.data())[1023], 1.0f);
  use = DeviceUse();
  trimDeviceMemory(null);
  EXPECT_LT(null.memoryInUse(), used);
}

// A copy that fails does not give up the memory that the other copies are still writing to.
TEST_F(EvictionTest, CopiesUnderWayAreAwaitedWhenOneFails) {
  null.setAsync(1);
  auto buffer = floats(std::vector<float>(1024, 1.0f));
  ASSERT_TRUE(buffer->deviceRead(null).ok());
  for (size_t part : {0, 1024, 2048})
    ASSERT_TRUE(buffer->hostWrite({part, part + 64}, /*discard=*/true).ok());
  null.setDelays(0, 2000);
  null.resetCounts();
  null.failCopies(1);
  EXPECT_FALSE(buffer->deviceRead(null).ok());
  EXPECT_EQ(null.counts().copiesIn, 2u);
  ASSERT_TRUE(buffer->deviceRead(null).ok());
  EXPECT_EQ(null.counts().copiesIn, 3u);
}
