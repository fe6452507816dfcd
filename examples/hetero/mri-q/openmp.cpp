// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void MriQ::openmp() {
  for (int s = 0; s < samples; ++s)
    magnitude[s] = phiR[s] * phiR[s] + phiI[s] * phiI[s];
  const float *kx = this->kx.data(), *ky = this->ky.data(), *kz = this->kz.data(),
              *magnitude = this->magnitude.data();
#pragma omp parallel for schedule(static)
  for (int v = 0; v < voxels; ++v) {
    float r = 0, i = 0, px = x[v], py = y[v], pz = z[v];
#pragma omp simd reduction(+ : r, i)
    for (int s = 0; s < samples; ++s) {
      float angle = 6.2831853071795864769252867665590058f * (kx[s] * px + ky[s] * py + kz[s] * pz);
      r += magnitude[s] * std::cos(angle);
      i += magnitude[s] * std::sin(angle);
    }
    real[v] = r;
    imaginary[v] = i;
  }
}
