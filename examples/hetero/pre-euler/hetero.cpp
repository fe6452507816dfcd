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
                  size_t streamBytes, const float *factor, size_t factorBytes, float *flow, size_t flowBytes,
                  float *wave, size_t waveBytes, float *flux, size_t fluxBytes, int cells, float share) {
  void *section = __hetero_section_begin();
  for (int i = 0; i < cells; ++i) {
    __hetero_parallel_loop(1, 4, values, valuesBytes, flow, flowBytes, wave, waveBytes, cells, 2, flow,
                           flowBytes, wave, waveBytes, "flow");
    cfd::Cell c = cfd::readCell(values, cells, i);
    flow[i] = c.momentumX * c.velocityX + c.pressure;
    flow[cells + i] = c.momentumX * c.velocityY;
    flow[2 * cells + i] = c.momentumX * c.velocityZ;
    flow[3 * cells + i] = c.momentumY * c.velocityX;
    flow[4 * cells + i] = c.momentumY * c.velocityY + c.pressure;
    flow[5 * cells + i] = c.momentumY * c.velocityZ;
    flow[6 * cells + i] = c.momentumZ * c.velocityX;
    flow[7 * cells + i] = c.momentumZ * c.velocityY;
    flow[8 * cells + i] = c.momentumZ * c.velocityZ + c.pressure;
    flow[9 * cells + i] = c.velocityX * (c.energy + c.pressure);
    flow[10 * cells + i] = c.velocityY * (c.energy + c.pressure);
    flow[11 * cells + i] = c.velocityZ * (c.energy + c.pressure);
    wave[i] = c.speed + c.sound;
  }
  for (int i = 0; i < cells; ++i) {
    __hetero_parallel_loop(1, 8, values, valuesBytes, neighbour, neighbourBytes, normal, normalBytes, stream,
                           streamBytes, flow, flowBytes, wave, waveBytes, flux, fluxBytes, cells, 1, flux,
                           fluxBytes, "flux");
    cfd::Cell outer = cfd::readCell(stream, 1, 0);
    float sums[cfd::variables] = {0, 0, 0, 0, 0};
    for (int f = 0; f < cfd::faces; ++f) {
      int other = neighbour[f * cells + i];
      float nx = normal[(f * 3) * cells + i], ny = normal[(f * 3 + 1) * cells + i],
            nz = normal[(f * 3 + 2) * cells + i];
      if (other == cfd::wall) {
        cfd::Cell own = cfd::readCell(values, cells, i);
        sums[1] += nx * own.pressure;
        sums[2] += ny * own.pressure;
        sums[3] += nz * own.pressure;
      } else if (other >= 0) {
        float length = std::sqrt(nx * nx + ny * ny + nz * nz);
        float damp = -length * cfd::smoothing * 0.5f * (wave[i] + wave[other]);
        for (int v = 0; v < cfd::variables; ++v)
          sums[v] += damp * (values[v * cells + i] - values[v * cells + other]);
        sums[0] += 0.5f * (nx * (values[cells + i] + values[cells + other]) +
                           ny * (values[2 * cells + i] + values[2 * cells + other]) +
                           nz * (values[3 * cells + i] + values[3 * cells + other]));
        for (int v = 0; v < 4; ++v)
          sums[v + 1] += 0.5f * (nx * (flow[(3 * v) * cells + i] + flow[(3 * v) * cells + other]) +
                                 ny * (flow[(3 * v + 1) * cells + i] + flow[(3 * v + 1) * cells + other]) +
                                 nz * (flow[(3 * v + 2) * cells + i] + flow[(3 * v + 2) * cells + other]));
      } else {
        float through = nx * outer.velocityX + ny * outer.velocityY + nz * outer.velocityZ;
        sums[0] += 0.5f * (nx * (values[cells + i] + outer.momentumX) +
                           ny * (values[2 * cells + i] + outer.momentumY) +
                           nz * (values[3 * cells + i] + outer.momentumZ));
        sums[1] += 0.5f * (nx * flow[i] + ny * flow[cells + i] + nz * flow[2 * cells + i] +
                           outer.momentumX * through + nx * outer.pressure);
        sums[2] += 0.5f * (nx * flow[3 * cells + i] + ny * flow[4 * cells + i] + nz * flow[5 * cells + i] +
                           outer.momentumY * through + ny * outer.pressure);
        sums[3] += 0.5f * (nx * flow[6 * cells + i] + ny * flow[7 * cells + i] + nz * flow[8 * cells + i] +
                           outer.momentumZ * through + nz * outer.pressure);
        sums[4] += 0.5f * (nx * flow[9 * cells + i] + ny * flow[10 * cells + i] + nz * flow[11 * cells + i] +
                           (outer.energy + outer.pressure) * through);
      }
    }
    for (int v = 0; v < cfd::variables; ++v)
      flux[v * cells + i] = sums[v];
  }
  for (int v = 0; v < cfd::variables; ++v)
    for (int i = 0; i < cells; ++i) {
      __hetero_parallel_loop(2, 6, values, valuesBytes, old, oldBytes, factor, factorBytes, flux, fluxBytes,
                             cells, share, 1, values, valuesBytes, "advance");
      values[v * cells + i] = old[v * cells + i] - share * factor[i] * flux[v * cells + i];
    }
  __hetero_section_end(section);
}

void PreEuler::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  int cells = mesh.cells;
  for (int s = 0; s < steps; ++s) {
    void *run = __hetero_launch((void *)prepare, 5, values.data(), bytes(values), old.data(), bytes(old),
                                mesh.area.data(), bytes(mesh.area), factor.data(), bytes(factor), cells, 2,
                                old.data(), bytes(old), factor.data(), bytes(factor));
    __hetero_wait(run);
    for (int part = 3; part > 0; --part) {
      float share = 1.0f / float(part);
      run = __hetero_launch((void *)stage, 11, values.data(), bytes(values), old.data(), bytes(old),
                            mesh.neighbour.data(), bytes(mesh.neighbour), mesh.normal.data(),
                            bytes(mesh.normal), mesh.farField.data(), bytes(mesh.farField), factor.data(),
                            bytes(factor), flow.data(), bytes(flow), wave.data(), bytes(wave), flux.data(),
                            bytes(flux), cells, share, 1, values.data(), bytes(values));
      __hetero_wait(run);
    }
  }
}

HARNESS_MAIN(PreEuler, "pre-euler", 20)
