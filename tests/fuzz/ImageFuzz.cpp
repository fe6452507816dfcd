// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the loader of code images. Nothing of the image is executed.
#include "Fuzz.h"
#include "tessera/runtime/program/Image.h"

using namespace tessera;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto image = Image::load({reinterpret_cast<const std::byte *>(data), size});
  if (image.ok()) {
    (void)(*image)->find("k_add1");
    (void)(*image)->find("nothing");
  }
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  std::string image = readWholeFile(TESSERA_TEST_KERNELS);
  // The interesting numbers are in the headers: cut off what follows the last segment.
  return {image, image.substr(0, std::min<size_t>(image.size(), 12288))};
}
