// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named sharing patterns on the null device: each moves exactly the minimum. Then
// faults, policies and settings.
#include "tessera/targets/null/Device.h"
#include "tessera/runtime/Testing.h"

using namespace tessera;
using namespace tessera::testing;

namespace {
class NullTest : public ::testing::Test {
protected:
  void SetUp() override { reset(); }
  void reset() {
    for (NullDevice *device : {&null, &null1}) {
      device->resetCounts();
      device->failLaunches("", 0);
      device->failCopies(0);
      device->setDelays(0, 0);
      device->setAsync(0);
      device->setMemory(uint64_t(1) << 30);
    }
  }
  static NullDevice &device(const char *name) { return *dynamic_cast<NullDevice *>(findDevice(name)); }
  NullDevice &null = device("null"), &null1 = device("null1");

  static ProgramOptions on(std::vector<std::string> devices, Policy policy = Policy::Static) {
    ProgramOptions options;
    options.threads = 2;
    options.devices = std::move(devices);
    options.policy = policy;
    return options;
  }
  void expectCopies(NullDevice &device, uint64_t in, uint64_t out) {
    EXPECT_EQ(device.counts().copiesIn, in);
    EXPECT_EQ(device.counts().copiesOut, out);
  }
};

int add1(PlanBuilder &b, const std::string &name, const char *target, int from, int to, int n) {
  return b.node(
      name, {from}, {to},
      Json::array({b.version(target, Json::array({b.step("k_add1", {{"value", from}, {"value", to}}, n)}))}));
}

// One node on the null device, from `x` to `out`.
PlanBuilder oneNode(const char *name) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), out = b.temp({n});
  add1(b, name, "null", x, out, n);
  b.output("out", out);
  return b;
}

// Nodes n0, n1, … on the null device that all read `x`.
PlanBuilder readers(int count) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0);
  for (int i = 0; i < count; ++i) {
    int out = b.temp({n});
    add1(b, "n" + std::to_string(i), "null", x, out, n);
    b.output("out" + std::to_string(i), out);
  }
  return b;
}

// Nodes n0, n1, … on the null device, each with an input of its own.
PlanBuilder independentNodes(int count) {
  PlanBuilder b;
  for (int i = 0; i < count; ++i) {
    int x = b.input("x" + std::to_string(i), {1});
    int n = b.constant(1), out = b.temp({n});
    add1(b, "n" + std::to_string(i), "null", x, out, n);
    b.output("out" + std::to_string(i), out);
  }
  return b;
}
} // namespace

TEST_F(NullTest, Pattern01_ManyReadersOneCopy) {
  auto program = openProgram(readers(5), on({"null"}));
  ASSERT_TRUE(program);
  auto outs = launch(*program, {floats({1, 2, 3})});
  expectCopies(null, 1, 0);
  for (BufferRef &out : outs)
    EXPECT_EQ(content(*out), (std::vector<float>{2, 3, 4}));
  expectCopies(null, 1, 5);
}

TEST_F(NullTest, Pattern02_HostReadKeepsTheDeviceCopyValid) {
  auto program = openProgram(oneNode("n"), on({"null"}));
  ASSERT_TRUE(program);
  auto x0 = floats({1});
  auto first = launch(*program, {x0});
  EXPECT_EQ(content(*first[0]), std::vector<float>{2});
  EXPECT_EQ(content(*x0), std::vector<float>{1});
  expectCopies(null, 1, 1);
  // The result goes in again, and so does the old input: both are still on the device.
  auto second = launch(*program, {first[0]});
  launch(*program, {x0});
  expectCopies(null, 1, 1);
  EXPECT_EQ(content(*second[0]), std::vector<float>{3});
}

TEST_F(NullTest, Pattern03_SubRangeWriteMovesOnlyTheSubRange) {
  auto program = openProgram(oneNode("n"), on({"null"}));
  ASSERT_TRUE(program);
  auto buffer = floats(std::vector<float>(100, 0.0f));
  launch(*program, {buffer});
  null.resetCounts();
  float *memory = reinterpret_cast<float *>(*buffer->hostWrite({40, 48}, true));
  memory[10] = 5, memory[11] = 6;
  auto out2 = launch(*program, {buffer});
  EXPECT_EQ(null.counts().copiesIn, 1u);
  EXPECT_EQ(null.counts().bytesIn, 8u);
  EXPECT_EQ(content(*out2[0])[10], 6);
  EXPECT_EQ(content(*out2[0])[12], 1);
}

TEST_F(NullTest, Pattern04_ProducerToConsumerOnOneDeviceCopiesNothing) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), t = b.temp({n}), out = b.temp({n});
  add1(b, "producer", "null", x, t, n);
  add1(b, "consumer", "null", t, out, n);
  b.output("out", out);
  auto program = openProgram(b, on({"null"}));
  ASSERT_TRUE(program);
  auto outs = launch(*program, {floats({1})});
  expectCopies(null, 1, 0);
  EXPECT_EQ(content(*outs[0]), std::vector<float>{3});
  expectCopies(null, 1, 1);
}

TEST_F(NullTest, Pattern05_PingPongMovesEachHandOverOnce) {
  // cpu -> null -> cpu -> null; the CPU's versions come from nodes that only have those.
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0);
  int previous = x;
  const char *targets[] = {"cpu", "null", "cpu", "null"};
  for (int i = 0; i < 4; ++i) {
    int next = b.temp({n});
    add1(b, "n" + std::to_string(i), targets[i], previous, next, n);
    previous = next;
  }
  b.output("out", previous);
  auto program = openProgram(b, on({"cpu", "null"}));
  ASSERT_TRUE(program);
  auto outs = launch(*program, {floats({0})});
  expectCopies(null, 2, 1);
  EXPECT_EQ(content(*outs[0]), std::vector<float>{4});
  expectCopies(null, 2, 2);
}

TEST_F(NullTest, Pattern06_WriteOnlyOutputNeedsNoUpload) {
  PlanBuilder b;
  int n = b.constant(4), out = b.temp({n});
  b.node("iota", {}, {out},
         Json::array({b.version("null", Json::array({b.step("k_iota", {{"value", out}}, n)}))}));
  b.output("out", out);
  auto program = openProgram(b, on({"null"}));
  ASSERT_TRUE(program);
  auto given = floats({9, 9, 9, 9});
  BufferRef outs[] = {given};
  ASSERT_TRUE(program->launch({}, outs).ok());
  expectCopies(null, 0, 0);
  EXPECT_EQ(content(*given), (std::vector<float>{0, 1, 2, 3}));
  expectCopies(null, 0, 1);
}

TEST_F(NullTest, Pattern07_ConstantsMoveOnceForAllLaunches) {
  PlanBuilder b;
  int x = b.input("x", {2});
  int n = b.constant(2);
  int c = b.value({{"kind", "const"}, {"type", "f32"}, {"shape", {n}}, {"offset", 0}, {"bytes", 8}});
  int t = b.temp({n}), out = b.temp({n});
  for (auto [name, from, to] : {std::tuple("a", x, t), std::tuple("b", t, out)})
    b.node(name, {from, c}, {to},
           Json::array({b.version(
               "null", Json::array({b.step("k_add", {{"value", from}, {"value", c}, {"value", to}}, n)}))}));
  b.output("out", out);
  float numbers[16] = {10, 20};
  auto program = openProgram(b, on({"null"}), std::string(reinterpret_cast<char *>(numbers), 64));
  ASSERT_TRUE(program);
  auto input = floats({1, 2});
  EXPECT_EQ(content(*launch(*program, {input})[0]), (std::vector<float>{21, 42}));
  launch(*program, {input});
  launch(*program, {input});
  expectCopies(null, 2, 1); // The constant and the input, once each.
}

// Each target has its form of a node, with constants of its own: what the others' want stays where it is.
TEST_F(NullTest, ConstantsOfOtherVersionsStayAtHome) {
  PlanBuilder b;
  int x = b.input("x", {2}), n = b.constant(2), out = b.temp({n});
  auto constant = [&](int offset) {
    return b.value({{"kind", "const"}, {"type", "f32"}, {"shape", {n}}, {"offset", offset}, {"bytes", 8}});
  };
  int mine = constant(0), theirs = constant(64);
  auto version = [&](const char *target, int c) {
    return b.version(target, Json::array({b.step("k_add", {{"value", x}, {"value", c}, {"value", out}}, n)}));
  };
  b.node("n", {x, mine, theirs}, {out}, Json::array({version("null", mine), version("cpu", theirs)}));
  b.output("out", out);
  float numbers[32] = {10, 20};
  numbers[16] = 100, numbers[17] = 200;
  const std::string bytes(reinterpret_cast<char *>(numbers), 128);
  auto program = openProgram(b, on({"null", "cpu"}), bytes);
  ASSERT_TRUE(program);
  EXPECT_EQ(content(*launch(*program, {floats({1, 2})})[0]), (std::vector<float>{11, 22}));
  expectCopies(null, 2, 1);
  EXPECT_EQ(null.counts().bytesIn, 16u);
  EXPECT_EQ(content(*launch(*openProgram(b, on({"cpu"}), bytes), {floats({1, 2})})[0]),
            (std::vector<float>{101, 202}));
}

TEST_F(NullTest, Pattern08_TwoDevicesShareThroughTheHostOnce) {
  auto buffer = Buffer::create(ElementType::F32, {4}).take();
  ASSERT_TRUE(buffer->deviceWrite(null).ok());
  buffer->commit(null);
  ASSERT_TRUE(buffer->deviceRead(null1).ok());
  expectCopies(null, 0, 1);
  expectCopies(null1, 1, 0);
  // Now the host, and both devices, have it.
  ASSERT_TRUE(buffer->hostRead().ok());
  ASSERT_TRUE(buffer->deviceRead(null).ok());
  ASSERT_TRUE(buffer->deviceRead(null1).ok());
  expectCopies(null, 0, 1);
  expectCopies(null1, 1, 0);
}

TEST_F(NullTest, Pattern09_HostWriteInvalidatesOnlyWhatOverlaps) {
  auto buffer = floats(std::vector<float>(64, 1.0f));
  ASSERT_TRUE(buffer->deviceRead(null).ok());
  ASSERT_TRUE(buffer->deviceRead(null1).ok());
  null.resetCounts(), null1.resetCounts();
  ASSERT_TRUE(buffer->hostWrite({0, 16}, true).ok());
  ASSERT_TRUE(buffer->hostWrite({128, 144}, true).ok());
  ASSERT_TRUE(buffer->deviceRead(null).ok());
  EXPECT_EQ(null.counts().copiesIn, 2u);
  EXPECT_EQ(null.counts().bytesIn, 32u);
  EXPECT_EQ(null1.counts().copiesIn, 0u);
  EXPECT_EQ(buffer->bytesToMove(null1), 32u);
}

TEST_F(NullTest, Pattern10_FailedNodeAndCpuRetryMoveTheMinimum) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), t = b.temp({n}), out = b.temp({n});
  auto both = [&](int from, int to) {
    Json step = b.step("k_add1", {{"value", from}, {"value", to}}, n);
    return Json::array({b.version("null", Json::array({step})), b.version("cpu", Json::array({step}))});
  };
  b.node("good", {x}, {t}, both(x, t));
  b.node("bad", {t}, {out}, both(t, out));
  b.output("out", out);
  auto program = openProgram(b, on({"null"}));
  ASSERT_TRUE(program);
  null.failLaunches("bad", 1);
  auto outs = launch(*program, {floats({1, 2})});
  EXPECT_EQ(content(*outs[0]), (std::vector<float>{3, 4}));
  // x goes in; t comes out for the CPU; the result is already on the host.
  expectCopies(null, 1, 1);
  EXPECT_EQ(null.counts().failures, 1u);
}

TEST_F(NullTest, Pattern11_PartialHostReadFetchesOnlyTheRange) {
  auto buffer = Buffer::create(ElementType::F32, {256}).take();
  ASSERT_TRUE(buffer->deviceWrite(null).ok());
  buffer->commit(null);
  ASSERT_TRUE(buffer->hostRead({256, 512}).ok());
  EXPECT_EQ(null.counts().bytesOut, 256u);
  ASSERT_TRUE(buffer->hostRead({0, 512}).ok());
  EXPECT_EQ(null.counts().bytesOut, 512u);
}

// In place on a device whose copy is the only valid one: a failure must not lose it.
TEST_F(NullTest, FailedInPlaceNodeIsRetriedFromUnharmedData) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), t = b.temp({n}), u = b.alias(t, {n});
  Json first = b.step("k_add1", {{"value", x}, {"value", t}}, n);
  Json second = b.step("k_twice", {{"value", t}}, n);
  b.node("make", {x}, {t}, Json::array({b.version("null", Json::array({first}))}));
  b.node("twice", {t}, {u},
         Json::array({b.version("null", Json::array({second})), b.version("cpu", Json::array({second}))}));
  b.output("out", u);
  auto program = openProgram(b, on({"null"}));
  ASSERT_TRUE(program);
  null.failLaunches("twice", 1); // Half of the elements are doubled before it fails.
  auto outs = launch(*program, {floats({1, 2, 3, 4})});
  EXPECT_EQ(content(*outs[0]), (std::vector<float>{4, 6, 8, 10}));
  expectCopies(null, 1, 1);
}

TEST_F(NullTest, AFailureWithoutCpuVersionNamesNodeAndDevice) {
  auto program = openProgram(oneNode("edge"), on({"null"}));
  ASSERT_TRUE(program);
  // Versions for "null" alone cannot be retried: the CPU does not run them.
  null.failLaunches("edge", 1);
  auto input = floats({1});
  Buffer *raw[] = {input.get()};
  BufferRef outs[1];
  Status status = program->launch(raw, outs);
  EXPECT_EQ(status.message(),
            "node 'edge' failed on device 'null:0': null:0: kernel 'k_add1' failed on demand");
  EXPECT_EQ(status.code(), StatusCode::DeviceFailed);
  null.failCopies(1);
  auto other = floats({5});
  raw[0] = other.get();
  outs[0].reset();
  EXPECT_EQ(program->launch(raw, outs).message(),
            "node 'edge' failed on device 'null:0': null:0: copy in failed on demand");
  outs[0].reset();
  ASSERT_TRUE(program->launch(raw, outs).ok());
  EXPECT_EQ(content(*outs[0]), std::vector<float>{6});
}

// What a kernel finds wrong with its data is no failure of the device: nothing is tried again.
TEST_F(NullTest, FaultsOfKernelsAreReadBack) {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), ten = b.constant(10);
  int out = b.temp({n}), cells = b.value({{"kind", "fault"}, {"type", "i64"}, {"shape", {b.constant(4)}}});
  auto step = b.step("k_within", {{"value", x}, {"value", out}, {"expr", ten}, {"value", cells}}, n);
  step["faults"] = {
      {"value", cells},
      {"sites", Json::array({Json::array({"offset", "rows", ""}), Json::array({"divisor", "it", ""})})}};
  b.node("look", {x, cells}, {out, cells},
         Json::array({b.version("null", Json::array({step})), b.version("cpu", Json::array({step}))}));
  b.output("out", out);
  auto program = openProgram(b, on({"null", "cpu"}));
  ASSERT_TRUE(program);
  for (float v : {12.0f, 3.0f, -1.0f}) {
    auto input = floats({v});
    Buffer *raw[] = {input.get()};
    BufferRef outs[1];
    null.resetCounts();
    Status status = program->launch(raw, outs);
    EXPECT_EQ(status.message(), v == 3
                                    ? ""
                                    : concat("node 'look': expected an index of rows from 0 to 9, but got ",
                                             static_cast<int>(v)));
    EXPECT_EQ(null.counts().launches, 1u);
  }
}

TEST_F(NullTest, OutOfMemoryIsRetriedOnTheCpuOrReported) {
  auto program = openProgram(oneNode("big"), on({"null"}));
  ASSERT_TRUE(program);
  trimDeviceMemory(null);
  null.setMemory(1000);
  auto input = floats(std::vector<float>(1000, 1.0f));
  Buffer *raw[] = {input.get()};
  BufferRef outs[1];
  EXPECT_NE(program->launch(raw, outs).message().find("null:0: out of memory: asked 3.91 KiB"),
            std::string::npos);
  null.setMemory(uint64_t(1) << 30);
}

TEST_F(NullTest, PoliciesChooseDevices) {
  PlanBuilder b;
  int x = b.input("x", {1000});
  int n = b.constant(1000), out = b.temp({n}), flops = b.constant(1000000000);
  Json step = b.step("k_add1", {{"value", x}, {"value", out}}, n);
  step["flops"] = flops;
  b.node("heavy", {x}, {out},
         Json::array({b.version("cpu", Json::array({step})), b.version("null", Json::array({step}))}));
  b.output("out", out);
  DeviceInfo saved = null.info();
  auto run = [&](Policy policy) {
    reset();
    auto program = openProgram(b, on({"cpu", "null"}, policy));
    EXPECT_EQ(content(*launch(*program, {floats(std::vector<float>(1000, 1.0f))})[0])[999], 2);
    return null.counts().launches;
  };
  EXPECT_EQ(run(Policy::Static), 0u);
  null.mutableInfo().flopsPerSecond = 1e15;
  EXPECT_EQ(run(Policy::Eft), 1u);
  null.mutableInfo().flopsPerSecond = 1e6;
  EXPECT_EQ(run(Policy::Eft), 0u);
  null.mutableInfo().joulesPerFlop = 1e-15;
  EXPECT_EQ(run(Policy::Energy), 1u);
  null.mutableInfo().joulesPerFlop = 1;
  EXPECT_EQ(run(Policy::Energy), 0u);
  null.mutableInfo() = saved;
}

// What the installer expected comes before estimates of the runtime, and what was measured before both.
TEST_F(NullTest, ExpectedTimesAreWhereThePolicyBegins) {
  auto chosen = [&](Json cpuExpects, Json nullExpects, int launches = 1, unsigned delay = 0) {
    reset();
    null.setDelays(delay, 0);
    PlanBuilder b;
    int x = b.input("x", {-1}), n = b.dim(x, 0), out = b.temp({n});
    Json step = b.step("k_add1", {{"value", x}, {"value", out}}, n);
    Json all = Json::array({b.version("cpu", Json::array({step})), b.version("null", Json::array({step}))});
    all[0]["expected"] = cpuExpects, all[1]["expected"] = nullExpects;
    b.node("n", {x}, {out}, all);
    b.output("out", out);
    auto program = openProgram(b, on({"cpu", "null"}, Policy::Eft));
    auto input = floats(std::vector<float>(100, 1.0f));
    for (int i = 0; i < launches; ++i)
      EXPECT_EQ(content(*launch(*program, {input})[0])[99], 2);
    return null.counts().launches;
  };
  EXPECT_EQ(chosen({1e6, 0}, {1, 0}), 1u);
  EXPECT_EQ(chosen({1, 0}, {1e6, 0}), 0u);
  // The work is done 100 times in this launch.
  EXPECT_EQ(chosen({5e5, 0}, {1, 1e4, 0}), 0u);
  EXPECT_EQ(chosen({5e5, 0}, {1, 1e3, 0}), 1u);
  // The null device promises too much, and is found out.
  EXPECT_EQ(chosen({5000, 0}, {1, 0}, 3, 20000), 1u);
}

TEST_F(NullTest, CopiesOverlapKernels) {
  // Copies of one node hide behind kernels of another.
  auto program = openProgram(independentNodes(4), on({"null"}));
  ASSERT_TRUE(program);
  null.setDelays(20000, 20000);
  launch(*program, {floats({1}), floats({2}), floats({3}), floats({4})});
  EXPECT_GT(null.counts().copiesBesideKernels, 0u);
}

TEST_F(NullTest, SegmentsAndStatesWorkAcrossDevices) {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), one = b.constant(1), count = b.temp({}, "i64");
  int loaded = b.expr({"load", count}), out = b.temp({loaded});
  b.simple("count", "k_count", {x}, {count}, {{"value", x}, {"expr", n}, {"value", count}}, one);
  b.simple("iota", "k_iota", {}, {out}, {{"value", out}}, loaded);
  b.output("out", out);
  auto program = openProgram(b, on({"null"}));
  ASSERT_TRUE(program);
  EXPECT_EQ(content(*launch(*program, {floats({1, -1, 2})})[0]), (std::vector<float>{0, 1}));
  EXPECT_EQ(content(*launch(*program, {floats({1, 1, 2})})[0]), (std::vector<float>{0, 1, 2}));
}

TEST_F(NullTest, Settings) {
  NullDevice device(7);
  EXPECT_TRUE(device.configure("fail=node:2,delay_us=1,copy_delay_us=2,fail_copy=1,mem=64M").ok());
  EXPECT_EQ(device.info().memoryBytes, uint64_t(64) << 20);
  EXPECT_EQ(
      device.configure("fial=x").message(),
      "TESSERA_NULL: unknown setting 'fial'; did you mean 'fail'? settings: fail, delay_us, copy_delay_us, "
      "fail_copy, mem, async, lose, lose_copy, hang, hang_copy, own_ns, lost");
  EXPECT_EQ(device.configure("delay_us=x").message(), "TESSERA_NULL: 'delay_us=x' is not a valid setting");
  EXPECT_EQ(device.configure("mem=12Q").message(), "TESSERA_NULL: 'mem=12Q' is not a valid setting");
}

TEST_F(NullTest, AsynchronousLaunchesDoNotHoldUpTheQueue) {
  // A device that does four things at once and has one queue.
  auto program = openProgram(readers(4), on({"null"}));
  ASSERT_TRUE(program);
  null.setAsync(4);
  null.setDelays(20000, 0);
  auto outs = launch(*program, {floats({1, 2})});
  EXPECT_GT(null.counts().mostKernelsAtOnce, 1u);
  for (BufferRef &out : outs)
    EXPECT_EQ(content(*out), (std::vector<float>{2, 3}));
}

TEST_F(NullTest, AsynchronousCopiesOverlapKernels) {
  auto program = openProgram(independentNodes(4), on({"null"}));
  ASSERT_TRUE(program);
  null.setAsync(1);
  null.setDelays(20000, 20000);
  auto outs = launch(*program, {floats({1}), floats({2}), floats({3}), floats({4})});
  EXPECT_GT(null.counts().copiesBesideKernels, 0u);
  EXPECT_EQ(null.counts().mostKernelsAtOnce, 1u);
  null.setDelays(0, 0);
  EXPECT_EQ(content(*outs[3]), std::vector<float>{5});
}

TEST_F(NullTest, AsynchronousFailuresAreRetriedOrReported) {
  auto program = openProgram(oneNode("only"), on({"null"}));
  ASSERT_TRUE(program);
  null.setAsync(2);
  null.failLaunches("only", 1);
  auto input = floats({1});
  Buffer *in[] = {input.get()};
  BufferRef out[1];
  EXPECT_EQ(program->launch(in, out).message(),
            "node 'only' failed on device 'null:0': null:0: kernel 'k_add1' failed on demand");
  EXPECT_TRUE(program->launch(in, out).ok());
  null.failCopies(1);
  input = floats({1});
  in[0] = input.get();
  EXPECT_EQ(program->launch(in, out).message(),
            "node 'only' failed on device 'null:0': null:0: copy in failed on demand");
}

TEST_F(NullTest, MemoryIsMadeByDroppingCleanCopiesFirst) {
  trimDeviceMemory(null);
  const uint64_t before = null.memoryInUse();
  null.setMemory(before + 3 * 4096);
  auto make = [] { return floats(std::vector<float>(1024, 1.0f)); };
  BufferRef a = make(), b = make(), c = make(), d = make(), e = make();
  // a: its content is on the device alone; b and c: on the host too.
  ASSERT_TRUE(a->deviceWrite(null).ok());
  a->commit(null);
  ASSERT_TRUE(b->deviceRead(null).ok());
  ASSERT_TRUE(c->deviceRead(null).ok());
  EvictionCounts start = evictions();
  ASSERT_TRUE(d->deviceRead(null).ok());
  EXPECT_EQ(evictions().dropped - start.dropped, 1u);
  EXPECT_EQ(b->bytesToMove(null), 4096u) << "the least recently used clean copy goes first";
  EXPECT_EQ(c->bytesToMove(null), 0u);
  // Copies in use stay; then only the dirty one is left.
  std::vector<DeviceUse> uses;
  uses.push_back(c->deviceRead(null).take());
  uses.push_back(d->deviceRead(null).take());
  null.resetCounts();
  ASSERT_TRUE(e->deviceRead(null).ok());
  EXPECT_EQ(evictions().writtenBack - start.writtenBack, 1u);
  EXPECT_EQ(null.counts().copiesOut, 1u);
  EXPECT_EQ(a->bytesToMove(null), 4096u);
  // With everything in use there is nothing to take.
  uses.push_back(e->deviceRead(null).take());
  EXPECT_EQ(b->deviceRead(null).status().message(), "null:0: out of memory: asked 4.00 KiB, 0 B free");
  uses.clear();
  EXPECT_TRUE(b->deviceRead(null).ok());
}

TEST_F(NullTest, AProgramLargerThanTheDeviceRuns) {
  trimDeviceMemory(null);
  null.setMemory(null.memoryInUse() + 4 * 4096);
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), previous = x;
  for (int i = 0; i < 12; ++i) {
    int next = b.temp({n});
    add1(b, "n" + std::to_string(i), "null", previous, next, n);
    b.output("out" + std::to_string(i), next);
    previous = next;
  }
  auto program = openProgram(b, on({"null"}));
  ASSERT_TRUE(program);
  auto outs = launch(*program, {floats(std::vector<float>(1024, 0.0f))});
  for (size_t i = 0; i < outs.size(); ++i)
    EXPECT_EQ(content(*outs[i]), std::vector<float>(1024, static_cast<float>(i + 1)));
  EXPECT_EQ(null.counts().failures, 0u);
}

TEST_F(NullTest, MemoryOfOthers) {
  float mine = 0;
  EXPECT_EQ(null.copyIn(&mine, 0, &mine, 4).message(),
            null.name() + ": copy in: memory does not belong to the device");
}

TEST_F(NullTest, LaunchesWithoutStepsFailToo) {
  PlanBuilder b;
  int x = b.input("x", {-1}), y = b.alias(x, {b.dim(x, 0)});
  b.node("none", {x}, {y}, Json::array({b.version("null", Json::array())}));
  b.output("y", y);
  auto program = openProgram(b, on({"null"}));
  ASSERT_TRUE(program);
  null.failLaunches("", 1);
  auto input = floats({1});
  Buffer *raw[] = {input.get()};
  BufferRef outs[1];
  EXPECT_EQ(program->launch(raw, outs).message(),
            "node 'none' failed on device 'null:0': null:0: launch failed on demand");
}
