// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = A x with a sparse matrix in jagged-diagonal storage: rows sorted by length, stored diagonal by diagonal
// (Parboil's spmv).
#pragma once
#include "../common/harness.hpp"
#include <numeric>

struct Spmv {
  int rows = 0, diagonals = 0, nonzeros = 0;
  std::vector<int> start, index, length, permutation; // of each diagonal; of each element; of each sorted row
  std::vector<float> values, x, y;
  std::vector<float> reference;
  std::vector<std::vector<std::pair<int, float>>> plain; // the matrix as it was given

  void build() {
    rows = int(plain.size());
    permutation.resize(rows);
    std::iota(permutation.begin(), permutation.end(), 0);
    std::stable_sort(permutation.begin(), permutation.end(),
                     [&](int a, int b) { return plain[a].size() > plain[b].size(); });
    diagonals = rows ? int(plain[permutation[0]].size()) : 0;
    for (int r : permutation)
      length.push_back(int(plain[r].size()));
    for (int d = 0; d < diagonals; ++d) {
      start.push_back(int(values.size()));
      for (int r = 0; r < rows && length[r] > d; ++r) {
        index.push_back(plain[permutation[r]][d].first);
        values.push_back(plain[permutation[r]][d].second);
      }
    }
    nonzeros = int(values.size());
  }
  static Spmv load(const std::string &dir) {
    if (dir.empty())
      return generate(3);
    std::string base = dir + "/parboil/spmv/small/";
    std::vector<char> text = harness::readFile(base + "input/1138_bus.mtx");
    text.push_back(0);
    Spmv p;
    char *s = text.data();
    while (*s == '%')
      s = std::strchr(s, '\n') + 1;
    int rows = int(std::strtol(s, &s, 10)), columns = int(std::strtol(s, &s, 10)),
        count = int(std::strtol(s, &s, 10));
    p.plain.resize(rows);
    for (int i = 0; i < count; ++i) {
      int r = int(std::strtol(s, &s, 10)) - 1, c = int(std::strtol(s, &s, 10)) - 1;
      float v = std::strtof(s, &s);
      p.plain[r].push_back({c, v});
      if (r != c) // symmetric: one half is stored
        p.plain[c].push_back({r, v});
    }
    p.build();
    p.x = harness::takeArray<float>(harness::readFile(base + "input/vector.bin"), 0, columns);
    p.reference = harness::takeArray<float>(harness::readFile(base + "output/1138_bus.mtx.out"), 4, rows);
    return p;
  }
  static Spmv generate(long scale) {
    Spmv p;
    harness::Random random(3);
    int rows = int(scale) * 1000;
    p.plain.resize(rows);
    for (int r = 0; r < rows; ++r) {
      int count = 8 + random.below(48);
      for (int i = 0; i < count; ++i) // around the diagonal, as meshes have it
        p.plain[r].push_back({std::clamp(r + random.below(2000) - 1000, 0, rows - 1), random.real(-1, 1)});
    }
    p.build();
    p.x.resize(rows);
    for (float &v : p.x)
      v = random.real(-1, 1);
    return p;
  }
  void reset() { y.assign(rows, -1); }
  void hetero();
  void openmp();
  std::string check() const {
    if (!reference.empty())
      return harness::compare(y, reference, 1e-3, 1e-3, "y");
    std::vector<double> expected(rows);
    for (int r = 0; r < rows; ++r)
      for (auto [c, v] : plain[r])
        expected[r] += double(v) * x[c];
    return harness::compare(y, expected, 1e-4, 1e-4, "y");
  }
};
