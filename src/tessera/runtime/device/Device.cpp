// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of devices.
#include "tessera/runtime/device/Device.h"
#include "tessera/base/Diag.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace tessera {

Device::Device(std::string kind, unsigned index)
    : deviceKind(std::move(kind)), deviceName(concat(deviceKind, ":", index)), deviceIndex(index) {}

Device::~Device() = default;
DeviceImage::~DeviceImage() = default;
DeviceRecording::~DeviceRecording() = default;

Event::~Event() = default;

EventRef Device::launchAfter(std::span<const EventRef> after, std::span<const KernelLaunch> steps,
                             unsigned threads) {
  for (const EventRef &event : after)
    if (Status status = event->wait(); !status.ok())
      return Event::finished(fail(StatusCode::Cancelled, "what it waits for has failed: ", status.message()));
  return launchAsync(steps, threads);
}

Result<std::shared_ptr<DeviceRecording>> Device::record(std::span<const KernelLaunch>) {
  return fail(StatusCode::Unsupported, "device '", name(), "' does not record");
}

EventRef Device::replay(const std::shared_ptr<DeviceRecording> &, std::span<const uint64_t>) {
  return Event::finished(fail(StatusCode::Unsupported, "device '", name(), "' does not record"));
}

Result<std::shared_ptr<const DeviceImage>> Device::load(std::span<const std::byte>) {
  return fail(StatusCode::Unsupported, "device '", name(), "' has no loader for images of code");
}

Status Device::copyPeer(void *, size_t, Device &other, const void *, size_t, size_t) {
  return fail(StatusCode::Unsupported, "device '", name(), "' cannot copy from '", other.name(), "'");
}

EventRef Device::launchAsync(std::span<const KernelLaunch> steps, unsigned threads) {
  return Event::finished(launch(steps, threads));
}

EventRef Device::copyInAsync(void *to, size_t offset, const void *host, size_t bytes) {
  return Event::finished(copyIn(to, offset, host, bytes));
}

EventRef Device::copyOutAsync(void *host, const void *from, size_t offset, size_t bytes) {
  return Event::finished(copyOut(host, from, offset, bytes));
}

EventRef Device::copyPeerAsync(void *to, size_t offset, Device &other, const void *from, size_t fromOffset,
                               size_t bytes) {
  return Event::finished(copyPeer(to, offset, other, from, fromOffset, bytes));
}

std::string Device::lossReason() const {
  std::lock_guard<std::mutex> lock(healthMutex);
  return reason;
}

void Device::markLost(const Status &why) {
  std::lock_guard<std::mutex> lock(healthMutex);
  if (lost()) // What came first is the cause.
    return;
  reason = why.message();
  isLost.store(true, std::memory_order_release);
}

Status Device::judge(Status status) {
  if (status.code() == StatusCode::Timeout)
    status = Status::error(StatusCode::DeviceLost, status.message());
  if (status.code() == StatusCode::DeviceLost)
    markLost(status);
  return status;
}

static std::atomic<int64_t> &limitMs() {
  static std::atomic<int64_t> limit = [] {
    int64_t seconds = 600;
    if (const char *text = std::getenv("TESSERA_DEVICE_LIMIT"); text && *text) {
      int64_t number = 0;
      auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
      if (error == std::errc() && !*end && number >= 0 && number <= 1000000000)
        seconds = number;
      else
        std::fprintf(stderr, "tessera: warning: TESSERA_DEVICE_LIMIT: expected seconds, but got '%s'\n",
                     text);
    }
    return seconds * 1000;
  }();
  return limit;
}

std::chrono::milliseconds deviceLimit() { return std::chrono::milliseconds(limitMs().load()); }
void setDeviceLimit(std::chrono::milliseconds limit) { limitMs() = limit.count(); }

EventRef Event::finished(Status status, DeviceReport report) {
  auto event = std::make_shared<Event>();
  event->over = true;
  event->result = std::move(status);
  event->said = std::move(report);
  return event;
}

void Event::complete(Status status, DeviceReport report) {
  std::function<void(Status)> call;
  {
    std::lock_guard<std::mutex> lock(mutex);
    over = true;
    result = status;
    said = std::move(report);
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

bool Event::isOver() {
  std::lock_guard<std::mutex> lock(mutex);
  return over;
}

Status Event::wait(std::chrono::milliseconds limit) {
  std::unique_lock<std::mutex> lock(mutex);
  if (limit.count() == 0)
    changed.wait(lock, [&] { return over; });
  else if (!changed.wait_for(lock, limit, [&] { return over; }))
    return fail(StatusCode::Timeout, "no answer within ", formatNanoseconds(1e6 * double(limit.count())));
  return result;
}

/// Defined from the generated list of targets (targets/Devices.cpp).
std::vector<std::unique_ptr<Device>> createDevices();

namespace {
struct DeviceList {
  std::mutex mutex;
  std::vector<std::unique_ptr<Device>> owned;
  // Replaced, never changed, and kept: a span handed out stays valid.
  const std::vector<Device *> *current = nullptr;
  std::vector<const std::vector<Device *> *> earlier;
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
  list.earlier.push_back(list.current);
  list.current = pointers;
  return *pointers->back();
}

} // namespace tessera
