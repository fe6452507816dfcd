// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sharing of chunks over threads, with stealing. Results never depend on it: chunks are
// sets of whole tasks, and tasks of one grid are independent by the kernel ABI.
#include "tessera/runtime/program/Run.h"

#include <algorithm>
#include <new>

namespace tessera {

void runChain(const KernelGroup &group, void *scratch) {
  // A chain runs in pieces so that what one kernel wrote is still in the cache for the next.
  int64_t pieces = std::min<int64_t>(group.tasks, 64);
  for (int64_t p = 0; p < pieces; ++p)
    runTasks(group, static_cast<int64_t>(static_cast<__int128>(group.tasks) * p / pieces),
             static_cast<int64_t>(static_cast<__int128>(group.tasks) * (p + 1) / pieces), scratch);
}

namespace {
constexpr unsigned maxThreads = 256, maxGroups = 64;

/// The chunks a thread still has: begin in the high half, end in the low half.
struct alignas(64) Share {
  std::atomic<uint64_t> range;
};

struct Region {
  std::span<const KernelGroup> groups;
  uint32_t firstChunk[maxGroups + 1]; // Chunks of group g: firstChunk[g] … firstChunk[g+1].
  std::byte *scratch;
  size_t scratchStride;
  unsigned planned;
  // Only the first `planned` are made: clearing all would cost more than a small region.
  union {
    Share shares[maxThreads];
  };
  Region() {}
};

uint64_t pack(uint32_t begin, uint32_t end) { return static_cast<uint64_t>(begin) << 32 | end; }

void runChunk(const Region &region, uint32_t chunk, std::byte *scratch) {
  size_t g = static_cast<size_t>(
      std::upper_bound(region.firstChunk + 1, region.firstChunk + region.groups.size() + 1, chunk) -
      (region.firstChunk + 1));
  const KernelGroup &group = region.groups[g];
  __int128 count = region.firstChunk[g + 1] - region.firstChunk[g], index = chunk - region.firstChunk[g];
  runTasks(group, static_cast<int64_t>(group.tasks * index / count),
           static_cast<int64_t>(group.tasks * (index + 1) / count), scratch);
}

void drain(const Region &region, std::atomic<uint64_t> &share, bool own, std::byte *scratch) {
  uint64_t range = share.load(std::memory_order_relaxed);
  for (;;) {
    uint32_t begin = static_cast<uint32_t>(range >> 32), end = static_cast<uint32_t>(range);
    if (begin >= end)
      return;
    // The owner works from the front, a thief from the back: they meet only at the end.
    uint64_t rest = own ? pack(begin + 1, end) : pack(begin, end - 1);
    if (!share.compare_exchange_weak(range, rest, std::memory_order_relaxed))
      continue;
    runChunk(region, own ? begin : end - 1, scratch);
    range = share.load(std::memory_order_relaxed);
  }
}

void work(void *context, unsigned thread, unsigned threads) {
  Region &region = *static_cast<Region *>(context);
  std::byte *scratch = region.scratch + thread * region.scratchStride;
  // The pool may give fewer threads than planned; then this one takes all shares in turn.
  for (unsigned i = 0; i < region.planned; ++i) {
    unsigned victim = (thread + i) % region.planned;
    drain(region, region.shares[victim].range, i == 0 || threads == 1, scratch);
  }
}
} // namespace

void runParallel(ThreadPool &pool, unsigned threads, std::span<const KernelGroup> groups, std::byte *scratch,
                 size_t scratchStride, bool fine) {
  threads = std::min({threads, pool.capacity(), maxThreads});
  while (!groups.empty()) {
    std::span<const KernelGroup> part = groups.subspan(0, std::min<size_t>(groups.size(), maxGroups));
    groups = groups.subspan(part.size());
    Region region;
    region.groups = part;
    region.scratch = scratch;
    region.scratchStride = scratchStride;
    uint32_t chunks = 0;
    for (size_t g = 0; g < part.size(); ++g) {
      region.firstChunk[g] = chunks;
      int64_t wanted = fine || part[g].calls.size() > 1 ? int64_t(threads) * 16 : int64_t(threads);
      chunks += static_cast<uint32_t>(std::min(part[g].tasks, wanted));
    }
    region.firstChunk[part.size()] = chunks;
    if (chunks == 0)
      continue;
    region.planned = std::min(threads, chunks);
    for (unsigned t = 0; t < region.planned; ++t)
      new (&region.shares[t].range)
          std::atomic<uint64_t>(pack(static_cast<uint32_t>(uint64_t(chunks) * t / region.planned),
                                     static_cast<uint32_t>(uint64_t(chunks) * (t + 1) / region.planned)));
    pool.run(region.planned, work, &region);
  }
}

} // namespace tessera
