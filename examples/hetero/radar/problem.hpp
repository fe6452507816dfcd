// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Distances from radar returns: a Fourier transform of each return, and its strongest frequency (as in the
// Mini-ERA workload).
#pragma once
#include "../common/harness.hpp"
#include <complex>

struct Radar {
  static constexpr int bits = 10, samples = 1 << bits;
  int returns;
  std::vector<float> input, work, twiddle; // returns x samples x 2; samples / 2 x 2
  std::vector<int> reversed, peak;
  std::vector<float> strength;

  static Radar load(const std::string &) { return generate(1); }
  static Radar generate(long scale) {
    Radar p;
    p.returns = int(scale) * 16;
    harness::Random random(21);
    p.input.resize(size_t(p.returns) * samples * 2);
    for (int r = 0; r < p.returns; ++r) {
      double frequency = 20 + random.below(400), phase = random.unit() * 6;
      for (int s = 0; s < samples; ++s) {
        double angle = 2 * M_PI * frequency * s / samples + phase;
        p.input[(size_t(r) * samples + s) * 2] = float(std::cos(angle)) + random.real(-.3f, .3f);
        p.input[(size_t(r) * samples + s) * 2 + 1] = float(std::sin(angle)) + random.real(-.3f, .3f);
      }
    }
    for (int s = 0; s < samples / 2; ++s) {
      p.twiddle.push_back(float(std::cos(-2 * M_PI * s / samples)));
      p.twiddle.push_back(float(std::sin(-2 * M_PI * s / samples)));
    }
    for (int s = 0; s < samples; ++s) {
      int r = 0;
      for (int b = 0; b < bits; ++b)
        r |= ((s >> b) & 1) << (bits - 1 - b);
      p.reversed.push_back(r);
    }
    return p;
  }
  void reset() {
    work.assign(input.size(), 0);
    peak.assign(returns, -1);
    strength.assign(returns, 0);
  }
  void hetero();
  void openmp();
  /// A few frequencies of a few returns by the definition; the peak by its neighbours.
  std::string check() const {
    harness::Random random(22);
    for (int sample = 0; sample < 200; ++sample) {
      int r = random.below(returns), f = sample % 4 ? random.below(samples) : peak[r];
      if (f < 0 || f >= samples)
        return "a return has no peak";
      std::complex<double> sum = 0;
      for (int s = 0; s < samples; ++s)
        sum += std::complex<double>(input[(size_t(r) * samples + s) * 2],
                                    input[(size_t(r) * samples + s) * 2 + 1]) *
               std::polar(1.0, -2 * M_PI * double(f) * s / samples);
      std::complex<double> got(work[(size_t(r) * samples + f) * 2], work[(size_t(r) * samples + f) * 2 + 1]);
      if (std::abs(got - sum) > 1e-2)
        return "frequency " + std::to_string(f) + " of return " + std::to_string(r) + " is wrong";
      if (std::norm(sum) > double(strength[r]) * (1 + 1e-4) + 1)
        return "return " + std::to_string(r) + " has a stronger frequency than its peak";
    }
    return "";
  }
};
