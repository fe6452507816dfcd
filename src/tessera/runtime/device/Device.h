// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The run-time half of a target: memory, copies and launches. A device may do what it
// is asked while the caller waits, or return at once with an event that it completes
// later; queues and order are made above it (Scheduler.h).
#pragma once

#include "tessera/base/Status.h"
#include "tessera/runtime/device/Peaks.h"
#include "tessera/runtime/plan/Plan.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// What policies need to know about a device. Rates are estimates until something was measured.
struct DeviceInfo {
  std::string description;
  bool isPretend = false; ///< No hardware: for tests. Used only when it is asked for by name.
  uint64_t memoryBytes = 0;
  double flopsPerSecond = 1e9;
  double bytesPerSecond = 1e9;        ///< Of the device's own memory.
  double copyBytesPerSecond = 1e10;   ///< To and from the host.
  double copyLatency = 1e-6;          ///< Seconds for a copy of nothing.
  double launchLatency = 1e-6;        ///< Seconds for a launch of nothing.
  double joulesPerFlop = 1e-10;       ///< Energy of arithmetic…
  double joulesPerByte = 1e-10;       ///< …of memory traffic…
  double joulesPerCopiedByte = 1e-10; ///< …and of copies. A model, not a reading.
  /// Launches report a time of the device's own, which counts instead of the clock's: a simulator is slow on
  /// this machine, not the device that it stands for.
  bool ownTime = false;
};

/// What a device says of something that it has done.
struct DeviceReport {
  std::optional<uint64_t> ns; ///< The device's own time for it.
  std::vector<std::pair<std::string, uint64_t>> counters;
};

/// How long anybody waits for a device: after that it counts as lost. TESSERA_DEVICE_LIMIT in seconds, 600
/// when it is not set; zero is for ever.
std::chrono::milliseconds deviceLimit();
/// For tests and embedders: sets the limit for waits that begin from now on.
void setDeviceLimit(std::chrono::milliseconds limit);

/// One step of a version, ready to run: arguments point into the device's memory.
struct KernelLaunch {
  std::string_view node, kernel;
  void *handle = nullptr;         ///< The device's own handle of the kernel: DeviceImage::find.
  const uint64_t *args = nullptr; ///< A value's is what allocate() returned: nothing was added to it.
  size_t argCount = 0;
  std::span<const StepArg> kinds; ///< Of the arguments: a value's memory, or a number and its type.
  int64_t grid[3] = {1, 1, 1};
  int64_t block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1}; ///< 1 where the plan says nothing.
  uint64_t scratch = 0, shared = 0;
  bool chain = false;
  std::string_view own; ///< The plan's own words to this target, a JSON object; may be empty.
};

/// The end of something a device was asked to do. A device may derive from it what its own queues wait for.
class Event {
public:
  Event() = default;
  virtual ~Event();
  /// One that is over already.
  static std::shared_ptr<Event> finished(Status status, DeviceReport report = {});

  /// By the device, once: what was asked is done, or has failed.
  void complete(Status status, DeviceReport report = {});
  /// Calls f when it is over: at once, or on the thread that completes it. One at most, the scheduler's.
  void then(std::function<void(Status)> f);
  /// Blocks until it is over, or fails with Timeout after `limit`; zero is for ever.
  Status wait(std::chrono::milliseconds limit = deviceLimit());
  bool isOver();
  /// What the device says of it, once it is over.
  const DeviceReport &report() const { return said; }

private:
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  Status result;
  DeviceReport said;
  std::function<void(Status)> next;
};
using EventRef = std::shared_ptr<Event>;

/// Kernels that a device has loaded. One that is asked of several programs is loaded once.
class DeviceImage {
public:
  virtual ~DeviceImage();
  /// The device's own handle of the kernel `name`, for KernelLaunch; null when the image has no such kernel.
  virtual void *find(std::string_view name) const = 0;
};

/// Steps that a device has prepared, to run them again with other memory.
class DeviceRecording {
public:
  virtual ~DeviceRecording();
};

class Device {
public:
  Device(std::string kind, unsigned index);
  virtual ~Device();

  /// Unique among the devices of a machine: `kind:index`.
  const std::string &name() const { return deviceName; }
  /// What it may be called where the user chooses: the first of a kind by its kind alone.
  std::string_view shortName() const { return deviceIndex == 0 ? deviceKind : deviceName; }
  const std::string &kind() const { return deviceKind; }
  unsigned index() const { return deviceIndex; }
  virtual const DeviceInfo &info() const = 0;
  /// What the device reaches at most with so many threads of the host, measured now; nothing where it cannot
  /// tell.
  virtual std::optional<DevicePeaks> measurePeaks(unsigned threads) { return std::nullopt; }
  /// True when versions for `target` run here.
  virtual bool runs(std::string_view target) const = 0;
  /// True when kernels work on host memory directly: nothing is ever copied for such a device.
  virtual bool sharesHostMemory() const { return false; }

  /// True when the device runs machine code of the host: kernels of the section `code`, which all such
  /// devices share.
  virtual bool runsHostCode() const { return false; }
  /// Makes kernels of an image: the section `code.TARGET` of a file, for a target that the device runs.
  /// `bytes` may go afterwards.
  virtual Result<std::shared_ptr<const DeviceImage>> load(std::span<const std::byte> bytes);

  /// Memory of the device, aligned to 64.
  virtual Result<void *> allocate(size_t bytes) = 0;
  virtual void release(void *memory, size_t bytes) = 0;
  /// Checked builds call this when nobody uses the memory any more though it is not released, and when it is
  /// used again: a device for tests makes idle memory useless, so that a late use shows.
  virtual void markIdle(void *memory, size_t bytes, bool idle) {}
  // Copies name memory of the device by what allocate() gave and an offset: such an address need not be a
  // number that one may add to.
  virtual Status copyIn(void *to, size_t offset, const void *host, size_t bytes) = 0;
  virtual Status copyOut(void *host, const void *from, size_t offset, size_t bytes) = 0;
  /// True when copyPeer works from `other`; otherwise data goes through the host.
  virtual bool canCopyFrom(const Device &other) const { return false; }
  virtual Status copyPeer(void *to, size_t offset, Device &other, const void *from, size_t fromOffset,
                          size_t bytes);

  /// The same without waiting, as copyInAsync.
  virtual EventRef copyPeerAsync(void *to, size_t offset, Device &other, const void *from, size_t fromOffset,
                                 size_t bytes);

  /// Makes copies from and to this memory of the host fast; false when the device has no use for that. Memory
  /// is offered before it travels for the first time, and taken back before it is freed.
  virtual bool pinHost(void *memory, size_t bytes) { return false; }
  virtual void unpinHost(void *memory, size_t bytes) {}

  /// Runs the steps of one node in order. After a failure the memory the node writes is undefined.
  virtual Status launch(std::span<const KernelLaunch> steps, unsigned threads) = 0;

  /// The same without waiting. All that the arguments point at stays valid until the event is over. What was
  /// asked for earlier need not be done earlier. By default the caller waits inside. A device that may never
  /// answer has to have these: nobody can give up a call that does not return.
  virtual EventRef launchAsync(std::span<const KernelLaunch> steps, unsigned threads);
  virtual EventRef copyInAsync(void *to, size_t offset, const void *host, size_t bytes);
  virtual EventRef copyOutAsync(void *host, const void *from, size_t offset, size_t bytes);

  /// True when the device itself can have a launch wait for others: then successors are handed over before
  /// their predecessors are over, and launchAfter() is asked.
  virtual bool ordersWork() const { return false; }
  /// As launchAsync, after launches of this device whose events are `after`. The caller does not wait, and
  /// nor does the host. Where one of them fails the steps do not run: the event fails with Cancelled.
  virtual EventRef launchAfter(std::span<const EventRef> after, std::span<const KernelLaunch> steps,
                               unsigned threads);

  /// True when it pays to prepare the steps of all nodes at once and to run them again and again: then
  /// record() and replay() work.
  virtual bool records() const { return false; }
  /// Prepares steps, which run in order; those of one node after those of another. Nothing runs yet. What
  /// they point to, arguments included, need not stay.
  virtual Result<std::shared_ptr<DeviceRecording>> record(std::span<const KernelLaunch> steps);
  /// Runs a recording. `args` are the arguments of all its steps, one step's after the other's, and stay
  /// valid until the event is over; only those that are a value's memory may differ from what was recorded.
  virtual EventRef replay(const std::shared_ptr<DeviceRecording> &recording, std::span<const uint64_t> args);

  /// True after an error that spoils the device: whatever it was asked for fails with DeviceLost, or it did
  /// not answer in time. Its memory holds nothing any more, and it is not used again in this process.
  bool lost() const { return isLost.load(std::memory_order_acquire); }
  /// Why; empty while the device is well.
  std::string lossReason() const;
  void markLost(const Status &why);
  /// `status`, which the device has answered: marks it lost when that is what it says or when it did not
  /// answer, and turns the latter into DeviceLost.
  Status judge(Status status);

private:
  std::atomic<bool> isLost{false};
  mutable std::mutex healthMutex;
  std::string reason;
  const std::string deviceKind, deviceName;
  const unsigned deviceIndex;
};

/// The devices of this machine, made once: the host's CPU first, then the others by name.
std::span<Device *const> allDevices();
/// The device that runs the host's machine code on the host's memory; null when it was not built.
Device *hostDevice();
/// The device called `name`, or null. A kind alone is the first of its kind, and the colon before the index
/// may be left out.
Device *findDevice(std::string_view name);

/// For tests and embedders: adds a device that findDevice and programs see from now on.
Device &addDevice(std::unique_ptr<Device> device);

/// Defined by each target's Device.cpp as createDevices_<target>, and called from a generated list.
using DeviceFactory = std::vector<std::unique_ptr<Device>> (*)();

} // namespace tessera
