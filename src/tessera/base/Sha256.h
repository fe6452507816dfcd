// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SHA-256 (FIPS 180-4), used as the checksum of container sections. Uses the x86
// SHA instructions where the machine has them, since weights can be gigabytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tessera {

using Sha256Digest = std::array<uint8_t, 32>;

/// Incremental hash: any number of update() calls, then finish() once.
class Sha256 {
public:
  Sha256();
  void update(std::span<const std::byte> data);
  Sha256Digest finish();

private:
  uint32_t state[8];
  uint64_t total = 0;
  uint8_t buffer[64];
  size_t buffered = 0;
};

/// The hash of `data`.
Sha256Digest sha256(std::span<const std::byte> data);

/// The digest as 64 hexadecimal digits.
std::string toHex(const Sha256Digest &digest);

/// Which implementation runs here, for tests and `doctor`: "sha-ni" or "portable".
const char *sha256Implementation();

namespace detail {
/// The implementation without special instructions, so that both can be tested on one machine.
void sha256BlocksPortable(uint32_t state[8], const uint8_t *data, size_t blocks);
} // namespace detail

} // namespace tessera
