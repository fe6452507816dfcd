// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a target tells the kernels on blocked activations about its machine.
#pragma once

#include "tessera/targets/Target.h"
#include "tessera/targets/cpu/packed/Packed.h"

namespace tessera {

inline nn::packed::Machine packedMachine(const TargetInfo &info) {
  nn::packed::Machine machine{int64_t(info.vectorBytes / 4), info.registers, int64_t(info.l1),
                              int64_t(info.l2)};
  if (std::optional<nn::packed::Dot> bytes = nn::packed::parseDot(info.dotBytes))
    machine.bytes = *bytes;
  if (std::optional<nn::packed::Dot> halves = nn::packed::parseDot(info.dotHalves))
    machine.halves = *halves;
  return machine;
}

} // namespace tessera
