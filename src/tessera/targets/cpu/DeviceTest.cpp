// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU as a device: memory, launches of steps and chains, scratch, and what it says
// when memory runs out.
#include "tessera/runtime/device/Device.h"
#include "tessera/base/CpuInfo.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <vector>

using namespace tessera;

static void addOne(const uint64_t *args, const int64_t begin[3], const int64_t end[3], void *) {
  float *y = reinterpret_cast<float *>(args[0]);
  for (int64_t i = begin[0]; i < end[0]; ++i)
    for (int64_t j = begin[1]; j < end[1]; ++j)
      y[i * static_cast<int64_t>(args[1]) + j] += 1;
}

static void twice(const uint64_t *args, const int64_t begin[3], const int64_t end[3], void *) {
  float *y = reinterpret_cast<float *>(args[0]);
  for (int64_t i = begin[0]; i < end[0]; ++i)
    for (int64_t j = begin[1]; j < end[1]; ++j)
      y[i * static_cast<int64_t>(args[1]) + j] *= 2;
}

// Fills its scratch and looks whether somebody else wrote into it.
static void useScratch(const uint64_t *args, const int64_t begin[3], const int64_t[3], void *scratch) {
  std::memset(scratch, static_cast<int>(begin[0] & 0x7f), 256);
  bool aligned = reinterpret_cast<uintptr_t>(scratch) % 64 == 0;
  for (size_t i = 0; i < 256; ++i)
    if (!aligned || static_cast<char *>(scratch)[i] != static_cast<char>(begin[0] & 0x7f))
      ++*reinterpret_cast<std::atomic<int> *>(args[0]);
}

static KernelLaunch step(KernelFunction function, const uint64_t *args, int64_t rows, int64_t columns) {
  KernelLaunch launch;
  launch.node = launch.kernel = "test";
  launch.handle = reinterpret_cast<void *>(function);
  launch.args = args;
  launch.grid[0] = rows, launch.grid[1] = columns;
  return launch;
}

static Device &cpu() { return *findDevice("cpu"); }

TEST(CpuDevice, IsTheHost) {
  EXPECT_EQ(allDevices()[0], &cpu());
  EXPECT_TRUE(cpu().sharesHostMemory());
  EXPECT_TRUE(cpu().runs("cpu"));
  EXPECT_FALSE(cpu().runs("cuda"));
  EXPECT_GT(cpu().info().memoryBytes, uint64_t(1) << 20);
  EXPECT_NE(cpu().info().description.find(std::to_string(cpuInfo().cores) + " processors"),
            std::string::npos);
}

TEST(CpuDevice, PeaksAreMeasured) {
  std::optional<DevicePeaks> peaks = cpu().measurePeaks(2);
  ASSERT_TRUE(peaks.has_value());
  EXPECT_EQ(peaks->threads, 2u);
  for (double rate :
       {peaks->gflops, peaks->nearGBs, peaks->cacheGBs, peaks->sharedGBs, peaks->memoryGBs, peaks->nearBytes})
    EXPECT_GT(rate, 0);
  EXPECT_LE(peaks->cacheGBs, peaks->nearGBs);
  EXPECT_FALSE(findDevice("null")->measurePeaks(1).has_value());
}

TEST(CpuDevice, MemoryIsAlignedAndCopied) {
  auto memory = cpu().allocate(100);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(*memory) % 64, 0u);
  const char text[] = "there and back";
  char back[sizeof text] = {};
  ASSERT_TRUE(cpu().copyIn(*memory, 0, text, sizeof text).ok());
  ASSERT_TRUE(cpu().copyOutAsync(back, *memory, 0, sizeof text)->wait().ok());
  EXPECT_STREQ(back, text);
  cpu().release(*memory, 100);
  EXPECT_EQ(cpu().allocate(SIZE_MAX).status().message(), "cpu:0: out of memory: asked 16777216 TiB");
  EXPECT_EQ(cpu().copyPeer(back, 0, *findDevice("null"), text, 0, 1).message(),
            "device 'cpu:0' cannot copy from 'null:0'");
}

TEST(CpuDevice, StepsRunInOrderOnAllTasks) {
  for (unsigned threads : {1u, 4u}) {
    std::vector<float> y(7 * 13, 1.0f);
    const uint64_t args[] = {reinterpret_cast<uint64_t>(y.data()), 13};
    for (bool chain : {false, true}) {
      KernelLaunch steps[] = {step(addOne, args, 7, 13), step(twice, args, 7, 13)};
      steps[1].chain = chain;
      ASSERT_TRUE(cpu().launch(steps, threads).ok());
    }
    EXPECT_EQ(y, std::vector<float>(7 * 13, 10.0f)) << threads;
    bool called = false;
    KernelLaunch again[] = {step(addOne, args, 7, 13)};
    cpu().launchAsync(again, threads)->then([&](Status status) { called = status.ok(); });
    EXPECT_TRUE(called) << "the CPU works while the caller waits";
    EXPECT_EQ(y[0], 11.0f);
  }
}

TEST(CpuDevice, ScratchBelongsToOneCall) {
  std::atomic<int> wrong = 0;
  const uint64_t args[] = {reinterpret_cast<uint64_t>(&wrong)};
  KernelLaunch steps[] = {step(useScratch, args, 1000, 1)};
  steps[0].scratch = 256;
  ASSERT_TRUE(cpu().launch(steps, 4).ok());
  EXPECT_EQ(wrong, 0);
  steps[0].scratch = uint64_t(1) << 62;
  EXPECT_EQ(cpu().launch(steps, 4).code(), StatusCode::OutOfMemory);
}
