// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Execution of kernels on the CPU: a grid of tasks is cut into boxes and shared out
// over the threads of the pool. Each thread starts with its own contiguous part (the
// same one every time, for its caches) and then steals from the others.
#pragma once

#include "tessera/base/ThreadPool.h"
#include "tessera/runtime/plan/Plan.h"

#include <atomic>
#include <cstdint>
#include <span>

namespace tessera {

/// A kernel with its arguments.
struct KernelCall {
  KernelFunction function = nullptr;
  const uint64_t *args = nullptr;
};

/// Kernels with one grid that run chunk by chunk without a barrier between them.
struct KernelGroup {
  std::span<const KernelCall> calls;
  int64_t grid[3] = {1, 1, 1};
  int64_t tasks = 1; ///< Product of the grid.
};

/// Calls f(begin, end) for boxes that together are the tasks [low, high) of `grid` in row-major order.
template <typename F> void forEachBox(const int64_t grid[3], int64_t low, int64_t high, F f) {
  const int64_t row = grid[2], plane = grid[1] * grid[2];
  while (low < high) {
    int64_t i = low / plane, j = low / row % grid[1], k = low % row, count;
    int64_t begin[3] = {i, j, k}, end[3] = {i + 1, j + 1, k + 1};
    if (k == 0 && j == 0 && high - low >= plane) {
      count = (high - low) / plane;
      end[0] = i + count, end[1] = grid[1], end[2] = row;
      low += count * plane;
    } else if (k == 0 && high - low >= row) {
      count = std::min(grid[1] - j, (high - low) / row);
      end[1] = j + count, end[2] = row;
      low += count * row;
    } else {
      count = std::min(row - k, high - low);
      end[2] = k + count;
      low += count;
    }
    f(begin, end);
  }
}

/// Runs the tasks [low, high) of a group on this thread.
inline void runTasks(const KernelGroup &group, int64_t low, int64_t high, void *scratch) {
  forEachBox(group.grid, low, high, [&](const int64_t *begin, const int64_t *end) {
    for (const KernelCall &call : group.calls)
      call.function(call.args, begin, end, scratch);
  });
}

/// Runs a group of several kernels on this thread.
void runChain(const KernelGroup &group, void *scratch);

/// Runs a whole group on this thread.
inline void runInline(const KernelGroup &group, void *scratch) {
  static constexpr int64_t zero[3] = {0, 0, 0};
  if (group.calls.size() == 1)
    group.calls[0].function(group.calls[0].args, zero, group.grid, scratch);
  else
    runChain(group, scratch);
}

/// Runs independent groups at once on `threads` threads. Thread i uses scratch + i * scratchStride. `fine`
/// cuts into more chunks than threads, which pays when the work is long.
void runParallel(ThreadPool &pool, unsigned threads, std::span<const KernelGroup> groups, std::byte *scratch,
                 size_t scratchStride, bool fine);

} // namespace tessera
