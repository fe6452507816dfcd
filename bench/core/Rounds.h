// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the drivers of the core suite share: alternating rounds of us and a peer in one process, reported as a
// line of JSON that bench/measure.py reads.
#pragma once

#include "tessera/runtime.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace bench {

inline double now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Ends the program when a call of the runtime failed.
inline void check(tsr_status status, const char *what) {
  if (status == TSR_OK)
    return;
  std::fprintf(stderr, "error: %s: %s\n", what, tsr_last_error());
  std::exit(1);
}

struct Report {
  std::string name, config, peer, note;
  std::vector<double> ours, theirs;

  void print() const {
    auto list = [](const std::vector<double> &v) {
      std::string s;
      char number[32];
      for (double t : v) {
        std::snprintf(number, sizeof number, "%s%.6g", s.empty() ? "" : ", ", t);
        s += number;
      }
      return "[" + s + "]";
    };
    std::printf("{\"case\": \"%s\", \"config\": \"%s\", \"peer\": \"%s\", \"ours\": %s, \"peer_times\": %s",
                name.c_str(), config.c_str(), peer.c_str(), list(ours).c_str(), list(theirs).c_str());
    if (!note.empty())
      std::printf(", \"note\": \"%s\"", note.c_str());
    std::printf("}\n");
    std::fflush(stdout);
  }
};

/// Milliseconds of one call, out of `count` calls in a row.
inline double time(const std::function<void()> &call, int count = 1) {
  double start = now();
  for (int i = 0; i < count; ++i)
    call();
  return (now() - start) / count;
}

/// Alternates the two, the first of a pair changing from round to round. The pause lets idle threads of one
/// side, which spin for a moment in the hope of more work, go to sleep before the other side is timed; an
/// untimed call then warms it up.
inline void alternate(Report &report, int rounds, const std::function<void()> &ours,
                      const std::function<void()> &theirs, int count = 1) {
  auto once = [&](const std::function<void()> &call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(8));
    call();
    return time(call, count);
  };
  for (int r = 0; r < rounds; ++r) {
    if (r % 2)
      report.theirs.push_back(once(theirs));
    report.ours.push_back(once(ours));
    if (r % 2 == 0)
      report.theirs.push_back(once(theirs));
  }
}

inline std::string threadsText(unsigned threads) {
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

} // namespace bench
