// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache of freed device memory.
#include "tessera/runtime/memory/DeviceMemory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace tessera {

namespace {
struct MemoryCache {
  std::mutex mutex;
  std::map<std::pair<Device *, size_t>, std::vector<void *>> freed;
};
} // namespace

static MemoryCache &memoryCache() {
  static MemoryCache *cache = new MemoryCache;
  return *cache;
}

// Checked builds: whoever still uses memory that was given back shall notice.
static void markIdle([[maybe_unused]] Device &device, [[maybe_unused]] void *memory,
                     [[maybe_unused]] size_t bytes, [[maybe_unused]] bool idle) {
#ifndef NDEBUG
  device.markIdle(memory, bytes, idle);
#endif
}

bool trimDeviceMemory(Device &device) {
  if (device.lost())
    return false;
  MemoryCache &cache = memoryCache();
  std::lock_guard<std::mutex> lock(cache.mutex);
  bool any = false;
  for (auto it = cache.freed.begin(); it != cache.freed.end();) {
    if (it->first.first != &device) {
      ++it;
      continue;
    }
    for (void *memory : it->second) {
      device.release(memory, it->first.second);
      any = true;
    }
    it = cache.freed.erase(it);
  }
  return any;
}

Result<std::shared_ptr<DeviceMemory>> DeviceMemory::take(Device &device, size_t bytes) {
  if (device.lost())
    return fail(StatusCode::DeviceLost, "device '", device.name(), "' was lost: ", device.lossReason());
  bytes = std::max<size_t>(bytes, 1);
  auto own = [&](void *memory) {
    return std::shared_ptr<DeviceMemory>(new DeviceMemory(device, memory, bytes));
  };
  for (;;) {
    {
      MemoryCache &cache = memoryCache();
      std::lock_guard<std::mutex> lock(cache.mutex);
      auto it = cache.freed.find({&device, bytes});
      if (it != cache.freed.end() && !it->second.empty()) {
        void *memory = it->second.back();
        it->second.pop_back();
        markIdle(device, memory, bytes, false);
        return own(memory);
      }
    }
    auto memory = device.allocate(bytes);
    if (memory.ok())
      return own(*memory);
    if (memory.status().code() == StatusCode::DeviceLost)
      return device.judge(memory.status());
    if (memory.status().code() != StatusCode::OutOfMemory || !trimDeviceMemory(device))
      return memory.status();
  }
}

DeviceMemory::~DeviceMemory() {
  // A device that is lost may be writing still, and may not answer when it is asked to free something.
  if (device.lost())
    return;
  markIdle(device, memory, bytes, true);
  MemoryCache &cache = memoryCache();
  std::lock_guard<std::mutex> lock(cache.mutex);
  cache.freed[{&device, bytes}].push_back(memory);
}

} // namespace tessera
