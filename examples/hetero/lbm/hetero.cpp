// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void step(const float *from, size_t fromBytes, float *to, size_t toBytes, const uint8_t *flags,
                 size_t flagsBytes, int nx, int ny, int nz) {
  void *section = __hetero_section_begin();
  for (int z = 1; z < nz - 1; ++z)
    for (int y = 1; y < ny - 1; ++y)
      for (int x = 1; x < nx - 1; ++x) {
        __hetero_parallel_loop(3, 6, from, fromBytes, to, toBytes, flags, flagsBytes, nx, ny, nz, 1, to,
                               toBytes, "collide");
        float f[lbm::directions];
        float rho = 0, ux = 0, uy = 0, uz = 0;
        for (int d = 0; d < lbm::directions; ++d) {
          f[d] = from[((d * nz + z) * ny + y) * nx + x];
          rho += f[d];
          ux += f[d] * float(lbm::cx[d]);
          uy += f[d] * float(lbm::cy[d]);
          uz += f[d] * float(lbm::cz[d]);
        }
        uint8_t flag = flags[(z * ny + y) * nx + x];
        ux /= rho;
        uy /= rho;
        uz /= rho;
        if (flag == lbm::Lid) {
          ux = lbm::lidX;
          uy = lbm::lidY;
          uz = 0;
        }
        float u2 = 1.5f * (ux * ux + uy * uy + uz * uz);
        for (int d = 0; d < lbm::directions; ++d) {
          float cu = 3.0f * (float(lbm::cx[d]) * ux + float(lbm::cy[d]) * uy + float(lbm::cz[d]) * uz);
          float rest = lbm::weight[d] * rho * (1.0f + cu + 0.5f * cu * cu - u2);
          float moved = (1.0f - lbm::omega) * f[d] + lbm::omega * rest;
          // An obstacle sends everything back where it came from.
          float out = flag == lbm::Obstacle ? f[lbm::opposite[d]] : moved;
          to[((d * nz + z + lbm::cz[d]) * ny + y + lbm::cy[d]) * nx + x + lbm::cx[d]] = out;
        }
      }
  __hetero_section_end(section);
}

void Lbm::hetero() {
  size_t bytes = from.size() * sizeof(float), flagsBytes = flags.size();
  for (int s = 0; s < steps; ++s) {
    void *run = __hetero_launch((void *)step, 6, from.data(), bytes, to.data(), bytes, flags.data(),
                                flagsBytes, nx, ny, nz, 1, to.data(), bytes);
    __hetero_wait(run);
    std::swap(from, to);
  }
}

HARNESS_MAIN(Lbm, "lbm", 96)
