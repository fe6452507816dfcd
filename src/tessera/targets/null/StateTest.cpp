// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States and outputs that are no memory of their own stay on the device that made them:
// exact numbers of transfers, and what happens when that device is lost.
#include "tessera/runtime/Testing.h"
#include "tessera/runtime/stream/Stream.h"
#include "tessera/targets/null/Device.h"

#include <atomic>

using namespace tessera;
using namespace tessera::testing;

namespace {
NullDevice &stateDevice() {
  static std::atomic<unsigned> next{700};
  return static_cast<NullDevice &>(addDevice(std::make_unique<NullDevice>(next++)));
}

std::string noBytes() { return std::string(64, '\0'); }

int zeroState(PlanBuilder &b, int n) {
  return b.value({{"kind", "const"}, {"type", "f32"}, {"shape", {n}}, {"offset", 0}, {"bytes", 64}});
}

int stateOf(PlanBuilder &b, int n, int init, int next) {
  return b.value({{"kind", "state"}, {"type", "f32"}, {"shape", {n}}, {"init", init}, {"next", next}});
}

// sum' = sum + x; out = sum' + 1, or sum' itself.
PlanBuilder runningSum(bool direct) {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), init = zeroState(b, n), next = b.temp({n}), out = b.temp({n});
  int state = stateOf(b, n, init, next);
  b.simple("acc", "k_add", {x, state}, {next}, {{"value", x}, {"value", state}, {"value", next}}, n);
  b.simple("after", "k_add1", {next}, {out}, {{"value", next}, {"value", out}}, n);
  b.output("out", direct ? next : out);
  return b;
}

std::shared_ptr<Program> openStates(const PlanBuilder &b, const std::string &device) {
  ProgramOptions options;
  options.threads = 1;
  options.devices = {device};
  return openProgram(b, options, noBytes());
}

Status runItem(Stream &stream, std::vector<float> x, std::vector<BufferRef> &out) {
  BufferRef in[] = {floats(std::move(x))};
  for (BufferRef &each : out)
    each = nullptr;
  TESSERA_TRY(stream.push(in, out));
  return stream.pop(out);
}
} // namespace

TEST(States, StayOnTheDevice) {
  for (bool direct : {false, true})
    for (unsigned lanes : {0u, 2u}) {
      NullDevice &device = stateDevice();
      device.setAsync(lanes);
      auto program = openStates(runningSum(direct), device.name());
      ASSERT_TRUE(program);
      auto stream = Stream::open(program).take();
      std::vector<BufferRef> out(1);
      for (int i = 1; i <= 5; ++i)
        ASSERT_TRUE(runItem(*stream, {1, 2}, out).ok());
      // Five inputs and what the state begins with went in; nothing came out.
      EXPECT_EQ(device.counts().copiesIn, 6u);
      EXPECT_EQ(device.counts().copiesOut, 0u);
      // A temporary that nobody else sees becomes the state; an output is the caller's, and is copied there.
      EXPECT_EQ(device.counts().copiesPeer, direct ? 5u : 0u);
      EXPECT_EQ(content(*out[0]), direct ? (std::vector<float>{5, 10}) : (std::vector<float>{6, 11}));
      EXPECT_EQ(device.counts().copiesOut, 1u);
    }
}

// Launches without a stream: what states begin with is there already.
TEST(States, BeginOnTheDevice) {
  NullDevice &device = stateDevice();
  auto program = openStates(runningSum(false), device.name());
  ASSERT_TRUE(program);
  launch(*program, {floats({1, 2})});
  device.resetCounts();
  auto x = floats({1, 2});
  launch(*program, {x});
  EXPECT_EQ(content(*launch(*program, {x})[0]), (std::vector<float>{2, 3}));
  EXPECT_EQ(device.counts().copiesIn, 3u); // x, and each launch's state.
}

// Two states of which one follows the other, in both orders: all take their new content at once. (For the
// host alone the installer copies such a state first.)
TEST(States, ChangeAllAtOnce) {
  for (bool firstFollows : {false, true}) {
    PlanBuilder b;
    int x = b.input("x", {-1}), n = b.dim(x, 0), init = zeroState(b, n), t = b.temp({n});
    int a = stateOf(b, n, init, 0), c = stateOf(b, n, init, 0), out = b.temp({n});
    const int leads = firstFollows ? c : a, follows = firstFollows ? a : c;
    b.values[static_cast<size_t>(leads)]["next"] = t;
    b.values[static_cast<size_t>(follows)]["next"] = leads;
    b.simple("take", "k_add1", {x}, {t}, {{"value", x}, {"value", t}}, n);
    b.simple("old", "k_add1", {follows}, {out}, {{"value", follows}, {"value", out}}, n);
    b.output("out", out);
    auto program = openStates(b, "null");
    ASSERT_TRUE(program);
    auto stream = Stream::open(program).take();
    std::vector<BufferRef> result(1);
    // What was pushed two items ago, and 1 for either node.
    const float expected[] = {1, 1, 12, 22, 32};
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(runItem(*stream, {static_cast<float>(10 * (i + 1))}, result).ok());
      EXPECT_EQ(content(*result[0]), std::vector<float>{expected[i]}) << firstFollows << i;
    }
  }
}

// A second output of one memory, a state as an output, an input as an output.
TEST(States, IndirectOutputsStayOnTheDevice) {
  NullDevice &device = stateDevice();
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), init = zeroState(b, n), t = b.temp({n});
  int state = stateOf(b, n, init, t), again = b.alias(t, {n});
  b.simple("acc", "k_add", {x, state}, {t}, {{"value", x}, {"value", state}, {"value", t}}, n);
  for (auto [name, v] :
       {std::pair("first", t), std::pair("again", again), std::pair("before", state), std::pair("same", x)})
    b.output(name, v);
  auto program = openStates(b, device.name());
  ASSERT_TRUE(program);
  auto x0 = floats({1, 2});
  auto out = launch(*program, {x0});
  EXPECT_EQ(device.counts().copiesOut, 0u);
  EXPECT_EQ(device.counts().copiesPeer, 1u); // Of the sum; x and the state's beginning are on the host.
  EXPECT_EQ(content(*out[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(content(*out[1]), (std::vector<float>{1, 2}));
  EXPECT_EQ(content(*out[2]), (std::vector<float>{0, 0}));
  EXPECT_EQ(content(*out[3]), (std::vector<float>{1, 2}));
  EXPECT_EQ(device.counts().copiesOut, 2u);
  // They are buffers of their own.
  reinterpret_cast<float *>(*out[0]->hostWrite(/*discard=*/false))[0] = 99;
  EXPECT_EQ(content(*out[1]), (std::vector<float>{1, 2}));
  // A copy that fails on the device goes by way of the host.
  device.failCopies(0);
  device.failPeerCopies(1);
  out = launch(*program, {x0});
  EXPECT_EQ(content(*out[1]), (std::vector<float>{1, 2}));
  EXPECT_EQ(content(*out[0]), (std::vector<float>{1, 2}));
}

// The state was nowhere else: this item and all that follow say so, and another stream begins anew.
TEST(States, GoWithADeviceThatIsLost) {
  for (unsigned lanes : {0u, 1u}) {
    NullDevice &device = stateDevice();
    device.setAsync(lanes);
    PlanBuilder b = runningSum(false);
    for (Json &node : b.nodes) {
      Json host = node["versions"][0], other = host;
      other["target"] = "null";
      node["versions"] = Json::array({other, host});
    }
    auto program = openStates(b, device.name());
    ASSERT_TRUE(program);
    auto stream = Stream::open(program).take();
    std::vector<BufferRef> out(1);
    ASSERT_TRUE(runItem(*stream, {1, 2}, out).ok());
    ASSERT_TRUE(runItem(*stream, {1, 2}, out).ok());
    EXPECT_EQ(content(*out[0]), (std::vector<float>{3, 5}));
    device.loseAtLaunch("acc");
    const std::string message =
        "node 'acc' cannot run: the state that node 'acc' reads: f32 of shape 2: the only valid copy was "
        "lost with device '";
    for (int i = 0; i < 2; ++i) {
      Status status = runItem(*stream, {1, 2}, out);
      EXPECT_EQ(status.message(), concat(message, device.name(), "': ", device.lossReason()));
      EXPECT_EQ(status.code(), StatusCode::DeviceLost);
    }
    auto anew = Stream::open(program).take();
    ASSERT_TRUE(runItem(*anew, {1, 2}, out).ok());
    EXPECT_EQ(content(*out[0]), (std::vector<float>{2, 3}));
  }
}

// What the host had seen of a state, it can go on with.
TEST(States, SurviveWhereTheHostHasThemToo) {
  NullDevice &device = stateDevice();
  auto program = openStates(runningSum(false), device.name());
  ASSERT_TRUE(program);
  auto stream = Stream::open(program).take();
  std::vector<BufferRef> out(1);
  device.loseAtLaunch("acc"); // The state is still what it began with, on the host.
  ASSERT_TRUE(runItem(*stream, {1, 2}, out).ok());
  ASSERT_TRUE(runItem(*stream, {1, 2}, out).ok());
  EXPECT_EQ(content(*out[0]), (std::vector<float>{3, 5}));
  EXPECT_TRUE(device.lost());
}

TEST(States, KeepTheirShape) {
  for (const char *where : {"cpu", "null"}) {
    auto program = openStates(runningSum(false), where);
    ASSERT_TRUE(program);
    auto stream = Stream::open(program).take();
    std::vector<BufferRef> out(1);
    ASSERT_TRUE(runItem(*stream, {1, 2}, out).ok());
    EXPECT_EQ(runItem(*stream, {1, 2, 3}, out).message(),
              "this item's state has 12 bytes, but the stream began with 8; open another stream for other "
              "shapes");
    ASSERT_TRUE(runItem(*stream, {1, 2}, out).ok());
    EXPECT_EQ(content(*out[0]), (std::vector<float>{3, 5}));
  }
}

// A plan may give a state something that is not of its shape.
TEST(States, TakeNothingOfAnotherShape) {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), two = b.constant(2), init = zeroState(b, two),
      next = b.temp({n});
  stateOf(b, two, init, next);
  b.simple("next", "k_add1", {x}, {next}, {{"value", x}, {"value", next}}, n);
  b.output("out", next);
  auto program = openStates(b, "null");
  ASSERT_TRUE(program);
  auto stream = Stream::open(program).take();
  std::vector<BufferRef> out(1);
  ASSERT_TRUE(runItem(*stream, {1, 2}, out).ok());
  EXPECT_NE(runItem(*stream, {1, 2, 3}, out).message().find("gets f32 of shape 3; expected the same shape"),
            std::string::npos);
}
