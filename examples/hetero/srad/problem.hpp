// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Speckle-reducing anisotropic diffusion of an image: statistics of the whole image, then two stencils, each
// iteration (Rodinia's srad).
#pragma once
#include "../common/harness.hpp"

struct Srad {
  static constexpr float lambda = 0.5f;
  int rows, columns, steps;
  std::vector<float> input, image, coefficient, north, south, west, east;

  static Srad load(const std::string &dir) {
    if (dir.empty())
      return generate(1);
    std::vector<char> text = harness::readFile(dir + "/rodinia/srad/image.pgm");
    text.push_back(0);
    char *s = text.data() + 2;
    Srad p;
    p.columns = int(std::strtol(s, &s, 10)), p.rows = int(std::strtol(s, &s, 10)), p.steps = 4;
    std::strtol(s, &s, 10);
    for (int i = 0; i < p.rows * p.columns; ++i)
      p.input.push_back(std::exp(float(std::strtol(s, &s, 10)) / 255));
    return p;
  }
  static Srad generate(long scale) {
    Srad p;
    p.rows = int(scale) * 16, p.columns = int(scale) * 16 + 3, p.steps = 4;
    harness::Random random(14);
    for (int i = 0; i < p.rows * p.columns; ++i)
      p.input.push_back(std::exp(random.real(0, 1)));
    return p;
  }
  void reset() {
    image = input;
    coefficient.assign(image.size(), 0);
    north = south = west = east = coefficient;
  }
  void hetero();
  void openmp();
  std::string check() const {
    std::vector<double> a(input.begin(), input.end()), c(a.size()), d[4];
    for (auto &v : d)
      v.resize(a.size());
    for (int s = 0; s < steps; ++s) {
      double sum = 0, squares = 0;
      for (double v : a)
        sum += v, squares += v * v;
      double mean = sum / a.size(), q0 = (squares / a.size() - mean * mean) / (mean * mean);
      auto at = [&](int i, int j) {
        return size_t(std::clamp(i, 0, rows - 1)) * columns + std::clamp(j, 0, columns - 1);
      };
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          size_t k = at(i, j);
          double v = a[k];
          d[0][k] = a[at(i - 1, j)] - v, d[1][k] = a[at(i + 1, j)] - v, d[2][k] = a[at(i, j - 1)] - v,
          d[3][k] = a[at(i, j + 1)] - v;
          double g2 = 0, l = 0;
          for (auto &e : d)
            g2 += e[k] * e[k], l += e[k];
          g2 /= v * v, l /= v;
          double num = 0.5 * g2 - l * l / 16, den = 1 + 0.25 * l, q = num / (den * den);
          c[k] = std::clamp(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0.0, 1.0);
        }
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          size_t k = at(i, j);
          a[k] += 0.25 * lambda *
                  (c[k] * d[0][k] + c[at(i + 1, j)] * d[1][k] + c[k] * d[2][k] + c[at(i, j + 1)] * d[3][k]);
        }
    }
    return harness::compare(image, a, 1e-3, 1e-4, "image");
  }
};
