// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hands a target's own mutations to libFuzzer, in turns with libFuzzer's.
#include "Fuzz.h"

#include <algorithm>
#include <cstring>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::mt19937_64 random(seed);
  if (random() % 2)
    return LLVMFuzzerMutate(data, size, maxSize);
  static const std::vector<std::string> seeds = fuzzSeeds();
  std::string input(reinterpret_cast<const char *>(data), size);
  fuzzMutate(input, seeds[random() % seeds.size()], random);
  size = std::min(input.size(), maxSize);
  std::memcpy(data, input.data(), size);
  return size;
}
