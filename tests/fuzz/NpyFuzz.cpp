// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the .npy and .npz readers.
#include "Fuzz.h"
#include "tessera/base/Npy.h"

#include <unistd.h>

using namespace tessera;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte *>(data), size);
  (void)parseNpy(bytes, "fuzz");
  (void)parseNpz(bytes, "fuzz", 1 << 20);
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  std::vector<std::string> seeds;
  seeds.push_back(npyHeader(NpyType::F4, std::vector<int64_t>{2, 3}) + std::string(24, 'x'));
  seeds.push_back(npyHeader(NpyType::B1, {}) + "x");
  std::byte *memory;
  NpyArray array = NpyArray::allocate(NpyType::I8, {5}, &memory);
  std::string path = "/tmp/tessera-fuzz-" + std::to_string(getpid()) + ".npz";
  for (bool compress : {false, true})
    if (writeNpz(path, {{"x", array}, {"y", array}}, compress).ok())
      seeds.push_back(readWholeFile(path.c_str()));
  unlink(path.c_str());
  return seeds;
}
