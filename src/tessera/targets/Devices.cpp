// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the devices of all targets that were built; the list is generated.
#include "tessera/runtime/device/Device.h"

namespace tessera {

#define TESSERA_DEVICE(name) std::vector<std::unique_ptr<Device>> createDevices_##name();
#include "tessera/targets/Devices.inc"
#undef TESSERA_DEVICE

std::vector<std::unique_ptr<Device>> createDevices() {
  std::vector<std::unique_ptr<Device>> devices;
  auto append = [&](std::vector<std::unique_ptr<Device>> more) {
    for (auto &device : more)
      devices.push_back(std::move(device));
  };
#define TESSERA_DEVICE(name) append(createDevices_##name());
#include "tessera/targets/Devices.inc"
#undef TESSERA_DEVICE
  return devices;
}

} // namespace tessera
