// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LU factorisation without pivoting, in place: unit lower and upper triangle in one matrix (Rodinia's lud).
#pragma once
#include "../common/harness.hpp"

struct Lud {
  int n;
  std::vector<float> input, matrix;

  static Lud load(const std::string &dir) {
    if (dir.empty())
      return generate(70);
    std::vector<double> numbers = harness::readNumbers(dir + "/rodinia/lud/256.dat");
    Lud p;
    p.n = int(numbers[0]);
    p.input.assign(numbers.begin() + 1, numbers.end());
    return p;
  }
  static Lud generate(long scale) {
    Lud p;
    p.n = int(scale);
    harness::Random random(17);
    for (int i = 0; i < p.n; ++i)
      for (int j = 0; j < p.n; ++j)
        p.input.push_back(random.real(0, 1) + (i == j ? float(p.n) : 0));
    return p;
  }
  void reset() { matrix = input; }
  void hetero();
  void openmp();
  /// L times U gives the matrix back.
  std::string check() const {
    harness::Random random(18);
    for (int sample = 0; sample < 3000; ++sample) {
      int i = random.below(n), j = random.below(n);
      double sum = 0, size = 0;
      for (int k = 0; k <= std::min(i, j); ++k) {
        double term = (k == i ? 1.0 : double(matrix[size_t(i) * n + k])) * matrix[size_t(k) * n + j];
        sum += term, size += std::fabs(term);
      }
      if (!(std::fabs(sum - input[size_t(i) * n + j]) <= 1e-3 * (size + 1e-2)))
        return "L U differs from the matrix at " + std::to_string(i) + ", " + std::to_string(j);
    }
    return "";
  }
};
