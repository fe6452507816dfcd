// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Euler equations with the flow of both sides computed at each face (Rodinia's cfd, euler3d).
#pragma once
#include "../common/cfd.hpp"

struct Euler {
  cfd::Mesh mesh;
  int steps = 2;
  std::vector<float> values, old, flux, factor; // variables x cells; factor: cells

  static Euler load(const std::string &) { return generate(1); }
  static Euler generate(long scale) {
    Euler p;
    p.mesh = cfd::Mesh::make(int(scale) * 20, int(scale) * 24);
    return p;
  }
  void reset() {
    values = old = mesh.start;
    flux.assign(values.size(), 0);
    factor.assign(mesh.cells, 0);
  }
  void hetero();
  void openmp();
  std::string check() const { return harness::compare(values, mesh.reference(steps), 1e-3, 1e-3, "value"); }
};
