// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread's floating-point mode. Kernels are compiled for IEEE arithmetic; a program
// that embeds the runtime may have set something else, and gets it back afterwards.
#pragma once

#include <cstdint>

namespace tessera {

/// Sets the thread's floating-point mode to IEEE: no flush to zero, round to nearest.
/// Returns the old mode for restoreFloatMode.
inline uint64_t setIeeeFloatMode() {
#if defined(__x86_64__)
  unsigned mode = __builtin_ia32_stmxcsr();
  // Flush to zero (15), denormals are zero (6), rounding (13-14).
  if (mode & 0xe040)
    __builtin_ia32_ldmxcsr(mode & ~0xe040u);
  return mode;
#elif defined(__aarch64__)
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  uint64_t wanted = mode & ~((uint64_t(1) << 24) | (uint64_t(1) << 19) | (uint64_t(3) << 22));
  if (wanted != mode)
    asm volatile("msr fpcr, %0" ::"r"(wanted));
  return mode;
#else
  return 0;
#endif
}

inline void restoreFloatMode(uint64_t mode) {
#if defined(__x86_64__)
  if (mode & 0xe040)
    __builtin_ia32_ldmxcsr(static_cast<unsigned>(mode));
#elif defined(__aarch64__)
  if (mode & ((uint64_t(1) << 24) | (uint64_t(1) << 19) | (uint64_t(3) << 22)))
    asm volatile("msr fpcr, %0" ::"r"(mode));
#else
  (void)mode;
#endif
}

} // namespace tessera
