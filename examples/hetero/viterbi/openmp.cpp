// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Viterbi::openmp() {
#pragma omp parallel for schedule(static)
  for (int m = 0; m < messages; ++m) {
    const uint8_t *in = received.data() + size_t(m) * length * 2;
    uint8_t *choice = choices.data() + size_t(m) * length * states;
    // The transitions by target state, so that the loop over states runs in vectors.
    int low[states], high[states], cost[states], next[states];
    for (int s = 0; s < states; ++s) {
      low[s] = expected[(s >> 1) * 2 + (s & 1)], high[s] = expected[((s >> 1) + states / 2) * 2 + (s & 1)];
      cost[s] = s == 0 ? 0 : 10000;
    }
    for (int i = 0; i < length; ++i) {
      int got = in[2 * i] | in[2 * i + 1] << 1;
      uint8_t *row = choice + size_t(i) * states;
#pragma omp simd
      for (int s = 0; s < states; ++s) {
        int da = low[s] ^ got, db = high[s] ^ got;
        int ca = cost[s >> 1] + (da & 1) + (da >> 1), cb = cost[(s >> 1) + states / 2] + (db & 1) + (db >> 1);
        next[s] = std::min(ca, cb);
        row[s] = uint8_t(ca > cb);
      }
      std::copy(next, next + states, cost);
    }
    int state = 0;
    for (int i = length - 1; i >= 0; --i) {
      decoded[size_t(m) * length + i] = uint8_t(state & 1);
      state = (state >> 1) + choice[size_t(i) * states + state] * (states / 2);
    }
  }
}
