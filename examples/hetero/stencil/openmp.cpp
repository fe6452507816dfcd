// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Stencil::openmp() {
  size_t row = nx, plane = size_t(nx) * ny;
  for (int s = 0; s < steps; ++s) {
    const float *a = from.data();
    float *b = to.data();
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 1; z < nz - 1; ++z)
      for (int y = 1; y < ny - 1; ++y) {
        const float *c = a + z * plane + y * row;
        float *out = b + z * plane + y * row;
#pragma omp simd
        for (int x = 1; x < nx - 1; ++x)
          out[x] =
              (c[x + 1] + c[x - 1] + c[x + row] + c[x - row] + c[x + plane] + c[x - plane]) * c1 - c[x] * c0;
      }
    std::swap(from, to);
  }
}
