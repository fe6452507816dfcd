// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What CPU this process runs on: instruction-set features (in LLVM's spelling) that
// both the hardware and the operating system allow, cache sizes and cores.
#pragma once

#include "tessera/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct CpuInfo {
  std::string arch;                  ///< "x86_64", "aarch64" or "riscv64".
  std::string name;                  ///< The vendor's model name, or "".
  std::vector<std::string> features; ///< Sorted, LLVM's names: "avx2", "avx512f", "amx-int8", "sve"…
  uint32_t cacheLine = 64;
  uint64_t l1d = 0, l2 = 0, l3 = 0; ///< Bytes, as one core sees them; 0 when unknown.
  uint32_t cores = 1;               ///< Logical processors this process may use.

  bool has(std::string_view feature) const;
  /// Those of `required` (with or without a leading '+') that this machine lacks.
  std::vector<std::string> missing(std::span<const std::string> required) const;
};

/// The machine's description, found once.
const CpuInfo &cpuInfo();

/// "+avx,+avx2,…" in the form LLVM's target machine takes.
std::string cpuFeatureString();

/// "x86_64-unknown-linux-gnu" and so on, for this process.
std::string hostTriple();

/// Asks the operating system for what code with these features needs before its first instruction. The loader
/// calls it for each program; fails when the system refuses.
Status enableFeatures(std::span<const std::string> features);

/// What a person may want to know of the CPU's instructions.
struct CpuNote {
  bool good; ///< false: something is missing
  std::string what, text;
};
std::vector<CpuNote> cpuNotes();

} // namespace tessera
