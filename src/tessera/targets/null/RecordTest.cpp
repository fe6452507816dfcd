// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments that a device records once and replays: when it does, that answers stay the
// same, and that a replay which fails is as if it had never begun.
#include "tessera/runtime/Testing.h"
#include "tessera/targets/null/Device.h"

#include <atomic>
#include <thread>

using namespace tessera;
using namespace tessera::testing;

namespace {
NullDevice &recorder() {
  static std::atomic<unsigned> next{500};
  auto &device = static_cast<NullDevice &>(addDevice(std::make_unique<NullDevice>(next++)));
  device.setRecords(true);
  return device;
}

// x -> + 1 through a temporary of the version -> twice, in place -> out
PlanBuilder twoSteps(bool cpuToo) {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), t = b.temp({n}), u = b.temp({n}), v = b.alias(u, {n});
  auto versions = [&](Json steps, Json temps) {
    Json all = Json::array({b.version("null", steps, temps)});
    if (cpuToo)
      all.push_back(b.version("cpu", steps, temps));
    return all;
  };
  Json first = b.step("k_add1", {{"value", x}, {"value", t}}, n);
  Json second = b.step("k_add1", {{"value", t}, {"value", u}}, n);
  b.node("two", {x}, {u}, versions(Json::array({first, second}), Json::array({t})));
  b.node("twice", {u}, {v}, versions(Json::array({b.step("k_twice", {{"value", u}}, n)}), Json::array()));
  b.output("out", v);
  return b;
}

std::shared_ptr<Program> openRecorded(const PlanBuilder &b, NullDevice &device, bool profile = false) {
  ProgramOptions options;
  options.devices = {device.name()};
  options.profile = profile;
  return openProgram(b, options);
}
} // namespace

TEST(Record, ShapesThatRepeatAreRecordedOnceAndReplayed) {
  for (unsigned lanes : {0u, 1u}) {
    NullDevice &device = recorder();
    device.setAsync(lanes);
    auto program = openRecorded(twoSteps(false), device);
    ASSERT_TRUE(program);
    for (int i = 0; i < 5; ++i) {
      const float f = static_cast<float>(i);
      EXPECT_EQ(content(*launch(*program, {floats({f, 10})})[0]), (std::vector<float>{2 * (f + 2), 24}));
    }
    EXPECT_EQ(device.counts().recordings, 1u);
    EXPECT_EQ(device.counts().replays, 4u);
    EXPECT_EQ(device.counts().launches, 2u + 4u); // Node by node the first time.
    // Another shape is another recording, once it repeats; no elements are no steps.
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(content(*launch(*program, {floats({7})})[0]), std::vector<float>{18});
    EXPECT_EQ(device.counts().recordings, 2u);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(content(*launch(*program, {floats({})})[0]), std::vector<float>{});
  }
}

TEST(Record, ProfilesSeeNodes) {
  NullDevice &device = recorder();
  auto program = openRecorded(twoSteps(false), device, /*profile=*/true);
  for (int i = 0; i < 3; ++i)
    launch(*program, {floats({1})});
  EXPECT_EQ(device.counts().replays, 0u);
  EXPECT_EQ(program->profile()->snapshot()[1].count, 3u);
}

TEST(Record, AReplayThatFailsIsRunNodeByNode) {
  for (bool cpuToo : {false, true}) {
    NullDevice &device = recorder();
    auto program = openRecorded(twoSteps(cpuToo), device);
    for (int i = 0; i < 2; ++i)
      launch(*program, {floats({1})});
    EXPECT_EQ(device.counts().replays, 1u);
    device.failLaunches("two", 1);
    EXPECT_EQ(content(*launch(*program, {floats({5})})[0]), std::vector<float>{14});
    const uint64_t replays = device.counts().replays;
    EXPECT_EQ(content(*launch(*program, {floats({6})})[0]), std::vector<float>{16});
    EXPECT_EQ(device.counts().replays, replays);
  }
}

TEST(Record, ALostRecorderIsLeft) {
  for (bool hangs : {false, true}) {
    NullDevice &device = recorder();
    auto program = openRecorded(twoSteps(true), device);
    for (int i = 0; i < 2; ++i)
      launch(*program, {floats({1})});
    const auto saved = deviceLimit();
    if (hangs)
      setDeviceLimit(std::chrono::milliseconds(400));
    hangs ? device.hangAtLaunch("two") : device.loseAtLaunch("two");
    EXPECT_EQ(content(*launch(*program, {floats({2})})[0]), std::vector<float>{8});
    setDeviceLimit(saved);
    EXPECT_TRUE(device.lost());
    if (hangs)
      EXPECT_EQ(device.lossReason(), concat("device '", device.name(),
                                            "': nodes 'two' to 'twice' got no answer "
                                            "within 400 ms"));
  }
}

TEST(Record, LaunchesAtOnceReplay) {
  NullDevice &device = recorder();
  device.setAsync(3);
  auto program = openRecorded(twoSteps(false), device);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        const float f = static_cast<float>(100 * t + i);
        auto x = floats({f});
        Buffer *in[] = {x.get()};
        BufferRef out[1];
        if (!program->launch(in, out).ok() || content(*out[0]) != std::vector<float>{2 * (f + 2)})
          ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(device.counts().replays, 100u);
}

TEST(Record, DevicesThatDoNotRecordSaySo) {
  Device &cpu = *findDevice("cpu");
  EXPECT_FALSE(cpu.records());
  EXPECT_EQ(cpu.record({}).status().message(), "device 'cpu:0' does not record");
  EXPECT_EQ(cpu.replay(nullptr, {})->wait().message(), "device 'cpu:0' does not record");
}
