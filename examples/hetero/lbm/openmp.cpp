// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Lbm::openmp() {
  size_t cells = this->cells();
  int nx = this->nx, ny = this->ny, nz = this->nz;
  for (int s = 0; s < steps; ++s) {
    const float *a = from.data();
    float *b = to.data();
    const uint8_t *flags = this->flags.data();
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 1; z < nz - 1; ++z)
      for (int y = 1; y < ny - 1; ++y) {
        size_t row = (size_t(z) * ny + y) * nx;
#pragma omp simd
        for (int x = 1; x < nx - 1; ++x) {
          size_t at = row + x;
          float f[lbm::directions], rho = 0, ux = 0, uy = 0, uz = 0;
#pragma clang loop unroll(full)
          for (int d = 0; d < lbm::directions; ++d) {
            f[d] = a[d * cells + at];
            rho += f[d], ux += f[d] * lbm::cx[d], uy += f[d] * lbm::cy[d], uz += f[d] * lbm::cz[d];
          }
          uint8_t flag = flags[at];
          bool lid = flag == lbm::Lid;
          ux = lid ? lbm::lidX : ux / rho, uy = lid ? lbm::lidY : uy / rho, uz = lid ? 0.0f : uz / rho;
          float u2 = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma clang loop unroll(full)
          for (int d = 0; d < lbm::directions; ++d) {
            float cu = 3.0f * (lbm::cx[d] * ux + lbm::cy[d] * uy + lbm::cz[d] * uz);
            float rest = lbm::weight[d] * rho * (1.0f + cu + 0.5f * cu * cu - u2);
            float moved = (1.0f - lbm::omega) * f[d] + lbm::omega * rest;
            b[d * cells + at + lbm::cx[d] + (lbm::cz[d] * long(ny) + lbm::cy[d]) * nx] =
                flag == lbm::Obstacle ? f[lbm::opposite[d]] : moved;
          }
        }
      }
    std::swap(from, to);
  }
}
