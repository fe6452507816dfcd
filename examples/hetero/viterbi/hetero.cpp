// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void decode(const uint8_t *received, size_t receivedBytes, const uint8_t *expected,
                   size_t expectedBytes, uint8_t *choices, size_t choicesBytes, uint8_t *decoded,
                   size_t decodedBytes, int messages) {
  void *section = __hetero_section_begin();
  for (int m = 0; m < messages; ++m) {
    __hetero_parallel_loop(1, 5, received, receivedBytes, expected, expectedBytes, choices, choicesBytes,
                           decoded, decodedBytes, messages, 2, choices, choicesBytes, decoded, decodedBytes,
                           "viterbi");
    int cost[Viterbi::states], next[Viterbi::states];
    for (int s = 0; s < Viterbi::states; ++s)
      cost[s] = s == 0 ? 0 : 10000;
    for (int i = 0; i < Viterbi::length; ++i) {
      int got = received[(m * Viterbi::length + i) * 2] | received[(m * Viterbi::length + i) * 2 + 1] << 1;
      // Two states are reached from the two that end in their upper five bits.
      for (int a = 0; a < Viterbi::states / 2; ++a)
        for (int bit = 0; bit < 2; ++bit) {
          int s = a * 2 + bit;
          int da = expected[s] ^ got, db = expected[s + Viterbi::states] ^ got;
          int ca = cost[a] + (da & 1) + (da >> 1), cb = cost[a + Viterbi::states / 2] + (db & 1) + (db >> 1);
          next[s] = ca <= cb ? ca : cb;
          choices[(m * Viterbi::length + i) * Viterbi::states + s] = uint8_t(ca <= cb ? 0 : 1);
        }
      for (int s = 0; s < Viterbi::states; ++s)
        cost[s] = next[s];
    }
    int state = 0;
    for (int i = Viterbi::length - 1; i >= 0; --i) {
      decoded[m * Viterbi::length + i] = uint8_t(state & 1);
      int upper = choices[(m * Viterbi::length + i) * Viterbi::states + state];
      state = (state >> 1) + upper * (Viterbi::states / 2);
    }
  }
  __hetero_section_end(section);
}

void Viterbi::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  void *run = __hetero_launch((void *)decode, 5, received.data(), bytes(received), expected.data(),
                              bytes(expected), choices.data(), bytes(choices), decoded.data(), bytes(decoded),
                              messages, 2, choices.data(), bytes(choices), decoded.data(), bytes(decoded));
  __hetero_wait(run);
}

HARNESS_MAIN(Viterbi, "viterbi", 440)
