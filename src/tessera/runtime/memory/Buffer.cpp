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
    std::lock_guard<std::mutex> lock(mutex);
    Evicted none = Evicted::None;
    std::vector<Candidate> candidates;
    for (Buffer *buffer : buffers) {
      if (buffer == asking) // Its mutex is held by this thread.
        continue;
      std::unique_lock<std::mutex> held(buffer->mutex, std::try_to_lock);
      if (!held)
        none = Evicted::NoneNow;
      else if (Buffer::Copy *copy = idleCopy(*buffer, device, ahead))
        candidates.emplace_back(copy->wanted != 0, !buffer->clean(*copy), copy->lastUse, buffer);
    }
    std::sort(candidates.begin(), candidates.end());
    for (auto [wanted, dirty, use, buffer] : candidates) {
      std::unique_lock<std::mutex> held(buffer->mutex, std::try_to_lock);
      if (!held)
        none = Evicted::NoneNow;
      Buffer::Copy *copy = held ? idleCopy(*buffer, device, ahead) : nullptr;
      if (!copy)
        continue;
      if (buffer->clean(*copy))
        ++dropped;
      else if (buffer->fetchToHost(buffer->whole()).ok())
        ++written;
      else
        continue;
      copy->valid.clear();
      copy->memory.reset();
      return Evicted::One;
    }
    return none;
  }

  std::atomic<uint64_t> dropped{0}, written{0};

private:
  using Candidate = std::tuple<bool, bool, uint64_t, Buffer *>;

  static Buffer::Copy *idleCopy(Buffer &buffer, Device &device, bool ahead) {
    for (Buffer::Copy &copy : buffer.copies)
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

Buffer::~Buffer() {
  if (!copies.empty())
    residents().remove(*this);
  if (ownsHost)
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
  if (copies.empty()) {
    hostValid.add(whole());
    hostOnly.store(true, std::memory_order_release);
  }
  return Status();
}

Buffer::Copy &Buffer::copyOn(Device &device) {
  static std::atomic<uint64_t> uses{0};
  for (Copy &copy : copies)
    if (copy.device == &device) {
      copy.lastUse = ++uses;
      return copy;
    }
  // hostOnly was published with no copies: from here on everybody takes the lock.
  hostOnly.store(false, std::memory_order_release);
  if (copies.empty())
    residents().add(*this);
  copies.push_back({&device, nullptr, nullptr, 0, ++uses, {}});
  return copies.back();
}

Status Buffer::ensureMemory(Copy &copy, bool ahead) {
  if (copy.memory)
    return Status();
  TESSERA_ASSIGN(copy.memory, takeMemory(*copy.device, ahead));
  return Status();
}

// Where byte `offset` of a copy is.
static std::byte *at(const std::shared_ptr<DeviceMemory> &memory, size_t offset) {
  return static_cast<std::byte *>(memory->data()) + offset;
}

Status Buffer::fetchToHost(ByteRange range) {
  TESSERA_TRY(ensureHost());
  for (ByteRange gap : hostValid.missing(range))
    for (Copy &copy : copies)
      for (ByteRange part : copy.valid.common(gap))
        for (ByteRange still : hostValid.missing(part)) {
          TESSERA_TRY(copy.device->copyOut(host + still.begin, at(copy.memory, still.begin), still.size()));
          ++countOut;
          sumOut += still.size();
          hostValid.add(still);
        }
  return Status();
}

// Fetches what `to` lacks from neighbours, and starts copies of the rest from the host.
Status Buffer::collect(Copy &to, std::vector<std::pair<ByteRange, EventRef>> &arriving) {
  for (ByteRange gap : to.valid.missing(whole())) {
    // From a neighbour that can hand it over directly…
    for (Copy &other : copies)
      if (&other != &to && to.device->canCopyFrom(*other.device))
        for (ByteRange part : other.valid.common(gap))
          for (ByteRange still : to.valid.missing(part)) {
            if (hostValid.contains(still))
              continue;
            TESSERA_TRY(to.device->copyPeer(at(to.memory, still.begin), *other.device,
                                            at(other.memory, still.begin), still.size()));
            to.valid.add(still);
          }
    // …otherwise through the host.
    for (ByteRange still : to.valid.missing(gap)) {
      TESSERA_TRY(fetchToHost(still));
      for (ByteRange part : hostValid.common(still))
        arriving.emplace_back(
            part, to.device->copyInAsync(at(to.memory, part.begin), host + part.begin, part.size()));
    }
  }
  return Status();
}

Status Buffer::bring(Copy &to, bool ahead) {
  TESSERA_TRY(ensureMemory(to, ahead));
  std::vector<std::pair<ByteRange, EventRef>> arriving; // Parts on their way from the host.
  Status status = collect(to, arriving);
  // After a failure, too: what is on its way still needs the memory.
  for (auto &[part, event] : arriving) {
    if (Status one = event->wait(); !one.ok()) {
      status = std::move(one);
      continue;
    }
    ++countIn;
    sumIn += part.size();
    to.valid.add(part);
  }
  return status;
}

bool Buffer::clean(const Copy &copy) const {
  for (ByteRange range : copy.valid.all()) {
    if (hostValid.contains(range))
      continue;
    if (std::none_of(copies.begin(), copies.end(), [&](const Copy &other) {
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
  for (Copy &copy : copies)
    if (&copy != keep)
      copy.valid.remove(range);
}

Result<std::byte *> Buffer::hostRead(ByteRange range) {
  if (hostOnly.load(std::memory_order_acquire))
    return host;
  std::lock_guard<std::mutex> lock(mutex);
  TESSERA_TRY(fetchToHost(range));
  return host;
}

Result<std::byte *> Buffer::hostWrite(ByteRange range, bool discard) {
  if (hostOnly.load(std::memory_order_acquire))
    return host;
  std::lock_guard<std::mutex> lock(mutex);
  TESSERA_TRY(discard ? ensureHost() : fetchToHost(range));
  hostValid.add(range);
  invalidateOthers(nullptr, range);
  return host;
}

Result<DeviceUse> Buffer::deviceRead(Device &device, bool ahead) {
  if (device.sharesHostMemory()) {
    TESSERA_ASSIGN(std::byte * memory, hostRead());
    return DeviceUse(static_cast<void *>(memory));
  }
  std::lock_guard<std::mutex> lock(mutex);
  Copy &copy = copyOn(device);
  TESSERA_TRY(bring(copy, ahead));
  return DeviceUse(copy.memory);
}

Result<DeviceUse> Buffer::deviceWrite(Device &device) {
  std::lock_guard<std::mutex> lock(mutex);
  if (device.sharesHostMemory()) {
    TESSERA_TRY(ensureHost());
    return DeviceUse(static_cast<void *>(host));
  }
  Copy &copy = copyOn(device);
  TESSERA_TRY(ensureMemory(copy));
  return DeviceUse(copy.memory);
}

Result<DeviceUse> Buffer::deviceUpdate(Device &device, bool protect) {
  if (device.sharesHostMemory())
    return deviceRead(device);
  std::lock_guard<std::mutex> lock(mutex);
  Copy &copy = copyOn(device);
  TESSERA_TRY(bring(copy));
  bool elsewhere =
      hostValid.contains(whole()) || std::any_of(copies.begin(), copies.end(), [&](const Copy &other) {
        return &other != &copy && other.valid.contains(whole());
      });
  if (!protect || elsewhere || copy.backup)
    return DeviceUse(copy.memory);
  if (device.canCopyFrom(device)) {
    auto fresh = takeMemory(device, /*ahead=*/true);
    if (fresh.ok()) {
      TESSERA_TRY(device.copyPeer((*fresh)->data(), device, copy.memory->data(), byteSize));
      copy.backup = std::exchange(copy.memory, fresh.take());
      return DeviceUse(copy.memory);
    }
    if (fresh.status().code() != StatusCode::OutOfMemory)
      return fresh.status();
  }
  TESSERA_TRY(fetchToHost(whole()));
  return DeviceUse(copy.memory);
}

void Buffer::commit(Device &device) {
  std::lock_guard<std::mutex> lock(mutex);
  if (device.sharesHostMemory()) {
    hostValid.add(whole());
    invalidateOthers(nullptr, whole());
    return;
  }
  Copy &copy = copyOn(device);
  TESSERA_CHECK(copy.memory) << "a node's result left the device before it was committed";
  copy.backup.reset();
  copy.valid.add(whole());
  invalidateOthers(&copy, whole());
}

void Buffer::abandon(Device &device, bool begun) {
  if (device.sharesHostMemory())
    return;
  std::lock_guard<std::mutex> lock(mutex);
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
    return copies.empty() ? 0 : sum;
  }
  for (Copy &copy : copies)
    if (copy.device == &device) {
      for (ByteRange gap : copy.valid.missing(whole()))
        sum += gap.size();
      return sum;
    }
  return byteSize;
}

} // namespace tessera
