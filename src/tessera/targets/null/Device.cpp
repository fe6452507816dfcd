// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The null device; see Device.h. Copy this folder to start a new target.
#include "tessera/targets/null/Device.h"
#include "tessera/base/Diag.h"
#include "tessera/runtime/memory/Arena.h"
#include "tessera/runtime/program/Image.h"
#include "tessera/runtime/program/Run.h"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#ifdef __SANITIZE_ADDRESS__
#define TESSERA_NULL_POISON 1
#elif defined(__has_feature)
#define TESSERA_NULL_POISON __has_feature(address_sanitizer)
#endif
#if TESSERA_NULL_POISON
#include <sanitizer/asan_interface.h>
#endif

namespace tessera {

NullDevice::NullDevice(unsigned index) : Device("null", index) {
  deviceInfo.description = "pretend device with memory of its own";
  deviceInfo.isPretend = true;
  deviceInfo.memoryBytes = uint64_t(1) << 30;
  deviceInfo.flopsPerSecond = 1e10;
  deviceInfo.bytesPerSecond = 1e10;
}

NullDevice::~NullDevice() {
  for (auto &[memory, size] : blocks)
    std::free(const_cast<std::byte *>(memory));
}

Result<std::shared_ptr<const DeviceImage>> NullDevice::load(std::span<const std::byte> bytes) {
  TESSERA_ASSIGN(std::shared_ptr<const DeviceImage> image, Image::load(bytes));
  std::lock_guard<std::mutex> lock(mutex);
  ++count.loads;
  return image;
}

bool NullDevice::owns(const void *memory, size_t bytes) const {
  const std::byte *p = static_cast<const std::byte *>(memory);
  auto it = blocks.upper_bound(p);
  if (it == blocks.begin())
    return false;
  --it;
  return p + bytes <= it->first + it->second;
}

Result<void *> NullDevice::allocate(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes > deviceInfo.memoryBytes - std::min(used, deviceInfo.memoryBytes))
    return fail(StatusCode::OutOfMemory, name(), ": out of memory: asked ", formatBytes(bytes), ", ",
                formatBytes(deviceInfo.memoryBytes - std::min(used, deviceInfo.memoryBytes)), " free");
  size_t rounded = std::max<size_t>(64, (bytes + 63) / 64 * 64);
  std::byte *memory = static_cast<std::byte *>(std::aligned_alloc(64, rounded));
  if (!memory)
    return fail(StatusCode::OutOfMemory, name(), ": out of memory: asked ", formatBytes(bytes));
  // Whoever reads what was never copied here gets a pattern that no test expects.
  std::memset(memory, 0xcd, rounded);
  blocks[memory] = bytes;
  used += bytes;
  return static_cast<void *>(memory);
}

// Idle memory holds a pattern that no test expects, and the address sanitizer reports who touches it.
void NullDevice::markIdle(void *memory, size_t bytes, bool idle) {
#if TESSERA_NULL_POISON
  if (!idle)
    __asan_unpoison_memory_region(memory, bytes);
#endif
  std::memset(memory, idle ? 0xdd : 0xcd, bytes);
#if TESSERA_NULL_POISON
  if (idle)
    __asan_poison_memory_region(memory, bytes);
#endif
}

void NullDevice::release(void *memory, size_t) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = blocks.find(static_cast<std::byte *>(memory));
  if (it == blocks.end())
    return;
#if TESSERA_NULL_POISON
  __asan_unpoison_memory_region(memory, it->second);
#endif
  used -= it->second;
  blocks.erase(it);
  std::free(memory);
}

NullDevice::Busy::Busy(NullDevice &device, bool kernel)
    : device(device), running(kernel ? device.kernelsRunning : device.copiesRunning) {
  std::lock_guard<std::mutex> lock(device.mutex);
  ++running;
  device.count.copiesBesideKernels += kernel ? device.copiesRunning : device.kernelsRunning > 0;
  device.count.mostKernelsAtOnce = std::max<uint64_t>(device.count.mostKernelsAtOnce, device.kernelsRunning);
}

NullDevice::Busy::~Busy() {
  std::lock_guard<std::mutex> lock(device.mutex);
  --running;
}

static Status lostNow(const Device &device, std::string_view why) {
  return fail(StatusCode::DeviceLost, device.name(), ": ", why);
}

// Copies up to byte `end` of a block.
Status NullDevice::copyStarts(std::string_view direction, const void *memory, size_t end) {
  unsigned delay;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (losingCopy == direction) {
      losingCopy.reset();
      ++count.failures;
      spoiled = concat("copy ", direction, " lost the device on demand");
    }
    if (!spoiled.empty())
      return lostNow(*this, spoiled);
    if (!owns(memory, end))
      return fail(StatusCode::DeviceFailed, name(), ": copy ", direction,
                  ": memory does not belong to the device");
    if (failingCopies > 0) {
      --failingCopies;
      ++count.failures;
      return fail(StatusCode::DeviceFailed, name(), ": copy ", direction, " failed on demand");
    }
    delay = copyDelay;
  }
  if (delay)
    std::this_thread::sleep_for(std::chrono::microseconds(delay));
  return Status();
}

Status NullDevice::copyIn(void *to, size_t offset, const void *host, size_t bytes) {
  Busy busy(*this, /*kernel=*/false);
  TESSERA_TRY(copyStarts("in", to, offset + bytes));
  std::memcpy(static_cast<std::byte *>(to) + offset, host, bytes);
  std::lock_guard<std::mutex> lock(mutex);
  ++count.copiesIn;
  count.bytesIn += bytes;
  return Status();
}

Status NullDevice::copyOut(void *host, const void *from, size_t offset, size_t bytes) {
  Busy busy(*this, /*kernel=*/false);
  TESSERA_TRY(copyStarts("out", from, offset + bytes));
  std::memcpy(host, static_cast<const std::byte *>(from) + offset, bytes);
  std::lock_guard<std::mutex> lock(mutex);
  ++count.copiesOut;
  count.bytesOut += bytes;
  return Status();
}

Status NullDevice::copyPeer(void *to, size_t offset, Device &other, const void *from, size_t fromOffset,
                            size_t bytes) {
  if (&other != this)
    return Device::copyPeer(to, offset, other, from, fromOffset, bytes);
  std::lock_guard<std::mutex> lock(mutex);
  if (!spoiled.empty())
    return lostNow(*this, spoiled);
  if (failingPeerCopies > 0) {
    --failingPeerCopies;
    ++count.failures;
    return fail(StatusCode::DeviceFailed, name(), ": copy within the device failed on demand");
  }
  std::memcpy(static_cast<std::byte *>(to) + offset, static_cast<const std::byte *>(from) + fromOffset,
              bytes);
  ++count.copiesPeer;
  return Status();
}

bool NullDevice::pinHost(void *memory, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  ++count.pins;
  return pinned.emplace(memory, bytes).second;
}

void NullDevice::unpinHost(void *memory, size_t) {
  std::lock_guard<std::mutex> lock(mutex);
  pinned.erase(memory);
}

uint64_t NullDevice::pinnedBytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t sum = 0;
  for (auto &[memory, bytes] : pinned)
    sum += bytes;
  return sum;
}

Status NullDevice::launch(std::span<const KernelLaunch> steps, unsigned) {
  uint64_t tasks = 0;
  return run(steps, tasks);
}

Status NullDevice::run(std::span<const KernelLaunch> steps, uint64_t &tasks) {
  Busy busy(*this, /*kernel=*/true);
  unsigned delay;
  bool fails = false, loses = false;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!spoiled.empty())
      return lostNow(*this, spoiled);
    ++count.launches;
    delay = launchDelay;
    const std::string node = steps.empty() ? std::string() : std::string(steps[0].node);
    for (const std::string &key : {node, std::string()}) {
      auto it = failing.find(key);
      if (it != failing.end() && it->second > 0 && !fails) {
        --it->second;
        fails = true;
        ++count.failures;
      }
    }
    if (losingNode && (losingNode->empty() || *losingNode == node)) {
      losingNode.reset();
      ++count.failures;
      fails = loses = true;
    }
  }
  if (delay)
    std::this_thread::sleep_for(std::chrono::microseconds(delay));
  auto failed = [&](std::string_view what) {
    if (!loses)
      return fail(StatusCode::DeviceFailed, name(), ": ", what, " failed on demand");
    std::lock_guard<std::mutex> lock(mutex);
    spoiled = concat(what, " lost the device on demand");
    return lostNow(*this, spoiled);
  };
  Block scratch;
  for (const KernelLaunch &step : steps) {
    if (step.scratch && !scratch.reserve(step.scratch))
      return fail(StatusCode::OutOfMemory, name(), ": out of memory: asked ", formatBytes(step.scratch),
                  " of scratch");
    KernelCall call{reinterpret_cast<KernelFunction>(step.handle), step.args};
    KernelGroup group{
        {&call, 1}, {step.grid[0], step.grid[1], step.grid[2]}, step.grid[0] * step.grid[1] * step.grid[2]};
    // A device that fails in the middle has already overwritten part of its results.
    runTasks(group, 0, fails ? (group.tasks + 1) / 2 : group.tasks, scratch.data());
    tasks += static_cast<uint64_t>(group.tasks);
    if (fails)
      return failed(concat("kernel '", step.kernel, "'"));
  }
  if (fails)
    return failed("launch");
  return Status();
}

NullDevice::Engine::~Engine() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
    ready.notify_all();
  }
  for (std::thread &thread : threads)
    thread.join();
}

void NullDevice::Engine::push(unsigned mostAtOnce, std::function<void()> job) {
  std::lock_guard<std::mutex> lock(mutex);
  lanes = mostAtOnce;
  while (threads.size() < lanes)
    threads.emplace_back([this] { loop(); });
  jobs.push_back(std::move(job));
  ready.notify_one();
}

void NullDevice::Engine::loop() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    // There may be more threads than lanes: the device may have had more of them before.
    ready.wait(lock, [&] { return stopping || (!jobs.empty() && running < lanes); });
    if (jobs.empty())
      return;
    std::function<void()> job = std::move(jobs.front());
    jobs.pop_front();
    ++running;
    lock.unlock();
    job();
    lock.lock();
    --running;
    ready.notify_one();
  }
}

// What the device itself waits for is over before the host hears of it.
class NullDevice::Done final : public Event {
public:
  void finish(Status status, DeviceReport report = {}) {
    std::vector<std::function<void(const Status &)>> calls;
    {
      std::lock_guard<std::mutex> lock(mutex);
      result = status;
      calls = std::move(waiting);
    }
    for (auto &call : calls)
      call(status);
    complete(std::move(status), std::move(report));
  }
  /// Calls f when it is over; false when it is over already, and was called now.
  bool whenOver(std::function<void(const Status &)> f) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (!result) {
        waiting.push_back(std::move(f));
        return true;
      }
    }
    f(*result);
    return false;
  }

private:
  std::mutex mutex;
  std::optional<Status> result;
  std::vector<std::function<void(const Status &)>> waiting;
};

// An event that nobody completes, once where it was asked for; otherwise null.
EventRef NullDevice::hangs(const std::string &what, std::string_view which) {
  std::lock_guard<std::mutex> lock(mutex);
  std::optional<std::string> &asked = what == "copy" ? hangingCopy : hangingNode;
  if (!asked || (!asked->empty() && *asked != which))
    return nullptr;
  asked.reset();
  unanswered.push_back(std::make_shared<Done>());
  spoiled = concat("it stopped at a ", what);
  return unanswered.back();
}

EventRef NullDevice::launchAsync(std::span<const KernelLaunch> steps, unsigned) {
  if (EventRef never = hangs("launch", steps.empty() ? std::string_view() : steps[0].node))
    return never;
  auto event = std::make_shared<Done>();
  begin(event, {steps.begin(), steps.end()});
  return event;
}

EventRef NullDevice::launchAfter(std::span<const EventRef> after, std::span<const KernelLaunch> steps,
                                 unsigned) {
  struct Waiting {
    std::atomic<size_t> left;
    std::atomic<bool> failed{false};
    std::vector<KernelLaunch> steps;
  };
  auto waiting = std::make_shared<Waiting>();
  waiting->left = after.size() + 1;
  waiting->steps.assign(steps.begin(), steps.end());
  auto event = std::make_shared<Done>();
  auto one = [this, waiting, event](const Status &status) {
    if (!status.ok())
      waiting->failed = true;
    if (--waiting->left)
      return;
    if (waiting->failed)
      event->finish(fail(StatusCode::Cancelled, name(), ": what it waits for has failed"));
    else if (const auto &steps = waiting->steps;
             !hangs("launch", steps.empty() ? std::string_view() : steps[0].node))
      begin(event, steps);
  };
  bool ahead = false;
  for (const EventRef &other : after)
    ahead = static_cast<Done &>(*other).whenOver(one) || ahead;
  {
    std::lock_guard<std::mutex> lock(mutex);
    count.launchesAhead += ahead;
  }
  one(Status());
  return event;
}

void NullDevice::begin(const DoneRef &event, std::vector<KernelLaunch> steps) {
  auto work = [this, steps = std::move(steps)](Done &event) {
    uint64_t tasks = 0;
    Status status = run(steps, tasks);
    DeviceReport report;
    if (uint64_t each = ownNsPerTask)
      report = {each * tasks, {{"tasks", tasks}}};
    event.finish(std::move(status), std::move(report));
  };
  if (unsigned lanes = asyncLanes)
    computeEngine.push(lanes, [work, event] { work(*event); });
  else
    work(*event);
}

namespace {
/// Steps with places for their arguments.
struct NullRecording final : DeviceRecording {
  std::vector<KernelLaunch> steps;
};
} // namespace

Result<std::shared_ptr<DeviceRecording>> NullDevice::record(std::span<const KernelLaunch> steps) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!spoiled.empty())
    return lostNow(*this, spoiled);
  ++count.recordings;
  auto recording = std::make_shared<NullRecording>();
  recording->steps.assign(steps.begin(), steps.end());
  for (KernelLaunch &step : recording->steps)
    step.args = nullptr;
  return std::shared_ptr<DeviceRecording>(std::move(recording));
}

EventRef NullDevice::replay(const std::shared_ptr<DeviceRecording> &recording,
                            std::span<const uint64_t> args) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ++count.replays;
  }
  std::vector<KernelLaunch> steps = static_cast<NullRecording &>(*recording).steps;
  size_t at = 0;
  for (KernelLaunch &step : steps) {
    step.args = args.data() + at;
    at += step.argCount;
  }
  if (EventRef never = hangs("launch", steps.empty() ? std::string_view() : steps[0].node))
    return never;
  auto event = std::make_shared<Done>();
  begin(event, std::move(steps));
  return event;
}

EventRef NullDevice::copyInAsync(void *to, size_t offset, const void *host, size_t bytes) {
  if (EventRef never = hangs("copy", "in"))
    return never;
  if (asyncLanes == 0)
    return Device::copyInAsync(to, offset, host, bytes);
  auto event = std::make_shared<Event>();
  copyEngine.push(1, [=, this] { event->complete(copyIn(to, offset, host, bytes)); });
  return event;
}

EventRef NullDevice::copyOutAsync(void *host, const void *from, size_t offset, size_t bytes) {
  if (EventRef never = hangs("copy", "out"))
    return never;
  if (asyncLanes == 0)
    return Device::copyOutAsync(host, from, offset, bytes);
  auto event = std::make_shared<Event>();
  copyEngine.push(1, [=, this] { event->complete(copyOut(host, from, offset, bytes)); });
  return event;
}

void NullDevice::loseAtLaunch(const std::string &node) {
  std::lock_guard<std::mutex> lock(mutex);
  losingNode = node;
}

void NullDevice::loseAtCopy(const std::string &direction) {
  std::lock_guard<std::mutex> lock(mutex);
  losingCopy = direction;
}

void NullDevice::hangAtLaunch(const std::string &node) {
  std::lock_guard<std::mutex> lock(mutex);
  hangingNode = node;
}

void NullDevice::hangAtCopy(const std::string &direction) {
  std::lock_guard<std::mutex> lock(mutex);
  hangingCopy = direction;
}

void NullDevice::setOwnTime(uint64_t nsPerTask) {
  ownNsPerTask = nsPerTask;
  deviceInfo.ownTime = nsPerTask != 0;
}

void NullDevice::setAsync(unsigned lanes) { asyncLanes = lanes; }

NullCounts NullDevice::counts() const {
  std::lock_guard<std::mutex> lock(mutex);
  return count;
}

void NullDevice::resetCounts() {
  std::lock_guard<std::mutex> lock(mutex);
  count = NullCounts();
}

void NullDevice::failLaunches(const std::string &node, int times) {
  std::lock_guard<std::mutex> lock(mutex);
  failing[node] = times;
}

void NullDevice::failCopies(int times) {
  std::lock_guard<std::mutex> lock(mutex);
  failingCopies = times;
}

void NullDevice::failPeerCopies(int times) {
  std::lock_guard<std::mutex> lock(mutex);
  failingPeerCopies = times;
}

void NullDevice::setDelays(unsigned launchMicroseconds, unsigned copyMicroseconds) {
  std::lock_guard<std::mutex> lock(mutex);
  launchDelay = launchMicroseconds;
  copyDelay = copyMicroseconds;
}

void NullDevice::setMemory(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  deviceInfo.memoryBytes = bytes;
}

uint64_t NullDevice::memoryInUse() const {
  std::lock_guard<std::mutex> lock(mutex);
  return used;
}

Status NullDevice::configure(std::string_view settings) {
  static const std::string names[] = {"fail", "delay_us",  "copy_delay_us", "fail_copy", "mem",    "async",
                                      "lose", "lose_copy", "hang",          "hang_copy", "own_ns", "lost"};
  while (!settings.empty()) {
    size_t comma = settings.find(',');
    std::string_view item = settings.substr(0, comma);
    settings.remove_prefix(comma == std::string_view::npos ? settings.size() : comma + 1);
    if (item.empty())
      continue;
    size_t equals = item.find('=');
    std::string_view key = item.substr(0, equals);
    std::string_view text = equals == std::string_view::npos ? "" : item.substr(equals + 1);
    int number = 0;
    auto parse = [&](std::string_view digits) {
      auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      return error == std::errc() && end == digits.data() + digits.size() && number >= 0;
    };
    bool good = true;
    if (key == "fail") {
      size_t colon = text.rfind(':');
      number = 1;
      good = !text.empty() && (colon == std::string_view::npos || parse(text.substr(colon + 1)));
      if (good)
        failLaunches(std::string(text.substr(0, colon)), number);
    } else if (key == "delay_us" || key == "copy_delay_us") {
      good = parse(text);
      if (good)
        key == "delay_us" ? setDelays(static_cast<unsigned>(number), copyDelay)
                          : setDelays(launchDelay, static_cast<unsigned>(number));
    } else if (key == "fail_copy") {
      good = parse(text);
      if (good)
        failCopies(number);
    } else if (key == "async") {
      good = parse(text) && number <= 64;
      if (good)
        setAsync(static_cast<unsigned>(number));
    } else if (key == "lose" || key == "hang") {
      good = !text.empty();
      if (good)
        key == "lose" ? loseAtLaunch(std::string(text)) : hangAtLaunch(std::string(text));
    } else if (key == "lose_copy" || key == "hang_copy") {
      good = text == "in" || text == "out";
      if (good)
        key == "lose_copy" ? loseAtCopy(std::string(text)) : hangAtCopy(std::string(text));
    } else if (key == "own_ns") {
      good = parse(text);
      if (good)
        setOwnTime(static_cast<uint64_t>(number));
    } else if (key == "lost") {
      good = parse(text) && number == 1;
      if (good) {
        spoiled = "it was lost from the beginning, on demand";
        markLost(lostNow(*this, spoiled));
      }
    } else if (key == "mem") {
      uint64_t bytes = 0;
      good = parseBytes(text, bytes);
      if (good)
        setMemory(bytes);
    } else {
      return Status::error(StatusCode::InvalidArgument,
                           concat("TESSERA_NULL: ", unknownName("setting", key, "settings", names)));
    }
    if (!good)
      return fail(StatusCode::InvalidArgument, "TESSERA_NULL: '", item, "' is not a valid setting");
  }
  return Status();
}

std::vector<std::unique_ptr<Device>> createDevices_null() {
  std::vector<std::unique_ptr<Device>> devices;
  for (unsigned index : {0u, 1u}) {
    auto device = std::make_unique<NullDevice>(index);
    if (const char *settings = std::getenv("TESSERA_NULL"))
      if (Status status = device->configure(settings); !status.ok())
        std::fprintf(stderr, "tessera: warning: %s\n", status.message().c_str());
    devices.push_back(std::move(device));
  }
  return devices;
}

} // namespace tessera
