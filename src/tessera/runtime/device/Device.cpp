// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of devices.
#include "tessera/runtime/device/Device.h"

#include <algorithm>
#include <mutex>

namespace tessera {

Device::Device(std::string kind, unsigned index)
    : deviceKind(std::move(kind)), deviceName(concat(deviceKind, ":", index)), deviceIndex(index) {}

Device::~Device() = default;
DeviceImage::~DeviceImage() = default;

Result<std::shared_ptr<const DeviceImage>> Device::load(std::span<const std::byte>) {
  return fail(StatusCode::Unsupported, "device '", name(), "' has no loader for images of code");
}

Status Device::copyPeer(void *, Device &other, const void *, size_t) {
  return fail(StatusCode::Unsupported, "device '", name(), "' cannot copy from '", other.name(), "'");
}

EventRef Device::launchAsync(std::span<const KernelLaunch> steps, unsigned threads) {
  return Event::finished(launch(steps, threads));
}

EventRef Device::copyInAsync(void *to, const void *host, size_t bytes) {
  return Event::finished(copyIn(to, host, bytes));
}

EventRef Device::copyOutAsync(void *host, const void *from, size_t bytes) {
  return Event::finished(copyOut(host, from, bytes));
}

EventRef Event::finished(Status status) {
  auto event = std::make_shared<Event>();
  event->over = true;
  event->result = std::move(status);
  return event;
}

void Event::complete(Status status) {
  std::function<void(Status)> call;
  {
    std::lock_guard<std::mutex> lock(mutex);
    over = true;
    result = status;
    call = std::move(next);
    changed.notify_all();
  }
  if (call)
    call(std::move(status));
}

void Event::then(std::function<void(Status)> f) {
  Status status;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!over) {
      next = std::move(f);
      return;
    }
    status = result;
  }
  f(std::move(status));
}

Status Event::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return over; });
  return result;
}

/// Defined from the generated list of targets (targets/Devices.cpp).
std::vector<std::unique_ptr<Device>> createDevices();

namespace {
struct DeviceList {
  std::mutex mutex;
  std::vector<std::unique_ptr<Device>> owned;
  // Replaced, never changed: a span handed out stays valid.
  const std::vector<Device *> *current = nullptr;
};
} // namespace

static DeviceList &deviceList() {
  // Never destroyed: queues of devices run until the process ends.
  static DeviceList *list = [] {
    auto *made = new DeviceList;
    made->owned = createDevices();
    std::sort(made->owned.begin(), made->owned.end(), [](const auto &a, const auto &b) {
      if (a->sharesHostMemory() != b->sharesHostMemory())
        return a->sharesHostMemory();
      return std::pair(a->kind(), a->index()) < std::pair(b->kind(), b->index());
    });
    auto *pointers = new std::vector<Device *>;
    for (const auto &device : made->owned)
      pointers->push_back(device.get());
    made->current = pointers;
    return made;
  }();
  return *list;
}

std::span<Device *const> allDevices() {
  DeviceList &list = deviceList();
  std::lock_guard<std::mutex> lock(list.mutex);
  return *list.current;
}

Device *hostDevice() {
  for (Device *device : allDevices())
    if (device->sharesHostMemory() && device->runsHostCode())
      return device;
  return nullptr;
}

Device *findDevice(std::string_view name) {
  for (Device *device : allDevices())
    if (device->name() == name || device->shortName() == name ||
        concat(device->kind(), device->index()) == name)
      return device;
  return nullptr;
}

Device &addDevice(std::unique_ptr<Device> device) {
  DeviceList &list = deviceList();
  std::lock_guard<std::mutex> lock(list.mutex);
  auto *pointers = new std::vector<Device *>(*list.current);
  pointers->push_back(device.get());
  list.owned.push_back(std::move(device));
  list.current = pointers;
  return *pointers->back();
}

} // namespace tessera
