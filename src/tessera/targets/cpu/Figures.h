// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The figures of a processor that its code is shaped by. Nobody outside this folder knows them.
#pragma once

#include "tessera/targets/cpu/Cpu.h"
#include "tessera/targets/cpu/layout/Layout.h"
#include "tessera/targets/cpu/packed/Packed.h"

namespace tessera::cpu {

struct Figures {
  unsigned vectorBytes = 16;                                                 ///< of one vector register
  unsigned registers = 16;                                                   ///< vector registers
  packed::Dot dotBytes = packed::Dot::Plain, dotHalves = packed::Dot::Plain; ///< for narrow elements
  uint64_t l1 = 32 << 10, l2 = 1 << 20;
};

Figures figuresOf(const Machine &machine);

/// What the kernels on blocked activations have to know of it.
packed::Machine packedMachine(const Figures &figures);
/// What layouts are chosen by.
LayoutOptions layoutOptions(const Figures &figures, bool strict);

} // namespace tessera::cpu
