// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long tuning may take.
#pragma once

#include "tessera/runtime/trace/Trace.h"

namespace tessera::tune {

/// A time limit in seconds that starts when it is constructed; 0: no limit.
class Budget {
public:
  explicit Budget(double seconds = 0) : seconds(seconds), start(nowNanoseconds()) {}
  /// The share of the limit that has passed.
  double used() const { return seconds > 0 ? secondsSince(start) / seconds : 0; }
  /// Whether this share of it has passed.
  bool isUsed(double share = 1) const { return seconds > 0 && used() >= share; }

private:
  double seconds;
  uint64_t start;
};

} // namespace tessera::tune
