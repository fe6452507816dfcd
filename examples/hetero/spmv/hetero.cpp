// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"
#include <tessera/hetero.h>

static void multiply(float *y, size_t yBytes, const float *values, size_t valuesBytes, const int *index,
                     size_t indexBytes, const int *start, size_t startBytes, const int *length,
                     size_t lengthBytes, const int *permutation, size_t permutationBytes, const float *x,
                     size_t xBytes, int rows) {
  void *section = __hetero_section_begin();
  for (int r = 0; r < rows; ++r) {
    __hetero_parallel_loop(1, 8, y, yBytes, values, valuesBytes, index, indexBytes, start, startBytes, length,
                           lengthBytes, permutation, permutationBytes, x, xBytes, rows, 1, y, yBytes, "spmv");
    float sum = 0;
    int count = length[r];
    for (int d = 0; d < count; ++d) {
      int place = start[d] + r;
      sum += values[place] * x[index[place]];
    }
    y[permutation[r]] = sum;
  }
  __hetero_section_end(section);
}

void Spmv::hetero() {
  auto bytes = [](auto &v) { return v.size() * sizeof(v[0]); };
  void *run = __hetero_launch((void *)multiply, 8, y.data(), bytes(y), values.data(), bytes(values),
                              index.data(), bytes(index), start.data(), bytes(start), length.data(),
                              bytes(length), permutation.data(), bytes(permutation), x.data(), bytes(x), rows,
                              1, y.data(), bytes(y));
  __hetero_wait(run);
}

HARNESS_MAIN(Spmv, "spmv", 800)
