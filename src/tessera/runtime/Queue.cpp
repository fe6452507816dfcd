// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads behind device queues.
#include "tessera/runtime/Queue.h"
#include "tessera/base/FloatMode.h"
#include "tessera/runtime/Trace.h"

#include <algorithm>
#include <map>
#include <memory>
#include <thread>

namespace tessera {

Queue::Queue(std::string name) : name(std::move(name)) {
  // Detached: queues live as long as the process, and a thread that sleeps holds up nothing.
  std::thread([this] { loop(); }).detach();
}

void Queue::push(int64_t priority, std::function<void()> job) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    heap.push_back({priority, sequence++, std::move(job)});
    std::push_heap(heap.begin(), heap.end());
  }
  ready.notify_one();
}

void Queue::loop() {
  setIeeeFloatMode();
  trace::nameThread(name);
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock<std::mutex> lock(mutex);
      ready.wait(lock, [&] { return !heap.empty(); });
      std::pop_heap(heap.begin(), heap.end());
      job = std::move(heap.back().job);
      heap.pop_back();
    }
    job();
  }
}

DeviceQueues::DeviceQueues(Device &device)
    : device(device), copy(device.name() + " copy"), compute(device.name()) {}

DeviceQueues &DeviceQueues::of(Device &device) {
  static std::mutex *mutex = new std::mutex;
  static auto *all = new std::map<Device *, std::unique_ptr<DeviceQueues>>;
  std::lock_guard<std::mutex> lock(*mutex);
  auto &entry = (*all)[&device];
  if (!entry)
    entry = std::make_unique<DeviceQueues>(device);
  return *entry;
}

} // namespace tessera
