// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Temperatures of a chip by an explicit difference scheme (Rodinia's hotspot).
#pragma once
#include "../common/harness.hpp"

struct Hotspot {
  int rows, columns, steps;
  float rowStep, columnStep, verticalStep, step; // 1/Rx, 1/Ry, 1/Rz, dt/C
  static constexpr float ambient = 80.0f;
  std::vector<float> input, power, from, to;

  void constants() {
    float height = 0.016f / rows, width = 0.016f / columns, thick = 0.0005f, silicon = 100;
    float capacity = 0.5f * 1.75e6f * thick * width * height;
    float slope = 3.0e6f / (0.5f * thick * 1.75e6f);
    rowStep = 2 * silicon * thick * height / width;
    columnStep = 2 * silicon * thick * width / height;
    verticalStep = silicon * height * width / thick;
    step = 0.001f / slope / 1000 / capacity;
  }
  static Hotspot load(const std::string &dir) {
    if (dir.empty())
      return generate(2);
    // The files are compressed; `xz -dk` beside them, or use the generated input.
    Hotspot p;
    std::vector<double> t = harness::readNumbers(dir + "/rodinia/hotspot/temp_64"),
                        w = harness::readNumbers(dir + "/rodinia/hotspot/power_64");
    p.rows = p.columns = 64, p.steps = 20;
    p.input.assign(t.begin(), t.end());
    p.power.assign(w.begin(), w.end());
    p.constants();
    return p;
  }
  static Hotspot generate(long scale) {
    Hotspot p;
    p.rows = int(scale) * 32, p.columns = int(scale) * 32 + 5, p.steps = 10;
    harness::Random random(15);
    for (int i = 0; i < p.rows * p.columns; ++i) {
      p.input.push_back(random.real(320, 340));
      p.power.push_back(random.real(0, 0.01f));
    }
    p.constants();
    return p;
  }
  void reset() { from = to = input; }
  void hetero();
  void openmp();
  std::string check() const {
    std::vector<double> a(input.begin(), input.end()), b = a;
    for (int s = 0; s < steps; ++s) {
      auto at = [&](int i, int j) {
        return a[size_t(std::clamp(i, 0, rows - 1)) * columns + std::clamp(j, 0, columns - 1)];
      };
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          double v = at(i, j);
          b[size_t(i) * columns + j] =
              v + double(step) *
                      (power[size_t(i) * columns + j] + (at(i + 1, j) + at(i - 1, j) - 2 * v) * columnStep +
                       (at(i, j + 1) + at(i, j - 1) - 2 * v) * rowStep + (ambient - v) * verticalStep);
        }
      std::swap(a, b);
    }
    return harness::compare(from, a, 1e-4, 1e-3, "temperature");
  }
};
