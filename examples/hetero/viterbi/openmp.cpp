// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Viterbi::openmp() {
#pragma omp parallel for schedule(static)
  for (int m = 0; m < messages; ++m) {
    const uint8_t *in = received.data() + size_t(m) * length * 2;
    const uint8_t *expected = this->expected.data();
    uint8_t *choice = choices.data() + size_t(m) * length * states;
    int cost[states], next[states];
    for (int s = 0; s < states; ++s)
      cost[s] = s == 0 ? 0 : 10000;
    for (int i = 0; i < length; ++i) {
      int got = in[2 * i] | in[2 * i + 1] << 1;
      uint8_t *row = choice + size_t(i) * states;
      // In the order of the states they come from, so that the loop runs in vectors without gathers.
#pragma omp simd
      for (int a = 0; a < states / 2; ++a)
#pragma clang loop unroll(full)
        for (int bit = 0; bit < 2; ++bit) {
          int s = a * 2 + bit, da = expected[s] ^ got, db = expected[s + states] ^ got;
          int ca = cost[a] + (da & 1) + (da >> 1), cb = cost[a + states / 2] + (db & 1) + (db >> 1);
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
