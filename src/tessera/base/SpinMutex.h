// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mutex for critical sections of a few dozen instructions: waiting spins, and yields
// the processor when the holder seems to have lost it.
#pragma once

#include <atomic>
#include <sched.h>

namespace tessera {

/// Tells the processor that this is a waiting loop.
inline void spinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class SpinMutex {
public:
  void lock() {
    for (int tries = 0; locked.exchange(true, std::memory_order_acquire); ++tries) {
      for (int i = 0; i < 64 && locked.load(std::memory_order_relaxed); ++i)
        spinPause();
      if (tries > 16)
        sched_yield();
    }
  }
  bool try_lock() { return !locked.exchange(true, std::memory_order_acquire); }
  void unlock() { locked.store(false, std::memory_order_release); }

private:
  std::atomic<bool> locked{false};
};

} // namespace tessera
