// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The slow sides of Asymmetric.h.
#include "tessera/base/Asymmetric.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TESSERA_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define TESSERA_THREAD_SANITIZER 1
#endif

namespace tessera {

bool asymmetricFences() {
#ifdef TESSERA_THREAD_SANITIZER
  return false;
#else
  static const bool available = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return available;
#endif
}

void heavyFence() { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

void BiasedMutex::lockShared() {
  mutex.lock();
  if (!shared.load(std::memory_order_relaxed)) {
    if (owner.load(std::memory_order_relaxed) == 0 && asymmetricFences()) {
      owner.store(pthread_self(), std::memory_order_relaxed); // From the next time on.
    } else {
      shared.store(true, std::memory_order_seq_cst);
      if (asymmetricFences())
        heavyFence();
      // The owner either sees `shared` now, or is seen inside.
      while (inside.load(std::memory_order_acquire))
        sched_yield();
    }
  }
  byOwner = false;
}

} // namespace tessera
