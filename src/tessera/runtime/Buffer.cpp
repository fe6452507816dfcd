// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coherence of a buffer's copies, and the cache of freed device memory.
#include "tessera/runtime/Buffer.h"
#include "tessera/base/Diag.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

namespace tessera {

static std::atomic<uint64_t> countIn, countOut, sumIn, sumOut;

TransferCounts Buffer::transfers() { return {countIn, countOut, sumIn, sumOut}; }
void Buffer::resetTransfers() { countIn = countOut = sumIn = sumOut = 0; }

//===- Freed device memory is kept: programs allocate the same sizes again and again.
//---------------------------===//

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

void trimDeviceMemory(Device &device) {
  MemoryCache &cache = memoryCache();
  std::lock_guard<std::mutex> lock(cache.mutex);
  for (auto it = cache.freed.begin(); it != cache.freed.end();) {
    if (it->first.first != &device) {
      ++it;
      continue;
    }
    for (void *memory : it->second)
      device.release(memory, it->first.second);
    it = cache.freed.erase(it);
  }
}

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

  /// Takes one copy that no node uses out of the device's memory: the least recently used of those whose
  /// content is elsewhere too, otherwise of the others, after writing it back. False when there is none.
  bool evictOne(Device &device, const Buffer *asking) {
    std::lock_guard<std::mutex> lock(mutex);
    for (bool wantClean : {true, false}) {
      std::vector<std::pair<uint64_t, Buffer *>> candidates;
      for (Buffer *buffer : buffers) {
        if (buffer == asking) // Its mutex is held by this thread.
          continue;
        if (std::unique_lock<std::mutex> held(buffer->mutex, std::try_to_lock); held)
          if (Buffer::Copy *copy = idleCopy(*buffer, device); copy && buffer->clean(*copy) == wantClean)
            candidates.emplace_back(copy->lastUse, buffer);
      }
      std::sort(candidates.begin(), candidates.end());
      for (auto [use, buffer] : candidates) {
        std::unique_lock<std::mutex> held(buffer->mutex, std::try_to_lock);
        Buffer::Copy *copy = held ? idleCopy(*buffer, device) : nullptr;
        if (!copy)
          continue;
        if (!buffer->clean(*copy)) {
          if (!buffer->fetchToHost(buffer->whole()).ok())
            continue;
          ++written;
        } else {
          ++dropped;
        }
        copy->valid.clear();
        device.release(std::exchange(copy->memory, nullptr), std::max<size_t>(buffer->byteSize, 1));
        return true;
      }
    }
    return false;
  }

  std::atomic<uint64_t> dropped{0}, written{0};

private:
  static Buffer::Copy *idleCopy(Buffer &buffer, Device &device) {
    for (Buffer::Copy &copy : buffer.copies)
      if (copy.device == &device && copy.memory && !copy.backup && copy.pins == 0)
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

static Result<void *> takeMemory(Device &device, size_t bytes, const Buffer *asking) {
  bytes = std::max<size_t>(bytes, 1);
  {
    MemoryCache &cache = memoryCache();
    std::lock_guard<std::mutex> lock(cache.mutex);
    auto it = cache.freed.find({&device, bytes});
    if (it != cache.freed.end() && !it->second.empty()) {
      void *memory = it->second.back();
      it->second.pop_back();
      return memory;
    }
  }
  auto memory = device.allocate(bytes);
  if (memory.ok() || memory.status().code() != StatusCode::OutOfMemory)
    return memory;
  trimDeviceMemory(device);
  memory = device.allocate(bytes);
  while (!memory.ok() && memory.status().code() == StatusCode::OutOfMemory &&
         residents().evictOne(device, asking))
    memory = device.allocate(bytes);
  return memory;
}

static void giveMemory(Device &device, void *memory, size_t bytes) {
  if (!memory)
    return;
  MemoryCache &cache = memoryCache();
  std::lock_guard<std::mutex> lock(cache.mutex);
  cache.freed[{&device, std::max<size_t>(bytes, 1)}].push_back(memory);
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
  for (Copy &copy : copies) {
    giveMemory(*copy.device, copy.memory, byteSize);
    giveMemory(*copy.device, copy.backup, byteSize);
  }
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

Status Buffer::ensureMemory(Copy &copy) {
  if (copy.memory)
    return Status();
  auto memory = takeMemory(*copy.device, byteSize, this);
  if (!memory.ok())
    return memory.status();
  copy.memory = *memory;
  return Status();
}

Status Buffer::fetchToHost(ByteRange range) {
  TESSERA_TRY(ensureHost());
  for (ByteRange gap : hostValid.missing(range))
    for (Copy &copy : copies)
      for (ByteRange part : copy.valid.common(gap))
        for (ByteRange still : hostValid.missing(part)) {
          TESSERA_TRY(copy.device->copyOut(
              host + still.begin, static_cast<std::byte *>(copy.memory) + still.begin, still.size()));
          ++countOut;
          sumOut += still.size();
          hostValid.add(still);
        }
  return Status();
}

Status Buffer::bring(Copy *to, ByteRange range) {
  TESSERA_TRY(ensureMemory(*to));
  std::vector<std::pair<ByteRange, EventRef>> arriving; // Parts on their way from the host.
  for (ByteRange gap : to->valid.missing(range)) {
    // From a neighbour that can hand it over directly…
    for (Copy &other : copies)
      if (&other != to && to->device->canCopyFrom(*other.device))
        for (ByteRange part : other.valid.common(gap))
          for (ByteRange still : to->valid.missing(part)) {
            if (hostValid.contains(still))
              continue;
            TESSERA_TRY(
                to->device->copyPeer(static_cast<std::byte *>(to->memory) + still.begin, *other.device,
                                     static_cast<std::byte *>(other.memory) + still.begin, still.size()));
            to->valid.add(still);
          }
    // …otherwise through the host.
    for (ByteRange still : to->valid.missing(gap)) {
      TESSERA_TRY(fetchToHost(still));
      for (ByteRange part : hostValid.common(still))
        arriving.emplace_back(part, to->device->copyInAsync(static_cast<std::byte *>(to->memory) + part.begin,
                                                            host + part.begin, part.size()));
    }
  }
  Status status;
  for (auto &[part, event] : arriving) {
    if (Status one = event->wait(); !one.ok()) {
      status = std::move(one);
      continue;
    }
    ++countIn;
    sumIn += part.size();
    to->valid.add(part);
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

void Buffer::pin(Device &device) {
  if (device.sharesHostMemory())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  ++copyOn(device).pins;
}

void Buffer::unpin(Device &device) {
  if (device.sharesHostMemory())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  --copyOn(device).pins;
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

Result<void *> Buffer::deviceRead(Device &device) {
  if (device.sharesHostMemory()) {
    auto memory = hostRead();
    return memory.ok() ? Result<void *>(static_cast<void *>(*memory)) : Result<void *>(memory.status());
  }
  std::lock_guard<std::mutex> lock(mutex);
  Copy &copy = copyOn(device);
  TESSERA_TRY(bring(&copy, whole()));
  return copy.memory;
}

Result<void *> Buffer::deviceWrite(Device &device) {
  std::lock_guard<std::mutex> lock(mutex);
  if (device.sharesHostMemory()) {
    TESSERA_TRY(ensureHost());
    return static_cast<void *>(host);
  }
  Copy &copy = copyOn(device);
  TESSERA_TRY(ensureMemory(copy));
  return copy.memory;
}

Result<void *> Buffer::deviceUpdate(Device &device, bool protect) {
  if (device.sharesHostMemory())
    return deviceRead(device);
  std::lock_guard<std::mutex> lock(mutex);
  Copy &copy = copyOn(device);
  TESSERA_TRY(bring(&copy, whole()));
  bool elsewhere =
      hostValid.contains(whole()) || std::any_of(copies.begin(), copies.end(), [&](const Copy &other) {
        return &other != &copy && other.valid.contains(whole());
      });
  if (!protect || elsewhere || copy.backup || !device.canCopyFrom(device))
    return copy.memory;
  auto fresh = takeMemory(device, byteSize, this);
  if (!fresh.ok())
    return fresh.status();
  if (Status status = device.copyPeer(*fresh, device, copy.memory, byteSize); !status.ok()) {
    giveMemory(device, *fresh, byteSize);
    return status;
  }
  copy.backup = copy.memory;
  copy.memory = *fresh;
  return copy.memory;
}

void Buffer::commit(Device &device) {
  std::lock_guard<std::mutex> lock(mutex);
  if (device.sharesHostMemory()) {
    hostValid.add(whole());
    invalidateOthers(nullptr, whole());
    return;
  }
  Copy &copy = copyOn(device);
  giveMemory(device, std::exchange(copy.backup, nullptr), byteSize);
  copy.valid.add(whole());
  invalidateOthers(&copy, whole());
}

void Buffer::abandon(Device &device) {
  if (device.sharesHostMemory())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  Copy &copy = copyOn(device);
  if (copy.backup) {
    // The content before the node is still there.
    giveMemory(device, copy.memory, byteSize);
    copy.memory = std::exchange(copy.backup, nullptr);
    return;
  }
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

void Buffer::dropRedundantCopies() {
  std::lock_guard<std::mutex> lock(mutex);
  for (Copy &copy : copies) {
    bool redundant = !copy.backup;
    for (ByteRange range : copy.valid.all())
      redundant = redundant && hostValid.contains(range);
    if (redundant) {
      giveMemory(*copy.device, std::exchange(copy.memory, nullptr), byteSize);
      copy.valid.clear();
    }
  }
}

} // namespace tessera
