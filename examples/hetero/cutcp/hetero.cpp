// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <cmath>
#include <tessera/hetero.h>

static void potential(float *lattice, size_t latticeBytes, const float *x, size_t xBytes, const float *y,
                      size_t yBytes, const float *z, size_t zBytes, const float *charge, size_t chargeBytes,
                      int nx, int ny, int nz, int atoms, float lowX, float lowY, float lowZ) {
  void *section = __hetero_section_begin();
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j) {
      __hetero_parallel_loop(2, 12, lattice, latticeBytes, x, xBytes, y, yBytes, z, zBytes, charge,
                             chargeBytes, nx, ny, nz, atoms, lowX, lowY, lowZ, 1, lattice, latticeBytes,
                             "potential");
      constexpr float cutoff2 = Cutcp::cutoff * Cutcp::cutoff;
      float py = lowY + float(j) * Cutcp::spacing, pz = lowZ + float(k) * Cutcp::spacing;
      for (int a = 0; a < atoms; ++a) {
        float dy = py - y[a], dz = pz - z[a], flat = dy * dy + dz * dz;
        if (flat >= cutoff2)
          continue;
        float reach = std::sqrt(cutoff2 - flat), ax = x[a] - lowX, q = charge[a];
        int first = int(std::ceil((ax - reach) / Cutcp::spacing)),
            last = int(std::floor((ax + reach) / Cutcp::spacing));
        if (first < 0)
          first = 0;
        if (last > nx - 1)
          last = nx - 1;
        for (int i = first; i <= last; ++i) {
          float dx = float(i) * Cutcp::spacing - ax, r2 = dx * dx + flat, s = 1.0f - r2 * (1.0f / cutoff2);
          lattice[(k * ny + j) * nx + i] += q / std::sqrt(r2) * s * s;
        }
      }
      for (int a = 0; a < atoms; ++a) {
        constexpr float exclusion2 = Cutcp::exclusion * Cutcp::exclusion;
        float dy = py - y[a], dz = pz - z[a], flat = dy * dy + dz * dz;
        if (flat >= exclusion2)
          continue;
        for (int i = 0; i < nx; ++i) {
          float dx = float(i) * Cutcp::spacing - (x[a] - lowX);
          if (dx * dx + flat < exclusion2)
            lattice[(k * ny + j) * nx + i] = 0;
        }
      }
    }
  __hetero_section_end(section);
}

void Cutcp::hetero() {
  size_t latticeBytes = lattice.size() * sizeof(float), atomBytes = x.size() * sizeof(float);
  void *run = __hetero_launch((void *)potential, 12, lattice.data(), latticeBytes, x.data(), atomBytes,
                              y.data(), atomBytes, z.data(), atomBytes, charge.data(), atomBytes, nx, ny, nz,
                              atoms, lowX, lowY, lowZ, 1, lattice.data(), latticeBytes);
  __hetero_wait(run);
}

HARNESS_MAIN(Cutcp, "cutcp", 8)
