// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A header with markers, as a library would have it.
#pragma once
#include "heterocc.h"
inline void twice_kernel(float *x, size_t bytes, int n) {
  for (int i = 0; i < n; ++i) {
    __hetero_parallel_loop(1, 2, x, bytes, n, 1, x, bytes);
    x[i] = x[i] * 2;
  }
}
inline void twice(float *x, int n) {
  __hetero_wait(__hetero_launch((void *)twice_kernel, 2, x, n * sizeof(float), n, 1, x, n * sizeof(float)));
}
struct InHeader {
  float v[3] = {1, 2, 3};
  InHeader() { twice(v, 3); }
  inline ~InHeader();
  friend void befriend(InHeader &h) {
    __hetero_wait(__hetero_launch((void *)twice_kernel, 2, h.v, sizeof(h.v), 3, 1, h.v, sizeof(h.v)));
  }
};
void befriend(InHeader &);
inline InHeader::~InHeader() {
  __hetero_wait(__hetero_launch((void *)twice_kernel, 2, v, sizeof(v), 3, 1, v, sizeof(v)));
}
