// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of a device, owned by all who need it: the buffer whose content it holds, and
// every node that works on it. It goes back when nobody does, so nothing can be freed,
// replaced or evicted under a running kernel. What goes back is kept for the next
// buffer of that size: programs allocate the same sizes again and again.
#pragma once

#include "tessera/runtime/device/Device.h"

#include <atomic>
#include <memory>
#include <utility>

namespace tessera {

class DeviceMemory {
public:
  /// Memory that was given back, or fresh memory. OutOfMemory when the device has none left.
  static Result<std::shared_ptr<DeviceMemory>> take(Device &device, size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  void *data() const { return memory; }
  /// True while a DeviceUse of it exists. A buffer makes them under its mutex, and looks under it.
  bool inUse() const { return uses.load(std::memory_order_acquire) != 0; }

private:
  friend class DeviceUse;
  DeviceMemory(Device &device, void *memory, size_t bytes) : device(device), memory(memory), bytes(bytes) {}

  Device &device;
  void *const memory;
  const size_t bytes;
  std::atomic<uint32_t> uses{0};
};

/// A pointer for a node. As long as it exists, the memory stays where it is and holds what it held.
class DeviceUse {
public:
  /// Memory of the host, which buffers never move.
  explicit DeviceUse(void *host = nullptr) : pointer(host) {}
  explicit DeviceUse(std::shared_ptr<DeviceMemory> used) : held(std::move(used)), pointer(held->data()) {
    held->uses.fetch_add(1, std::memory_order_relaxed);
  }
  DeviceUse(DeviceUse &&other) noexcept
      : held(std::move(other.held)), pointer(std::exchange(other.pointer, nullptr)) {}
  DeviceUse &operator=(DeviceUse &&other) noexcept {
    std::swap(held, other.held);
    std::swap(pointer, other.pointer);
    return *this;
  }
  ~DeviceUse() {
    if (held)
      held->uses.fetch_sub(1, std::memory_order_release);
  }

  void *data() const { return pointer; }

private:
  std::shared_ptr<DeviceMemory> held;
  void *pointer;
};

/// Frees device memory that is kept for the next buffer. False when there is none.
bool trimDeviceMemory(Device &device);

} // namespace tessera
