// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pool. Each worker has one word of its own: 0 while it looks for work, 1 when it
// was given some, 2 while it sleeps. The caller exchanges in a 1 and wakes only those
// that slept, so that workers outside a region are never disturbed.
#include "tessera/base/ThreadPool.h"
#include "tessera/base/CpuInfo.h"
#include "tessera/base/FloatMode.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tessera {

static constexpr uint32_t idle = 0, given = 1, asleep = 2;
static constexpr auto spinTime = std::chrono::microseconds(50);

static void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

static void futexWake(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

static inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until done() or the spin time is over; returns done().
template <typename F> static bool spinUntil(F done) {
  for (int i = 0; i < 64; ++i) {
    if (done())
      return true;
    pause();
  }
  auto end = std::chrono::steady_clock::now() + spinTime;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done())
        return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// True on a thread that executes a region, where a nested region must not wait for the pool.
static thread_local bool insideRegion = false;

ThreadPool::ThreadPool(unsigned capacity, bool pin) : limit(std::max(1u, capacity)), pin(pin) {}

ThreadPool::~ThreadPool() {
  stopping = true;
  for (auto &worker : workers) {
    if (worker->signal.exchange(given, std::memory_order_acq_rel) == asleep)
      futexWake(worker->signal);
    worker->thread.join();
  }
}

ThreadPool &ThreadPool::shared() {
  // Never destroyed: a program may still launch from a static destructor.
  static ThreadPool *pool = new ThreadPool(256, std::getenv("TESSERA_PIN") != nullptr);
  return *pool;
}

unsigned ThreadPool::defaultThreads() {
  static const unsigned threads = [] {
    const char *text = std::getenv("TESSERA_THREADS");
    int wanted = text ? std::atoi(text) : 0;
    return wanted > 0 ? std::min(wanted, 256) : static_cast<int>(cpuInfo().cores);
  }();
  return threads;
}

void ThreadPool::start(unsigned count) {
  while (workers.size() < count) {
    unsigned index = static_cast<unsigned>(workers.size()) + 1;
    workers.push_back(std::make_unique<Worker>());
    Worker &worker = *workers.back();
    worker.thread = std::thread([this, &worker, index] { work(worker, index); });
    pthread_setname_np(worker.thread.native_handle(), "tessera");
    if (pin) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(index % cpuInfo().cores, &set);
      pthread_setaffinity_np(worker.thread.native_handle(), sizeof set, &set);
    }
  }
}

void ThreadPool::work(Worker &self, unsigned index) {
  setIeeeFloatMode();
  insideRegion = true;
  std::atomic<uint32_t> &signal = self.signal;
  for (;;) {
    if (!spinUntil([&] { return signal.load(std::memory_order_acquire) == given; })) {
      uint32_t expected = idle;
      if (signal.compare_exchange_strong(expected, asleep, std::memory_order_acq_rel))
        while (signal.load(std::memory_order_acquire) == asleep)
          futexWait(signal, asleep);
    }
    if (stopping)
      return;
    task(context, index, participants);
    // The word must be idle before the region ends: the next one may follow at once.
    signal.store(idle, std::memory_order_relaxed);
    if (remaining.fetch_sub(1, std::memory_order_seq_cst) == 1 &&
        callerSleeps.load(std::memory_order_seq_cst))
      futexWake(remaining);
  }
}

void ThreadPool::run(unsigned threads, Task body, void *bodyContext) {
  threads = std::min(threads, limit);
  if (threads <= 1 || insideRegion || busy.exchange(true, std::memory_order_acquire)) {
    body(bodyContext, 0, 1);
    return;
  }
  start(threads - 1);
  task = body;
  context = bodyContext;
  participants = threads;
  remaining.store(threads - 1, std::memory_order_relaxed);
  for (unsigned i = 0; i + 1 < threads; ++i)
    if (workers[i]->signal.exchange(given, std::memory_order_acq_rel) == asleep)
      futexWake(workers[i]->signal);
  insideRegion = true;
  body(bodyContext, 0, threads);
  insideRegion = false;
  auto finished = [&] { return remaining.load(std::memory_order_acquire) == 0; };
  if (!spinUntil(finished)) {
    callerSleeps.store(1, std::memory_order_seq_cst);
    while (uint32_t left = remaining.load(std::memory_order_seq_cst))
      futexWait(remaining, left);
    callerSleeps.store(0, std::memory_order_relaxed);
  }
  busy.store(false, std::memory_order_release);
}

} // namespace tessera
