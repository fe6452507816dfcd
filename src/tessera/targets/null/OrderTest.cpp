// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches that the device orders itself: they are handed over before their predecessors
// are over, and what goes wrong with these is as if they had waited.
#include "tessera/runtime/Testing.h"
#include "tessera/targets/null/Device.h"

#include <atomic>
#include <random>
#include <thread>

using namespace tessera;
using namespace tessera::testing;

namespace {
NullDevice &orderingDevice(unsigned lanes) {
  static std::atomic<unsigned> next{900};
  auto &device = static_cast<NullDevice &>(addDevice(std::make_unique<NullDevice>(next++)));
  device.setAsync(lanes);
  return device;
}

std::shared_ptr<Program> openOrdered(const PlanBuilder &b, std::vector<std::string> devices) {
  ProgramOptions options;
  options.threads = 2;
  options.devices = std::move(devices);
  return openProgram(b, options);
}

Json orderVersions(PlanBuilder &b, const char *kernel, Args args, int n, bool cpuToo) {
  Json all = Json::array({b.version("null", Json::array({b.step(kernel, args, n)}))});
  if (cpuToo)
    all.push_back(b.version("cpu", Json::array({b.step(kernel, args, n)})));
  return all;
}

// x + 1 + 1 …, n0 to n<count - 1>
PlanBuilder addChain(int count, bool cpuToo) {
  PlanBuilder b;
  int previous = b.input("x", {-1}), n = b.dim(previous, 0);
  for (int i = 0; i < count; ++i) {
    int next = b.temp({n});
    b.node(concat("n", i), {previous}, {next},
           orderVersions(b, "k_add1", {{"value", previous}, {"value", next}}, n, cpuToo));
    previous = next;
  }
  b.output("out", previous);
  return b;
}
} // namespace

TEST(Order, SuccessorsAreHandedOverAtOnce) {
  NullDevice &device = orderingDevice(1);
  auto program = openOrdered(addChain(6, true), {device.name()});
  ASSERT_TRUE(program);
  device.setDelays(50000, 0);
  EXPECT_EQ(content(*launch(*program, {floats({1, 2})})[0]), (std::vector<float>{7, 8}));
  EXPECT_GE(device.counts().launchesAhead, 1u);
  EXPECT_EQ(device.counts().launches, 6u);
  EXPECT_EQ(device.counts().copiesIn, 1u);
  EXPECT_EQ(device.counts().copiesOut, 1u);
}

TEST(Order, WhatFollowsAFailureIsRunAfterTheRetry) {
  for (const char *which : {"n0", "n1", "n3"}) {
    NullDevice &device = orderingDevice(2);
    auto program = openOrdered(addChain(4, true), {device.name()});
    ASSERT_TRUE(program);
    device.setDelays(5000, 0);
    device.failLaunches(which, 1);
    EXPECT_EQ(content(*launch(*program, {floats({1, 2, 3})})[0]), (std::vector<float>{5, 6, 7})) << which;
    EXPECT_EQ(device.counts().failures, 1u);
  }
  // Without anybody else to run it the launch fails, by the name of what has failed.
  NullDevice &device = orderingDevice(1);
  auto program = openOrdered(addChain(4, false), {device.name()});
  device.setDelays(5000, 0);
  device.failLaunches("n1", 1);
  auto x = floats({1});
  Buffer *in[] = {x.get()};
  BufferRef out[1];
  EXPECT_EQ(program->launch(in, out).message(), concat("node 'n1' failed on device '", device.name(), "': ",
                                                       device.name(), ": kernel 'k_add1' failed on demand"));
  EXPECT_EQ(content(*launch(*program, {x})[0]), std::vector<float>{5});
}

TEST(Order, ALostDeviceTakesItsQueueWithIt) {
  for (bool hangs : {false, true}) {
    const auto saved = deviceLimit();
    NullDevice &device = orderingDevice(1);
    auto program = openOrdered(addChain(5, true), {device.name()});
    ASSERT_TRUE(program);
    device.setDelays(5000, 0);
    if (hangs)
      setDeviceLimit(std::chrono::milliseconds(400));
    hangs ? device.hangAtLaunch("n0") : device.loseAtLaunch("n0");
    EXPECT_EQ(content(*launch(*program, {floats({1})})[0]), std::vector<float>{6});
    setDeviceLimit(saved);
    EXPECT_TRUE(device.lost());
  }
}

// The limit is for one launch, not for all that stands before it.
TEST(Order, WaitingForOthersIsNoSilence) {
  const auto saved = deviceLimit();
  NullDevice &device = orderingDevice(1);
  auto program = openOrdered(addChain(8, true), {device.name()});
  ASSERT_TRUE(program);
  device.setDelays(150000, 0);
  setDeviceLimit(std::chrono::milliseconds(600));
  EXPECT_EQ(content(*launch(*program, {floats({1})})[0]), std::vector<float>{9});
  setDeviceLimit(saved);
  EXPECT_FALSE(device.lost());
}

// A node that changes in place what is still being written.
TEST(Order, InPlaceAfterAWriter) {
  for (bool cpuToo : {false, true})
    for (bool fails : {false, true}) {
      if (fails && !cpuToo)
        continue;
      NullDevice &device = orderingDevice(2);
      PlanBuilder b;
      int x = b.input("x", {-1}), n = b.dim(x, 0), t = b.temp({n}), u = b.alias(t, {n}), out = b.temp({n});
      b.node("make", {x}, {t}, orderVersions(b, "k_add1", {{"value", x}, {"value", t}}, n, cpuToo));
      b.node("look", {t}, {out}, orderVersions(b, "k_add1", {{"value", t}, {"value", out}}, n, cpuToo));
      b.node("twice", {t}, {u}, orderVersions(b, "k_twice", {{"value", t}}, n, cpuToo));
      b.output("out", u);
      b.output("old", out);
      auto program = openOrdered(b, {device.name()});
      ASSERT_TRUE(program);
      device.setDelays(5000, 0);
      if (fails)
        device.failLaunches("twice", 1);
      auto result = launch(*program, {floats({1, 2, 3, 4})});
      EXPECT_EQ(content(*result[0]), (std::vector<float>{4, 6, 8, 10}));
      EXPECT_EQ(content(*result[1]), (std::vector<float>{3, 4, 5, 6}));
    }
}

// Random graphs of sums over two such devices and the host, with failures: always what the host alone says.
TEST(Order, RandomGraphs) {
  std::mt19937 random(7);
  auto pick = [&](size_t count) { return static_cast<int>(random() % count); };
  for (int round = 0; round < 40; ++round) {
    PlanBuilder b;
    std::vector<int> values = {b.input("x", {3}), b.input("y", {3})};
    int n = b.constant(3);
    const int count = 4 + pick(12);
    for (int i = 0; i < count; ++i) {
      // A new value, or an earlier temporary overwritten in place.
      const bool inPlace = i > 2 && pick(4) == 0;
      int from = values[static_cast<size_t>(pick(values.size()))],
          other = values[static_cast<size_t>(pick(values.size()))];
      if (inPlace) {
        int v = values[2 + static_cast<size_t>(pick(values.size() - 2))];
        int changed = b.alias(v, {n});
        b.node(concat("n", i), {v}, {changed}, orderVersions(b, "k_twice", {{"value", v}}, n, pick(3) != 0));
        continue;
      }
      int to = b.temp({n});
      b.node(concat("n", i), {from, other}, {to},
             orderVersions(b, "k_add", {{"value", from}, {"value", other}, {"value", to}}, n, true));
      values.push_back(to);
    }
    for (size_t v = 2; v < values.size(); ++v)
      b.output(concat("o", v), values[v]);
    PlanBuilder onHost = b;
    for (Json &node : onHost.nodes)
      node["versions"][0]["target"] = "cpu";
    auto x = floats({1, 2, 3}), y = floats({0.5, 0.25, 4});
    auto expected = launch(*openOrdered(onHost, {"cpu"}), {x, y});
    NullDevice &first = orderingDevice(1 + static_cast<unsigned>(round % 3)), &second = orderingDevice(2);
    auto program = openOrdered(b, {first.name(), second.name()});
    ASSERT_TRUE(program);
    for (int i = 0; i < 3; ++i) {
      first.setDelays(static_cast<unsigned>(pick(300)), static_cast<unsigned>(pick(100)));
      const std::string failing = concat("n", pick(static_cast<size_t>(count)));
      // Nodes that change something in place and cannot be run elsewhere must not fail.
      const size_t index = static_cast<size_t>(std::stoi(failing.substr(1)));
      if (b.nodes[index]["versions"].size() == 2)
        first.failLaunches(failing, 1);
      auto got = launch(*program, {floats(content(*x)), floats(content(*y))});
      for (size_t o = 0; o < got.size(); ++o)
        ASSERT_EQ(content(*got[o]), content(*expected[o])) << "round " << round << ", output " << o;
      first.failLaunches(failing, 0);
    }
  }
}

// Devices without queues of their own are waited for.
TEST(Order, OthersAreWaitedFor) {
  Device &cpu = *findDevice("cpu");
  EXPECT_FALSE(cpu.ordersWork());
  EventRef good[] = {Event::finished(Status())},
           bad[] = {Event::finished(fail(StatusCode::DeviceFailed, "burnt"))};
  EXPECT_TRUE(cpu.launchAfter(good, {}, 1)->wait().ok());
  EXPECT_EQ(cpu.launchAfter(bad, {}, 1)->wait().message(), "what it waits for has failed: burnt");
}
