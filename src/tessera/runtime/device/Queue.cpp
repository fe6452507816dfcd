// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads behind device queues.
#include "tessera/runtime/device/Queue.h"
#include "tessera/base/FloatMode.h"
#include "tessera/base/ThreadPool.h"
#include "tessera/runtime/trace/Trace.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <system_error>
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

namespace {
struct HostPool {
  std::mutex mutex;
  std::condition_variable ready;
  std::deque<std::function<void()>> jobs;
  size_t threads = 0, idle = 0;

  void loop() {
    setIeeeFloatMode();
    trace::nameThread("launch");
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      ++idle;
      ready.wait(lock, [&] { return !jobs.empty(); });
      --idle;
      std::function<void()> job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job();
      job = nullptr; // What it holds is not for the next one.
      lock.lock();
    }
  }
};
} // namespace

void runOnHost(std::function<void()> job) {
  // Never destroyed, and its threads are detached: they sleep until the process ends.
  static HostPool *pool = new HostPool;
  std::lock_guard<std::mutex> lock(pool->mutex);
  pool->jobs.push_back(std::move(job));
  // A launch may wait for a device, so more of them than processors are useful.
  if (pool->idle < pool->jobs.size() && pool->threads < 4 * ThreadPool::defaultThreads()) {
    try {
      std::thread([] { pool->loop(); }).detach();
      ++pool->threads;
    } catch (const std::system_error &) {
      if (pool->threads == 0) { // Nobody would ever take the job.
        pool->jobs.pop_back();
        throw;
      }
    }
  }
  pool->ready.notify_one();
}

DeviceQueues::DeviceQueues(Device &device)
    : device(device), copy(device.name() + " copy"), compute(device.name()) {}

void DeviceQueues::hold() {
  std::lock_guard<std::mutex> lock(mutex);
  ++holders;
}

void DeviceQueues::release() {
  std::lock_guard<std::mutex> lock(mutex);
  --holders;
  ++releaseCount;
  released.notify_all();
}

uint64_t DeviceQueues::releases() {
  std::lock_guard<std::mutex> lock(mutex);
  return releaseCount;
}

bool DeviceQueues::awaitRelease(uint64_t seen) {
  std::unique_lock<std::mutex> lock(mutex);
  if (releaseCount == seen && holders == 0)
    return false;
  // Whoever holds memory of a device that stops answering never releases it.
  while (!released.wait_for(lock, std::chrono::milliseconds(100), [&] { return releaseCount != seen; }))
    if (device.lost())
      return false;
  return true;
}

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
