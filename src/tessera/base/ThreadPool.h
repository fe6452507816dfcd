// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One persistent pool of threads for fork-join regions. The caller takes part; workers
// spin for a short while between regions and then sleep, so that a region costs about
// a microsecond in a busy program and nothing in an idle one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera {

class ThreadPool {
public:
  /// At most `capacity` threads in a region, the caller included. Workers are started when first needed, and
  /// pinned to one processor each when `pin`.
  explicit ThreadPool(unsigned capacity, bool pin = false);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// The pool of the process, large enough for any machine.
  static ThreadPool &shared();
  /// The default number of threads: TESSERA_THREADS, or the processors of this process.
  static unsigned defaultThreads();

  using Task = void (*)(void *context, unsigned thread, unsigned threads);

  /// Calls task(context, i, n) for all i < n on n threads at once and returns when all are done. n is
  /// `threads` (at most the capacity); it is 1 when the pool is busy with another caller or when called from
  /// inside a region, so a task must divide its work by the n it is given.
  void run(unsigned threads, Task task, void *context);

  /// The same for a callable.
  template <typename F> void parallel(unsigned threads, F &&body) {
    run(
        threads,
        [](void *context, unsigned thread, unsigned n) {
          (*static_cast<std::remove_reference_t<F> *>(context))(thread, n);
        },
        &body);
  }

  unsigned capacity() const { return limit; }

private:
  struct alignas(128) Worker {
    std::atomic<uint32_t> signal{0};
    std::thread thread;
  };
  void start(unsigned workers);
  void work(Worker &self, unsigned index);

  const unsigned limit;
  const bool pin;
  std::vector<std::unique_ptr<Worker>> workers;
  // What the current region runs; written before the workers are signalled.
  alignas(128) Task task = nullptr;
  void *context = nullptr;
  unsigned participants = 0;
  bool stopping = false;
  alignas(128) std::atomic<uint32_t> remaining{0};
  std::atomic<uint32_t> callerSleeps{0};
  alignas(128) std::atomic<bool> busy{false};
};

} // namespace tessera
