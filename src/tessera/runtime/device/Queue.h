// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queues of work for a device. Each device has two threads, one that copies and one
// that computes, so that the copies of the next node overlap the kernels of this one.
#pragma once

#include "tessera/runtime/device/Device.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace tessera {

/// A thread that runs jobs, the highest priority first, equal ones in order.
class Queue {
public:
  explicit Queue(std::string name);
  void push(int64_t priority, std::function<void()> job);

private:
  struct Item {
    int64_t priority;
    uint64_t sequence;
    std::function<void()> job;
    bool operator<(const Item &other) const {
      return priority != other.priority ? priority < other.priority : sequence > other.sequence;
    }
  };
  void loop();

  std::string name;
  std::mutex mutex;
  std::condition_variable ready;
  std::vector<Item> heap;
  uint64_t sequence = 0;
};

/// The queues of one device, and when it is expected to be free (for policies).
struct DeviceQueues {
  explicit DeviceQueues(Device &device);
  Device &device;
  Queue copy, compute;
  std::mutex mutex;
  double busyUntil = 0; ///< Nanoseconds of the steady clock; guarded by `mutex`.
  uint32_t inFlight = 0;

  /// A node that runs holds memory of the device, until it is released.
  void hold();
  void release();
  /// Counts releases.
  uint64_t releases();
  /// Waits until there were more releases than `seen`. False when nobody holds memory, or the device was
  /// lost.
  bool awaitRelease(uint64_t seen);

  /// The queues of `device`, made when first asked for; they live as long as the process.
  static DeviceQueues &of(Device &device);

private:
  std::condition_variable released;
  uint64_t releaseCount = 0;
  uint32_t holders = 0;
};

/// Runs a job on a thread of the host soon. Threads are started when none is idle, up to a few for each
/// processor, and kept; jobs beyond that wait their turn.
void runOnHost(std::function<void()> job);

} // namespace tessera
