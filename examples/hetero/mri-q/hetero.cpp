// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <cmath>
#include <tessera/hetero.h>

static void reconstruct(const float *kx, size_t kxBytes, const float *ky, size_t kyBytes, const float *kz,
                        size_t kzBytes, const float *phiR, size_t phiRBytes, const float *phiI,
                        size_t phiIBytes, const float *x, size_t xBytes, const float *y, size_t yBytes,
                        const float *z, size_t zBytes, float *magnitude, size_t magnitudeBytes, float *real,
                        size_t realBytes, float *imaginary, size_t imaginaryBytes, int samples, int voxels) {
  void *section = __hetero_section_begin();
  for (int s = 0; s < samples; ++s) {
    __hetero_parallel_loop(1, 4, phiR, phiRBytes, phiI, phiIBytes, magnitude, magnitudeBytes, samples, 1,
                           magnitude, magnitudeBytes, "magnitude");
    magnitude[s] = phiR[s] * phiR[s] + phiI[s] * phiI[s];
  }
  for (int v = 0; v < voxels; ++v) {
    __hetero_parallel_loop(1, 11, kx, kxBytes, ky, kyBytes, kz, kzBytes, x, xBytes, y, yBytes, z, zBytes,
                           magnitude, magnitudeBytes, real, realBytes, imaginary, imaginaryBytes, samples,
                           voxels, 2, real, realBytes, imaginary, imaginaryBytes, "q");
    float r = 0, i = 0;
    float px = x[v], py = y[v], pz = z[v];
    for (int s = 0; s < samples; ++s) {
      float angle = 6.2831853071795864769252867665590058f * (kx[s] * px + ky[s] * py + kz[s] * pz);
      r += magnitude[s] * std::cos(angle);
      i += magnitude[s] * std::sin(angle);
    }
    real[v] = r;
    imaginary[v] = i;
  }
  __hetero_section_end(section);
}

void MriQ::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  void *run = __hetero_launch(
      (void *)reconstruct, 13, kx.data(), bytes(kx), ky.data(), bytes(ky), kz.data(), bytes(kz), phiR.data(),
      bytes(phiR), phiI.data(), bytes(phiI), x.data(), bytes(x), y.data(), bytes(y), z.data(), bytes(z),
      magnitude.data(), bytes(magnitude), real.data(), bytes(real), imaginary.data(), bytes(imaginary),
      samples, voxels, 2, real.data(), bytes(real), imaginary.data(), bytes(imaginary));
  __hetero_wait(run);
}

HARNESS_MAIN(MriQ, "mri-q", 36)
