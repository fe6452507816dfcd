// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The null device: a heap of its own that the host does not touch, on which the CPU's
// kernels run. It counts what it is asked to do, and delays and fails on demand, so
// that coherence, scheduling and fault handling are tested without hardware.
#pragma once

#include "tessera/runtime/device/Device.h"

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace tessera {

struct NullCounts {
  uint64_t copiesIn = 0, copiesOut = 0, copiesPeer = 0, bytesIn = 0, bytesOut = 0, launches = 0, failures = 0,
           loads = 0, pins = 0, recordings = 0, replays = 0;
  uint64_t copiesBesideKernels =
      0; ///< copies that began while a kernel ran, or were under way when one began
  uint64_t mostKernelsAtOnce = 0;
  uint64_t launchesAhead = 0; ///< launches that were asked for before what they wait for was over
};

class NullDevice final : public Device {
public:
  /// Devices of index 0 and 1 are made by themselves; a test that spoils one adds its own (addDevice).
  explicit NullDevice(unsigned index);
  ~NullDevice() override;

  const DeviceInfo &info() const override { return deviceInfo; }
  DeviceInfo &mutableInfo() { return deviceInfo; }
  /// Versions for "null", and those for the CPU, whose kernels it borrows.
  bool runs(std::string_view target) const override { return target == "null" || target == "cpu"; }
  bool runsHostCode() const override { return true; }
  /// An image of its own is machine code of the host, too.
  Result<std::shared_ptr<const DeviceImage>> load(std::span<const std::byte> bytes) override;
  Result<void *> allocate(size_t bytes) override;
  void release(void *memory, size_t bytes) override;
  void markIdle(void *memory, size_t bytes, bool idle) override;
  Status copyIn(void *to, size_t offset, const void *host, size_t bytes) override;
  Status copyOut(void *host, const void *from, size_t offset, size_t bytes) override;
  /// Only within the device: between two null devices data goes through the host.
  bool canCopyFrom(const Device &other) const override { return &other == this; }
  Status copyPeer(void *to, size_t offset, Device &other, const void *from, size_t fromOffset,
                  size_t bytes) override;
  bool pinHost(void *memory, size_t bytes) override;
  void unpinHost(void *memory, size_t bytes) override;
  Status launch(std::span<const KernelLaunch> steps, unsigned threads) override;
  EventRef launchAsync(std::span<const KernelLaunch> steps, unsigned threads) override;
  EventRef copyInAsync(void *to, size_t offset, const void *host, size_t bytes) override;
  EventRef copyOutAsync(void *host, const void *from, size_t offset, size_t bytes) override;

  /// Where launches return at once, the device orders them itself.
  bool ordersWork() const override { return asyncLanes != 0; }
  EventRef launchAfter(std::span<const EventRef> after, std::span<const KernelLaunch> steps,
                       unsigned threads) override;

  bool records() const override { return recordsSteps; }
  Result<std::shared_ptr<DeviceRecording>> record(std::span<const KernelLaunch> steps) override;
  EventRef replay(const std::shared_ptr<DeviceRecording> &recording, std::span<const uint64_t> args) override;

  NullCounts counts() const;
  void resetCounts();
  /// The next `times` launches of `node` ("" is any) fail after having written garbage over half their work.
  void failLaunches(const std::string &node, int times);
  /// The next `times` copies in either direction fail.
  void failCopies(int times);
  /// The same for copies within the device.
  void failPeerCopies(int times);
  /// The next launch of `node` ("" is any), or the next copy "in" or "out", loses the device after half of
  /// its work: it and all that comes after it fail with DeviceLost.
  void loseAtLaunch(const std::string &node);
  void loseAtCopy(const std::string &direction);
  /// The next launch of `node`, or the next copy "in" or "out", never ends.
  void hangAtLaunch(const std::string &node);
  void hangAtCopy(const std::string &direction);
  /// Launches report so many nanoseconds for each task as the device's own time; 0: none.
  void setOwnTime(uint64_t nsPerTask);
  /// Records the steps of whole segments, and counts recordings and replays.
  void setRecords(bool records) { recordsSteps = records; }
  /// Bytes of the host's memory that are pinned now.
  uint64_t pinnedBytes() const;
  void setDelays(unsigned launchMicroseconds, unsigned copyMicroseconds);
  /// Works like a device with queues of its own: launches return at once and run on up to `lanes` threads of
  /// the device, copies on another. 0: the caller waits.
  void setAsync(unsigned lanes);
  void setMemory(uint64_t bytes);
  uint64_t memoryInUse() const;

  /// Reads settings of the form "fail=NODE:2,delay_us=10,copy_delay_us=5,fail_copy=1,mem=64M,async=2"; the
  /// README has all.
  Status configure(std::string_view settings);

private:
  bool owns(const void *memory, size_t bytes) const;
  /// Counts what happens at the same time, from its construction to its end. Takes the device's mutex.
  class Busy {
  public:
    Busy(NullDevice &device, bool kernel);
    ~Busy();

  private:
    NullDevice &device;
    unsigned &running;
  };
  Status copyStarts(std::string_view direction, const void *memory, size_t end);
  EventRef hangs(const std::string &what, std::string_view which);
  Status run(std::span<const KernelLaunch> steps, uint64_t &tasks);
  /// An event that launches of this device can wait for.
  class Done;
  using DoneRef = std::shared_ptr<Done>;
  void begin(const DoneRef &event, std::vector<KernelLaunch> steps);

  /// Threads of the device that do what they are given, in order.
  class Engine {
  public:
    ~Engine();
    void push(unsigned mostAtOnce, std::function<void()> job);

  private:
    void loop();
    std::mutex mutex;
    std::condition_variable ready;
    std::deque<std::function<void()>> jobs;
    std::vector<std::thread> threads;
    unsigned lanes = 0, running = 0;
    bool stopping = false;
  };

  DeviceInfo deviceInfo;
  mutable std::mutex mutex;
  NullCounts count;
  std::map<const std::byte *, size_t> blocks;
  std::map<std::string, int> failing;
  int failingCopies = 0, failingPeerCopies = 0;
  std::optional<std::string> losingNode, losingCopy, hangingNode, hangingCopy;
  std::string spoiled; ///< Why nothing works any more.
  std::map<void *, size_t> pinned;
  std::vector<EventRef> unanswered;
  std::atomic<uint64_t> ownNsPerTask{0};
  std::atomic<bool> recordsSteps{false};
  unsigned launchDelay = 0, copyDelay = 0;
  uint64_t used = 0;
  unsigned kernelsRunning = 0, copiesRunning = 0;
  std::atomic<unsigned> asyncLanes{0};
  Engine computeEngine, copyEngine;
};

} // namespace tessera
