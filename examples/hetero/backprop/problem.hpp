// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of training a network with one hidden layer: forward, error, new weights (Rodinia's backprop).
#pragma once
#include "../common/harness.hpp"

struct Backprop {
  static constexpr int hidden = 16;
  static constexpr float rate = 0.3f, momentum = 0.3f;
  int inputs;
  std::vector<float> input, weights,
      old; // input: inputs + 1, the first is the threshold; weights: (inputs + 1) x (hidden + 1)
  std::vector<float> newWeights, newOld, outWeights;
  std::vector<float> units, delta; // of the hidden layer, hidden + 1 each
  float target = 0.1f;

  static Backprop load(const std::string &) { return generate(1); }
  static Backprop generate(long scale) {
    Backprop p;
    p.inputs = int(scale) * 1024;
    harness::Random random(13);
    auto fill = [&](std::vector<float> &v, size_t n, float range) {
      v.resize(n);
      for (float &e : v)
        e = random.real(-range, range);
    };
    fill(p.input, p.inputs + 1, 1);
    p.input[0] = 1;
    fill(p.weights, size_t(p.inputs + 1) * (hidden + 1), 0.01f);
    fill(p.outWeights, hidden + 1, 0.5f);
    p.old.assign(p.weights.size(), 0.01f);
    return p;
  }
  void reset() {
    newWeights = weights;
    newOld = old;
    units.assign(hidden + 1, 0);
    delta = units;
  }
  void hetero();
  void openmp();
  std::string check() const {
    std::vector<double> u(hidden + 1), d(hidden + 1);
    u[0] = 1;
    for (int j = 1; j <= hidden; ++j) {
      double sum = 0;
      for (int i = 0; i <= inputs; ++i)
        sum += double(weights[size_t(i) * (hidden + 1) + j]) * input[i];
      u[j] = 1 / (1 + std::exp(-sum));
    }
    double out = 0;
    for (int j = 0; j <= hidden; ++j)
      out += u[j] * outWeights[j];
    out = 1 / (1 + std::exp(-out));
    double error = out * (1 - out) * (target - out);
    for (int j = 1; j <= hidden; ++j)
      d[j] = u[j] * (1 - u[j]) * error * outWeights[j];
    std::vector<double> w(weights.begin(), weights.end());
    for (int i = 0; i <= inputs; ++i)
      for (int j = 1; j <= hidden; ++j)
        w[size_t(i) * (hidden + 1) + j] +=
            rate * d[j] * input[i] + momentum * old[size_t(i) * (hidden + 1) + j];
    std::string wrong = harness::compare(units, u, 1e-4, 1e-5, "unit");
    return wrong.empty() ? harness::compare(newWeights, w, 1e-4, 1e-5, "weight") : wrong;
  }
};
