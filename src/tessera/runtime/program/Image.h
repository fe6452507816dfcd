// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader of the host's machine code: a fully linked ELF image without undefined symbols
// is copied into memory, relocated and protected. No dlopen, no temporary file. Every
// number of the image is checked before it is used.
#pragma once

#include "tessera/base/Status.h"
#include "tessera/runtime/device/Device.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

class Image final : public DeviceImage {
public:
  /// Loads an image for this machine. `bytes` may be released afterwards.
  static Result<std::unique_ptr<Image>> load(std::span<const std::byte> bytes);
  ~Image() override;
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;

  /// The address of the function `name`, or null when the image does not define it in executable memory.
  void *find(std::string_view name) const override;
  /// Bytes of memory the image takes.
  size_t size() const { return span; }

private:
  Image() = default;
  Status map(std::span<const std::byte> bytes);
  Status relocate();
  const std::byte *at(uint64_t address, uint64_t size) const;

  std::byte *base = nullptr;
  size_t span = 0;
  uint64_t firstAddress = 0;
  std::vector<std::pair<uint64_t, uint64_t>> executable; ///< First address and size.
  // Addresses inside the image (not yet pointers), from the dynamic section.
  uint64_t dynamic = 0, dynamicSize = 0;
  uint64_t symbols = 0, strings = 0, stringsSize = 0, symbolCount = 0;
};

} // namespace tessera
