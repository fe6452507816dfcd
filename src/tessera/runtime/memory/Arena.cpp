// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Greedy-by-size offset assignment (Pisarchyk and Lee, 2020): large tensors first,
// each into the lowest gap left by those alive at the same time.
#include "tessera/runtime/memory/Arena.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sys/mman.h>

namespace tessera {

// Vectorised loops look whether their operands are a few vectors apart, and take a slow way when not; so even
// small temporaries are.
static constexpr uint64_t granule = 256;

static uint64_t roundUp(uint64_t bytes) { return (bytes + granule - 1) / granule * granule; }

uint64_t planArena(std::vector<ArenaRequest> &requests) {
  std::vector<size_t> order(requests.size()), placed;
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return requests[a].bytes != requests[b].bytes ? requests[a].bytes > requests[b].bytes : a < b;
  });
  uint64_t total = 0;
  for (size_t index : order) {
    ArenaRequest &request = requests[index];
    uint64_t bytes = roundUp(request.bytes), offset = 0;
    if (bytes == 0) {
      request.offset = 0;
      continue;
    }
    // `placed` is sorted by offset, so one walk finds the lowest gap.
    for (size_t other : placed) {
      const ArenaRequest &o = requests[other];
      if (o.last < request.first || request.last < o.first)
        continue;
      if (o.offset >= offset + bytes)
        break;
      offset = std::max(offset, o.offset + roundUp(o.bytes));
    }
    request.offset = offset;
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), index,
                         [&](size_t a, size_t b) { return requests[a].offset < requests[b].offset; }),
        index);
    total = std::max(total, offset + bytes);
  }
  return total;
}

Block::~Block() { std::free(memory); }

bool Block::reserve(uint64_t size) {
  if (size <= bytes && memory)
    return true;
  std::free(memory);
  memory = nullptr;
  bytes = 0;
  constexpr uint64_t huge = 2 << 20;
  uint64_t alignment = size >= 2 * huge ? huge : 64;
  if (size > UINT64_MAX - alignment)
    return false;
  uint64_t rounded = std::max<uint64_t>(64, (size + alignment - 1) / alignment * alignment);
  memory = static_cast<std::byte *>(std::aligned_alloc(alignment, rounded));
  if (!memory)
    return false;
  if (alignment == huge)
    madvise(memory, rounded, MADV_HUGEPAGE);
  bytes = rounded;
  return true;
}

} // namespace tessera
