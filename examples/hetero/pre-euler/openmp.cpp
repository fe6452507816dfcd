// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void PreEuler::openmp() {
  int cells = mesh.cells;
  const int *neighbour = mesh.neighbour.data();
  const float *normal = mesh.normal.data(), *area = mesh.area.data();
  float *q = values.data(), *old = this->old.data(), *flux = this->flux.data(), *factor = this->factor.data(),
        *flow = this->flow.data(), *wave = this->wave.data();
  const cfd::Cell outer = cfd::readCell(mesh.farField.data(), 1, 0);
  const float outerM[3] = {outer.momentumX, outer.momentumY, outer.momentumZ};
  for (int s = 0; s < steps; ++s) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < cells; ++i) {
      cfd::Cell c = cfd::readCell(q, cells, i);
      factor[i] = 0.5f / (std::sqrt(area[i]) * (c.speed + c.sound));
      for (int v = 0; v < cfd::variables; ++v)
        old[v * cells + i] = q[v * cells + i];
    }
    for (int part = 3; part > 0; --part) {
      float share = 1.0f / float(part);
#pragma omp parallel for schedule(static)
      for (int i = 0; i < cells; ++i) {
        cfd::Cell c = cfd::readCell(q, cells, i);
        const float m[3] = {c.momentumX, c.momentumY, c.momentumZ},
                    u[3] = {c.velocityX, c.velocityY, c.velocityZ};
        for (int k = 0; k < 3; ++k) {
          for (int v = 0; v < 3; ++v)
            flow[(3 * v + k) * cells + i] = m[v] * u[k] + (v == k ? c.pressure : 0.0f);
          flow[(9 + k) * cells + i] = u[k] * (c.energy + c.pressure);
        }
        wave[i] = c.speed + c.sound;
      }
#pragma omp parallel for schedule(static)
      for (int i = 0; i < cells; ++i) {
        float sums[cfd::variables] = {};
        for (int f = 0; f < cfd::faces; ++f) {
          int other = neighbour[f * cells + i];
          float n[3] = {normal[(f * 3) * cells + i], normal[(f * 3 + 1) * cells + i],
                        normal[(f * 3 + 2) * cells + i]};
          if (other == cfd::wall) {
            float pressure = cfd::readCell(q, cells, i).pressure;
            for (int k = 0; k < 3; ++k)
              sums[k + 1] += n[k] * pressure;
          } else if (other >= 0) {
            float damp = -std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) * cfd::smoothing * 0.5f *
                         (wave[i] + wave[other]);
            for (int v = 0; v < cfd::variables; ++v)
              sums[v] += damp * (q[v * cells + i] - q[v * cells + other]);
            for (int k = 0; k < 3; ++k) {
              sums[0] += 0.5f * n[k] * (q[(k + 1) * cells + i] + q[(k + 1) * cells + other]);
              for (int v = 0; v < 4; ++v)
                sums[v + 1] +=
                    0.5f * n[k] * (flow[(3 * v + k) * cells + i] + flow[(3 * v + k) * cells + other]);
            }
          } else {
            float through = n[0] * outer.velocityX + n[1] * outer.velocityY + n[2] * outer.velocityZ;
            for (int k = 0; k < 3; ++k) {
              sums[0] += 0.5f * n[k] * (q[(k + 1) * cells + i] + outerM[k]);
              for (int v = 0; v < 4; ++v)
                sums[v + 1] += 0.5f * n[k] * flow[(3 * v + k) * cells + i];
              sums[k + 1] += 0.5f * (outerM[k] * through + n[k] * outer.pressure);
            }
            sums[4] += 0.5f * (outer.energy + outer.pressure) * through;
          }
        }
        for (int v = 0; v < cfd::variables; ++v)
          flux[v * cells + i] = sums[v];
      }
#pragma omp parallel for schedule(static)
      for (int i = 0; i < cells; ++i)
        for (int v = 0; v < cfd::variables; ++v)
          q[v * cells + i] = old[v * cells + i] - share * factor[i] * flux[v * cells + i];
    }
  }
}
