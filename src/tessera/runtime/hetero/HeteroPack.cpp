// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structures in an array that each point to memory of their own: what they point to, in one piece that a
// graph can take, and back.
#include "tessera/runtime/hetero/Hetero.h"

#include <cstring>
#include <vector>

namespace {

/// What a launch passes. The first members are read by the host's code (HostMembers.cpp).
struct Pack {
  void *data = nullptr;
  int64_t bytes = 0;
  int64_t *starts = nullptr; ///< of each structure's elements, and the end
  int64_t startBytes = 0;

  struct Piece {
    void *memory;
    size_t bytes;
  };
  std::vector<Piece> pieces;
  std::vector<int64_t> offsets;
  std::vector<char> copy;
};

} // namespace

static int64_t loadNumber(const char *at, int64_t bytes, bool isSigned) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(bytes));
  int64_t unused = 64 - 8 * bytes;
  return isSigned ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
}

// The sum of products that follows the header of the description.
static int64_t countElements(const char *structure, const int64_t *shape) {
  // A pointer behind the last element.
  if (shape[3] != shape[1])
    return (loadNumber(structure + shape[3], 8, false) - loadNumber(structure + shape[1], 8, false)) /
           shape[2];
  const int64_t *word = shape + 5;
  int64_t sum = 0;
  for (int64_t term = 0; term < shape[4]; ++term) {
    int64_t product = *word++;
    int64_t numbers = *word++;
    for (int64_t i = 0; i < numbers; ++i, word += 3)
      product *= loadNumber(structure + word[0], word[1], word[2] != 0);
    sum += product;
  }
  return sum > 0 ? sum : 0;
}

void *tsr_hetero_pack(const void *structures, uint64_t count, const int64_t *shape) {
  auto *pack = new Pack;
  int64_t stride = shape[0], offset = shape[1], element = shape[2], elements = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const char *structure = static_cast<const char *>(structures) + static_cast<int64_t>(i) * stride;
    int64_t own = countElements(structure, shape);
    void *memory = nullptr;
    std::memcpy(&memory, structure + offset, sizeof memory);
    pack->pieces.push_back({memory, static_cast<size_t>(own * element)});
    pack->offsets.push_back(elements);
    elements += own;
  }
  pack->offsets.push_back(elements);
  pack->starts = pack->offsets.data();
  pack->startBytes = static_cast<int64_t>(pack->offsets.size() * sizeof(int64_t));
  pack->bytes = elements * element;
  // The memory of one structure is in one piece already.
  if (count == 1) {
    pack->data = pack->pieces[0].memory;
    return pack;
  }
  pack->copy.resize(static_cast<size_t>(pack->bytes));
  pack->data = pack->copy.data();
  for (uint64_t i = 0; i < count; ++i)
    if (pack->pieces[i].bytes) {
      tsr_hetero_request(pack->pieces[i].memory, pack->pieces[i].bytes);
      std::memcpy(pack->copy.data() + pack->offsets[i] * element, pack->pieces[i].memory,
                  pack->pieces[i].bytes);
    }
  return pack;
}

void tsr_hetero_unpack(void *handle, bool written) {
  auto *pack = static_cast<Pack *>(handle);
  if (written && !pack->copy.empty()) {
    const char *from = pack->copy.data();
    for (const Pack::Piece &piece : pack->pieces) {
      if (piece.bytes)
        std::memcpy(piece.memory, from, piece.bytes);
      from += piece.bytes;
    }
  }
  delete pack;
}
