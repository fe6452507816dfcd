// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C = A B in single precision, all matrices column by column, B given transposed (Parboil's sgemm).
#pragma once
#include "../common/harness.hpp"

struct Sgemm {
  int m, n, k;
  std::vector<float> a, bt, c; // a: k x m, bt: k x n, c: n x m, row by row
  std::vector<float> reference;

  static Sgemm load(const std::string &dir) {
    if (dir.empty())
      return generate(70);
    auto read = [&](const std::string &file) {
      return harness::readNumbers(dir + "/parboil/sgemm/small/" + file);
    };
    std::vector<double> a = read("input/matrix1.txt"), b = read("input/matrix2t.txt"),
                        c = read("output/matrix3.txt");
    Sgemm p;
    p.m = int(a[0]), p.k = int(a[1]), p.n = int(b[0]);
    p.a.assign(a.begin() + 2, a.end());
    p.bt.assign(b.begin() + 2, b.end());
    p.reference.assign(c.begin() + 2, c.end());
    return p;
  }
  static Sgemm generate(long scale) {
    Sgemm p;
    p.m = int(scale), p.n = int(scale) + 5, p.k = int(scale) - 3;
    harness::Random random(1);
    p.a.resize(size_t(p.k) * p.m);
    p.bt.resize(size_t(p.k) * p.n);
    for (float &v : p.a)
      v = random.real(0, 1);
    for (float &v : p.bt)
      v = random.real(0, 1);
    return p;
  }
  void reset() { c.assign(size_t(n) * m, -1); }
  void hetero();
  void openmp();
  std::string check() const {
    if (!reference.empty())
      return harness::compare(c, reference, 1e-4, 1e-4, "c");
    // A spread of elements in double precision.
    harness::Random random(2);
    for (int sample = 0; sample < 2000; ++sample) {
      int i = random.below(m), j = random.below(n);
      double sum = 0;
      for (int l = k; l-- > 0;)
        sum += double(a[size_t(l) * m + i]) * double(bt[size_t(l) * n + j]);
      if (std::fabs(sum - c[size_t(j) * m + i]) > 1e-4 * sum)
        return "element " + std::to_string(i) + ", " + std::to_string(j) + " is wrong";
    }
    return "";
  }
};
