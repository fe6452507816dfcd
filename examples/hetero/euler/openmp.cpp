// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Euler::openmp() {
  int cells = mesh.cells;
  const int *neighbour = mesh.neighbour.data();
  const float *normal = mesh.normal.data(), *area = mesh.area.data();
  float *values = this->values.data(), *old = this->old.data(), *flux = this->flux.data(),
        *factor = this->factor.data();
  const cfd::Cell outer = cfd::readCell(mesh.farField.data(), 1, 0);
  for (int s = 0; s < steps; ++s) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < cells; ++i) {
      cfd::Cell c = cfd::readCell(values, cells, i);
      factor[i] = 0.5f / (std::sqrt(area[i]) * (c.speed + c.sound));
      for (int v = 0; v < cfd::variables; ++v)
        old[v * cells + i] = values[v * cells + i];
    }
    for (int part = 3; part > 0; --part) {
      float share = 1.0f / float(part);
#pragma omp parallel for schedule(static)
      for (int i = 0; i < cells; ++i) {
        cfd::Cell own = cfd::readCell(values, cells, i);
        float sums[cfd::variables] = {};
        for (int f = 0; f < cfd::faces; ++f) {
          int other = neighbour[f * cells + i];
          float nx = normal[(f * 3) * cells + i], ny = normal[(f * 3 + 1) * cells + i],
                nz = normal[(f * 3 + 2) * cells + i];
          if (other == cfd::wall) {
            sums[1] += nx * own.pressure, sums[2] += ny * own.pressure, sums[3] += nz * own.pressure;
            continue;
          }
          cfd::Cell o = other >= 0 ? cfd::readCell(values, cells, other) : outer;
          if (other >= 0) {
            float damp = -std::sqrt(nx * nx + ny * ny + nz * nz) * cfd::smoothing * 0.5f *
                         (own.speed + o.speed + own.sound + o.sound);
            sums[0] += damp * (own.density - o.density), sums[1] += damp * (own.momentumX - o.momentumX);
            sums[2] += damp * (own.momentumY - o.momentumY), sums[3] += damp * (own.momentumZ - o.momentumZ);
            sums[4] += damp * (own.energy - o.energy);
          }
          float ownFlow = nx * own.velocityX + ny * own.velocityY + nz * own.velocityZ;
          float otherFlow = nx * o.velocityX + ny * o.velocityY + nz * o.velocityZ,
                pressure = 0.5f * (own.pressure + o.pressure);
          sums[0] += 0.5f * (own.density * ownFlow + o.density * otherFlow);
          sums[1] += 0.5f * (own.momentumX * ownFlow + o.momentumX * otherFlow) + nx * pressure;
          sums[2] += 0.5f * (own.momentumY * ownFlow + o.momentumY * otherFlow) + ny * pressure;
          sums[3] += 0.5f * (own.momentumZ * ownFlow + o.momentumZ * otherFlow) + nz * pressure;
          sums[4] += 0.5f * ((own.energy + own.pressure) * ownFlow + (o.energy + o.pressure) * otherFlow);
        }
        for (int v = 0; v < cfd::variables; ++v)
          flux[v * cells + i] = sums[v];
      }
#pragma omp parallel for schedule(static)
      for (int i = 0; i < cells; ++i)
        for (int v = 0; v < cfd::variables; ++v)
          values[v * cells + i] = old[v * cells + i] - share * factor[i] * flux[v * cells + i];
    }
  }
}
