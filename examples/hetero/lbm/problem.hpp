// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lattice Boltzmann flow in a lid-driven box, 19 directions (Parboil's lbm). Directions are stored one after
// the other, each over all cells; a cell pushes what leaves it to its neighbours. The outermost layer of
// cells is obstacle, so no push leaves the box.
#pragma once
#include "../common/harness.hpp"

namespace lbm {
constexpr int directions = 19;
// Rest, six faces, twelve edges.
constexpr int cx[directions] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
constexpr int cy[directions] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
constexpr int cz[directions] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
constexpr int opposite[directions] = {0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15, 18, 17};
constexpr float weight[directions] = {1 / 3.f,  1 / 18.f, 1 / 18.f, 1 / 18.f, 1 / 18.f, 1 / 18.f, 1 / 18.f,
                                      1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f,
                                      1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
constexpr float omega = 1.95f, lidX = 0.005f, lidY = 0.002f;
enum Flag : uint8_t { Fluid = 0, Obstacle = 1, Lid = 2 };
} // namespace lbm

struct Lbm {
  int nx, ny, nz, steps;
  std::vector<uint8_t> flags;
  std::vector<float> from, to;

  size_t cells() const { return size_t(nx) * ny * nz; }
  static Lbm make(int nx, int ny, int nz, int steps) {
    Lbm p{nx, ny, nz, steps, {}, {}, {}};
    p.flags.assign(p.cells(), lbm::Fluid);
    for (int z = 0; z < nz; ++z)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
          uint8_t &flag = p.flags[(size_t(z) * ny + y) * nx + x];
          if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1)
            flag = lbm::Obstacle;
          else if (z == 1 || z == nz - 2)
            flag = lbm::Lid;
        }
    return p;
  }
  static Lbm load(const std::string &dir) {
    if (dir.empty())
      return make(12, 10, 14, 5);
    std::vector<char> text = harness::readFile(dir + "/parboil/lbm/short/input/120_120_150_ldc.of");
    // The whole box takes long to check; its first part has the same kinds of cells.
    Lbm p = make(40, 40, 30, 10);
    size_t at = 0;
    for (int z = 0; z < 30; ++z)
      for (int y = 0; y < 120; ++y) {
        for (int x = 0; x < 120; ++x, ++at)
          if (x < 40 && y < 40 && text[at] != '.')
            p.flags[(size_t(z) * 40 + y) * 40 + x] = lbm::Obstacle;
        while (at < text.size() && text[at] == '\n')
          ++at;
      }
    return p;
  }
  static Lbm generate(long scale) { return make(int(scale), int(scale), int(scale), 4); }
  void reset() {
    from.resize(lbm::directions * cells());
    for (int d = 0; d < lbm::directions; ++d)
      std::fill_n(from.begin() + d * cells(), cells(), lbm::weight[d]);
    to = from;
  }
  void hetero();
  void openmp();
  /// Double precision, direction by direction instead of written out; the result is in `from`.
  std::string check() const {
    std::vector<double> a(lbm::directions * cells()), b;
    for (int d = 0; d < lbm::directions; ++d)
      std::fill_n(a.begin() + d * cells(), cells(), double(lbm::weight[d]));
    b = a;
    for (int s = 0; s < steps; ++s) {
      for (int z = 1; z + 1 < nz; ++z)
        for (int y = 1; y + 1 < ny; ++y)
          for (int x = 1; x + 1 < nx; ++x) {
            size_t at = (size_t(z) * ny + y) * nx + x;
            auto target = [&](int d) { return at + lbm::cx[d] + (lbm::cz[d] * long(ny) + lbm::cy[d]) * nx; };
            if (flags[at] == lbm::Obstacle) {
              for (int d = 0; d < lbm::directions; ++d)
                b[lbm::opposite[d] * cells() + target(lbm::opposite[d])] = a[d * cells() + at];
              continue;
            }
            double rho = 0, ux = 0, uy = 0, uz = 0;
            for (int d = 0; d < lbm::directions; ++d) {
              double f = a[d * cells() + at];
              rho += f, ux += f * lbm::cx[d], uy += f * lbm::cy[d], uz += f * lbm::cz[d];
            }
            ux /= rho, uy /= rho, uz /= rho;
            if (flags[at] == lbm::Lid)
              ux = lbm::lidX, uy = lbm::lidY, uz = 0;
            double u2 = 1.5 * (ux * ux + uy * uy + uz * uz);
            for (int d = 0; d < lbm::directions; ++d) {
              double cu = 3 * (lbm::cx[d] * ux + lbm::cy[d] * uy + lbm::cz[d] * uz);
              double rest = lbm::weight[d] * rho * (1 + cu + 0.5 * cu * cu - u2);
              b[d * cells() + target(d)] = (1 - double(lbm::omega)) * a[d * cells() + at] + lbm::omega * rest;
            }
          }
      std::swap(a, b);
    }
    return harness::compare(from, a, 1e-3, 1e-5, "distribution");
  }
};
