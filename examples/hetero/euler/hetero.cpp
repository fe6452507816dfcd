// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void prepare(const float *values, size_t valuesBytes, float *old, size_t oldBytes, const float *area,
                    size_t areaBytes, float *factor, size_t factorBytes, int cells) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < cells; ++i) {
    __hetero_parallel_loop(1, 5, values, valuesBytes, old, oldBytes, area, areaBytes, factor, factorBytes,
                           cells, 2, old, oldBytes, factor, factorBytes, "factor");
    cfd::Cell c = cfd::readCell(values, cells, i);
    factor[i] = 0.5f / (std::sqrt(area[i]) * (c.speed + c.sound));
    for (int v = 0; v < cfd::variables; ++v)
      old[v * cells + i] = values[v * cells + i];
  }
  __hetero_section_end(section);
}

static void stage(float *values, size_t valuesBytes, const float *old, size_t oldBytes, const int *neighbour,
                  size_t neighbourBytes, const float *normal, size_t normalBytes, const float *stream,
                  size_t streamBytes, const float *factor, size_t factorBytes, float *flux, size_t fluxBytes,
                  int cells, float share) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < cells; ++i) {
    __hetero_parallel_loop(1, 6, values, valuesBytes, neighbour, neighbourBytes, normal, normalBytes, stream,
                           streamBytes, flux, fluxBytes, cells, 1, flux, fluxBytes, "flux");
    cfd::Cell own = cfd::readCell(values, cells, i);
    cfd::Cell outer = cfd::readCell(stream, 1, 0);
    float f0 = 0, f1 = 0, f2 = 0, f3 = 0, f4 = 0;
    for (int f = 0; f < cfd::faces; ++f) {
      int other = neighbour[f * cells + i];
      float nx = normal[(f * 3) * cells + i], ny = normal[(f * 3 + 1) * cells + i],
            nz = normal[(f * 3 + 2) * cells + i];
      if (other == cfd::wall) {
        f1 += nx * own.pressure;
        f2 += ny * own.pressure;
        f3 += nz * own.pressure;
      } else {
        cfd::Cell o = outer;
        if (other >= 0) {
          o = cfd::readCell(values, cells, other);
          float length = std::sqrt(nx * nx + ny * ny + nz * nz);
          float damp = -length * cfd::smoothing * 0.5f * (own.speed + o.speed + own.sound + o.sound);
          f0 += damp * (own.density - o.density);
          f1 += damp * (own.momentumX - o.momentumX);
          f2 += damp * (own.momentumY - o.momentumY);
          f3 += damp * (own.momentumZ - o.momentumZ);
          f4 += damp * (own.energy - o.energy);
        }
        // What flows through the face is its normal's share of the mean of both sides.
        float ownFlow = nx * own.velocityX + ny * own.velocityY + nz * own.velocityZ;
        float otherFlow = nx * o.velocityX + ny * o.velocityY + nz * o.velocityZ;
        float pressure = 0.5f * (own.pressure + o.pressure);
        f0 += 0.5f * (own.density * ownFlow + o.density * otherFlow);
        f1 += 0.5f * (own.momentumX * ownFlow + o.momentumX * otherFlow) + nx * pressure;
        f2 += 0.5f * (own.momentumY * ownFlow + o.momentumY * otherFlow) + ny * pressure;
        f3 += 0.5f * (own.momentumZ * ownFlow + o.momentumZ * otherFlow) + nz * pressure;
        f4 += 0.5f * ((own.energy + own.pressure) * ownFlow + (o.energy + o.pressure) * otherFlow);
      }
    }
    flux[i] = f0;
    flux[cells + i] = f1;
    flux[2 * cells + i] = f2;
    flux[3 * cells + i] = f3;
    flux[4 * cells + i] = f4;
  }
  for (int v = 0; v < cfd::variables; ++v)
    for (int i = 0; i < cells; ++i) {
      __hetero_parallel_loop(2, 6, values, valuesBytes, old, oldBytes, factor, factorBytes, flux, fluxBytes,
                             cells, share, 1, values, valuesBytes, "advance");
      values[v * cells + i] = old[v * cells + i] - share * factor[i] * flux[v * cells + i];
    }
  __hetero_section_end(section);
}

void Euler::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  int cells = mesh.cells;
  for (int s = 0; s < steps; ++s) {
    void *run = __hetero_launch((void *)prepare, 5, values.data(), bytes(values), old.data(), bytes(old),
                                mesh.area.data(), bytes(mesh.area), factor.data(), bytes(factor), cells, 2,
                                old.data(), bytes(old), factor.data(), bytes(factor));
    __hetero_wait(run);
    for (int part = 3; part > 0; --part) {
      float share = 1.0f / float(part);
      run = __hetero_launch((void *)stage, 9, values.data(), bytes(values), old.data(), bytes(old),
                            mesh.neighbour.data(), bytes(mesh.neighbour), mesh.normal.data(),
                            bytes(mesh.normal), mesh.farField.data(), bytes(mesh.farField), factor.data(),
                            bytes(factor), flux.data(), bytes(flux), cells, share, 1, values.data(),
                            bytes(values));
      __hetero_wait(run);
    }
  }
}

HARNESS_MAIN(Euler, "euler", 33)
