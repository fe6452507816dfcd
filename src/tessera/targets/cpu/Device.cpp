// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's CPU as a device: its memory is the host's, its launches run on the thread
// pool. Programs that use nothing else take the runtime's static path instead.
#include "tessera/base/CpuInfo.h"
#include "tessera/base/Diag.h"
#include "tessera/base/ThreadPool.h"
#include "tessera/runtime/control/Energy.h"
#include "tessera/runtime/device/HeapDevice.h"
#include "tessera/runtime/memory/Arena.h"
#include "tessera/runtime/program/Image.h"
#include "tessera/runtime/program/Run.h"
#include "tessera/targets/cpu/DevicePeaks.h"

#include <unistd.h>

namespace tessera {

namespace {
class CpuDevice final : public HeapDevice {
public:
  CpuDevice() : HeapDevice("cpu", 0) {
    const CpuInfo &cpu = cpuInfo();
    deviceInfo.description = concat(cpu.name.empty() ? cpu.arch : cpu.name, ", ", cpu.cores, " processors");
    deviceInfo.memoryBytes =
        static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    // Lanes of f32, two operations each, at an ordinary clock: good enough to compare devices before
    // measuring.
    double lanes = cpu.has("avx512f") ? 16 : cpu.has("avx2") ? 8 : 4;
    deviceInfo.flopsPerSecond = lanes * 2 * 2e9 * cpu.cores;
    deviceInfo.bytesPerSecond = 1e10 * cpu.cores;
    deviceInfo.copyBytesPerSecond = 1e10;
    deviceInfo.copyLatency = 0;
    deviceInfo.launchLatency = 1e-6;
    deviceInfo.joulesPerFlop = EnergyModel().joulesPerFlop;
    deviceInfo.joulesPerByte = EnergyModel().joulesPerByte;
  }

  const DeviceInfo &info() const override { return deviceInfo; }
  std::optional<DevicePeaks> measurePeaks(unsigned threads) override { return cpu::measurePeaks(threads); }
  bool runs(std::string_view target) const override { return target == "cpu"; }
  bool sharesHostMemory() const override { return true; }
  bool runsHostCode() const override { return true; }
  Result<std::shared_ptr<const DeviceImage>> load(std::span<const std::byte> bytes) override {
    TESSERA_ASSIGN(std::shared_ptr<const DeviceImage> image, Image::load(bytes));
    return image;
  }

  Status launch(std::span<const KernelLaunch> steps, unsigned threads) override {
    // Steps of several nodes may run here at once, so scratch belongs to the call.
    uint64_t stride = 0;
    for (const KernelLaunch &step : steps)
      stride = std::max(stride, (step.scratch + 63) / 64 * 64);
    Block scratch;
    uint64_t total = 0;
    if (__builtin_mul_overflow(stride, uint64_t(threads), &total) || (total && !scratch.reserve(total)))
      return fail(StatusCode::OutOfMemory, name(), ": out of memory: asked ", formatBytes(total),
                  " of scratch");
    std::vector<KernelCall> calls;
    for (const KernelLaunch &step : steps)
      calls.push_back({reinterpret_cast<KernelFunction>(step.handle), step.args});
    for (size_t i = 0; i < steps.size();) {
      size_t j = i + 1;
      while (j < steps.size() && steps[j].chain &&
             std::equal(steps[i].grid, steps[i].grid + 3, steps[j].grid))
        ++j;
      const int64_t *grid = steps[i].grid;
      KernelGroup group{
          std::span(calls).subspan(i, j - i), {grid[0], grid[1], grid[2]}, grid[0] * grid[1] * grid[2]};
      if (threads > 1 && group.tasks > 1)
        runParallel(ThreadPool::shared(), threads, {&group, 1}, scratch.data(), stride, /*fine=*/true);
      else
        runInline(group, scratch.data());
      i = j;
    }
    return Status();
  }

private:
  DeviceInfo deviceInfo;
};
} // namespace

std::vector<std::unique_ptr<Device>> createDevices_cpu() {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::make_unique<CpuDevice>());
  return devices;
}

} // namespace tessera
