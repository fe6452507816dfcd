// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Jacobi iterations with a 7-point stencil on a box (Parboil's stencil).
#pragma once
#include "../common/harness.hpp"

struct Stencil {
  int nx, ny, nz, steps;
  std::vector<float> input, from, to;
  std::vector<float> reference;
  static constexpr float c0 = 1.0f / 6.0f, c1 = 1.0f / 6.0f / 6.0f;

  static Stencil load(const std::string &dir) {
    if (dir.empty())
      return generate(20);
    std::string base = dir + "/parboil/stencil/small/";
    Stencil p{128, 128, 32, 100, {}, {}, {}, {}};
    size_t count = size_t(p.nx) * p.ny * p.nz;
    p.input = harness::takeArray<float>(harness::readFile(base + "input/128x128x32.bin"), 0, count);
    p.reference = harness::takeArray<float>(harness::readFile(base + "output/128x128x32.out"), 4, count);
    return p;
  }
  static Stencil generate(long scale) {
    Stencil p{int(scale) + 3, int(scale), int(scale) / 2, 10, {}, {}, {}, {}};
    harness::Random random(4);
    p.input.resize(size_t(p.nx) * p.ny * p.nz);
    for (float &v : p.input)
      v = random.real(0, 1);
    return p;
  }
  void reset() { from = to = input; }
  void hetero();
  void openmp();
  /// The last grid is in `from`: both kernels swap after each step, as the benchmark does.
  std::string check() const {
    if (!reference.empty())
      return harness::compare(from, reference, 1e-3, 1e-5, "grid");
    std::vector<double> a(input.begin(), input.end()), b = a;
    for (int s = 0; s < steps; ++s) {
      for (int z = 1; z + 1 < nz; ++z)
        for (int y = 1; y + 1 < ny; ++y)
          for (int x = 1; x + 1 < nx; ++x) {
            size_t at = (size_t(z) * ny + y) * nx + x, row = nx, plane = size_t(nx) * ny;
            b[at] =
                (a[at - 1] + a[at + 1] + a[at - row] + a[at + row] + a[at - plane] + a[at + plane]) / 36.0 -
                a[at] / 6.0;
          }
      std::swap(a, b);
    }
    return harness::compare(from, a, 1e-4, 1e-5, "grid");
  }
};
