// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device whose memory is a part of the host's heap, so that copies are those of the
// host: what devices without hardware of their own have in common.
#pragma once

#include "tessera/runtime/device/Device.h"

namespace tessera {

class HeapDevice : public Device {
public:
  using Device::Device;
  Result<void *> allocate(size_t bytes) override;
  void release(void *memory, size_t bytes) override;
  Status copyIn(void *to, size_t offset, const void *host, size_t bytes) override;
  Status copyOut(void *host, const void *from, size_t offset, size_t bytes) override;
};

} // namespace tessera
