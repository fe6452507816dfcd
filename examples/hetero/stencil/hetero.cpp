// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void step(const float *from, size_t fromBytes, float *to, size_t toBytes, int nx, int ny, int nz) {
  void *section = __hetero_section_begin();
  for (int z = 1; z < nz - 1; ++z)
    for (int y = 1; y < ny - 1; ++y)
      for (int x = 1; x < nx - 1; ++x) {
        __hetero_parallel_loop(3, 5, from, fromBytes, to, toBytes, nx, ny, nz, 1, to, toBytes, "stencil");
        to[(z * ny + y) * nx + x] = (from[(z * ny + y) * nx + x + 1] + from[(z * ny + y) * nx + x - 1] +
                                     from[(z * ny + y + 1) * nx + x] + from[(z * ny + y - 1) * nx + x] +
                                     from[((z + 1) * ny + y) * nx + x] + from[((z - 1) * ny + y) * nx + x]) *
                                        Stencil::c1 -
                                    from[(z * ny + y) * nx + x] * Stencil::c0;
      }
  __hetero_section_end(section);
}

void Stencil::hetero() {
  size_t bytes = from.size() * sizeof(float);
  for (int s = 0; s < steps; ++s) {
    void *run = __hetero_launch((void *)step, 5, from.data(), bytes, to.data(), bytes, nx, ny, nz, 1,
                                to.data(), bytes);
    __hetero_wait(run);
    std::swap(from, to);
  }
}

HARNESS_MAIN(Stencil, "stencil", 256)
