// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Viterbi decoding of messages sent with the convolutional code of rate 1/2 and constraint length 7
// (polynomials 133 and 171 octal), as in the Mini-ERA workload's radio.
#pragma once
#include "../common/harness.hpp"

struct Viterbi {
  static constexpr int states = 64, length = 512; // bits of a message, six of them to return to state 0
  int messages;
  std::vector<uint8_t> sent, received,
      decoded;                   // messages x length; messages x 2 length, hard bits; messages x length
  std::vector<uint8_t> expected; // 2 x states: the two bits that each transition sends, by state and input
  std::vector<uint8_t> choices;  // messages x length x states: which predecessor won

  static constexpr int parity(int v) {
    int p = 0;
    for (; v; v &= v - 1)
      p ^= 1;
    return p;
  }
  static Viterbi load(const std::string &) { return generate(1); }
  static Viterbi generate(long scale) {
    Viterbi p;
    p.messages = int(scale) * 8;
    harness::Random random(23);
    for (int m = 0; m < p.messages; ++m) {
      int state = 0;
      for (int i = 0; i < length; ++i) {
        int bit = i < length - 6 ? random.below(2) : 0, full = state << 1 | bit;
        p.sent.push_back(uint8_t(bit));
        for (int polynomial : {0133, 0171}) // one bit in 40 is flipped on its way
          p.received.push_back(uint8_t(parity(full & polynomial) ^ (random.below(40) == 0)));
        state = full & 63;
      }
    }
    for (int state = 0; state < states; ++state)
      for (int bit = 0; bit < 2; ++bit) {
        int full = state << 1 | bit;
        p.expected.push_back(uint8_t(parity(full & 0133) | parity(full & 0171) << 1));
      }
    return p;
  }
  void reset() {
    decoded.assign(sent.size(), 2);
    choices.assign(sent.size() * states, 0);
  }
  void hetero();
  void openmp();
  /// The sender's bits: at this error rate the code corrects nearly everything.
  std::string check() const {
    size_t wrong = 0;
    for (size_t i = 0; i < sent.size(); ++i)
      wrong += decoded[i] != sent[i];
    return wrong > sent.size() / 500
               ? std::to_string(wrong) + " of " + std::to_string(sent.size()) + " bits are wrong"
               : "";
  }
};
