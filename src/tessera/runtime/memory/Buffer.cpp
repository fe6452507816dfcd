// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coherence of a buffer's copies, and what leaves a device that is full.
#include "tessera/runtime/memory/Buffer.h"
#include "tessera/base/Check.h"
#include "tessera/base/Diag.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <tuple>

namespace tessera {

static std::atomic<uint64_t> countIn, countOut, sumIn, sumOut;

TransferCounts Buffer::transfers() { return {countIn, countOut, sumIn, sumOut}; }
void Buffer::resetTransfers() { countIn = countOut = sumIn = sumOut = 0; }

// The buffers that have memory on some device, so that one can be found to make room. Locked after a buffer's
// own mutex; other buffers are only tried, never waited for.
class Residents {
public:
  void add(Buffer &buffer) {
    std::lock_guard<std::mutex> lock(mutex);
    buffers.insert(&buffer);
  }
  void remove(Buffer &buffer) {
    std::lock_guard<std::mutex> lock(mutex);
    buffers.erase(&buffer);
  }

  enum class Evicted { One, None, NoneNow };

  /// Takes one copy that no node uses out of the device's memory: the least recently used of those whose
  /// content is elsewhere too, otherwise of the others, after writing it back. Copies that nodes wait for go
  /// last, or stay when the room is needed `ahead`. NoneNow: another thread has a buffer in its hands.
  Evicted evictOne(Device &device, const Buffer *asking, bool ahead) {
    std::set<Buffer *> failed;
    for (;;) {
      Evicted none = Evicted::None;
      bool done = false;
      Buffer *dirty = choose(device, asking, ahead, failed, none, done);
      if (done)
        return Evicted::One;
      if (!dirty)
        return none;
      // Chosen, it is ours to move: it stays where it is until that is over.
      bool left = false;
      if (!dirty->writeBack(device, left).ok()) {
        failed.insert(dirty);
        continue;
      }
      if (!left)
        return Evicted::NoneNow; // A node took it up meanwhile.
      ++written;
      return Evicted::One;
    }
  }

  std::atomic<uint64_t> dropped{0}, written{0};

private:
  using Candidate = std::tuple<bool, bool, uint64_t, Buffer *>;

  // Drops a copy whose content is elsewhere too, or gives a buffer to write back, which nobody else moves.
  Buffer *choose(Device &device, const Buffer *asking, bool ahead, const std::set<Buffer *> &failed,
                 Evicted &none, bool &done) {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<Candidate> candidates;
    for (Buffer *buffer : buffers) {
      if (buffer == asking || failed.contains(buffer))
        continue;
      std::unique_lock<std::mutex> held(buffer->mutex, std::try_to_lock);
      if (!held || buffer->far->moving) {
        none = Evicted::NoneNow;
        continue;
      }
      buffer->dropLost();
      if (Buffer::Copy *copy = idleCopy(*buffer, device, ahead))
        candidates.emplace_back(copy->wanted != 0, !buffer->clean(*copy), copy->lastUse, buffer);
    }
    std::sort(candidates.begin(), candidates.end());
    for (auto [wanted, dirty, use, buffer] : candidates) {
      std::unique_lock<std::mutex> held(buffer->mutex, std::try_to_lock);
      if (!held || buffer->far->moving) {
        none = Evicted::NoneNow;
        continue;
      }
      Buffer::Copy *copy = idleCopy(*buffer, device, ahead);
      if (!copy)
        continue;
      if (!buffer->clean(*copy)) {
        buffer->far->moving = true;
        return buffer;
      }
      ++dropped;
      copy->valid.clear();
      copy->memory.reset();
      done = true;
      return nullptr;
    }
    return nullptr;
  }

  static Buffer::Copy *idleCopy(Buffer &buffer, Device &device, bool ahead) {
    for (Buffer::Copy &copy : buffer.copies())
      if (copy.device == &device && copy.memory && !copy.memory->inUse() && !copy.backup &&
          !(ahead && copy.wanted))
        return &copy;
    return nullptr;
  }

  std::mutex mutex;
  std::set<Buffer *> buffers;
};

static Residents &residents() {
  static Residents *all = new Residents;
  return *all;
}

EvictionCounts evictions() { return {residents().dropped, residents().written}; }

Result<std::shared_ptr<DeviceMemory>> Buffer::takeMemory(Device &device, bool ahead) {
  // What others have in their hands is free again soon; but they may wait for this buffer, so not for ever.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (;;) {
    auto memory = DeviceMemory::take(device, byteSize);
    if (memory.ok() || memory.status().code() != StatusCode::OutOfMemory)
      return memory;
    Residents::Evicted evicted = residents().evictOne(device, this, ahead);
    if (evicted == Residents::Evicted::One)
      continue;
    if (evicted == Residents::Evicted::None || ahead || std::chrono::steady_clock::now() > patience)
      return memory;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

//===- Buffer
//---------------------------------------------------------------------------------------------------===//

Buffer::Buffer(ElementType type, std::vector<int64_t> shape, size_t bytes)
    : elementType(type), extents(std::move(shape)), byteSize(bytes) {}

static Result<size_t> checkedBytes(ElementType type, const std::vector<int64_t> &shape) {
  auto bytes = checkedByteSize(type, shape);
  if (!bytes || shape.size() > 16)
    return fail(
        StatusCode::InvalidArgument, "a buffer of ", elementTypeName(type), " of shape ", formatShape(shape),
        " is not possible; expected at most 16 extents, each 0 or more, of less than 2^63 bytes in all");
  return static_cast<size_t>(*bytes);
}

Result<BufferRef> Buffer::create(ElementType type, std::vector<int64_t> shape) {
  auto bytes = checkedBytes(type, shape);
  if (!bytes.ok())
    return bytes.status();
  return BufferRef(new Buffer(type, std::move(shape), *bytes));
}

Result<BufferRef> Buffer::wrap(ElementType type, std::vector<int64_t> shape, void *host, bool readOnly) {
  auto bytes = checkedBytes(type, shape);
  if (!bytes.ok())
    return bytes.status();
  if (reinterpret_cast<uintptr_t>(host) % elementSize(type) != 0 || (!host && *bytes))
    return fail(StatusCode::InvalidArgument, "expected host memory aligned to ", elementSize(type), " bytes");
  BufferRef buffer(new Buffer(type, std::move(shape), *bytes));
  buffer->host = static_cast<std::byte *>(host);
  buffer->hostValid.add(buffer->whole());
  buffer->isReadOnly = readOnly;
  buffer->isAligned = reinterpret_cast<uintptr_t>(host) % 64 == 0;
  buffer->hostOnly = host != nullptr;
  return buffer;
}

// A device that did not answer may write here whenever it likes.
static void keepForEver(void *memory) {
  static std::mutex mutex;
  static auto *kept = new std::vector<void *>;
  std::lock_guard<std::mutex> lock(mutex);
  kept->push_back(memory);
}

Buffer::~Buffer() {
  if (far) {
    residents().remove(*this);
    // Whoever had chosen it to make room finishes first.
    Lock lock(mutex);
    awaitTurn(lock);
    for (Copy &copy : copies())
      if (copy.pinned && !copy.device->lost())
        copy.device->unpinHost(host, std::max<size_t>(byteSize, 1));
  }
  if (ownsHost && far && far->keepHost)
    keepForEver(host);
  else if (ownsHost)
    std::free(host);
}

std::string Buffer::describe() const {
  return concat(elementTypeName(elementType), " of shape ", formatShape(extents));
}

Status Buffer::ensureHost() {
  if (host)
    return Status();
  size_t rounded = std::max<size_t>(64, (byteSize + 63) / 64 * 64);
  host = rounded < byteSize ? nullptr : static_cast<std::byte *>(std::aligned_alloc(64, rounded));
  if (!host)
    return fail(StatusCode::OutOfMemory, "host: out of memory: asked ", formatBytes(byteSize),
                " for a buffer");
  // Nobody's old data may show through in a part that is never written.
  std::memset(host, 0, rounded);
  ownsHost = true;
  if (!far) {
    hostValid.add(whole());
    hostOnly.store(true, std::memory_order_release);
  }
  return Status();
}

Buffer::Copy &Buffer::copyOn(Device &device) {
  static std::atomic<uint64_t> uses{0};
  for (Copy &copy : copies())
    if (copy.device == &device) {
      copy.lastUse = ++uses;
      return copy;
    }
  // hostOnly was published with no copies: from here on everybody takes the lock.
  hostOnly.store(false, std::memory_order_release);
  if (!far) {
    far = std::make_unique<Far>();
    residents().add(*this);
  }
  far->copies.push_back({&device, nullptr, nullptr, 0, ++uses, {}});
  return far->copies.back();
}

// The right to move data, from its construction to its end. The mutex is held at both; who has it may let the
// mutex go, and waits only then.
class Buffer::Move {
public:
  Move(Buffer &buffer, Lock &lock) : far(buffer.far.get()), lock(lock) {
    if (!far) // No device knows the buffer: nothing will move, and nobody lets the mutex go.
      return;
    buffer.awaitTurn(lock);
    far->moving = true;
    buffer.dropLost();
  }
  ~Move() {
    if (!far)
      return;
    if (!lock.owns_lock())
      lock.lock();
    far->moving = false;
    far->moved.notify_all();
  }

private:
  Far *const far;
  Lock &lock;
};

// Ends by itself: whoever moves data waits for devices with a limit.
void Buffer::awaitTurn(Lock &lock) {
  if (far)
    far->moved.wait(lock, [&] { return !far->moving; });
}

// What a lost device holds counts no more.
void Buffer::dropLost() {
  for (Copy &copy : copies()) {
    if (!copy.device->lost() || (!copy.memory && copy.valid.empty()))
      continue;
    IntervalSet held = std::move(copy.valid);
    copy.valid.clear();
    copy.memory.reset();
    copy.backup.reset();
    for (const Copy &other : copies())
      if (!other.device->lost())
        for (ByteRange range : other.valid.all())
          held.remove(range);
    for (ByteRange range : hostValid.all())
      held.remove(range);
    for (ByteRange range : held.all()) {
      far->gone.add(range);
      far->goneWith = concat("device '", copy.device->name(), "': ", copy.device->lossReason());
    }
  }
}

Status Buffer::checkLost(ByteRange range) const {
  if (!far || far->gone.empty() || far->gone.common(range).empty())
    return Status();
  return fail(StatusCode::DeviceLost, describe(), ": the only valid copy was lost with ", far->goneWith);
}

Status Buffer::ensureMemory(Lock &lock, Copy &copy, bool ahead) {
  if (copy.memory)
    return Status();
  lock.unlock();
  auto memory = takeMemory(*copy.device, ahead);
  lock.lock();
  if (!memory.ok())
    return memory.status();
  copy.memory = memory.take();
  return Status();
}

// Memory of our own that travels; the caller's is pinned by the caller or not at all.
void Buffer::pin(Copy &copy) {
  if (copy.offered || !ownsHost)
    return;
  copy.offered = true;
  copy.pinned = copy.device->pinHost(host, std::max<size_t>(byteSize, 1));
}

namespace {
/// A part of a buffer on its way.
struct Part {
  ByteRange range;
  Device *source = nullptr; ///< Null: the host.
  DeviceUse from;
  EventRef event;
  Status status;
};

// What the device has answered, or that it did not.
Status settle(Device &device, const EventRef &event) {
  Status status = event->wait();
  if (status.code() == StatusCode::Timeout)
    return device.judge(
        fail(StatusCode::Timeout, "device '", device.name(), "': a copy got ", status.message()));
  return device.judge(std::move(status));
}
} // namespace

// Brings what is missing of `range` to `to`, or to the host when that is null: from a neighbour that can hand
// it over, otherwise from the host, which gets it first where it has to. The mutex is not held while it
// waits. `again`: a device from which something was to come was lost; another may have it too.
Status Buffer::transfer(Lock &lock, Copy *to, ByteRange range, bool &again) {
  std::vector<Part> peers, outs, ins;
  const IntervalSet &have = to ? to->valid : hostValid;
  IntervalSet planned;
  auto plan = [&](std::vector<Part> &list, ByteRange part, Copy *source) {
    for (ByteRange still : planned.missing(part)) {
      list.push_back({still, source ? source->device : nullptr,
                      source ? DeviceUse(source->memory) : DeviceUse(), nullptr, Status()});
      planned.add(still);
    }
  };
  for (ByteRange gap : have.missing(range)) {
    if (to) {
      for (ByteRange part : hostValid.common(gap))
        plan(ins, part, nullptr);
      for (Copy &other : copies())
        if (&other != to && to->device->canCopyFrom(*other.device))
          for (ByteRange part : other.valid.common(gap))
            plan(peers, part, &other);
    }
    for (Copy &other : copies())
      if (&other != to)
        for (ByteRange part : other.valid.common(gap))
          plan(outs, part, &other);
  }
  if (ins.empty() && outs.empty() && peers.empty())
    return Status();
  if (!ins.empty() || !outs.empty())
    TESSERA_TRY(ensureHost());
  std::vector<Copy *> travels;
  for (Copy &copy : copies())
    if ((to == &copy && (!ins.empty() || !outs.empty())) ||
        std::ranges::any_of(outs, [&](const Part &part) { return part.source == copy.device; }))
      travels.push_back(&copy);
  DeviceUse target = to ? DeviceUse(to->memory) : DeviceUse();
  std::byte *memory = host;

  lock.unlock();
  for (Copy *copy : travels)
    pin(*copy);
  Status status;
  auto note = [&](Part &part, Device &asked, Status result) {
    if (!result.ok() && asked.lost() && part.source == &asked)
      again = true;
    if (!result.ok())
      status = result;
    part.status = std::move(result);
  };
  auto send = [&](Part &part) {
    part.event = to->device->copyInAsync(target.data(), part.range.begin, memory + part.range.begin,
                                         part.range.size());
  };
  for (Part &part : ins)
    send(part);
  for (Part &part : outs)
    part.event = part.source->copyOutAsync(memory + part.range.begin, part.from.data(), part.range.begin,
                                           part.range.size());
  for (Part &part : peers)
    part.event = to->device->copyPeerAsync(target.data(), part.range.begin, *part.source, part.from.data(),
                                           part.range.begin, part.range.size());
  for (Part &part : peers)
    note(part, *part.source, settle(*to->device, part.event));
  std::vector<ByteRange> arrived;
  for (Part &part : outs) {
    note(part, *part.source, settle(*part.source, part.event));
    if (!part.status.ok())
      continue;
    ++countOut;
    sumOut += part.range.size();
    arrived.push_back(part.range);
    if (to) {
      ins.push_back({part.range, nullptr, DeviceUse(), nullptr, Status()});
      send(ins.back());
    }
  }
  // After a failure, too: what is on its way still needs the memory.
  for (Part &part : ins) {
    note(part, *to->device, settle(*to->device, part.event));
    if (part.status.ok()) {
      ++countIn;
      sumIn += part.range.size();
    }
  }
  lock.lock();
  for (ByteRange range : arrived)
    hostValid.add(range);
  for (const std::vector<Part> *list : {&ins, &outs})
    for (const Part &part : *list)
      far->keepHost = far->keepHost || (part.event && !part.event->isOver());
  for (const std::vector<Part> *list : {&peers, &ins})
    for (const Part &part : *list)
      if (part.status.ok())
        to->valid.add(part.range);
  dropLost();
  return status;
}

Status Buffer::fetchToHost(Lock &lock, ByteRange range) {
  TESSERA_TRY(ensureHost());
  for (;;) {
    TESSERA_TRY(checkLost(range));
    bool again = false;
    Status status = transfer(lock, nullptr, range, again);
    if (!again)
      return status.code() == StatusCode::DeviceLost && !checkLost(range).ok() ? checkLost(range) : status;
  }
}

Status Buffer::bring(Lock &lock, Copy &to, bool ahead) {
  for (;;) {
    TESSERA_TRY(checkLost(whole()));
    TESSERA_TRY(ensureMemory(lock, to, ahead));
    bool again = false;
    Status status = transfer(lock, &to, whole(), again);
    if (!again || to.device->lost())
      return status;
  }
}

// The right to move is the caller's, who got it from Residents; the mutex is not held yet.
Status Buffer::writeBack(Device &device, bool &left) {
  Lock lock(mutex);
  Status status = fetchToHost(lock, whole());
  for (Copy &copy : copies())
    if (copy.device == &device && status.ok() && copy.memory && !copy.memory->inUse()) {
      copy.valid.clear();
      copy.memory.reset();
      left = true;
    }
  far->moving = false;
  far->moved.notify_all();
  return status;
}

bool Buffer::clean(const Copy &copy) {
  for (ByteRange range : copy.valid.all()) {
    if (hostValid.contains(range))
      continue;
    if (std::ranges::none_of(copies(), [&](const Copy &other) {
          return &other != &copy && other.memory && other.valid.contains(range);
        }))
      return false;
  }
  return true;
}

void Buffer::want(Device &device) {
  if (device.sharesHostMemory())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  ++copyOn(device).wanted;
}

void Buffer::unwant(Device &device) {
  if (device.sharesHostMemory())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  --copyOn(device).wanted;
}

void Buffer::invalidateOthers(Copy *keep, ByteRange range) {
  if (keep)
    hostValid.remove(range);
  for (Copy &copy : copies())
    if (&copy != keep)
      copy.valid.remove(range);
}

// The rest is kept out of the two functions that every launch calls, so that they need no stack of their own.
Result<std::byte *> Buffer::hostRead(ByteRange range) {
  if (hostOnly.load(std::memory_order_acquire))
    return host;
  auto fetch = [&]() __attribute__((noinline)) -> Result<std::byte *> {
    Lock lock(mutex);
    if (host && hostValid.contains(range))
      return host;
    Move move(*this, lock);
    TESSERA_TRY(fetchToHost(lock, range));
    return host;
  };
  return fetch();
}

Result<std::byte *> Buffer::hostWrite(ByteRange range, bool discard) {
  if (hostOnly.load(std::memory_order_acquire))
    return host;
  auto take = [&]() __attribute__((noinline)) -> Result<std::byte *> {
    Lock lock(mutex);
    Move move(*this, lock);
    TESSERA_TRY(discard ? ensureHost() : fetchToHost(lock, range));
    hostValid.add(range);
    if (far)
      far->gone.remove(range);
    invalidateOthers(nullptr, range);
    return host;
  };
  return take();
}

// The device may have been lost a moment ago.
Result<DeviceUse> Buffer::use(const Copy &copy) {
  if (copy.memory)
    return DeviceUse(copy.memory);
  return fail(StatusCode::DeviceLost, "device '", copy.device->name(),
              "' was lost: ", copy.device->lossReason());
}

Result<DeviceUse> Buffer::deviceRead(Device &device, bool ahead) {
  if (device.sharesHostMemory()) {
    TESSERA_ASSIGN(std::byte * memory, hostRead());
    return DeviceUse(static_cast<void *>(memory));
  }
  Lock lock(mutex);
  Copy &copy = copyOn(device);
  if (copy.memory && !device.lost() && copy.valid.contains(whole()))
    return DeviceUse(copy.memory);
  Move move(*this, lock);
  TESSERA_TRY(bring(lock, copy, ahead));
  return use(copy);
}

Result<DeviceUse> Buffer::deviceWrite(Device &device) {
  Lock lock(mutex);
  if (device.sharesHostMemory()) {
    TESSERA_TRY(ensureHost());
    return DeviceUse(static_cast<void *>(host));
  }
  Copy &copy = copyOn(device);
  Move move(*this, lock);
  TESSERA_TRY(ensureMemory(lock, copy));
  return use(copy);
}

Result<DeviceUse> Buffer::deviceAsItIs(Device &device) {
  Lock lock(mutex);
  Copy &copy = copyOn(device);
  if (copy.memory && !device.lost())
    return DeviceUse(copy.memory);
  // Whoever wrote it is done, and it made room for others meanwhile.
  lock.unlock();
  return deviceRead(device);
}

// Another copy of what a node is about to change: a duplicate on the device, or else the host's.
Status Buffer::protectContent(Lock &lock, Copy &copy) {
  Device &device = *copy.device;
  if (device.canCopyFrom(device)) {
    DeviceUse from(copy.memory);
    lock.unlock();
    auto fresh = takeMemory(device, /*ahead=*/true);
    Status status =
        fresh.ok()
            ? settle(device, device.copyPeerAsync((*fresh)->data(), 0, device, from.data(), 0, byteSize))
            : fresh.status();
    lock.lock();
    if (status.ok()) {
      copy.backup = std::exchange(copy.memory, fresh.take());
      return Status();
    }
    if (status.code() != StatusCode::OutOfMemory)
      return status;
  }
  return fetchToHost(lock, whole());
}

Result<DeviceUse> Buffer::deviceUpdate(Device &device, bool protect) {
  if (device.sharesHostMemory())
    return deviceRead(device);
  Lock lock(mutex);
  Copy &copy = copyOn(device);
  Move move(*this, lock);
  TESSERA_TRY(bring(lock, copy));
  bool elsewhere = hostValid.contains(whole()) || std::ranges::any_of(copies(), [&](const Copy &other) {
                     return &other != &copy && other.valid.contains(whole());
                   });
  if (protect && !elsewhere && !copy.backup)
    TESSERA_TRY(protectContent(lock, copy));
  return use(copy);
}

// A device that has all of the content and can copy it itself; null where the host is to do it.
Device *Buffer::holder(bool near) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!far || (!near && hostValid.contains(whole())))
    return nullptr;
  for (Copy &copy : copies())
    if (!copy.device->lost() && copy.memory && copy.valid.contains(whole()) &&
        copy.device->canCopyFrom(*copy.device))
      return copy.device;
  return nullptr;
}

Status Buffer::assign(Buffer &from, bool near) {
  TESSERA_CHECK(byteSize <= from.byteSize) << "a buffer takes more than there is";
  if (this == &from || !byteSize)
    return Status();
  if (Device *device = from.holder(near)) {
    auto source = from.deviceRead(*device);
    auto target = source.ok() ? deviceWrite(*device) : Result<DeviceUse>(source.status());
    if (target.ok()) {
      Status status =
          settle(*device, device->copyPeerAsync(target->data(), 0, *device, source->data(), 0, byteSize));
      status.ok() ? commit(*device) : abandon(*device, /*begun=*/true);
      if (status.ok())
        return status;
    }
  }
  TESSERA_ASSIGN(std::byte * source, from.hostRead({0, byteSize}));
  TESSERA_ASSIGN(std::byte * target, hostWrite());
  std::memmove(target, source, byteSize);
  return Status();
}

void Buffer::commit(Device &device) {
  Lock lock(mutex);
  awaitTurn(lock);
  if (far)
    far->gone.clear();
  if (device.sharesHostMemory()) {
    hostValid.add(whole());
    invalidateOthers(nullptr, whole());
    return;
  }
  Copy &copy = copyOn(device);
  TESSERA_CHECK(copy.memory || device.lost()) << "a node's result left the device before it was committed";
  copy.backup.reset();
  copy.valid.add(whole());
  invalidateOthers(&copy, whole());
  dropLost();
}

void Buffer::abandon(Device &device, bool begun) {
  if (device.sharesHostMemory())
    return;
  Lock lock(mutex);
  awaitTurn(lock);
  Copy &copy = copyOn(device);
  if (copy.backup) // The content before the node is still there.
    copy.memory = std::move(copy.backup);
  else if (begun)
    copy.valid.clear();
}

size_t Buffer::bytesToMove(Device &device) {
  std::lock_guard<std::mutex> lock(mutex);
  size_t sum = 0;
  if (device.sharesHostMemory()) {
    for (ByteRange gap : hostValid.missing(whole()))
      sum += gap.size();
    return far ? sum : 0;
  }
  for (Copy &copy : copies())
    if (copy.device == &device) {
      for (ByteRange gap : copy.valid.missing(whole()))
        sum += gap.size();
      return sum;
    }
  return byteSize;
}

} // namespace tessera
