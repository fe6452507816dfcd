// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Electrostatic potential of atoms on a lattice, cut off at a distance (Parboil's cutcp).
#pragma once
#include "../common/harness.hpp"

struct Cutcp {
  static constexpr float spacing = 0.5f, cutoff = 12.0f, exclusion = 1.0f;
  int nx, ny, nz, atoms;
  float lowX, lowY, lowZ;
  std::vector<float> x, y, z, charge; // of atoms, sorted by z
  std::vector<float> lattice;
  std::vector<float> planes; // reference: sum of magnitudes, then the first and the last plane
  float total = 0;

  void frame() {
    std::vector<int> order(x.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = int(i);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return z[a] < z[b]; });
    auto apply = [&](std::vector<float> &v) {
      std::vector<float> sorted;
      for (int i : order)
        sorted.push_back(v[i]);
      v = sorted;
    };
    apply(x), apply(y), apply(charge), apply(z);
    atoms = int(x.size());
    auto extent = [&](const std::vector<float> &v, float &low, int &n) {
      auto [a, b] = std::minmax_element(v.begin(), v.end());
      low = *a - spacing;
      n = int(std::floor((*b + spacing - low) / spacing)) + 1;
    };
    extent(x, lowX, nx), extent(y, lowY, ny), extent(z, lowZ, nz);
  }
  static Cutcp load(const std::string &dir) {
    if (dir.empty())
      return generate(1);
    std::vector<char> text = harness::readFile(dir + "/parboil/cutcp/small/input/watbox.sl40.pqr");
    text.push_back(0);
    Cutcp p;
    for (char *s = text.data(); s && *s; s = std::strchr(s, '\n') ? std::strchr(s, '\n') + 1 : nullptr) {
      float x, y, z, q;
      if (std::sscanf(s, "ATOM %*d %*s %*s %*d %f %f %f %f", &x, &y, &z, &q) == 4)
        p.x.push_back(x), p.y.push_back(y), p.z.push_back(z), p.charge.push_back(q);
    }
    p.frame();
    std::vector<char> out = harness::readFile(dir + "/parboil/cutcp/small/output/lattice.dat");
    p.total = harness::takeArray<float>(out, 0, 1)[0];
    p.planes = harness::takeArray<float>(out, 8, size_t(2) * harness::takeArray<int>(out, 4, 1)[0]);
    return p;
  }
  static Cutcp generate(long scale) {
    Cutcp p;
    harness::Random random(8);
    int atoms = int(scale) * 200;
    float side = 4 + 3.2f * std::cbrt(float(atoms));
    for (int i = 0; i < atoms; ++i) {
      p.x.push_back(random.real(0, side)), p.y.push_back(random.real(0, side)),
          p.z.push_back(random.real(0, side));
      p.charge.push_back(random.real(-1, 1));
    }
    p.frame();
    return p;
  }
  void reset() { lattice.assign(size_t(nx) * ny * nz, 0); }
  void hetero();
  void openmp();
  std::string check() const {
    if (!planes.empty()) {
      size_t plane = size_t(nx) * ny;
      double sum = 0;
      for (float v : lattice)
        sum += std::fabs(double(v));
      if (std::fabs(sum - total) > 1e-3 * total)
        return "the magnitudes sum to " + std::to_string(sum) + ", expected " + std::to_string(total);
      std::vector<float> got(lattice.begin(), lattice.begin() + plane);
      got.insert(got.end(), lattice.end() - plane, lattice.end());
      return harness::compare(got, planes, 2e-3, 5e-3, "potential");
    }
    // A spread of lattice points, each from all atoms in double precision.
    harness::Random random(9);
    for (int sample = 0; sample < 500; ++sample) {
      int i = random.below(nx), j = random.below(ny), k = random.below(nz);
      double sum = 0, px = lowX + double(i) * spacing, py = lowY + double(j) * spacing,
             pz = lowZ + double(k) * spacing;
      bool excluded = false, close = false;
      for (int a = 0; a < atoms; ++a) {
        double r2 = (x[a] - px) * (x[a] - px) + (y[a] - py) * (y[a] - py) + (z[a] - pz) * (z[a] - pz);
        double s = 1 - r2 / (cutoff * cutoff);
        if (s > 0)
          sum += charge[a] / std::sqrt(r2) * s * s;
        excluded |= r2 < exclusion * exclusion;
        close |= std::fabs(r2 - exclusion * exclusion) < 1e-4;
      }
      float got = lattice[(size_t(k) * ny + j) * nx + i];
      if (!close && std::fabs(got - (excluded ? 0 : sum)) > 1e-3 * std::fabs(sum) + 1e-3)
        return "lattice point " + std::to_string(i) + ", " + std::to_string(j) + ", " + std::to_string(k) +
               " is wrong";
    }
    return "";
  }
};
