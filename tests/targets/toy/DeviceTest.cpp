// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The toy's device by itself: images, memory that is no address, recordings, accesses outside.
#include "tessera/runtime/device/Device.h"
#include "Bytecode.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::toy;

namespace {

/// An image with one kernel of two arguments, without constants.
struct ImageBytes {
  template <typename T> void put(const T &value) {
    const auto *from = reinterpret_cast<const std::byte *>(&value);
    bytes.insert(bytes.end(), from, from + sizeof(T));
  }
  ImageBytes(const std::vector<Instruction> &code, const std::vector<uint64_t> &words) {
    put(imageMagic);
    put(uint32_t(0));
    put(uint32_t(1));
    put(uint32_t(1));
    put('k');
    put(uint32_t(8));
    put(uint32_t(2));
    put(uint32_t(code.size()));
    for (const Instruction &each : code)
      put(each);
    put(uint32_t(words.size()));
    for (uint64_t each : words)
      put(each);
    put(uint32_t(0));
  }
  std::vector<std::byte> bytes;
};

Instruction make(Opcode op, uint32_t d = 0, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0) {
  Instruction i{op};
  i.d = d, i.a = a, i.b = b, i.c = c;
  return i;
}

class ToyTest : public testing::Test {
protected:
  /// Element `at` of the second memory becomes that of the first plus 1.
  static ImageBytes increment(uint64_t at) {
    return {{make(Opcode::Word, 2, 0), make(Opcode::Word, 3, 1), make(Opcode::Load, 4, 0, 2),
             make(Opcode::Add, 5, 4, 3), make(Opcode::Store, 0, 1, 2, 5), make(Opcode::Return)},
            {at, 1}};
  }
  void SetUp() override {
    device = findDevice("toy");
    ASSERT_TRUE(device);
    for (uint64_t &memory : args)
      memory = reinterpret_cast<uint64_t>(*device->allocate(16));
    const int64_t numbers[2] = {41, 7};
    ASSERT_TRUE(device->copyIn(reinterpret_cast<void *>(args[0]), 0, numbers, 16).ok());
  }
  void TearDown() override {
    for (uint64_t memory : args)
      device->release(reinterpret_cast<void *>(memory), 16);
  }
  KernelLaunch launchOf(const DeviceImage &image) {
    KernelLaunch launch;
    launch.node = launch.kernel = "k";
    launch.handle = image.find("k");
    launch.args = args;
    launch.argCount = 2;
    return launch;
  }
  int64_t result(size_t at) {
    int64_t value = 0;
    EXPECT_TRUE(device->copyOut(&value, reinterpret_cast<void *>(args[1]), 8 * at, 8).ok());
    return value;
  }

  Device *device = nullptr;
  uint64_t args[2] = {};
};

} // namespace

TEST_F(ToyTest, RunsAndReplays) {
  auto image = device->load(increment(1).bytes);
  ASSERT_TRUE(image.ok());
  KernelLaunch launch = launchOf(**image);
  EventRef event = device->launchAsync({&launch, 1}, 1);
  EXPECT_TRUE(event->wait().ok());
  EXPECT_EQ(result(1), 8);
  // A nanosecond for each instruction before the last.
  EXPECT_EQ(event->report().ns, 5u);
  auto recording = device->record({&launch, 1});
  ASSERT_TRUE(recording.ok());
  const int64_t other = 99;
  ASSERT_TRUE(device->copyIn(reinterpret_cast<void *>(args[0]), 8, &other, 8).ok());
  EXPECT_TRUE(device->replay(*recording, args)->wait().ok());
  EXPECT_EQ(result(1), 100);
}

TEST_F(ToyTest, LooksAtEveryAccess) {
  auto image = device->load(increment(2).bytes);
  ASSERT_TRUE(image.ok());
  KernelLaunch launch = launchOf(**image);
  EXPECT_EQ(device->launch({&launch, 1}, 1).message(), "toy:0: 8 bytes at 16 of memory of 16");
  // What is added to such a number is nobody's memory.
  args[0] += 8;
  EXPECT_EQ(device->launch({&launch, 1}, 1).message(),
            "toy:0: there is no memory " + std::to_string(args[0]));
  args[0] -= 8;
  launch.argCount = 1;
  EXPECT_EQ(device->launch({&launch, 1}, 1).message(), "toy:0: kernel 'k' takes 2 arguments, but got 1");
}

TEST_F(ToyTest, DividesByNothing) {
  auto image = device->load(
      ImageBytes({make(Opcode::Word, 2, 0), make(Opcode::Div, 3, 0, 2), make(Opcode::Return)}, {0}).bytes);
  ASSERT_TRUE(image.ok());
  KernelLaunch launch = launchOf(**image);
  EXPECT_EQ(device->launch({&launch, 1}, 1).message(),
            "toy:0: kernel 'k' divides by zero, or the smallest integer by -1");
}

TEST_F(ToyTest, RefusesOtherImages) {
  std::vector<std::byte> bytes = increment(0).bytes;
  EXPECT_EQ(device->load(std::span(bytes).first(bytes.size() - 1)).status().message(),
            "toy: the image ends too early");
  bytes[0] = std::byte(0);
  EXPECT_EQ(device->load(bytes).status().message(), "toy: the image is not one of the toy's");
  auto image = device->load(increment(0).bytes);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ((*image)->find("other"), nullptr);
}
