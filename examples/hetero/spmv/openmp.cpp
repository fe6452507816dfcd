// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

void Spmv::openmp() {
  const float *values = this->values.data(), *x = this->x.data();
  const int *index = this->index.data(), *start = this->start.data(), *length = this->length.data();
#pragma omp parallel for schedule(static, 512)
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    int count = length[r];
    for (int d = 0; d < count; ++d) {
      int place = start[d] + r;
      sum += values[place] * x[index[place]];
    }
    y[permutation[r]] = sum;
  }
}
