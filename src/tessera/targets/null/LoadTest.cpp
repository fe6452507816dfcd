// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images of code that belong to one target: who loads them, how often, and what a file
// without one is told. The device here shares nothing with the host but its process: its
// code is text, and its handles are no functions.
#include "tessera/runtime/Testing.h"
#include "tessera/runtime/device/HeapDevice.h"
#include "tessera/targets/null/Device.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::testing;

namespace {
/// Code is a line for each kernel, "NAME ADDEND": out[i] = in[i] + ADDEND.
class LineDevice final : public HeapDevice {
public:
  LineDevice() : HeapDevice("line", 0) {
    deviceInfo.isPretend = true;
    deviceInfo.description = "for tests: adds";
  }
  struct Kernel {
    float addend;
  };
  class Lines final : public DeviceImage {
  public:
    std::map<std::string, Kernel, std::less<>> kernels;
    void *find(std::string_view name) const override {
      auto it = kernels.find(name);
      return it == kernels.end() ? nullptr : const_cast<Kernel *>(&it->second);
    }
  };
  const DeviceInfo &info() const override { return deviceInfo; }
  bool runs(std::string_view target) const override { return target == "line"; }
  Result<std::shared_ptr<const DeviceImage>> load(std::span<const std::byte> bytes) override {
    ++loads;
    auto image = std::make_shared<Lines>();
    std::string text(reinterpret_cast<const char *>(bytes.data()), bytes.size()), name;
    std::istringstream lines(text);
    for (float addend; lines >> name;) {
      if (!(lines >> addend))
        return fail(StatusCode::Corrupt, "'", name, "' has no addend");
      image->kernels[name] = {addend};
    }
    return std::shared_ptr<const DeviceImage>(std::move(image));
  }
  Status launch(std::span<const KernelLaunch> steps, unsigned) override {
    for (const KernelLaunch &step : steps) {
      last = step;
      own = std::string(step.own);
      types.clear();
      for (const StepArg &arg : step.kinds)
        types.push_back(arg.isValue ? "value" : std::string(elementTypeName(arg.type)));
      auto *in = reinterpret_cast<const float *>(step.args[0]);
      auto *out = reinterpret_cast<float *>(step.args[1]);
      for (int64_t i = 0; i < step.grid[0]; ++i)
        out[i] = in[i] + static_cast<const Kernel *>(step.handle)->addend;
    }
    return Status();
  }
  int loads = 0;
  KernelLaunch last;
  std::string own;
  std::vector<std::string> types;

private:
  DeviceInfo deviceInfo;
};

LineDevice &line() {
  static LineDevice &device = static_cast<LineDevice &>(addDevice(std::make_unique<LineDevice>()));
  return device;
}

ProgramOptions openOn(std::vector<std::string> devices) {
  ProgramOptions options;
  options.devices = std::move(devices);
  return options;
}

// x -> add on the line device -> k_add1 on the host -> out
PlanBuilder farAndNear() {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), t = b.temp({n}), out = b.temp({n});
  b.node("far", {x}, {t},
         Json::array({b.version("line", Json::array({b.step("add", {{"value", x}, {"value", t}}, n)}))}));
  b.simple("near", "k_add1", {t}, {out}, {{"value", t}, {"value", out}}, n);
  b.output("out", out);
  return b;
}
} // namespace

TEST(Load, AnImageIsLoadedOnceAModule) {
  line().loads = 0;
  auto module =
      loadModule(farAndNear().plan(), "", Json::object(), {{"code.line", "add 10\nother 5\n"}}).take();
  EXPECT_EQ(line().loads, 0);
  for (int i = 0; i < 2; ++i) {
    auto program = Program::open(module, "", openOn({"line", "cpu"}));
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(content(*launch(**program, {floats({1, 2})})[0]), (std::vector<float>{12, 13}));
  }
  EXPECT_EQ(line().loads, 1);
  // Who does not use the device does not load its code.
  auto other = loadModule(farAndNear().plan(), "", Json::object(), {{"code.line", "add 10"}}).take();
  EXPECT_EQ(Program::open(other, "", openOn({"cpu"})).status().message(),
            "node 'far' has versions for line, but the devices in use are cpu:0");
  EXPECT_EQ(line().loads, 1);
}

TEST(Load, WhatIsMissingIsNamedWhenTheProgramOpens) {
  line();
  auto message = [](const std::map<std::string, std::string> &images) {
    auto module = loadModule(farAndNear().plan(), "", Json::object(), images);
    EXPECT_TRUE(module.ok()) << module.status().message();
    return Program::open(module.take(), "", openOn({"line:0", "cpu:0"})).status().message();
  };
  EXPECT_EQ(message({{"code.line", "addd 10"}}),
            "'test.tsx': kernel 'add' of node 'far' is not in the image for target 'line'");
  EXPECT_EQ(message({}),
            "'test.tsx' has no code for target 'line' (section 'code.line'), which device 'line:0' "
            "needs; install it again");
  EXPECT_EQ(message({{"code.line", "add"}}), "'test.tsx': section 'code.line': 'add' has no addend");
}

// What a plan says of a step for devices reaches the device; numbers that cannot be are refused before.
TEST(Load, StepsSayWhatDevicesNeed) {
  for (int64_t threads : {128, 0, -1}) {
    PlanBuilder b = farAndNear();
    int block = b.constant(threads), four = b.constant(4), one = b.constant(1),
        shared = b.constant(threads * 8);
    Json &step = b.nodes[0]["versions"][0]["steps"][0];
    if (threads >= 0)
      step["block"] = {block, one, one};
    step["cluster"] = {four, one, one};
    step["shared"] = shared;
    step["args"].push_back({"expr", four, "i32"});
    step["own"] = {{"stages", 3}};
    Json plan = b.plan();
    plan["version"] = 3;
    line();
    auto module = loadModule(plan, "", Json::object(), {{"code.line", "add 10"}});
    ASSERT_TRUE(module.ok()) << module.status().message();
    auto program = Program::open(module.take(), "", openOn({"line", "cpu"})).take();
    auto x = floats({1, 2});
    Buffer *in[] = {x.get()};
    BufferRef out[1];
    Status status = program->launch(in, out);
    if (threads <= 0) {
      EXPECT_EQ(status.message(), concat("node 'far' failed on device 'line:0': kernel 'add': ",
                                         threads ? "shared memory of -8 bytes is not possible"
                                                 : "block is not positive or too large"));
      continue;
    }
    ASSERT_TRUE(status.ok()) << status.message();
    const KernelLaunch &last = line().last;
    EXPECT_EQ(last.block[0] * 1000 + last.block[1] * 10 + last.block[2], 128011);
    EXPECT_EQ(last.cluster[0], 4);
    EXPECT_EQ(last.shared, 1024u);
    EXPECT_EQ(line().own, R"({"stages":3})");
    EXPECT_EQ(line().types, (std::vector<std::string>{"value", "value", "i32"}));
  }
}

// A target that may borrow the host's code has its own where the file holds some.
TEST(Load, AnImageOfItsOwnGoesBeforeTheHosts) {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), out = b.temp({n});
  b.node(
      "n", {x}, {out},
      Json::array({b.version("null", Json::array({b.step("k_add1", {{"value", x}, {"value", out}}, n)}))}));
  b.output("out", out);
  auto &null = *dynamic_cast<NullDevice *>(findDevice("null"));
  for (bool own : {false, true}) {
    null.resetCounts();
    auto module = loadModule(b.plan(), "", Json::object(),
                             own ? std::map<std::string, std::string>{{"code.null", kernelImage()}}
                                 : std::map<std::string, std::string>{});
    ASSERT_TRUE(module.ok()) << module.status().message();
    auto program = Program::open(module.take(), "", openOn({"null"}));
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(null.counts().loads, own ? 1u : 0u);
    EXPECT_EQ(content(*launch(**program, {floats({1})})[0]), std::vector<float>{2});
  }
  auto damaged = loadModule(b.plan(), "", Json::object(), {{"code.null", "not an image"}});
  ASSERT_TRUE(damaged.ok());
  EXPECT_NE(
      Program::open(damaged.take(), "", openOn({"null"})).status().message().find("section 'code.null': "),
      std::string::npos);
}

// The host's own target, too: such a program does not take the static path, and its answers are the same.
TEST(Load, TheHostLoadsItsImageThroughTheSameDoor) {
  PlanBuilder b;
  int x = b.input("x", {-1}), n = b.dim(x, 0), out = b.temp({n});
  b.simple("n", "k_add1", {x}, {out}, {{"value", x}, {"value", out}}, n);
  b.output("out", out);
  auto module = loadModule(b.plan(), "", Json::object(), {{"code.cpu", kernelImage()}}).take();
  auto program = Program::open(module, "", {}).take();
  EXPECT_FALSE(program->cpuOnly());
  EXPECT_EQ(content(*launch(*program, {floats({1, 5})})[0]), (std::vector<float>{2, 6}));
}

TEST(Load, DevicesAreFoundByKindAndIndex) {
  Device *null = findDevice("null:0"), *second = findDevice("null:1");
  ASSERT_TRUE(null && second);
  EXPECT_NE(null, second);
  EXPECT_EQ(findDevice("null"), null);
  EXPECT_EQ(findDevice("null1"), second);
  EXPECT_EQ(findDevice("cpu"), findDevice("cpu:0"));
  EXPECT_EQ(findDevice("null:2"), nullptr);
  EXPECT_EQ(second->shortName(), "null:1");
  EXPECT_EQ(null->shortName(), "null");
}
