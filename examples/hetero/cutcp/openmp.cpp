// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Cutcp::openmp() {
  constexpr float cutoff2 = cutoff * cutoff, exclusion2 = exclusion * exclusion;
  const float *x = this->x.data(), *y = this->y.data(), *z = this->z.data(), *charge = this->charge.data();
#pragma omp parallel for collapse(2) schedule(dynamic, 16)
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j) {
      float py = lowY + float(j) * spacing, pz = lowZ + float(k) * spacing,
            *row = &lattice[(size_t(k) * ny + j) * nx];
      for (int a = 0; a < atoms; ++a) {
        float dy = py - y[a], dz = pz - z[a], flat = dy * dy + dz * dz;
        if (flat >= cutoff2)
          continue;
        float reach = std::sqrt(cutoff2 - flat), ax = x[a] - lowX, q = charge[a];
        int first = std::max(0, int(std::ceil((ax - reach) / spacing))),
            last = std::min(nx - 1, int(std::floor((ax + reach) / spacing)));
#pragma omp simd
        for (int i = first; i <= last; ++i) {
          float dx = float(i) * spacing - ax, r2 = dx * dx + flat, s = 1.0f - r2 * (1.0f / cutoff2);
          row[i] += q / std::sqrt(r2) * s * s;
        }
      }
      for (int a = 0; a < atoms; ++a) {
        float dy = py - y[a], dz = pz - z[a], flat = dy * dy + dz * dz;
        if (flat >= exclusion2)
          continue;
        for (int i = 0; i < nx; ++i) {
          float dx = float(i) * spacing - (x[a] - lowX);
          if (dx * dx + flat < exclusion2)
            row[i] = 0;
        }
      }
    }
}
