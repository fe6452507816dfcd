// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void distances(const float *input, size_t inputBytes, float *work, size_t workBytes,
                      const float *twiddle, size_t twiddleBytes, const int *reversed, size_t reversedBytes,
                      int *peak, size_t peakBytes, float *strength, size_t strengthBytes, int returns) {
  void *section = __hetero_section_begin();
  for (int r = 0; r < returns; ++r) {
    __hetero_parallel_loop(1, 5, input, inputBytes, work, workBytes, twiddle, twiddleBytes, reversed,
                           reversedBytes, returns, 1, work, workBytes, "fft");
    for (int s = 0; s < Radar::samples; ++s) {
      int from = reversed[s];
      work[(r * Radar::samples + s) * 2] = input[(r * Radar::samples + from) * 2];
      work[(r * Radar::samples + s) * 2 + 1] = input[(r * Radar::samples + from) * 2 + 1];
    }
    for (int half = 1; half < Radar::samples; half *= 2) {
      int step = Radar::samples / (2 * half);
      for (int start = 0; start < Radar::samples; start += 2 * half)
        for (int k = 0; k < half; ++k) {
          int a = (r * Radar::samples + start + k) * 2, b = (r * Radar::samples + start + k + half) * 2;
          float c = twiddle[k * step * 2], d = twiddle[k * step * 2 + 1];
          float x = work[b] * c - work[b + 1] * d, y = work[b] * d + work[b + 1] * c;
          float u = work[a], v = work[a + 1];
          work[a] = u + x;
          work[a + 1] = v + y;
          work[b] = u - x;
          work[b + 1] = v - y;
        }
    }
  }
  for (int r = 0; r < returns; ++r) {
    __hetero_parallel_loop(1, 4, work, workBytes, peak, peakBytes, strength, strengthBytes, returns, 2, peak,
                           peakBytes, strength, strengthBytes, "peak");
    float most = 0;
    int at = 0;
    for (int s = 0; s < Radar::samples; ++s) {
      float x = work[(r * Radar::samples + s) * 2], y = work[(r * Radar::samples + s) * 2 + 1];
      float power = x * x + y * y;
      if (power > most) {
        most = power;
        at = s;
      }
    }
    peak[r] = at;
    strength[r] = most;
  }
  __hetero_section_end(section);
}

void Radar::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  void *run = __hetero_launch((void *)distances, 7, input.data(), bytes(input), work.data(), bytes(work),
                              twiddle.data(), bytes(twiddle), reversed.data(), bytes(reversed), peak.data(),
                              bytes(peak), strength.data(), bytes(strength), returns, 3, work.data(),
                              bytes(work), peak.data(), bytes(peak), strength.data(), bytes(strength));
  __hetero_wait(run);
}

HARNESS_MAIN(Radar, "radar", 360)
