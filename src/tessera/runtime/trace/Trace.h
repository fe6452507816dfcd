// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trace of a run in Chrome's trace format. Off by default; when on, an event costs
// two clock reads and a store into the thread's own ring, and nothing is locked.
#pragma once

#include "tessera/base/Status.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// Nanoseconds of a steady clock.
inline uint64_t nowNanoseconds() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

/// Seconds since nowNanoseconds() said `start`.
inline double secondsSince(uint64_t start) { return static_cast<double>(nowNanoseconds() - start) / 1e9; }

namespace trace {

extern std::atomic<bool> enabledFlag;
inline bool enabled() { return enabledFlag.load(std::memory_order_relaxed); }

/// Starts recording, with room for `capacity` events a thread (the oldest are overwritten). Forgets old
/// events.
void start(size_t capacity = 1 << 16);
void stop();

/// Records one event on this thread. Names are copied, cut at 47 bytes.
void record(std::string_view name, std::string_view category, uint64_t begin, uint64_t end);

/// The name of this thread in the trace ("gpu:0", "gpu:0 copy").
void nameThread(std::string_view name);

/// All events so far as JSON text; call when the traced work has ended.
std::string toJson();
Status write(const std::string &path);

/// Records its own lifetime.
class Scope {
public:
  Scope(std::string_view name, std::string_view category)
      : name(name), category(category), begin(enabled() ? nowNanoseconds() : 0) {}
  ~Scope() {
    if (begin)
      record(name, category, begin, nowNanoseconds());
  }
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  std::string_view name, category;
  uint64_t begin;
};

} // namespace trace
} // namespace tessera
