// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a target tells the kernels on blocked activations about its machine.
#pragma once

#include "tessera/targets/Target.h"
#include "tessera/targets/cpu/packed/Packed.h"

namespace tessera {

inline cpu::packed::Machine packedMachine(const TargetInfo &info) {
  cpu::packed::Machine machine{int64_t(info.vectorBytes / 4), info.registers, int64_t(info.l1),
                               int64_t(info.l2)};
  if (std::optional<cpu::packed::Dot> bytes = cpu::packed::parseDot(info.dotBytes))
    machine.bytes = *bytes;
  if (std::optional<cpu::packed::Dot> halves = cpu::packed::parseDot(info.dotHalves))
    machine.halves = *halves;
  return machine;
}

} // namespace tessera
