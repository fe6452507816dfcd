// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Euler equations with the flow of each cell computed once and stored for its neighbours (Rodinia's cfd,
// pre-euler3d).
#pragma once
#include "../common/cfd.hpp"

struct PreEuler {
  static constexpr int flows = 12; // momentum (3 x 3) and energy (3) through each axis
  cfd::Mesh mesh;
  int steps = 2;
  std::vector<float> values, old, flux, factor, flow,
      wave; // flow: flows x cells; wave: speed + sound of each cell

  static PreEuler load(const std::string &) { return generate(1); }
  static PreEuler generate(long scale) {
    PreEuler p;
    p.mesh = cfd::Mesh::make(int(scale) * 20, int(scale) * 24);
    return p;
  }
  void reset() {
    values = old = mesh.start;
    flux.assign(values.size(), 0);
    factor.assign(mesh.cells, 0);
    wave = factor;
    flow.assign(size_t(flows) * mesh.cells, 0);
  }
  void hetero();
  void openmp();
  std::string check() const { return harness::compare(values, mesh.reference(steps), 1e-3, 1e-3, "value"); }
};
