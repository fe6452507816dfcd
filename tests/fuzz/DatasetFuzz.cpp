// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the readers of labelled data: idx files (plain and gzipped) and CIFAR-10's records.
#include "Fuzz.h"
#include "tessera/base/Dataset.h"

using namespace tessera;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::span<const std::byte> bytes(reinterpret_cast<const std::byte *>(data), size);
  (void)parseIdx(bytes, "fuzz", 1 << 20);
  (void)gunzip(bytes, "fuzz", 1 << 20);
  (void)parseCifar10(bytes, "fuzz");
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  const std::string head("\0\0\x08\x03\0\0\0\2\0\0\0\2\0\0\0\2", 16);
  // gzip of "hello": a stored block.
  const std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\x05\0\xfa\xffhello\x86\xa6\x10\x36\x05\0\0\0",
                           28);
  return {head + "abcdefgh", packed, std::string(3073 * 2, '\3')};
}
