// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/runtime/device/HeapDevice.h"
#include "tessera/base/Diag.h"

#include <cstdlib>
#include <cstring>

namespace tessera {

Result<void *> HeapDevice::allocate(size_t bytes) {
  void *memory = bytes > SIZE_MAX - 64 ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!memory)
    return fail(StatusCode::OutOfMemory, name(), ": out of memory: asked ", formatBytes(bytes));
  return memory;
}

void HeapDevice::release(void *memory, size_t) { std::free(memory); }

Status HeapDevice::copyIn(void *to, size_t offset, const void *host, size_t bytes) {
  std::memcpy(static_cast<char *>(to) + offset, host, bytes);
  return Status();
}

Status HeapDevice::copyOut(void *host, const void *from, size_t offset, size_t bytes) {
  std::memcpy(host, static_cast<const char *>(from) + offset, bytes);
  return Status();
}

} // namespace tessera
