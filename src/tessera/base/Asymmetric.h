// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asymmetric fences: the frequent side pays nothing, the rare side pays for both. Linux
// can make all running threads of the process pass a memory barrier (membarrier), which
// the rare side asks for.
#pragma once

#include "tessera/base/SpinMutex.h"

#include <atomic>
#include <cstdint>
#include <pthread.h>

namespace tessera {

/// True when the kernel has what heavyFence needs. False under the thread sanitizer, which cannot see it.
bool asymmetricFences();
/// A full barrier in all running threads of the process; only when asymmetricFences().
void heavyFence();
/// The other side of heavyFence: what was stored before it is seen by whoever passes a heavyFence, or what is
/// loaded after it is what that thread stored before.
inline void lightFence() { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// A spinning mutex that needs no atomic operations while only one thread uses it: that thread just marks
/// that it holds the mutex. The first other thread that locks it ends this mode for good.
class BiasedMutex {
public:
  void lock() {
    if (owner.load(std::memory_order_relaxed) == pthread_self()) {
      inside.store(true, std::memory_order_relaxed);
      lightFence();
      if (!shared.load(std::memory_order_acquire)) [[likely]] {
        byOwner = true;
        return;
      }
      inside.store(false, std::memory_order_release);
    }
    lockShared();
  }
  void unlock() {
    if (byOwner)
      inside.store(false, std::memory_order_release);
    else
      mutex.unlock();
  }

private:
  void lockShared();

  std::atomic<pthread_t> owner{0};
  std::atomic<bool> inside{false}, shared{false};
  bool byOwner = false; ///< How it is locked; belongs to whoever holds it.
  SpinMutex mutex;
};

} // namespace tessera
