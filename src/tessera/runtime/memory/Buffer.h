// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer: elements of one type and shape that may have a copy on the host and on each
// device. Which bytes of which copy are valid is tracked by range; data moves only when
// a side that lacks it reads it, several copies may be valid at once, and a write makes
// the others invalid only where it wrote. One thread at a time moves data of a buffer, and
// nobody holds its mutex while it does. What a lost device held is invalid; where it was
// the only copy, who reads it is told so.
#pragma once

#include "tessera/base/ElementType.h"
#include "tessera/base/Status.h"
#include "tessera/runtime/memory/DeviceMemory.h"
#include "tessera/runtime/memory/IntervalSet.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera {

/// Copies made by buffers of the whole process, for tests and profiles.
struct TransferCounts {
  uint64_t copiesIn = 0, copiesOut = 0, bytesIn = 0, bytesOut = 0;
};

class Buffer {
public:
  /// A buffer whose memory is taken when first needed; its content is undefined (zero on the host).
  static Result<std::shared_ptr<Buffer>> create(ElementType type, std::vector<int64_t> shape);
  /// A buffer over `host`, which the caller keeps alive and which holds the content. Fails when it is not
  /// aligned to the element. A read-only buffer cannot be an output.
  static Result<std::shared_ptr<Buffer>> wrap(ElementType type, std::vector<int64_t> shape, void *host,
                                              bool readOnly = false);
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  ElementType type() const { return elementType; }
  const std::vector<int64_t> &shape() const { return extents; }
  size_t bytes() const { return byteSize; }
  bool readOnly() const { return isReadOnly; }
  /// False for wrapped memory that is aligned less than the kernel ABI asks; launches work on a copy of it.
  bool aligned(uint64_t to = 64) const { return isAligned || reinterpret_cast<uintptr_t>(host) % to == 0; }
  ByteRange whole() const { return {0, byteSize}; }
  /// "f32 of shape 3x4".
  std::string describe() const;

  /// The host's memory with `range` valid in it. Other copies stay valid.
  Result<std::byte *> hostRead(ByteRange range);
  Result<std::byte *> hostRead() { return hostRead(whole()); }
  /// The host's memory, about to be written in `range`: what was there is brought first unless `discard`; all
  /// other copies become invalid in `range`.
  Result<std::byte *> hostWrite(ByteRange range, bool discard);
  Result<std::byte *> hostWrite(bool discard = true) { return hostWrite(whole(), discard); }

  /// The host's memory when it is the only copy there ever was, otherwise null: what a launch needs to know
  /// of most buffers, without a lock.
  std::byte *onlyHostMemory() const { return hostOnly.load(std::memory_order_acquire) ? host : nullptr; }

  /// The device's memory with all content valid in it. It stays where it is, however short of memory the
  /// device is, until the answer is destroyed; so for all of these. `ahead`: for a node that waits for its
  /// turn, so nothing that others wait for has to make room.
  Result<DeviceUse> deviceRead(Device &device, bool ahead = false);
  /// The device's memory for a node that overwrites all of it. Nothing is marked until commit().
  Result<DeviceUse> deviceWrite(Device &device);
  /// The device's memory whatever is in it, for a node that the device itself runs after one that writes it.
  Result<DeviceUse> deviceAsItIs(Device &device);
  /// The device's memory for a node that changes it in place. When no other copy holds all of the content,
  /// `protect` asks for one, so that a failure loses nothing: a duplicate on the device, or else the host's.
  Result<DeviceUse> deviceUpdate(Device &device, bool protect);
  /// The node succeeded: the device's copy is valid, and the only one. Before the use ends.
  void commit(Device &device);
  /// The node failed: others are as before, and the device's copy is worth nothing when the node had `begun`.
  void abandon(Device &device, bool begun);

  /// Takes over the content of `from`, or its first part, without a detour: a device that has it copies it,
  /// unless the host has it too and is not told to leave it `near` the device.
  Status assign(Buffer &from, bool near = false);

  /// A node that waits for its turn wants the device's copy, or no longer. Such copies make room last.
  void want(Device &device);
  void unwant(Device &device);

  /// Bytes that would move if `device` read the buffer now.
  size_t bytesToMove(Device &device);

  static TransferCounts transfers();
  static void resetTransfers();

private:
  struct Copy {
    Device *device = nullptr;
    std::shared_ptr<DeviceMemory> memory;
    std::shared_ptr<DeviceMemory> backup; ///< The content before an in-place node, until commit or abandon.
    uint32_t wanted = 0;
    uint64_t lastUse = 0; ///< By a clock that counts uses.
    IntervalSet valid;
    bool offered = false,
         pinned = false; ///< Whether the device knows the host's memory, and wants it pinned.
  };
  using Lock = std::unique_lock<std::mutex>;
  class Move;
  Buffer(ElementType type, std::vector<int64_t> shape, size_t bytes);
  Copy &copyOn(Device &device);
  Status ensureHost();
  Result<std::shared_ptr<DeviceMemory>> takeMemory(Device &device, bool ahead);
  Status ensureMemory(Lock &lock, Copy &copy, bool ahead = false);
  Status bring(Lock &lock, Copy &to, bool ahead = false);
  Status protectContent(Lock &lock, Copy &copy);
  Status fetchToHost(Lock &lock, ByteRange range);
  Status transfer(Lock &lock, Copy *to, ByteRange range, bool &again);
  Status writeBack(Device &device, bool &left);
  void pin(Copy &copy);
  Device *holder(bool near);
  static Result<DeviceUse> use(const Copy &copy);
  void awaitTurn(Lock &lock);
  void dropLost();
  Status checkLost(ByteRange range) const;
  void invalidateOthers(Copy *keep, ByteRange range);
  bool clean(const Copy &copy);
  friend class Residents;

  ElementType elementType;
  std::vector<int64_t> extents;
  size_t byteSize;
  bool isReadOnly = false, isAligned = true, ownsHost = false;
  std::mutex mutex;
  std::byte *host = nullptr;
  IntervalSet hostValid;
  /// What only a buffer that devices know needs; most never do, and are made at every launch.
  struct Far {
    std::list<Copy> copies; ///< Never moved: who moves data keeps references without the mutex.
    bool moving = false;    ///< Some thread moves data: until it is done only it changes what is valid.
    std::condition_variable moved;
    IntervalSet gone;      ///< What only a lost device held, …
    std::string goneWith;  ///< …and which.
    bool keepHost = false; ///< A device that did not answer may still use the host's memory.
  };
  std::list<Copy> &copies() {
    static std::list<Copy> none;
    return far ? far->copies : none;
  }
  std::unique_ptr<Far> far;
  /// True while there is host memory and no device ever had a copy: the path of programs that only use the
  /// CPU.
  std::atomic<bool> hostOnly{false};
};

using BufferRef = std::shared_ptr<Buffer>;

/// Copies that left a device's memory to make room, of the whole process: dropped because the content was
/// elsewhere too, or written back to the host first.
struct EvictionCounts {
  uint64_t dropped = 0, writtenBack = 0;
};
EvictionCounts evictions();

} // namespace tessera
