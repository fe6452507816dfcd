// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Figures.h.
#include "tessera/targets/cpu/Figures.h"

#include "tessera/base/CpuInfo.h"

#include "llvm/TargetParser/Triple.h"

using namespace tessera;
using namespace tessera::cpu;
using packed::Dot;

Figures cpu::figuresOf(const Machine &machine) {
  Figures figures;
  const bool isX86 = llvm::Triple(machine.triple).isX86();
  if (machine.has("avx512f")) {
    figures.vectorBytes = 64;
    figures.registers = 32;
  } else if (machine.has("avx")) {
    figures.vectorBytes = 32;
  } else if (!isX86) {
    figures.registers = 32;
  }
  if (machine.has("avx512vnni") || machine.has("avxvnni"))
    figures.dotBytes = Dot::Vnni;
  else if (isX86)
    figures.dotBytes = machine.has("ssse3") ? Dot::MaddBytes : Dot::Madd;
  else if (machine.has("i8mm"))
    figures.dotBytes = Dot::Usdot;
  // Intel's is slower than f32.
  if (machine.has("avx512bf16") && StringRef(machine.cpu).starts_with("znver"))
    figures.dotHalves = Dot::Bf16;
  // Vectors are what they fall back on.
  if (machine.has("amx-int8") && machine.has("avx512vnni"))
    figures.dotBytes = Dot::AmxBytes;
  if (machine.has("amx-bf16") && machine.has("avx512bf16"))
    figures.dotHalves = Dot::AmxHalves;
  const CpuInfo &host = cpuInfo();
  if (host.l1d)
    figures.l1 = host.l1d;
  if (host.l2)
    figures.l2 = host.l2;
  return figures;
}

packed::Machine cpu::packedMachine(const Figures &figures) {
  return {int64_t(figures.vectorBytes / 4),
          figures.registers,
          int64_t(figures.l1),
          int64_t(figures.l2),
          figures.dotBytes,
          figures.dotHalves};
}

LayoutOptions cpu::layoutOptions(const Figures &figures, bool strict) {
  LayoutOptions layout;
  layout.lanes = std::max(4u, figures.vectorBytes / 4);
  layout.bytes = packed::stepOf(figures.dotBytes);
  if (figures.dotBytes == Dot::MaddBytes) {
    layout.bytes = packed::stepOf(Dot::Madd);
    layout.smallBytes = packed::stepOf(figures.dotBytes);
  }
  layout.tileBytes = packed::channelsOf(figures.dotBytes);
  // Without an instruction for them bf16 is fastest as f32.
  if (figures.dotHalves != Dot::Plain) {
    layout.halves = packed::stepOf(figures.dotHalves);
    layout.tileHalves = packed::channelsOf(figures.dotHalves);
  }
  layout.winograd = !strict;
  return layout;
}
