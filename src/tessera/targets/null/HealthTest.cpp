// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices that are lost or never answer: what they held counts no more, their nodes run
// elsewhere, and what cannot be had again is named. Each test spoils devices of its own.
#include "tessera/runtime/Testing.h"
#include "tessera/targets/null/Device.h"

#include <atomic>
#include <chrono>
#include <thread>

using namespace tessera;
using namespace tessera::testing;

namespace {
NullDevice &freshDevice() {
  static std::atomic<unsigned> next{100};
  return static_cast<NullDevice &>(addDevice(std::make_unique<NullDevice>(next++)));
}

ProgramOptions onDevices(std::vector<std::string> devices, Policy policy = Policy::Static) {
  ProgramOptions options;
  options.threads = 2;
  options.devices = std::move(devices);
  options.policy = policy;
  return options;
}

Json versionsFor(PlanBuilder &b, const char *kernel, Args args, int n, std::vector<std::string> targets) {
  Json all = Json::array();
  for (const std::string &target : targets)
    all.push_back(b.version(target, Json::array({b.step(kernel, args, n)})));
  return all;
}

// x -> first: + 1 -> second: + 1 -> out
PlanBuilder twoNodes(const std::vector<std::string> &targets) {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), t = b.temp({n}), out = b.temp({n});
  b.node("first", {x}, {t}, versionsFor(b, "k_add1", {{"value", x}, {"value", t}}, n, targets));
  b.node("second", {t}, {out}, versionsFor(b, "k_add1", {{"value", t}, {"value", out}}, n, targets));
  b.output("out", out);
  return b;
}

Status launchStatus(Program &program, BufferRef x, BufferRef *result = nullptr) {
  Buffer *in[] = {x.get()};
  BufferRef out[1];
  Status status = program.launch(in, out);
  if (result)
    *result = out[0];
  return status;
}

/// Waits are short while it exists.
struct ShortLimit {
  explicit ShortLimit(int ms) { setDeviceLimit(std::chrono::milliseconds(ms)); }
  ~ShortLimit() { setDeviceLimit(std::chrono::milliseconds(saved)); }
  std::chrono::milliseconds saved = deviceLimit();
};
} // namespace

TEST(Health, ALostDeviceIsLeftAndItsNodesRunElsewhere) {
  for (unsigned lanes : {0u, 2u}) {
    NullDevice &device = freshDevice();
    device.setAsync(lanes);
    auto program = openProgram(twoNodes({"null", "cpu"}), onDevices({device.name()}));
    ASSERT_TRUE(program);
    EXPECT_EQ(content(*launch(*program, {floats({1, 2})})[0]), (std::vector<float>{3, 4}));
    EXPECT_FALSE(device.lost());
    EXPECT_EQ(device.lossReason(), "");
    device.loseAtLaunch("first");
    EXPECT_EQ(content(*launch(*program, {floats({3, 4})})[0]), (std::vector<float>{5, 6}));
    EXPECT_TRUE(device.lost());
    const std::string why = concat(device.name(), ": kernel 'k_add1' lost the device on demand");
    EXPECT_EQ(device.lossReason(), why);
    // Nobody asks it again.
    const uint64_t launches = device.counts().launches;
    EXPECT_EQ(content(*launch(*program, {floats({5})})[0]), std::vector<float>{7});
    EXPECT_EQ(device.counts().launches, launches);
    auto module = loadModule(twoNodes({"null", "cpu"}).plan()).take();
    EXPECT_EQ(Program::open(module, "", onDevices({device.name()})).status().message(),
              concat("device '", device.name(), "' was lost: ", why));
  }
}

TEST(Health, AnotherDeviceOfTheKindTakesOver) {
  NullDevice &a = freshDevice(), &b = freshDevice();
  auto program = openProgram(twoNodes({"null"}), onDevices({a.name(), b.name()}));
  ASSERT_TRUE(program);
  a.loseAtLaunch("first");
  EXPECT_EQ(content(*launch(*program, {floats({1})})[0]), std::vector<float>{3});
  EXPECT_EQ(b.counts().launches, 2u);
  b.loseAtLaunch("first");
  EXPECT_EQ(launchStatus(*program, floats({1})).message(),
            concat("node 'first' failed on device '", b.name(), "': ", b.lossReason()));
  EXPECT_EQ(launchStatus(*program, floats({1})).message(),
            concat("node 'first' has no device left to run on: '", a.name(), "' was lost (", a.lossReason(),
                   "), '", b.name(), "' was lost (", b.lossReason(), ")"));
}

// The host may run the second node, but the first one's result was on the device alone.
TEST(Health, ContentThatOnlyALostDeviceHadIsNamed) {
  for (unsigned lanes : {0u, 1u}) {
    NullDevice &device = freshDevice();
    device.setAsync(lanes);
    auto program = openProgram(twoNodes({"null", "cpu"}), onDevices({device.name()}));
    ASSERT_TRUE(program);
    device.loseAtLaunch("second");
    Status status = launchStatus(*program, floats({1, 2}));
    EXPECT_EQ(
        status.message(),
        concat(
            "node 'second' cannot run: the result of node 'first': f32 of shape 2: the only valid copy was "
            "lost with device '",
            device.name(), "': ", device.lossReason()));
    EXPECT_EQ(status.code(), StatusCode::DeviceLost);
    EXPECT_EQ(content(*launch(*program, {floats({1, 2})})[0]), (std::vector<float>{3, 4}));
  }
}

TEST(Health, LostWhileCopyingBack) {
  for (unsigned lanes : {0u, 1u}) {
    NullDevice &device = freshDevice();
    device.setAsync(lanes);
    auto program = openProgram(twoNodes({"null", "cpu"}), onDevices({device.name()}));
    ASSERT_TRUE(program);
    auto x = floats({1});
    BufferRef out;
    ASSERT_TRUE(launchStatus(*program, x, &out).ok());
    device.loseAtCopy("out");
    auto read = out->hostRead();
    EXPECT_EQ(read.status().message(),
              concat("f32 of shape 1: the only valid copy was lost with device '", device.name(),
                     "': ", device.name(), ": copy out lost the device on demand"));
    // Again, and for other devices: nobody gets what is left in memory.
    EXPECT_EQ(out->hostRead().status().code(), StatusCode::DeviceLost);
    EXPECT_EQ(out->deviceRead(*findDevice("null:1")).status().code(), StatusCode::DeviceLost);
    // What was on the host too is still there, and the result can be had again.
    EXPECT_EQ(content(*x), std::vector<float>{1});
    EXPECT_EQ(content(*launch(*program, {x})[0]), std::vector<float>{3});
    // Writing all of it ends the loss.
    ASSERT_TRUE(out->hostWrite().ok());
    EXPECT_TRUE(out->hostRead().ok());
  }
}

TEST(Health, LostWhileCopyingIn) {
  NullDevice &device = freshDevice();
  auto program = openProgram(twoNodes({"null", "cpu"}), onDevices({device.name()}));
  ASSERT_TRUE(program);
  device.loseAtCopy("in");
  EXPECT_EQ(content(*launch(*program, {floats({1})})[0]), std::vector<float>{3});
  EXPECT_TRUE(device.lost());
}

// Only a part of it was on the device alone.
TEST(Health, APartThatIsElsewhereStaysReadable) {
  NullDevice &device = freshDevice();
  auto buffer = Buffer::create(ElementType::F32, {64}).take();
  ASSERT_TRUE(buffer->deviceWrite(device).ok());
  buffer->commit(device);
  ASSERT_TRUE(buffer->hostRead({0, 128}).ok());
  device.markLost(fail(StatusCode::DeviceLost, "pulled out"));
  EXPECT_TRUE(buffer->hostRead({0, 128}).ok());
  EXPECT_EQ(
      buffer->hostRead({0, 256}).status().message(),
      concat("f32 of shape 64: the only valid copy was lost with device '", device.name(), "': pulled out"));
  ASSERT_TRUE(buffer->hostWrite({128, 256}, /*discard=*/true).ok());
  EXPECT_TRUE(buffer->hostRead().ok());
}

// The duplicate of what a node changes in place was on the device, too; a copy on the host was not.
TEST(Health, InPlaceContentOfALostDeviceIsNotInvented) {
  for (bool onHost : {false, true}) {
    NullDevice &device = freshDevice();
    PlanBuilder b;
    int x = b.input("x", {-1}), n = b.dim(x, 0), t = b.temp({n}), u = b.alias(t, {n});
    b.node("make", {x}, {t},
           versionsFor(b, "k_add1", {{"value", x}, {"value", t}}, n, {onHost ? "cpu" : "null"}));
    b.node("twice", {t}, {u}, versionsFor(b, "k_twice", {{"value", t}}, n, {"null", "cpu"}));
    b.output("out", u);
    auto program = openProgram(b, onDevices({device.name(), "cpu"}));
    ASSERT_TRUE(program);
    device.loseAtLaunch("twice");
    BufferRef out;
    Status status = launchStatus(*program, floats({1, 2, 3}), &out);
    EXPECT_TRUE(device.lost());
    if (onHost) {
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(content(*out), (std::vector<float>{4, 6, 8}));
      continue;
    }
    EXPECT_EQ(status.code(), StatusCode::DeviceLost);
    EXPECT_EQ(
        status.message(),
        concat("node 'twice' cannot run: output 'out': f32 of shape 3: the only valid copy was lost with "
               "device '",
               device.name(), "': ", device.lossReason()));
  }
}

TEST(Health, LaunchesAtOnceSurviveTheLoss) {
  for (unsigned lanes : {0u, 3u}) {
    NullDevice &device = freshDevice();
    device.setAsync(lanes);
    auto program = openProgram(twoNodes({"null", "cpu"}), onDevices({device.name()}));
    ASSERT_TRUE(program);
    std::atomic<int> wrong{0}, lost{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          if (t == 0 && i == 5)
            device.loseAtLaunch("second");
          const float v = static_cast<float>(100 * t + i);
          BufferRef out;
          Status status = launchStatus(*program, floats({v, v}), &out);
          auto memory = status.ok() ? out->hostRead() : Result<std::byte *>(status);
          if (!memory.ok())
            memory.status().code() == StatusCode::DeviceLost ? ++lost : ++wrong;
          else if (reinterpret_cast<const float *>(*memory)[1] != v + 2)
            ++wrong;
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(device.lost());
    // Launches that had something on the device, one a thread at most, and no more.
    EXPECT_LE(lost, 6);
    EXPECT_EQ(content(*launch(*program, {floats({1})})[0]), std::vector<float>{3});
  }
}

TEST(Health, ALaunchThatNeverEndsIsGivenUp) {
  ShortLimit limit(400);
  for (unsigned lanes : {0u, 1u}) {
    NullDevice &device = freshDevice();
    device.setAsync(lanes);
    auto alone = openProgram(twoNodes({"null"}), onDevices({device.name()}));
    ASSERT_TRUE(alone);
    device.hangAtLaunch("second");
    Status status = launchStatus(*alone, floats({1}));
    EXPECT_EQ(status.message(), concat("node 'second' failed on device '", device.name(), "': device '",
                                       device.name(), "': node 'second' got no answer within 400 ms"));
    EXPECT_EQ(status.code(), StatusCode::DeviceLost);
    EXPECT_TRUE(device.lost());
    NullDevice &other = freshDevice();
    other.setAsync(lanes);
    auto both = openProgram(twoNodes({"null", "cpu"}), onDevices({other.name()}));
    other.hangAtLaunch("first");
    EXPECT_EQ(content(*launch(*both, {floats({1})})[0]), std::vector<float>{3});
    EXPECT_TRUE(other.lost());
  }
}

TEST(Health, ACopyThatNeverEndsIsGivenUp) {
  ShortLimit limit(400);
  NullDevice &device = freshDevice();
  auto program = openProgram(twoNodes({"null", "cpu"}), onDevices({device.name()}));
  ASSERT_TRUE(program);
  device.hangAtCopy("in");
  EXPECT_EQ(content(*launch(*program, {floats({1})})[0]), std::vector<float>{3});
  EXPECT_EQ(device.lossReason(), concat("device '", device.name(), "': a copy got no answer within 400 ms"));
  NullDevice &other = freshDevice();
  auto buffer = Buffer::create(ElementType::F32, {4}).take();
  ASSERT_TRUE(buffer->deviceWrite(other).ok());
  buffer->commit(other);
  other.hangAtCopy("out");
  EXPECT_EQ(buffer->hostRead().status().message(),
            concat("f32 of shape 4: the only valid copy was lost with device '", other.name(), "': device '",
                   other.name(), "': a copy got no answer within 400 ms"));
}

TEST(Health, WaitsForEventsHaveALimit) {
  Event event;
  EXPECT_EQ(event.wait(std::chrono::milliseconds(20)).message(), "no answer within 20.0 ms");
  EXPECT_FALSE(event.isOver());
  event.complete(Status(), {17, {{"cycles", 5}}});
  EXPECT_TRUE(event.wait().ok());
  EXPECT_EQ(event.report().ns, 17u);
}

// A simulator's time is not the clock's: what it says counts for profiles and policies.
TEST(Health, DevicesMaySayWhatTheyTook) {
  NullDevice &device = freshDevice();
  device.setDelays(20000, 0); // 20 ms by the clock.
  device.setOwnTime(1000);    // 1 us a task.
  ProgramOptions options = onDevices({device.name(), "cpu"}, Policy::Eft);
  options.profile = true;
  PlanBuilder b;
  int x = b.input("x", {4}), n = b.constant(4), out = b.temp({n});
  Json all = Json::array();
  for (const char *target : {"null", "cpu"})
    all.push_back(b.version(target, Json::array({b.step("k_add1", {{"value", x}, {"value", out}}, n)})));
  all[0]["steps"][0]["flops"] = n;
  all[1]["steps"][0]["flops"] = b.constant(int64_t(1) << 50);
  b.node("n", {x}, {out}, all);
  b.output("out", out);
  auto program = openProgram(b, options);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->ownNanoseconds(), 0u);
  for (int i = 0; i < 3; ++i)
    launch(*program, {floats({1, 2, 3, 4})});
  EXPECT_EQ(device.counts().launches, 3u);
  NodeProfile profile = program->profile()->snapshot()[0];
  EXPECT_EQ(profile.totalNs, 12000u);
  EXPECT_EQ(profile.minNs, 4000u);
  EXPECT_EQ(profile.counters["tasks"], 12u);
  EXPECT_EQ(program->ownNanoseconds(), 4000u);
}

TEST(Health, HostMemoryThatTravelsIsPinned) {
  NullDevice &device = freshDevice();
  {
    auto buffer = floats(std::vector<float>(16, 1.0f));
    EXPECT_EQ(device.pinnedBytes(), 0u);
    ASSERT_TRUE(buffer->deviceRead(device).ok());
    EXPECT_EQ(device.pinnedBytes(), 64u);
    ASSERT_TRUE(buffer->hostWrite().ok());
    ASSERT_TRUE(buffer->deviceRead(device).ok());
    EXPECT_EQ(device.counts().pins, 1u);
    // The caller's own memory stays as it is.
    alignas(64) float mine[16] = {};
    auto wrapped = Buffer::wrap(ElementType::F32, {16}, mine).take();
    ASSERT_TRUE(wrapped->deviceRead(device).ok());
    EXPECT_EQ(device.pinnedBytes(), 64u);
  }
  EXPECT_EQ(device.pinnedBytes(), 0u);
}

// A copy under way holds up who needs the data, but nobody who asks about it or has it already.
TEST(Health, NobodyWaitsForACopyThatIsNotTheirs) {
  NullDevice &slow = freshDevice(), &fast = freshDevice();
  auto buffer = floats(std::vector<float>(1024, 1.0f));
  ASSERT_TRUE(buffer->deviceRead(fast).ok());
  slow.setDelays(0, 300000);
  std::thread mover([&] { EXPECT_TRUE(buffer->deviceRead(slow).ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(buffer->bytesToMove(fast), 0u);
  EXPECT_TRUE(buffer->hostRead().ok());
  EXPECT_TRUE(buffer->deviceRead(fast).ok());
  buffer->want(slow);
  buffer->unwant(slow);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));
  mover.join();
  EXPECT_EQ(slow.counts().copiesIn, 1u);
}
