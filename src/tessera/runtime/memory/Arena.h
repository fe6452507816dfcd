// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of temporaries: offsets in one arena by size and lifetime, and the block that
// backs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera {

/// One temporary: live from step `first` to step `last`, both included.
struct ArenaRequest {
  uint64_t bytes = 0;
  int32_t first = 0, last = 0;
  uint64_t offset = 0; ///< Filled in by planArena.
};

/// Assigns offsets (multiples of 256) so that requests alive at the same time do not overlap, the largest
/// first. Returns the size of the arena. The sum of all sizes must fit into 63 bits.
uint64_t planArena(std::vector<ArenaRequest> &requests);

/// Memory aligned to 64 (to a huge page when large), grown when too small; content is not kept.
class Block {
public:
  Block() = default;
  ~Block();
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  Block(Block &&other) noexcept : memory(other.memory), bytes(other.bytes) {
    other.memory = nullptr, other.bytes = 0;
  }

  /// False when the memory cannot be had; the old block is gone then.
  bool reserve(uint64_t size);
  std::byte *data() const { return memory; }
  uint64_t size() const { return bytes; }

private:
  std::byte *memory = nullptr;
  uint64_t bytes = 0;
};

} // namespace tessera
